"""Single cells: sparse components of an AnnData object, in the slots where scanpy looks for them.

anndata itself is not imported; whatever has ``X``, ``layers``, ``var``, ``obsm``, ``varm`` and
``uns`` will do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from redac.files.column_choice import taken
from redac.model.estimator import SparsePCA

__all__ = ["sparse_pca"]

# What scanpy.pp.pca calls its slots, and what its other functions read unless told otherwise.
_SLOTS = ("X_pca", "PCs", "pca")
_VARIABLE = "highly_variable"


def sparse_pca(
    adata: Any,
    n_comps: int = 20,
    cardinality: Any = 50,
    *,
    layer: str | None = None,
    mask_var: Any = None,
    key_added: str | None = None,
    random_state: Any = 0,
    dtype: Any = "float32",
    copy: bool = False,
    **options: Any,
) -> Any:
    """Components in which each program of genes has few genes, like ``scanpy.pp.pca`` in use.

    Sparse matrices stay sparse, and dense files opened with ``backed="r"`` are read in blocks of
    cells. Counts should be normalised and logarithmised first, as for PCA.

    Parameters
    ----------
    adata : AnnData
    n_comps : int, default=20
        Number of components.
    cardinality : int, float, or sequence of those, default=50
        Genes that a component may use, as in ``SparsePCA``.
    layer : str or None, default=None
        The layer to use in place of ``X``.
    mask_var : str, boolean array or None, default=None
        The genes to use: a column of ``var`` or an array. None: ``var["highly_variable"]`` if it is
        there, else all.
    key_added : str or None, default=None
        None: ``obsm["X_pca"]``, ``varm["PCs"]`` and ``uns["pca"]``, as scanpy calls them, so that
        its functions find them; they replace those of an earlier PCA. Otherwise
        ``obsm[key_added]``, ``varm[key_added]`` and ``uns[key_added]``.
    random_state : int, RandomState instance or None, default=0
    dtype : data type, default="float32"
        Of the scores.
    copy : bool, default=False
        Leave ``adata`` as it is, and return a copy with the result.
    **options
        Further parameters of ``SparsePCA``, such as ``nonnegative=True``.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for. It has scores (cells × components) in ``obsm``, loadings
        (genes × components, zeros where a gene was not used) in ``varm``, and ``variance``,
        ``variance_ratio`` and ``params`` in ``uns``.
    """
    if copy:
        adata = adata.copy()
    mask, name = _mask(adata, mask_var)
    genes = np.flatnonzero(mask)
    X = taken(_matrix(adata, layer), genes.tolist())
    names = [str(each) for each in np.asarray(adata.var_names)[genes]]
    model = SparsePCA(n_comps, cardinality=cardinality, random_state=random_state, **options)
    model.fit(X, feature_names=names)
    loadings = np.zeros((adata.n_vars, model.n_components_), dtype=model.components_.dtype)
    loadings[genes] = model.components_.T
    of_cells, of_genes, of_all = _SLOTS if key_added is None else (key_added,) * 3
    adata.obsm[of_cells] = model.transform(X).astype(dtype, copy=False)
    adata.varm[of_genes] = loadings
    adata.uns[of_all] = {
        "params": _params(cardinality, layer, name, options),
        "variance": model.explained_variance_,
        "variance_ratio": model.explained_variance_ratio_,
    }
    return adata if copy else None


def _matrix(adata: Any, layer: str | None) -> Any:
    if layer is not None and layer not in adata.layers:
        known = ", ".join(map(repr, adata.layers)) or "none"
        raise KeyError(f"layer={layer!r} is no layer of adata; there are {known}.")
    X = adata.X if layer is None else adata.layers[layer]
    if X is None:
        raise ValueError("adata.X is None; name a layer.")
    # A sparse matrix in a file is read: its rows in blocks would be slower than all of it.
    return X.to_memory() if hasattr(X, "to_memory") else X


def _mask(adata: Any, mask_var: Any) -> tuple[NDArray[np.bool_], str]:
    """Which genes to use, and what to call that."""
    if mask_var is None:
        if _VARIABLE not in adata.var:
            return np.ones(adata.n_vars, dtype=bool), "all"
        mask_var = _VARIABLE
    name = "given"
    if isinstance(mask_var, str):
        name = mask_var
        if mask_var not in adata.var:
            raise KeyError(f"mask_var={mask_var!r} is no column of adata.var.")
        mask_var = adata.var[mask_var]
    mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (adata.n_vars,):
        raise ValueError(
            f"mask_var must have {adata.n_vars} booleans, one for each gene; it has the shape "
            f"{mask.shape} and the type {mask.dtype}."
        )
    return mask, name


def _params(
    cardinality: Any, layer: str | None, mask: str, options: dict[str, Any]
) -> dict[str, Any]:
    """What a file can hold of the settings: no None, no objects."""
    params: dict[str, Any] = {
        "method": "redac sparse PCA",
        "zero_center": True,
        "use_highly_variable": mask == _VARIABLE,
        "mask_var": mask,
        "cardinality": np.asarray(cardinality) if np.ndim(cardinality) else cardinality,
    }
    if layer is not None:
        params["layer"] = layer
    simple = (bool, int, float, str)
    return params | {key: value for key, value in options.items() if isinstance(value, simple)}
