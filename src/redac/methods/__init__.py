"""The methods that ReDaC is compared with, in one shape:

data and cardinalities in, components out.
"""

from redac.methods.description import describe_method
from redac.methods.method_pca import MethodPCA
from redac.methods.registry import available_methods, sparse_pca

__all__ = ["MethodPCA", "available_methods", "describe_method", "sparse_pca"]
