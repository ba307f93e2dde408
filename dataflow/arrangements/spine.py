"""Spines: batches of geometrically decreasing size, merged incrementally.

Invariant: the batches are contiguous in time, oldest first, and together hold every update of the collection, with
times before ``since`` possibly advanced to it. A spine that is *tidy* holds O(log n) batches: whenever those behind
a batch are together half its size they are merged with it, so a row takes part in O(log n) merges. A merge proceeds
in slices of the order, paid with fuel (rows); its inputs stay readable until it is done.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...messages.frontiers import Timestamp
from .batch import Batch, Layout, cut
from .updates import Updates, concat_updates, is_uniform, squeeze

_LOOSE_BATCHES = 8
_LOOSE_ROWS = 2048
"""So many batches, of so few rows together, may trail behind unmerged: merging costs some 100 µs however few rows
there are, and seeking in a small batch a tenth of that."""


class Merge:
    """A merge of contiguous batches in progress."""

    __slots__ = ("_parts", "_positions", "batches", "since")

    def __init__(self, batches: tuple[Batch, ...], since: Timestamp) -> None:
        self.batches = batches
        self.since = since
        self._positions = [0] * len(batches)
        self._parts: list[Batch] = []

    def work(self, fuel: int) -> Batch | None:
        """Merge about ``fuel`` more rows; the merged batch once all are."""
        ends = cut(self.batches, self._positions, fuel)
        slices = [
            b if e - p == len(b) else b.slice(p, e)
            for b, p, e in zip(self.batches, self._positions, ends, strict=True)
        ]
        self._parts.append(Batch.merge(slices, self.since))
        self._positions = ends
        if any(e < len(b) for b, e in zip(self.batches, ends, strict=True)):
            return None
        return _join(self._parts)


def _join(parts: Sequence[Batch]) -> Batch:
    """One batch from consecutive ranges of the order."""
    first = parts[0]
    if len(parts) == 1:
        return first
    order = np.concatenate([p.order for p in parts])
    updates = concat_updates([p.updates for p in parts])
    updates = Updates(updates.columns, squeeze(updates.times), squeeze(updates.diffs))
    return Batch(first.layout, order, updates, first.lower, first.upper, first.since)


class Spine:
    """The batches of one arranged collection. ``batches`` is replaced, never changed: who took it keeps it."""

    __slots__ = ("_merge", "batches", "layout", "since")

    def __init__(self, layout: Layout, since: Timestamp = 0) -> None:
        self.layout = layout
        self.since = since
        self.batches: tuple[Batch, ...] = ()
        self._merge: Merge | None = None

    def __len__(self) -> int:
        return sum(len(b) for b in self.batches)

    @property
    def nbytes(self) -> int:
        return sum(b.nbytes for b in self.batches)

    def advance_since(self, since: Timestamp) -> None:
        """From now on no reader needs times before ``since``."""
        self.since = max(self.since, since)

    def insert(self, batch: Batch) -> None:
        """Append a batch, and do a share of the merging that is in proportion to it."""
        if not len(batch):
            return
        self.batches = (*self.batches, batch)
        self.work(8 * len(batch) + 64)

    def work(self, fuel: int, *, idle: bool = False) -> bool:
        """Do ``fuel`` rows of merging.

        Args:
            idle: nobody waits, so collapse history that only ``since`` made collapsible, too.

        Returns:
            Whether there is more to do.
        """
        if self._merge is None:
            chosen = self._untidy(idle)
            if chosen is None:
                return False
            self._merge = Merge(chosen, self.since)
            fuel = max(fuel, _LOOSE_ROWS)
        merged = self._merge.work(fuel)
        if merged is None:
            return True
        inputs = self._merge.batches
        at = self.batches.index(inputs[0])
        middle = (merged,) if len(merged) else ()
        self.batches = (*self.batches[:at], *middle, *self.batches[at + len(inputs) :])
        self._merge = None
        return self._untidy(idle) is not None

    def _untidy(self, idle: bool) -> tuple[Batch, ...] | None:
        """The batches to merge next."""
        tail = 0
        candidate: int | None = None
        loose = _LOOSE_BATCHES if not idle else 2
        for i in range(len(self.batches) - 1, -1, -1):
            size = len(self.batches[i])
            behind = len(self.batches) - 1 - i
            if 2 * tail >= size and (behind + 1 >= loose or tail >= _LOOSE_ROWS):
                candidate = i
            tail += size
        if candidate is not None:
            return self.batches[candidate:]
        if idle:
            for batch in self.batches:
                if not is_uniform(batch.updates.times) and batch.upper is not None and batch.upper <= self.since + 1:
                    return (batch,)
        return None
