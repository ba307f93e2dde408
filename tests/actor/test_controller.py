"""The controller actor, with a probe in the replica's place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import pyarrow as pa
import pykka
import pytest

from pillion.actors.controller.controller import Controller
from pillion.actors.controller.messages import AddReplica, Connect, FromReplica, ReplicaLost, ReplicaUnavailable
from pillion.actors.dispatch.oneshot import OneShot, Stream
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.errors import Canceled as RequestCanceled
from pillion.actors.errors import (
    DuplicateName,
    NotYetReadable,
    ReadTimeout,
    RejectedData,
    ReplicaDown,
    StillUsed,
    UnknownCollection,
)
from pillion.actors.requests import (
    Cancel,
    Commit,
    Configure,
    CreateIndex,
    CreateMaterializedView,
    CreateTable,
    CreateView,
    Drop,
    Explain,
    HoldRead,
    Insert,
    Isolation,
    ListCollections,
    PeekIndex,
    Query,
    ReadPolicy,
    ReadResult,
    ReleaseRead,
    Request,
    SetReadPolicy,
    SubscribeTo,
    Unsubscribe,
    WaitUntilReadable,
)
from pillion.actors.storage.storage import Storage
from pillion.actors.testing.probe import Probe
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import (
    AllowCompaction,
    AllowWrites,
    CancelPeek,
    CreateDataflow,
    CreateInstance,
    Hello,
    IndexTarget,
    InitializationComplete,
    Peek,
    Schedule,
    ShardTarget,
    UpdateConfiguration,
)
from pillion.messages.dataflows import DataflowClass
from pillion.messages.errors import CollectionError, NotReadableError, PillionError
from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Distinct, Filter, Get, Relation
from pillion.messages.responses import (
    Canceled,
    DroppedAt,
    Frontiers,
    PeekError,
    PeekResponse,
    PeekResult,
    Response,
    Rows,
    SubscribeBatch,
    SubscribeResponse,
)
from pillion.messages.rows import RowBlock, UpdateBlock
from pillion.messages.scalars import Call, ColumnRef, Literal
from pillion.messages.types import Field, Schema, SqlType

SCHEMA = Schema((Field("id", SqlType.BIGINT, False),))
KEY = (ColumnRef(0),)
M = TypeVar("M")


class Bench:
    """A controller with the real storage and a probe as its replica."""

    def __init__(self, seed: int = 0) -> None:
        self.dispatcher = SimulatedDispatcher(seed)
        self.storage = self.dispatcher.start(Storage)
        self.controller = self.dispatcher.start(Controller, self.storage, introspection=())
        self.replica = Probe(self.dispatcher)
        self.nonce = ""
        self.controller.tell(AddReplica("r", self.replica.ref))
        self.connected()

    def connected(self) -> list[Any]:
        """The commands between ``Hello`` and ``InitializationComplete``."""
        assert self.replica.expect(Connect).replica == "r"
        self.nonce = self.replica.expect(Hello).nonce
        commands: list[Any] = []
        while not isinstance(command := self.replica.expect(object), InitializationComplete):
            commands.append(command)
        return commands

    def send(self, kind: type[Request], **fields: Any) -> OneShot[Any]:
        reply = self.dispatcher.reply()
        self.controller.tell(kind(reply=reply, **fields))
        return reply

    def ask(self, kind: type[Request], **fields: Any) -> Any:
        return self.send(kind, **fields).get()

    def respond(self, *responses: Response, nonce: str | None = None) -> None:
        message = FromReplica("r", self.nonce if nonce is None else nonce, responses)
        self.controller.tell(message)
        self.dispatcher.run()

    def sealed(self, id: GlobalId, upper: Frontier) -> None:
        self.respond(Frontiers(id, write=(upper,)))

    def table(self, name: str = "orders") -> GlobalId:
        return self.ask(CreateTable, name=name, schema=SCHEMA)

    def index(self, on: GlobalId, name: str = "index", **options: Any) -> GlobalId:
        """An index, and the commands that create it are taken from the probe."""
        id = self.ask(CreateIndex, name=name, on=on, key=KEY, **options)
        self.replica.expect(CreateDataflow)
        self.replica.expect(Schedule, id=id)
        return id

    def commit(self, *ids: int, table: GlobalId = GlobalId("u", 1)) -> int:
        columns = (column_from_values(list(ids), SqlType.BIGINT),)
        return self.ask(Commit, changes=(Insert(table, columns),)).timestamp

    def let_compact(self) -> list[Any]:
        """Let time pass until compaction was allowed; the commands that the replica heard."""
        self.dispatcher.run()
        while self.dispatcher.step():
            pass
        return self.replica.take_all()


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    assert made.dispatcher.failure is None
    made.dispatcher.stop()


def rows(*ids: int) -> Rows:
    return Rows(RowBlock(pa.record_batch({"id": pa.array(ids, pa.int64())})))


def batch(lower: int, upper: Frontier, *times: int) -> SubscribeBatch:
    columns = pa.record_batch({"id": pa.array(times, pa.int64())})
    return SubscribeBatch(lower, upper, UpdateBlock(columns, pa.array(times, pa.int64()), 1))


# --- Definitions -----------------------------------------------------------------------------------------------------


def test_an_index_is_created_at_the_latest_commit_and_scheduled(bench: Bench) -> None:
    table = bench.table()
    bench.commit(1)
    id = bench.ask(CreateIndex, name="by_id", on=table, key=KEY)
    dataflow = bench.replica.expect(CreateDataflow).dataflow
    assert (dataflow.as_of, dataflow.until, dataflow.dataflow_class) == (1, None, DataflowClass.MAINTAINED)
    assert [source.shard for source in dataflow.source_imports] == [table]
    assert dataflow.export_ids == (id,)
    bench.replica.expect(Schedule, id=id)


def test_waiting_for_an_index_takes_until_it_is_readable(bench: Bench) -> None:
    table = bench.table()
    bench.commit(1)
    waiting = bench.send(CreateIndex, name="by_id", on=table, key=KEY, wait=True)
    id = bench.replica.expect(CreateDataflow).dataflow.export_ids[0]
    bench.sealed(id, 1)
    assert not waiting.is_set
    bench.sealed(id, 2)
    assert waiting.get() == id
    assert bench.ask(WaitUntilReadable, id=id) == 2
    later = bench.send(WaitUntilReadable, id=id, timestamp=2)
    bench.dispatcher.run()
    bench.ask(Drop, id=id)
    with pytest.raises(UnknownCollection):
        later.get()


def test_a_materialized_view_may_write_at_once(bench: Bench) -> None:
    table = bench.table()
    id = bench.ask(CreateMaterializedView, name="mv", relation=Get(table), schema=SCHEMA)
    dataflow = bench.replica.expect(CreateDataflow).dataflow
    assert dataflow.export_ids == (id,)
    bench.replica.expect(Schedule, id=id)
    bench.replica.expect(AllowWrites, id=id)


def test_names_types_and_ids_are_checked_before_anything_happens(bench: Bench) -> None:
    table = bench.table()
    other = Schema((Field("id", SqlType.TEXT),))
    with pytest.raises(DuplicateName):
        bench.table()
    with pytest.raises(RejectedData, match="at least one column"):
        bench.ask(CreateTable, name="empty", schema=Schema(()))
    with pytest.raises(RejectedData, match="the key"):
        bench.ask(CreateTable, name="keyed", schema=SCHEMA, key=(1,))
    with pytest.raises(UnknownCollection, match="u99"):
        bench.ask(CreateView, name="v", relation=Get(GlobalId("u", 99)), schema=SCHEMA)
    with pytest.raises(RejectedData, match="has types"):
        bench.ask(CreateView, name="v", relation=Get(table), schema=other)
    with pytest.raises(PillionError, match="#1"):
        bench.ask(CreateIndex, name="i", on=table, key=(ColumnRef(1),))
    with pytest.raises(UnknownCollection):
        bench.ask(PeekIndex, index=GlobalId("u", 99))
    assert [info.name for info in bench.ask(ListCollections)] == ["orders"]
    bench.replica.expect_none()


def test_dropping_what_others_use_names_them_or_takes_them_along(bench: Bench) -> None:
    table = bench.table()
    view = bench.ask(CreateView, name="view", relation=Get(table), schema=SCHEMA)
    index = bench.index(view)
    with pytest.raises(StillUsed) as used:
        bench.ask(Drop, id=table)
    assert used.value.users == ("view",)
    assert bench.ask(Drop, id=table, cascade=True) == (index, view, table)
    bench.replica.expect(AllowCompaction, id=index, frontier=None)
    assert bench.ask(ListCollections) == ()
    with pytest.raises(UnknownCollection):
        bench.ask(Drop, id=table)
    with pytest.raises(UnknownCollection):
        bench.commit(1, table=table)


def test_an_index_that_another_one_reads_stays_until_that_is_gone(bench: Bench) -> None:
    table = bench.table()
    view = bench.ask(CreateView, name="view", relation=Distinct(Get(table)), schema=SCHEMA)
    first, second = bench.index(view, "first"), bench.index(view, "second")
    bench.ask(Drop, id=first)
    bench.dispatcher.run()
    bench.replica.expect_none(AllowCompaction)
    bench.ask(Drop, id=second)
    bench.replica.expect(AllowCompaction, id=second, frontier=None)
    bench.replica.expect(AllowCompaction, id=first, frontier=None)


# --- Reads -----------------------------------------------------------------------------------------------------------


def answer(bench: Bench, result: PeekResult) -> Peek:
    peek = bench.replica.find(Peek)
    bench.respond(PeekResponse(peek.uuid, result))
    return peek


def test_a_strict_read_is_at_the_latest_commit_and_a_serializable_one_at_what_is_sealed(bench: Bench) -> None:
    index = bench.index(bench.table())
    bench.sealed(index, 1)
    bench.commit(1)
    bench.commit(2)
    bench.sealed(index, 2)
    strict = bench.send(PeekIndex, index=index)
    assert answer(bench, rows(1, 2)).timestamp == 2
    result = strict.get()
    assert isinstance(result, ReadResult)
    assert (result.timestamp, result.blocks[0].columns.column(0).to_pylist()) == (2, [1, 2])
    serializable = bench.send(PeekIndex, index=index, isolation=Isolation.SERIALIZABLE)
    assert answer(bench, rows(1)).timestamp == 1
    assert serializable.get().timestamp == 1


def test_an_explicit_time_is_refused_when_it_is_not_readable(bench: Bench) -> None:
    index = bench.index(bench.table())
    bench.commit(1)
    with pytest.raises(NotYetReadable):
        bench.ask(PeekIndex, index=index, as_of=2)
    bench.sealed(index, 2)
    assert AllowCompaction(index, 1) in bench.let_compact()
    with pytest.raises(NotReadableError):
        bench.ask(PeekIndex, index=index, as_of=0)


def test_keys_must_have_the_parts_of_the_index(bench: Bench) -> None:
    index = bench.index(bench.table())
    two = (Literal.of(1, SqlType.BIGINT), Literal.of(2, SqlType.BIGINT))
    with pytest.raises(RejectedData, match="1 parts, the key given 2"):
        bench.ask(PeekIndex, index=index, keys=(two,))


def test_an_error_of_the_collection_is_the_answer(bench: Bench) -> None:
    index = bench.index(bench.table())
    reply = bench.send(PeekIndex, index=index)
    answer(bench, PeekError("division by zero"))
    with pytest.raises(CollectionError, match="division by zero"):
        reply.get()


def test_a_query_over_a_stored_table_reads_its_shard(bench: Bench) -> None:
    table = bench.table()
    bench.send(Query, relation=Get(table), schema=SCHEMA)
    assert bench.replica.expect(Peek).target == ShardTarget(table)


def test_a_query_with_an_index_reads_its_keys(bench: Bench) -> None:
    table = bench.table()
    index = bench.index(table)
    three = Literal.of(3, SqlType.BIGINT)
    relation: Relation = Filter(Get(table), (Call("=", (ColumnRef(0), three)),))
    bench.send(Query, relation=relation, schema=SCHEMA)
    peek = bench.replica.expect(Peek)
    assert (peek.target, peek.literal_constraints) == (IndexTarget(index), ((three,),))
    explained = bench.ask(Explain, relation=relation, schema=SCHEMA)
    assert (explained.peek_index, explained.keys, explained.dataflow) == (index, ((three,),), None)


def test_a_query_that_is_kept_off_the_interactive_runtime_is_maintained_while_it_runs(bench: Bench) -> None:
    table = bench.table()
    bench.commit(1)
    for allowed, expected in ((False, DataflowClass.MAINTAINED), (True, DataflowClass.ONE_SHOT_READ)):
        bench.ask(Configure, updates=(("enable_compute_interactive_dataflows", allowed),))
        bench.send(Query, relation=Distinct(Get(table)), schema=SCHEMA)
        dataflow = bench.replica.find(CreateDataflow).dataflow
        assert (dataflow.as_of, dataflow.until, dataflow.dataflow_class) == (1, 2, expected)
        bench.replica.take_all()


def test_any_other_query_lives_in_a_dataflow_of_its_own(bench: Bench) -> None:
    table = bench.table()
    bench.commit(1)
    reply = bench.send(Query, relation=Distinct(Get(table)), schema=SCHEMA)
    dataflow = bench.replica.expect(CreateDataflow).dataflow
    assert (dataflow.as_of, dataflow.until, dataflow.dataflow_class) == (1, 2, DataflowClass.ONE_SHOT_READ)
    (export,) = dataflow.export_ids
    assert export.is_transient
    bench.replica.expect(Schedule, id=export)
    peek = bench.replica.expect(Peek, target=IndexTarget(export), timestamp=1)
    # What it reads stays readable while it runs, however far time advances.
    bench.commit(2)
    bench.let_compact()
    assert bench.ask(HoldRead, ids=(table,), as_of=1).timestamp == 1
    bench.respond(PeekResponse(peek.uuid, rows(1)))
    bench.replica.expect(AllowCompaction, id=export, frontier=None)
    assert reply.get().timestamp == 1


def test_a_read_that_is_withdrawn_is_refused_once_and_its_late_answer_dropped(bench: Bench) -> None:
    index = bench.index(bench.table())
    reply = bench.send(PeekIndex, index=index)
    peek = bench.replica.expect(Peek)
    bench.controller.tell(Cancel(reply))
    bench.replica.expect(CancelPeek, uuid=peek.uuid)
    with pytest.raises(RequestCanceled):
        reply.get()
    bench.respond(PeekResponse(peek.uuid, Canceled()), PeekResponse(peek.uuid, rows(1)))
    bench.controller.tell(Cancel(reply))
    bench.dispatcher.run()
    bench.replica.expect_none()


def test_a_read_that_takes_too_long_is_given_up(bench: Bench) -> None:
    index = bench.index(bench.table())
    slow = bench.send(PeekIndex, index=index, timeout=2.0)
    quick = bench.send(PeekIndex, index=index, timeout=1.0)
    first, second = bench.replica.expect(Peek), bench.replica.expect(Peek)
    bench.respond(PeekResponse(second.uuid, rows(1)))
    assert quick.get().timestamp == 0
    with pytest.raises(ReadTimeout, match=r"within 2 s \(reading at 0: u2 is at \[0\]\)"):
        slow.get()
    assert bench.dispatcher.clock.now() == 2.0
    bench.replica.expect(CancelPeek, uuid=first.uuid)


# --- Compaction ------------------------------------------------------------------------------------------------------


def test_compaction_follows_what_is_sealed_everywhere(bench: Bench) -> None:
    index = bench.index(bench.table())
    for id in range(5):
        bench.commit(id)
    bench.sealed(index, 4)
    assert bench.let_compact() == [AllowCompaction(index, 3)]
    bench.sealed(index, 6)
    assert bench.let_compact() == [AllowCompaction(index, 5)]
    bench.sealed(index, 6)
    assert bench.let_compact() == []


def test_a_policy_keeps_history_and_may_be_changed(bench: Bench) -> None:
    index = bench.index(bench.table(), policy=ReadPolicy(2))
    for id in range(5):
        bench.commit(id)
    bench.sealed(index, 6)
    assert bench.let_compact() == [AllowCompaction(index, 3)]
    bench.ask(SetReadPolicy, id=index, policy=ReadPolicy(0))
    bench.commit(5)
    assert bench.let_compact() == [AllowCompaction(index, 5)]


def test_a_held_read_stays_possible_until_it_is_released(bench: Bench) -> None:
    table = bench.table()
    index = bench.index(table)
    bench.sealed(index, 1)
    held = bench.ask(HoldRead, ids=(index, table))
    bench.commit(1)
    bench.sealed(index, 2)
    assert bench.let_compact() == []
    reply = bench.send(PeekIndex, index=index, as_of=held.timestamp)
    answer(bench, rows())
    assert reply.get().timestamp == held.timestamp == 0
    bench.ask(ReleaseRead, hold=held.hold)
    bench.commit(2)
    assert bench.let_compact() == [AllowCompaction(index, 1)]


# --- Subscriptions ---------------------------------------------------------------------------------------------------


def subscribed(bench: Bench, relation: Relation, **options: Any) -> tuple[GlobalId, Stream[SubscribeBatch], Any]:
    stream = bench.dispatcher.stream()
    answer = bench.ask(SubscribeTo, relation=relation, schema=SCHEMA, stream=stream, **options)
    dataflow = bench.replica.expect(CreateDataflow).dataflow
    bench.replica.expect(Schedule, id=answer.id)
    assert dataflow.as_of == answer.as_of
    return answer.id, stream, dataflow


def test_batches_arrive_once_until_the_subscription_ends(bench: Bench) -> None:
    table = bench.table()
    id, stream, _ = subscribed(bench, Get(table), up_to=9)
    bench.respond(SubscribeResponse(id, batch(0, 2, 0, 1)))
    bench.respond(SubscribeResponse(id, batch(2, 9, 5)))
    bench.respond(SubscribeResponse(id, DroppedAt(None)))
    assert [(b.lower, b.upper) for b in stream] == [(0, 2), (2, 9)]
    bench.replica.expect(AllowCompaction, id=id, frontier=None)


def test_unsubscribing_ends_the_stream(bench: Bench) -> None:
    id, stream, _ = subscribed(bench, Get(bench.table()))
    bench.ask(Unsubscribe, id=id)
    bench.replica.expect(AllowCompaction, id=id, frontier=None)
    bench.respond(SubscribeResponse(id, batch(0, 2)))
    assert list(stream) == []
    bench.ask(Unsubscribe, id=id)


def test_a_subscription_keeps_readable_what_it_needs_to_go_on(bench: Bench) -> None:
    table = bench.table()
    id, _, _ = subscribed(bench, Get(table))
    for number in range(5):
        bench.commit(number)
    bench.let_compact()
    assert bench.ask(HoldRead, ids=(table,), as_of=0).timestamp == 0
    bench.respond(SubscribeResponse(id, batch(0, 4)))


# --- Replicas --------------------------------------------------------------------------------------------------------


def test_a_replica_hears_at_once_what_there_was_before_it(bench: Bench) -> None:
    bench.dispatcher.stop()
    dispatcher = SimulatedDispatcher()
    controller = dispatcher.start(Controller, dispatcher.start(Storage))
    replica = Probe(dispatcher)
    controller.tell(AddReplica("late", replica.ref))
    replica.expect(Connect)
    replica.expect(Hello)
    logging = replica.expect(CreateInstance).config.logging
    assert [index.index.namespace for index in logging] == ["s"] * len(logging)
    assert logging
    replica.expect(InitializationComplete)
    dispatcher.stop()


def test_reconnecting_replays_what_should_run_and_asks_again_for_what_is_wanted(bench: Bench) -> None:
    table = bench.table()
    index, dropped = bench.index(table), bench.index(table, "dropped")
    for number in range(3):
        bench.commit(number)
    bench.sealed(index, 4)
    bench.sealed(dropped, 4)
    bench.let_compact()
    bench.ask(Drop, id=dropped)
    first = bench.send(PeekIndex, index=index)
    second = bench.send(PeekIndex, index=index)
    stream = bench.dispatcher.stream()
    id = bench.ask(SubscribeTo, relation=Get(table), schema=SCHEMA, stream=stream).id
    bench.dispatcher.run()
    peeks = [m for m in bench.replica.take_all() if isinstance(m, Peek)]
    assert len(peeks) == 2
    bench.respond(PeekResponse(peeks[0].uuid, rows(7)), SubscribeResponse(id, batch(3, 4, 3)))
    assert first.get().timestamp == 3
    old = bench.nonce

    bench.controller.tell(ReplicaLost("r"))
    commands = bench.connected()
    assert bench.nonce != old
    dataflows = [c.dataflow for c in commands if isinstance(c, CreateDataflow)]
    assert [dataflow.export_ids for dataflow in dataflows] == [(index,)]
    assert dataflows[0].as_of == 3
    assert [c for c in commands if isinstance(c, Schedule)] == [Schedule(index)]
    again = bench.replica.expect(CreateDataflow).dataflow
    assert (again.export_ids, again.as_of, again.sink_exports[0].with_snapshot) == ((id,), 3, False)
    bench.replica.expect(Schedule, id=id)
    assert bench.replica.expect(Peek) == peeks[1]

    # What belongs to the old connection counts no more.
    bench.respond(PeekResponse(peeks[1].uuid, rows(8)), nonce=old)
    assert not second.is_set
    bench.respond(PeekResponse(peeks[1].uuid, rows(9)), SubscribeResponse(id, batch(3, 6, 5)))
    assert second.get().blocks[0].columns.column(0).to_pylist() == [9]
    delivered = [stream.get(), stream.get()]
    assert [(b.lower, b.upper, b.updates.num_rows) for b in delivered] == [(3, 4, 1), (4, 6, 1)]


def test_after_a_reconnect_nothing_compacts_before_it_is_sealed_again(bench: Bench) -> None:
    index = bench.index(bench.table())
    for number in range(3):
        bench.commit(number)
    bench.sealed(index, 2)
    assert bench.let_compact() == [AllowCompaction(index, 1)]
    bench.sealed(index, 4)
    bench.controller.tell(ReplicaLost("r"))
    commands = bench.connected()
    assert [c.dataflow.as_of for c in commands if isinstance(c, CreateDataflow)] == [1]
    assert bench.let_compact() == []
    bench.sealed(index, 4)
    assert bench.let_compact() == [AllowCompaction(index, 3)]


def test_nobody_waits_for_a_replica_that_cannot_be_reached(bench: Bench) -> None:
    table = bench.table()
    index = bench.index(table)
    read = bench.send(PeekIndex, index=index)
    query = bench.send(Query, relation=Distinct(Get(table), (ColumnRef(0),)), schema=SCHEMA)
    wait = bench.send(WaitUntilReadable, id=index)
    bench.dispatcher.run()
    bench.controller.tell(ReplicaUnavailable("r", "tcp://h:1: nobody listens"))
    for reply in (read, query, wait):
        with pytest.raises(ReplicaDown, match=r"cannot be reached, so nothing can be read: tcp://h:1: nobody listens"):
            reply.get()
    for later in (PeekIndex, WaitUntilReadable):
        with pytest.raises(ReplicaDown):
            bench.ask(later, **({"index": index} if later is PeekIndex else {"id": index}))
    # Tables are the system's own.
    bench.commit(1)
    bench.dispatcher.run()
    bench.replica.take_all()
    bench.controller.tell(ReplicaLost("r"))
    commands = bench.connected()
    assert [c.dataflow.export_ids for c in commands if isinstance(c, CreateDataflow)] == [(index,)]
    again = bench.send(PeekIndex, index=index)
    bench.dispatcher.run()
    peek = bench.replica.expect(Peek)
    bench.respond(PeekResponse(peek.uuid, rows(7)))
    assert again.get().blocks[0].columns.column(0).to_pylist() == [7]


def test_settings_reach_the_replica_and_those_that_come_later(bench: Bench) -> None:
    bench.ask(Configure, updates=(("a", 1),))
    bench.replica.expect(UpdateConfiguration, updates=(("a", 1),))
    bench.ask(Configure, updates=(("a", 2), ("b", True)))
    bench.replica.expect(UpdateConfiguration)
    bench.controller.tell(ReplicaLost("r"))
    (settings,) = [c for c in bench.connected() if isinstance(c, UpdateConfiguration)]
    assert dict(settings.updates) == {"a": 2, "b": True}


def test_outstanding_requests_are_refused_when_the_system_stops(bench: Bench) -> None:
    index = bench.index(bench.table())
    reply = bench.send(PeekIndex, index=index)
    bench.dispatcher.run()
    bench.dispatcher.stop()
    with pytest.raises(pykka.ActorDeadError):
        reply.get()
