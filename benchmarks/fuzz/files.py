"""Damaged data files: read as something else, or refused in one line."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import traceback
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.fuzz.damage import damaged, damaged_inside
from benchmarks.fuzz.folders import Finding, check_folders
from benchmarks.fuzz.valid import valid_file
from benchmarks.fuzz.violations import Violation

_SECONDS = 10.0
# Every so many cases one runs as a command of its own; its start is not the fault of the file.
_COMMAND_EVERY = 100
_COMMAND_SECONDS = 60.0
# Kept as it was written, a file must be read: this shows that the others fail for their damage.
_VALID_EVERY = 25
_OPTIONS = ("--components", "2", "--cardinality", "2", "--max-iter", "50")
_UNSEEN = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
_RESULTS = {"loadings.csv", "scores.csv", "model.npz", "report.html"}


def check_files(numbers: Iterable[int], seed: int, *, jobs: int = 1) -> Iterator[list[Violation]]:
    """Damage the files of these cases, and let the command read them."""
    yield from check_folders(run_case, seed, numbers, _limit, option="--files", jobs=jobs)


def _limit(number: int) -> float:
    return _COMMAND_SECONDS if number % _COMMAND_EVERY == 0 else _SECONDS


def run_case(seed: int, number: int, folder: Path) -> Finding:
    """Write the file of a case, run the command on it, and look at what it leaves behind."""
    random = np.random.default_rng((seed, number))
    suffix, content = valid_file(random)
    how = "not damaged"
    if number % _VALID_EVERY:
        inside = damaged_inside(content, random) if random.random() < 0.5 else None
        content, how = inside or damaged(content, random)
    path = folder / f"data{suffix}"
    path.write_bytes(content)
    results = folder / "results"
    call = ["fit", str(path), *_OPTIONS, "--output", str(results)]
    if random.random() < 0.1:
        call.append("--covariance")
    if random.random() < 0.1:
        call.append("--standardize")
    run = _as_command if number % _COMMAND_EVERY == 0 else _in_process
    status, out, err = run(call)
    kind = judge(status, out, err, path, results)
    if kind is None and status and how == "not damaged" and "--covariance" not in call:
        kind = "a valid file is refused"
    if kind is None:
        return None
    return f"{suffix}: {kind}", f"{how}; status {status}; {err.strip()[-600:]!r}"


def judge(status: int | None, out: str, err: str, path: Path, results: Path) -> str | None:
    """What is wrong with the outcome of a call, if anything."""
    lines = err.splitlines()
    if status is None:
        return f"raised {lines[-1].split(':')[0]}" if lines else "raised"
    # All that is not seen but for spaces and line ends.
    if any(unicodedata.category(c) in _UNSEEN and c != "\n" for c in err + out):
        return "control characters printed"
    left = set(os.listdir(results)) if results.exists() else set()
    if status == 0:
        if not all(line.startswith("note: ") for line in lines):
            return "something else than notes beside the results"
        return None if _RESULTS - {"scores.csv"} <= left <= _RESULTS else "results incomplete"
    if status != 2:
        return f"status {status}: {lines[-1].split(':')[1] if lines else ''}"
    if len(lines) != 1 or out:
        return "not one line"
    if not lines[0].startswith(f"redac: {path}: "):
        return "the line does not begin with the name of the file"
    return "results left behind by a call that failed" if left else None


def _in_process(call: list[str]) -> tuple[int | None, str, str]:
    from redac.cli import main

    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        # As in a new process: what was shown once is shown again.
        warnings.simplefilter("always")
        for hidden in (DeprecationWarning, PendingDeprecationWarning, ImportWarning):
            warnings.simplefilter("ignore", hidden)
        try:
            status: int | None = main(call)
        except SystemExit as ending:
            status = int(ending.code or 0)
        except BaseException:
            return None, out.getvalue(), traceback.format_exc()
    return status, out.getvalue(), err.getvalue()


def _as_command(call: list[str]) -> tuple[int | None, str, str]:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "redac", *call], capture_output=True, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()
