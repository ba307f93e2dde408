"""Columns of a fixed-width type, in NumPy: a call on a handful of rows costs about one microsecond where an Arrow call
costs five to twenty, and a tick is often a handful of rows."""

from __future__ import annotations

import datetime
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...messages.scalars import Value
from ...messages.types import SqlType
from . import hashing
from .base import Codes, Column, Indices, Mask
from .hashing import Hashes

_SIGN = np.uint64(1 << 63)
_ALL_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_MICROSECOND = datetime.timedelta(microseconds=1)


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

    def owned(self) -> FixedColumn:
        values, valid = self.values, self.valid
        if values.base is None or values.strides == (0,):
            return self
        return FixedColumn(self.type, values.copy(), None if valid is None else valid.copy())

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

    def hash_numbers(self) -> list[int]:
        if self.values.dtype.kind == "f":
            return super().hash_numbers()
        mix = hashing.mix_number
        numbers = [mix(number) for number in self.values.tolist()]
        if self.valid is None:
            return numbers
        null = int(hashing.NULL_HASH)
        return [number if valid else null for number, valid in zip(numbers, self.valid.tolist(), strict=True)]

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

    def equal_halves(self) -> Mask:
        values = self.values
        if self.valid is not None or values.dtype.kind == "f":
            return super().equal_halves()
        half = len(values) // 2
        return values[:half] == values[half:]

    def equal_one(self, one: Column) -> Mask:
        # NumPy compares an array with a single number in the same way.
        return self.equal(one)

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

    def values_between(self, start: int, stop: int) -> list[Value]:
        if self.valid is None and self.type is not SqlType.DATE and self.type is not SqlType.TIMESTAMP:
            return self.values[start:stop].tolist()
        return super().values_between(start, stop)

    @property
    def nbytes(self) -> int:
        total = 0 if self.values.strides == (0,) else self.values.nbytes
        return total + (0 if self.valid is None else self.valid.nbytes)


def _is_day(value: int) -> bool:
    return 1 - _EPOCH_DAY <= value <= datetime.date.max.toordinal() - _EPOCH_DAY
