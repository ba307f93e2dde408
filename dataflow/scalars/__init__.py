"""Scalar expressions over columns: types, compilation into closures, evaluation with row-level errors."""
