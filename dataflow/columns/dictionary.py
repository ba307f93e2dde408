"""Texts of which few are distinct: codes into a dictionary.

A carrier, an airport, a status repeats thousands of times. Kept as a code it takes four bytes, is hashed once per
distinct value, and is taken, compared and joined as a number. A :class:`DictionaryColumn` is an :class:`ArrowColumn`
for everybody who does not look closer: ``array`` decodes it when somebody asks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.types import SqlType
from . import hashing
from .arrow import ArrowColumn
from .base import Codes, Column, Indices, Mask
from .hashing import Hashes

_LEAST_ROWS = 256
"""Shorter columns are not worth it."""
_SAMPLE = 4096
_REPEATS = 8
"""How often a value of a long column occurs, on average, if it is to be coded; a sample tells."""


class Dictionary:
    """Distinct values, none of them NULL; at least one."""

    __slots__ = ("_hashes", "_ranks", "values")

    def __init__(self, values: ArrowColumn) -> None:
        self.values = values
        self._hashes: Hashes | None = None
        self._ranks: Codes | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def hashes(self) -> Hashes:
        """The hash of each value; not to be written to."""
        if self._hashes is None:
            self._hashes = self.values.hashes()
        return self._hashes

    @property
    def ranks(self) -> Codes:
        """The place of each value in their order; not to be written to."""
        if self._ranks is None:
            self._ranks = self.values.sort_codes()
        return self._ranks


class DictionaryColumn(ArrowColumn):
    """Texts or byteas as codes into a dictionary; the code under a NULL is any of the dictionary's."""

    __slots__ = ("codes", "dictionary", "valid")
    codes: npt.NDArray[np.int32]
    valid: Mask | None

    def __init__(
        self, type: SqlType, codes: npt.NDArray[np.int32], dictionary: Dictionary, valid: Mask | None = None
    ) -> None:
        self.type = type
        self._array = None
        self.codes = codes
        self.dictionary = dictionary
        self.valid = valid

    @property
    def array(self) -> pa.Array:
        if self._array is None:
            codes = pa.array(self.codes, mask=None if self.valid is None else ~self.valid)
            self._array = self.dictionary.values.array.take(codes)
        return self._array

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, indices: Indices) -> DictionaryColumn:
        valid = self.valid
        return DictionaryColumn(
            self.type, self.codes.take(indices), self.dictionary, None if valid is None else valid.take(indices)
        )

    def slice(self, start: int, stop: int) -> DictionaryColumn:
        valid = self.valid
        return DictionaryColumn(
            self.type, self.codes[start:stop], self.dictionary, None if valid is None else valid[start:stop]
        )

    def owned(self) -> ArrowColumn:
        return ArrowColumn(self.type, self.array).owned()

    def validity(self) -> Mask | None:
        return self.valid

    def hashes(self) -> Hashes:
        hashes = self.dictionary.hashes[self.codes]
        if self.valid is not None:
            hashes[~self.valid] = hashing.NULL_HASH
        return hashes

    def hash_numbers(self) -> list[int]:
        if self.valid is not None:
            return self.hashes().tolist()
        number = self.dictionary.hashes.item
        return [number(code) for code in self.codes.tolist()]

    def equal(self, other: Column) -> Mask:
        if not isinstance(other, DictionaryColumn):
            return super().equal(other)
        left, right = self.codes, other.codes
        if self.dictionary is not other.dictionary:
            if len(self.dictionary) + len(other.dictionary) > len(left):
                # The texts are fewer than what they are looked up in.
                return super().equal(other)
            right = _places(other.dictionary, self.dictionary)[right]
        same = left == right
        if self.valid is None and other.valid is None:
            return same
        a = np.ones(len(same), np.bool_) if self.valid is None else self.valid
        b = np.ones(len(same), np.bool_) if other.valid is None else other.valid
        return (same & a & b) | ~(a | b)

    def sort_codes(self) -> Codes:
        return self.dictionary.ranks[self.codes]

    @property
    def nbytes(self) -> int:
        own = self.codes.nbytes + (0 if self.valid is None else self.valid.nbytes)
        # Many share a dictionary: of a large one, a few rows count for as much as their texts.
        dictionary = self.dictionary
        return own + dictionary.values.nbytes * min(len(self.codes), len(dictionary)) // len(dictionary)


def _places(of: Dictionary, among: Dictionary) -> npt.NDArray[np.int32]:
    """For each value of one dictionary its code in another one, -1 for none."""
    found = pc.index_in(of.values.array, value_set=among.values.array)
    return pc.fill_null(found, -1).to_numpy(zero_copy_only=False)


def encode(column: ArrowColumn) -> ArrowColumn:
    """The same texts as codes, if that pays: when at most half of them are distinct, and far fewer of many."""
    size = len(column)
    if size < _LEAST_ROWS or column.type is SqlType.NUMERIC:
        return column
    if size > 4 * _SAMPLE:
        # At random, the same in every run: evenly spaced rows would all differ in a sorted column.
        sample = column.take(np.random.default_rng(0).integers(0, size, _SAMPLE))
        # How many different ones to expect if there were this many.
        distinct = size / _REPEATS
        if len(sample.array.unique()) > distinct * -math.expm1(-_SAMPLE / distinct):
            return column
    encoded = column.array.dictionary_encode()
    if 2 * len(encoded.dictionary) > size or not len(encoded.dictionary):
        return column
    codes = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return DictionaryColumn(
        column.type, codes, Dictionary(ArrowColumn(column.type, encoded.dictionary)), column.validity()
    )


def concat_texts(columns: Sequence[ArrowColumn]) -> ArrowColumn:
    """One column after the other. Codes stay codes when they pay for the joining of their dictionaries."""
    type = columns[0].type
    coded = [c for c in columns if isinstance(c, DictionaryColumn)]
    dictionaries = list({id(c.dictionary): c.dictionary for c in coded}.values())
    plain = sum(len(c) for c in columns) - sum(len(c) for c in coded)
    if not coded or 2 * (plain + sum(map(len, dictionaries))) > sum(len(c) for c in columns):
        return ArrowColumn(type, pa.concat_arrays([c.array for c in columns]))
    if not plain and len(dictionaries) == 1:
        return _concat_codes(type, [(c.codes, c.valid) for c in coded], dictionaries[0])
    # Distinct values of all parts; a part without a dictionary brings its values as they are.
    parts: dict[int, pa.Array] = {}
    for column in columns:
        if isinstance(column, DictionaryColumn):
            parts.setdefault(id(column.dictionary), column.dictionary.values.array)
        else:
            parts[id(column)] = column.array
    encoded = pa.concat_arrays(list(parts.values())).dictionary_encode()
    places = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    begins = dict(zip(parts, np.cumsum([0, *map(len, parts.values())]).tolist(), strict=False))
    pieces: list[tuple[npt.NDArray[np.int32], Mask | None]] = []
    for column in columns:
        if isinstance(column, DictionaryColumn):
            pieces.append((places[begins[id(column.dictionary)] :][column.codes], column.valid))
        else:
            begin = begins[id(column)]
            pieces.append((places[begin : begin + len(column)], column.validity()))
    return _concat_codes(type, pieces, Dictionary(ArrowColumn(type, encoded.dictionary)))


def _concat_codes(
    type: SqlType, pieces: Sequence[tuple[npt.NDArray[np.int32], Mask | None]], dictionary: Dictionary
) -> DictionaryColumn:
    codes = np.concatenate([codes for codes, _ in pieces])
    if all(valid is None for _, valid in pieces):
        return DictionaryColumn(type, codes, dictionary)
    masks = [np.ones(len(codes), np.bool_) if valid is None else valid for codes, valid in pieces]
    return DictionaryColumn(type, codes, dictionary, np.concatenate(masks))
