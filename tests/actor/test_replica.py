"""A whole replica (storage, multiplexer, workers) in simulations: whatever the order in which messages arrive, the
protocol's rules hold and every read gives what the shard holds at its time."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field

import msgspec
import numpy as np
import pytest

from pillion.actors.controller.messages import Connect, FromReplica
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.multiplexer.replica import Replica
from pillion.actors.peeks.blocks import rows_of, updates_of
from pillion.actors.storage.messages import AppendRows, CreateShard
from pillion.actors.storage.storage import Storage
from pillion.actors.testing.probe import Probe
from pillion.actors.worker.worker import Worker
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import (
    AllowCompaction,
    AllowWrites,
    CancelPeek,
    Command,
    CreateDataflow,
    Hello,
    IndexTarget,
    InitializationComplete,
    Peek,
    Schedule,
    ShardTarget,
    UpdateConfiguration,
)
from pillion.messages.dataflows import (
    IndexExport,
    IndexImport,
    MaterializedView,
    RenderDataflow,
    SinkExport,
    SourceImport,
    Subscribe,
)
from pillion.messages.frontiers import MINIMUM, Frontier, Timestamp, less_equal, less_than
from pillion.messages.ids import GlobalId
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
from pillion.messages.scalars import ColumnRef, Literal
from pillion.messages.types import Field, Schema, SqlType
from tests.actor.two_runtimes import Stalled, StallingSchedule, check_invariants

SHARD, COPY = GlobalId("s", 1), GlobalId("s", 2)
SOURCE, INDEX, SHARED, VIEW, CHANGES = (GlobalId("u", number) for number in range(1, 6))
KEY, OTHER_KEY = (ColumnRef(0),), (ColumnRef(1),)
SCHEMA = Schema((Field("key", SqlType.BIGINT, False), Field("value", SqlType.BIGINT, False)))
Row = tuple[int, int]


def dataflow(*exports: IndexExport | SinkExport, as_of: Timestamp, imported: bool = False) -> RenderDataflow:
    return RenderDataflow(
        debug_name="simulated",
        source_imports=() if imported else (SourceImport(SOURCE, SHARD, SCHEMA),),
        index_imports=(IndexImport(INDEX, SOURCE, KEY, SCHEMA),) if imported else (),
        objects_to_build=(),
        index_exports=tuple(export for export in exports if isinstance(export, IndexExport)),
        sink_exports=tuple(export for export in exports if isinstance(export, SinkExport)),
        as_of=as_of,
    )


@dataclass
class Heard:
    """What a controller hears of one collection, checked against the protocol."""

    as_of: Timestamp
    frontiers: dict[str, Frontier] = field(default_factory=dict[str, Frontier])
    subscribed: Frontier = MINIMUM
    updates: Counter[tuple[Row, Timestamp]] = field(default_factory=Counter[tuple[Row, Timestamp]])

    def absorb(self, response: Frontiers) -> None:
        for kind in ("write", "input", "output"):
            moved: tuple[Frontier] | None = getattr(response, kind)
            if moved is None:
                continue
            assert less_equal(self.as_of, moved[0]), response
            if kind in self.frontiers:
                assert less_than(self.frontiers[kind], moved[0]), response
            self.frontiers[kind] = moved[0]

    def absorb_batch(self, batch: SubscribeBatch) -> None:
        assert batch.lower == self.subscribed
        assert less_than(batch.lower, batch.upper)
        for row, time, diff in updates_of(batch.updates, SCHEMA).to_tuples():
            assert less_equal(batch.lower, time)
            assert less_than(time, batch.upper)
            self.updates[row, time] += diff  # type: ignore[index]
        self.subscribed = batch.upper


class World:
    """A replica, its controller, and the truth about the shard."""

    def __init__(self, seed: int, workers: int, *, interactive: bool = False) -> None:
        self.random = random.Random(seed)
        self.schedule = StallingSchedule(seed)
        self.dispatcher = SimulatedDispatcher(seed, schedule=self.schedule, keep_trace=False)
        self.storage = self.dispatcher.start(Storage)
        self.storage.tell(CreateShard(SHARD, SCHEMA))
        self.storage.tell(CreateShard(COPY, SCHEMA))
        self.replica = Replica.start(self.dispatcher, self.storage, workers, interactive=interactive)
        self.controller = Probe(self.dispatcher)
        self.history: list[tuple[Row, Timestamp, int]] = []
        self.upper: Timestamp = 0
        self.heard: dict[GlobalId, Heard] = {}
        self.peeks: dict[str, Peek] = {}
        self.canceled: set[str] = set()
        self.answered: set[str] = set()
        self.reads: list[tuple[str, GlobalId]] = []
        self.nonce = ""
        self.count = 0
        self.tell(Connect("replica", self.controller.ref))

    def close(self) -> None:
        self.dispatcher.stop()

    def tell(self, message: Command | Connect) -> None:
        self.replica.endpoint.tell(message)

    def connect(self, *commands: Command) -> None:
        self.count += 1
        self.nonce = str(self.count)
        self.heard.clear()
        self.peeks.clear()
        self.tell(Hello(self.nonce))
        self.tell(UpdateConfiguration((("worker_turn_steps", 1), ("peek_scan_slice", 3))))
        for command in commands:
            self.send(command)
        self.tell(InitializationComplete())

    def send(self, command: Command) -> None:
        if isinstance(command, CreateDataflow):
            for id in command.dataflow.export_ids:
                self.heard[id] = Heard(command.dataflow.as_of, subscribed=command.dataflow.as_of)
        self.tell(command)

    def write(self) -> None:
        time = self.upper + self.random.randrange(3)
        rows = [(self.random.randrange(6), self.random.randrange(3)) for _ in range(self.random.randrange(8))]
        present = self.at(self.upper - 1)
        gone = [row for row in present if self.random.random() < 0.3]
        changes = [(row, 1) for row in rows] + [(row, -1) for row in gone]
        self.history += [(row, time, diff) for row, diff in changes]
        self.upper = time + 1
        columns = tuple(
            column_from_values([row[position] for row, _ in changes], SqlType.BIGINT) for position in range(2)
        )
        times = np.full(len(changes), time, np.int64)
        updates = Updates(columns, times, np.array([diff for _, diff in changes], np.int64))
        self.storage.tell(AppendRows(SHARD, SCHEMA, updates, self.upper, self.dispatcher.reply()))

    def at(self, time: Timestamp) -> Counter[Row]:
        rows: Counter[Row] = Counter()
        for row, when, diff in self.history:
            if when <= time:
                rows[row] += diff
        return +rows

    def peek(self, target: IndexTarget | ShardTarget, time: Timestamp) -> None:
        self.count += 1
        keys = None
        if not target.id.is_transient and isinstance(target, IndexTarget) and self.random.random() < 0.5:
            keys = tuple((Literal.of(self.random.randrange(6), SqlType.BIGINT),) for _ in range(2))
        peek = Peek(f"peek {self.count}", target, time, SCHEMA, keys)
        self.peeks[peek.uuid] = peek
        self.tell(peek)
        if self.random.random() < 0.15:
            self.canceled.add(peek.uuid)
            self.tell(CancelPeek(peek.uuid))

    def run(self, steps: int) -> None:
        with contextlib.suppress(Stalled):
            for _ in range(steps):
                if not self.dispatcher.step():
                    break
                check_invariants(self.replica)
        self.listen()

    def stall(self) -> None:
        """Some worker of either runtime handles nothing until the next call, or until all settle."""
        self.schedule.stalled.clear()
        if self.random.random() < 0.7:
            self.schedule.stalled.add(worker_of(self.random.choice(self.replica.workers + self.replica.interactive)))

    def read(self, time: Timestamp) -> None:
        """A one-shot read of an index, and what its controller says: peek, perhaps, and drop."""
        self.count += 1
        transient = GlobalId("t", self.count)
        export = IndexExport(transient, SOURCE, self.random.choice([KEY, OTHER_KEY]))
        imported = msgspec.structs.replace(dataflow(export, as_of=time, imported=True), until=time + 1)
        self.heard[transient] = Heard(time)
        self.tell(CreateDataflow(imported.classified(self.random.random() < 0.7)))
        self.tell(Schedule(transient))
        uuid = f"read {self.count}"
        self.peeks[uuid] = Peek(uuid, IndexTarget(transient), time, SCHEMA)
        self.tell(self.peeks[uuid])
        self.reads.append((uuid, transient))

    def drop_reads(self) -> None:
        """As a controller does: once they are answered."""
        for uuid, transient in self.reads.copy():
            if uuid in self.answered or uuid not in self.peeks:
                self.reads.remove((uuid, transient))
                if uuid in self.peeks:
                    self.tell(AllowCompaction(transient, None))

    def settle(self) -> None:
        self.schedule.stalled.clear()
        self.dispatcher.run()
        self.listen()
        self.drop_reads()
        self.dispatcher.run()
        self.listen()

    def listen(self) -> None:
        for message in self.controller.take_all():
            assert isinstance(message, FromReplica)
            if message.nonce == self.nonce:
                for response in message.responses:
                    self.absorb(response)

    def absorb(self, response: Response) -> None:
        match response:
            case Frontiers():
                self.heard[response.id].absorb(response)
            case PeekResponse(uuid, result):
                assert uuid not in self.answered
                self.answered.add(uuid)
                self.check(self.peeks[uuid], result)
            case SubscribeResponse(id, SubscribeBatch() as batch):
                self.heard[id].absorb_batch(batch)
            case SubscribeResponse(id, DroppedAt(frontier)):
                assert frontier == self.heard[id].subscribed
            case _:
                pytest.fail(f"unexpected {response}")

    def check(self, peek: Peek, result: PeekResult) -> None:
        if isinstance(result, Canceled):
            assert peek.uuid in self.canceled
            return
        assert isinstance(result, Rows), result
        found: Counter[Row] = Counter()
        for row, _, diff in rows_of(result.block, SCHEMA).to_tuples():
            found[row] += diff  # type: ignore[index]
        expected = self.at(peek.timestamp)
        if peek.literal_constraints is not None:
            keys = {key[0].value for key in peek.literal_constraints}
            expected = Counter({row: count for row, count in expected.items() if row[0] in keys})
        assert found == expected

    def reached(self, id: GlobalId, time: Timestamp) -> bool:
        return less_than(time, self.heard[id].frontiers.get("write", MINIMUM))


def everything(as_of: Timestamp) -> list[Command]:
    """An index, another one that shares its arrangement, a materialized view and a subscription."""
    return [
        CreateDataflow(dataflow(IndexExport(INDEX, SOURCE, KEY), as_of=as_of)),
        CreateDataflow(dataflow(IndexExport(SHARED, SOURCE, KEY), as_of=as_of, imported=True)),
        CreateDataflow(dataflow(SinkExport(VIEW, SOURCE, MaterializedView(COPY)), as_of=as_of)),
        CreateDataflow(dataflow(SinkExport(CHANGES, SOURCE, Subscribe()), as_of=as_of, imported=True)),
        Schedule(INDEX),
        Schedule(SHARED),
        Schedule(VIEW),
        Schedule(CHANGES),
        AllowWrites(VIEW),
    ]


@pytest.mark.parametrize("interactive", [False, True], ids=["solo", "two runtimes"])
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_reads_are_right_and_the_protocol_holds_in_every_order(seed: int, workers: int, interactive: bool) -> None:
    with closing(World(seed, workers, interactive=interactive)) as world:
        check_random_commands(world)


def check_random_commands(world: World) -> None:
    since = 0
    world.connect(*everything(0))
    for _ in range(60):
        action = world.random.random()
        if action < 0.3:
            world.write()
        elif action < 0.6 and world.upper > since:
            target = world.random.choice([INDEX, SHARED])
            world.peek(IndexTarget(target), world.random.randrange(since, world.upper))
        elif action < 0.65 and world.upper > since:
            world.peek(ShardTarget(COPY), world.random.randrange(since, world.upper))
        elif action < 0.7 and world.upper > since:
            # A peek that waits may meet the compaction; a controller's read hold prevents that.
            world.settle()
            since = world.random.randrange(since, world.upper)
            world.tell(AllowCompaction(INDEX, since))
            world.tell(AllowCompaction(SHARED, since))
        elif action < 0.73:
            world.connect(*everything(since))
        elif action < 0.85 and world.upper > since:
            world.read(world.random.randrange(since, world.upper))
        elif action < 0.9:
            world.stall()
        world.drop_reads()
        world.run(world.random.randrange(30))
    world.settle()
    outstanding = world.peeks.keys() - world.answered
    assert not outstanding, "a peek of a sealed time was not answered"
    assert world.reached(INDEX, world.upper - 1)
    assert world.reached(VIEW, world.upper - 1)
    for time in range(since, world.upper):
        told: Counter[Row] = Counter()
        for (row, when), diff in world.heard[CHANGES].updates.items():
            told[row] += diff if when <= time else 0
        assert +told == world.at(time)
    # The first export is dropped first, while others still need what its dataflow maintains.
    for id in (INDEX, VIEW, SHARED, CHANGES):
        world.tell(AllowCompaction(id, None))
    world.settle()
    for id in (INDEX, SHARED, VIEW):
        assert world.heard[id].frontiers == {"write": None, "input": None, "output": None}
    check_nothing_is_left(world)


def check_nothing_is_left(world: World) -> None:
    for ref in world.replica.workers + world.replica.interactive:
        state = worker_of(ref).state
        assert not state.dataflows
        assert not state.collections
        assert not state.traces
        assert not state.peers
        assert not state.bundles
        assert not state.published
        assert not state.peeks
        assert not state.queued_peeks
        assert not state.early


def worker_of(ref: object) -> Worker:
    actor = getattr(ref, "_actor", None)
    assert isinstance(actor, Worker)
    return actor


@pytest.mark.parametrize("interactive", [False, True], ids=["solo", "two runtimes"])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_dataflow_that_is_dropped_before_others_created_it_leaves_nothing_behind(
    workers: int, interactive: bool
) -> None:
    for seed in range(8):
        with closing(World(seed, workers, interactive=interactive)) as world:
            check_repeated_creation(world)


def check_repeated_creation(world: World) -> None:
    world.connect()
    world.write()
    for _ in range(4):
        world.send(CreateDataflow(dataflow(IndexExport(INDEX, SOURCE, KEY), as_of=0)))
        world.tell(Schedule(INDEX))
        for _ in range(world.random.randrange(12)):
            world.dispatcher.step()
        world.tell(AllowCompaction(INDEX, None))
        world.write()
    world.dispatcher.run()
    check_nothing_is_left(world)


@pytest.mark.parametrize("interactive", [False, True], ids=["solo", "two runtimes"])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_indexes_are_dropped_and_created_again_while_reads_run(seed: int, workers: int, interactive: bool) -> None:
    with closing(Careless(seed, workers, interactive=interactive)) as world:
        check_drops(world)


class Careless(World):
    """Its controller drops what others still read or wait for; then they hear that, or go on."""

    def absorb(self, response: Response) -> None:
        # What is said last of an index may come after it was created again.
        if not isinstance(response, Frontiers):
            super().absorb(response)

    def check(self, peek: Peek, result: PeekResult) -> None:
        if isinstance(result, PeekError):
            assert "dropped" in result.message or "no index" in result.message, result
        else:
            super().check(peek, result)


def check_drops(world: World) -> None:
    """One index at a time is there under its id, and reads of it that live for several times."""
    chance, is_there = world.random, False
    reads: dict[GlobalId, range] = {}
    world.connect()
    for _ in range(80):
        action = chance.random()
        if action < 0.25:
            world.write()
        elif action < 0.4:
            if is_there:
                world.tell(AllowCompaction(INDEX, None))
            else:
                world.send(CreateDataflow(dataflow(IndexExport(INDEX, SOURCE, KEY), as_of=0)))
                world.tell(Schedule(INDEX))
            is_there = not is_there
        elif action < 0.55 and is_there:
            world.count += 1
            id, as_of = GlobalId("t", world.count), chance.randrange(world.upper + 2)
            reads[id] = range(as_of, as_of + chance.randrange(1, 6))
            over = dataflow(IndexExport(id, SOURCE, chance.choice([KEY, OTHER_KEY])), as_of=as_of, imported=True)
            over = msgspec.structs.replace(over, until=reads[id].stop)
            world.send(CreateDataflow(over.classified(chance.random() < 0.7)))
            world.tell(Schedule(id))
        elif action < 0.65 and reads:
            dropped = chance.choice(list(reads))
            del reads[dropped]
            world.tell(AllowCompaction(dropped, None))
        elif action < 0.75 and world.upper:
            world.peek(IndexTarget(INDEX), chance.randrange(world.upper))
        elif action < 0.85 and reads:
            id = chance.choice(list(reads))
            world.peek(IndexTarget(id), chance.choice(reads[id]))
        else:
            world.stall()
        world.run(chance.randrange(30))
    for id in [INDEX] * is_there + list(reads):
        world.tell(AllowCompaction(id, None))
    world.settle()
    assert world.peeks.keys() == world.answered
    check_nothing_is_left(world)
