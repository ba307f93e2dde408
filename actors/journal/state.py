"""What a journal amounts to: the records of it, one applied after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from ...dataflow.arrangements.updates import Updates, concat_updates
from ...messages.frontiers import Timestamp
from ...messages.ids import GlobalId
from .messages import Defined, Dropped, TablesWritten
from .records import Checkpoint, Record, TableRows


@dataclass(slots=True)
class CatalogState:
    """What was defined. Invariant: every id that was ever given has a number less than ``next_id``."""

    next_id: int = 1
    defined: dict[GlobalId, Defined] = field(default_factory=dict[GlobalId, Defined])
    """In the order in which they were created: users after what they use."""

    def apply(self, entry: Defined | Dropped) -> None:
        match entry:
            case Defined(info):
                self.defined[info.id] = entry
                self.next_id = max(self.next_id, info.id.number + 1)
            case Dropped(ids):
                for id in ids:
                    self.defined.pop(id, None)


@dataclass(slots=True)
class JournalState:
    """What was defined, and what the tables hold, after the transaction of ``latest``."""

    latest: Timestamp = 0
    catalog: CatalogState = field(default_factory=CatalogState)
    parts: dict[GlobalId, list[Updates]] = field(default_factory=dict[GlobalId, list[Updates]])

    def apply(self, record: Record) -> None:
        """Apply the next record."""
        match record:
            case TablesWritten(timestamp, changed):
                self.latest = max(self.latest, timestamp)
                for id, updates in changed.items():
                    self._add(id, updates)
            case Defined():
                self.catalog.apply(record)
            case Dropped():
                self.catalog.apply(record)
                for id in record.ids:
                    self.parts.pop(id, None)
            case Checkpoint(latest, next_id):
                self.latest = latest
                self.catalog.next_id = next_id
            case TableRows(table, rows):
                self._add(table, rows)
            case _:
                assert_never(record)

    def _add(self, id: GlobalId, updates: Updates) -> None:
        # A write may be logged just after its table was dropped: the storage had it before it heard of that.
        if id in self.catalog.defined:
            self.parts.setdefault(id, []).append(updates)

    def contents(self) -> dict[GlobalId, Updates]:
        """What each table holds, if anything."""
        return {id: concat_updates(parts) for id, parts in self.parts.items()}
