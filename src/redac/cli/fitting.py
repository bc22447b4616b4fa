"""A model fitted to what was read, with progress; its warnings are for later."""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING

from numpy.linalg import LinAlgError

if TYPE_CHECKING:
    from redac import SparsePCA
    from redac.files import Table


def fit(
    model: SparsePCA, options: argparse.Namespace, table: Table, is_covariance: bool
) -> list[warnings.WarningMessage]:
    """Fit the model, give it the names of the features, and return what it warned of."""
    from redac.cli import show
    from redac.files import DataFileError
    from redac.sources import BlockError

    with show.progress() as callbacks, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if callbacks and hasattr(model, "set_callbacks"):
            model.set_callbacks(*callbacks)
        try:
            (model.fit_covariance if is_covariance else model.fit)(table.values)
        except LinAlgError:  # the work failed; a ValueError by descent, but not a wrong input
            raise
        except BlockError as error:
            if isinstance(error.__cause__, DataFileError):  # a large file is read here, not before
                where = f"in the block that begins with row {error.start}, counted from 0"
                raise DataFileError(f"{error.__cause__} {where}") from error
            raise
        except ValueError as error:
            raise ValueError(f"{options.data}: {error}") from error
    if table.feature_names is not None:
        import numpy as np

        model.feature_names_in_ = np.array(table.feature_names, dtype=object)
    return list(caught)
