"""
A portfolio: factors that obey the rules of a fund
==================================================

Two years of daily returns of 24 shares in six sectors, generated: a market factor moves all of
them, and each sector has a factor of its own. A fund wants factors that it could hold: no negative
weight, at most two shares of a sector, and one share never.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from redac import SparsePCA
from redac.plots import plot_heatmap

rng = np.random.default_rng(0)
sectors = ["bank", "chip", "drug", "energy", "food", "media"]
shares = [f"{sector}_{letter}" for sector in sectors for letter in "ABCD"]
n_days = 500
market = 0.010 * rng.standard_t(5, size=(n_days, 1))
own = 0.008 * rng.standard_normal((n_days, len(sectors)))
rest = 0.006 * rng.standard_normal((n_days, len(shares)))
returns = pd.DataFrame(market + np.repeat(own, 4, axis=1) + rest, columns=shares)
sector_of = {share: share.split("_")[0] for share in shares}

# %%
# Without rules, and with them. ``disjoint`` keeps a share out of all components but one, so that
# two factors can be held at once.

rules = {
    "nonnegative": True,
    "exclude": ["media_D"],
    "groups": sector_of,
    "max_per_group": 2,
    "disjoint": True,
}
free = SparsePCA(n_components=3, cardinality=6).fit(returns)
ruled = SparsePCA(n_components=3, cardinality=6, **rules).fit(returns)

figure, axes = plt.subplots(1, 2, figsize=(8.4, 6.4), sharey=True, layout="constrained")
for ax, model, name in ((axes[0], free, "no rules"), (axes[1], ruled, "rules of the fund")):
    share = 100 * model.explained_variance_ratio_.sum()
    plot_heatmap(model, features=range(24), ax=ax, title=f"{name}: {share:.1f} % of the variance")

# %%
# Nothing was broken:

for number, row in enumerate(ruled.components_, start=1):
    held = [shares[j] for j in np.flatnonzero(row)]
    most = pd.Series(held).map(sector_of).value_counts().max()
    print(f"PC{number}: {len(held)} shares, at most {most} of a sector: {', '.join(held)}")

# %%
# What do the rules cost? Each one alone, in points of explained variance:

best = 100 * free.explained_variance_ratio_.sum()
for name, rule in {
    "no negative weight": {"nonnegative": True},
    "never media_D": {"exclude": ["media_D"]},
    "two of a sector": {"groups": sector_of, "max_per_group": 2},
    "no share twice": {"disjoint": True},
    "all together": rules,
}.items():
    model = SparsePCA(n_components=3, cardinality=6, **rule).fit(returns)
    print(f"{name:19} {100 * model.explained_variance_ratio_.sum() - best:+.2f}")

# %%
# **Conclusion.** A rule is one argument, by name, and is kept exactly; its price can be read off.
# Here the dear rule is the one on sectors, since a sector is what shares have most in common
# beside the market. Loadings are not yet weights of a portfolio: they say which shares move
# together in the past, nothing of what they will earn.
