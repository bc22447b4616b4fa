"""
Explained variance that is counted once
=======================================

Sparse components may be correlated. The variances of their scores then count what they share more
than once, and the sum may pass that of PCA, or even 100 %. What redac reports adds up.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from redac import SparsePCA
from redac.metrics import explained_variance_ratio, pev
from redac.plots import plot_overlap

X = load_breast_cancer().data
X = (X - X.mean(axis=0)) / X.std(axis=0)

# %%
# Five components that a careless method might give: means of seven measurements that go along with
# the first principal axis, the seven strongest, the seven from the second one on, and so forth.

axis = SparsePCA(n_components=1).fit(X).components_[0]
strongest = np.argsort(-np.abs(axis))
careless = np.zeros((5, X.shape[1]))
for number, row in enumerate(careless):
    row[strongest[number : number + 7]] = 7**-0.5
model = SparsePCA(n_components=5, cardinality=7).fit(X)

definitions = ("raw", "qr", "projection")
figure, ax = plt.subplots(figsize=(6.8, 3.6), layout="constrained")
for name, components, shift in (("careless", careless, -0.2), ("redac", model.components_, 0.2)):
    sums = [
        100 * explained_variance_ratio(X, components, definition=each).sum() for each in definitions
    ]
    bars = ax.bar(np.arange(3) + shift, sums, width=0.38, label=name)
    ax.bar_label(bars, fmt="%.0f")
    print(f"{name:9}" + ", ".join(f"{d} {s:.1f}" for d, s in zip(definitions, sums, strict=True)))
pca = pev(X, SparsePCA(n_components=5).fit(X).components_)
ax.axhline(pca, color="0.4", linestyle="--", label="PCA, the most there is")
ax.set(
    xticks=range(3), xticklabels=definitions, ylabel="sum of explained variance, %", ylim=(0, 108)
)
figure.legend(frameon=False, loc="outside upper center", ncols=3)

# %%
# What the components have in common: correlations of the scores, and inner products of the
# loadings.

_ = plot_overlap(careless)
_ = plot_overlap(model)

# %%
# **Conclusion.** By raw variances the careless components seem to explain more than is possible
# with five components; by projection, which is what redac reports, they are unmasked. Whoever
# compares figures of two programs must first ask which definition each has.
