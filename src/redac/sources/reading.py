"""The front door for data: the one place where what a user gave is checked and made readable.

Estimators, measures and methods all come through here. So they accept the same kinds of data, raise
the same errors, and read data that are not in memory in blocks of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from redac.exceptions import NonFiniteError
from redac.sources import Data, Source, as_data, as_source, covariance_source, raw_data
from redac.sources.base import Array
from redac.sources.blocks import Blocks
from redac.sources.cluster import is_dask
from redac.sources.gaps import CellTable, may_have_gaps, read_cells
from redac.sources.gram import Gram
from redac.sources.local import LocalParts
from redac.sources.progress import is_mapped
from redac.sources.streams import checked_stream, is_streamed, stream_dtype

# An error names so many columns.
_NAMED = 5


@dataclass(frozen=True)
class Given:
    """Data from a user, whose shape, types and names have been checked, but no number.

    Whether all numbers are finite is found out when the rows are read.

    Attributes
    ----------
    values : an array, a CSR or CSC matrix, a Dask collection, or an object that hands out rows.
    names : the names of the columns; None where there are none, or not all of them are strings.
    """

    values: Any
    names: NDArray[Any] | None

    @classmethod
    def of(cls, X: Any, *, model: Any = None, reset: bool = True) -> Given:
        """Check X: an array, a list, a pandas, polars or Dask frame, a sparse matrix, a Dask array,
        or an object with ``shape`` and ``dtype`` whose rows can be sliced.

        Parameters
        ----------
        X : the data.
        model : the estimator that is to be fitted to them or was fitted to others; None: no
            estimator takes part.
        reset : True where the model is to be fitted: at least two rows are needed, and the model
            takes over the number and the names of the columns. False: one row is enough, and the
            columns must be those that the model was fitted to.
        """
        _refuse_other_than_two_dimensions(X)
        X = _with_nan(X)
        keeper = BaseEstimator() if model is None else model
        least = 2 if reset else 1
        if is_streamed(X):
            values = checked_stream(X, least=least)
            # The empty frame behind a Dask frame has its columns and their names.
            columns = X._meta if hasattr(X, "dtypes") else X
            validate_data(keeper, columns, reset=reset, skip_check_array=True)
        else:
            rules: dict[str, Any] = {
                "accept_sparse": ("csr", "csc"),
                "dtype": "numeric",
                "ensure_all_finite": False,
                "ensure_min_samples": least,
            }
            with _naming_text_columns(X):
                if model is None:  # the message of an error is not to name an estimator
                    values = check_array(X, input_name="X", **rules)
                    validate_data(keeper, X, skip_check_array=True)
                else:
                    values = validate_data(model, X, reset=reset, **rules)
                if values.dtype.kind == "O":  # scikit-learn leaves those of polars as they are
                    values = np.asarray(values, dtype=np.float64)
        return cls(values, getattr(keeper, "feature_names_in_", None))

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    @property
    def is_lazy(self) -> bool:
        """Whether answers about single rows are to be Dask arrays that are not computed yet."""
        return is_dask(self.values)

    @property
    def float_dtype(self) -> np.dtype[Any]:
        """The type of results: single precision stays single, all else becomes double."""
        return np.dtype(np.float32 if stream_dtype(self.values) == np.float32 else np.float64)

    def about_own_mean(self, *, standardize: bool = False, sample_weight: Any = None) -> Data:
        """Read means and variances, and return the data centred, and standardised if wanted."""
        with self.naming_columns():
            return as_data(self.values, standardize=standardize, sample_weight=sample_weight)

    def cells(self, *, standardize: bool = False, sample_weight: Any = None) -> CellTable:
        """Read all cells into memory, centred, and standardised if wanted; NaN is a gap."""
        if not may_have_gaps(self.values):
            raise TypeError(
                f"robust fits need all cells in memory: give an array or a frame, not "
                f"{type(self.values).__name__}."
            )
        with self.naming_columns():
            return read_cells(
                self.values, standardize=standardize, sample_weight=sample_weight, names=self.names
            )

    def about(self, mean: Array, scale: Array) -> Data:
        """The data about a given centre and in units of a given scale; nothing is read yet."""
        return raw_data(self.values, mean=mean, scale=scale)

    def share_about(self, mean: Array, scale: Array, Q: Array) -> float:
        """Read the data and return which share of ‖X‖², about that centre, lies along Q.

        Parameters
        ----------
        mean, scale : what is subtracted from the columns, and what they are then divided by.
        Q : an orthonormal basis, as columns.
        """
        data = self._for_one_pass(mean=mean, scale=scale)
        found = data.plain_products(Q)
        if found is None:  # numbers of extreme size, or no numbers: that takes a closer look
            with self.naming_columns():
                data = data.checked().with_scatter()
            found = float(data.diagonal.sum()), data.quadratic(Q)
        total, M = found
        return float(np.trace(M)) / total if total > 0 else 0.0

    def products(self, V: Array) -> tuple[float, Array]:
        """Read the data and return Tr S and VᵀSV, both in the same unit."""
        with self.naming_columns():
            return self._for_one_pass().products_about_mean(V)

    @contextmanager
    def naming_columns(self) -> Iterator[None]:
        """Within this context an error about an entry names its column, if columns have names."""
        try:
            yield
        except NonFiniteError as error:
            raise (error if self.names is None else error.named(self.names.tolist())) from None

    def _for_one_pass(self, mean: Array | None = None, scale: Array | None = None) -> Data:
        """The data for somebody who has two questions and wants to read a file only once.

        Blocks answer both while they are in memory; so a memory-mapped array comes in blocks, too.
        """
        if isinstance(self.values, np.ndarray) and is_mapped(self.values):
            return Blocks.of(LocalParts(self.values), mean=mean, scale=scale)
        return raw_data(self.values, mean=mean, scale=scale)


def read_source(X: Any, *, covariance: bool = False) -> Source:
    """X as the source of products with S: data, or with ``covariance=True`` the matrix S itself."""
    if covariance:
        return read_covariance(X)
    return as_source(Given.of(X).about_own_mean())


def read_covariance(S: Any, *, model: Any = None) -> Gram:
    """A covariance or correlation matrix, checked; a model takes over the names of its columns."""
    source = covariance_source(S)
    if model is not None:
        validate_data(model, S, reset=True, skip_check_array=True)
    return source


def _with_nan(X: Any) -> Any:
    """X with NaN where a cell is masked, or where an object column of a frame has NA or None."""
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.result_type(X.dtype, np.float16)), np.nan)
    if not hasattr(X, "iloc") or is_streamed(X) or np.dtype(object) not in set(X.dtypes):
        return X
    missing = X.isna().to_numpy()
    if not missing.any():
        return X
    values = np.where(missing, np.nan, X.to_numpy(dtype=object))
    return type(X)(values, index=X.index, columns=X.columns)


@contextmanager
def _naming_text_columns(X: Any) -> Iterator[None]:
    """Within this context an error about a frame names the columns that hold no numbers."""
    columns = getattr(X, "columns", None)
    if columns is None:
        yield
        return
    dates = [name for name in columns if _kind(X[name]) in ("M", "m")]
    if dates:  # they would be read as numbers of nanoseconds
        raise _no_numbers(dates, "dates or times")
    try:
        yield
    except (ValueError, TypeError) as error:
        text = [name for name in columns if not _is_numeric(X[name])]
        if not text:
            raise
        raise _no_numbers(text, "text") from error


def _no_numbers(names: list[Any], what: str) -> ValueError:
    shown = ", ".join(map(repr, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")
    several = len(names) > 1
    return ValueError(
        f"Column{'s' if several else ''} {shown} of X hold{'' if several else 's'} {what}, not "
        "numbers: leave them out, for instance with X.select_dtypes('number') of pandas, or encode "
        "them."
    )


def _kind(column: Any) -> str:
    """The kind of a column's type as NumPy names them; of others an approximation."""
    found: str = getattr(column.dtype, "kind", "")
    if found:
        return found
    return "M" if str(column.dtype).startswith(("Date", "Duration", "Time")) else "O"


def _is_numeric(column: Any) -> bool:
    """Whether all of a column can be read as numbers."""
    try:
        np.asarray(column.to_numpy(), dtype=np.float64)
    except (ValueError, TypeError):
        return False
    return True


def _refuse_other_than_two_dimensions(X: Any) -> None:
    """Raise if X is no table, before anything reads it into memory."""
    if hasattr(X, "obsm") and hasattr(X, "varm"):
        raise TypeError(
            "X is an AnnData object; redac.anndata.sparse_pca(adata) fits it and keeps the result "
            "in it, or give adata.X and feature_names=adata.var_names."
        )
    n_dimensions = len(X.shape) if hasattr(X, "shape") else np.asarray(X).ndim
    if n_dimensions != 2:
        raise ValueError(
            f"X must have two dimensions, not {n_dimensions}. Reshape your data: each row is a "
            "sample, each column a feature."
        )
