"""Random fits, files and models, each checked against what must always hold.

``python -m benchmarks.fuzz --help`` says how to run it.
"""
