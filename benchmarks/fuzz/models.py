"""Damaged models: loaded with all that a model promises, or refused by name."""

from __future__ import annotations

import io
import json
import traceback
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.damage import Random, damaged, damaged_inside
from benchmarks.fuzz.folders import Finding, check_folders
from benchmarks.fuzz.violations import Violation

_SECONDS = 10.0
# Kept as it was written, a model must be loaded.
_WHOLE_EVERY = 25
# Values that a header should not have in the places where they are put.
_ODD: tuple[Any, ...] = (None, True, -1, 0, 1, 10**12, 1e308, "", "x", [], [1], {}, {"a": 1}, [[]])


def check_models(numbers: Iterable[int], seed: int, *, jobs: int = 1) -> Iterator[list[Violation]]:
    """Damage the models of these cases, and load them."""
    yield from check_folders(
        run_case, seed, numbers, lambda number: _SECONDS, option="--models", jobs=jobs
    )


def run_case(seed: int, number: int, folder: Path) -> Finding:
    """Write the model of a case, load it, and look at what came of it."""
    random = np.random.default_rng((seed, number))
    kinds = list(_saved_models())
    kind = kinds[random.integers(len(kinds))]
    content = _saved_models()[kind]
    how = "not damaged"
    if number % _WHOLE_EVERY:
        content, how = _damaged_model(content, random)
    path = folder / "model.npz"
    path.write_bytes(content)
    finding = _loaded(kind, path)
    if finding is None or (finding == "refused" and how != "not damaged"):
        return None
    return f"model: {finding.splitlines()[-1]}", f"{kind}; {how}; {finding[-600:]}"


def _loaded(kind: str, path: Path) -> str | None:
    """What is wrong with loading the model; "refused" if it is refused as it should be."""
    from redac import SparsePCA
    from redac.methods import MethodPCA

    model_class = MethodPCA if kind == "method" else SparsePCA
    try:
        model = model_class.load(path)
    except ValueError as error:
        as_it_should_be = str(path) in str(error) and len(str(error).splitlines()) == 1
        return "refused" if as_it_should_be else f"refused without the name: {error}"
    except BaseException as error:
        return f"{traceback.format_exc()}\nraised {type(error).__name__}"
    try:
        return broken_promise(model)
    except BaseException as error:
        return f"{traceback.format_exc()}\nloaded, but then raised {type(error).__name__}"


def broken_promise(model: Any) -> str | None:
    """What is wrong with a loaded model, if anything."""
    r, d = model.n_components_, model.n_features_in_
    components = model.components_
    if components.shape != (r, d) or model.mean_.shape != (d,) or model.scale_.shape != (d,):
        return "shapes that do not fit"
    if not all(np.isfinite(each).all() for each in (components, model.mean_, model.scale_)):
        return "numbers that are not finite"
    lengths = np.linalg.norm(components.astype(np.float64), axis=1)
    if not np.all((np.abs(lengths - 1) < 1e-4) | (lengths == 0)):
        return "rows that are not of unit length"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            shape = model.transform(np.ones((2, d), dtype=components.dtype)).shape
        table = model.loadings_table()
    if shape != (2, r) or table.shape[1] != r:
        return "scores or tables of another shape"
    repr(model)
    return None


def _damaged_model(content: bytes, random: Random) -> tuple[bytes, str]:
    way = random.random()
    if way < 0.4:
        return damaged(content, random)
    if way < 0.7:
        return damaged_inside(content, random) or damaged(content, random)
    return _tampered(content, random)


def _tampered(content: bytes, random: Random) -> tuple[bytes, str]:
    """A whole file with another value in its header or with other arrays."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(str(arrays.pop("header")))
    if random.random() < 0.5:
        place = [header, header["params"], header["fitted"]][random.integers(3)]
        names = [*place, "transform", "__class__", "components_", "evil"]
        name, value = str(random.choice(names)), _ODD[random.integers(len(_ODD))]
        place[name] = value
        how = f"{name} = {value!r}"
    else:
        name = str(random.choice([*arrays, "evil", "fit", "param_init", "n_components_"]))
        how, arrays[name] = _odd_array(arrays.get(name, np.ones(2)), random)
        how = f"{name}: {how}"
    stream = io.BytesIO()
    np.savez_compressed(stream, header=np.array(json.dumps(header)), **arrays)
    return stream.getvalue(), how


def _odd_array(array: Any, random: Random) -> tuple[str, Any]:
    ways = {
        "NaN": lambda: np.full(array.shape, np.nan),
        "infinite": lambda: np.full(array.shape, np.inf),
        "huge": lambda: np.full(array.shape, 1e200),
        "whole numbers": lambda: np.zeros(array.shape, dtype=np.int64),
        "text": lambda: np.full(array.shape, "x"),
        "another shape": lambda: np.ones((*array.shape, 2)),
        "empty": lambda: np.ones(0),
        "scalar": lambda: np.float64(1.0),
        "complex": lambda: np.ones(array.shape, dtype=complex),
        "zero": lambda: np.zeros(array.shape),
        "half": lambda: np.ones(array.shape, dtype=np.float16),
        "big-endian": lambda: np.ones(array.shape, dtype=">f8"),
    }
    way = str(random.choice(list(ways)))
    return way, ways[way]()


@cache
def _saved_models() -> dict[str, bytes]:
    """Models of several kinds as they are saved; the same in every process."""
    import tempfile

    import pandas as pd

    from redac import SparsePCA
    from redac.methods import MethodPCA

    X = np.random.default_rng(0).standard_normal((30, 6)) * [6, 5, 4, 3, 2, 1]
    frame = pd.DataFrame(X, columns=["a", "größe", "c\n", "=d", "e", "f"])
    models = {
        "named": SparsePCA(3, cardinality=[2, 3, 2]).fit(frame),
        "covariance": SparsePCA(2, l1_bound=1.4).fit_covariance(np.cov(X.T)),
        "single": SparsePCA(2, init=np.eye(2, 6)).fit(X.astype(np.float32)),
        "method": MethodPCA(2, method="spca", cardinality=3, options={}).fit(X),
    }
    saved = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models.items():
            model.save(Path(folder) / "model.npz")
            saved[name] = (Path(folder) / "model.npz").read_bytes()
    return saved
