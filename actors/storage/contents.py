"""The updates of a shard, in one of two forms.

A shard starts as a *log*: parts in the order they came, never sorted, so data that is only inserted pays nothing.
The first retraction (or a unique key) turns it into an *arrangement* by key, in which rows are found without a scan
and history collapses as ``since`` advances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from ...dataflow.arrangements.batch import Batch, Layout
from ...dataflow.arrangements.spine import Spine
from ...dataflow.arrangements.updates import Diffs, Updates, concat_optional, concat_updates
from ...dataflow.columns.column import Column
from ...dataflow.columns.grouping import row_hashes, rows_equal
from ...dataflow.columns.hashing import Hashes
from ...messages.frontiers import Frontier, Timestamp

_FANOUT = 8
_LARGE = 1 << 18
"""Parts of so many rows are not concatenated in passing: by then their number costs less than copying them."""


class Contents(Protocol):
    """What a shard holds. Times before ``since`` may be advanced to it."""

    def append(self, updates: Updates, lower: Timestamp, upper: Frontier) -> None:
        """Add updates with times in ``[lower, upper)``."""
        ...

    def parts(self) -> Iterator[Updates]:
        """Everything, in parts; equal rows may be in several, and cancel out."""
        ...

    def everything(self) -> Updates | None:
        """Everything at once; None when there is nothing."""
        ...

    def advance_since(self, since: Timestamp) -> None:
        """Nobody reads at times before ``since``."""
        ...

    def maintain(self, fuel: int) -> bool:
        """Tidy about ``fuel`` rows while nobody waits; whether there is more to do."""
        ...


class Log:
    """Parts in the order they came, of geometrically decreasing size: a row is copied O(log n) times."""

    def __init__(self, since: Timestamp = 0) -> None:
        self._parts: list[Updates] = []
        self._since = since

    def append(self, updates: Updates, lower: Timestamp, upper: Frontier) -> None:
        parts = self._parts
        parts.append(updates)
        limit = _FANOUT
        while limit <= len(updates):
            limit *= _FANOUT
        # Eight parts smaller than 8**k are concatenated to one, and so on upwards.
        while len(parts) >= _FANOUT and len(parts[-_FANOUT]) < limit <= _LARGE:
            parts[-_FANOUT:] = [self._concat(parts[-_FANOUT:])]
            limit *= _FANOUT

    def parts(self) -> Iterator[Updates]:
        return iter(self._parts)

    def everything(self) -> Updates | None:
        if not self._parts:
            return None
        if len(self._parts) > 1:
            # Kept, so that the next one who asks gets it for nothing.
            self._parts = [self._concat(self._parts)]
        return self._parts[0]

    def advance_since(self, since: Timestamp) -> None:
        self._since = max(self._since, since)

    def maintain(self, fuel: int) -> bool:
        return False

    def _concat(self, parts: Sequence[Updates]) -> Updates:
        return concat_updates(parts).advance(self._since)


class Arranged:
    """A spine of batches sorted by key."""

    def __init__(self, layout: Layout, since: Timestamp = 0) -> None:
        self.layout = layout
        self._spine = Spine(layout, since)

    @staticmethod
    def of(contents: Contents, layout: Layout, since: Timestamp, upper: Frontier) -> Arranged:
        """The same updates, arranged."""
        arranged = Arranged(layout, since)
        updates = contents.everything()
        if updates is not None:
            arranged.append(updates.advance(since), 0, upper)
        return arranged

    def append(self, updates: Updates, lower: Timestamp, upper: Frontier) -> None:
        self._spine.insert(Batch.build(self.layout, updates, lower, upper, self._spine.since))

    def find(self, keys: Sequence[Column]) -> list[Updates]:
        """The updates of rows with one of these keys (columns side by side, distinct rows)."""
        hashes = row_hashes(keys, len(keys[0]))
        found: list[Updates] = []
        for batch in self._spine.batches:
            _, rows = batch.find(keys, hashes)
            if len(rows):
                found.append(batch.updates.take(rows))
        return found

    def count(self, keys: Sequence[Column], rows: Sequence[Column] | None = None) -> Diffs:
        """For each of these keys, the multiplicities of its rows added up (of rows equal to the one beside it in
        ``rows``, when given)."""
        hashes = row_hashes(keys, len(keys[0]))
        counts = np.zeros(len(hashes), np.int64)
        for batch in self._spine.batches:
            add_counts(counts, batch, keys, hashes, rows)
        return counts

    def parts(self) -> Iterator[Updates]:
        return (batch.updates for batch in self._spine.batches)

    def everything(self) -> Updates | None:
        return concat_optional([batch.updates for batch in self._spine.batches])

    def advance_since(self, since: Timestamp) -> None:
        self._spine.advance_since(since)

    def maintain(self, fuel: int) -> bool:
        return self._spine.tidy(fuel)


def add_counts(
    counts: Diffs, batch: Batch, keys: Sequence[Column], hashes: Hashes, rows: Sequence[Column] | None
) -> None:
    """Add what one batch has to the counts of :meth:`Arranged.count`."""
    which, found = batch.find(keys, hashes)
    if not len(which):
        return
    if rows is not None:
        same = rows_equal(rows, which, batch.updates.columns, found)
        which, found = which[same], found[same]
    np.add.at(counts, which, batch.updates.diffs[found])
