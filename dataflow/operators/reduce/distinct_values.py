"""The distinct stage: what of a group's values appears and disappears, for aggregates of distinct values."""

from __future__ import annotations

import numpy as np

from ....messages.types import SqlType
from ...arrangements.hash_index import Entries
from ...arrangements.row_store import grown
from ...arrangements.row_table import RowTable
from ...arrangements.updates import Diffs, Times
from ...columns.column import Column, FixedColumn
from ..events import find_events


class DistinctValues:
    """Counts each value of every group."""

    def __init__(self, type: SqlType) -> None:
        self._values = RowTable((SqlType.BIGINT, type))
        self._counts = np.zeros((1, self._values.capacity), np.int64)

    def transitions(self, groups: Entries, column: Column, times: Times, diffs: Diffs) -> tuple[Diffs, Diffs]:
        """Turn a chunk's multiplicities into those of distinct values.

        Returns:
            For every row of the chunk how often its value appears in its group at its time (1, 0 or -1; of several
            rows with one value and time only one has it), and likewise how often its multiplicity becomes negative.
        """
        table = self._values
        entries = table.locate((FixedColumn(SqlType.BIGINT, groups), column), len(groups))
        events = find_events(entries, times, table.capacity)
        if table.capacity > self._counts.shape[1]:
            self._counts = grown(self._counts[0], table.capacity)[None]
        counts = events.accumulate(self._counts, diffs[None])[0]
        representatives = events.representatives()
        before, after = events.before, events.after
        results: list[Diffs] = []
        for held in (counts > 0, counts < 0):
            flags = held.astype(np.int64)
            changes = np.zeros(len(groups), np.int64)
            changes[representatives] = flags[after] - flags[before]
            results.append(changes)
        gone = events.entries[counts[events.last] == 0]
        if len(gone):
            table.release(gone)
        appearing, negative = results
        return appearing, negative
