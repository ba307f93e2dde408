"""Sorting rows by values: by several columns with a direction and a place for NULL each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .column import Column, FixedColumn, Indices
from .packed_sort import runs, sort_by, ties


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
    if not rest:
        return permutation
    tied = ties((*codes, groups), permutation)
    for some in _in_turns(columns, rest):
        if not np.count_nonzero(tied):
            break
        places, run = runs(tied)
        rows = permutation[places]
        codes = [array for i in reversed(some) for array in _codes(columns[i].take(rows), SortKey(i))]
        order = sort_by((*codes, run))
        permutation[places] = rows[order]
        tied = np.zeros(len(tied), np.bool_)
        tied[places[:-1][ties((*codes, run), order)]] = True
    return permutation


def _in_turns(columns: Sequence[Column], positions: Sequence[int]) -> list[list[int]]:
    """Which columns to look at together: numbers cost less than another turn, but texts are for those rows only that
    are still tied."""
    turns: list[list[int]] = []
    for position in positions:
        if turns and isinstance(columns[position], FixedColumn):
            turns[-1].append(position)
        else:
            turns.append([position])
    return turns


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
