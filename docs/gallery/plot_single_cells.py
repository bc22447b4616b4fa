"""
Single cells: marker genes from sparse counts
=============================================

Counts of 1,500 genes in 2,000 cells, generated: five types of cells with twelve marker genes each.
Most counts are zero, so they are kept as a sparse matrix, which is never filled.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import sparse

from redac import SparsePCA
from redac.plots import plot_loadings, plot_scores

rng = np.random.default_rng(0)
n_cells, n_genes, n_types, n_markers = 2000, 1500, 5, 12
kind = rng.choice(n_types, size=n_cells, p=[0.35, 0.25, 0.2, 0.12, 0.08])
rate = rng.gamma(0.3, 0.5, size=n_genes)
rates = np.tile(rate, (n_types, 1))
for number in range(n_types):
    rates[number, n_markers * number : n_markers * (number + 1)] += 1.5
depth = rng.lognormal(0.0, 0.3, size=(n_cells, 1))
counts = sparse.csr_array(rng.poisson(rates[kind] * depth))
stored = 100 * counts.nnz / np.prod(counts.shape)
print(f"{stored:.0f} % of the counts are not zero")

# %%
# As is usual with such data, counts are divided by the total of their cell, and logarithms of 1 +
# x are taken: zeros stay zeros.

totals = counts.sum(axis=1)
X = (sparse.diags_array(np.median(totals) / totals) @ counts).log1p()
genes = [f"marker {j // n_markers + 1}.{j % n_markers + 1}" for j in range(n_types * n_markers)]
genes += [f"gene {j}" for j in range(len(genes), n_genes)]

model = SparsePCA(n_components=4, cardinality=12).fit(X, feature_names=genes)
_ = plot_loadings(model)

# %%
# Each component has the markers of one type of cells. Its cells stand out in the scores, although
# the fit did not know of types; the type that is left is at the crossing.

types = pd.Series(kind + 1, name="type")
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
for ax, pair in zip(axes, (("PC1", "PC2"), ("PC3", "PC4")), strict=True):
    plot_scores(model, X, components=pair, labels=types, ax=ax)

# %%
used = np.flatnonzero(model.components_.any(axis=0))
markers = int((used < n_types * n_markers).sum())
print(f"{len(used)} of {n_genes} genes have a loading; {markers} of them are markers")

# %%
# **Conclusion.** A short list of genes for each component, all of them true markers, from a matrix
# that was never made dense. With AnnData objects, ``redac.anndata.sparse_pca`` does the same and
# puts the results where scanpy looks for them. A marker that is missing from the list is not
# refuted: twelve places were given, and another marker of the same type may have taken it.
