"""Commands that are told to end: Ctrl-C keeps what was found, and nothing is left behind."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from commands import OUTPUTS, check_summary, files_in, parse_list, run_process
from redac import SparsePCA, SparsityPath
from terminals import Watched, wait_for

pytestmark = [
    pytest.mark.usefixtures("plain_terminal"),
    pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals"),
]

Watch = Callable[..., Watched]

FOUND = "note: The fit was interrupted; the best components found so far are kept."
SAID = "The fit was interrupted; these are the best components found until then."


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((400, 300)))
    return tmp_path / "data.npy"


@pytest.fixture
def results(tmp_path: Path) -> tuple[Path, dict[str, bytes]]:
    """A folder with an older result, and its contents."""
    folder = tmp_path / "results"
    assert run_process("fit", "pitprops", "--cardinality", 3, "--output", folder).returncode == 0
    return folder, contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in files_in(folder)}


def endless_fit(data: Path, folder: Path) -> tuple[object, ...]:
    """Hours of search from one start after the other."""
    bounds = ("--components", 20, "--cardinality", 10)
    return ("fit", data, *bounds, "--init-count", 50000, "--seed", 0, "--output", folder, "--force")


def endless_chains(data: Path, folder: Path) -> tuple[object, ...]:
    """Hours of search in two worker processes."""
    search = ("--init-count", 1, "--perturbations", 10**7, "--jobs", 2, "--seed", 0)
    bounds = ("--components", 4, "--cardinality", 5)
    return ("fit", data, *bounds, *search, "--output", folder, "--force")


def check_kept(folder: Path, printed: str, notes: list[str]) -> SparsePCA:
    """Everything says that the fit was interrupted, and everything was written."""
    assert notes == [FOUND, f"note: results written to {folder}"]
    assert files_in(folder) == OUTPUTS
    model = SparsePCA.load(folder / "model.npz")
    assert model.interrupted_
    assert not model.converged_
    check_summary(printed, model)
    assert SAID in printed
    assert SAID in (folder / "report.html").read_text()
    return model


def test_an_interrupted_fit_is_kept_and_says_so(watched: Watch, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results"
    process = watched(*endless_fit(data, folder))
    process.until(rb"start [3-9]")
    process.send(signal.SIGINT)
    outcome = process.outcome()
    assert outcome.status == 130
    check_kept(folder, outcome.out, outcome.notes)
    assert parse_list(outcome.out).non_zeros == [10] * 20


def test_a_fit_that_ends_by_itself_says_nothing_of_it(
    results: tuple[Path, dict[str, bytes]],
) -> None:
    assert not SparsePCA.load(results[0] / "model.npz").interrupted_
    assert SAID not in (results[0] / "report.html").read_text()


_IN_SMALL_BLOCKS = "import redac.sources.local; redac.sources.local._BLOCK_BYTES = 1 << 10; "


def test_an_interrupt_before_anything_was_found(watched: Watch, tmp_path: Path) -> None:
    # So many blocks that the pass lasts for seconds: a busy machine may be slow to interrupt it.
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((400_000, 30)))
    folder = tmp_path / "results"
    arguments = ("fit", tmp_path / "data.npy", "--cardinality", 5, "--output", folder)
    process = watched(*arguments, before=_IN_SMALL_BLOCKS)
    process.until(rb"reading, pass 1")
    process.send(signal.SIGINT)
    outcome = process.outcome()
    assert (outcome.status, outcome.out, outcome.notes) == (130, "", ["redac: interrupted"])
    assert not folder.exists()


@pytest.mark.parametrize("whom", ["command", "all"])
def test_interrupted_chains_leave_no_process(
    watched: Watch, data: Path, tmp_path: Path, whom: str
) -> None:
    folder = tmp_path / "results"
    process = watched(*endless_chains(data, folder))
    process.until(rb"perturbations ")
    assert len(process.living()) >= 3
    (process.send if whom == "command" else process.send_all)(signal.SIGINT)
    outcome = process.outcome()
    assert outcome.status == 130
    check_kept(folder, outcome.out, outcome.notes)
    assert wait_for(lambda: not process.living()), process.living()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("endless", [endless_fit, endless_chains])
def test_a_fit_that_is_told_to_end_leaves_everything_as_it_was(
    watched: Watch,
    data: Path,
    results: tuple[Path, dict[str, bytes]],
    endless: Callable[..., tuple[object, ...]],
    number: signal.Signals,
) -> None:
    folder, before = results
    process = watched(*endless(data, folder))
    process.until(rb"start [3-9]|perturbations ")
    process.send(number)
    if number == signal.SIGTERM:  # once more for all, as `timeout` does
        process.send_all(number)
    outcome = process.outcome()
    assert (outcome.status, outcome.out) == (128 + number, "")
    assert outcome.notes == [f"redac: ended by {number.name}"]
    assert process.seen.count(b"\x1b[?25l") == process.seen.count(b"\x1b[?25h")  # the cursor
    assert contents(folder) == before
    assert wait_for(lambda: not process.living()), process.living()


def test_workers_of_a_killed_fit_end_too(
    watched: Watch, data: Path, results: tuple[Path, dict[str, bytes]]
) -> None:
    folder, before = results
    process = watched(*endless_chains(data, folder))
    process.until(rb"perturbations ")
    process.send(signal.SIGKILL)
    assert process.outcome().status == -signal.SIGKILL
    assert wait_for(lambda: not process.living()), process.living()
    assert contents(folder) == before


# ------------------------------------------------------------ path, choose


def test_an_interrupted_path_has_what_was_done(watched: Watch, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    process = watched("path", data, "--output", folder)
    process.until(rb"all, r = 2")
    process.send(signal.SIGINT)
    outcome = process.outcome()
    assert outcome.status == 130
    assert "note: interrupted; the table has what was done by then" in outcome.notes
    path = SparsityPath.load(folder / "path.redac")
    assert path.interrupted
    assert set(path.table.n_components) <= {1, 2, 3}
    assert len(path.table) >= 10
    assert len(path.table) == len((folder / "path.csv").read_text().splitlines()) - 1


def test_an_interrupted_choice_is_one_of_what_was_done(
    watched: Watch, data: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "results"
    process = watched("choose", data, "--rule", "share", "--share", 0, "--output", folder)
    process.until(rb"all, r = 2")
    process.send(signal.SIGINT)
    outcome = process.outcome()
    assert outcome.status == 130
    assert any("The choice was interrupted" in note for note in outcome.notes)
    assert outcome.out.startswith("Take ")


# ------------------------------------------------------------ certify, compare, reproduce


@pytest.mark.parametrize(
    ("rounds", "sign", "says"),
    [
        (10**7, rb"perturbations |start 3", SAID),
        (0, rb"% possible.*% possible", "The work was interrupted; more time may lower the bound."),
    ],
    ids=["search", "proof"],
)
def test_an_interrupted_certificate_is_printed(
    watched: Watch, rounds: int, sign: bytes, says: str
) -> None:
    asked = ("--cardinality", 6, "--components", 5, "--time-limit", 3600)
    process = watched("certify", "pitprops", *asked, "--perturbations", rounds)
    process.until(sign)
    process.send(signal.SIGINT)
    outcome = process.outcome()
    assert outcome.status == 130
    assert says in outcome.out
    assert "5 components explain" in outcome.out
    assert re.search(r"can explain more than \d+\.\d+ %", outcome.out)
    assert wait_for(lambda: not process.living()), process.living()


def test_an_interrupted_comparison_shows_what_was_compared(watched: Watch, tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((400, 150)))
    methods = ("--methods", "thresholding,dspca,redac_l0")
    asked = ("--components", 20, "--cardinality", 10)
    process = watched("compare", tmp_path / "data.npy", *asked, *methods)
    process.until(rb"dspca")
    process.send(signal.SIGINT)
    outcome = process.outcome()
    assert outcome.status == 130
    assert outcome.notes == ["note: interrupted; not compared: dspca, redac_l0"]
    assert "thresholding" in outcome.out
    assert "dspca" not in outcome.out


def test_half_a_run_of_redac_is_not_compared(watched: Watch, tmp_path: Path) -> None:
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).standard_normal((400, 6000)))
    asked = ("--components", 40, "--cardinality", 300, "--methods", "redac_l0")
    process = watched("compare", tmp_path / "wide.npy", *asked)
    process.until(rb"redac_l0")
    process.send(signal.SIGINT)
    outcome = process.outcome()
    assert (outcome.status, outcome.out, outcome.notes) == (130, "", ["redac: interrupted"])


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_reproduction_keeps_whole_records_only(
    watched: Watch, tmp_path: Path, jobs: int, number: signal.Signals
) -> None:
    folder = tmp_path / "results"
    process = watched("reproduce", "toy", "--jobs", jobs, "--output", folder)
    finished = folder / "finished" / "toy.jsonl"
    process.until(rb"\b[1-9]\d*/\d")
    process.send(number)
    outcome = process.outcome()
    assert outcome.status == 128 + number
    assert outcome.out == ""
    said = "interrupted" if number == signal.SIGINT else "ended by SIGTERM"
    assert outcome.notes[-1] == f"redac: {said}"
    assert files_in(folder) == ["finished"]
    records = [json.loads(line) for line in finished.read_text().splitlines()]
    assert records
    assert not any("FitInterruptedWarning" in record["warnings"] for record in records)
    assert wait_for(lambda: not process.living()), process.living()
