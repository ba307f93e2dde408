"""Sorting rows by values: by several columns with a direction and a place for NULL each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .column import Column, Indices


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
    permutation = np.lexsort((*codes, groups))
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
    in_run = np.zeros(len(permutation), np.bool_)
    in_run[1:] = tied
    in_run[:-1] |= tied
    places = np.flatnonzero(in_run)
    rows = permutation[places]
    run = np.cumsum(np.append(True, ~tied))[places]
    codes = [array for i in reversed(rest) for array in _codes(columns[i].take(rows), SortKey(i))]
    permutation[places] = rows[np.lexsort((*codes, run))]
    return permutation


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
