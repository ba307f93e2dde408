"""Sorting by several arrays of numbers at once, and the runs of equal numbers that it leads to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .base import Indices, Mask

_WORTH_PACKING = 64
_WORD = 0xFFFF_FFFF_FFFF_FFFF


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
    equal = ties((packed,), permutation)
    if equal.any():
        places, run = runs(equal)
        rows = permutation[places]
        permutation[places] = rows[np.lexsort((*[key[rows] for key in keys], run))]
    return permutation


def ties(keys: Sequence[npt.NDArray[Any]], permutation: Indices) -> Mask:
    """For every two neighbours in a permutation, whether they are equal in all keys."""
    tied = np.ones(max(len(permutation) - 1, 0), np.bool_)
    for key in keys:
        in_order = key[permutation]
        tied &= in_order[1:] == in_order[:-1]
    return tied


def begins(in_order: npt.NDArray[Any]) -> Mask:
    """Where a number differs from the one before it."""
    result = np.ones(len(in_order), np.bool_)
    result[1:] = in_order[1:] != in_order[:-1]
    return result


def runs(equal: Mask) -> tuple[Indices, Indices]:
    """The places that equal a neighbour, and the number of the run of equal ones that each is in, given for every two
    neighbours whether they are equal."""
    in_run = np.zeros(len(equal) + 1, np.bool_)
    in_run[1:] = equal
    in_run[:-1] |= equal
    places = in_run.nonzero()[0]
    return places, np.cumsum(np.append(True, ~equal))[places]
