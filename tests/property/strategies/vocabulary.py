"""What random plans are made of."""

from __future__ import annotations

from dataclasses import dataclass

from pillion.messages.types import SqlType


@dataclass(frozen=True)
class Vocabulary:
    """The types, functions and operators that a strategy may use.

    ``failing``: expressions that fail for some rows (division by zero). ``negative``: ``Negate`` on its own, whose rows
    have negative multiplicities; without, only below a ``Threshold`` as in EXCEPT. ``text_functions``: functions of
    texts by name, each from texts to a text.
    """

    types: tuple[SqlType, ...]
    aggregates: tuple[str, ...]
    text_functions: tuple[str, ...] = ()
    failing: bool = False
    negative: bool = False


EXACT = Vocabulary(
    types=(SqlType.BIGINT, SqlType.INTEGER, SqlType.TEXT, SqlType.BOOLEAN, SqlType.DOUBLE),
    aggregates=("count", "sum", "min", "max", "any", "all", "avg"),
)
"""What the oracle evaluates, without errors."""

FAILING = Vocabulary(EXACT.types, EXACT.aggregates, failing=True)
"""What the oracle evaluates, with rows that fail."""

EVERYTHING = Vocabulary(
    types=tuple(SqlType),
    aggregates=(*EXACT.aggregates, "string_agg", "median", "percentile", "stddev", "variance"),
    text_functions=("upper", "lower", "trim", "concat", "||"),
    failing=True,
    negative=True,
)
"""All there is, for what does not evaluate plans."""
