"""Sparse principal components that a person can read."""
