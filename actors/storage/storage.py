"""The storage actor: owns the shards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pykka

from ...dataflow.arrangements.updates import Chunk, Updates
from ...messages.errors import NotReadableError, PillionError, ProtocolError, WriteBehindUpperError
from ...messages.frontiers import Frontier, Timestamp, is_sealed, less_equal
from ...messages.ids import GlobalId
from ...messages.types import Schema
from ..dispatch.base import SystemActor
from ..errors import UnknownCollection
from ..journal.messages import Durable, JournalFailed, Restored, Snapshot, TableContents, TablesPublished, TakeSnapshot
from ..requests import Change, Committed, Delete, DeleteKeys, DeleteWhere, Insert, UpdateWhere, Upsert
from .messages import (
    Appended,
    AppendRows,
    CancelRead,
    CommitTables,
    CompactShard,
    CompareAndAppend,
    CreateShard,
    CreateTableShard,
    DropShard,
    Maintain,
    Message,
    ReadShard,
    ResumeTables,
    ShardRead,
    ShardSnapshot,
    SnapshotRefused,
    SubscribeShard,
    UnsubscribeAll,
    UnsubscribeShard,
    UpperMismatch,
)
from .pending import Pending, Transaction, answer, merged
from .shard import Shard, Timeline, share
from .subscribers import Following, Subscribers
from .transaction import draft_transaction

_FEW_ROWS = 10_000
"""Changes of no more of them are soon written."""
_FIRST_UPPER: Timestamp = 1
"""Tables are sealed at time 0, and empty then."""

_MAINTAIN_AFTER = 0.02
"""Seconds without which tidying would compete with a burst of commits."""
_MAINTAIN_FUEL = 1 << 16
"""Rows per step of tidying: a few milliseconds."""


class Storage(SystemActor):
    """Owns every shard of a system.

    Args:
        trust: run Python functions in predicates and assignments.
    """

    handlers: ClassVar = {
        CreateTableShard: "create_table",
        CreateShard: "create_shard",
        DropShard: "drop",
        CompactShard: "compact",
        CommitTables: "commit",
        CompareAndAppend: "compare_and_append",
        AppendRows: "append_rows",
        SubscribeShard: "subscribe",
        UnsubscribeShard: "unsubscribe",
        UnsubscribeAll: "unsubscribe_all",
        ReadShard: "read",
        CancelRead: "cancel_read",
        Maintain: "maintain",
        ResumeTables: "resume_tables",
        Durable: "durable",
        JournalFailed: "journal_failed",
        TakeSnapshot: "take_snapshot",
    }

    def __init__(self, *, trust: bool = True) -> None:
        super().__init__()
        self._trust = trust
        self._timeline = Timeline(_FIRST_UPPER)
        self._shards: dict[GlobalId, Shard] = {}
        self._tables: dict[GlobalId, Shard] = {}
        self._dropped: set[GlobalId] = set()
        self._early: dict[GlobalId, list[Message]] = {}
        """What named a shard that does not exist yet, in order."""
        self._subscribers = Subscribers()
        self._reads: dict[GlobalId, list[ReadShard]] = {}
        """Reads at times that are not sealed, by shard."""
        self._maintaining = False
        self._pending: Pending | None = None
        """What the journal has, when there is one."""
        self._journal: pykka.ActorRef[Any] | None = None
        self._controller: pykka.ActorRef[Any] | None = None
        self._restored: dict[GlobalId, Updates] = {}
        """What tables held before the system was started, until they are created again."""

    def takes_little(self, message: Any) -> bool:
        kind = message.__class__
        return kind is Durable or (kind is CommitTables and all(map(_is_small, message.changes)))

    # --- Shards --------------------------------------------------------------------------------------------------

    def create_table(self, message: CreateTableShard) -> None:
        shard = Shard(
            message.shard,
            message.schema,
            name=message.name,
            since=message.since,
            key=message.key,
            timeline=self._timeline,
        )
        self._tables[message.shard] = shard
        self._restore(shard)
        self._created(shard)
        if message.reply is not None:
            message.reply.resolve(message.shard)

    def create_shard(self, message: CreateShard) -> None:
        if message.shard not in self._shards:
            self._created(Shard(message.shard, message.schema, since=message.since))
        if message.reply is not None:
            message.reply.resolve(message.shard)

    def _created(self, shard: Shard) -> None:
        self._shards[shard.id] = shard
        for message in self._early.pop(shard.id, ()):
            self.receive(message)

    def drop(self, message: DropShard) -> None:
        id = message.shard
        self._dropped.add(id)
        for early in self._early.pop(id, ()):
            self.receive(early)
        shard = self._shards.pop(id, None)
        self._tables.pop(id, None)
        if shard is None:
            return
        if shard.upper is not None:
            self._subscribers.announce({id: Chunk(shard.upper, None)})
        self._subscribers.remove_shard(id)
        for read in self._reads.pop(id, ()):
            self._answer(read, None, str(UnknownCollection(id)))

    def compact(self, message: CompactShard) -> None:
        shard = self._shards.get(message.shard)
        if shard is not None:
            shard.compact(message.since)
            self._maintain_later(shard)

    # --- Writing -------------------------------------------------------------------------------------------------

    def commit(self, message: CommitTables) -> None:
        time, pending = message.timestamp, self._pending
        assert time >= self._timeline.written, "the controller gives out increasing timestamps"
        changed: dict[GlobalId, Updates] = {}
        try:
            if pending is not None and pending.failure is not None and message.changes:
                raise pending.failure
            changed, counts = draft_transaction(self._tables, message.changes, time, trust=self._trust)
            outcome = Committed(time, counts)
        except PillionError as error:
            # The time passes all the same: readers may be waiting for it already.
            outcome = error
        for id, updates in changed.items():
            self._tables[id].append(updates, None, time + 1)
        self._timeline.written = time + 1
        transaction = Transaction(time, changed, outcome, message.reply)
        if pending is None:
            answer(transaction.reply, outcome)
            self._publish(time + 1, changed)
        elif pending.failure is None:
            pending.log(transaction)
        else:
            self._announce([transaction])

    def _publish(self, upper: Timestamp, changed: Mapping[GlobalId, Updates]) -> None:
        """Make what was written before ``upper`` readable."""
        lower, self._timeline.upper = self._timeline.upper, upper
        chunks = dict.fromkeys(self._tables, Chunk(lower, upper))
        for id, updates in changed.items():
            if id in self._tables:  # Dropped since it was written, perhaps.
                chunks[id] = Chunk(lower, upper, updates)
        self._subscribers.announce(chunks)
        if self._reads:
            for id in list(self._reads):
                if id in self._tables:
                    self._retry_reads(self._tables[id])
        for id in changed:
            if id in self._tables:
                self._maintain_later(self._tables[id])

    # --- With a journal ------------------------------------------------------------------------------------------

    def resume_tables(self, message: ResumeTables) -> None:
        self._timeline = Timeline(message.latest + 1)
        self._pending = Pending(message.journal, self.actor_ref)
        self._controller = message.controller
        self._restored = dict(message.contents)
        self._journal = message.journal
        if not self._restored:
            self._journal.tell(Restored(self.actor_ref))

    def _restore(self, shard: Shard) -> None:
        """Give a table what it held before the system was started, if anything."""
        restored = self._restored.pop(shard.id, None)
        if restored is None:
            return
        shard.amend(restored.advance(shard.since), 0)
        if not self._restored:
            assert self._journal is not None, "what was restored comes from a journal"
            self._journal.tell(Restored(self.actor_ref))

    def durable(self, message: Durable) -> None:
        assert self._pending is not None, "a journal speaks to those who use it"
        self._announce(self._pending.durable(message.number))

    def journal_failed(self, message: JournalFailed) -> None:
        pending = self._pending
        assert pending is not None, "a journal speaks to those who use it"
        lost = pending.fail(message.error)
        for transaction in reversed(lost):
            for id, updates in transaction.changed.items():
                if id in self._tables:
                    self._tables[id].amend(updates.negate(), transaction.time)
        self._announce([Transaction(each.time, {}, message.error, each.reply) for each in lost])

    def _announce(self, transactions: list[Transaction]) -> None:
        """Make transactions readable, all at once, and have their applications told."""
        if not transactions:
            return
        last = transactions[-1].time
        self._publish(last + 1, merged(transactions))
        assert self._controller is not None, "who has a journal has a controller"
        # It tells them, so that whoever has an answer reads at its time or later.
        self._reply(self._controller, TablesPublished(last, tuple([(t.reply, t.outcome) for t in transactions])))

    def take_snapshot(self, message: TakeSnapshot) -> None:
        tables = {id: TableContents(shard.since, tuple(shard.oks.parts())) for id, shard in self._tables.items()}
        message.journal.tell(Snapshot(self._timeline.written - 1, tables))

    def compare_and_append(self, message: CompareAndAppend) -> None:
        shard = self._find(message.shard, message)
        if shard is None:
            if message.shard in self._dropped:
                self._reply(message.writer, UpperMismatch(message.shard, message.lower, None))
            return
        if shard.upper != message.lower:
            self._reply(message.writer, UpperMismatch(message.shard, message.lower, shard.upper))
            return
        self._append(shard, message.updates, message.errors, message.upper)
        self._reply(message.writer, Appended(message.shard, message.upper))

    def append_rows(self, message: AppendRows) -> None:
        shard = self._shards.get(message.shard)
        if shard is None:
            shard = Shard(message.shard, message.schema)
            self._created(shard)
        updates = message.updates
        try:
            _check_append(shard, message.schema, updates, message.upper)
        except PillionError as error:
            message.reply.refuse(error)
            return
        self._append(shard, updates if len(updates) else None, None, message.upper)
        message.reply.resolve(len(updates))

    def _append(self, shard: Shard, oks: Updates | None, errs: Updates | None, upper: Frontier) -> None:
        lower = shard.upper
        assert lower is not None, "checked by whoever appends"
        shard.append(oks, errs, upper)
        self._subscribers.announce({shard.id: Chunk(lower, upper, oks, errs)})
        self._retry_reads(shard)
        self._maintain_later(shard)

    # --- Subscribing ---------------------------------------------------------------------------------------------

    def subscribe(self, message: SubscribeShard) -> None:
        shard = self._find(message.shard, message)
        if shard is None and message.shard not in self._dropped:
            return
        try:
            if shard is None:
                raise UnknownCollection(message.shard)
            chunk = shard.snapshot(message.as_of, message.worker, message.workers)
        except PillionError as error:
            self._reply(message.subscriber, SnapshotRefused(message.shard, message.subscription, str(error)))
            return
        following = Following(message.shard, message.subscription, message.worker, message.workers)
        self._subscribers.add(message.subscriber, following)
        self._reply(message.subscriber, ShardSnapshot(message.shard, message.subscription, chunk))

    def unsubscribe(self, message: UnsubscribeShard) -> None:
        self._subscribers.remove(message.subscriber, message.subscription)
        early = self._early.get(message.shard)
        if early:
            self._early[message.shard] = [
                m
                for m in early
                if not isinstance(m, SubscribeShard)
                or m.subscriber != message.subscriber
                or m.subscription != message.subscription
            ]

    def unsubscribe_all(self, message: UnsubscribeAll) -> None:
        self._subscribers.remove_actor(message.subscriber)
        for id, early in self._early.items():
            self._early[id] = [
                m for m in early if not isinstance(m, SubscribeShard) or m.subscriber != message.subscriber
            ]

    # --- Reading -------------------------------------------------------------------------------------------------

    def read(self, message: ReadShard) -> None:
        shard = self._find(message.shard, message)
        if shard is None:
            if message.shard in self._dropped:
                self._answer(message, None, str(UnknownCollection(message.shard)))
            return
        if not is_sealed(shard.upper, message.timestamp):
            self._reads.setdefault(shard.id, []).append(message)
            return
        try:
            updates, error = shard.read(message.timestamp)
        except NotReadableError as unreadable:
            updates, error = None, str(unreadable)
        self._answer(message, updates, error)

    def cancel_read(self, message: CancelRead) -> None:
        for waiting in (self._reads, self._early):
            for id, reads in list(waiting.items()):
                kept = [m for m in reads if not _is_read(m, message)]
                if kept:
                    waiting[id] = kept  # type: ignore[assignment]
                else:
                    del waiting[id]

    def _retry_reads(self, shard: Shard) -> None:
        for read in self._reads.pop(shard.id, ()):
            self.read(read)

    def _answer(self, read: ReadShard, updates: Updates | None, error: str | None) -> None:
        self._reply(read.reader, ShardRead(read.token, share(updates, read.worker, read.workers), error))

    # --- Tidying -------------------------------------------------------------------------------------------------

    def maintain(self, message: Maintain) -> None:
        if any(shard.maintain(_MAINTAIN_FUEL) for shard in list(self._shards.values())):
            self.tell_self(message)
        else:
            self._maintaining = False

    def _maintain_later(self, shard: Shard) -> None:
        """Tidy in a while, if it is a shard that is tidied at all: each moment that is set wakes a thread."""
        if shard.is_tidied and not self._maintaining:
            self._maintaining = True
            self.after(_MAINTAIN_AFTER, Maintain())

    # -------------------------------------------------------------------------------------------------------------

    def _find(self, id: GlobalId, message: Message) -> Shard | None:
        """The shard; None when it was dropped, or when it does not exist yet: then the message waits for it."""
        shard = self._shards.get(id)
        if shard is None and id not in self._dropped:
            self._early.setdefault(id, []).append(message)
        return shard

    def _reply(self, to: pykka.ActorRef[SystemActor], message: Message | TablesPublished) -> None:
        try:
            to.tell(message)
        except pykka.ActorDeadError:
            self._subscribers.remove_actor(to)


def _is_read(message: Message, cancel: CancelRead) -> bool:
    return isinstance(message, ReadShard) and message.token == cancel.token and message.reader == cancel.reader


def _check_append(shard: Shard, schema: Schema, updates: Updates, upper: Timestamp) -> None:
    if schema.types != shard.schema.types:
        raise ProtocolError("the schema is not the one that the shard was created with", shard.id)
    if not less_equal(shard.upper, upper):
        raise WriteBehindUpperError(shard.id, upper, shard.upper)
    if len(updates):
        first, last = int(updates.times.min()), int(updates.times.max())
        if not less_equal(shard.upper, first):
            raise WriteBehindUpperError(shard.id, first, shard.upper)
        if last >= upper:
            raise ProtocolError(f"a row at time {last} is not before the new upper {upper}", shard.id)


def _is_small(change: Change) -> bool:
    """Whether few rows are looked at."""
    match change:
        case Insert(_, columns) | Upsert(_, columns) | Delete(_, columns) | DeleteKeys(_, columns):
            return len(columns[0]) <= _FEW_ROWS
        case DeleteWhere() | UpdateWhere():
            return False
