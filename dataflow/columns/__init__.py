"""Columns: immutable vectors of one SQL type, their hashes, their order, and exact grouping of rows."""
