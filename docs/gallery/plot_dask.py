"""
Dask: data that no memory holds
===============================

A Dask array is a recipe: blocks of rows that are made, or read, when they are needed. ``fit``
takes it as it is, and reads each block once.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from redac import SparsePCA

# %%
# 200,000 rows of 60 columns in ten blocks, made by the tasks themselves: nothing is in memory
# before the fit, and after it only what it has learned. In the columns there are three groups of
# six, and the second of them drifts from block to block.


def block(block_info):
    """One block of rows, from a seed of its own."""
    (first, last), _ = block_info[None]["array-location"]
    rng = np.random.default_rng(first)
    rows = rng.standard_normal((last - first, 60))
    causes = rng.standard_normal((last - first, 3)) * (1.5, 1.2, 1.0)
    causes[:, 1] += np.sin(first / 20_000)
    rows[:, :18] += np.repeat(causes, 6, axis=1)
    return rows


X = da.map_blocks(block, chunks=((20_000,) * 10, (60,)), dtype=float, meta=np.empty((0, 0)))
model = SparsePCA(n_components=3, cardinality=6).fit(X)
print(f"{X.nbytes / 1e6:.0f} MB in {X.numblocks[0]} blocks, read {model.n_passes_} time")
for number, row in enumerate(model.components_, start=1):
    print(f"PC{number}: columns {np.flatnonzero(row).tolist()}")

# %%
# Scores are a recipe, too: a Dask array of which nothing is computed until somebody asks. Asked
# for are the means of the blocks, which show the drift.

scores = model.transform(X)
means = np.array(da.compute(*[block.mean(axis=0) for block in scores.blocks.ravel()]))

figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for number, style in enumerate(("s--", "o-", "^:")):
    ax.plot(means[:, number], style, label=f"PC{number + 1}")
ax.set(xlabel="block of rows", ylabel="mean score", xticks=range(10))
_ = ax.legend(frameon=False)

# %%
# Are these the components of the same array in memory?

local = SparsePCA(n_components=3, cardinality=6).fit(X.compute())
difference = np.abs(local.components_ - model.components_).max()
print(f"largest difference of a loading: {difference:.0e}")

# %%
# **Conclusion.** One reading of the data is enough, and blocks change nothing about the result.
# With a cluster the same line runs on its workers. One reading is for up to 2,000 columns; of
# more, the data are read some times more, and ``n_passes_`` says how often.
