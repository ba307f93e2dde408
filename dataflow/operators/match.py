"""Matching the rows of two batches by key, in slices of bounded size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrangements.batch import Batch, expand
from ..columns.column import Indices
from ..columns.grouping import Columns, rows_equal


def match(left: Batch, right: Batch, limit: int) -> Iterator[tuple[Indices, Indices]]:
    """All pairs of rows ``(left, right)`` with equal keys, about ``limit`` at a time; a NULL matches nothing.

    The rows of the smaller batch are sought in the larger one; both are in order of the keys' hashes, so that walks
    through memory in order.
    """
    if len(left) <= len(right):
        return _seek(left, right, limit)
    return ((a, b) for b, a in _seek(right, left, limit))


def _seek(needles: Batch, hay: Batch, limit: int) -> Iterator[tuple[Indices, Indices]]:
    keys = needles.layout.key_of(needles.updates.columns)
    hay_keys = hay.layout.key_of(hay.updates.columns)
    begin, end = hay.seek(needles.order)
    rows: Indices | None = None
    if len(begin) > 1:
        rows = (begin < end).nonzero()[0]
        if len(rows) == len(begin):
            rows = None
        else:
            begin, end = begin.take(rows), end.take(rows)
    for which, found in _slices(begin, end, limit):
        if not len(which):
            continue
        sought = which if rows is None else rows.take(which)
        same = _match_keys(keys, sought, hay_keys, found)
        equal = np.count_nonzero(same)
        if equal == len(same):
            yield sought, found
        elif equal:
            yield sought[same], found[same]


def _match_keys(left: Columns, left_rows: Indices, right: Columns, right_rows: Indices) -> np.ndarray:
    same = rows_equal(left, left_rows, right, right_rows)
    for column in left:
        valid = column.validity()
        if valid is not None:
            same &= valid[left_rows]
    return same


def _slices(begin: Indices, end: Indices, limit: int) -> Iterator[tuple[Indices, Indices]]:
    """All pairs ``(i, position)`` with ``begin[i] <= position < end[i]``, up to ``limit`` at a time."""
    counts = end - begin
    total = int(counts.item() if len(counts) == 1 else counts.sum())
    if total <= limit:
        if total:
            yield expand(begin, end)
        return
    ends = np.cumsum(counts)
    starts = ends - counts
    for low in range(0, total, limit):
        high = min(low + limit, total)
        first = int(ends.searchsorted(low, "right"))
        last = int(starts.searchsorted(high, "left"))
        part = slice(first, last)
        # The first and the last key of a slice may have only some of their rows in it.
        from_row = begin[part] + np.maximum(low - starts[part], 0)
        to_row = end[part] - np.maximum(ends[part] - high, 0)
        which, rows = expand(from_row, to_row)
        yield which + first, rows
