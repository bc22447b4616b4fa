"""Rules in a user's words, and rules for all components together, from the fit to the result."""

import warnings

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
import zarr
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from helpers import assert_same_loadings
from redac import SparsePCA, SparsePCACV, sparsity_path, stability
from redac.constraints import L0, L1, Budget, Excluding, MaxPerGroup, Nonnegative
from redac.datasets import load_pitprops

# Three components of few features may be nearly parallel; that is not what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::redac.exceptions.SeparationWarning")
PITPROPS = load_pitprops()
NAMES = [f"{'abcd'[j % 4]}{j}" for j in range(12)]
GROUPS = [name[0] for name in NAMES]


def planted(seed: int, d: int = 24, groups: int = 6, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Interleaved groups of features, each of which follows a factor of its own."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(d) % groups)
    factors = rng.standard_normal((n, groups)) * np.linspace(1.5, 1.0, groups)
    X = factors[:, labels] * rng.choice([-1.0, 1.0], d) * rng.uniform(0.8, 1.2, d)
    return X + 0.7 * rng.standard_normal((n, d)), labels


def frame(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 12))
    return pd.DataFrame(X + rng.standard_normal(X.shape), columns=NAMES)


RULES = {
    "exclude": {"cardinality": 4, "exclude": ["a0", "b5"]},
    "exclude from one": {"cardinality": 4, "exclude": [["a0"], None, ["c2"]]},
    "require": {"cardinality": 4, "require": ["a0"]},
    "few of a group": {"cardinality": 3, "groups": GROUPS, "max_per_group": 1},
    "few of some": {"cardinality": 3, "groups": GROUPS, "max_per_group": {"a": 0, "b": 2}},
    "whole groups": {"groups": GROUPS, "max_groups": 2},
    "whole groups within": {"groups": GROUPS, "max_groups": 3, "cardinality": 7},
    "disjoint": {"cardinality": 3, "disjoint": True},
    "disjoint partition": {"disjoint": True},
    "total": {"total_cardinality": 8},
    "all": {
        "total_cardinality": 9,
        "cardinality": 5,
        "disjoint": True,
        "exclude": "d3",
        "require": [["a0"], ["b1"], []],
        "groups": GROUPS,
        "max_per_group": 2,
    },
}
EACH = pytest.mark.parametrize("options", RULES.values(), ids=RULES)

SOME = pytest.mark.parametrize("name", ["few of some", "whole groups within", "disjoint", "all"])


def assert_kept(V: np.ndarray, options: dict) -> None:
    """Whether components, by rows, keep the rules: said without the code that is tested."""
    used = V != 0
    r = len(V)
    if "cardinality" in options:
        assert (used.sum(axis=1) <= options["cardinality"]).all()
    if options.get("disjoint"):
        assert (used.sum(axis=0) <= 1).all()
    if "total_cardinality" in options:
        assert used.sum() <= options["total_cardinality"]
    exclude = options.get("exclude", [])
    exclude = [exclude] if isinstance(exclude, str) else exclude
    own = any(each is None or isinstance(each, list) for each in exclude)
    for i, names in enumerate(exclude if own else [exclude] * r):
        assert not used[i, [NAMES.index(name) for name in names or []]].any()
    require = options.get("require", [])
    own = any(isinstance(each, list) for each in require)
    for i, names in enumerate(require if own else [require] * r):
        assert used[i, [NAMES.index(name) for name in names]].all()
    for row in used:
        counts = {g: sum(row[j] for j in range(12) if GROUPS[j] == g) for g in "abcd"}
        if "max_groups" in options:
            assert sum(n > 0 for n in counts.values()) <= options["max_groups"]
            assert all(n in (0, 3) for n in counts.values())
        most = options.get("max_per_group", 12)
        assert all(
            n <= (most.get(g, 12) if isinstance(most, dict) else most) for g, n in counts.items()
        )


@EACH
def test_rules_are_kept_and_the_objective_never_rises(options):
    model = SparsePCA(3, n_perturbations=2, random_state=0, **options).fit(frame())
    assert_kept(model.components_, options)
    assert (np.diff(model.objective_history_) <= 1e-12).all()


@EACH
def test_rules_are_kept_without_negative_loadings(options):
    model = SparsePCA(3, nonnegative=True, **options).fit(frame())
    assert (model.components_ >= 0).all()
    # What is required may be zero where loadings may not be negative.
    used = {k: value for k, value in options.items() if k not in ("max_groups", "require")}
    assert_kept(model.components_, used)
    assert (np.diff(model.objective_history_) <= 1e-12).all()


@EACH
def test_rules_are_kept_after_every_sweep(options):
    for sweeps in (1, 2, 3):  # a fit that is cut short ends where a sweep has left it
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SparsePCA(3, max_iter=sweeps, n_init=1, **options).fit(frame())
        assert_kept(model.components_, options)


@EACH
def test_all_kinds_of_data_agree(options):
    table = frame()
    expected = SparsePCA(3, tol=1e-10, **options).fit(table)
    X = table.to_numpy()
    S = np.cov(X.T)
    kinds = [
        SparsePCA(3, tol=1e-10, **options).fit(sparse.csr_array(X), feature_names=NAMES),
        SparsePCA(3, tol=1e-10, **options).fit_covariance(S, feature_names=NAMES),
        SparsePCA(3, tol=1e-10, **options).fit(
            da.from_array(X, chunks=(20, 12)), feature_names=NAMES
        ),
        SparsePCA(3, tol=1e-10, **options).fit(zarr.array(X, chunks=(20, 12)), feature_names=NAMES),
    ]
    for model in kinds:
        assert_same_loadings(np.abs(model.components_), np.abs(expected.components_), atol=1e-4)


@EACH
def test_gaps_keep_the_rules(options):
    table = frame()
    table.iloc[::7, ::5] = np.nan
    model = SparsePCA(3, **options).fit(table)
    assert model.n_missing_ > 0
    assert_kept(model.components_, options)
    assert (np.diff(model.objective_history_) <= 1e-10).all()


def test_positions_names_and_containers_of_groups_are_the_same():
    table = frame()
    by_name = SparsePCA(3, cardinality=4, exclude=["a0", "b5"], require="c2").fit(table)
    by_place = SparsePCA(3, cardinality=4, exclude=[0, 5], require=2).fit(table.to_numpy())
    assert_same_loadings(by_place.components_, by_name.components_)
    forms = [
        GROUPS,
        np.array(GROUPS),
        pd.Series(GROUPS),
        pd.Series(GROUPS, index=NAMES).sample(frac=1.0, random_state=0),
        pd.Series(GROUPS).sample(frac=1.0, random_state=0),
        pd.Series([*GROUPS, "z"], index=[*NAMES, "elsewhere"]),
        dict(zip(NAMES, GROUPS, strict=True)),
    ]
    fits = [SparsePCA(3, cardinality=3, groups=g, max_per_group=1).fit(table) for g in forms]
    for each in fits[1:]:
        assert_same_loadings(each.components_, fits[0].components_)


def test_excluded_features_are_as_good_as_absent():
    table = frame()
    model = SparsePCA(3, cardinality=4, exclude=["a0", "b5"], tol=1e-10).fit(table)
    less = SparsePCA(3, cardinality=4, tol=1e-10).fit(table.drop(columns=["a0", "b5"]))
    kept = np.delete(np.arange(12), [0, 5])
    assert_same_loadings(model.components_[:, kept], less.components_, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_interleaved_groups_are_found(seed):
    X, labels = planted(seed)
    model = SparsePCA(3, groups=labels, max_groups=1).fit(X)
    strongest = {0, 1, 2}  # the factors with the largest variances, which are well apart
    found = [set(labels[row != 0]) for row in model.components_]
    assert all(len(each) == 1 for each in found)
    assert len(set.union(*found)) == 3
    assert len(set.union(*found) & strongest) >= 2


@pytest.mark.parametrize("cardinality", [None, 12])
@pytest.mark.parametrize("seed", range(2))
def test_disjoint_components_find_a_planted_partition(seed, cardinality):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(60) % 5)
    X = rng.standard_normal((300, 5))[:, labels] * rng.uniform(0.6, 1.2, 60)
    X += rng.standard_normal(X.shape)
    model = SparsePCA(5, cardinality=cardinality, disjoint=True).fit(X)
    used = model.components_ != 0
    assert (used.sum(axis=0) == 1).all()
    owner = used.argmax(axis=0)
    assert len({(a, b) for a, b in zip(owner, labels, strict=True)}) == 5
    np.testing.assert_allclose(model.separation_, 1.0)


@pytest.mark.parametrize(("r", "k"), [(2, 3), (3, 4), (4, 2)])
def test_disjoint_components_explain_as_much_as_one_after_the_other(r, k):
    S = PITPROPS.correlation
    together = SparsePCA(r, cardinality=k, disjoint=True).fit_covariance(S)
    used: list[int] = []
    explained = 0.0
    for _ in range(r):
        one = SparsePCA(1, cardinality=k, exclude=used or None).fit_covariance(S)
        explained += one.explained_variance_ratio_.sum()
        used += np.flatnonzero(one.components_[0]).tolist()
    assert together.explained_variance_ratio_.sum() >= explained - 1e-9


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("r", [4, 6])
def test_disjoint_components_share_few_features_so_that_each_has_some(r, nonnegative):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((100, 2)), 4, axis=1) + 0.6 * rng.standard_normal((100, 8))
    before = 0.0
    for k in (1, 2, 4):
        model = SparsePCA(r, cardinality=k, disjoint=True, nonnegative=nonnegative).fit(X)
        assert (model.components_ != 0).any(axis=1).all()
        explained = model.explained_variance_ratio_.sum()
        assert explained >= before - 1e-9
        before = explained


@pytest.mark.parametrize(("total", "least"), [(26, 86.65), (18, 83.06), (15, 81.38)])
def test_a_total_is_dealt_out_well(total, least):
    model = SparsePCA(6, total_cardinality=total).fit_covariance(PITPROPS.correlation)
    assert np.count_nonzero(model.components_) <= total
    assert 100 * model.explained_variance_ratio_.sum() >= least


def test_a_total_explains_no_less_than_any_deal_of_it():
    S = np.cov(frame().iloc[:, :7].to_numpy().T)
    together = SparsePCA(2, total_cardinality=6, tol=1e-10).fit_covariance(S)
    for k in range(1, 6):
        dealt = SparsePCA(2, cardinality=[k, 6 - k], tol=1e-10).fit_covariance(S)
        best = together.explained_variance_ratio_.sum()
        assert best >= dealt.explained_variance_ratio_.sum() - 1e-4


def test_other_orders_of_the_features_give_the_same():
    table = frame()
    shuffled = table.sample(frac=1.0, axis=1, random_state=1)
    for options in ({"disjoint": True, "cardinality": 3}, {"total_cardinality": 8}):
        one, other = (SparsePCA(3, tol=1e-10, **options).fit(X) for X in (table, shuffled))
        expected = one.explained_variance_ratio_.sum()
        assert other.explained_variance_ratio_.sum() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exclude": ["d1"]}, r"exclude holds 'd1', which is no feature .*Did you mean.*'d11'"),
        ({"exclude": ["D11"]}, r"'D11', which is no feature .*Did you mean 'd11'\?"),
        ({"exclude": [12]}, r"position 12; there are 12 features"),
        ({"exclude": NAMES}, r"exclude holds all features"),
        ({"require": "a0", "exclude": "a0"}, r"'a0' cannot be both excluded and required"),
        ({"require": NAMES[:5]}, r"required features 'a0'.* more than cardinality=4 allows"),
        ({"require": [["a0"]]}, r"require has 1 lists for n_components=3"),
        ({"require": 1.5}, r"require=1.5 must be a list"),
        ({"groups": GROUPS}, r"groups alone is no rule"),
        ({"groups": GROUPS[:3], "max_per_group": 1}, r"groups has 3 labels for 12 features"),
        ({"max_per_group": 1}, r"max_per_group=1 needs groups"),
        ({"groups": GROUPS, "max_per_group": {"g": 1}}, r"max_per_group\['g'\]: no feature"),
        ({"groups": GROUPS, "max_per_group": 1, "max_groups": 1}, r"were both given"),
        ({"groups": {"a0": 1, "b1": 1}, "max_per_group": 1, "require": ["a0", "b1"]}, "group 1"),
        ({"groups": {"zz": 1}, "max_per_group": 1}, r"groups holds 'zz'"),
        (
            {"groups": pd.Series(GROUPS, index=range(9, 21)), "max_per_group": 1},
            r"groups holds position 12; there are 12 features",
        ),
        (
            {"groups": pd.Series([1, 2], index=["a0", "a0"]), "max_per_group": 1},
            r"groups has two labels for 'a0', 1 and 2",
        ),
        ({"groups": pd.DataFrame({"g": GROUPS}), "max_per_group": 1}, r"groups is a table"),
        ({"groups": {"g": ["a0", "b1"]}, "max_per_group": 1}, r"dict from features to groups"),
        ({"groups": [["a0"], ["b1"]], "max_per_group": 1}, r"dict from features to groups"),
        (
            {"groups": GROUPS, "max_per_group": dict.fromkeys("abcd", 0)},
            r"With max_per_group=.* no feature is left that component 1 could use",
        ),
        (
            {
                "groups": GROUPS,
                "max_per_group": {"a": 0},
                "exclude": [None, None, [name for name in NAMES if name[0] != "a"]],
            },
            r"With max_per_group=\{'a': 0\} and exclude no feature is left that component 3",
        ),
        ({"disjoint": True, "require": "a0"}, r"'a0' is required in several components"),
        ({"disjoint": "yes"}, r"disjoint='yes' must be True or False"),
        ({"cardinality": None, "total_cardinality": 2}, r"total_cardinality=2 must be at least 3"),
        (
            {"total_cardinality": 4, "require": ["a0", "b1"]},
            r"total_cardinality=4 has no place for 6 required",
        ),
        ({"cardinality": None, "l1_bound": 1.5, "total_cardinality": 9}, r"no exact step"),
        (
            {"cardinality": None, "l1_bound": 1.5, "require": "a0"},
            r"require .* beside l1_bound=1.5",
        ),
        ({"groups": GROUPS, "max_groups": 1, "cardinality": 2}, r"smallest group has 3"),
    ],
)
def test_a_rule_that_cannot_be_kept_is_an_error_that_names_it(options, message):
    options = {
        "cardinality": 4 if "max_groups" not in options or "max_per_group" in options else 3
    } | options
    with pytest.raises((ValueError, TypeError), match=message):
        SparsePCA(3, **options).fit(frame())


def test_names_need_data_with_names():
    with pytest.raises(ValueError, match="'a0', but the data have no feature names"):
        SparsePCA(2, exclude=["a0"]).fit(frame().to_numpy())


def test_l1_bounds_and_objects_go_with_what_is_exact():
    table = frame()
    for options in ({"l1_bound": 1.6}, {"constraint": L1(1.6)}):
        model = SparsePCA(2, exclude=["a0"], **options).fit(table)
        assert not model.components_[:, 0].any()
    costs = np.arange(1.0, 13.0)
    model = SparsePCA(1, constraint=Budget(costs, 30.0), require=["d11"]).fit(table)
    assert (costs @ (model.components_ != 0).T <= 30.0).all()
    assert model.components_[:, 11].all()


# ------------------------------------------------------------ identity


@pytest.mark.parametrize("options", [{"cardinality": 4}, {"cardinality": [5, 4, 3]}])
def test_warm_refits_keep_order_and_signs(options):
    table = frame()
    model = SparsePCA(3, warm_start=True, **options).fit(table)
    first = model.components_.copy()
    model.fit(table)
    assert_same_loadings(model.components_, first, atol=1e-4)
    # Other components are another order, and other signs, if somebody begins with those.
    order = [2, 0, 1] if options["cardinality"] == 4 else [0, 1, 2]
    init = first[order] * np.array([-1.0, 1.0, -1.0])[:, None]
    turned = SparsePCA(3, init=init, **options).fit(table)
    assert_same_loadings(turned.components_, init, atol=1e-4)
    np.testing.assert_allclose(
        turned.explained_variance_.sum(), model.explained_variance_.sum(), rtol=1e-6
    )


def test_components_of_rolling_windows_keep_their_places():
    X, _ = planted(3, n=300)
    model = SparsePCA(3, cardinality=4, warm_start=True)
    before = None
    for begin in range(0, 200, 25):
        model.fit(X[begin : begin + 100])
        if before is not None:
            closeness = model.components_ @ before.T
            assert (closeness.diagonal() >= 0.0).all()
            assert np.trace(np.abs(closeness)) >= np.abs(closeness)[[1, 2, 0], [0, 1, 2]].sum()
        before = model.components_


def test_nonnegative_loadings_do_not_turn():
    table = frame()
    init = -np.abs(SparsePCA(2, cardinality=4, nonnegative=True).fit(table).components_)
    model = SparsePCA(2, cardinality=4, nonnegative=True, init=init).fit(table)
    assert (model.components_ >= 0).all()


def test_a_warm_start_that_does_not_fit_is_an_error():
    model = SparsePCA(3, cardinality=4, warm_start=True).fit(frame())
    with pytest.raises(ValueError, match=r"warm_start=True: the last components have the shape"):
        model.fit(frame().iloc[:, :8])


def test_warm_starts_go_by_the_names_of_features():
    table = frame()
    model = SparsePCA(3, cardinality=4, warm_start=True).fit(table)
    order = np.random.default_rng(1).permutation(12)
    model.components_ = -model.components_[[1, 2, 0]]  # an order and signs of one's own
    wanted = model.components_[:, order]
    model.fit(table.iloc[:, order])
    assert_same_loadings(model.components_, wanted, atol=1e-4)
    S = table.iloc[:, order].cov().iloc[::-1, ::-1]
    model.fit_covariance(S)
    assert_same_loadings(model.components_, wanted[:, ::-1], atol=1e-4)
    with pytest.raises(ValueError, match=r"of other features, without 'z'"):
        model.fit(table.rename(columns={"b1": "z"}))


# ------------------------------------------------------------ what follows from a fit


@EACH
def test_certificates_hold_and_say_what_they_leave_out(options):
    model = SparsePCA(3, **options).fit(frame())
    proof = model.certificate(time_limit=1)
    value = 100 * model.explained_variance_ratio_.sum()
    assert proof.value == pytest.approx(value, abs=1e-6)
    assert proof.upper_bound >= value - 1e-9
    assert proof.better_components is None
    assert "excluded" in proof.remark or "other rules" in proof.remark


def test_certificates_leave_out_excluded_features():
    table = frame()
    model = SparsePCA(1, cardinality=3, exclude=["a0", "b1"]).fit(table)
    free = SparsePCA(1, cardinality=3).fit(table)
    proof, whole = model.certificate(time_limit=20), free.certificate(time_limit=20)
    assert proof.proved
    assert proof.upper_bound <= whole.upper_bound + 1e-9
    assert "'a0', 'b1'" in proof.remark


@SOME
def test_models_with_rules_are_saved_and_loaded(name, tmp_path):
    options = RULES[name]
    model = SparsePCA(3, **options).fit(frame())
    model.save(tmp_path / "model.npz")
    loaded = SparsePCA.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.components_, model.components_)
    again = loaded.fit(frame())
    assert_same_loadings(again.components_, model.components_)


@pytest.mark.parametrize(
    "options",
    [
        {"exclude": pd.Index(["a0", "b5"]), "require": {"c2"}},
        {"exclude": np.array([0, 5])},
        {"groups": pd.Series(GROUPS, index=NAMES), "max_per_group": 1},
        {"groups": pl.Series(GROUPS), "max_per_group": 1},
        {"groups": dict(enumerate([1, 2, 3, 4] * 3)), "max_per_group": {1: 0, 2: 1}},
    ],
)
def test_loaded_models_have_rules_of_all_kinds(options, tmp_path):
    model = SparsePCA(3, cardinality=3, **options).fit(frame())
    model.save(tmp_path / "model.npz")
    loaded = SparsePCA.load(tmp_path / "model.npz")
    assert_same_loadings(loaded.fit(frame()).components_, model.components_)


def test_the_report_of_a_chosen_model_names_its_rules():
    options = {"exclude": ["a0"], "groups": GROUPS, "max_per_group": 1}
    model = SparsePCACV([1, 2], [2, 3], cv=3, rule="best", random_state=0, **options)
    said = "never used: &#x27;a0&#x27;; at most 1 of each of 4 groups"
    assert said in model.fit(frame()).to_html()


def test_objects_for_another_number_of_features_are_refused():
    for made in (
        Budget([1.0, 2.0], 3.0),
        Excluding(L0(2), (12,)),
        Nonnegative(MaxPerGroup("aab", 1)),
    ):
        with pytest.raises(ValueError, match=r"another number of features than .*, which is 12"):
            SparsePCA(2, constraint=made).fit(frame())


def test_paths_and_stability_keep_rules():
    table = frame()
    found = stability(table, 2, 4, n_resamples=4, random_state=0, exclude=["a0"], disjoint=True)
    assert (found.frequencies.loc["a0"] == 0).all()
    path = sparsity_path(
        table, n_components=[2], cardinality=[3, 4], cv=3, random_state=0, exclude=["a0"]
    )
    assert not path.model(2, 4).components_[:, 0].any()


def test_equal_bounds_are_equal():
    assert Budget([1, 2], 3.0) == Budget([1.0, 2.0], 3.0) != L0(3)
