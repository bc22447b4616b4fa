"""The pitprops correlations, the oldest benchmark of sparse PCA."""

import numpy as np
from sklearn.utils import Bunch

_FEATURE_NAMES = (
    "topdiam",
    "length",
    "moist",
    "testsg",
    "ovensg",
    "ringtop",
    "ringbut",
    "bowmax",
    "bowdist",
    "whorls",
    "clear",
    "knots",
    "diaknot",
)

_N_SAMPLES = 180

# Row i holds the correlations of variable i + 1 with the variables before it.
_BELOW_DIAGONAL = """
 .954
 .364  .297
 .342  .284  .882
-.129 -.118 -.148  .220
 .313  .291  .153  .381  .364
 .496  .503 -.029  .174  .296  .813
 .424  .419 -.054 -.059  .004  .090  .372
 .592  .648  .125  .137 -.039  .211  .465  .482
 .545  .569 -.081 -.014  .037  .274  .679  .557  .526
 .084  .076  .162  .097 -.091 -.036 -.113  .061  .085 -.319
-.019 -.036  .220  .169 -.145  .024 -.232 -.357 -.127 -.368  .029
 .134  .144  .126  .015 -.208 -.329 -.424 -.202 -.076 -.291  .007  .184
"""

_DESCRIPTION = """\
Pitprops correlations (Jeffers, 1967)

Thirteen measurements were taken on 180 pit props cut from Corsican pine. Only their
correlation matrix was published, to three decimals; the raw measurements were not.

topdiam   diameter of the top
length    length of the prop
moist     moisture content
testsg    specific gravity at the time of the test
ovensg    specific gravity after drying in an oven
ringtop   number of annual rings at the top
ringbut   number of annual rings at the butt
bowmax    largest bow
bowdist   distance from the top to the point of the largest bow
whorls    number of knot whorls
clear     length of clear wood from the top
knots     average number of knots in a whorl
diaknot   average diameter of the knots

Source: J. N. R. Jeffers (1967). Two case studies in the application of principal
component analysis. Applied Statistics 16(3), 225-236.
"""


def load_pitprops() -> Bunch:
    """Load the correlation matrix of the pitprops data.

    Returns
    -------
    data : sklearn.utils.Bunch
        With the entries

        correlation : ndarray of shape (13, 13)
            The published correlations, a fresh array on each call.
        feature_names : list of str
            Names of the thirteen variables, in the order of the matrix.
        n_samples : int
            Number of pit props measured, 180.
        DESCR : str
            What the variables are and where the numbers come from.

    References
    ----------
    J. N. R. Jeffers (1967). Two case studies in the application of principal component
    analysis. Applied Statistics 16(3), 225-236.

    Examples
    --------
    >>> from redac.datasets import load_pitprops
    >>> load_pitprops().correlation.shape
    (13, 13)
    """
    n_features = len(_FEATURE_NAMES)
    below = np.zeros((n_features, n_features))
    below[np.tril_indices(n_features, -1)] = [float(entry) for entry in _BELOW_DIAGONAL.split()]
    return Bunch(
        correlation=below + below.T + np.eye(n_features),
        feature_names=list(_FEATURE_NAMES),
        n_samples=_N_SAMPLES,
        DESCR=_DESCRIPTION,
    )
