"""Immutable vectors of values of one SQL type.

Fixed-width types are NumPy arrays, because a NumPy call on a handful of rows costs about one microsecond where an
Arrow call costs five to twenty, and a tick is often a handful of rows. Text, bytea and numeric are Arrow arrays:
nothing of theirs is ours to write. Nobody writes to the arrays after a column was made.
"""

from __future__ import annotations

import abc
import datetime
from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.scalars import Value
from ...messages.types import SqlType
from . import hashing
from .hashing import Hashes

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
Codes = npt.NDArray[np.uint64]

DTYPES: dict[SqlType, np.dtype[Any]] = {
    SqlType.BOOLEAN: np.dtype(np.bool_),
    SqlType.SMALLINT: np.dtype(np.int16),
    SqlType.INTEGER: np.dtype(np.int32),
    SqlType.BIGINT: np.dtype(np.int64),
    SqlType.REAL: np.dtype(np.float32),
    SqlType.DOUBLE: np.dtype(np.float64),
    SqlType.DATE: np.dtype(np.int32),
    SqlType.TIMESTAMP: np.dtype(np.int64),
}
"""The types kept in NumPy: dates as days and timestamps as microseconds since 1970-01-01."""

_SIGN = np.uint64(1 << 63)
_ALL_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)


class Column(abc.ABC):
    """A vector of values of one SQL type, NULLs included."""

    __slots__ = ("type",)
    type: SqlType

    @abc.abstractmethod
    def __len__(self) -> int: ...

    @abc.abstractmethod
    def take(self, indices: Indices) -> Column:
        """The values at these positions, in this order."""

    @abc.abstractmethod
    def filter(self, mask: Mask) -> Column:
        """The values where the mask is true."""

    @abc.abstractmethod
    def slice(self, start: int, stop: int) -> Column:
        """The values from ``start`` up to ``stop``, sharing memory."""

    @abc.abstractmethod
    def validity(self) -> Mask | None:
        """True where the value is not NULL; None when no value is NULL."""

    @abc.abstractmethod
    def hashes(self) -> Hashes:
        """A fresh array of one hash per value (see ``hashing.py``)."""

    @abc.abstractmethod
    def equal(self, other: Column) -> Mask:
        """Row-wise equality as in grouping: NULL equals NULL, NaN equals NaN. Both columns have one type."""

    @abc.abstractmethod
    def sort_codes(self) -> Codes:
        """Numbers that order like the values *within this column*; NaN is the greatest, NULL has any code."""

    @abc.abstractmethod
    def to_arrow(self) -> pa.Array:
        """The values as an Arrow array of ``type.arrow``."""

    @abc.abstractmethod
    def to_values(self) -> list[Value]:
        """The values at the Python surface."""

    @property
    @abc.abstractmethod
    def nbytes(self) -> int:
        """Bytes of memory this column keeps alive, without what it shares as a constant."""


class FixedColumn(Column):
    """Values of a fixed-width type. ``values`` under a NULL are arbitrary but deterministic."""

    __slots__ = ("valid", "values")
    values: npt.NDArray[Any]
    valid: Mask | None

    def __init__(self, type: SqlType, values: npt.NDArray[Any], valid: Mask | None = None) -> None:
        self.type = type
        self.values = values
        self.valid = valid

    def __repr__(self) -> str:
        return f"FixedColumn({self.type}, {self.to_values()!r})"

    def __len__(self) -> int:
        return len(self.values)

    def take(self, indices: Indices) -> FixedColumn:
        valid = self.valid
        return FixedColumn(self.type, self.values.take(indices), None if valid is None else valid.take(indices))

    def filter(self, mask: Mask) -> FixedColumn:
        valid = self.valid
        return FixedColumn(self.type, self.values[mask], None if valid is None else valid[mask])

    def slice(self, start: int, stop: int) -> FixedColumn:
        valid = self.valid
        return FixedColumn(self.type, self.values[start:stop], None if valid is None else valid[start:stop])

    def validity(self) -> Mask | None:
        return self.valid

    def hashes(self) -> Hashes:
        values = self.values
        if self.values.dtype.kind == "f":
            # Adding zero turns -0.0 into 0.0.
            doubles = values.astype(np.float64) + 0.0
            not_a_number = np.isnan(doubles)
            if not_a_number.any():
                doubles[not_a_number] = np.nan
            bits = doubles.view(np.uint64)
        elif values.dtype == np.int64:
            bits = values.view(np.uint64).copy()
        else:
            bits = values.astype(np.int64).view(np.uint64)
        hashes = hashing.mix(bits)
        if self.valid is not None:
            hashes[~self.valid] = hashing.NULL_HASH
        return hashes

    def equal(self, other: Column) -> Mask:
        assert isinstance(other, FixedColumn), (self.type, other.type)
        same = self.values == other.values
        if self.values.dtype.kind == "f":
            same |= np.isnan(self.values) & np.isnan(other.values)
        left, right = self.valid, other.valid
        if left is None and right is None:
            return same
        if left is None:
            return same & cast(Mask, right)
        if right is None:
            return same & left
        return (same & left & right) | ~(left | right)

    def sort_codes(self) -> Codes:
        values = self.values
        if self.values.dtype.kind == "f":
            doubles = values.astype(np.float64) + 0.0
            bits = doubles.view(np.uint64)
            # Negative numbers order backwards by their bits; positive ones go above them.
            codes = np.where(bits & _SIGN, ~bits, bits | _SIGN)
            codes[np.isnan(doubles)] = _ALL_ONES
            return codes
        return values.astype(np.int64).view(np.uint64) ^ _SIGN

    def to_arrow(self) -> pa.Array:
        values = self.values
        if not values.flags.c_contiguous:
            values = np.ascontiguousarray(values)
        valid = None if self.valid is None else pa.py_buffer(np.packbits(self.valid, bitorder="little"))
        nulls = 0 if self.valid is None else -1
        if self.type is SqlType.BOOLEAN:
            data = pa.py_buffer(np.packbits(values, bitorder="little"))
        else:
            data = pa.py_buffer(values)
        return pa.Array.from_buffers(self.type.arrow, len(values), [valid, data], nulls)

    def to_values(self) -> list[Value]:
        values: list[Any] = self.values.tolist()
        if self.type is SqlType.DATE:
            values = [datetime.date.fromordinal(v + _EPOCH_DAY) if _is_day(v) else v for v in values]
        elif self.type is SqlType.TIMESTAMP:
            values = [_EPOCH + v * _MICROSECOND for v in values]
        if self.valid is not None:
            return [v if ok else None for v, ok in zip(values, self.valid.tolist(), strict=True)]
        return values

    @property
    def nbytes(self) -> int:
        total = 0 if self.values.strides == (0,) else self.values.nbytes
        return total + (0 if self.valid is None else self.valid.nbytes)


def _is_day(value: int) -> bool:
    return 1 - _EPOCH_DAY <= value <= datetime.date.max.toordinal() - _EPOCH_DAY


_ARROW_TAKE = pc.get_function("array_take")
_UNCHECKED = pc.TakeOptions(boundscheck=False)


class ArrowColumn(Column):
    """Values of text, bytea or numeric, in an Arrow array of ``type.arrow``."""

    __slots__ = ("array",)
    array: pa.Array

    DECIMAL_WORDS: ClassVar[int] = 2

    def __init__(self, type: SqlType, array: pa.Array) -> None:
        self.type = type
        self.array = array

    def __repr__(self) -> str:
        return f"ArrowColumn({self.type}, {self.to_values()!r})"

    def __len__(self) -> int:
        return len(self.array)

    def take(self, indices: Indices) -> ArrowColumn:
        # What Array.take does, without checking the bounds, and half the time on a handful of rows.
        return ArrowColumn(self.type, _ARROW_TAKE.call([self.array, pa.array(indices)], _UNCHECKED))

    def filter(self, mask: Mask) -> ArrowColumn:
        return self.take(mask.nonzero()[0])

    def slice(self, start: int, stop: int) -> ArrowColumn:
        return ArrowColumn(self.type, self.array.slice(start, stop - start))

    def validity(self) -> Mask | None:
        if self.array.null_count == 0:
            return None
        return self.array.is_valid().to_numpy(zero_copy_only=False)

    def words(self) -> npt.NDArray[np.uint64]:
        """A numeric column's 128-bit two's complement integers (in units of 10**-scale), as ``(n, 2)`` words, the low
        word first; arbitrary under a NULL."""
        data = self.array.buffers()[1]
        if data is None or not len(self.array):
            return np.zeros((len(self.array), 2), np.uint64)
        flat = np.frombuffer(data, np.uint64)
        begin = 2 * self.array.offset
        return flat[begin : begin + 2 * len(self.array)].reshape(-1, 2)

    def string_buffers(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """A text or bytea column's n + 1 offsets and the bytes they point into."""
        array = self.array
        _, offsets, data = array.buffers()
        if offsets is None or not len(array):
            return np.zeros(len(array) + 1, np.int64), np.zeros(0, np.uint8)
        positions = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        return positions, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)

    def hashes(self) -> Hashes:
        if self.type is SqlType.NUMERIC:
            words = self.words()
            hashes = hashing.combine(hashing.mix(words[:, 0].copy()), hashing.mix(words[:, 1].copy()))
        else:
            offsets, data = self.string_buffers()
            first = int(offsets[0])
            hashes = hashing.hash_bytes(offsets - first, data[first:]) if first else hashing.hash_bytes(offsets, data)
        valid = self.validity()
        if valid is not None:
            hashes[~valid] = hashing.NULL_HASH
        return hashes

    def equal(self, other: Column) -> Mask:
        assert isinstance(other, ArrowColumn), (self.type, other.type)
        same = pc.equal(self.array, other.array)
        if not same.null_count:
            return same.to_numpy(zero_copy_only=False)
        both_null = pc.and_(self.array.is_null(), other.array.is_null())
        return pc.or_(pc.fill_null(same, False), both_null).to_numpy(zero_copy_only=False)

    def sort_codes(self) -> Codes:
        if not len(self.array):
            return np.zeros(0, np.uint64)
        # Dense ranks by way of the distinct values: Arrow's own rank takes neither decimals nor ties cheaply.
        encoded = self.array.dictionary_encode()
        distinct = encoded.dictionary
        order = pc.array_sort_indices(distinct).to_numpy(zero_copy_only=False)
        ranks = np.empty(len(order) + 1, np.uint64)
        ranks[order] = np.arange(len(order), dtype=np.uint64)
        ranks[-1] = 0
        codes = encoded.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)
        return ranks[codes]

    def to_arrow(self) -> pa.Array:
        return self.array

    def to_values(self) -> list[Value]:
        return self.array.to_pylist()

    @property
    def nbytes(self) -> int:
        return self.array.nbytes


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
        return ArrowColumn(type, array)
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
        if all(c.valid is None for c in fixed):
            return FixedColumn(first.type, values)
        valid = np.concatenate([np.ones(len(c), np.bool_) if c.valid is None else c.valid for c in fixed])
        return FixedColumn(first.type, values, valid)
    arrays = [cast(ArrowColumn, c).array for c in columns]
    return ArrowColumn(first.type, cast(pa.Array, pa.concat_arrays(arrays)))
