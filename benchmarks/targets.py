"""What is aimed at, and whether the figures of a run reach it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

Row = dict[str, Any]

TOL = 1e-7  # the default of redac
_ON_AVERAGE, _AT_MOST = 3.0, 10.0  # times the time of PCA
_FACTOR = 20.0  # how much longer SparsePCA is to take
_PATIENCE = 600.0  # seconds within which SparsePCA has to finish for its time to count
_RIVALS = ("SparsePCA", "MiniBatchSparsePCA", "abess")
_LARGE = 1000
_EXPONENT = 1.1  # of the time against n, d and r
# Seconds for what is done once or often.
_OVERHEADS = {
    "fits_seconds": ("{fits} fits of 10 × 10 covariances", 10.0),
    "starts_seconds": ("pitprops from {starts} starts", 20.0),
    "import_seconds": ("`import redac` beyond numpy, scipy and scikit-learn", 0.7),
    "help_seconds": ("`redac --help`", 1.0),
}
# What counts as the same PEV, in percentage points.
_SAME_PEV = 0.1


@dataclass(frozen=True)
class Verdict:
    """One aim and how far it is reached; ``met`` is None where nothing was measured."""

    aim: str
    met: bool | None
    detail: str


def verdicts(results: dict[str, Any]) -> list[Verdict]:
    """All aims, judged on the rows of a run."""
    rows, quality = results["rows"], results["quality"]
    return [
        _as_fast_on_average(rows),
        _as_fast_everywhere(rows),
        _memory(rows),
        _faster(rows),
        _rivals(rows),
        _settled(quality),
        _same_start(quality),
        _exponents(results.get("growth", [])),
        *_overheads(results.get("small")),
    ]


def speed_ratios(rows: list[Row]) -> dict[tuple[str, int, str], float]:
    """Time of redac over time of PCA for every dense case."""
    pca = {(row["data"], row["r"]): row["seconds"] for row in _done(rows, "PCA")}
    return {
        (row["data"], row["r"], row["sparsity"]): row["seconds"] / pca[row["data"], row["r"]]
        for row in _done(rows, "redac")
        if (row["data"], row["r"]) in pca and is_dense(row)
    }


def is_dense(row: Row) -> bool:
    """Whether the input has all its entries stored."""
    return bool(row["input_bytes"] == 8 * row["n"] * row["d"])


def allowed_bytes(row: Row) -> float | None:
    """Memory above the input that a fit may take; None where it is not known what it cached."""
    n, d = row["n"], row["d"]
    cached = row.get("cached_bytes")
    if cached is None:
        return None
    whole = 8 * d * d if d <= n else 0  # where d ≤ n, all of S is formed
    return float(0.2 * row["input_bytes"] + 64 * (n + d) * row["r"] + whole + cached)


def _as_fast_on_average(rows: list[Row]) -> Verdict:
    ratios = speed_ratios(rows)
    aim = f"on dense data at most {_ON_AVERAGE:g} times as long as PCA, geometric mean"
    if not ratios:
        return Verdict(aim, None, "not measured")
    mean = geometric_mean(ratios.values())
    return Verdict(aim, mean <= _ON_AVERAGE, f"{mean:.2g} times over {len(ratios)} cases")


def _as_fast_everywhere(rows: list[Row]) -> Verdict:
    ratios = {_label(*case): ratio for case, ratio in speed_ratios(rows).items()}
    aim = f"on dense data nowhere more than {_AT_MOST:g} times as long as PCA"
    return _verdict(aim, ratios, lambda ratio: ratio <= _AT_MOST, max, "{:.3g} times")


def _memory(rows: list[Row]) -> Verdict:
    shares = {
        _label(row["data"], row["r"], row["sparsity"]): row["peak_bytes"] / allowed
        for row in _done(rows, "redac")
        if is_dense(row) and min(row["n"], row["d"]) >= _LARGE and row["peak_bytes"] is not None
        if (allowed := allowed_bytes(row)) is not None
    }
    aim = (
        "memory above the input at most 20 % of the input + 64 (n + d) r bytes + the columns of S "
        "kept, on dense data with n, d ≥ 1000"
    )
    return _verdict(aim, shares, lambda share: share <= 1.0, max, "{:.0%} of what is allowed")


def _faster(rows: list[Row]) -> Verdict:
    """Times of SparsePCA over ours; a fit that was ended took at least as long as it was given."""
    ours = {(row["data"], row["r"], row["sparsity"]): row for row in _done(rows, "redac")}
    ratios = {}
    for row in rows:
        mine = ours.get((row["data"], row["r"], row["sparsity"]))
        seconds = row.get("seconds") or row.get("longer_than")
        if row["contestant"] != "SparsePCA" or mine is None or seconds is None:
            continue
        ratio = seconds / mine["seconds"]
        if "seconds" in row or ratio >= _FACTOR or seconds < _PATIENCE:
            ratios[_label(row["data"], row["r"], row["sparsity"])] = ratio
    aim = (
        f"SparsePCA takes at least {_FACTOR:g} times as long, wherever it finishes in "
        f"{_PATIENCE / 60:g} minutes"
    )
    return _verdict(aim, ratios, lambda ratio: ratio >= _FACTOR, min, "{:.3g} times")


def _rivals(rows: list[Row]) -> Verdict:
    ours = {(row["data"], row["r"], row["sparsity"]): row for row in _done(rows, "redac")}
    leads = {}
    for name in _RIVALS:
        for row in _done(rows, name):
            mine = ours.get((row["data"], row["r"], row["sparsity"]))
            if mine is not None and mine["nonzeros"] <= row["nonzeros"]:
                where = _label(row["data"], row["r"], row["sparsity"])
                leads[f"{where} against {name}"] = mine["pev"] - row["pev"]
    aim = "PEV no lower than that of SparsePCA, MiniBatchSparsePCA and abess at no more non-zeros"
    return _verdict(aim, leads, lambda lead: lead >= 0.0, min, "{:+.2f} points")


def _settled(quality: list[Row]) -> Verdict:
    gains = {_label(q["data"], q["r"], q["sparsity"]): q["gain_of_one_more_sweep"] for q in quality}
    aim = f"one more plain sweep gains at most {TOL:g} of the variance"
    return _verdict(aim, gains, lambda gain: gain <= TOL, max, "{:.1e}")


def _same_start(quality: list[Row]) -> Verdict:
    differences = {
        _label(q["data"], q["r"], q["sparsity"]): q["pev_pca_start"] - q["pev_plain"]
        for q in quality
        if q["pev_pca_start"] is not None and q["pev_plain"] is not None
    }
    aim = (
        "from the PCA start, a PEV no lower than that of the plain algorithm from there, which "
        "keeps components as far apart with l1 bounds"
    )
    return _verdict(aim, differences, lambda x: x >= -_SAME_PEV, min, "{:+.4f} points")


def _exponents(growth: list[Row]) -> Verdict:
    """Of a fixed number of sweeps and of the default fit."""
    exponents = {
        f"{size['size']} ({name})": size[key]
        for size in growth
        if size["size"] in ("n", "d", "r")
        for key, name in (
            ("fixed_sweeps_exponent", "fixed sweeps"),
            ("default_exponent", "default fit"),
        )
    }
    aim = f"time grows with n, d and r by exponents of at most {_EXPONENT:g}"
    return _verdict(aim, exponents, lambda x: x <= _EXPONENT, max, "{:.2f}")


def _overheads(small: Row | None) -> Iterator[Verdict]:
    if small is not None:
        for key, (what, most) in _OVERHEADS.items():
            aim = f"{what.format_map(small)} in less than {most:g} s"
            yield Verdict(aim, small[key] < most, f"{small[key]:.2f} s")


def _verdict(aim: str, values: dict[str, float], good: Any, worst: Any, form: str) -> Verdict:
    if not values:
        return Verdict(aim, None, "not measured")
    reached = sum(map(good, values.values()))
    where = worst(values, key=values.__getitem__)
    detail = f"{reached} of {len(values)}; at worst {form.format(values[where])}, on {where}"
    return Verdict(aim, reached == len(values), detail)


def _done(rows: list[Row], contestant: str) -> Iterator[Row]:
    return (row for row in rows if row["contestant"] == contestant and row["failure"] is None)


def _label(data: str, r: int, sparsity: str) -> str:
    return f"{data}, r = {r}, {sparsity}"
