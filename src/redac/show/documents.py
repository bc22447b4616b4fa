"""Results as plain data, for programs that read them; docs/json.md says what is in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from redac.show.stories import stories, variance_sentence
from redac.show.tables import component_names


def plain(value: Any) -> Any:
    """A value as JSON can hold it: NaN and infinity are null, names stay as they are."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return [plain(each) for each in value.tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):  # half a character, as in file names that are not text
        return value.encode("utf-8", "replace").decode("utf-8")
    if value is None or isinstance(value, (bool, int)):
        return value
    return str(value)


def model_document(model: Any, remarks: Sequence[str] = ()) -> dict[str, Any]:
    """A fitted model: its components with their non-zero loadings, and what they explain."""
    shares = model.explained_variance_ratio_
    names = component_names(model.n_components_)
    said = [variance_sentence(model), *stories(model), *remarks]
    return {
        "n_samples": model.n_samples_,
        "n_features": model.n_features_in_,
        "n_components": model.n_components_,
        "n_missing": getattr(model, "n_missing_", None),
        "pev": 100 * shares.sum(),
        "rre": model.reconstruction_error_,
        "separation": model.separation_,
        "nonzeros": np.count_nonzero(model.components_),
        "converged": getattr(model, "converged_", None),
        "interrupted": getattr(model, "interrupted_", False),
        "components": [
            {
                "name": name,
                "explained_variance": model.explained_variance_[i],
                "explained_variance_ratio": shares[i],
                "nonzeros": np.count_nonzero(model.components_[i]),
                "loadings": _loadings(model, i),
            }
            for i, name in enumerate(names)
        ],
        "remarks": [remark for remark in said if remark],
        "parameters": model.get_params(deep=False),
    }


def _loadings(model: Any, i: int) -> list[dict[str, Any]]:
    """The non-zero loadings of a component, the largest first."""
    row, names = model.components_[i], model._feature_names()
    used = np.flatnonzero(row)
    order = used[np.argsort(-np.abs(row[used]), kind="stable")]
    return [{"feature": names[j], "position": j, "loading": row[j]} for j in order.tolist()]


def rows_document(table: Any) -> list[dict[str, Any]]:
    """The rows of a frame, each as one object."""
    return [dict(row) for row in table.to_dict(orient="records")]


def stability_document(steady: Any) -> dict[str, Any]:
    """How often half-samples lead to the same features."""
    used = steady.frequencies
    return {
        "n_resamples": steady.n_resamples,
        "index": steady.index,
        "indices": steady.indices.tolist(),
        "components": [
            {
                "name": name,
                "frequencies": [
                    {"feature": feature, "frequency": share}
                    for feature, share in zip(used.index, used.iloc[:, i], strict=True)
                    if share > 0
                ],
            }
            for i, name in enumerate(used.columns)
        ],
    }


def certificate_document(found: Any) -> dict[str, Any]:
    """What is proved of components."""
    return {
        "value": found.value,
        "upper_bound": found.upper_bound,
        "gap": found.gap,
        "proved": found.proved,
        "method": found.method,
        "interrupted": found.interrupted,
        "better_value": found.better_value,
        "remark": found.remark,
    }
