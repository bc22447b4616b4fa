"""Single cells, with the real anndata and scanpy; ``make test-anndata`` runs this."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

anndata = pytest.importorskip("anndata")
sc = pytest.importorskip("scanpy")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from redac import SparsePCA  # noqa: E402
from redac.anndata import sparse_pca  # noqa: E402
from redac.files import read_table  # noqa: E402


def counts(n: int, d: int, *, programs: int = 6, genes: int = 40, seed: int = 0) -> Any:
    """Poisson counts: each cell runs one program of genes, whose rates are raised."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(programs, size=n)
    base = rng.gamma(0.3, 0.3, size=d)
    blocks = []
    for start in range(0, n, 2000):
        which = kind[start : start + 2000]
        rates = np.tile(base, (len(which), 1))
        for program in range(programs):
            rows = np.flatnonzero(which == program)
            rates[np.ix_(rows, np.arange(genes) + program * genes)] += 3.0
        blocks.append(sp.csr_matrix(rng.poisson(rates).astype(np.float32)))
    adata = anndata.AnnData(sp.vstack(blocks, format="csr"))
    adata.obs["kind"] = [f"k{each}" for each in kind]
    adata.obs["kind"] = adata.obs["kind"].astype("category")
    return adata


def prepared(n: int, d: int, **options: Any) -> Any:
    adata = counts(n, d, **options)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


@pytest.fixture
def adata() -> Any:
    return prepared(300, 400)


def check_slots(adata: Any, keys: tuple[str, str, str], n_comps: int) -> None:
    scores, loadings, about = adata.obsm[keys[0]], adata.varm[keys[1]], adata.uns[keys[2]]
    assert scores.shape == (adata.n_obs, n_comps)
    assert scores.dtype == np.float32
    assert loadings.shape == (adata.n_vars, n_comps)
    assert about["variance"].shape == about["variance_ratio"].shape == (n_comps,)


def test_slots_are_those_of_scanpy(adata: Any) -> None:
    assert sparse_pca(adata, 4, 30) is None
    check_slots(adata, ("X_pca", "PCs", "pca"), 4)
    model = SparsePCA(4, cardinality=30, random_state=0).fit(adata.X)
    np.testing.assert_allclose(adata.varm["PCs"], model.components_.T, atol=1e-5)
    np.testing.assert_allclose(adata.obsm["X_pca"], model.transform(adata.X), atol=1e-3)
    assert (np.count_nonzero(adata.varm["PCs"], axis=0) <= 30).all()
    assert adata.X.dtype == np.float32


def test_a_key_of_ones_own(adata: Any) -> None:
    sc.pp.pca(adata, n_comps=4)
    before = adata.obsm["X_pca"].copy()
    sparse_pca(adata, 3, 20, key_added="sparse")
    check_slots(adata, ("sparse", "sparse", "sparse"), 3)
    np.testing.assert_array_equal(adata.obsm["X_pca"], before)
    sc.pp.neighbors(adata, use_rep="sparse", n_neighbors=10)
    sc.pl.embedding(adata, "sparse", color="kind", show=False)


def test_layers_and_copies(adata: Any) -> None:
    copied = sparse_pca(adata, 2, 20, layer="counts", copy=True)
    assert "X_pca" not in adata.obsm
    model = SparsePCA(2, cardinality=20, random_state=0).fit(adata.layers["counts"])
    np.testing.assert_allclose(copied.varm["PCs"], model.components_.T, atol=1e-5)
    assert copied.uns["pca"]["params"]["layer"] == "counts"
    with pytest.raises(KeyError, match="'nothing' is no layer"):
        sparse_pca(adata, 2, layer="nothing")


def test_genes_that_are_masked_have_no_loadings(adata: Any) -> None:
    sc.pp.highly_variable_genes(adata, n_top_genes=100)
    variable = adata.var["highly_variable"].to_numpy()
    sparse_pca(adata, 3, 20)
    assert not adata.varm["PCs"][~variable].any()
    assert adata.uns["pca"]["params"]["use_highly_variable"]
    mask = np.arange(adata.n_vars) % 2 == 0
    sparse_pca(adata, 3, 20, mask_var=mask, key_added="half")
    assert not adata.varm["half"][~mask].any()
    model = SparsePCA(3, cardinality=20, random_state=0).fit(adata.X[:, mask])
    np.testing.assert_allclose(adata.varm["half"][mask], model.components_.T, atol=1e-5)
    with pytest.raises(ValueError, match="400 booleans"):
        sparse_pca(adata, 3, mask_var=[True])
    with pytest.raises(KeyError, match="no column"):
        sparse_pca(adata, 3, mask_var="nothing")


@pytest.mark.parametrize("dense", [True, False])
def test_backed_files(adata: Any, tmp_path: Path, dense: bool) -> None:
    expected = sparse_pca(adata, 3, 20, copy=True)
    if dense:
        adata.X = adata.X.toarray()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    assert backed.isbacked
    sparse_pca(backed, 3, 20)
    check_slots(backed, ("X_pca", "PCs", "pca"), 3)
    np.testing.assert_allclose(backed.varm["PCs"], expected.varm["PCs"], atol=1e-4)
    mask = np.arange(adata.n_vars) % 2 == 0
    sparse_pca(backed, 3, 20, mask_var=mask)
    assert not backed.varm["PCs"][~mask].any()
    backed.file.close()


def test_what_was_found_can_be_written(adata: Any, tmp_path: Path) -> None:
    sparse_pca(adata, 3, (20, 10, 5), nonnegative=True)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    check_slots(again, ("X_pca", "PCs", "pca"), 3)
    assert again.uns["pca"]["params"]["cardinality"].tolist() == [20, 10, 5]


def test_our_reader_reads_what_anndata_writes(adata: Any, tmp_path: Path) -> None:
    adata.obs_names = [f"cell {i}" for i in range(adata.n_obs)]
    for name, matrix in (("csr", adata.X), ("csc", adata.X.tocsc()), ("dense", adata.X.toarray())):
        other = adata.copy()
        other.X = matrix
        other.write_h5ad(tmp_path / f"{name}.h5ad", compression="gzip")
        table = read_table(tmp_path / f"{name}.h5ad", label="kind")
        values: Any = table.values
        dense = values.toarray() if sp.issparse(values) else values
        np.testing.assert_array_equal(dense, adata.X.toarray())
        assert table.feature_names == list(adata.var_names)
        assert table.sample_names == list(adata.obs_names)
        assert table.labels == list(adata.obs["kind"])


def test_fit_says_what_to_do_instead(adata: Any) -> None:
    with pytest.raises(TypeError, match=r"redac\.anndata\.sparse_pca"):
        SparsePCA(2).fit(adata)


def test_the_pipeline_of_scanpy_on_20_000_cells() -> None:
    adata = prepared(20_000, 5_000)
    sc.pp.highly_variable_genes(adata, n_top_genes=2000)
    began = time.perf_counter()
    sc.pp.pca(adata, n_comps=10)
    of_scanpy = time.perf_counter() - began
    began = time.perf_counter()
    sparse_pca(adata, 6, 40)
    print(f"scanpy.pp.pca {of_scanpy:.1f} s, sparse_pca {time.perf_counter() - began:.1f} s")  # noqa: T201
    check_slots(adata, ("X_pca", "PCs", "pca"), 6)
    # The genes of the programs are found: more than nine in ten of those that are used.
    used = np.flatnonzero(adata.varm["PCs"].any(axis=1))
    assert (used < 240).mean() > 0.9
    sc.pp.neighbors(adata, n_neighbors=10)
    assert adata.uns["neighbors"]["params"].get("use_rep", "X_pca") == "X_pca"
    sc.pl.pca(adata, color="kind", show=False)
    sc.pl.pca_loadings(adata, components="1,2", show=False)
    sc.pl.pca_variance_ratio(adata, n_pcs=6, show=False)
    matplotlib.pyplot.close("all")
