"""``--output``: the old result or the new one, whatever disk, readers and other writers do."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from commands import OUTPUTS, Run, complaint, done, files_in, run_process, uncounted
from helpers import factor_data
from redac import SparsePCA
from redac.disk import WriteError
from redac.files.together import written_together

pytestmark = [
    pytest.mark.usefixtures("plain_terminal"),
    pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX"),
]

NAMES = ["a", "b", "sub/c"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.save(tmp_path / "data.npy", factor_data(3000, 6, seed=3))
    return tmp_path / "data.npy"


def contents(folder: Path) -> dict[str, bytes]:
    """All files below, hidden ones included."""
    files = sorted(path for path in folder.rglob("*") if not path.is_dir())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def write(folder: Path, content: str, names: list[str] = NAMES) -> None:
    with written_together(folder, NAMES) as new:
        for name in names:
            (new / name).parent.mkdir(exist_ok=True)
            (new / name).write_text(content)


# ------------------------------------------------------------ together or not at all


def test_a_result_replaces_the_old_one_and_leaves_other_files_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results"
    write(folder, "old")
    (folder / "mine").write_text("mine")
    (folder / "sub" / "mine").write_text("mine")
    write(folder, "new", ["a", "sub/c"])
    mine = {"mine": b"mine", "sub/mine": b"mine"}
    assert contents(folder) == {"a": b"new", "sub/c": b"new"} | mine
    usual = tmp_path / "usual"
    usual.mkdir()
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    assert files_in(folder) == ["a", "mine", "sub"]


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt(), OSError(28, "full")])
def test_a_failure_leaves_everything_as_it_was(
    tmp_path: Path, error: BaseException, existing: bool
) -> None:
    folder = tmp_path / "new" / "results"
    if existing:
        write(folder, "old")

    def fail() -> None:
        with written_together(folder, NAMES) as new:
            (new / "a").write_text("new")
            raise error

    with pytest.raises(WriteError if isinstance(error, OSError) else type(error)):
        fail()
    if existing:
        assert contents(folder) == dict.fromkeys(NAMES, b"old")
        assert files_in(folder) == ["a", "b", "sub"]
    else:
        assert files_in(tmp_path) == []


@pytest.mark.parametrize("blocked", ["b", "sub"])
def test_what_cannot_be_moved_is_moved_back(tmp_path: Path, blocked: str) -> None:
    """A folder in the place of a file, and a file in the place of a folder."""
    write(tmp_path, "old", ["a"])
    if blocked == "b":
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "mine").write_text("mine")
    else:
        (tmp_path / "sub").write_text("mine")
    before = contents(tmp_path)
    with pytest.raises(WriteError, match=f"^{tmp_path}: cannot write"):
        write(tmp_path, "new")
    assert contents(tmp_path) == before


# Writes results of one word each, for ever.
_WRITER = """
import sys
from pathlib import Path
from redac.files.together import written_together
folder, word, names = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
while True:
    with written_together(folder, names) as new:
        for name in names:
            (new / name).parent.mkdir(exist_ok=True)
            (new / name).write_text(word)
    print(word, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def writers(folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Two processes that write other results to the same folder all the time."""
    started = [start_writer(folder, word) for word in ("one", "two")]
    yield started
    for process in started:
        stop(process, signal.SIGKILL)


def start_writer(folder: Path, word: str) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", _WRITER, folder, word, *NAMES]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603
    assert process.stdout is not None
    assert process.stdout.readline() == f"{word}\n".encode()
    return process


def stop(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    process.send_signal(number)
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_writers_at_once_and_writers_that_are_killed_never_mix_results(
    folder: Path, writers: list[subprocess.Popen[bytes]], number: signal.Signals
) -> None:
    for _ in range(5):
        for process in writers:
            stop(process, number)
        left = {name: word for name, word in contents(folder).items() if not name.startswith(".")}
        assert len(set(left.values())) <= 1, left
        writers[:] = [start_writer(folder, word) for word in ("one", "two")]
    for process in writers:
        stop(process, signal.SIGKILL)
    write(folder, "mine")
    assert contents(folder) == dict.fromkeys(NAMES, b"mine")
    assert files_in(folder) == ["a", "b", "sub"]  # what the killed ones have left is gone


# ------------------------------------------------------------ the command


def test_no_scores_of_an_older_fit_stay(run: Run, data: Path, folder: Path) -> None:
    run("fit", data, "--cardinality", "2,2", "--output", folder)
    assert files_in(folder) == OUTPUTS
    run("fit", "pitprops", "--cardinality", "2,2", "--output", folder, "--force")
    assert files_in(folder) == [name for name in OUTPUTS if name != "scores.csv"]


def limited(bytes_per_file: int, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """The command where no file can grow beyond a size, which feels like a full disk."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_per_file, bytes_per_file))

    return run_process(*arguments, preexec_fn=limit, env=uncounted())


@pytest.mark.parametrize("existing", [True, False])
# Too little for anything, and enough for all but the scores.
@pytest.mark.parametrize("room", [100, 50_000])
def test_a_full_disk_is_failed_work_and_keeps_the_old_files(
    run: Run, data: Path, folder: Path, room: int, existing: bool
) -> None:
    if existing:
        run("fit", data, "--cardinality", "2,2", "--output", folder)
        before = contents(folder)
    ended = limited(room, "fit", data, "--cardinality", "3,3", "--output", folder, "--force")
    assert ended.returncode == 1
    assert ended.stderr.decode() == f"redac: {folder}: cannot write (File too large)\n"
    assert b"2 components explain" in ended.stdout  # the result can be read all the same
    if existing:
        assert contents(folder) == before
    else:
        assert not folder.exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_standard_output_without_room(data: Path, folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        ended = run_process("fit", data, "--cardinality", 2, "--output", folder, stdout=full)
    assert ended.returncode == 1
    *_, written, line = ended.stderr.decode().splitlines()
    assert written == f"note: results written to {folder}"
    assert line == "redac: standard output: cannot write (No space left on device)"
    assert files_in(folder) == OUTPUTS


@pytest.mark.parametrize("also_notes", [False, True])
@pytest.mark.parametrize("command", ["fit", "compare", "certify"])
def test_readers_who_have_seen_enough(folder: Path, command: str, also_notes: bool) -> None:
    """As in ``redac fit DATA --output DIR 2>&1 | head -1``."""
    reading, writing = os.pipe()
    os.close(reading)
    asked = ["--methods", "thresholding"] if command == "compare" else ["--output", folder]
    asked = ["--time-limit", 0, "--jobs", 1] if command == "certify" else asked
    streams = {"stdout": writing} | ({"stderr": writing} if also_notes else {})
    try:
        ended = run_process(command, "pitprops", "--cardinality", 3, *asked, **streams)
    finally:
        os.close(writing)
    assert ended.returncode == 0
    if not also_notes:
        written = f"note: results written to {folder}\n" if command == "fit" else ""
        assert ended.stderr.decode() == written
    if command == "fit":
        assert "report.html" in files_in(folder)


def test_fits_at_once_leave_one_result(folder: Path) -> None:
    fit = [sys.executable, "-m", "redac", "fit", "pitprops", "--output", folder, "--force"]
    commands = [[*fit, "--cardinality", k] for k in "2345"]
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]  # noqa: S603
    assert [process.wait(timeout=120) for process in started] == [0] * 4
    kept = SparsePCA.load(folder / "model.npz").cardinality
    report = (folder / "report.html").read_text()
    assert f"<tr><th>cardinality</th><td>{kept}</td></tr>" in report
    assert files_in(folder) == [name for name in OUTPUTS if name != "scores.csv"]


# ------------------------------------------------------------ refused before the work

UNUSABLE = {
    "empty": ("", "has no name"),
    "below a file": ("taken/sub", "taken/sub: is, or lies below, a file"),
    "folder for a file": ("odd", "odd: model.npz is a folder there"),
    "too long": ("x" * 300, "cannot write there (File name too long)"),
}


@pytest.mark.parametrize("case", UNUSABLE)
@pytest.mark.parametrize("command", ["fit nowhere.csv", "reproduce nothing", "reproduce x --docs"])
def test_unusable_places_are_refused_before_the_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "odd" / "model.npz").mkdir(parents=True)
    (tmp_path / "odd" / "results.md").mkdir()
    (tmp_path / "odd" / "reproduction.md").mkdir()
    place, says = UNUSABLE[case]
    if "fit" not in command:
        says = says.replace("model.npz", "reproduction.md" if "docs" in command else "results.md")
    option = () if "docs" in command else ("--output",)
    assert says in complaint(run(*command.split(), *option, place))
    assert files_in(tmp_path) == ["odd", "taken"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_place_where_nobody_can_write_is_refused(run: Run) -> None:
    line = complaint(run("fit", "nowhere.csv", "--output", "/proc/nothing"))
    assert line.startswith("redac: /proc/nothing: cannot write there (")


# Root may write anywhere, so it becomes somebody else, after it has read all that is imported.
_AS_NOBODY = """
import os, sys
import redac.cli, redac.cli.fit, redac.cli.terminal, redac.cli.reproduce, numpy, redac.files
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
sys.exit(redac.cli.main())
"""


@pytest.mark.parametrize("below", ["", "new"])
def test_a_folder_of_somebody_else_is_refused(below: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o555)  # noqa: S103
        place = Path(name) / below
        ended = subprocess.run(  # noqa: S603
            [sys.executable, "-c", _AS_NOBODY, "fit", "nowhere.csv", "--output", place],
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr.decode() == f"redac: {place}: cannot write there (Permission denied)\n"


def test_a_refused_call_leaves_nothing(run: Run, tmp_path: Path) -> None:
    complaint(run("fit", tmp_path / "nowhere.csv", "--output", tmp_path / "new" / "results"))
    assert files_in(tmp_path) == []
    done(run("fit", "pitprops", "--cardinality", 2, "--components", 1))
