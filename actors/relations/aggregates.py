"""Aggregates as functions: ``sum("amount")`` is ``col("amount").sum()``. Names of columns or expressions."""

from __future__ import annotations

from .expressions import Expression, as_column
from .nodes import Aggregation


def count(column: Expression | str | None = None) -> Expression:
    """How many rows the group has; with a column, how many have a value there (not NULL)."""
    return Expression(Aggregation("count", None)) if column is None else as_column(column).count()


def count_distinct(column: Expression | str) -> Expression:
    """How many different values the group has there, NULL not counted."""
    return as_column(column).n_unique()


n_unique = count_distinct


def sum(column: Expression | str) -> Expression:
    """The sum, NULLs left out; NULL when there is nothing to add up."""
    return as_column(column).sum()


def min(column: Expression | str) -> Expression:
    """The least value."""
    return as_column(column).min()


def max(column: Expression | str) -> Expression:
    """The greatest value."""
    return as_column(column).max()


def avg(column: Expression | str) -> Expression:
    """The average."""
    return as_column(column).mean()


mean = avg


def any(column: Expression | str) -> Expression:
    """Whether a condition is true for some row of the group."""
    return as_column(column).any()


def all(column: Expression | str) -> Expression:
    """Whether a condition is true for every row of the group that has a value."""
    return as_column(column).all()


def string_agg(column: Expression | str, separator: str = ",") -> Expression:
    """The texts of the group in their order, joined."""
    return as_column(column).string_agg(separator)


def median(column: Expression | str) -> Expression:
    """The middle value, as a double."""
    return as_column(column).median()


def percentile(column: Expression | str, fraction: float) -> Expression:
    """The value below which this fraction (0 … 1) of the group lies, interpolated, as a double."""
    return as_column(column).percentile(fraction)


def std(column: Expression | str) -> Expression:
    """The sample standard deviation."""
    return as_column(column).std()


def var(column: Expression | str) -> Expression:
    """The sample variance."""
    return as_column(column).var()
