"""What the user sees: tables on standard output, notes and progress on standard error."""

from __future__ import annotations

import io
import math
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.progress import Progress
from rich.table import Table as RichTable
from rich.text import Text

from redac.cli.bars import SweepProgress
from redac.cli.inputs import WorkFailedError
from redac.cli.session import session
from redac.files.table import counted
from redac.model.apart import separation_sentence
from redac.model.callbacks import watched
from redac.model.rules import rule_sentence
from redac.show.escaping import printable
from redac.show.report import gap_lines
from redac.show.stories import stories, variance_sentence
from redac.show.tables import explaining, loading_text, write_csv
from redac.sources.progress import watching

if TYPE_CHECKING:
    import pandas as pd

    from redac import SparsePCA
    from redac.files import Table
    from redac.methods.comparison import ComparedMethod

_LONGEST_MATRIX = 60

# The groups of methods that have the same freedom as ours.
_COMPARABLE = ("redac", "same cardinality")


def note(text: str, level: str = "info") -> None:
    """One line beside the results."""
    session().note(text, level)


def notes(caught: list[warnings.WarningMessage]) -> None:
    """Warnings of a fit, each once, as notes."""
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        session().note(text, "warning")


def about_data(table: Table) -> None:
    """Say which columns were not numeric, and what else was noticed in reading."""
    for name, reason in table.ignored.items():
        note(f"column {name!r} left out: {reason}")
    for text in table.notes:
        note(text)


def gaps_and_outliers(model: SparsePCA) -> None:
    """Say how many cells are missing, and what a robust fit left out."""
    for text in gap_lines(model):
        note(text)


@contextmanager
def progress(max_sweeps: int | None = None, n_rounds: int | None = None) -> Iterator[None]:
    """Progress bars of fits and of passes over files, when somebody is watching."""
    if not session().is_watched:
        yield
        return
    with (
        SweepProgress(Console(stderr=True), max_sweeps, n_rounds) as bar,
        watching(bar.on_rows),
        watched(bar),
    ):
        yield


@contextmanager
def steps(total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar over named steps when somebody is watching."""
    if not session().is_watched:
        yield lambda name: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, start=True)
        done = iter(range(total))
        yield lambda name: bar.update(task, description=name, completed=next(done))


def comparison(rows: list[ComparedMethod]) -> None:
    """Methods side by side, group by group, the best of those that are comparable in bold."""
    groups = {row.group: [other for other in rows if other.group == row.group] for row in rows}
    note = "Groups are asked for different things: what they explain is not comparable."
    table = RichTable(box=box.SIMPLE_HEAD, caption=note if len(groups) > 1 else None)
    table.add_column("method", no_wrap=True)
    for title in ("PEV %", "RRE", "non-zeros", "seconds"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("for each component")
    rivals = [row for row in rows if row.failure is None and row.group in _COMPARABLE]
    best = max((row.pev for row in rivals), default=math.nan)
    for group, members in groups.items():
        if len(groups) > 1:
            table.add_row(f"({group})", style="dim")
        for row in members:
            table.add_row(
                *_compared(row), style="bold" if row in rivals and row.pev >= best - 0.005 else None
            )
    with printing() as console:
        console.print(table)


def _compared(row: ComparedMethod) -> tuple[str, ...]:
    if row.failure is not None:
        return row.method, "failed", "", "", f"{row.seconds:.2f}", ""
    figures = f"{row.pev:.2f}", f"{row.rre:.4f}", str(sum(row.non_zeros)), f"{row.seconds:.2f}"
    return row.method, *figures, _counts(row.non_zeros)


def path_table(path: pd.DataFrame) -> None:
    """The places of a path, the best Q² and the smallest EBIC in bold."""
    table = RichTable(box=box.SIMPLE_HEAD)
    titles = {"n_components": "components", "cardinality": "features each", "nonzeros": "non-zeros"}
    titles |= {
        "stability": "stability",
        "pev": "PEV %",
        "pev_pca": "PCA %",
        "q2": "Q²",
        "q2_se": "± SE",
        "ebic": "EBIC",
    }
    digits = {"pev": 2, "pev_pca": 2, "q2": 3, "q2_se": 3, "ebic": 1, "index_of_sparseness": 3}
    digits |= {"stability": 2}
    for title in map(str, path.columns):
        table.add_column(titles.get(title, "sparseness"), justify="right", no_wrap=True)
    best = {name: path[name].max() for name in ("q2",) if name in path}
    best |= {name: path[name].min() for name in ("ebic",) if name in path}
    for row in path.to_dict(orient="records"):
        cells = []
        for name, value in row.items():
            column = str(name)
            text = f"{value:.{digits.get(column, 0)}f}"
            is_best = best.get(column) == value
            cells.append(Text(text, style="bold" if is_best else ""))
        table.add_row(*cells)
    with printing() as console:
        console.print(table)


def _counts(non_zeros: list[int]) -> str:
    alike = len(set(non_zeros)) == 1 and len(non_zeros) > 1
    return f"{len(non_zeros)} × {non_zeros[0]}" if alike else " ".join(map(str, non_zeros))


def components(model: SparsePCA) -> None:
    """The components with names, loadings and explained variance."""
    with printing() as console:
        _print_components(console, model)


def _print_components(console: Console, model: SparsePCA) -> None:
    loadings = model.loadings_table()
    as_matrix = _matrix(model, loadings)
    # A measurement never exceeds the width it is told of, so it is told of plenty.
    plenty = console.options.update(max_width=100_000)
    wide = console.measure(as_matrix, options=plenty).maximum > console.width
    if len(loadings) > _LONGEST_MATRIX or wide:
        for number in range(model.n_components_):
            _print_component(console, model, number, loadings.iloc[:, number].dropna())
    else:
        console.print(as_matrix)
    if model.interrupted_:
        console.print("The fit was interrupted; these are the best components found until then.")
    pev = 100 * model.explained_variance_ratio_.sum()
    console.print(
        f"{explaining(model.n_components_)} {pev:.2f} % of the variance (PEV) with "
        f"{counted(int(loadings.count().sum()), 'non-zero loading')}; "
        f"reconstruction error (RRE) {model.reconstruction_error_:.4f}."
    )
    remarks = [
        variance_sentence(model),
        *stories(model),
        separation_sentence(model),
        rule_sentence(model),
    ]
    sentences([remark for remark in remarks if remark], console)


def sentences(texts: Iterable[str], console: Console | None = None) -> None:
    """Remarks on standard output, each on lines of its own."""
    with printing() if console is None else nullcontext(console) as place:
        for text in texts:
            place.print(Text(text))


def csv(table: pd.DataFrame) -> None:
    """A table on standard output as a file would have it, for the next program."""
    content = io.BytesIO()
    write_csv(table, content)
    with printing():
        sys.stdout.write(content.getvalue().decode())


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Older versions of rich have no such method and leave it to the caller, as we do."""
        raise BrokenPipeError


@contextmanager
def printing() -> Iterator[Console]:
    """A console on standard output.

    A reader who has seen enough, as in `| head`, ends the printing and nothing else.
    """
    try:
        yield _console()
        sys.stdout.flush()
    except OSError as error:
        # Or Python would complain of what is still to be written when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            reason = error.strerror or error
            raise WorkFailedError(f"standard output: cannot write ({reason})") from error


def _console() -> Console:
    # Without a terminal rich assumes 80 columns; files and pipes have no such limit.
    width = None if sys.stdout.isatty() else max(shutil.get_terminal_size((120, 25)).columns, 120)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # any name can be printed anywhere
    return _Console(width=width, highlight=False)


def _matrix(model: SparsePCA, loadings: Any) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, show_footer=False)
    table.add_column("feature", no_wrap=True)
    for name in loadings.columns:
        table.add_column(name, justify="right", no_wrap=True)
    for feature, row in zip(loadings.index, loadings.to_numpy(), strict=True):
        cells = ("" if math.isnan(x) else loading_text(x) for x in row)
        table.add_row(Text(printable(feature)), *cells)
    table.add_section()
    shares = 100 * model.explained_variance_ratio_
    table.add_row("variance %", *(f"{share:.2f}" for share in shares))
    table.add_row("cumulative %", *(f"{total:.2f}" for total in shares.cumsum()))
    table.add_row("non-zeros", *(str(count) for count in loadings.count()))
    return table


def _print_component(console: Console, model: SparsePCA, number: int, loadings: Any) -> None:
    shares = 100 * model.explained_variance_ratio_
    console.print(
        f"[bold]{loadings.name}[/bold]  {shares[number]:.2f} % of the variance, "
        f"{shares[: number + 1].sum():.2f} % so far, {counted(len(loadings), 'feature')}"
    )
    ordered = loadings.sort_values(key=lambda values: -values.abs(), kind="stable")
    entries = [f"{printable(name)} {loading_text(value)}" for name, value in ordered.items()]
    for line in _packed(entries, console.width - 2):
        console.print(Text(f"  {line}"))
    console.print()


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
