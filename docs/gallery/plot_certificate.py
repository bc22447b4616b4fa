"""
A proof: could any other loadings explain more?
===============================================

Sparse components end in a local optimum, with every method. A certificate says how much better the
best possible ones could be, with a proof behind it.
"""

import matplotlib.pyplot as plt

from redac import SparsePCA
from redac.datasets import load_pitprops
from redac.methods import sparse_pca
from redac.metrics import pev
from redac.plots import plot_scree

correlation = load_pitprops().correlation
cardinality = (7, 2, 3, 1, 1, 1)

# %%
# Thirteen measurements of pit props, six components with fifteen loadings in all. The dashed line
# is the bound: nothing with these numbers of loadings can pass it.

model = SparsePCA(n_components=6, cardinality=cardinality).fit_covariance(correlation)
proof = model.certificate(time_limit=20)
_ = plot_scree(model, certificate=proof)

# %%
print(f"explained {proof.value:.2f} %, bound {proof.upper_bound:.2f} %, proved: {proof.proved}")

# %%
# Other methods with the same numbers of loadings, below the same bound. What is missing to the
# bound is what they have left lying about.

names = ("redac_l0", "gspca", "pathspca", "rsvd_l0", "empca", "thresholding", "spca")
found = {
    name: pev(
        correlation,
        sparse_pca(correlation, name, 6, cardinality=cardinality, covariance=True, random_state=0),
        covariance=True,
    )
    for name in names
}
figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
ax.barh(list(found)[::-1], list(found.values())[::-1], color="C0")
ax.axvline(proof.upper_bound, color="0.3", linestyle="--", label="proved bound")
ax.set(xlim=(70, 82), xlabel="explained variance, % (the axis begins at 70)")
figure.legend(frameon=False, loc="outside upper right")

# %%
for name, value in found.items():
    print(f"{name:12} {value:.2f} %, at most {proof.upper_bound - value:5.2f} points left")

# %%
# **Conclusion.** Here the search is over: nothing better exists. A bound that is not reached says
# less: either something better exists, or the bound is too high, and only a longer search or a
# finer bound can tell. And the proof is about explained variance alone, not about what is worth
# reading.
