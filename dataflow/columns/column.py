"""Making columns: from Arrow, from Python values, from a constant, from each other.

Nobody writes to the arrays after a column was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from ...messages.scalars import Value
from ...messages.types import SqlType
from .arrow import ArrowColumn
from .base import DTYPES, Codes, Column, Indices, Mask
from .dictionary import concat_texts, encode
from .fixed import FixedColumn

__all__ = [
    "DTYPES",
    "ArrowColumn",
    "Codes",
    "Column",
    "FixedColumn",
    "Indices",
    "Mask",
    "column_from_arrow",
    "column_from_values",
    "concat_columns",
    "constant_column",
    "empty_column",
]


def column_from_arrow(array: pa.Array | pa.ChunkedArray, type: SqlType) -> Column:
    """A column over an Arrow array, sharing its memory where the layout allows.

    Raises:
        pyarrow.ArrowInvalid: a value does not fit ``type``.
    """
    whole = _one_array(array)
    return _column_from_array(whole if whole.type == type.arrow else whole.cast(type.arrow), type)


def _one_array(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return array.combine_chunks()


def _column_from_array(array: pa.Array, type: SqlType) -> Column:
    dtype = DTYPES.get(type)
    if dtype is None:
        return encode(ArrowColumn(type, array))
    size, offset = len(array), array.offset
    validity, data = array.buffers()
    if type is SqlType.BOOLEAN:
        values = _unpack_bits(data, offset, size)
    elif data is None:
        values = np.zeros(size, dtype)
    else:
        values = np.frombuffer(data, dtype)[offset : offset + size]
    if validity is None or array.null_count == 0:
        return FixedColumn(type, values)
    valid = _unpack_bits(validity, offset, size)
    # What lies under a NULL is not ours: an equal row from elsewhere may hide other bits there.
    return FixedColumn(type, np.where(valid, values, np.zeros((), dtype)), valid)


def _unpack_bits(buffer: pa.Buffer | None, offset: int, size: int) -> Mask:
    if buffer is None:
        return np.zeros(size, np.bool_)
    first = offset // 8
    packed = np.frombuffer(buffer, np.uint8)[first : (offset + size + 7) // 8]
    return np.unpackbits(packed, bitorder="little")[offset - 8 * first : offset - 8 * first + size].view(np.bool_)


def column_from_values(values: Sequence[Value], type: SqlType) -> Column:
    """A column of Python values, None for NULL.

    Raises:
        pyarrow.ArrowInvalid, TypeError, OverflowError: a value is not one of ``type``.
    """
    dtype = DTYPES.get(type)
    if dtype is None or type in (SqlType.DATE, SqlType.TIMESTAMP) or None in values:
        return column_from_arrow(cast(pa.Array, pa.array(values, type.arrow)), type)
    return FixedColumn(type, np.array(values, dtype))


def empty_column(type: SqlType) -> Column:
    """A column without values."""
    dtype = DTYPES.get(type)
    if dtype is None:
        return ArrowColumn(type, cast(pa.Array, pa.array([], type.arrow)))
    return FixedColumn(type, np.zeros(0, dtype))


def constant_column(value: Value, type: SqlType, size: int) -> Column:
    """The same value ``size`` times; for a fixed-width type without using memory for them."""
    dtype = DTYPES.get(type)
    if dtype is None:
        return ArrowColumn(type, cast(pa.Array, pa.repeat(pa.scalar(value, type.arrow), size)))
    one = cast(FixedColumn, column_from_values([value], type))
    values = np.broadcast_to(one.values, (size,))
    return FixedColumn(type, values, None if one.valid is None else np.broadcast_to(one.valid, (size,)))


def concat_columns(columns: Sequence[Column]) -> Column:
    """One column after the other; all have one type, and there is at least one."""
    first = columns[0]
    if len(columns) == 1:
        return first
    if isinstance(first, FixedColumn):
        fixed = cast(Sequence[FixedColumn], columns)
        values = np.concatenate([c.values for c in fixed])
        if not [c for c in fixed if c.valid is not None]:
            return FixedColumn(first.type, values)
        valid = np.concatenate([np.ones(len(c), np.bool_) if c.valid is None else c.valid for c in fixed])
        return FixedColumn(first.type, values, valid)
    return concat_texts(cast(Sequence[ArrowColumn], columns))
