"""The storage actor, alone: transactions, what subscribers hear, reads that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.errors import DuplicateKey, ExpressionFailed, NoSuchRow, RejectedData, UnknownCollection
from pillion.actors.requests import (
    Change,
    Committed,
    Delete,
    DeleteKeys,
    DeleteWhere,
    Insert,
    UpdateWhere,
    Upsert,
)
from pillion.actors.storage.messages import (
    Appended,
    AppendRows,
    CancelRead,
    CommitTables,
    CompactShard,
    CompareAndAppend,
    CreateShard,
    CreateTableShard,
    DropShard,
    ReadShard,
    ShardChanges,
    ShardRead,
    ShardSnapshot,
    SnapshotRefused,
    SubscribeShard,
    UnsubscribeShard,
    UpperMismatch,
)
from pillion.actors.storage.storage import Storage
from pillion.actors.testing.probe import Probe
from pillion.dataflow.arrangements.updates import Chunk, Updates, uniform
from pillion.dataflow.columns.column import Column, column_from_values
from pillion.messages.errors import ProtocolError, WriteBehindUpperError
from pillion.messages.ids import GlobalId
from pillion.messages.scalars import Call, ColumnRef, Literal, Scalar
from pillion.messages.types import Field, Schema, SqlType

SCHEMA = Schema((Field("id", SqlType.BIGINT, False), Field("name", SqlType.TEXT)))
KEYED, PLAIN, OTHER = GlobalId("u", 1), GlobalId("u", 2), GlobalId("u", 3)

Row = tuple[int | None, str | None]


def columns(*rows: Row) -> tuple[Column, ...]:
    return (
        column_from_values([id for id, _ in rows], SqlType.BIGINT),
        column_from_values([name for _, name in rows], SqlType.TEXT),
    )


def keys(*values: int) -> tuple[Column, ...]:
    return (column_from_values(list(values), SqlType.BIGINT),)


def big(value: int) -> Literal:
    return Literal.of(value, SqlType.BIGINT)


def compare(function: str, column: int, value: int) -> Scalar:
    return Call(function, (ColumnRef(column), big(value)))


def is_empty(chunk: Chunk, lower: int, upper: int | None) -> bool:
    return (chunk.lower, chunk.upper, chunk.oks, chunk.errs) == (lower, upper, None, None)


class Bench:
    """The storage with two tables, and a probe that follows both."""

    def __init__(self, seed: int = 0) -> None:
        self.dispatcher = SimulatedDispatcher(seed)
        self.storage = self.dispatcher.start(Storage)
        self.probe = Probe(self.dispatcher)
        self.time = 0
        self.storage.tell(CreateTableShard(KEYED, "keyed", SCHEMA, 0, key=(0,)))
        self.storage.tell(CreateTableShard(PLAIN, "plain", SCHEMA, 0))

    def commit(self, *changes: Change) -> Committed:
        reply = self.dispatcher.reply()
        self.time += 1
        self.storage.tell(CommitTables(self.time, changes, reply))
        return reply.get()

    def rows(self, table: GlobalId, time: int | None = None) -> list[Any]:
        reader = Probe(self.dispatcher)
        self.storage.tell(ReadShard(table, "r", self.time if time is None else time, 0, 1, reader.ref))
        answer = reader.expect(ShardRead)
        assert answer.error is None, answer.error
        if answer.updates is None:
            return []
        return sorted(row for row, _, diff in answer.updates.to_tuples() for _ in range(diff))

    def subscribe(
        self, shard: GlobalId, subscription: int = 1, as_of: int = 0, worker: int = 0, workers: int = 1
    ) -> None:
        self.storage.tell(SubscribeShard(shard, subscription, as_of, worker, workers, self.probe.ref))


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    assert made.dispatcher.failure is None
    made.dispatcher.stop()


# --- Transactions ----------------------------------------------------------------------------------------------------


def test_a_transaction_changes_all_its_tables_at_one_time(bench: Bench) -> None:
    done = bench.commit(Insert(KEYED, columns((1, "a"), (2, None))), Insert(PLAIN, columns((1, "x"))))
    assert done == Committed(1, (2, 1))
    assert bench.rows(KEYED) == [(1, "a"), (2, None)]
    assert bench.rows(PLAIN) == [(1, "x")]
    assert bench.rows(PLAIN, 0) == []


@pytest.mark.parametrize("table", [KEYED, PLAIN])
def test_every_kind_of_change(bench: Bench, table: GlobalId) -> None:
    bench.commit(Insert(table, columns((1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e"))))
    assert bench.commit(Delete(table, columns((2, "b")))).counts == (1,)
    assert bench.commit(DeleteWhere(table, compare(">", 0, 4))).counts == (1,)
    update = UpdateWhere(table, compare("<", 0, 4), ((0, Call("+", (ColumnRef(0), big(10)))),))
    assert bench.commit(update).counts == (2,)
    assert bench.rows(table) == [(4, "d"), (11, "a"), (13, "c")]
    assert bench.commit(DeleteWhere(table, None)).counts == (3,)
    assert bench.rows(table) == []


def test_changes_by_key(bench: Bench) -> None:
    bench.commit(Insert(KEYED, columns((1, "a"), (2, "b"))))
    assert bench.commit(Upsert(KEYED, columns((2, "bb"), (3, "c")))).counts == (2,)
    assert bench.commit(DeleteKeys(KEYED, keys(1, 1))).counts == (1,)
    assert bench.commit(DeleteWhere(KEYED, compare("=", 0, 3))).counts == (1,)
    assert bench.rows(KEYED) == [(2, "bb")]


def test_each_change_sees_the_ones_before_it(bench: Bench) -> None:
    bench.commit(Insert(KEYED, columns((1, "a"))))
    done = bench.commit(
        Delete(KEYED, columns((1, "a"))),
        Insert(KEYED, columns((1, "again"), (2, "b"))),
        UpdateWhere(KEYED, compare("=", 0, 2), ((1, Literal.of("bb", SqlType.TEXT)),)),
        DeleteWhere(KEYED, compare(">", 0, 1)),
        Upsert(KEYED, columns((1, "last"))),
    )
    assert done.counts == (1, 2, 1, 1, 1)
    assert bench.rows(KEYED) == [(1, "last")]


def test_keys_may_be_exchanged_by_one_update(bench: Bench) -> None:
    bench.commit(Insert(KEYED, columns((1, "a"), (2, "b"))))
    three_minus = Call("-", (big(3), ColumnRef(0)))
    bench.commit(UpdateWhere(KEYED, None, ((0, three_minus),)))
    assert bench.rows(KEYED) == [(1, "b"), (2, "a")]


REFUSED: list[tuple[Change, type[Exception], str]] = [
    (Insert(KEYED, columns((1, "z"))), DuplicateKey, "keyed: the key id=1 exists already"),
    (Insert(KEYED, columns((7, "z"), (7, "y"))), DuplicateKey, "id=7"),
    (Upsert(KEYED, columns((7, "z"), (7, "y"))), DuplicateKey, "id=7"),
    (UpdateWhere(KEYED, None, ((0, big(7)),)), DuplicateKey, "id=7"),
    (UpdateWhere(KEYED, compare("=", 0, 1), ((0, big(2)),)), DuplicateKey, "id=2"),
    (Delete(KEYED, columns((1, "z"))), NoSuchRow, r"cannot delete \(1, 'z'\)"),
    (Delete(PLAIN, columns((1, "a"), (1, "a"), (1, "a"))), NoSuchRow, "not as many times"),
    (DeleteKeys(KEYED, keys(1, 9)), NoSuchRow, r"\(9,\)"),
    (DeleteKeys(PLAIN, keys(1)), RejectedData, "needs a table with a key"),
    (DeleteKeys(KEYED, columns((1, "a"))), RejectedData, "the key is"),
    (Upsert(PLAIN, columns((1, "a"))), RejectedData, "needs a table with a key"),
    (Insert(PLAIN, columns((None, "a"))), RejectedData, "'id' takes no NULL, but row 0"),
    (Insert(PLAIN, keys(1)), RejectedData, "expected 2 columns"),
    (Insert(PLAIN, tuple(reversed(columns((1, "a"))))), RejectedData, "'id' is of type bigint, given text"),
    (Insert(PLAIN, (*keys(1, 2), columns((1, "a"))[1])), RejectedData, "differ in length"),
    (UpdateWhere(PLAIN, None, ((0, Literal.of(None, SqlType.BIGINT)),)), RejectedData, "'id' takes no NULL"),
    (DeleteWhere(PLAIN, Call("=", (Call("/", (big(1), big(0))), big(1)))), ExpressionFailed, "zero"),
    (Insert(GlobalId("u", 77), columns((1, "a"))), UnknownCollection, "u77"),
]


@pytest.mark.parametrize(("change", "error", "message"), REFUSED)
def test_a_refused_change_refuses_its_whole_transaction(
    bench: Bench, change: Change, error: type[Exception], message: str
) -> None:
    bench.commit(Insert(KEYED, columns((1, "a"), (2, "b"))), Insert(PLAIN, columns((1, "a"), (1, "a"), (3, None))))
    before = bench.rows(KEYED), bench.rows(PLAIN)
    with pytest.raises(error, match=message):
        bench.commit(Insert(PLAIN, columns((5, "new"))), Insert(KEYED, columns((4, "d"))), change)
    assert (bench.rows(KEYED), bench.rows(PLAIN)) == before
    # The time has passed all the same, and the next transaction finds everything in order.
    assert bench.commit(Insert(PLAIN, columns((6, "f")))).timestamp == 3


def test_an_expression_may_fail_on_rows_that_are_gone(bench: Bench) -> None:
    bench.commit(Insert(PLAIN, columns((0, "zero"), (1, "one"))))
    bench.commit(Delete(PLAIN, columns((0, "zero"))))
    inverse_is_one = Call("=", (Call("/", (big(1), ColumnRef(0))), big(1)))
    assert bench.commit(DeleteWhere(PLAIN, inverse_is_one)).counts == (1,)
    assert bench.rows(PLAIN) == []


# --- Subscriptions ---------------------------------------------------------------------------------------------------


def test_a_subscriber_hears_the_snapshot_and_then_one_message_per_commit(bench: Bench) -> None:
    bench.commit(Insert(PLAIN, columns((1, "a"))))
    bench.subscribe(PLAIN, 1)
    bench.subscribe(KEYED, 2)
    plain = bench.probe.expect(ShardSnapshot, subscription=1).chunk
    keyed = bench.probe.expect(ShardSnapshot, subscription=2).chunk
    assert (plain.lower, plain.upper, keyed.upper, keyed.oks) == (0, 2, 2, None)
    bench.commit(Insert(PLAIN, columns((2, "b"))))
    changes = dict(bench.probe.expect(ShardChanges).chunks)
    assert changes[1].oks is not None and changes[1].oks.to_tuples() == [((2, "b"), 2, 1)]
    assert is_empty(changes[2], 2, 3)
    with pytest.raises(NoSuchRow):
        bench.commit(Delete(PLAIN, columns((9, "z"))))
    refused = dict(bench.probe.expect(ShardChanges).chunks)
    assert is_empty(refused[1], 3, 4) and is_empty(refused[2], 3, 4)
    bench.probe.expect_none()


def test_workers_get_shares_and_one_may_also_follow_the_whole(bench: Bench) -> None:
    bench.subscribe(PLAIN, 1, worker=0, workers=2)
    bench.subscribe(PLAIN, 2, worker=1, workers=2)
    bench.subscribe(PLAIN, 3)
    bench.commit(Insert(PLAIN, columns((1, "a"), (2, "b"), (3, "c"), (4, "d"))))
    for _ in range(3):
        bench.probe.expect(ShardSnapshot)
    chunks = dict(bench.probe.expect(ShardChanges).chunks)
    ids = {n: [] if c.oks is None else [row[0] for row, _, _ in c.oks.to_tuples()] for n, c in chunks.items()}
    assert sorted(ids[1] + ids[2]) == [1, 2, 3, 4] == ids[3]


def test_shares_fit_together_when_workers_subscribe_with_commits_between(bench: Bench) -> None:
    received: Counter[Any] = Counter()

    def receive(chunk: Chunk) -> None:
        for row, _, diff in [] if chunk.oks is None else chunk.oks.to_tuples():
            received[row] += diff

    bench.commit(Insert(PLAIN, columns(*((n, "a") for n in range(20)))))
    bench.subscribe(PLAIN, 1, worker=0, workers=2)
    receive(bench.probe.expect(ShardSnapshot).chunk)
    bench.commit(Delete(PLAIN, columns((3, "a"), (9, "a"))), Insert(PLAIN, columns((77, "b"))))
    bench.subscribe(PLAIN, 2, worker=1, workers=2)
    receive(dict(bench.probe.expect(ShardChanges).chunks)[1])
    receive(bench.probe.expect(ShardSnapshot).chunk)
    assert +received == Counter([(n, "a") for n in range(20) if n not in (3, 9)] + [(77, "b")])


def test_after_unsubscribing_nothing_is_heard(bench: Bench) -> None:
    bench.subscribe(PLAIN, 1)
    bench.probe.expect(ShardSnapshot)
    bench.storage.tell(UnsubscribeShard(PLAIN, 1, bench.probe.ref))
    bench.commit(Insert(PLAIN, columns((1, "a"))))
    bench.dispatcher.run()
    bench.probe.expect_none()


def test_subscribing_waits_for_a_shard_that_is_still_to_come_and_not_for_one_that_is_gone(bench: Bench) -> None:
    bench.subscribe(OTHER, 5)
    bench.dispatcher.run()
    bench.probe.expect_none()
    bench.storage.tell(CreateShard(OTHER, SCHEMA))
    bench.probe.expect(ShardSnapshot, subscription=5)
    bench.storage.tell(DropShard(OTHER))
    assert is_empty(dict(bench.probe.expect(ShardChanges).chunks)[5], 0, None)
    bench.subscribe(OTHER, 6)
    assert "dropped" in bench.probe.expect(SnapshotRefused, subscription=6).message


def test_a_snapshot_before_since_is_refused(bench: Bench) -> None:
    bench.commit(Insert(PLAIN, columns((1, "a"))))
    bench.storage.tell(CompactShard(PLAIN, 1))
    bench.storage.tell(CompactShard(PLAIN, 0))
    bench.commit()
    bench.subscribe(PLAIN, 1, as_of=0)
    assert "compacted to [1]" in bench.probe.expect(SnapshotRefused).message


# --- Shards of their own ---------------------------------------------------------------------------------------------


def test_compare_and_append_writes_at_the_upper_or_not_at_all(bench: Bench) -> None:
    bench.storage.tell(CreateShard(OTHER, SCHEMA))
    append = CompareAndAppend(OTHER, 0, 5, Updates.of(columns((1, "a")), 3), bench.probe.ref)
    bench.storage.tell(append)
    assert bench.probe.expect(Appended).upper == 5
    bench.storage.tell(append)
    assert bench.probe.expect(UpperMismatch, expected=0).upper == 5
    assert bench.rows(OTHER, 4) == [(1, "a")]


def test_scripts_append_in_order_of_time(bench: Bench) -> None:
    def append(time: int, upper: int) -> int:
        reply = bench.dispatcher.reply()
        updates = Updates(columns((1, "a")), uniform(time, 1), uniform(1, 1))
        bench.storage.tell(AppendRows(OTHER, SCHEMA, updates, upper, reply))
        return reply.get()

    assert append(4, 5) == 1
    assert append(7, 8) == 1
    with pytest.raises(WriteBehindUpperError, match="upper is"):
        append(7, 9)
    with pytest.raises(ProtocolError, match="not before the new upper"):
        append(9, 9)
    assert bench.rows(OTHER, 6) == [(1, "a")]


# --- Reads -----------------------------------------------------------------------------------------------------------


def test_a_read_waits_until_its_time_is_sealed(bench: Bench) -> None:
    bench.storage.tell(ReadShard(PLAIN, "later", 2, 0, 1, bench.probe.ref))
    bench.storage.tell(ReadShard(PLAIN, "never", 2, 0, 1, bench.probe.ref))
    bench.commit(Insert(PLAIN, columns((1, "a"))))
    bench.dispatcher.run()
    bench.probe.expect_none()
    bench.storage.tell(CancelRead("never", bench.probe.ref))
    bench.commit()
    answer = bench.probe.expect(ShardRead, token="later")
    assert answer.updates is not None and len(answer.updates) == 1
    bench.dispatcher.run()
    bench.probe.expect_none()


def test_a_read_of_what_is_dropped_or_compacted_is_answered_with_the_reason(bench: Bench) -> None:
    bench.storage.tell(ReadShard(PLAIN, "future", 99, 0, 1, bench.probe.ref))
    bench.dispatcher.run()
    bench.storage.tell(DropShard(PLAIN))
    assert "dropped" in (bench.probe.expect(ShardRead, token="future").error or "")
    bench.storage.tell(CompactShard(KEYED, 1))
    bench.commit()
    bench.storage.tell(ReadShard(KEYED, "past", 0, 0, 1, bench.probe.ref))
    assert "compacted" in (bench.probe.expect(ShardRead, token="past").error or "")
