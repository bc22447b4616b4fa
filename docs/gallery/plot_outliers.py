"""
Outliers: rows and cells that do not belong
===========================================

A decimal point in the wrong place moves least-squares components as far as it likes. With
``robust`` the fit finds such cells and rows, leaves them out, and names them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from redac import SparsePCA
from redac.plots import plot_heatmap, plot_outliers

# %%
# Fifteen sensors, 300 hours, generated: one cause moves the first five sensors, another one the
# next five, and the last five only rustle.

rng = np.random.default_rng(0)
names = [f"{kind} {i}" for kind in ("heat", "flow", "idle") for i in range(1, 6)]
causes = rng.standard_normal((300, 2)) * (2.0, 1.5)
clean = rng.standard_normal((300, 15))
clean[:, :10] += np.repeat(causes, 5, axis=1)
spoilt = pd.DataFrame(clean.copy(), columns=names)

# %%
# In twelve hours the power fluctuated, and all sensors with it; and six values are slips of the
# pen.

bad_rows = rng.choice(300, size=12, replace=False)
spoilt.iloc[bad_rows] += 12 * np.sign(rng.standard_normal((12, 15)))
good_rows = np.setdiff1d(np.arange(300), bad_rows)
slips = list(zip(rng.choice(good_rows, 6, replace=False), [1, 6, 10, 11, 12, 13], strict=True))
for row, column in slips:
    spoilt.iat[row, column] += 60

settings = {"n_components": 2, "cardinality": 5}
fits = {
    "clean": SparsePCA(**settings).fit(pd.DataFrame(clean, columns=names)),
    "spoilt": SparsePCA(**settings).fit(spoilt),
    "spoilt, robust": SparsePCA(**settings, robust="both").fit(spoilt),
}
figure, axes = plt.subplots(1, 3, figsize=(7.2, 4.6), sharey=True, layout="constrained")
for ax, (title, model) in zip(axes, fits.items(), strict=True):
    plot_heatmap(model, features=range(15), ax=ax, title=title)

# %%
# Which hours and which values were left out? In the picture, hours far from what the components
# can explain stand high.

robust = fits["spoilt, robust"]
_ = plot_outliers(robust)

# %%
lost = set(np.flatnonzero(robust.row_weights_ < 0.1))
wild = {(each.row, each.feature) for each in robust.outliers_table().itertuples()}
found = sum((row, names[column]) in wild or row in lost for row, column in slips)
print(f"{len(lost & set(bad_rows))} of {len(bad_rows)} bad hours were found,")
print(f"{len(lost - set(bad_rows))} good ones left out with them,")
print(f"{found} of {len(slips)} slips were found.")

# %%
# **Conclusion.** Least squares follow the spoilt values; the robust fit has the components of the
# clean table, and a list of what to look at. It is a cautious list: good hours that are a little
# far out are on it, too. To be left out does not mean to be wrong. Look before you delete.
