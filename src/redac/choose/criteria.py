"""What a number of components and of features is judged by, and the rules that choose.

All is said of places (r, k) of a grid; r = 0, no component at all, is a place, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redac.sources.base import Array

RULES = ("best", "one_se", "share", "ebic")
# What the scores of a component count in EBIC, for each row. They are fitted and not penalised
# otherwise, so that without it more components would always win. Of 2, 3, 4 and logarithms of the
# sizes of the data, 3 found the number of components in most of the sets of benchmarks/planted.py.
_SCORE_COST = 3.0
# Less than this share of the variance is rounding, not something left unexplained.
_NOTHING_LEFT = 1e-12


@dataclass(frozen=True)
class Candidate:
    """A place of the grid.

    Attributes
    ----------
    n_components, cardinality : the place.
    nonzeros : non-zero loadings in all.
    scores : Q² of each fold; None where nothing was held out.
    ebic : EBIC; None where the number of samples is not known.
    """

    n_components: int
    cardinality: int
    nonzeros: int
    scores: Array | None = None
    ebic: float | None = None

    @property
    def q2(self) -> float:
        """The mean of Q² over the folds."""
        return 0.0 if self.scores is None else float(self.scores.mean())

    @property
    def simplicity(self) -> tuple[int, int]:
        """Smaller is simpler: fewer loadings, then fewer components."""
        return self.nonzeros, self.n_components

    def __str__(self) -> str:
        if self.n_components == 0:
            return "no component"
        components = "1 component" if self.n_components == 1 else f"{self.n_components} components"
        features = "1 feature" if self.cardinality == 1 else f"{self.cardinality} features"
        are_all_used = self.nonzeros == self.n_components * self.cardinality
        return f"{components} of {features if are_all_used else f'at most {features}'}"


@dataclass(frozen=True)
class Choice:
    """What a rule chose, and why, in a sentence."""

    candidate: Candidate
    reason: str


def standard_error(scores: Array) -> float:
    """The standard error of a mean over folds."""
    return float(scores.std(ddof=1) / np.sqrt(scores.size))


def ebic(
    share: float,
    nonzeros: int,
    n_components: int,
    n_samples: int,
    n_features: int,
    n_cells: int | None = None,
) -> float:
    """Extended BIC of components that explain this share of the variance; zero without any.

    N log(RSS/RSS_0) + nonzeros · (log N + 2 log d) + 3 n r with N = nd cells, or those that are
    there.
    """
    cells = n_samples * n_features if n_cells is None else max(n_cells, 1)
    left = np.log(max(1.0 - share, _NOTHING_LEFT))
    penalty = nonzeros * (np.log(cells) + 2 * np.log(n_features))
    return float(cells * left + penalty + _SCORE_COST * n_samples * n_components)


def index_of_sparseness(share: float, share_of_pca: float, zeros: float) -> float:
    """PEV · PEV of PCA · share of zeros (Trendafilov), as shares: to report, not to decide by."""
    return share * share_of_pca * zeros


def choose(candidates: Sequence[Candidate], rule: str, share: float) -> Choice:
    """The candidate that a rule prefers.

    Parameters
    ----------
    candidates : at least one; those that may be chosen.
    rule : "best": largest Q². "one_se": the simplest whose Q² is behind the best by no more than
        the standard error of that difference over the folds. "share": fewest non-zeros that keep a
        share of the best Q². "ebic": smallest EBIC.
    share : the share of that rule.
    """
    if rule == "ebic":
        chosen = min(candidates, key=lambda each: (each.ebic, each.simplicity))
        why, is_worse = f"{_verb(chosen, 'have')} the smallest EBIC", (chosen.ebic or 0.0) > 0.0
    else:
        chosen, why = _by_prediction(candidates, rule, share)
        is_worse = chosen.q2 < 0.0
    if chosen.n_components == 0:
        return Choice(chosen, f"No component: {_why_none(candidates, rule)}.")
    if len(candidates) == 1:
        measure = f"EBIC {chosen.ebic:.1f}" if rule == "ebic" else f"Q² {chosen.q2:.3f}"
        said = f"{chosen}: no other numbers were tried ({measure})."
    else:
        said = f"{chosen} {why}."
    return Choice(chosen, f"{said} That is worse than no component at all." if is_worse else said)


def _by_prediction(
    candidates: Sequence[Candidate], rule: str, share: float
) -> tuple[Candidate, str]:
    """What a rule prefers that goes by Q², and why."""
    best = max(sorted(candidates, key=_simplicity), key=lambda each: each.q2)
    top = f"the best Q² ({best.q2:.3f}, {best})"
    if rule == "best":
        return best, f"{_verb(best, 'predict')} held-out cells best (Q² {best.q2:.3f})"
    if rule == "share":
        least = share * best.q2 if best.q2 > 0.0 else best.q2
        chosen = min((each for each in candidates if each.q2 >= least), key=_simplicity)
        why = f"{_verb(chosen, 'have')} the fewest loadings that keep {share:.0%} of {top}"
        return chosen, f"with Q² {chosen.q2:.3f} {why}"
    chosen = min((each for each in candidates if _is_close(each, best)), key=_simplicity)
    if chosen is best:
        why = f"the best Q² ({best.q2:.3f}), and nothing simpler is within one standard error"
        return best, f"{_verb(best, 'have')} {why}"
    why = f"{_verb(chosen, 'have')} the fewest loadings within one standard error of {top}"
    return chosen, f"with Q² {chosen.q2:.3f} {why}"


def _why_none(candidates: Sequence[Candidate], rule: str) -> str:
    """Why no component is chosen."""
    if rule == "ebic":
        return "by EBIC none explains enough for its loadings"
    best = max(candidates, key=lambda each: each.q2)
    if best.q2 <= 0.0:
        return "no component predicts better than the mean"
    at_best = f"Q² is {best.q2:.3f} at best, {best}"
    if rule == "share":
        return f"the share that is to be kept is had without any ({at_best})"
    return f"none predicts better than the mean by more than one standard error ({at_best})"


def _simplicity(candidate: Candidate) -> tuple[int, int]:
    return candidate.simplicity


def _is_close(candidate: Candidate, best: Candidate) -> bool:
    """Whether it is behind the best by no more than the standard error of the difference.

    Folds differ much more in what any model predicts of them than models differ in one fold, so
    the error of the difference is far smaller than that of either.
    """
    if candidate.scores is None or best.scores is None:
        return candidate is best
    return best.q2 - candidate.q2 <= standard_error(best.scores - candidate.scores)


def _verb(chosen: Candidate, several: str) -> str:
    """The verb for several components, or for one."""
    one = {"have": "has", "predict": "predicts"}
    return one[several] if chosen.n_components == 1 else several
