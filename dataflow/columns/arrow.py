"""Columns of text, bytea or numeric, in Arrow: nothing of theirs is ours to write."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.scalars import Value
from ...messages.types import SqlType
from . import hashing
from .base import Codes, Column, Indices, Mask
from .hashing import Hashes

_ARROW_TAKE = pc.get_function("array_take")
_UNCHECKED = pc.TakeOptions(boundscheck=False)
_NOT_MUCH = 1024
"""Bytes; an array of few values is mostly padding."""
_SIGN = np.uint64(1 << 63)


class ArrowColumn(Column):
    """Values of text, bytea or numeric, in an Arrow array of ``type.arrow``."""

    __slots__ = ("_array",)
    _array: pa.Array | None

    def __init__(self, type: SqlType, array: pa.Array) -> None:
        self.type = type
        self._array = array

    @property
    def array(self) -> pa.Array:
        """The values, one after the other."""
        assert self._array is not None
        return self._array

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

    def owned(self) -> ArrowColumn:
        array = self.array
        if array.get_total_buffer_size() <= 2 * array.nbytes + _NOT_MUCH:
            return self
        return self.take(np.arange(len(array)))

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

    def hash_numbers(self) -> list[int]:
        if self.type is SqlType.NUMERIC:
            return super().hash_numbers()
        null = int(hashing.NULL_HASH)
        strings = [v.encode() if isinstance(v, str) else v for v in self.array.to_pylist()]
        return [null if string is None else hashing.hash_string(string) for string in strings]

    def equal(self, other: Column) -> Mask:
        assert isinstance(other, ArrowColumn), (self.type, other.type)
        if len(self.array) == 1:
            # A tenth of the time of a kernel.
            return np.array([self.array.equals(other.array)])
        same = pc.equal(self.array, other.array)
        if not same.null_count:
            return same.to_numpy(zero_copy_only=False)
        both_null = pc.and_(self.array.is_null(), other.array.is_null())
        return pc.or_(pc.fill_null(same, False), both_null).to_numpy(zero_copy_only=False)

    def equal_one(self, one: Column) -> Mask:
        assert isinstance(one, ArrowColumn), (self.type, one.type)
        if len(self) == 1:
            return self.equal(one)
        value = one.array[0]
        same = pc.equal(self.array, value) if value.is_valid else self.array.is_null()
        return (pc.fill_null(same, False) if same.null_count else same).to_numpy(zero_copy_only=False)

    def sort_codes(self) -> Codes:
        if self.type is SqlType.NUMERIC:
            words = self.words()
            low, high = words[:, 0], words[:, 1]
            if (high.view(np.int64) == low.view(np.int64) >> 63).all():
                return low ^ _SIGN
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
