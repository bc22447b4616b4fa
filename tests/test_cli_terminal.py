"""The ``redac`` command on a terminal: progress, files that are read in blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import redac.files.table
from commands import Run, done
from terminals import Watched, visible

pytestmark = pytest.mark.usefixtures("plain_terminal")


def test_visible_plays_a_terminal() -> None:
    assert visible("note\r\nbar 1\r\x1b[2Kbar 2\r\n\x1b[1A\x1b[2Kend\r\n") == ["note", "end"]


def test_progress_is_drawn_and_cleared(
    watched: Callable[..., Watched], run: Run, tmp_path: Path
) -> None:
    np.save(tmp_path / "data.npy", np.random.default_rng(1).standard_normal((60, 50)))
    arguments = ("fit", tmp_path / "data.npy", "--cardinality", "5,5,5", "--init-count", 30)
    process = watched(*arguments, "--seed", 1)
    outcome = process.outcome()
    assert outcome.status == 0
    assert b"start 1" in process.seen
    assert b"% explained" in process.seen
    assert outcome.err == ""
    assert process.seen.count(b"\x1b[?25l") == process.seen.count(b"\x1b[?25h")  # the cursor
    assert "\x1b" not in outcome.out
    assert outcome.out == done(run(*arguments, "--seed", 1)).out


_SMALL_IS_LARGE = (
    "import redac.files.table, redac.sources.local; "
    "redac.files.table.LARGE = 0; redac.sources.local._BLOCK_BYTES = 1 << 17; "
)


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
def test_passes_over_a_file_have_a_progress_bar(
    watched: Callable[..., Watched], tmp_path: Path, suffix: str
) -> None:
    X = np.random.default_rng(1).standard_normal((5000, 30))
    path, folder = tmp_path / f"data.{suffix}", tmp_path / "out"
    if suffix == "npy":
        np.save(path, X)
    else:
        pd.DataFrame(X, columns=[f"f{j}" for j in range(30)]).to_parquet(path, row_group_size=900)
    arguments = ("fit", path, "--cardinality", "5,5,5", "--output", folder)
    process = watched(*arguments, before=_SMALL_IS_LARGE)
    outcome = process.outcome()
    assert outcome.status == 0
    assert b"reading, pass 1" in process.seen
    assert b" of 5,000 rows" in process.seen
    assert process.seen.count(b"\x1b[?25l") == 2  # a bar for the fit and one for the scores
    assert process.seen.rindex(b" of 5,000 rows") > process.seen.rindex(b"% explained")
    assert outcome.err == f"note: results written to {folder}\n"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("damage", ["no end", "no middle", "zeros in the middle"])
def test_a_damaged_parquet_file_is_a_wrong_input(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, streamed: bool
) -> None:
    monkeypatch.setattr(redac.files.table, "LARGE", 0 if streamed else 1 << 40)
    path = tmp_path / "data.parquet"
    X = np.random.default_rng(1).standard_normal((3000, 6))
    pd.DataFrame(X, columns=list("abcdef")).to_parquet(path, row_group_size=500)
    content, middle = path.read_bytes(), path.stat().st_size // 2
    path.write_bytes(
        {
            "no end": content[:middle],
            "no middle": content[:1000] + content[middle:],
            "zeros in the middle": content[:middle] + bytes(3000) + content[middle + 3000 :],
        }[damage]
    )
    outcome = run("fit", path, "--components", 2)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith(f"redac: {path}: damaged, or not a Parquet file (")
    assert outcome.err.count("\n") == 1
