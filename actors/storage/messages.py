"""What the storage hears and tells.

A *shard* is the stored form of a collection: updates with ``since`` (compacted up to there) and ``upper`` (sealed up to
there). *Tables* share one upper: each commit advances all of them. Other shards (materialized views, scripts) have
their own upper and are written by compare-and-append.

What names a shard that does not exist *yet* waits for its creation, because messages of different senders may
overtake each other; a shard that was dropped is refused.

Workers subscribe to shards. Each gets its share of the rows: rows are cut into ``workers`` contiguous slices, and
worker ``worker`` gets that one. After the snapshot, each commit is one :class:`ShardChanges` per worker.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pykka

from ...dataflow.arrangements.updates import Chunk, Updates
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId
from ...messages.types import Schema
from ..dispatch.oneshot import OneShot
from ..requests import Change

Subscription = int
"""A number that the subscribing worker chooses, unique within the worker; one per source of each dataflow."""


class Message(msgspec.Struct, frozen=True, eq=False):
    """Base of the messages here."""


# --- Shards ------------------------------------------------------------------------------------------------------


class CreateTableShard(Message, frozen=True, eq=False):
    """A table, empty, with the tables' common upper. ``key``: positions of its unique key, if any. ``reply`` gets the
    shard's id."""

    shard: GlobalId
    name: str
    schema: Schema
    since: Timestamp
    key: tuple[int, ...] = ()
    reply: OneShot[GlobalId] | None = None


class CreateShard(Message, frozen=True, eq=False):
    """A shard with its own upper, empty, upper 0. One that exists with the same schema stays as it is."""

    shard: GlobalId
    schema: Schema
    since: Timestamp = 0
    reply: OneShot[GlobalId] | None = None


class DropShard(Message, frozen=True, eq=False):
    """Forget a shard. Subscribers hear a last change with the empty upper."""

    shard: GlobalId


class CompactShard(Message, frozen=True, eq=False):
    """Nobody will read the shard at times before ``since``. Never regresses (an earlier one is ignored)."""

    shard: GlobalId
    since: Timestamp


# --- Writing -----------------------------------------------------------------------------------------------------


class CommitTables(Message, frozen=True, eq=False):
    """Apply a transaction at ``timestamp`` and advance the upper of all tables to ``timestamp + 1``, also when the
    transaction is refused (then nothing else changes). ``reply`` gets ``Committed``."""

    timestamp: Timestamp
    changes: tuple[Change, ...]
    reply: OneShot[Any]


class CompareAndAppend(Message, frozen=True, eq=False):
    """Append updates with times in ``[lower, upper)`` to a shard whose upper is ``lower``, and advance it to ``upper``.

    ``writer`` hears :class:`Appended`, or :class:`UpperMismatch` with the shard's upper and then nothing was written.
    """

    shard: GlobalId
    lower: Timestamp
    upper: Frontier
    updates: Updates | None
    writer: pykka.ActorRef[Any]
    errors: Updates | None = None


class Appended(Message, frozen=True, eq=False):
    shard: GlobalId
    upper: Frontier


class UpperMismatch(Message, frozen=True, eq=False):
    shard: GlobalId
    expected: Timestamp
    upper: Frontier


class AppendRows(Message, frozen=True, eq=False):
    """For scripts: append to a shard and seal it to ``upper``; created on its first append. ``reply`` gets the number
    of rows; refused when a time is before the shard's upper."""

    shard: GlobalId
    schema: Schema
    updates: Updates
    upper: Timestamp
    reply: OneShot[int]


class ResumeTables(Message, frozen=True, eq=False):
    """Before anything else: commits are readable and answered once this journal has written them, and ``controller``
    hears of it. Tables go on after ``latest``; each, when it is created again, has what it held: ``contents``."""

    journal: pykka.ActorRef[Any]
    controller: pykka.ActorRef[Any]
    latest: Timestamp
    contents: dict[GlobalId, Updates]


# --- Subscribing -------------------------------------------------------------------------------------------------


class SubscribeShard(Message, frozen=True, eq=False):
    """Send this worker its share of a shard: a :class:`ShardSnapshot`, then every change."""

    shard: GlobalId
    subscription: Subscription
    as_of: Timestamp
    worker: int
    workers: int
    subscriber: pykka.ActorRef[Any]


class UnsubscribeShard(Message, frozen=True, eq=False):
    shard: GlobalId
    subscription: Subscription
    subscriber: pykka.ActorRef[Any]


class UnsubscribeAll(Message, frozen=True, eq=False):
    """End every subscription of this worker (it starts anew after a reconnect, or it died)."""

    subscriber: pykka.ActorRef[Any]


class ShardSnapshot(Message, frozen=True, eq=False):
    """To one subscription: the first chunk, ``[0, upper)``; times up to ``as_of`` are advanced to ``as_of``.

    What follows are the subscription's chunks in :class:`ShardChanges`, from ``upper`` on.
    """

    shard: GlobalId
    subscription: Subscription
    chunk: Chunk


class SnapshotRefused(Message, frozen=True, eq=False):
    """The shard does not exist, or was compacted past ``as_of``."""

    shard: GlobalId
    subscription: Subscription
    message: str


class ShardChanges(Message, frozen=True, eq=False):
    """One commit, for one worker: a chunk for **every** subscription whose shard's upper advanced, each starting where
    the subscription's previous chunk ended. Tables without a changed row share one empty chunk."""

    chunks: tuple[tuple[Subscription, Chunk], ...]


# --- Reading -----------------------------------------------------------------------------------------------------


class ReadShard(Message, frozen=True, eq=False):
    """Read a share of a shard at one time, as soon as it is sealed. ``reader`` hears :class:`ShardRead`."""

    shard: GlobalId
    token: str
    timestamp: Timestamp
    worker: int
    workers: int
    reader: pykka.ActorRef[Any]


class CancelRead(Message, frozen=True, eq=False):
    """The reader no longer waits for this read."""

    token: str
    reader: pykka.ActorRef[Any]


class ShardRead(Message, frozen=True, eq=False):
    """Consolidated rows at the time asked for (diffs are multiplicities; the share of one row is on one worker).
    ``error``: it could not be read, or the collection has an error at that time."""

    token: str
    updates: Updates | None
    error: str | None = None


class Maintain(Message, frozen=True, eq=False):
    """To itself, when nothing has happened for a moment: tidy up."""
