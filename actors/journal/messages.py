"""What the journal hears and tells.

The storage and the controller log what they are about to do (:class:`Log`), and do it once they hear that it is
:class:`Durable`. Each of them numbers what it logs, increasingly; what it logged is durable in that order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pykka

from ...dataflow.arrangements.updates import Updates
from ...messages.errors import PillionError
from ...messages.frontiers import Timestamp
from ...messages.ids import GlobalId
from ..dispatch.oneshot import OneShot
from ..requests import CollectionInfo


class Message(msgspec.Struct, frozen=True, eq=False):
    """Base of the messages here."""


# --- What is logged ----------------------------------------------------------------------------------------------


class TablesWritten(Message, frozen=True, eq=False):
    """The net updates of a transaction, all at ``timestamp``; none when it was refused or changed nothing."""

    timestamp: Timestamp
    changed: dict[GlobalId, Updates]


class Defined(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A collection that an application created. ``lag``: of its read policy. ``since``: of a table, the earliest time
    at which it is readable."""

    info: CollectionInfo
    lag: int | None
    since: Timestamp = 0


class Dropped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Collections that an application dropped, with those that used them."""

    ids: tuple[GlobalId, ...]


Entry = TablesWritten | Defined | Dropped


# --- To the journal ----------------------------------------------------------------------------------------------


class Log(Message, frozen=True, eq=False):
    """Write an entry. ``sender`` hears :class:`Durable` with ``number`` or a later one of its own, or
    :class:`JournalFailed`."""

    entry: Entry
    number: int
    sender: pykka.ActorRef[Any]


class TableContents(NamedTuple):
    """The updates of one table, in parts; equal rows may be in several. Times before ``since`` stand for ``since``."""

    since: Timestamp
    parts: tuple[Updates, ...]


class Snapshot(Message, frozen=True, eq=False):
    """From the storage: all that it has logged up to now, ``latest`` included, makes these contents."""

    latest: Timestamp
    tables: dict[GlobalId, TableContents]


class Restored(Message, frozen=True, eq=False):
    """From the storage, once: its tables hold what they held before, so that it can be asked for a snapshot."""

    storage: pykka.ActorRef[Any]


class Compacted(Message, frozen=True, eq=False):
    """From the compactor: the checkpoint of this number counts; it has so many ``bytes``."""

    number: int
    bytes: int


class CompactionFailed(Message, frozen=True, eq=False):
    """From the compactor: there is no checkpoint of this number, because of ``reason``; nothing else has changed."""

    number: int
    reason: str


class Flush(Message, frozen=True, eq=False):
    """To itself, behind whatever waits: write all that was logged, with one synchronization."""


# --- From the journal --------------------------------------------------------------------------------------------


class Durable(Message, frozen=True, eq=False):
    """To whoever logs: all up to ``number`` is written."""

    number: int


class JournalFailed(Message, frozen=True, eq=False):
    """To whoever logs: what is not durable yet will not be, nor anything that is logged later."""

    error: PillionError


class TakeSnapshot(Message, frozen=True, eq=False):
    """To the storage: tell the journal what there is, so that it can leave out how it came about."""

    journal: pykka.ActorRef[Any]


class Compact(Message, frozen=True, eq=False):
    """To the compactor: write a checkpoint, of all records up to ``last``; ``journal`` hears when it counts."""

    number: int
    last: int
    latest: Timestamp
    next_id: int
    defined: tuple[Defined, ...]
    tables: dict[GlobalId, TableContents]
    journal: pykka.ActorRef[Any]


class CompactFurther(Message, frozen=True, eq=False):
    """From the compactor to itself: the next step."""


# --- Between the storage and the controller ----------------------------------------------------------------------


class TablesPublished(Message, frozen=True, eq=False):
    """From the storage to the controller: tables are readable up to ``latest``, and these requests are answered, each
    with ``Committed`` or a ``PillionError``."""

    latest: Timestamp
    answers: tuple[tuple[OneShot[Any], Any], ...]
