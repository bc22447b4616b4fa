"""From a starting point to a solution."""
