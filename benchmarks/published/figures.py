"""The figures that msPCA 0.5.1 publishes of itself and of others, as they are printed.

They stand in ``vignettes/articles/benchmarking.Rmd`` of jeanpauphilet/msPCA, commit
b94fa1deec2992468fb329a916f9d5646d363d97, which also says how each package was set.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """One line of a printed table.

    Attributes
    ----------
    function : package and function, with its input where there are several.
    counts : non-zero loadings of each component.
    variances : sum of the variances of the components, each for itself, as a share of all.
    violation : sum of |v_iᵀv_j| over all pairs; 0 where less than 1e-15 is printed.
    """

    function: str
    counts: tuple[int, ...]
    variances: float
    violation: float


_FOURS = (4,) * 6
PRINTED = {
    "mtcars": (
        Printed("msPCA::mspca (matrix)", (4, 4, 4), 0.829, 9.4e-5),
        Printed("elasticnet::spca (matrix)", (4, 4, 4), 0.753, 0.117),
        Printed("elasticnet::spca (data)", (4, 4, 4), 0.754, 0.117),
        Printed("PMA::SPC", (4, 4, 5), 0.551, 0.221),
        Printed("sparsepca::spca", (6, 4, 1), 0.581, 0.133),
        Printed("mixOmics::spca", (4, 4, 4), 0.633, 0.133),
        Printed("nsprcomp::nsprcomp", (4, 4, 4), 0.832, 0.078),
        Printed("nsprcomp::nscumcomp", (5, 5, 2), 0.824, 1.1e-5),
        Printed("amanpg::spca.amanpg", (4, 4, 1), 0.544, 0.047),
        Printed("scikit-learn SparsePCA", (4, 3, 4), 0.827, 0.0),
        Printed("PCA", (11, 11, 11), 0.899, 0.0),
    ),
    "pitprops, their matrix": (
        Printed("msPCA::mspca (matrix)", _FOURS, 0.791, 9.7e-5),
        Printed("msPCA::mspca (data)", _FOURS, 0.794, 9.4e-5),
        Printed("elasticnet::spca (matrix)", _FOURS, 0.792, 0.241),
        Printed("elasticnet::spca (data)", _FOURS, 0.790, 0.322),
        Printed("PMA::SPC", (3, 4, 4, 4, 3, 4), 0.714, 0.491),
        Printed("sparsepca::spca", (7, 3, 4, 2, 4, 4), 0.756, 0.353),
        Printed("mixOmics::spca", _FOURS, 0.788, 0.215),
        Printed("nsprcomp::nsprcomp", _FOURS, 0.816, 0.563),
        Printed("nsprcomp::nscumcomp", (5, 6, 5, 2, 4, 2), 0.819, 5.1e-5),
        Printed("amanpg::spca.amanpg", (3, 3, 4, 3, 4, 6), 0.863, 1.654),
        Printed("scikit-learn SparsePCA", (7, 3, 4, 3, 5, 4), 0.907, 0.815),
        Printed("PCA", (13,) * 6, 0.877, 0.0),
    ),
    "riboflavin": (
        Printed("msPCA::mspca (data)", (20, 20), 0.008, 0.0),
        Printed("elasticnet::spca (data)", (20, 20), 0.004, 0.0),
        Printed("mixOmics::spca", (20, 20), 0.006, 0.0),
        Printed("nsprcomp::nsprcomp", (20, 20), 0.009, 0.0),
        Printed("PCA", (4088, 4088), 0.478, 0.0),
    ),
}
