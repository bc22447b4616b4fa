"""Damaged data files: read as something else, or refused in one line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.fuzz.damage import Random, damaged, damaged_inside
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
# Columns that files may have or not: the errors about them are as much to be tried as the rest.
_COLUMN_OPTIONS = (
    ["--drop", "height"],
    ["--drop", "1"],
    ["--only", "height,c1,c2"],
    ["--index", "id"],
    ["--label", "words"],
    ["--na", "?"],
    ["--missing", "error"],
    ["--transpose"],
)
_ABOUT_OPTIONS = ("redac: drop and only exclude",)
_RESULTS = {"loadings.csv", "scores.csv", "model.npz", "report.html"}


def check_files(numbers: Iterable[int], seed: int, *, jobs: int = 1) -> Iterator[list[Violation]]:
    """Damage the files of these cases, and let the command read them."""
    yield from check_folders(run_case, seed, numbers, _limit, option="--files", jobs=jobs)


def _limit(number: int) -> float:
    return _COMMAND_SECONDS if number % _COMMAND_EVERY == 0 else _SECONDS


@dataclass(frozen=True)
class Call:
    """A call of the command on a file.

    Attributes
    ----------
    arguments : as a shell has them.
    place : what its errors begin with.
    output : a folder, or the one file that a call writes.
    content : what standard input holds; None where it is not read.
    """

    arguments: list[str]
    place: str
    output: Path
    content: bytes | None = None

    @property
    def prints_json(self) -> bool:
        return "--json" in self.arguments

    def has_left_something(self) -> bool:
        """Whether there is any of what the call would write."""
        return self.output.is_file() or (self.output.is_dir() and any(self.output.iterdir()))

    def is_complete(self) -> bool:
        """Whether all is there that a call leaves behind when it is done."""
        if self.output.suffix:
            return self.output.is_file()
        left = set(os.listdir(self.output)) if self.output.exists() else set()
        return _RESULTS - {"scores.csv"} <= left <= _RESULTS


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
    call = _call(path, content, random, options=how != "not damaged")
    run = _as_command if number % _COMMAND_EVERY == 0 else _in_process
    status, out, err = run(call)
    kind = judge(status, out, err, call)
    if kind is None and status and how == "not damaged" and "--covariance" not in call.arguments:
        kind = "a valid file is refused"
    if kind is None:
        return None
    return f"{suffix}: {kind}", f"{how}; {call.arguments}; status {status}; {err.strip()[-600:]!r}"


def _call(path: Path, content: bytes, random: Random, *, options: bool) -> Call:
    """A fit mostly, and sometimes scores from a saved model; with any options that may be wrong."""
    output = path.parent / "results"
    data, place, given = str(path), str(path), None
    arguments: list[str] = []
    if random.random() < 0.1:
        suffixes = "".join(path.suffixes).removeprefix(".")
        data, place, given = "-", "standard input", content
        arguments += ["--input-format", suffixes]
    if random.random() < 0.2:
        arguments.append("--json")
    if options:
        for choice in _COLUMN_OPTIONS:
            if random.random() < 0.05:
                arguments += choice
    if options and random.random() < 0.1:
        output = path.parent / "scores.csv"
        model = path.parent / "model.npz"
        model.write_bytes(_model())
        command = "impute" if random.random() < 0.3 else "transform"
        return Call(
            [command, str(model), data, *arguments, "--output", str(output)], place, output, given
        )
    if random.random() < 0.1:
        arguments.append("--covariance")
    if random.random() < 0.1:
        arguments.append("--standardize")
    return Call(["fit", data, *_OPTIONS, *arguments, "--output", str(output)], place, output, given)


@cache
def _model() -> bytes:
    """A model of three columns without names: data of three columns have scores."""
    from redac import SparsePCA

    X = np.random.default_rng(0).standard_normal((20, 3))
    with tempfile.TemporaryDirectory() as folder:
        SparsePCA(2, cardinality=2).fit(X).save(Path(folder) / "model.npz")
        return (Path(folder) / "model.npz").read_bytes()


def judge(status: int | None, out: str, err: str, call: Call) -> str | None:
    """What is wrong with the outcome of a call, if anything."""
    lines = err.splitlines()
    if status is None:
        return f"raised {lines[-1].split(':')[0]}" if lines else "raised"
    # All that is not seen but for spaces and line ends.
    if any(unicodedata.category(c) in _UNSEEN and c != "\n" for c in err + out):
        return "control characters printed"
    if status == 0:
        if not all(line.startswith("note: ") for line in lines):
            return "something else than notes beside the results"
        if call.prints_json and not _is_json(out):
            return "no JSON"
        return None if call.is_complete() else "results incomplete"
    if status != 2:
        return f"status {status}: {lines[-1].split(':')[1] if lines else ''}"
    if len(lines) != 1 or out:
        return "not one line"
    if not lines[0].startswith((f"redac: {call.place}: ", *_ABOUT_OPTIONS)):
        return "the line does not begin with the name of the file"
    return "results left behind by a call that failed" if call.has_left_something() else None


def _is_json(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        return bool(json.loads(text, parse_constant=refuse)["schema"])
    except (ValueError, KeyError):
        return False


class _Stdin:
    """Bytes in place of what a shell would pass."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def _in_process(call: Call) -> tuple[int | None, str, str]:
    from redac.cli import main

    out, err = io.StringIO(), io.StringIO()
    before = sys.stdin
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
            sys.stdin = cast(Any, _Stdin(call.content or b""))
            status: int | None = main(call.arguments)
        except SystemExit as ending:
            status = int(ending.code or 0)
        except BaseException:
            return None, out.getvalue(), traceback.format_exc()
        finally:
            sys.stdin = before
    return status, out.getvalue(), err.getvalue()


def _as_command(call: Call) -> tuple[int | None, str, str]:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "redac", *call.arguments],
        input=call.content or b"",
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()
