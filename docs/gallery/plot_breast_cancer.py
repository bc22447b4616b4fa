"""
Breast cancer: which measurements would half of the patients confirm?
=====================================================================

Thirty measurements of cell nuclei go together in families: size, shape, smoothness. A sparse
component names a family. Would other patients have given the same names?
"""

from sklearn.datasets import load_breast_cancer

from redac import SparsePCA, stability
from redac.plots import plot_heatmap, plot_stability

cells = load_breast_cancer(as_frame=True).data
model = SparsePCA(n_components=3, cardinality=6, standardize=True).fit(cells)
_ = plot_heatmap(model)

# %%
# The fit is repeated with 20 random halves of the patients. Components are matched, and it is
# counted how often a half gives a measurement a loading in the same component.

steady = stability(cells, 3, cardinality=6, standardize=True, n_resamples=20, random_state=0)
_ = plot_stability(steady)

# %%
print(steady.summary())

# %%
# Size and shape are beyond doubt. The third component is not: some of its places change hands
# between measurements that say nearly the same. So much do the measurements share that others
# follow from the scores, too:

given = 100 * model.explained_variance_ratio_.sum()
about = 100 * model.regressed_variance_ratio_
print(f"{given:.0f} % of the variance is given back by the loadings alone;")
print(f"{about:.0f} % when all thirty measurements are regressed on the three scores.")

# %%
# **Conclusion.** Eighteen loadings tell what the thirty measurements are about, and the picture
# says which of the names to lean on. A measurement *without* a loading need not be unimportant: it
# may be the twin of one that has one.
