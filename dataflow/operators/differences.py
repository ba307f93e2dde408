"""From the states of entries to updates: what an operator emits that has at most one output row per entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrangements.hash_index import Entries
from ..arrangements.row_table import RowTable
from ..arrangements.updates import Diffs, Updates, error_updates, uniform
from ..columns.column import Column, Mask
from ..columns.grouping import all_true
from .events import Events


def row_changes(events: Events, keys: RowTable, columns: Sequence[Column], present: Mask) -> Updates | None:
    """Retractions of old rows and insertions of new ones, consolidated.

    Args:
        keys: the first columns of the row of an entry.
        columns: the others, one value for every state (see :class:`Events`).
        present: in which states the entry has a row.
    """
    if events.timeline is None:
        return _changes_at_once(events, keys, columns, present)
    before, after = events.before, events.after
    old, new = present[before], present[after]
    equal = old & new
    for column in columns:
        equal &= column.take(before).equal(column.take(after))
    retracted = (old & ~equal).nonzero()[0]
    inserted = (new & ~equal).nonzero()[0]
    states = np.concatenate((before[retracted], after[inserted]))
    if not len(states):
        return None
    owners = events.owners[np.concatenate((retracted, inserted))]
    times = np.concatenate((events.times[retracted], events.times[inserted]))
    rows = (*keys.take(owners), *[c.take(states) for c in columns])
    return Updates(rows, times, _signs(len(retracted), len(inserted)))


def _changes_at_once(events: Events, keys: RowTable, columns: Sequence[Column], present: Mask) -> Updates | None:
    """As :func:`row_changes`, when each entry has one event: the states before and after are halves."""
    entries = events.entries
    count = len(entries)
    changed = ~_equal_halves(columns, count)
    if all_true(changed) and all_true(present):
        # As most often: all rows of before go and all of after come, and there is nothing to pick out.
        retractions = insertions = count
        entries = np.concatenate((entries, entries))
    else:
        old, new = present[:count], present[count:]
        old, new = old & (changed | ~new), new & (changed | ~old)
        retracted, inserted = old.nonzero()[0], new.nonzero()[0]
        retractions, insertions = len(retracted), len(inserted)
        if not retractions and not insertions:
            return None
        if not retractions and insertions == count:
            columns = [c.slice(count, 2 * count) for c in columns]
        else:
            entries = entries[np.concatenate((retracted, inserted))]
            states = np.concatenate((retracted, inserted + count))
            columns = [c.take(states) for c in columns]
    times = uniform(int(events.times[0]), retractions + insertions)
    return Updates((*keys.take(entries), *columns), times, _signs(retractions, insertions))


def _equal_halves(columns: Sequence[Column], count: int) -> Mask:
    """Whether the first ``count`` values of all columns equal the second."""
    result: Mask | None = None
    for column in columns:
        equal = column.equal_halves()
        result = equal if result is None else result & equal
    return np.ones(count, np.bool_) if result is None else result


def _signs(retractions: int, insertions: int) -> Diffs:
    """Minus one for each retraction, then one for each insertion."""
    if not retractions:
        return uniform(1, insertions)
    if not insertions:
        return uniform(-1, retractions)
    if retractions == insertions == 1:
        return _ONE_EACH
    diffs = np.ones(retractions + insertions, np.int64)
    diffs[:retractions] = -1
    return diffs


_ONE_EACH: Diffs = np.array((-1, 1))


def error_changes(events: Events, errors: Mapping[int, str]) -> Updates | None:
    """Retractions of old errors and insertions of new ones, given the error of every state that has one."""
    if not errors:
        return None
    messages: list[str] = []
    times: list[int] = []
    diffs: list[int] = []
    failing = np.fromiter(errors, np.int64, len(errors))
    before, after = events.before, events.after
    touched = (np.isin(before, failing) | np.isin(after, failing)).nonzero()[0]
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
