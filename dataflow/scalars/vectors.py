"""What flows between the parts of a compiled expression.

A vector is ``(values, valid, errors)`` for n rows:

* ``values`` is a NumPy array for every type but text and bytea: as in a ``FixedColumn``, and for a numeric its units of
  10**-9, as int64 when they all fit and as Python integers (dtype object) otherwise. Text and bytea are Arrow arrays.
  A constant, and nothing else, is a NumPy scalar or an Arrow scalar: a kernel always has an argument to broadcast it
  to. (NumPy warns of overflow between scalars, and not between arrays.)
* ``valid`` is True where the value is not NULL, None when none is. The NULLs of an Arrow array are in the array alone.
* ``errors`` are the rows that failed; their values mean nothing.

It is a plain tuple, because a tick of one row passes through many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.types import SqlType
from ..columns.column import DTYPES, ArrowColumn, Column, FixedColumn, Indices, Mask
from . import units

Messages = npt.NDArray[np.object_]


class Errors(NamedTuple):
    """Failed rows: where, and for each row the message (any value where nothing failed)."""

    mask: Mask
    messages: Messages


Vector = tuple[Any, Mask | None, Errors | None]
Slot = Column | Vector
"""An input column, or the vector of an expression that was computed before."""

Slots = Sequence[Slot | None]
Run = Callable[[Slots, int], Vector]
"""Evaluates an expression for n rows."""

ARROW_KINDS = (SqlType.TEXT, SqlType.BYTEA)


select = cast(Callable[[Any, Any, Any], Any], np.where)
"""``select(mask, a, b)``: NumPy's ``where``, of arrays and scalars alike."""


def is_arrow(type: SqlType) -> bool:
    """Whether vectors of this type are Arrow arrays."""
    return type in ARROW_KINDS


def dtype_of(type: SqlType) -> np.dtype[Any]:
    """The NumPy type of a vector's values; numerics may also be objects."""
    return DTYPES.get(type, np.dtype(np.int64))


def make_errors(mask: Mask, message: str) -> Errors:
    """The same message for all rows of a mask."""
    messages = np.empty(len(mask), np.object_)
    messages[:] = message
    return Errors(mask, messages)


def merge_errors(first: Errors | None, second: Errors | None) -> Errors | None:
    """The errors of both; where both failed, the first's."""
    if first is None:
        return second
    if second is None:
        return first
    return Errors(first.mask | second.mask, select(first.mask, first.messages, second.messages))


def errors_within(errors: Errors | None, rows: Mask) -> Errors | None:
    """The errors of these rows only; None when there are none."""
    if errors is None:
        return None
    mask = errors.mask & rows
    return Errors(mask, errors.messages) if np.count_nonzero(mask) else None


def both_valid(left: Mask | None, right: Mask | None) -> Mask | None:
    """Where neither is NULL."""
    if left is None:
        return right
    if right is None:
        return left
    return left & right


def read(slot: Slot) -> Vector:
    """The vector of an input column, or of an expression that was computed before."""
    if isinstance(slot, FixedColumn):
        return slot.values, slot.valid, None
    if isinstance(slot, ArrowColumn):
        if slot.type is SqlType.NUMERIC:
            return units.from_words(slot.words()), slot.validity(), None
        return slot.array, None, None
    return cast(Vector, slot)


def take(slot: Slot, rows: Indices) -> Slot:
    """The slot for some of the rows. Constants stay."""
    if isinstance(slot, Column):
        return slot.take(rows)
    values, valid, errors = slot
    if isinstance(values, pa.Array):
        values = values.take(pa.array(rows))
    elif not isinstance(values, pa.Scalar) and values.ndim:
        values = values[rows]
    if valid is not None and valid.ndim:
        valid = valid[rows]
    if errors is not None:
        mask = errors.mask[rows]
        errors = Errors(mask, errors.messages[rows]) if np.count_nonzero(mask) else None
    return values, valid, errors


def spread(vector: Vector, type: SqlType, size: int) -> tuple[Any, Mask | None]:
    """Values and validity as arrays of this size, also of a constant."""
    values, valid, _ = vector
    if is_arrow(type):
        return (values if isinstance(values, pa.Array) else pa.repeat(values, size)), None
    if values.ndim == 0:
        values = np.broadcast_to(values, (size,))
    if valid is not None and valid.ndim == 0:
        valid = np.broadcast_to(valid, (size,))
    return values, valid


def to_column(vector: Vector, type: SqlType, size: int) -> Column:
    """The column of a vector; failed rows have some value."""
    values, valid = spread(vector, type, size)
    if is_arrow(type):
        return ArrowColumn(type, values)
    if type is SqlType.NUMERIC:
        return ArrowColumn(type, units.to_arrow(values, valid))
    if valid is not None:
        if np.count_nonzero(valid) == size:
            valid = None
        else:
            # Equal rows must be equal in memory too, whatever was computed under a NULL.
            values = select(valid, values, np.zeros((), values.dtype))
    return FixedColumn(type, values, valid)


def from_arrow(array: Any) -> tuple[Any, Mask | None]:
    """NumPy values and validity of an Arrow array (or scalar) of booleans or numbers that a kernel returned."""
    if isinstance(array, pa.Scalar):
        value = array.as_py()
        if value is None:
            return np.zeros((), array.type.to_pandas_dtype())[()], np.bool_(False)  # pyright: ignore
        return np.array(value, array.type.to_pandas_dtype())[()], None
    if not array.null_count:
        return array.to_numpy(zero_copy_only=False), None
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    return pc.fill_null(array, pa.scalar(0).cast(array.type)).to_numpy(zero_copy_only=False), valid


def arrow_validity(array: Any) -> Mask | None:
    """Validity of an Arrow array or scalar."""
    if isinstance(array, pa.Scalar):
        return None if array.is_valid else cast(Any, np.bool_(False))
    return array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None


def with_nulls(array: pa.Array, valid: Mask | None) -> pa.Array:
    """The array with further NULLs where ``valid`` is false."""
    if valid is None:
        return array
    if valid.ndim == 0:
        return array if valid else cast(pa.Array, pa.nulls(len(array), array.type))
    return pc.if_else(pa.array(valid), array, pa.scalar(None, array.type))
