"""
Gene expression: pathways that are active together
==================================================

A study of 80 patients and 2,000 genes. Three pathways of 30 genes each are active to a different
degree in each patient, and a patient with more of one often has more of the others; the other
1,910 genes are noise. These data are generated, so that it is known which genes should be found.
"""

import matplotlib.pyplot as plt
import numpy as np

from redac import SparsePCA
from redac.methods import sparse_pca

rng = np.random.default_rng(0)
n_patients, n_genes, n_pathways, size = 80, 2000, 3, 30
common = rng.standard_normal((n_patients, 1))
activity = 0.7 * common + rng.standard_normal((n_patients, n_pathways))
expression = rng.standard_normal((n_patients, n_genes))
expression[:, : size * n_pathways] += np.repeat(activity, size, axis=1)

# %%
# Three components of 30 genes each; and, to compare, what one does by hand: principal components
# of which the 30 largest loadings are kept.

model = SparsePCA(n_components=3, cardinality=30).fit(expression)
cut = sparse_pca(expression, "thresholding", 3, cardinality=30)

# %%
# The loadings of the first 120 genes: 30 of each pathway, and 30 of the others.

figure, axes = plt.subplots(2, 1, figsize=(7.2, 4.4), sharex=True, layout="constrained")
for ax, name, components in ((axes[0], "redac", model.components_), (axes[1], "cut PCA", cut)):
    for number, row in enumerate(components):
        genes = np.flatnonzero(row[:120])
        colour, shift = f"C{number}", 0.25 * (number - 1)
        ax.vlines(genes + shift, 0, row[genes], color=colour, label=f"PC{number + 1}")
    for border in (29.5, 59.5, 89.5):
        ax.axvline(border, color="0.7", linestyle=":")
    ax.set(title=name, ylabel="loading")
axes[1].set_xlabel("gene")
_ = axes[0].legend(frameon=False, ncols=3, loc="lower right", bbox_to_anchor=(1.0, 1.0))

# %%
# How pure is each component: of its 30 genes, how many are of one and the same pathway?

for name, components in (("redac", model.components_), ("cut PCA", cut)):
    genes = [np.flatnonzero(row) for row in components]
    pure = [int(np.bincount(each[each < 90] // size).max()) for each in genes]
    print(f"{name:8} genes of one pathway in each component: {pure}")

# %%
# **Conclusion.** Principal components are uncorrelated by force, so pathways that go together are
# mixed in each of them, and cutting small loadings away does not undo that. Sparse components may
# be correlated; here each is one pathway:

print(f"Correlation of PC1 and PC2: {model.score_correlations_[0, 1]:.2f}")

# %%
# The number 30 was known here. Where it is not, see the example on choosing the numbers; and in
# real data pathways overlap and have no sharp border.
