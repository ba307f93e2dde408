"""Sorting rows by values: by several columns with a direction and a place for NULL each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .column import Column, Indices, Mask

_WORTH_PACKING = 64
_WORD = 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, slots=True)
class SortKey:
    """One column of an order."""

    column: int
    descending: bool = False
    nulls_first: bool = False


def sort_rows(groups: npt.NDArray[np.int64], columns: Sequence[Column], keys: Sequence[SortKey]) -> Indices:
    """The permutation that sorts rows by their group's number, then by the keys.

    Rows that are equal in all keys are sorted by the columns that are no keys, ascending with NULLs last, so that
    only equal rows of a group are in no particular order.
    """
    codes = [array for key in reversed(keys) for array in _codes(columns[key.column], key)]
    permutation = sort_by((*codes, groups))
    chosen = {key.column for key in keys}
    rest = [i for i in range(len(columns)) if i not in chosen]
    if not rest or len(permutation) < 2:
        return permutation
    tied = np.ones(len(permutation) - 1, np.bool_)
    for array in (groups, *codes):
        in_order = array[permutation]
        tied &= in_order[1:] == in_order[:-1]
    if not tied.any():
        return permutation
    places, run = _runs(tied)
    rows = permutation[places]
    codes = [array for i in reversed(rest) for array in _codes(columns[i].take(rows), SortKey(i))]
    permutation[places] = rows[sort_by((*codes, run))]
    return permutation


def sort_by(keys: Sequence[npt.NDArray[Any]]) -> Indices:
    """The permutation that ``np.lexsort`` gives (the last key is the first to sort by), by one sort instead of one for
    each key.

    The most significant 64 bits of all keys together are sorted, and then what is equal in these.
    """
    if len(keys[0]) < _WORTH_PACKING:
        return np.lexsort(keys)
    packed = np.zeros(len(keys[0]), np.uint64)
    room = 64
    exact = True
    for key in reversed(keys):
        if key.dtype == np.bool_:
            least, greatest = 0, 1
        else:
            least, greatest = int(key.min()), int(key.max())
        width = (greatest - least).bit_length()
        if not width:
            continue
        if not room:
            exact = False
            break
        offset = key.astype(np.uint64) - np.uint64(least & _WORD)
        if width > room:
            exact = False
            offset >>= np.uint64(width - room)
            width = room
        room -= width
        packed |= offset << np.uint64(room)
    # Timsort: linear for the few sorted runs of a merge.
    permutation = packed.argsort(kind="stable")
    if exact:
        return permutation
    packed = packed[permutation]
    equal = packed[1:] == packed[:-1]
    if equal.any():
        places, run = _runs(equal)
        rows = permutation[places]
        permutation[places] = rows[np.lexsort((*[key[rows] for key in keys], run))]
    return permutation


def _runs(equal: Mask) -> tuple[Indices, Indices]:
    """The places that equal a neighbour, and the number of the run of equal ones that each is in, given for every two
    neighbours whether they are equal."""
    in_run = np.zeros(len(equal) + 1, np.bool_)
    in_run[1:] = equal
    in_run[:-1] |= equal
    places = in_run.nonzero()[0]
    return places, np.cumsum(np.append(True, ~equal))[places]


def _codes(column: Column, key: SortKey) -> list[npt.NDArray[Any]]:
    """Arrays to sort by, the last one first."""
    codes = column.sort_codes()
    if key.descending:
        codes = ~codes
    valid = column.validity()
    if valid is None:
        return [codes]
    codes[~valid] = 0
    return [codes, valid if key.nulls_first else ~valid]
