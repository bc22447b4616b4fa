"""The estimator: scikit-learn's conventions around the solver."""
