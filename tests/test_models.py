"""Models in files: all comes back, and nothing that is not a model gets in."""

import json
import os
import socket
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

import redac
from redac import SparsePCA
from redac.methods import MethodPCA, available_methods
from redac.model import fitted, persistence

X = np.random.default_rng(0).standard_normal((30, 6)) * [6, 5, 4, 3, 2, 1]
NAMES = ["a", "", "with\0zero", "\u202eé", "=1+1", "long" * 5000]
MODELS = {
    "named": lambda: SparsePCA(3, cardinality=2).fit(pd.DataFrame(X, columns=NAMES)),
    "covariance": lambda: SparsePCA(2, l1_bound=1.4).fit_covariance(np.cov(X.T)),
    "single": lambda: SparsePCA(2, init=np.eye(2, 6)).fit(X.astype(np.float32)),
    "wide": lambda: SparsePCA(2, cardinality=3).fit(np.tile(X, (1, 40)) + np.eye(30, 240)),
    "weights": lambda: SparsePCA(1, n_perturbations=2, random_state=1).fit(
        X, sample_weight=np.linspace(0, 2, 30)
    ),
    "huge": lambda: SparsePCA(2, cardinality=2).fit(X * 1e200),
    "method": lambda: MethodPCA(2, method="spca", cardinality=3, options={}).fit(X),
}


def public(model):
    return {k: v for k, v in vars(model).items() if k.endswith("_") and not k.startswith("_")}


def same(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and a == b


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


@pytest.mark.filterwarnings("ignore::redac.exceptions.ScaleWarning")
@pytest.mark.parametrize("case", MODELS)
def test_every_fitted_attribute_comes_back(case, path):
    model = MODELS[case]()
    model.save(path)
    loaded = type(model).load(path)
    before, after = public(model), public(loaded)
    assert before.keys() == after.keys()
    assert [name for name in before if not same(before[name], after[name])] == []
    for name, value in model.get_params().items():
        assert np.array_equal(value, getattr(loaded, name))


@pytest.mark.parametrize("method", available_methods())
def test_models_of_all_methods_come_back(method, path):
    model = MethodPCA(2, method=method, cardinality=3).fit(X)
    model.save(path)
    assert np.array_equal(MethodPCA.load(path).components_, model.components_)


def test_the_rules_name_the_attributes_of_a_fit():
    model = MODELS["named"]()
    rules = fitted.RULES["SparsePCA"].keys() - set(fitted.OF_ROBUST_FITS)
    assert public(model).keys() == rules
    missing = public(MODELS["method"]()).keys() ^ fitted.RULES["MethodPCA"].keys()
    assert missing == {"feature_names_in_"}


def test_an_attribute_that_no_rule_knows_is_not_lost_in_silence(path):
    model = MODELS["named"]()
    model.extra_ = 1
    with pytest.raises(ValueError, match="cannot be saved: extra_ is no attribute"):
        model.save(path)
    assert not path.exists()


def parts(path):
    """Header and arrays of a model file."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(str(arrays.pop("header"))), arrays


def write(path, header, arrays):
    np.savez(path, header=np.array(json.dumps(header)), **arrays)


@pytest.mark.parametrize("change", [{}, {"random_state": None}], ids=["whole", "fewer parameters"])
def test_files_of_the_first_format_still_load(change, path):
    model = MODELS["named"]()
    model.feature_names_in_ = np.array(list("abcdef"), dtype=object)
    model.save(path)
    header, arrays = parts(path)
    history = {key: arrays.pop(f"search_history_.{key}").tolist() for key in model.search_history_}
    arrays["feature_names_in_"] = np.array(header["fitted"].pop("feature_names_in_"))
    header["fitted"]["search_history_"] = history
    header["format"] = "redac-model-1"
    del header["redac"]
    header["params"] = {k: v for k, v in header["params"].items() if k not in change}
    write(path, header, arrays)
    loaded = SparsePCA.load(path)
    before, after = public(model), public(loaded)
    assert [name for name in before if not same(before[name], after[name])] == []


def test_the_file_says_who_wrote_it_and_a_newer_format_is_named(path):
    MODELS["named"]().save(path)
    header, _ = parts(path)
    assert (header["format"], header["redac"]) == ("redac-model-2", redac.__version__)
    # Nothing else of a newer file need be known.
    write(path, {"format": "redac-model-3", "redac": "9.1\x1b", "class": "New"}, {})
    with pytest.raises(ValueError, match="upgrade") as caught:
        SparsePCA.load(path)
    assert str(caught.value) == (
        rf"{path}: was written by redac 9.1\x1b in model format 3; this redac, "
        f"{redac.__version__}, reads formats up to 2: upgrade redac"
    )


def test_a_model_of_another_class_is_named(path):
    MODELS["method"]().save(path)
    with pytest.raises(ValueError, match=r"model\.npz: holds a model of the class MethodPCA, not"):
        SparsePCA.load(path)


def header_change(**changes):
    return lambda header, arrays: header.update(changes)


def fitted_change(**changes):
    return lambda header, arrays: header["fitted"].update(changes)


def param_change(**changes):
    return lambda header, arrays: header["params"].update(changes)


def array_change(**changes):
    return lambda header, arrays: arrays.update(changes)


def absent(name):
    return lambda header, arrays: header["fitted"].pop(name, None) or arrays.pop(name, None)


TAMPERED = {
    "a method": (fitted_change(transform=1), "transform is no attribute"),
    "a method as an array": (array_change(fit=np.ones(3)), "fit is no attribute"),
    "a class": (fitted_change(__class__="x"), "__class__ is no attribute"),
    "another parameter": (param_change(evil=1), "'evil' is no parameter"),
    "a parameter of objects": (param_change(init={"a": 1}), "parameter init is a table"),
    "an array that is no number": (array_change(param_init=np.full(2, np.nan)), "param_init"),
    "a count that is text": (fitted_change(n_iter_="3"), "n_iter_ is no whole number"),
    "a negative count": (fitted_change(n_iter_=-1), "n_iter_ is no whole number"),
    "a count as a flag": (fitted_change(n_components_=True), "n_components_|is no whole number"),
    "absurd sizes": (fitted_change(n_features_in_=10**15), "does not"),
    "a flag that is a number": (fitted_change(converged_=1), "neither true nor false"),
    "infinity": (fitted_change(separation_=float("inf")), "separation_ is no finite number"),
    "too few names": (fitted_change(feature_names_in_=["a"]), "does not hold 6 names"),
    "names that are none": (fitted_change(feature_names_in_=[1] * 6), "does not hold 6 names"),
    "rows too long": (array_change(components_=np.ones((3, 6))), "components_ has a row 0"),
    "NaN in rows": (array_change(components_=np.full((3, 6), np.nan)), "not finite"),
    "another shape": (array_change(mean_=np.zeros(7)), r"mean_ has the shape \(7,\)"),
    "another type": (array_change(mean_=np.zeros(6, int)), "mean_ holds int64"),
    "text for numbers": (array_change(mean_=np.array(["a"] * 6)), "mean_ holds <U1"),
    "a scale of zero": (array_change(scale_=np.zeros(6)), "scale_ holds numbers that are not posi"),
    "uneven histories": (array_change(**{"search_history_.agreement": np.ones(9)}), "lengths"),
    "twice": (array_change(n_iter_=np.ones(1)), "n_iter_ is there twice"),
    "no components": (absent("components_"), "components_ is absent"),
    "no sizes": (absent("n_features_in_"), "n_features_in_ is absent"),
    "no format": (header_change(format=None), "names no format"),
    "no parameters": (header_change(params=[1]), "no params"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_tampered_models_are_refused(case, path):
    change, reason = TAMPERED[case]
    MODELS["named"]().save(path)
    header, arrays = parts(path)
    change(header, arrays)
    write(path, header, arrays)
    with pytest.raises(ValueError, match=rf"model\.npz: damaged, or not a model .*{reason}"):
        SparsePCA.load(path)


def nested_header(path):
    np.savez(path, header=np.array("[" * 200_000))


def archive_of(content, **options):
    def make(path):
        with zipfile.ZipFile(path, "w", **options) as archive:
            archive.writestr("header.npy", content)

    return make


def bomb(path):
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("header.npy", "w", force_zip64=True) as member,
    ):
        for _ in range(600):
            member.write(bytes(1 << 20))


def absurd_shape(path):
    start = np.lib.format.magic(1, 0)
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,)}\n"
    archive_of(start + len(text).to_bytes(2, "little") + text)(path)


DAMAGED = {
    "nested": nested_header,
    "bomb": bomb,
    "another compression": archive_of(bytes(1 << 20), compression=zipfile.ZIP_BZIP2),
    "absurd shape": absurd_shape,
    "no array": archive_of(b"text"),
    "deep header": archive_of(np.lib.format.magic(1, 0) + b"\x10\x27" + b"(" * 10_000),
    "empty": lambda path: path.write_bytes(b""),
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "socket": lambda path: socket.socket(socket.AF_UNIX).bind(str(path)),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("case", DAMAGED)
def test_what_is_no_model_is_refused_with_little_effort(case, path, monkeypatch):
    monkeypatch.chdir(path.parent)  # the path of a socket must be short
    DAMAGED[case](path.relative_to(path.parent) if case == "socket" else path)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"model\.npz: ") as caught:
            SparsePCA.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(str(caught.value).splitlines()) == 1
    assert peak < 50_000_000


def test_large_models_are_not_packed_and_come_back(path, monkeypatch):
    monkeypatch.setattr(persistence, "_MOST_UNPACKED", 100)
    model = MODELS["wide"]()
    model.save(path)
    assert np.array_equal(SparsePCA.load(path).components_, model.components_)
    with zipfile.ZipFile(path) as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}


def test_an_absent_model_is_an_absent_file(path):
    with pytest.raises(FileNotFoundError, match=r"model\.npz"):
        SparsePCA.load(path)
