"""From the states of entries to updates: what an operator emits that has at most one output row per entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrangements.hash_index import Entries
from ..arrangements.row_table import RowTable
from ..arrangements.updates import Updates, error_updates, uniform
from ..columns.column import Column, Mask
from .events import Events


def row_changes(events: Events, keys: RowTable, columns: Sequence[Column], present: Mask) -> Updates | None:
    """Retractions of old rows and insertions of new ones, consolidated.

    Args:
        keys: the first columns of the row of an entry.
        columns: the others, one value for every state (see :class:`Events`).
        present: in which states the entry has a row.
    """
    count = len(events.entries)
    if events.timeline is None:
        # The states before the events and the ones after them are halves.
        old, new = present[:count], present[count:]
        equal = old & new
        for column in columns:
            equal &= column.slice(0, count).equal(column.slice(count, 2 * count))
        unequal = ~equal
        retracted = np.flatnonzero(old & unequal)
        inserted = np.flatnonzero(new & unequal)
        owners = np.concatenate((retracted, inserted))
        states = np.concatenate((retracted, inserted + count))
    else:
        before, after = events.before, events.after
        old, new = present[before], present[after]
        equal = old & new
        for column in columns:
            equal &= column.take(before).equal(column.take(after))
        unequal = ~equal
        retracted = np.flatnonzero(old & unequal)
        inserted = np.flatnonzero(new & unequal)
        owners = events.timeline.owners[np.concatenate((retracted, inserted))]
        states = np.concatenate((before[retracted], after[inserted]))
    if not len(states):
        return None
    if events.timeline is None:
        times = uniform(int(events.times[0]), len(states))
    else:
        times = np.concatenate((events.times[retracted], events.times[inserted]))
    rows = (*keys.take(events.entries[owners]), *[c.take(states) for c in columns])
    if not len(retracted):
        diffs = uniform(1, len(states))
    elif not len(inserted):
        diffs = uniform(-1, len(states))
    else:
        diffs = np.ones(len(states), np.int64)
        diffs[: len(retracted)] = -1
    return Updates(rows, times, diffs)


def error_changes(events: Events, errors: Mapping[int, str]) -> Updates | None:
    """Retractions of old errors and insertions of new ones, given the error of every state that has one."""
    if not errors:
        return None
    messages: list[str] = []
    times: list[int] = []
    diffs: list[int] = []
    failing = np.fromiter(errors, np.int64, len(errors))
    before, after = events.before, events.after
    touched = np.flatnonzero(np.isin(before, failing) | np.isin(after, failing))
    for event in touched.tolist():
        old, new = errors.get(int(before[event])), errors.get(int(after[event]))
        if old == new:
            continue
        for message, diff in ((old, -1), (new, 1)):
            if message is not None:
                messages.append(message)
                times.append(int(events.times[event]))
                diffs.append(diff)
    if not messages:
        return None
    return error_updates(messages, np.array(times, np.int64), np.array(diffs, np.int64))


def show_key(keys: RowTable, entry: int) -> str:
    """The row of an entry, for an error message."""
    values = [column.to_values()[0] for column in keys.take(np.array([entry]))]
    return "(" + ", ".join("NULL" if v is None else repr(v) for v in values) + ")"


def state_entries(events: Events) -> Entries:
    """The entry of each state."""
    return np.concatenate((events.entries, events.owners))
