"""
Gaps: a table with holes is still a table
=========================================

Measurements fail. ``SparsePCA`` takes NaN for a missing cell and fits the cells that are there.
How good are the values that it fills in, and do the components survive?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from redac import SparsePCA
from redac.metrics import pev

X = load_breast_cancer().data[:250]
X = (X - X.mean(axis=0)) / X.std(axis=0)
rng = np.random.default_rng(0)
whole = SparsePCA(n_components=4, cardinality=8).fit(X)

# %%
# More and more cells are taken away at random. What ``impute`` fills in is set against what stood
# there, beside the plainest filling there is: the mean of the column. And the components that were
# found from the holed table are asked what they explain of the whole one.


def error(filled, missing):
    """Root mean square of what was filled in, minus what stood there."""
    return np.sqrt(np.mean((filled - X)[missing] ** 2))


shares = [5, 10, 20, 30, 40, 50]
by_model, by_mean, explained = [], [], []
for share in shares:
    missing = rng.random(X.shape) < share / 100
    holed = np.where(missing, np.nan, X)
    model = SparsePCA(n_components=4, cardinality=8).fit(holed)
    by_model.append(error(model.impute(holed), missing))
    by_mean.append(error(np.where(missing, np.nanmean(holed, axis=0), X), missing))
    explained.append(pev(X, model.components_))

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.plot(shares, by_mean, "s--", color="C1", label="mean of the column")
left.plot(shares, by_model, "o-", color="C0", label="redac")
left.set(xlabel="missing cells, %", ylabel="error of filled cells", ylim=(0, 1.15))
left.legend(frameon=False)
right.axhline(pev(X, whole.components_), color="0.5", ls="--", label="found without gaps")
right.plot(shares, explained, "o-", color="C0", label="found with gaps")
right.set(xlabel="missing cells, %", ylabel="explained of the whole table, %", ylim=(0, 70))
_ = right.legend(frameon=False, loc="lower left")

# %%
print(f"no gaps: {pev(X, whole.components_):.1f} % explained")
for row in zip(shares, by_model, by_mean, explained, strict=True):
    print("{:2} % missing: error {:.2f} (means {:.2f}), {:.1f} % explained".format(*row))

# %%
# **Conclusion.** With a fifth of the table gone the components explain nearly as much of the whole
# table as those that saw all of it, and filled cells are closer to the truth than means. All of
# that holds for cells that are missing at random: a value that is missing *because* it was too
# small to be measured is not such a cell.
