"""Work on what was read, with progress; its warnings are for later."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.linalg import LinAlgError

if TYPE_CHECKING:
    from redac import SparsePCA, SparsePCACV
    from redac.files import Table

T = TypeVar("T")


def fit_table(
    model: SparsePCA | SparsePCACV, options: argparse.Namespace, table: Table, is_covariance: bool
) -> list[warnings.WarningMessage]:
    """Fit the model to the table and its names, and return what it warned of."""

    def fit() -> Any:
        names = table.feature_names
        if is_covariance:
            n_samples = sample_count(options)
            return model.fit_covariance(table.values, n_samples, feature_names=names)
        return model.fit(table.values, feature_names=names)

    # The rounds of several chains are not counted one by one.
    rounds = getattr(model, "n_perturbations", 0) if getattr(model, "n_jobs", 1) in (None, 1) else 0
    return with_progress(options, table, fit, model.max_iter, rounds or None)[1]


def sample_count(options: argparse.Namespace) -> int | None:
    """The number of samples behind a covariance matrix, if it is known."""
    if options.data == "pitprops":
        from redac.datasets import load_pitprops

        return int(load_pitprops().n_samples)
    found: int | None = getattr(options, "samples", None)
    return found


def with_progress(
    options: argparse.Namespace,
    table: Table,
    work: Callable[[], T],
    max_sweeps: int | None = None,
    n_rounds: int | None = None,
) -> tuple[T, list[warnings.WarningMessage]]:
    """Do some work on a table; its result, and what it warned of."""
    from redac.cli import terminal
    from redac.cli.inputs import data_name
    from redac.disk import DataFileError
    from redac.exceptions import BlockError

    with terminal.progress(max_sweeps, n_rounds), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Columns were matched by name, or their number is all that there is to match.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        try:
            result = work()
        except LinAlgError:  # the work failed; a ValueError by descent, but not a wrong input
            raise
        except BlockError as error:
            if isinstance(error.__cause__, DataFileError):  # a large file is read here, not before
                where = f"in the block that begins with row {error.start}, counted from 0"
                raise DataFileError(f"{error.__cause__} {where}") from error
            raise
        except ValueError as error:
            raise ValueError(f"{data_name(options)}: {error}") from error
        except MemoryError as error:  # a few bytes of a sparse file can declare any shape
            n, d = table.values.shape
            raise DataFileError(
                f"{data_name(options)}: {n} × {d} do not fit into memory"
            ) from error
    return result, list(caught)
