"""What commands that choose numbers have in common."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from redac.cli import fitting
from redac.cli.inputs import whole_or_share

if TYPE_CHECKING:
    from redac import SparsePCA, SparsePCACV, Stability
    from redac.files import Table

RULES = ("one_se", "best", "share", "ebic")
_DEFAULT_CARDINALITY = 10
# A choice among all places takes some hundred fits: about ten seconds at this many cells of data in
# memory, or of a covariance matrix.
_MOST_CELLS = 200_000
_MOST_FEATURES = 2_000


def add_grid_options(parser: argparse.ArgumentParser) -> None:
    """The data, the grid, and how it is judged."""
    from redac.cli.inputs import add_data_options

    add_data_options(parser, components=False)
    parser.add_argument(
        "--components",
        type=_whole_numbers,
        metavar="R",
        help="numbers of components, such as 1..10 or 2,4 (default: 1 to half of the features, at "
        "most 10)",
    )
    parser.add_argument(
        "--cardinality",
        type=_several,
        metavar="K",
        help="numbers of non-zero loadings, such as 2,4,8 or 2..20, or shares such as 0.1 "
        "(default: ten numbers from 2 to all features, at most 200)",
    )
    parser.add_argument("--nonnegative", action="store_true", help="allow no negative loading")
    parser.add_argument(
        "--folds", type=int, default=5, metavar="N", help="folds of rows (default: 5)"
    )
    parser.add_argument(
        "--samples",
        type=int,
        metavar="N",
        help="the number of samples behind a covariance matrix",
    )
    parser.add_argument(
        "--seed", type=int, metavar="S", help="shuffle rows into folds (default: in turn)"
    )


def add_stability(parser: argparse.ArgumentParser) -> None:
    """How often the fit is repeated with half of the rows."""
    parser.add_argument(
        "--stability",
        type=int,
        metavar="N",
        help="repeat the fit with N half-samples and say which features are found again",
    )


def chooser(options: argparse.Namespace, rule: str) -> SparsePCACV:
    """The estimator that options ask for."""
    from redac import SparsePCACV

    return SparsePCACV(
        options.components,
        options.cardinality,
        rule=rule,
        share=getattr(options, "share", 0.9),
        cv=getattr(options, "folds", 5),
        nonnegative=options.nonnegative,
        standardize=options.standardize,
        random_state=options.seed,
    )


def settle_numbers(options: argparse.Namespace, table: Table, is_covariance: bool) -> str:
    """Choose the numbers that ``redac fit`` was not given; set them, and say why."""
    n, d = table.values.shape
    n_samples = fitting.sample_count(options) if is_covariance else n
    is_small = n * d <= _MOST_CELLS and d <= _MOST_FEATURES and n > 2 * 5
    if n_samples is not None and is_small:
        model = chooser(options, "ebic" if is_covariance else "one_se")
        fitting.fit_table(model, options, table, is_covariance)
        if model.n_components_:
            options.components, options.cardinality = model.n_components_, model.cardinality_
            return f"{model.reason_} Choose yourself with --components and --cardinality."
        why = "no component predicts better than the mean; all the same, "
    else:
        why = ""
    options.cardinality = min(_DEFAULT_CARDINALITY, max(1, math.ceil(d / 3)))
    return (
        f"{why}at most {options.cardinality} non-zero loadings for each component; choose with "
        "--cardinality or --l1-bound"
    )


def stability_of(
    options: argparse.Namespace, model: SparsePCA, table: Table, is_covariance: bool
) -> Stability | None:
    """How stable a fitted model is, if that was asked for."""
    if options.stability is None:
        return None
    if is_covariance:
        raise ValueError("--stability draws rows, and a covariance matrix has none")
    from redac import stability
    from redac.cli import terminal

    settings = model.get_params(deep=False)
    sizes = settings.pop("n_components"), settings.pop("cardinality")
    seed = settings.pop("random_state")

    def draw() -> Stability:
        return stability(
            table.values,
            *sizes,
            n_resamples=options.stability,
            random_state=0 if seed is None else seed,
            feature_names=table.feature_names,
            **settings,
        )

    found, caught = fitting.with_progress(options, table, draw)
    terminal.notes(caught)
    return found


def _whole_numbers(text: str) -> Any:
    return _several(text, int)


def _several(text: str, kind: Any = whole_or_share) -> Any:
    """A number, several with commas between them, or a range such as 1..10."""
    try:
        first, dots, last = text.partition("..")
        if dots:
            values = list(range(int(first), int(last) + 1))
            if not values:
                raise ValueError
        else:
            values = [kind(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a number nor a list such as 2,4,8 or 1..10"
        ) from None
    return values[0] if len(values) == 1 else values
