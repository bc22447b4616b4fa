"""What commands that choose numbers have in common."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redac.cli import fitting
from redac.cli.inputs import whole_or_share
from redac.cli.rule_options import rules_of

if TYPE_CHECKING:
    from redac import SparsePCA, SparsePCACV, Stability
    from redac.files import Table

RULES = ("one_se", "best", "share", "ebic")
_DEFAULT_CARDINALITY = 10
ABOUT_Q2 = (
    "Q²: cells that are held out are predicted from the other cells of their rows; 1 is perfect, 0 "
    "no better than the mean."
)
# With fewer rows than two for each of five folds nothing is to be learnt.
_FEWEST_ROWS = 10
# A choice among all places takes some hundred fits: about ten seconds at this many cells of data in
# memory, or of a covariance matrix.
_MOST_CELLS = 200_000
_MOST_FEATURES = 2_000
# With missing cells each place goes through sweeps over all cells, for each fold anew: as long at
# this many.
_MOST_GAPPY_CELLS = 3_000


@dataclass(frozen=True)
class Settled:
    """What became of numbers that ``redac fit`` was not given.

    Attributes
    ----------
    why : what was chosen or taken, and why.
    is_doubtful : whether that is to be known before trusting the result.
    found : the components themselves where somebody pressed Ctrl-C and is not to wait for a fit.
    """

    why: str
    is_doubtful: bool = False
    found: SparsePCA | None = None


def add_grid_options(parser: argparse.ArgumentParser) -> None:
    """The data, the grid, and how it is judged."""
    from redac.cli.inputs import add_data_options

    add_data_options(parser, components=False, gaps=True)
    parser.add_argument(
        "--components",
        type=_whole_numbers,
        metavar="R",
        help="numbers of components, such as 1..10 or 2,4 (default: 1 to half of the features, at "
        "most 10); a single number is not a matter of choice",
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
        "--folds",
        type=int,
        default=5,
        metavar="N",
        help="folds of rows, or of cells where some are missing (default: 5)",
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


def check_numbers(options: argparse.Namespace, table: Table, is_covariance: bool) -> None:
    """Refuse what cannot be done with so many rows, in the words of the options."""
    n = table.values.shape[0]
    resamples = getattr(options, "stability", None)
    if resamples is not None:
        if is_covariance:
            raise ValueError("--stability draws rows, and a covariance matrix has none")
        if resamples < 2:
            raise ValueError(f"--stability {resamples} must be at least 2 half-samples")
        if n < 4:
            raise ValueError(f"--stability draws halves of the rows, and {n} are too few for that")
    folds = getattr(options, "folds", None)
    if folds is not None and not is_covariance and not 2 <= folds <= n:
        raise ValueError(f"--folds {folds} must be between 2 and the number of rows, which is {n}")


def chooser(options: argparse.Namespace, rule: str, **further: Any) -> SparsePCACV:
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
        **further,
    )


def recommendation(model: SparsePCACV) -> list[str]:
    """What to take, why, and what that goes by; a sentence or two on each line."""
    if model.n_components_ == 0:
        return [f"Take {model.reason_[0].lower()}{model.reason_[1:]}"]
    sizes = f"--components {model.n_components_} --cardinality {model.cardinality_}"
    said = [f"Take {sizes}: {model.reason_}"]
    return [*said, ABOUT_Q2] if "Q²" in model.reason_ else said


def settle_numbers(options: argparse.Namespace, table: Table, is_covariance: bool) -> Settled:
    """Choose the numbers that ``redac fit`` was not given; set them, and say why."""
    why, is_doubtful = _why_not(options, table, is_covariance), False
    if why is None:
        model = chooser(options, "ebic" if is_covariance else "one_se", **_further(options))
        fitting.fit_table(model, options, table, is_covariance)
        if model.n_components_:
            options.components, options.cardinality = model.n_components_, model.cardinality_
            why = f"{model.reason_} Choose yourself with --components and --cardinality."
            if not model.interrupted_:
                return Settled(why)
            early = "The choice was interrupted; it was made from what was done by then."
            return Settled(f"{early} {why}", True, model.as_sparse_pca())
        if model.interrupted_:
            raise KeyboardInterrupt
        why, is_doubtful = f"{model.reason_.rstrip('.')}; what follows may be noise.", True
    d = table.values.shape[1]
    options.cardinality = min(_DEFAULT_CARDINALITY, max(1, math.ceil(d / 3)))
    what = "1 feature" if options.cardinality == 1 else f"{options.cardinality} features"
    text = (
        f"{why} Each component has at most {what}; choose yourself with --cardinality or "
        "--l1-bound."
    )
    return Settled(text, is_doubtful)


def _why_not(options: argparse.Namespace, table: Table, is_covariance: bool) -> str | None:
    """Why no numbers can be chosen in seconds; None if they can."""
    n, d = table.values.shape
    if options.robust is not None:
        return "With --robust no numbers are chosen."
    if is_covariance and fitting.sample_count(options) is None:
        return "Numbers can be chosen when --samples says how many samples are behind the matrix."
    if not is_covariance and n <= _FEWEST_ROWS:
        return f"{n} rows are too few to choose numbers by."
    is_much = n * d > _MOST_CELLS or d > _MOST_FEATURES
    if is_much or (n * d > _MOST_GAPPY_CELLS and table.has_gaps):
        return "To choose numbers would take long with so much data (redac choose does it)."
    return None


def _further(options: argparse.Namespace) -> dict[str, Any]:
    """What else the options of a fit say of its components."""
    named = {"ridge": options.ridge, "min_separation": options.min_separation}
    given = {name: value for name, value in named.items() if value is not None}
    rules = rules_of(options)
    limits = {"max_iter": options.max_iter, "tol": options.tol}
    return {**given, **limits, "exclude": rules["exclude"], "require": rules["require"]}


def stability_of(
    options: argparse.Namespace, model: SparsePCA, table: Table, is_covariance: bool
) -> Stability | None:
    """How stable a fitted model is, if that was asked for."""
    if options.stability is None:
        return None
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
