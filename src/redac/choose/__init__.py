"""How many components and features: paths of solutions, a choice among them, and its stability."""
