"""
How many components, how many features?
=======================================

More of either always explains more of the data at hand, so explained variance cannot say when to
stop. Cells that were held out can. Here the truth is known: four components of six features.
"""

import warnings

import numpy as np

from redac import SparsePCACV
from redac.plots import plot_path

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 30))
for number in range(4):
    X[:, 6 * number : 6 * number + 6] += 1.2 * rng.standard_normal((120, 1))

# %%
# ``SparsePCACV`` predicts each cell of held-out rows from the *other* cells of its row. Q² is the
# share of the squared error that is saved; a component made of noise harms it.

model = SparsePCACV(n_components=(2, 3, 4, 5, 6), cardinality=(3, 6, 9, 15)).fit(X)
_ = plot_path(model)

# %%
# Dashed lines, explained variance, go on rising; solid ones turn.

print(model.reason_)

# %%
# What does it choose where there is nothing to be found?

noise = rng.standard_normal((120, 30))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of no components, which is the right answer here
    nothing = SparsePCACV(n_components=(1, 2), cardinality=(3, 6, 15)).fit(noise)
print(nothing.reason_)

# %%
# **Conclusion.** The truth is found, and pure noise gives no component at all. In real data there
# may be no such numbers: where Q² rises up to the end of what was tried, the answer says so, and
# the question is how many features one is willing to read.
