"""Python values to columns, with errors that name the row and the column.

Written for the single row as much as for the many: a column whose values all have the expected class goes to NumPy
or Arrow in one call, and only when that does not work is every value looked at.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from types import NoneType
from typing import Any, cast

import numpy as np
import pyarrow as pa

from ...dataflow.columns.column import DTYPES, ArrowColumn, Column, FixedColumn
from ...messages.literals import INTEGER_BITS
from ...messages.scalars import Value
from ...messages.types import NUMERIC_PRECISION, NUMERIC_SCALE, Field, SqlType
from ..relations.types import is_valid_text

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)
_REAL_MAX = float(np.finfo(np.float32).max)
_MISSING = frozenset({"NAType", "NaTType"})
"""The classes of pandas' markers for a missing value."""

_CLASSES: dict[SqlType, frozenset[type]] = {
    SqlType.BOOLEAN: frozenset({bool}),
    SqlType.SMALLINT: frozenset({int}),
    SqlType.INTEGER: frozenset({int}),
    SqlType.BIGINT: frozenset({int}),
    SqlType.REAL: frozenset({float}),
    SqlType.DOUBLE: frozenset({float, int}),
    SqlType.NUMERIC: frozenset({Decimal}),
    SqlType.TEXT: frozenset({str}),
    SqlType.BYTEA: frozenset({bytes}),
    SqlType.DATE: frozenset({datetime.date}),
    SqlType.TIMESTAMP: frozenset({datetime.datetime}),
}
"""The classes of values that need no conversion one by one."""


class BadValue(Exception):
    """A value that a column does not take: which row (from 0), and what is wrong with it."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row
        self.problem = problem


def column_of(values: Sequence[Any], field: Field) -> Column:
    """A column of these values.

    Raises:
        BadValue: the first value that is not one of the field's type, or NULL where none may be.
    """
    classes = set(map(type, values))
    has_nulls = NoneType in classes
    classes.discard(NoneType)
    if classes <= _CLASSES[field.type] and (field.nullable or not has_nulls):
        try:
            return _with_nulls(values, field) if has_nulls else _MAKERS[field.type](values, field.type)
        except (pa.ArrowException, OverflowError, ValueError, TypeError):
            pass  # Looking at each value finds the one that is wrong, or converts it (a time zone).
    checked = [_checked(row, value, field) for row, value in enumerate(values)]
    if None in checked:
        return _with_nulls(checked, field)
    return _MAKERS[field.type](checked, field.type)


def _with_nulls(values: Sequence[Any], field: Field) -> Column:
    valid = np.array([value is not None for value in values], np.bool_)
    if field.type not in DTYPES:
        return _arrow(values, field.type)
    stand_in = _STAND_IN[field.type]
    filled = _MAKERS[field.type]([stand_in if value is None else value for value in values], field.type)
    assert isinstance(filled, FixedColumn), "every type in DTYPES is fixed"
    return FixedColumn(field.type, filled.values, valid)


def _numbers(values: Sequence[Any], type: SqlType) -> Column:
    return FixedColumn(type, np.array(values, DTYPES[type]))


def _reals(values: Sequence[Any], type: SqlType) -> Column:
    doubles = np.array(values, np.float64)
    if (np.isfinite(doubles) & (np.abs(doubles) > _REAL_MAX)).any():
        raise OverflowError
    return FixedColumn(type, doubles.astype(np.float32))


def _dates(values: Sequence[Any], type: SqlType) -> Column:
    return FixedColumn(type, np.array([value.toordinal() - _EPOCH_DAY for value in values], np.int32))


def _timestamps(values: Sequence[Any], type: SqlType) -> Column:
    return FixedColumn(type, np.array([(value - _EPOCH) // _MICROSECOND for value in values], np.int64))


def _arrow(values: Sequence[Any], type: SqlType) -> Column:
    return ArrowColumn(type, pa.array(values, type.arrow))


_MAKERS: dict[SqlType, Callable[[Sequence[Any], SqlType], Column]] = {
    SqlType.BOOLEAN: _numbers,
    SqlType.SMALLINT: _numbers,
    SqlType.INTEGER: _numbers,
    SqlType.BIGINT: _numbers,
    SqlType.REAL: _reals,
    SqlType.DOUBLE: _numbers,
    SqlType.NUMERIC: _arrow,
    SqlType.TEXT: _arrow,
    SqlType.BYTEA: _arrow,
    SqlType.DATE: _dates,
    SqlType.TIMESTAMP: _timestamps,
}

_STAND_IN: dict[SqlType, Any] = {
    SqlType.BOOLEAN: False,
    SqlType.SMALLINT: 0,
    SqlType.INTEGER: 0,
    SqlType.BIGINT: 0,
    SqlType.REAL: 0.0,
    SqlType.DOUBLE: 0.0,
    SqlType.DATE: _EPOCH.date(),
    SqlType.TIMESTAMP: _EPOCH,
}
"""What stands under a NULL."""


def _checked(row: int, value: Any, field: Field) -> Value:
    """The value as its type's own class.

    Raises:
        BadValue: there is none.
    """
    if value is None or type(value).__name__ in _MISSING:
        if field.nullable:
            return None
        raise BadValue(row, f"NULL was given, and the column takes none (declare it '{field.type}?' to allow it)")
    value = cast(Any, value.item() if isinstance(value, np.generic) else value)
    problem = "is no {type}"
    converted: Any = None
    match field.type:
        case SqlType.BOOLEAN:
            converted = value if isinstance(value, bool) else None
        case SqlType.SMALLINT | SqlType.INTEGER | SqlType.BIGINT:
            if isinstance(value, int) and not isinstance(value, bool):
                half = 1 << INTEGER_BITS[field.type] - 1
                converted = int(value) if -half <= value < half else None
                problem = f"is out of range for {{type}} ({-half} to {half - 1})"
            elif isinstance(value, float):
                problem = "is no {type}" + (": NaN is not NULL, use None" if math.isnan(value) else ", which is whole")
        case SqlType.REAL | SqlType.DOUBLE:
            converted, problem = _float(value, field.type)
        case SqlType.NUMERIC:
            converted, problem = _decimal(value)
        case SqlType.TEXT:
            converted = str(value) if isinstance(value, str) and is_valid_text(value) else None
        case SqlType.BYTEA:
            converted = bytes(cast(Any, value)) if isinstance(value, bytes | bytearray | memoryview) else None
        case SqlType.DATE:
            if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
                converted = datetime.date(value.year, value.month, value.day)
        case SqlType.TIMESTAMP:
            if isinstance(value, datetime.datetime):
                if value.tzinfo is not None:
                    value = value.astimezone(datetime.UTC)
                # Not just without its zone: a subclass (pandas') counts nanoseconds, which no timestamp here does.
                day = (value.year, value.month, value.day)
                converted = datetime.datetime(*day, value.hour, value.minute, value.second, value.microsecond)
    if converted is None:
        given = cast(object, value)
        raise BadValue(row, f"{_show(given)} ({type(given).__name__}) {problem.format(type=field.type)}")
    return converted


def _float(value: Any, to: SqlType) -> tuple[float | None, str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, "is no {type}"
    try:
        number = float(value)
    except OverflowError:
        return None, "is out of range for {type}"
    if to is SqlType.REAL and math.isfinite(number) and abs(number) > _REAL_MAX:
        return None, "is out of range for {type}"
    return number, ""


def _decimal(value: Any) -> tuple[Decimal | None, str]:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None, "is no {type}"
    problem = f"has no {{type}} of {NUMERIC_PRECISION} digits with {NUMERIC_SCALE} after the point that is equal"
    try:
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        pa.scalar(number, SqlType.NUMERIC.arrow)
    except (InvalidOperation, pa.ArrowException, ValueError):
        return None, problem
    return number, ""


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
