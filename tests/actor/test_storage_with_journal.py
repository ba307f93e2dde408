"""The storage shows a write, and its application hears of it, once the journal has written it; not before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.errors import DuplicateKey
from pillion.actors.journal.errors import WritesRefused
from pillion.actors.journal.messages import (
    Durable,
    JournalFailed,
    Log,
    Restored,
    Snapshot,
    TablesPublished,
    TablesWritten,
    TakeSnapshot,
)
from pillion.actors.requests import Change, Committed, Delete, Insert
from pillion.actors.storage.messages import (
    CommitTables,
    CreateTableShard,
    DropShard,
    ReadShard,
    ResumeTables,
    ShardChanges,
    ShardRead,
    ShardSnapshot,
    SubscribeShard,
)
from pillion.actors.storage.storage import Storage
from pillion.actors.testing.probe import Probe
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import Column, column_from_values
from pillion.messages.errors import PillionError
from pillion.messages.ids import GlobalId
from pillion.messages.types import Field, Schema, SqlType

SCHEMA = Schema((Field("id", SqlType.BIGINT, False),))
KEYED, PLAIN = GlobalId("u", 1), GlobalId("u", 2)
LATEST = 6


def rows(*ids: int) -> tuple[Column, ...]:
    return (column_from_values(list(ids), SqlType.BIGINT),)


class Bench:
    """A storage between two probes: its journal and its controller. Both tables hold 1."""

    def __init__(self) -> None:
        self.dispatcher = SimulatedDispatcher(0)
        self.storage = self.dispatcher.start(Storage)
        self.journal = Probe(self.dispatcher)
        self.controller = Probe(self.dispatcher)
        self.reader = Probe(self.dispatcher)
        self.time = LATEST
        held = {id: Updates.of(rows(1), 3) for id in (KEYED, PLAIN)}
        self.storage.tell(ResumeTables(self.journal.ref, self.controller.ref, LATEST, held))
        self.storage.tell(CreateTableShard(KEYED, "keyed", SCHEMA, LATEST, key=(0,)))
        self.silent(self.journal)
        self.storage.tell(CreateTableShard(PLAIN, "plain", SCHEMA, LATEST))
        self.journal.expect(Restored)

    def commit(self, *changes: Change) -> OneShot[Any]:
        reply = self.dispatcher.reply()
        self.time += 1
        self.storage.tell(CommitTables(self.time, changes, reply))
        return reply

    def logged(self) -> TablesWritten:
        entry = self.journal.expect(Log).entry
        assert isinstance(entry, TablesWritten)
        return entry

    def answers(self) -> list[Any]:
        """What the controller is to tell applications, in order."""
        return [outcome for _, outcome in self.controller.expect(TablesPublished).answers]

    def read(self, table: GlobalId, time: int) -> None:
        self.storage.tell(ReadShard(table, "r", time, 0, 1, self.reader.ref))

    def heard(self) -> list[int]:
        updates = self.reader.expect(ShardRead).updates
        return [] if updates is None else sorted(row[0] for row, _, _ in updates.to_tuples())

    def silent(self, probe: Probe) -> None:
        self.dispatcher.run()
        probe.expect_none()

    def fail(self) -> PillionError:
        error = WritesRefused(Path("somewhere"), "database or disk is full")
        self.storage.tell(JournalFailed(error))
        return error


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    assert made.dispatcher.failure is None
    made.dispatcher.stop()


@pytest.mark.parametrize("table", [KEYED, PLAIN])
def test_a_write_is_read_once_it_is_durable(bench: Bench, table: GlobalId) -> None:
    reply = bench.commit(Insert(table, rows(2)))
    assert bench.logged().changed[table].to_tuples() == [((2,), 7, 1)]
    bench.read(table, 6)
    assert bench.heard() == [1]
    bench.read(table, 7)
    bench.silent(bench.reader)
    bench.silent(bench.controller)
    bench.storage.tell(Durable(7))
    assert bench.heard() == [1, 2]
    published = bench.controller.expect(TablesPublished)
    assert (published.latest, published.answers) == (7, ((reply, Committed(7, (1,))),))
    assert not reply.is_set, "the controller tells it, when reads see it"


@pytest.mark.parametrize("table", [KEYED, PLAIN])
def test_a_worker_that_subscribes_meanwhile_gets_it_once(bench: Bench, table: GlobalId) -> None:
    bench.commit(Delete(table, rows(1)), Insert(table, rows(2)))
    bench.storage.tell(SubscribeShard(table, 1, LATEST, 0, 1, bench.reader.ref))
    snapshot = bench.reader.expect(ShardSnapshot).chunk
    assert snapshot.upper == 7
    assert snapshot.oks is not None and snapshot.oks.to_tuples() == [((1,), 6, 1)]
    bench.silent(bench.reader)
    bench.storage.tell(Durable(7))
    ((_, chunk),) = bench.reader.expect(ShardChanges).chunks
    assert (chunk.lower, chunk.upper) == (7, 8)
    assert chunk.oks is not None and sorted(chunk.oks.to_tuples()) == [((1,), 7, -1), ((2,), 7, 1)]


def test_later_writes_build_on_those_that_wait_and_a_group_is_told_at_once(bench: Bench) -> None:
    bench.storage.tell(SubscribeShard(KEYED, 1, LATEST, 0, 1, bench.reader.ref))
    bench.reader.expect(ShardSnapshot)
    bench.commit(Insert(KEYED, rows(2)))
    bench.commit(Insert(KEYED, rows(2)))
    bench.commit(Delete(KEYED, rows(2)))
    times = [bench.logged() for _ in range(3)]
    assert [(each.timestamp, list(each.changed)) for each in times] == [(7, [KEYED]), (8, []), (9, [KEYED])]
    bench.silent(bench.controller)
    bench.storage.tell(Durable(9))
    first, refused, last = bench.answers()
    assert (first, last) == (Committed(7, (1,)), Committed(9, (1,)))
    assert isinstance(refused, DuplicateKey), "a refusal that tells of a write waits for it, too"
    ((_, chunk),) = bench.reader.expect(ShardChanges).chunks
    assert (chunk.lower, chunk.upper) == (7, 10)
    assert chunk.oks is not None and chunk.oks.to_tuples() == [((2,), 7, 1), ((2,), 9, -1)]


@pytest.mark.parametrize("table", [KEYED, PLAIN])
def test_what_a_failed_journal_had_not_written_never_was(bench: Bench, table: GlobalId) -> None:
    bench.commit(Insert(table, rows(2)))
    bench.storage.tell(Durable(7))
    bench.answers()
    bench.commit(Insert(table, rows(3)))
    bench.commit(Delete(table, rows(2)))
    bench.read(table, 9)
    error = bench.fail()
    assert bench.answers() == [error, error]
    assert bench.heard() == [1, 2]
    bench.commit(Insert(table, rows(4)))
    assert bench.answers() == [error]
    bench.read(table, 10)
    assert bench.heard() == [1, 2]
    bench.commit()
    assert bench.answers() == [Committed(11, ())], "a read of the present state together with introspection goes on"


def test_a_table_that_is_dropped_meanwhile(bench: Bench) -> None:
    bench.commit(Insert(KEYED, rows(2)), Insert(PLAIN, rows(2)))
    bench.storage.tell(DropShard(KEYED))
    bench.storage.tell(Durable(7))
    assert bench.answers() == [Committed(7, (1, 1))]
    bench.read(PLAIN, 7)
    assert bench.heard() == [1, 2]


def test_a_snapshot_holds_all_that_was_logged(bench: Bench) -> None:
    bench.commit(Insert(KEYED, rows(2)))
    bench.logged()
    bench.storage.tell(TakeSnapshot(bench.journal.ref))
    snapshot = bench.journal.expect(Snapshot)
    assert snapshot.latest == 7
    found = [update for part in snapshot.tables[KEYED].parts for update in part.to_tuples()]
    assert sorted(found) == [((1,), 6, 1), ((2,), 7, 1)]
    assert snapshot.tables[KEYED].since == LATEST
