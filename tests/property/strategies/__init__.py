"""Random values, rows, scalars and well-typed relations for Hypothesis."""
