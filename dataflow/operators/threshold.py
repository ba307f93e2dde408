"""The threshold operator: the rows whose multiplicity is positive."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...messages.plans import ThresholdNode
from ..arrangements.row_store import grown
from ..arrangements.row_table import RowTable
from ..arrangements.updates import Chunk, Updates
from .events import Numbers, find_events
from .parts import GroupLogic, divisions


class ThresholdLogic(GroupLogic):
    """Maintains, at every time, the rows with positive multiplicity, as often as they are there; the others vanish.

    Args:
        node: the plan; its input arrives exchanged by the whole row.
    """

    def __init__(self, node: ThresholdNode) -> None:
        self._rows = RowTable([t.type for t in node.types])
        self._counts: Numbers = np.zeros((1, self._rows.capacity), np.int64)

    def process_in_parts(self, chunk: Chunk, fuel: int) -> Iterator[Chunk]:
        for part in divisions(chunk, () if chunk.oks is None else chunk.oks.columns, fuel):
            yield self.process(part)

    def process(self, chunk: Chunk) -> Chunk:
        oks = chunk.oks
        if oks is None or not len(oks):
            return chunk
        table = self._rows
        events = find_events(table.locate(oks.columns, len(oks)), oks.times, table.capacity)
        if table.capacity > self._counts.shape[1]:
            self._counts = grown(self._counts[0], table.capacity)[None]
        counts = events.accumulate(self._counts, oks.diffs[None])[0]
        visible = np.maximum(counts, 0)
        diffs = visible[events.after] - visible[events.before]
        changed = diffs.nonzero()[0]
        result: Updates | None = None
        if len(changed):
            rows = table.take(events.owners[changed])
            result = Updates(rows, events.times[changed], diffs[changed])
        gone = events.entries[counts[events.last] == 0]
        if len(gone):
            table.release(gone)
        return Chunk(chunk.lower, chunk.upper, result, chunk.errs)
