"""What other packages print beside what redac finds: ``python -m benchmarks.published``."""
