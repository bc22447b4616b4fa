"""Data sets of the sparse PCA literature: shipped, simulated and fetched."""

from redac.datasets.colon import fetch_colon
from redac.datasets.faces import fetch_cbcl_faces
from redac.datasets.pitprops import load_pitprops
from redac.datasets.synthetic import make_hastie, make_nonnegative_toy, make_toy

__all__ = [
    "fetch_cbcl_faces",
    "fetch_colon",
    "load_pitprops",
    "make_hastie",
    "make_nonnegative_toy",
    "make_toy",
]
