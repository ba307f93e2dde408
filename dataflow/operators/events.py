"""Events: the points ``(entry, time)`` at which the state under an entry changes, within one chunk.

Time is totally ordered, so what an operator keeps is the present only; the states inside an interval are found from
the present by running sums over an entry's events in order of time (:meth:`Events.accumulate`), or by rounds: round r
takes every entry's r-th event, so there are as many rounds as one entry has events, usually one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrangements.hash_index import Entries
from ..arrangements.row_table import different_entries
from ..arrangements.updates import Times, squeeze
from ..columns.column import Indices
from ..columns.packed_sort import sort_by
from ..columns.pieces import add_at, repeat

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """The events of a chunk that has several times.

    Attributes:
        order: the chunk's rows by entry, then time.
        starts: where in ``order`` each event begins.
        firsts: the first event of each of ``Events.entries``.
        owners: which of ``Events.entries`` each event belongs to.
    """

    order: Indices
    starts: Indices
    firsts: Indices
    owners: Indices


@dataclass(slots=True, eq=False)
class Events:
    """What changes in a chunk, and when.

    An operator lays out states as the *prior* ones, one per entry, followed by one for each event, the state it leads
    to. :attr:`before` and :attr:`after` are the positions in such a layout of the states around each event.

    Attributes:
        rows: the entry of each row of the chunk.
        entries: the different entries, in the order of the prior states.
        times: the time of each event.
        timeline: None when the chunk has one time only, and so one event for each entry, in the same order.
    """

    rows: Entries
    entries: Entries
    times: Times
    timeline: Timeline | None

    def __len__(self) -> int:
        return len(self.times)

    @property
    def before(self) -> Indices:
        """The position of the state before each event."""
        count = len(self.entries)
        if self.timeline is None:
            return np.arange(count)
        positions = np.arange(count - 1, count - 1 + len(self.times))
        positions[self.timeline.firsts] = np.arange(count)
        return positions

    @property
    def after(self) -> Indices:
        """The position of the state after each event."""
        count = len(self.entries)
        return np.arange(count, count + len(self.times))

    @property
    def last(self) -> Indices:
        """The position of each entry's last state."""
        count = len(self.entries)
        timeline = self.timeline
        if timeline is None:
            return np.arange(count, 2 * count)
        return np.append(timeline.firsts[1:], len(self.times)) + (count - 1)

    @property
    def owners(self) -> Entries:
        """The entry of each event."""
        return self.entries if self.timeline is None else self.entries[self.timeline.owners]

    def representatives(self) -> Indices:
        """A row of the chunk in each event."""
        timeline = self.timeline
        if timeline is not None:
            return timeline.order[timeline.starts]
        if self.entries is self.rows:
            return np.arange(len(self.rows))
        # Entries that are not the rows themselves are sorted.
        result = np.empty(len(self.entries), np.intp)
        result[self.entries.searchsorted(self.rows)] = np.arange(len(self.rows))
        return result

    def accumulate(self, totals: Numbers, changes: Numbers) -> Numbers:
        """Add changes to running totals.

        Args:
            totals: ``(width, capacity)`` numbers by entry; updated in place.
            changes: ``(width, rows)`` numbers by row.

        Returns:
            ``(width, states)`` numbers in the layout of states.
        """
        entries = self.entries
        if len(self.rows) == 1:
            entry = entries.item()
            states = np.empty((len(totals), 2), np.int64)
            states[:, 0] = totals[:, entry]
            np.add(totals[:, entry], changes[:, 0], states[:, 1])
            totals[:, entry] = states[:, 1]
            return states
        prior = totals.take(entries, axis=1)
        timeline = self.timeline
        if timeline is None:
            if len(entries) == len(self.rows):
                after = prior + changes
                totals[:, entries] = after
            else:
                for total, change in zip(totals, changes, strict=True):
                    add_at(total, self.rows, change)
                after = totals.take(entries, axis=1)
        else:
            sums = np.add.reduceat(changes[:, timeline.order], timeline.starts, axis=1)
            # Integers wrap, so a difference of running sums is right even where the sums are not.
            after = np.cumsum(sums, axis=1)
            skipped = (after - sums)[:, timeline.firsts]
            after += (prior - skipped)[:, timeline.owners]
            lasts = np.append(timeline.firsts[1:], len(self.times)) - 1
            totals[:, entries] = after[:, lasts]
        return np.concatenate((prior, after), axis=1)

    def rounds(self) -> Iterator[tuple[Indices, Indices | None]]:
        """For every round its events, at most one for each entry, and the chunk's rows in them (None: all)."""
        timeline = self.timeline
        if timeline is None:
            yield np.arange(len(self.times)), None
            return
        ranks = np.arange(len(self.times)) - timeline.firsts[timeline.owners]
        ends = np.append(timeline.starts[1:], len(self.rows))
        event_of = repeat(np.arange(len(self.times)), ends - timeline.starts)
        row_ranks = ranks[event_of]
        by_rank = np.argsort(ranks, kind="stable")
        rows_by_rank = np.argsort(row_ranks, kind="stable")
        last = int(ranks.max())
        event_bounds = ranks[by_rank].searchsorted(np.arange(last + 2))
        row_bounds = row_ranks[rows_by_rank].searchsorted(np.arange(last + 2))
        for rank in range(last + 1):
            events = by_rank[event_bounds[rank] : event_bounds[rank + 1]]
            rows = rows_by_rank[row_bounds[rank] : row_bounds[rank + 1]]
            yield events, timeline.order[rows]


def find_events(rows: Entries, times: Times, capacity: int) -> Events:
    """The events of a chunk (not empty), given the entry of each row; ``capacity`` is above all entries."""
    size = len(rows)
    if size == 1:
        return Events(rows, rows, times, None)
    times = squeeze(times)
    if times.strides == (0,):
        entries = different_entries(rows, capacity)
        return Events(rows, entries, times[: len(entries)], None)
    order = sort_by((times, rows))
    sorted_rows = rows[order]
    sorted_times = times[order]
    new_entry = np.ones(size, np.bool_)
    new_entry[1:] = sorted_rows[1:] != sorted_rows[:-1]
    new_event = new_entry.copy()
    new_event[1:] |= sorted_times[1:] != sorted_times[:-1]
    starts = new_event.nonzero()[0]
    first_of_entry = new_entry[starts]
    firsts = first_of_entry.nonzero()[0]
    owners = np.cumsum(first_of_entry) - 1
    entries = sorted_rows[starts[firsts]]
    return Events(rows, entries, sorted_times[starts], Timeline(order, starts, firsts, owners))
