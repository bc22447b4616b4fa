"""
Wine: which substances make the difference?
===========================================

Thirteen substances were measured in 178 wines. Three components of four substances each say which
of them go together.
"""

from sklearn.datasets import load_wine

from redac import SparsePCA
from redac.plots import plot_loadings

wine = load_wine(as_frame=True).data
model = SparsePCA(n_components=3, cardinality=4, standardize=True).fit(wine)
print(model.loadings_table().round(2).to_string(na_rep=""))

# %%
# The same as a picture.

_ = plot_loadings(model)
