"""Cases about files: each in an empty folder of its own, with an eye on the memory it takes."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.fuzz.violations import Violation
from benchmarks.fuzz.workers import run_cases

# What was violated, and what was seen; None where all is well.
Finding = tuple[str, str] | None
# Runs the case of a seed and a number in an empty folder.
FolderCheck = Callable[[int, int, Path], Finding]

# No small file may make a reader take more than this.
_MEMORY = 1 << 29
_STATUS = Path("/proc/self/status")
# Beyond this, memory is refused, for the sake of the machine.
_MOST_MEMORY = 1 << 34


def check_folders(
    check: FolderCheck,
    seed: int,
    numbers: Iterable[int],
    limit: Callable[[int], float],
    *,
    option: str,
    jobs: int = 1,
) -> Iterator[list[Violation]]:
    """What does not hold in each case; ``option`` of the command makes one alone."""
    alone = partial(_in_a_folder, check)
    for outcome in run_cases(alone, seed, numbers, limit, jobs=jobs, prepare=_prepare):
        finding = outcome.trouble or outcome.found
        case = f"python -m benchmarks.fuzz {option} 1 --seed {seed} --first {outcome.number}"
        yield [] if finding is None else [Violation(finding[0], case, finding[1])]


def _in_a_folder(check: FolderCheck, seed: int, number: int) -> Finding:
    """Runs in a worker."""
    with tempfile.TemporaryDirectory() as folder:
        before = _peak_memory()
        finding = check(seed, number, Path(folder))
        taken = _peak_memory() - before
    if finding is None and taken > _MEMORY:
        return "memory", f"{taken >> 20} MB more than before"
    return finding


def _prepare() -> None:
    """Before the first case: a limit of memory, and all imports."""
    _limit_memory()
    from redac.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(["fit", "pitprops"])


def _limit_memory() -> None:
    if os.name == "posix":
        import resource

        with contextlib.suppress(ValueError, OSError):  # a lower limit is set already
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


def _peak_memory() -> int:
    """Bytes; nothing where the system does not tell.

    The peak that getrusage gives begins with that of the process that started this one.
    """
    if not _STATUS.exists():
        return 0
    fields = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
    return int(fields["VmHWM"].split()[0]) * 1024
