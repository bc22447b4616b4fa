"""A model fitted to what was read, with progress; its warnings are for later."""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING

from numpy.linalg import LinAlgError

if TYPE_CHECKING:
    from redac import SparsePCA
    from redac.files import Table


def fit_table(
    model: SparsePCA, options: argparse.Namespace, table: Table, is_covariance: bool
) -> list[warnings.WarningMessage]:
    """Fit the model to the table and its names, and return what it warned of."""
    from redac.cli import terminal
    from redac.disk import DataFileError
    from redac.exceptions import BlockError

    with terminal.progress(model.max_iter), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = model.fit_covariance if is_covariance else model.fit
            fit(table.values, feature_names=table.feature_names)
        except LinAlgError:  # the work failed; a ValueError by descent, but not a wrong input
            raise
        except BlockError as error:
            if isinstance(error.__cause__, DataFileError):  # a large file is read here, not before
                where = f"in the block that begins with row {error.start}, counted from 0"
                raise DataFileError(f"{error.__cause__} {where}") from error
            raise
        except ValueError as error:
            raise ValueError(f"{options.data}: {error}") from error
        except MemoryError as error:  # a few bytes of a sparse file can declare any shape
            n, d = table.values.shape
            raise DataFileError(f"{options.data}: {n} × {d} do not fit into memory") from error
    return list(caught)
