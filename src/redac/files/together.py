"""The files of a result replace those of an older one together: never some of each.

They are written to a hidden folder within the output folder, on the same disk, and moved when
nothing is left to write. Then moving them is all that can still fail, and that can be undone.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from redac.disk import DataFileError, WriteError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: two writers at once are not kept apart there
    fcntl = None

_HIDDEN = ".redac-"
_ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextmanager
def written_together(path: str | os.PathLike[str], names: Collection[str]) -> Iterator[Path]:
    """Give an empty folder to write a result into; at the end its files go to the folder ``path``.

    If anything fails, if the disk is full, or if Ctrl-C or another signal that Python handles ends
    the work, the folder is as it was, and nothing else is left. Of several writers at once, the
    last has its files there and the others none. A process that is killed outright while it moves
    the files, which takes less than a millisecond, leaves some files of one result, the old or the
    new, and the others in a hidden folder ``.redac-…`` beside them. Such folders are removed by the
    next writer who succeeds.

    Parameters
    ----------
    path : path-like
        The folder for the result; created, with its parents, when there is something to write.
    names : collection of str
        All files that a result can have, relative to the folder. Those that were not written this
        time are removed, since they belong to an older result. Other files stay.

    Raises
    ------
    WriteError
        When the files cannot be written. Whatever else is raised within passes through.
    """
    folder = Path(path)
    created: list[Path] = []
    try:
        created = _missing(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with _hidden_folder(folder) as hidden:
            new, old = hidden / "new", hidden / "old"
            new.mkdir()
            yield new
            with _locked(folder), _signals_wait():
                _exchange(folder, new, old, names)
                _remove_abandoned(folder)
    except BaseException as error:
        _remove_empty(created)
        if isinstance(error, WriteError):
            raise WriteError(path, error.reason) from error
        if isinstance(error, OSError):
            raise WriteError(path, error.strerror or error) from error
        raise


def refuse_unusable_folder(path: str | os.PathLike[str], names: Collection[str]) -> None:
    """Raise if ``written_together`` is bound to fail; a trial that leaves nothing behind."""
    if not os.fspath(path):
        raise DataFileError("the output folder has no name (''); give one, or . for this folder")
    folder = Path(path).absolute()
    nearest = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    if not nearest.is_dir():
        raise DataFileError(f"{path}: is, or lies below, a file and cannot be a folder")
    for name in names:
        if os.path.isdir(folder / name):
            raise DataFileError(f"{path}: {name} is a folder there, and should become a file")
    try:
        with tempfile.TemporaryDirectory(prefix=_HIDDEN, dir=nearest) as trial:
            (Path(trial) / folder.relative_to(nearest)).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataFileError(f"{path}: cannot write there ({error.strerror or error})") from error


def _exchange(folder: Path, new: Path, old: Path, names: Collection[str]) -> None:
    """Move old files out, then new files in; or none at all."""
    written = [file.relative_to(new) for file in sorted(new.rglob("*")) if file.is_file()]
    replaced = dict.fromkeys([*map(Path, names), *written])
    moved: list[tuple[Path, Path]] = []
    created: list[Path] = []

    def move(source: Path, target: Path) -> None:
        created.extend(_missing(target.parent))
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
        moved.append((source, target))

    try:
        # All old files go before the first new one comes: whenever a process is killed, the folder
        # has files of one result only.
        for name in replaced:
            if os.path.isdir(folder / name):
                raise WriteError(folder / name, "it is a folder")
            if os.path.lexists(folder / name):
                move(folder / name, old / name)
        for name in written:
            move(new / name, folder / name)
    except BaseException:
        for source, target in reversed(moved):
            target.rename(source)
        _remove_empty(created)
        raise


@contextmanager
def _hidden_folder(folder: Path) -> Iterator[Path]:
    """A folder of our own, locked as long as it is in use, and removed at the end."""
    with ExitStack() as stack:
        with _locked(folder), _signals_wait():  # nobody may take it for abandoned before its lock
            hidden = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=folder))
            stack.callback(_remove, hidden)
            stack.enter_context(_locked(hidden))
        yield hidden


def _remove(hidden: Path) -> None:
    with _signals_wait():
        shutil.rmtree(hidden, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove hidden folders whose writers were killed: nobody holds their locks any more."""
    for hidden in folder.glob(f"{_HIDDEN}????????"):
        with suppress(OSError), _locked(hidden, wait=False) as held:
            if held:
                shutil.rmtree(hidden, ignore_errors=True)


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a folder, which the system takes back however the process ends.

    Gives whether it is held: not if somebody else has it, or where there are no such locks.
    """
    if fcntl is None:
        yield False
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        held = False
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            held = True
        yield held
    finally:
        os.close(handle)


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Signals that could end the work in the middle of this take effect right after it."""
    arrived: list[int] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():  # others are never interrupted
        known = {number: signal.getsignal(number) for number in _ENDING}
        before = {number: handler for number, handler in known.items() if handler is not None}
    try:
        for number in before:
            signal.signal(number, lambda which, _: arrived.append(which))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in arrived:
            signal.raise_signal(number)


def _missing(folder: Path) -> list[Path]:
    """The folder and those above it that do not exist, the deepest first."""
    return [place for place in (folder, *folder.parents) if not place.exists()]


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # somebody else has written there
            folder.rmdir()
