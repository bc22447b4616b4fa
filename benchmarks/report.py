"""The page of the documentation, from the results of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks import growth
from benchmarks.targets import verdicts

Row = dict[str, Any]
_RIVALS = ("plain NumPy", "SparsePCA", "MiniBatchSparsePCA", "abess")

_INTRODUCTION = """\
# Performance

<!-- Written by `make bench` from benchmarks/results.json; do not edit. -->

Times, memory and quality of fits, beside PCA and other packages.
"""

_HOW = """\
## How it was measured

All contestants of a case alternate in one process, with a pause of a tenth of a second between two
fits; a time is the best of its rounds (one run where `results.json` says `"rounds": 0`). Memory is
the peak of the resident set during a first fit, minus the resident set before it, in a fresh
process that has loaded the data, used BLAS on other matrices, so that its buffers are there, and
fitted something small. PEV is `redac.metrics.pev` for everybody. SparsePCA and MiniBatchSparsePCA
have a penalty instead of a bound. It was searched for once, untimed, so that they have at least as
many non-zeros as redac and as few more as possible, and is kept in `benchmarks/penalties.json`
(`--tune` searches again); everything else is at its default. They are compared beside l0 only, as
they can be set to a number of non-zeros but not to an l1 norm. "> 180 s" is a fit that was ended
after that time in this run; with "recorded", it was ended when its penalty was searched for and not
tried again. "Plain NumPy" is Algorithm 1 or 2 on X from exact principal axes, with the tolerance
and the limit of 1000 sweeps of redac; redac itself tries several starts.

"One more sweep" starts from the components of redac, "after plain" from those of the plain
algorithm, with least-squares scores; the gain is a share of the variance. With l1 bounds redac
keeps components apart (`min_separation`), because there is no optimum otherwise ([l1 bounds
and collapse](algorithm.md#l1-bounds-and-collapse)); so do the plain runs and the further sweep in
the table on quality, by leaving out updates that would bring components closer together. Plain
NumPy beside the other methods leaves out none.

Data, made from a fixed seed: 30 factors, each with standard normal loadings on a random 10 % of the
features, strengths falling from 3 to 0.5, and unit normal noise. "gene-like" has its columns
multiplied by log-normal scales (σ = 1). "sparse" is a matrix of word counts: each row draws half of
its words from one of 30 topics of 200 words and half by Zipf's law, 0.1 % of all words together.
"colon" is the set of Alon et al. (1999), raw intensities, where it is at hand.

To measure again: `make bench`, and after an interruption `make bench BENCH=--resume`; a part of
it: `python -m benchmarks --case 1000x1000/r10 --contestant redac --contestant PCA`; the page alone:
`python -m benchmarks.render`.
"""


def page(results: dict[str, Any]) -> str:
    """The whole page in Markdown."""
    parts = [_INTRODUCTION, _circumstances(results["about"]), *_summary(results)]
    if results["rows"]:
        parts += ["![Times and growth](figures/performance.svg)\n"]
        parts += ["## Fits\n", _fits(results["rows"]), "## Beside other methods\n"]
        parts += [_rivals(results["rows"]), *_failures(results)]
    if results["quality"]:
        parts += ["## Quality beside the plain algorithm\n", _quality(results["quality"])]
    if "growth" in results:
        parts += ["## Growth\n", _growth(results["growth"])]
    if "small" in results:
        parts += ["## Overheads\n", _small(results["small"])]
    return "\n".join([*parts, _HOW])


def _circumstances(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {found}" for name, found in about["versions"].items())
    return (
        f"Measured {about['date']} with Python {about['python']}, {versions}, on {about['system']} "
        f"with {about['cores']} cores; {', '.join(about['blas'])}, threads: "
        f"{about['blas_threads']}. Seed {about['seed']}."
        + (f" Gone on with {', '.join(about['went_on'])}." if "went_on" in about else "")
        + "\n"
        + (f"\n{about['remark']}\n" if "remark" in about else "")
    )


def _summary(results: dict[str, Any]) -> Iterator[str]:
    words = {True: "yes", False: "**no**", None: "–"}
    yield table(
        ("aim", "met", "how far"), ((v.aim, words[v.met], v.detail) for v in verdicts(results))
    )


def _fits(rows: list[Row]) -> str:
    pca = {(row["data"], row["r"]): row for row in rows if row["contestant"] == "PCA"}
    head = ["data", "n × d", "r", "sparsity", "PCA", "redac", "ratio", "memory", "input", "PEV"]
    head += ["PCA's", "non-zeros", "sweeps", "passes"]
    lines: list[tuple[Any, ...]] = []
    for row in rows:
        if row["contestant"] != "redac":
            continue
        base = pca.get((row["data"], row["r"]), {})
        sizes = (row["data"], f"{row['n']} × {row['d']}", row["r"], row["sparsity"])
        if row["failure"] is not None:
            lines.append((*sizes, _seconds(base), row["failure"], *["–"] * 8))
            continue
        ratio = f"{row['seconds'] / base['seconds']:.2g}" if "seconds" in base else "–"
        memory = (_megabytes(row["peak_bytes"]), _megabytes(row["input_bytes"]))
        fit = (f"{row['pev']:.2f}", f"{base['pev']:.2f}" if "pev" in base else "–")
        counts = (row["nonzeros"], row["sweeps"], _given(row["passes"]))
        lines.append((*sizes, _seconds(base), _seconds(row), ratio, *memory, *fit, *counts))
    return table(head, lines)


def _rivals(rows: list[Row]) -> str:
    """A line for each case, a column for each contestant: time, PEV, non-zeros."""
    cells: dict[tuple[Any, ...], dict[str, str]] = {}
    names = ("redac", *_RIVALS)
    for row in rows:
        if row["contestant"] in names:
            key = (row["data"], row["r"], row["sparsity"])
            cells.setdefault(key, {})[row["contestant"]] = _cell(row)
    lines = [(*key, *(found.get(name, "–") for name in names)) for key, found in cells.items()]
    return "Time; PEV (non-zeros).\n\n" + table(("data", "r", "sparsity", *names), lines)


def _cell(row: Row) -> str:
    if row.get("longer_than") is not None:
        return f"> {row['longer_than']:g} s" + (", recorded" if row.get("recorded") else "")
    if row["failure"] is not None:
        return "none"
    return f"{_seconds(row)}; {row['pev']:.2f} ({row['nonzeros']})"


def _failures(results: dict[str, Any]) -> Iterator[str]:
    """Why there are gaps: each reason once, with where it holds."""
    where: dict[tuple[str, str], list[str]] = {}
    for row in results["rows"]:
        if row["failure"] is not None:
            place = f"{row['data']}/r{row['r']}" + (
                f" {row['sparsity']}" if row["sparsity"] else ""
            )
            where.setdefault((row["contestant"], row["failure"]), []).append(place)
    lines = [
        f"- {name}: {reason}" + (f" ({'; '.join(places)})" if len(places) <= 4 else "")
        for (name, reason), places in where.items()
    ]
    lines += [f"- {skipped['case']}: {skipped['reason']}" for skipped in results["skipped"]]
    if lines:
        yield "No result, and why:\n"
        yield "\n".join(lines) + "\n"


def _quality(quality: list[Row]) -> str:
    head = ["data", "r", "sparsity", "PEV", "− plain", "PCA start only − plain", "one more sweep"]
    head += ["after plain"]
    lines = (
        (
            *(q["data"], q["r"], q["sparsity"], f"{q['pev']:.3f}"),
            _difference(q["pev"], q["pev_plain"]),
            _difference(q["pev_pca_start"], q["pev_plain"]),
            f"{q['gain_of_one_more_sweep']:.1e}",
            "–" if q["gain_after_plain"] is None else f"{q['gain_after_plain']:.1e}",
        )
        for q in quality
    )
    return table(head, lines)


def _growth(series: list[Row]) -> str:
    head = ["grows", "fixed", "values", f"seconds, {growth.FIXED_SWEEPS} sweeps", "exponent"]
    head += ["seconds, default fit", "exponent", "sweeps"]
    lines = (
        (
            s["size"],
            ", ".join(f"{name} = {value}" for name, value in s["fixed"].items()),
            _list(s["values"], "{}"),
            _list(s["fixed_sweeps_seconds"], "{:.2g}"),
            f"{s['fixed_sweeps_exponent']:.2f}",
            _list(s["default_seconds"], "{:.2g}"),
            f"{s['default_exponent']:.2f}",
            _list(s["default_sweeps"], "{}"),
        )
        for s in series
    )
    return (
        table(head, lines)
        + "\nMore features than samples everywhere, so that no ready Gram matrix hides the cost of "
        "X; one start and a fixed number of sweeps measure the method, the default fit also the "
        "sweeps that the data need.\n"
    )


def _small(small: Row) -> str:
    return table(
        ("what", "seconds"),
        (
            (f"{small['fits']} fits of 10 × 10 covariances", f"{small['fits_seconds']:.2f}"),
            (f"pitprops from {small['starts']} starts", f"{small['starts_seconds']:.2f}"),
            (
                "`import redac` beyond numpy, scipy, scikit-learn",
                f"{small['import_seconds']:.2f} (those: {small['import_peers_seconds']:.2f})",
            ),
            ("`redac --help`", f"{small['help_seconds']:.2f}"),
        ),
    )


def table(head: Iterable[Any], lines: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    head = list(head)
    rows = [head, ["---"] * len(head), *(list(line) for line in lines)]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows) + "\n"


def _seconds(row: Row) -> str:
    if row.get("seconds") is None:
        return "–"
    seconds = row["seconds"]
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _megabytes(count: int | None) -> str:
    return "–" if count is None else f"{count / 1e6:.3g} MB"


def _difference(ours: float | None, theirs: float | None) -> str:
    return "–" if ours is None or theirs is None else f"{ours - theirs:+.4f}"


def _given(value: Any) -> Any:
    return "–" if value is None else value


def _list(values: Iterable[Any], form: str) -> str:
    return ", ".join(form.format(value) for value in values)
