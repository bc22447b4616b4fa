"""How far the proofs reach: ``python -m benchmarks.proofs``."""
