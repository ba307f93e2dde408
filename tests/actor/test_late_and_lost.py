"""Messages that come late, and connections that break in the middle: what the random workload found, one by one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pillion.actors.controller.messages import Connect, ReplicaLost
from pillion.actors.dispatch.base import SystemActor
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.errors import UnknownCollection
from pillion.actors.multiplexer.replica import Replica
from pillion.actors.requests import (
    Commit,
    CreateIndex,
    CreateMaterializedView,
    CreateTable,
    Drop,
    HoldRead,
    Insert,
    Isolation,
    PeekIndex,
    Query,
    ReleaseRead,
    SubscribeTo,
)
from pillion.actors.simulation.answers import rows_of
from pillion.actors.simulation.model import TABLE
from pillion.actors.simulation.replicas import ReplicaHere, actor_of
from pillion.actors.simulation.simulation import Simulation
from pillion.actors.simulation.workload.changing import columns
from pillion.actors.storage.messages import AppendRows, CreateShard
from pillion.actors.storage.storage import Storage
from pillion.actors.system.index import Index
from pillion.actors.testing.probe import Probe
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.plans.lower import lower
from pillion.messages.commands import (
    CreateDataflow,
    CreateInstance,
    Hello,
    InitializationComplete,
    InstanceConfig,
    Schedule,
)
from pillion.messages.dataflows import RelationDataflow, SinkExport, SourceImport, Subscribe
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Distinct, Get, Project
from pillion.messages.responses import SubscribeResponse
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import SqlType

KEY = (ColumnRef(0),)


@pytest.fixture(params=[False, True], ids=["solo", "two runtimes"])
def system(request: pytest.FixtureRequest) -> Iterator[Simulation]:
    made = Simulation(7, workers=2, interactive=request.param)
    yield made
    assert made.dispatcher.failure is None
    made.dispatcher.stop()


def running(system: Simulation) -> Replica:
    replica = system.replicas[0]
    assert isinstance(replica, ReplicaHere)
    return replica.running


def ask(system: Simulation, kind: Any, **fields: Any) -> Any:
    return system.connection.ask(lambda reply: kind(reply=reply, **fields))


def table_with_index(system: Simulation) -> tuple[GlobalId, Index]:
    table = ask(system, CreateTable, name="table", schema=TABLE)
    id = ask(system, CreateIndex, name="index", on=table, key=KEY, wait=True)
    return table, Index(system.connection, id, "index", table, TABLE, ((KEY[0], SqlType.BIGINT, "a"),))


def write(system: Simulation, table: GlobalId, *rows: tuple[int, int]) -> int:
    return ask(system, Commit, changes=(Insert(table, columns(list(rows))),)).timestamp


def test_introspection_is_read_before_every_worker_heard_what_there_is(system: Simulation) -> None:
    """One worker sends its fellow rows of a relation of which that has not heard yet."""
    system.schedule.stalled = {actor_of(running(system).workers[1])}
    for _ in range(3):
        assert ask(system, PeekIndex, index=GlobalId("s", 1)).blocks is not None


def test_a_serializable_read_never_goes_back_behind_what_a_thread_has_read_itself(system: Simulation) -> None:
    table, index = table_with_index(system)
    index.lookup(1)
    # Sealed and published, while the controller has not heard of it yet.
    system.schedule.stalled = {running(system).endpoint._actor}  # type: ignore[attr-defined]
    time = write(system, table, (1, 1))
    publications = [actor_of(ref).state.traces[index.id].publication for ref in running(system).workers]
    system.dispatcher.run_until(lambda: all(p is not None and (p.snapshot.upper or 0) > time for p in publications))
    first = index.lookup(1, isolation=Isolation.SERIALIZABLE)
    second = index.peek(isolation=Isolation.SERIALIZABLE)
    assert first.timestamp is not None and second.timestamp is not None
    assert second.timestamp >= first.timestamp


@pytest.mark.parametrize("one_is_behind", [True, False])
@pytest.mark.parametrize("isolation", list(Isolation))
def test_a_thread_that_reads_an_index_that_is_withdrawn_asks_for_it(
    system: Simulation, isolation: Isolation, one_is_behind: bool
) -> None:
    """The replica loses the index while the thread holds its publication."""
    table, index = table_with_index(system)
    time = write(system, table, (1, 1))
    assert index.lookup(1).rows() == index.lookup(1, isolation=isolation).rows() == [(1, 1)]
    system.replicas[0].restart()
    publications = [actor_of(ref).state.traces[index.id].publication for ref in running(system).workers]
    withdrawn = any if one_is_behind else all
    system.dispatcher.run_until(lambda: withdrawn(p is not None and p.closed for p in publications))
    found = index.lookup(1, isolation=isolation)
    assert (found.timestamp, found.rows()) == (time, [(1, 1)])


def test_a_subscription_whose_table_is_gone_ends_with_an_error_when_the_replica_is_lost(
    system: Simulation,
) -> None:
    table, _ = table_with_index(system)
    stream = system.connection.stream()
    ask(system, SubscribeTo, relation=Get(table), schema=TABLE, stream=stream)
    system.settle()
    ask(system, HoldRead, ids=(table,))
    system.schedule.stalled = {actor_of(ref) for ref in (*running(system).workers, *running(system).interactive)}
    write(system, table, (1, 1))
    ask(system, Drop, id=table, cascade=True)
    system.replicas[0].restart()
    system.settle()
    with pytest.raises(UnknownCollection):
        for _ in range(10):
            stream.get()


@pytest.mark.parametrize("indexed", [False, True])
def test_reads_of_a_materialized_view_that_is_dropped_before_it_has_come_to_their_time(
    system: Simulation, indexed: bool
) -> None:
    """Its shard ends where it stands: not before they were answered."""
    table = ask(system, CreateTable, name="table", schema=TABLE)
    view = ask(system, CreateMaterializedView, name="view", relation=Get(table), schema=TABLE, wait=True)
    if indexed:
        ask(system, CreateIndex, name="index", on=view, key=KEY, wait=True)
    stream = system.connection.stream()
    ask(system, SubscribeTo, relation=Get(view), schema=TABLE, stream=stream)
    system.settle()
    system.schedule.stalled = {actor_of(ref) for ref in running(system).workers}
    time = write(system, table, (1, 1))
    swapped = Project(Get(view), (1, 0))
    read = system.connection.send(lambda reply: Query(relation=Distinct(swapped), schema=TABLE, reply=reply))
    ask(system, Drop, id=view, cascade=True)
    result = read.get()
    assert (result.timestamp, [row for block in result.blocks for row in rows_of(block)]) == (time, [(1, 1)])
    # Who follows it sees everything until it was dropped, and then its end.
    assert sum(batch.updates.num_rows for batch in stream) == 1
    system.dispatcher.elapse(10.0)
    system.settle()
    ask(system, Drop, id=table)
    system.dispatcher.elapse(10.0)
    system.settle()
    system.check_nothing_left()


def test_what_was_dropped_goes_with_its_last_reader_though_nobody_writes(system: Simulation) -> None:
    table, index = table_with_index(system)
    held = ask(system, HoldRead, ids=(index.id,))
    ask(system, Drop, id=table, cascade=True)
    for _ in range(5):
        system.dispatcher.elapse(10.0)
        system.settle()
    assert all(index.id in actor_of(ref).state.traces for ref in running(system).workers)
    ask(system, ReleaseRead, hold=held.hold)
    system.dispatcher.elapse(10.0)
    system.settle()
    system.check_nothing_left()


def test_a_connection_that_breaks_while_it_replays(system: Simulation) -> None:
    """Everybody goes on to number dataflows alike: subscriptions are merged by their numbers."""
    table, index = table_with_index(system)
    stream = system.connection.stream()
    ask(system, SubscribeTo, relation=Get(table), schema=TABLE, stream=stream)
    system.settle()
    rng = random.Random(1)
    for _ in range(30):
        system.controller.tell(ReplicaLost("r1"))
        system.deliver(rng.randrange(12))
        system.replicas[0].restart()
        system.deliver(rng.randrange(12))
    time = write(system, table, (1, 1))
    assert index.peek().rows() == [(1, 1)]
    while (batch := stream.get()).upper is not None and batch.upper <= time:
        pass
    assert batch.updates.num_rows == 1


class TimerActor(SystemActor):
    """Sends itself a message later; counts those that came."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def receive(self, message: Any) -> None:
        if isinstance(message, float):
            self.after(message, "rang")
        self.heard.append(message)


def test_time_passes_while_messages_are_on_their_way() -> None:
    dispatcher = SimulatedDispatcher()
    actor = dispatcher.start(TimerActor)
    for seconds in (1.0, 3.0):
        actor.tell(seconds)
    dispatcher.run()
    actor.tell("first")
    dispatcher.elapse(2.0)
    assert dispatcher.clock.now() == 2.0
    dispatcher.run()
    heard = actor._actor.heard  # type: ignore[attr-defined]
    assert sorted(heard, key=str) == [1.0, 3.0, "first", "rang"]
    dispatcher.stop()


def test_creations_of_a_replay_that_broke_are_counted_by_all() -> None:
    """A subscription on two workers, on a connection that came after one that was never complete."""
    dispatcher = SimulatedDispatcher()
    storage = dispatcher.start(Storage)
    shard = GlobalId("s", 1)
    storage.tell(CreateShard(shard, TABLE))
    replica = Replica.start(dispatcher, storage, 2)
    controller = Probe(dispatcher)
    replica.endpoint.tell(Connect("replica", controller.ref))
    source, sink = GlobalId("u", 1), GlobalId("t", 1)
    description = RelationDataflow(
        debug_name="subscribe",
        source_imports=(SourceImport(source, shard, TABLE),),
        index_imports=(),
        objects_to_build=(),
        index_exports=(),
        sink_exports=(SinkExport(sink, source, Subscribe()),),
        as_of=0,
    )
    create = CreateDataflow(lower(description, ()))
    instance = CreateInstance(InstanceConfig())
    for command in (Hello("a"), instance, InitializationComplete(), Hello("b"), instance, create):
        replica.endpoint.tell(command)
    for command in (Hello("c"), instance, create, Schedule(sink), InitializationComplete()):
        replica.endpoint.tell(command)
    rows = Updates(columns([(1, 1), (2, 2)]), np.zeros(2, np.int64), np.ones(2, np.int64))
    storage.tell(AppendRows(shard, TABLE, rows, 1, dispatcher.reply()))
    dispatcher.run()
    assert dispatcher.failure is None
    said = [each for message in controller.take_all() for each in message.responses]
    batches = [each.result for each in said if isinstance(each, SubscribeResponse)]
    assert [(batch.lower, batch.upper, batch.updates.num_rows) for batch in batches] == [(0, 1, 2)]
    dispatcher.stop()
