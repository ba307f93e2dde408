"""Reduction: groups of rows to one row of aggregates each, maintained incrementally."""
