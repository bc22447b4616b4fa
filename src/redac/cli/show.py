"""What the user sees: tables on standard output, notes and progress on standard error."""

from __future__ import annotations

import io
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.progress import Progress
from rich.table import Table as RichTable
from rich.text import Text

from redac.cli.progress import SweepProgress
from redac.sources.progress import watching
from redac.tables import short_names

if TYPE_CHECKING:
    from redac import SparsePCA
    from redac.cli.compare import Row
    from redac.files import Table

_LONGEST_MATRIX = 60


def note(text: str) -> None:
    """One line beside the results."""
    sys.stderr.write(f"note: {text}\n")


def notes(caught: list[warnings.WarningMessage]) -> None:
    """Warnings of a fit, each once, as notes."""
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        note(text)


def left_out_columns(table: Table) -> None:
    """Say which columns were not numeric."""
    for name, reason in table.ignored.items():
        note(f"column {name!r} left out: {reason}")


@contextmanager
def progress() -> Iterator[list[Any]]:
    """Callbacks that draw a progress bar when somebody is watching; passes over files have one."""
    if not sys.stderr.isatty():
        yield []
        return
    with SweepProgress(Console(stderr=True)) as bar, watching(bar.on_rows):
        yield [bar]


@contextmanager
def steps(total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar over named steps when somebody is watching."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, start=True)
        done = iter(range(total))
        yield lambda name: bar.update(task, description=name, completed=next(done))


def comparison(rows: list[Row]) -> None:
    """Methods side by side, the best figures in bold."""
    table = RichTable(box=box.SIMPLE_HEAD)
    table.add_column("method", no_wrap=True)
    for title in ("PEV %", "RRE", "non-zeros", "seconds"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("for each component")
    rivals = [row for row in rows if row.failure is None and row.sparse]
    best = max((row.pev for row in rivals), default=np.nan)
    for row in rows:
        if row.failure is not None:
            table.add_row(row.method, "failed", "", "", f"{row.seconds:.2f}", "")
            continue
        style = "bold" if row.sparse and row.pev >= best - 0.005 else None
        table.add_row(
            row.method,
            f"{row.pev:.2f}",
            f"{row.rre:.4f}",
            str(sum(row.non_zeros)),
            f"{row.seconds:.2f}",
            _counts(row.non_zeros),
            style=style,
        )
    _console().print(table)


def _counts(non_zeros: list[int]) -> str:
    alike = len(set(non_zeros)) == 1 and len(non_zeros) > 1
    return f"{len(non_zeros)} × {non_zeros[0]}" if alike else " ".join(map(str, non_zeros))


def components(model: SparsePCA) -> None:
    """The components with names, loadings and explained variance."""
    loadings = model.loadings_table()
    console = _console()
    as_matrix = _matrix(model, loadings)
    # A measurement never exceeds the width it is told of, so it is told of plenty.
    plenty = console.options.update(max_width=100_000)
    wide = console.measure(as_matrix, options=plenty).maximum > console.width
    if len(loadings) > _LONGEST_MATRIX or wide:
        for number in range(model.n_components_):
            _print_component(console, model, number, loadings.iloc[:, number].dropna())
    else:
        console.print(as_matrix)
    pev = 100 * model.explained_variance_ratio_.sum()
    console.print(
        f"{model.n_components_} components explain {pev:.2f} % of the variance (PEV) with "
        f"{np.count_nonzero(model.components_)} non-zero loadings; "
        f"reconstruction error (RRE) {model.reconstruction_error_:.4f}."
    )


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """The reader has seen enough, for instance `| head`: go on in silence."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _console() -> Console:
    # Without a terminal rich assumes 80 columns; files and pipes have no such limit.
    width = None if sys.stdout.isatty() else max(shutil.get_terminal_size((120, 25)).columns, 120)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # any name can be printed anywhere
    return _Console(width=width, highlight=False)


def _matrix(model: SparsePCA, loadings: Any) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, show_footer=False)
    table.add_column("feature", no_wrap=True)
    for name in short_names(model.n_components_):
        table.add_column(name, justify="right", no_wrap=True)
    for feature, row in zip(loadings.index, loadings.to_numpy(), strict=True):
        table.add_row(Text(_label(feature)), *("" if np.isnan(x) else f"{x:.3f}" for x in row))
    table.add_section()
    shares = 100 * model.explained_variance_ratio_
    table.add_row("variance %", *(f"{share:.2f}" for share in shares))
    table.add_row("cumulative %", *(f"{total:.2f}" for total in np.cumsum(shares)))
    table.add_row("non-zeros", *(str(int(row.astype(bool).sum())) for row in model.components_))
    return table


def _print_component(console: Console, model: SparsePCA, number: int, loadings: Any) -> None:
    shares = 100 * model.explained_variance_ratio_
    console.print(
        f"[bold]PC{number + 1}[/bold]  {shares[number]:.2f} % of the variance, "
        f"{shares[: number + 1].sum():.2f} % so far, {len(loadings)} features"
    )
    ordered = loadings.iloc[np.argsort(-np.abs(loadings.to_numpy()), kind="stable")]
    entries = [f"{_label(name)} {value:.3f}" for name, value in ordered.items()]
    for line in _packed(entries, console.width - 2):
        console.print(Text(f"  {line}"))
    console.print()


def _label(name: object) -> str:
    """A name as it may stand in a terminal: one line, no control characters."""
    return "".join(c if c.isprintable() else " " for c in str(name))


def _packed(entries: Iterable[str], width: int) -> list[str]:
    """Entries with commas between them, broken into lines between entries only."""
    lines: list[str] = []
    for entry in entries:
        if lines and cell_len(lines[-1]) + cell_len(entry) + 3 <= width:
            lines[-1] += f", {entry}"
        else:
            if lines:
                lines[-1] += ","
            lines.append(entry)
    return lines
