"""Other packages with sparse PCA, in one shape: ``python -m benchmarks.packages``."""
