"""Spines: batches of geometrically decreasing size, merged incrementally.

Invariant: the batches are contiguous in time, oldest first, and together hold every update of the collection, with
times before ``since`` possibly advanced to it. A spine that is *tidy* holds O(log n) batches: whenever those behind
a batch are together as large as it they are merged with it, so a row takes part in O(log n) merges, not counting those
of a few hundred rows, which take the same time whatever their sizes. A merge proceeds in slices of the order, paid with
fuel (rows); its inputs stay readable until it is done, and small merges go on behind a large one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...messages.frontiers import Timestamp
from .batch import Batch, Layout, cut
from .updates import Updates, concat_updates, is_uniform, squeeze

_LOOSE_BATCHES = 12
_LOOSE_ROWS = 4096
"""So many batches, of so few rows together, may trail behind unmerged: merging costs some 40 µs however few rows
there are, and seeking in a batch of a tick a hundredth of that."""
_SMALL_ROWS = 512
"""Up to so many rows are one batch at once, whatever the sizes of its inputs: merging costs no more than that of a
few rows, and who seeks a key looks into one batch instead of one for every power of two."""
_AT_ONCE = 2 * _LOOSE_ROWS
"""So few rows are merged at once and not in pieces: half a millisecond."""
_LEAST_FUEL = 1024
"""Fuel is saved up to so many rows, for the same reason, and because thousands of slices take long to be joined."""


class Merge:
    """A merge of contiguous batches in progress."""

    __slots__ = ("_fuel", "_parts", "_positions", "batches", "since")

    def __init__(self, batches: tuple[Batch, ...], since: Timestamp) -> None:
        self.batches = batches
        self.since = since
        self._positions = [0] * len(batches)
        self._parts: list[Batch] = []
        self._fuel = 0

    def work(self, fuel: int) -> Batch | None:
        """Merge about ``fuel`` more rows, now or once it is worth it; the merged batch once all are."""
        self._fuel += fuel
        if self._fuel < _LEAST_FUEL:
            return None
        ends = cut(self.batches, self._positions, self._fuel)
        self._fuel = 0
        slices = [
            b if e - p == len(b) else b.slice(p, e) for b, p, e in zip(self.batches, self._positions, ends, strict=True)
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
    """The batches of one arranged collection. ``batches`` is replaced, never changed: who took it may keep it.
    ``merges``: how many were completed."""

    __slots__ = ("_looked", "_merges", "batches", "layout", "merges", "since")

    def __init__(self, layout: Layout, since: Timestamp = 0) -> None:
        self.layout = layout
        self.since = since
        self.batches: tuple[Batch, ...] = ()
        self.merges = 0
        # Under way, of older and larger batches first; they have no batch in common.
        self._merges: list[Merge] = []
        # The since at which no small batch was history.
        self._looked = since

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
        self._work(8 * len(batch) + 64, idle=False)

    def tidy(self, fuel: int) -> bool:
        """Do ``fuel`` rows of each merge that is due, while nobody waits, until few batches are left and no history
        that nobody can read; whether there is more to do."""
        return self._work(fuel, idle=True) and (bool(self._merges) or self._untidy(idle=True) is not None)

    def _work(self, fuel: int, *, idle: bool) -> bool:
        """Do ``fuel`` rows of each merge that is due; whether any was."""
        chosen = self._untidy(idle=idle)
        if chosen is not None:
            if sum([len(b) for b in chosen]) <= _AT_ONCE:
                self._replace(chosen, Batch.merge(chosen, self.since))
            else:
                self._merges.append(Merge(chosen, self.since))
        elif not self._merges:
            return False
        for merge in reversed(self._merges.copy()):
            self._advance(merge, fuel)
        return True

    def _advance(self, merge: Merge, fuel: int) -> None:
        merged = merge.work(fuel)
        if merged is not None:
            self._merges.remove(merge)
            self._replace(merge.batches, merged)

    def _replace(self, inputs: tuple[Batch, ...], merged: Batch) -> None:
        self.merges += 1
        at = self.batches.index(inputs[0])
        middle = (merged,) if len(merged) else ()
        self.batches = (*self.batches[:at], *middle, *self.batches[at + len(inputs) :])

    def _untidy(self, *, idle: bool) -> tuple[Batch, ...] | None:
        """The batches to merge next: some of those that no merge has yet, up to the last one; or one of which only
        ``since`` has made the times one."""
        batches = self.batches
        first = batches.index(self._merges[-1].batches[-1]) + 1 if self._merges else 0
        loose = 2 if idle else _LOOSE_BATCHES
        tail = 0
        candidate: int | None = None
        for i in range(len(batches) - 1, first - 1, -1):
            size = len(batches[i].order)
            if (tail >= size or tail + size <= _SMALL_ROWS) and (len(batches) - i >= loose or tail >= _LOOSE_ROWS):
                candidate = i
            tail += size
        if candidate is not None:
            return batches[candidate:]
        if (idle or self._looked < self.since) and not self._merges:
            for batch in batches:
                # Lookups go through all the history that a small batch has, and it costs little to be rid of.
                if (idle or len(batch.order) <= _AT_ONCE) and self._is_history(batch):
                    return (batch,)
            self._looked = self.since
        return None

    def _is_history(self, batch: Batch) -> bool:
        """Whether a batch tells times apart that no reader does any more."""
        return not is_uniform(batch.updates.times) and batch.upper is not None and batch.upper <= self.since + 1
