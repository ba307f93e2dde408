"""Matching the rows of two batches by key, in slices of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..arrangements.batch import Batch, expand
from ..columns.column import Column, Indices, Mask
from ..columns.grouping import all_true, look

Rows = Indices | None
"""Positions of rows; None stands for every row once, in order."""

Pair = tuple[Rows, Rows]
"""Positions in the left and in the right batch, side by side."""


def match(left: Batch, right: Batch, limit: int) -> Iterable[Pair]:
    """All pairs of rows with equal keys, about ``limit`` at a time; a NULL matches nothing.

    The rows of the smaller batch are sought in the larger one; both are in order of the keys' hashes, so that walks
    through memory in order.
    """
    if len(left) <= len(right):
        return _seek(left, right, limit)
    found = _seek(right, left, limit)
    if isinstance(found, tuple):
        return [(a, b) for b, a in found]
    return ((a, b) for b, a in found)


def _seek(needles: Batch, hay: Batch, limit: int) -> Iterable[Pair]:
    if len(needles) == 1:
        return _seek_one(needles, hay, limit)
    begin, end = hay.seek(needles.order)
    counts = end - begin
    sought = counts.nonzero()[0]
    size = len(sought)
    if not size:
        return ()
    if size < len(counts):
        begin, end, counts = begin.take(sought), end.take(sought), counts.take(sought)
    total = counts.item() if size == 1 else int(counts.sum())
    if total == size == len(needles):
        # The commonest case, a row for every key: nothing to repeat, and nothing to gather from the needles.
        return (_verify(needles, None, hay, begin),)
    if total <= limit:
        which, rows = expand(begin, end)
        return (_verify(needles, sought.take(which), hay, rows),)
    return (_verify(needles, sought.take(which), hay, rows) for which, rows in _slices(begin, end, limit))


def _seek_one(needle: Batch, hay: Batch, limit: int) -> Iterable[Pair]:
    """As :func:`_seek`, for a batch of a single row."""
    begin, end = hay.range_of(needle.order.item())
    if begin == end:
        return ()
    if end - begin == 1:
        return (_verify(needle, None, hay, np.array((begin,))),)
    return (
        _verify(needle, np.zeros(min(limit, end - low), np.intp), hay, np.arange(low, min(low + limit, end)))
        for low in range(begin, end, limit)
    )


def _verify(needles: Batch, sought: Rows, hay: Batch, found: Indices) -> Pair:
    """The pairs of which the keys are equal, and not only their hashes."""
    keys = needles.layout.key_of(needles.updates.columns)
    hay_keys = hay.layout.key_of(hay.updates.columns)
    same: Mask | None = None
    for key, hay_key in zip(keys, hay_keys, strict=True):
        equal = _equal(key if sought is None else look(key, sought), look(hay_key, found))
        same = equal if same is None else same & equal
    if same is None or all_true(same):
        return sought, found
    kept = same.nonzero()[0]
    return kept if sought is None else sought.take(kept), found.take(kept)


def _equal(left: Column, right: Column) -> Mask:
    """Where two values are equal and not NULL."""
    equal = left.equal(right)
    valid = left.validity()
    return equal if valid is None else equal & valid


def _slices(begin: Indices, end: Indices, limit: int) -> Iterator[tuple[Indices, Indices]]:
    """All pairs ``(i, position)`` with ``begin[i] <= position < end[i]``, ``limit`` at a time."""
    counts = end - begin
    ends = counts.cumsum()
    starts = ends - counts
    total = int(ends[-1])
    for low in range(0, total, limit):
        high = min(low + limit, total)
        first = int(ends.searchsorted(low, "right"))
        last = int(starts.searchsorted(high, "left"))
        part = slice(first, last)
        # The first and the last key of a slice may have only some of their rows in it.
        from_row = begin[part] + np.maximum(low - starts[part], 0)
        to_row = end[part] - np.maximum(ends[part] - high, 0)
        which, rows = expand(from_row, to_row)
        which += first
        yield which, rows
