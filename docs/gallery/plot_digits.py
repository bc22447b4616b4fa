"""
Digits: parts instead of wholes
===============================

Each image of a handwritten digit has 8 × 8 pixels. Principal components of them are whole digits,
added and subtracted. Sparse components without negative loadings are parts: strokes that are there
or not.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from redac import SparsePCA
from redac.metrics import pev

pixels = load_digits().data
dense = SparsePCA(n_components=12).fit(pixels)
parts = SparsePCA(n_components=12, cardinality=8, nonnegative=True).fit(pixels)

# %%
# The loadings as images: purple is positive, orange negative, white has no loading.

figure, axes = plt.subplots(4, 6, figsize=(7.2, 5.2), layout="constrained")
for half, (name, model) in enumerate((("PCA", dense), ("parts", parts))):
    for number, ax in enumerate(axes[2 * half : 2 * half + 2].flat):
        image = model.components_[number].reshape(8, 8)
        limit = abs(image).max()
        ax.imshow(image, cmap="PuOr", vmin=-limit, vmax=limit)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"PC{number + 1}", fontsize="small")
    for line in (2 * half, 2 * half + 1):
        axes[line, 0].set_ylabel(name)

# %%
# What does it cost? PEV is the share of the variance, in percent, that the components give back.

for name, model in (("PCA", dense), ("parts", parts)):
    used, negative = (model.components_ != 0).sum(), (model.components_ < 0).sum()
    print(
        f"{name:5} {used} loadings, {negative} negative, PEV {pev(pixels, model.components_):.1f}"
    )

# %%
# Some digits, each given back from its twelve scores:

figure, axes = plt.subplots(3, 8, figsize=(7.2, 3.0), layout="constrained")
rows = {"image": pixels}
for name, model in (("PCA", dense), ("parts", parts)):
    rows[name] = model.inverse_transform(model.transform(pixels[:8]))
for line, (name, images) in zip(axes, rows.items(), strict=True):
    line[0].set_ylabel(name)
    for ax, image in zip(line, images, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="Greys", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])

# %%
# **Conclusion.** Most parts are patches of neighbouring pixels, although nothing told the fit
# which pixels are neighbours, and digits made of them can be read as well as those of PCA with
# eight times the loadings. Nonnegative *loadings* do not make nonnegative *scores*: a score below
# zero means less of a part than the mean image has.
