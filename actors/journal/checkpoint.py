"""Checkpoints: what a journal amounts to, written into a file of its own, so that the records before it can go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...dataflow.arrangements.updates import Updates, concat_optional
from ...messages.frontiers import Timestamp
from ...messages.ids import GlobalId
from .messages import Defined, TableContents
from .records import Checkpoint, Record, TableRows

ROWS = 1 << 16
"""In one record."""


def checkpoint_records(
    latest: Timestamp, next_id: int, defined: Iterable[Defined], tables: dict[GlobalId, TableContents], last: int
) -> Iterator[Record]:
    """The records of a checkpoint, made one after the other. ``last``: the last record that is in it."""
    yield Checkpoint(latest, next_id, last)
    for each in defined:
        yield each
        contents = tables.get(each.info.id)
        if contents is not None:
            rows = live(contents)
            for begin in range(0, len(rows) if rows is not None else 0, ROWS):
                assert rows is not None, "there are rows"
                yield TableRows(each.info.id, rows.slice(begin, begin + ROWS))


def live(contents: TableContents) -> Updates | None:
    """The rows and the history that a table still has; nothing that nobody can read."""
    updates = concat_optional(contents.parts)
    if updates is None:
        return None
    return updates.advance(contents.since).consolidate()
