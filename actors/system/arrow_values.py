"""Arrow arrays to columns: safe conversions only, with errors that name the row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...dataflow.columns.column import Column, FixedColumn, column_from_arrow
from ...messages.types import Field, SqlType
from .row_values import BadValue

ArrowValues = pa.Array | pa.ChunkedArray


def column_of_arrow(values: ArrowValues, field: Field, *, borrowed: bool = False) -> Column:
    """A column of these values, sharing memory unless it is ``borrowed`` from somebody who may write to it.

    Raises:
        BadValue: the first value that is not one of the field's type, or NULL where none may be. Row -1: the whole
            column is of another type.
    """
    values = _plain(values)
    if values.null_count and not field.nullable:
        row = pc.index(values.is_null(), True).as_py()
        raise BadValue(row, f"NULL was given, and the column takes none (declare it '{field.type}?' to allow it)")
    if not pa.types.is_null(values.type) and not _is_like(values.type, field.type):
        raise BadValue(-1, f"the column given is {values.type}, and {field.type} is expected; convert it first")
    column = _convert(values, field)
    if borrowed and isinstance(column, FixedColumn):
        return FixedColumn(column.type, column.values.copy(), column.valid)
    return column


def _plain(values: ArrowValues) -> ArrowValues:
    if pa.types.is_dictionary(values.type):
        return values.cast(values.type.value_type)  # type: ignore[union-attr]
    return values


def _is_like(given: pa.DataType, wanted: SqlType) -> bool:
    """Whether values of the Arrow type can be ones of the SQL type without changing what they mean."""
    types = pa.types
    match wanted:
        case SqlType.BOOLEAN:
            return types.is_boolean(given)
        case SqlType.SMALLINT | SqlType.INTEGER | SqlType.BIGINT:
            return types.is_integer(given) or types.is_floating(given) or types.is_decimal(given)
        case SqlType.REAL | SqlType.DOUBLE:
            return types.is_integer(given) or types.is_floating(given)
        case SqlType.NUMERIC:
            return types.is_integer(given) or types.is_decimal(given)
        case SqlType.TEXT:
            return types.is_string(given) or types.is_large_string(given) or types.is_string_view(given)
        case SqlType.BYTEA:
            binary = types.is_binary(given) or types.is_large_binary(given) or types.is_binary_view(given)
            return binary or types.is_fixed_size_binary(given)
        case SqlType.DATE:
            return types.is_date(given)
        case SqlType.TIMESTAMP:
            return types.is_timestamp(given) or types.is_date(given)


def _convert(values: ArrowValues, field: Field) -> Column:
    try:
        column = _cast(values, field.type)
    except (pa.ArrowException, OverflowError):
        row = _first_bad(values, field.type)
        value = values[row].as_py()
        hint = ": NaN is not NULL, use NULL" if value != value else ""
        raise BadValue(row, f"{value!r} ({values.type}) has no equal {field.type}{hint}") from None
    return column


def _cast(values: ArrowValues, to: SqlType) -> Column:
    if to is SqlType.NUMERIC and pa.types.is_integer(values.type):
        values = values.cast(pa.decimal128(20, 0))
    if to is SqlType.REAL and values.type == pa.float64():
        return _round_to_real(values)
    return column_from_arrow(values, to)


def _round_to_real(values: ArrowValues) -> Column:
    column = column_from_arrow(values, SqlType.DOUBLE)
    assert isinstance(column, FixedColumn), "doubles are fixed"
    doubles = column.values
    if (np.isfinite(doubles) & (np.abs(doubles) > np.finfo(np.float32).max)).any():
        raise OverflowError
    return FixedColumn(SqlType.REAL, doubles.astype(np.float32), column.valid)


def _first_bad(values: ArrowValues, to: SqlType) -> int:
    """The first row that cannot be converted, by halving; there is one."""
    start, stop = 0, len(values)
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            _cast(values.slice(start, middle - start), to)
        except (pa.ArrowException, OverflowError):
            stop = middle
        else:
            start = middle
    return start
