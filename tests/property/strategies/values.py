"""Random values. Pools are small, so that keys meet."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal

from hypothesis import strategies as st

from pillion.messages.scalars import Literal, Value
from pillion.messages.types import ColumnType, SqlType

_POOLS: dict[SqlType, list[Value]] = {
    SqlType.BOOLEAN: [False, True],
    SqlType.SMALLINT: [-1, 0, 1, 2],
    SqlType.INTEGER: [-1, 0, 1, 2],
    SqlType.BIGINT: [-2, -1, 0, 1, 2, 3],
    SqlType.REAL: [0.0, 0.5, -1.5],
    SqlType.DOUBLE: [0.0, -0.0, 1.0, 2.5, -3.25, float("nan")],
    SqlType.NUMERIC: [Decimal("0"), Decimal("1"), Decimal("-2.50"), Decimal("0.000000001")],
    SqlType.TEXT: ["", "a", "b", "ab"],
    SqlType.BYTEA: [b"", b"\x00", b"\xff\x01"],
    SqlType.DATE: [datetime.date(2013, 1, 31), datetime.date(1969, 12, 31)],
    SqlType.TIMESTAMP: [datetime.datetime(2013, 1, 31, 12, 30), datetime.datetime(2013, 1, 31, 0, 0, 0, 1)],
}


def values(type: ColumnType) -> st.SearchStrategy[Value]:
    """A value of a column."""
    some = st.sampled_from(_POOLS[type.type])
    return st.one_of(some, some, st.none()) if type.nullable else some


def rows(types: Sequence[ColumnType]) -> st.SearchStrategy[tuple[Value, ...]]:
    """A row of columns of these types."""
    return st.tuples(*[values(type) for type in types])


def literals(type: ColumnType) -> st.SearchStrategy[Literal]:
    """A constant."""
    return values(type).map(lambda value: Literal.of(value, type.type))


def column_types(types: Sequence[SqlType]) -> st.SearchStrategy[ColumnType]:
    """The type of a column."""
    return st.builds(ColumnType, st.sampled_from(types), st.booleans())
