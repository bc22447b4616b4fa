"""A fitted model as something that other programs compute: ONNX, SQL, equations.

Scores are (x − mean) · W with W = V(VᵀV)⁻¹/scale, and rows of W are zero where no component has a
loading: only features in use appear. Missing cells are no matter of a formula: they give missing
scores, where ``transform`` would use the other cells of the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from redac._version import __version__
from redac.show.escaping import printable
from redac.show.tables import component_names
from redac.solver import variance
from redac.sources.base import Array

# Databases limit how deep an expression may be, and sums are deep: SQLite to 1000 by default.
_TERMS_IN_A_ROW = 100
# Of the standard of ONNX: the version with all operators used here, from May 2021.
_OPSET = 14
_IR_VERSION = 8


class Exports:
    """What every fitted model can be written as."""

    components_: Any
    mean_: Array
    scale_: Array
    n_features_in_: int

    def to_onnx(self) -> Any:
        """The model as ``onnx.ModelProto``: input "X" (n × all features), output "scores".

        Numbers are of the type of ``components_``. Needs onnx: ``pip install redac[onnx]``.
        """
        check_is_fitted(self)
        try:
            from onnx import TensorProto, helper, numpy_helper
        except ImportError as error:
            raise ImportError("to_onnx needs onnx; install it with: pip install redac[onnx]") from (
                error
            )
        used, W = self._map()
        dtype = self.components_.dtype
        kind = TensorProto.FLOAT if dtype == np.float32 else TensorProto.DOUBLE
        constants = {
            "used": used.astype(np.int64),
            "mean": self.mean_[used].astype(dtype),
            "weights": W.astype(dtype),
        }
        nodes = [
            helper.make_node("Gather", ["X", "used"], ["columns"], axis=1),
            helper.make_node("Sub", ["columns", "mean"], ["centred"]),
            helper.make_node("MatMul", ["centred", "weights"], ["scores"]),
        ]
        graph = helper.make_graph(
            nodes,
            type(self).__name__,
            [helper.make_tensor_value_info("X", kind, ["n", self.n_features_in_])],
            [helper.make_tensor_value_info("scores", kind, ["n", W.shape[1]])],
            [numpy_helper.from_array(array, name) for name, array in constants.items()],
        )
        return helper.make_model(
            graph,
            producer_name="redac",
            producer_version=__version__,
            ir_version=_IR_VERSION,
            opset_imports=[helper.make_opsetid("", _OPSET)],
        )

    def to_sql(self, table: str) -> str:
        """A SELECT statement that gives the scores of the rows of a table, as PC1, PC2, ….

        Parameters
        ----------
        table : str
            Its name; the features are its columns. Names are quoted as the standard of SQL says,
            with double quotes.
        """
        check_is_fitted(self)
        names = [_quoted(name) for name in self._feature_names()]  # type: ignore[attr-defined]
        selected = [
            f"  {_sum(terms)} AS {_quoted(name)}" for name, terms in self._terms(names).items()
        ]
        joined = ",\n".join(selected)
        return f"SELECT\n{joined}\nFROM {_quoted(table)}"

    def equations(self) -> list[str]:
        """One line for each component, such as "PC1 = 0.5 * (`a` - 1.2) - 0.3 * (`b` - 4.0)".

        ``frame.eval(line)`` of a pandas frame with these columns computes the scores, unless their
        names have backticks, line breaks or other control characters.
        """
        check_is_fitted(self)
        known = self._feature_names()  # type: ignore[attr-defined]
        names = [f"`{printable(name)}`" for name in known]
        return [f"{name} = {_sum(terms)}" for name, terms in self._terms(names).items()]

    def _map(self) -> tuple[Any, Array]:
        """The features in use, and what their centred values are multiplied with."""
        V = self.components_.astype(np.float64).T
        used = np.flatnonzero(V.any(axis=1))
        W = variance.Basis.of(V).duals()[used] / self.scale_[used, None]
        return used, W

    def _terms(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The terms of each component, each with its sign in front."""
        used, W = self._map()
        centred = [_centred(names[j], float(self.mean_[j])) for j in used.tolist()]
        terms = {}
        for name, weights in zip(component_names(W.shape[1]), W.T.tolist(), strict=True):
            terms[name] = [
                f"{'-' if weight < 0 else '+'} {abs(weight)!r} * {text}"
                for weight, text in zip(weights, centred, strict=True)
                if weight != 0.0
            ]
        return terms


def _centred(name: str, mean: float) -> str:
    if mean == 0.0:
        return name
    return f"({name} {'+' if mean < 0 else '-'} {abs(mean)!r})"


def _sum(terms: Sequence[str]) -> str:
    """A sum that is no deeper than it has to be."""
    if not terms:
        return "0.0"
    parts = [terms[at : at + _TERMS_IN_A_ROW] for at in range(0, len(terms), _TERMS_IN_A_ROW)]
    sums = [" ".join(part).removeprefix("+ ") for part in parts]
    if len(sums) == 1:
        return sums[0]
    return " + ".join(f"({each})" for each in sums)


def _quoted(name: object) -> str:
    text = str(name).replace('"', '""')
    return f'"{text}"'
