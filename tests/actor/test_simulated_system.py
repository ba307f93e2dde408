"""All actors together in a simulation: whatever the order of messages, and however often the connection breaks, every
request gets one answer and every read is right for its time."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pykka
import pytest

from pillion.actors.controller.controller import Controller
from pillion.actors.controller.messages import AddReplica, ReplicaLost
from pillion.actors.dispatch.base import SystemActor
from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.dispatch.threaded import ThreadedDispatcher
from pillion.actors.errors import SystemFailed
from pillion.actors.multiplexer.replica import Replica
from pillion.actors.requests import (
    Cancel,
    Commit,
    Configure,
    CreateIndex,
    CreateMaterializedView,
    CreateTable,
    CreateView,
    Delete,
    Drop,
    Insert,
    Isolation,
    PeekIndex,
    Query,
    ReadResult,
    SubscribeTo,
)
from pillion.actors.storage.storage import Storage
from pillion.actors.transport.remote_replica import RemoteReplica
from pillion.actors.transport.retry import Retries
from pillion.dataflow.columns.column import Column, column_from_values
from pillion.messages.errors import PillionError
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Aggregate, Get, Reduce, Relation
from pillion.messages.responses import SubscribeBatch
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import Field, Schema, SqlType
from tests.actor.simulated_line import SimulatedLine

TABLE = Schema((Field("group", SqlType.BIGINT, False), Field("value", SqlType.BIGINT, False)))
TOTALS = Schema((Field("group", SqlType.BIGINT, False), Field("count", SqlType.BIGINT, False)))
Rows = Counter[tuple[int, ...]]


def columns(rows: list[tuple[int, int]]) -> tuple[Column, ...]:
    return tuple(column_from_values([row[i] for row in rows], SqlType.BIGINT) for i in range(2))


def totals(rows: Rows) -> Rows:
    counts: Counter[int] = Counter()
    for (group, _), count in rows.items():
        counts[group] += count
    return Counter({(group, count): 1 for group, count in counts.items() if count})


def rows_of(result: ReadResult) -> Rows:
    found: Rows = Counter()
    for block in result.blocks:
        diffs = [1] * block.num_rows if block.diffs is None else block.diffs.to_pylist()
        for row, diff in zip(block.columns.to_pylist(), diffs, strict=True):
            found[tuple(row.values())] += diff
    return found


class System:
    """A system under simulation, and what its table holds after each transaction."""

    def __init__(self, seed: int, interactive: bool, remote: bool = False) -> None:
        self.random = random.Random(seed)
        self.dispatcher = SimulatedDispatcher(seed, keep_trace=False)
        storage = self.dispatcher.start(Storage)
        self.controller = self.dispatcher.start(Controller, storage)
        workers = self.random.randint(1, 3)
        self.line: SimulatedLine | None = None
        if remote:
            self.line = line = SimulatedLine(self.dispatcher, workers, interactive=interactive)
            retries = Retries(self.random)
            endpoint: Any = self.dispatcher.start(RemoteReplica, storage, line, line.reach(), retries)
        else:
            endpoint = Replica.start(self.dispatcher, storage, workers, interactive=interactive).endpoint
        self.controller.tell(AddReplica("r", endpoint))
        self.table: GlobalId = self.ask(CreateTable, name="table", schema=TABLE)
        relation = Reduce(Get(self.table), (ColumnRef(0),), (Aggregate("count"),))
        self.view: GlobalId = self.ask(CreateView, name="view", relation=relation, schema=TOTALS)
        self.contents: dict[int, Rows] = {0: Counter()}
        self.commits: list[tuple[OneShot[Any], Rows]] = []
        self.reads: list[tuple[OneShot[Any], bool, int]] = []

    def send(self, kind: Any, **fields: Any) -> OneShot[Any]:
        reply = self.dispatcher.reply()
        self.controller.tell(kind(reply=reply, **fields))
        return reply

    def ask(self, kind: Any, **fields: Any) -> Any:
        return self.send(kind, **fields).get()

    def break_connection(self) -> None:
        if self.line is None:
            self.controller.tell(ReplicaLost("r"))
        else:
            self.line.break_off()

    def commit(self) -> None:
        latest = self.commits[-1][1] if self.commits else self.contents[0]
        present = sorted(latest.elements())
        gone = self.random.sample(present, self.random.randint(0, min(3, len(present))))
        new = [(self.random.randrange(4), self.random.randrange(3)) for _ in range(self.random.randint(0, 4))]
        after = Counter(latest)
        after.subtract(gone)
        after.update(new)
        changes = (Delete(self.table, columns(gone)), Insert(self.table, columns(new)))
        self.commits.append((self.send(Commit, changes=changes), +after))

    def read(self, index: GlobalId, materialized: GlobalId) -> None:
        isolation = self.random.choice(list(Isolation))
        returned = sum(reply.is_set for reply, _ in self.commits)
        kind = self.random.randrange(4)
        if kind == 0:
            reply = self.send(PeekIndex, index=index, isolation=isolation)
        elif kind == 1:
            reply = self.send(Query, relation=Get(self.table), schema=TABLE, isolation=isolation)
        else:
            read: Relation = Get(materialized if kind == 2 else self.view)
            reply = self.send(Query, relation=read, schema=TOTALS, isolation=isolation)
        self.reads.append((reply, kind == 1, returned if isolation is Isolation.STRICT_SERIALIZABLE else 0))

    def check(self) -> int:
        """Compare every read with the contents at its time; returns how many there were."""
        at: dict[int, Rows] = {0: Counter()}
        for reply, after in self.commits:
            at[reply.get().timestamp] = after
        returned_by = [reply.get().timestamp for reply, _ in self.commits]
        answered = 0
        for reply, of_table, returned in self.reads:
            try:
                result = reply.get()
            except PillionError as refused:
                assert "canceled" in str(refused)
                continue
            expected = at[max(time for time in at if time <= result.timestamp)]
            assert rows_of(result) == (expected if of_table else totals(expected)), result.timestamp
            assert not returned or result.timestamp >= returned_by[returned - 1]
            answered += 1
        return answered


@pytest.mark.parametrize("remote", [False, True], ids=["here", "another process"])
@pytest.mark.parametrize("interactive", [False, True], ids=["solo", "two runtimes"])
@pytest.mark.parametrize("seed", range(25))
def test_reads_are_right_whatever_the_order_and_however_often_the_connection_breaks(
    seed: int, interactive: bool, remote: bool
) -> None:
    system = System(seed, interactive, remote)
    dispatcher, chance = system.dispatcher, system.random
    index = system.ask(CreateIndex, name="index", on=system.view, key=(ColumnRef(0),))
    materialized = system.ask(CreateMaterializedView, name="materialized", relation=Get(system.view), schema=TOTALS)
    stream = dispatcher.stream()
    system.ask(SubscribeTo, relation=Get(system.view), schema=TOTALS, stream=stream)
    for _ in range(60):
        choice = chance.random()
        if choice < 0.3:
            system.commit()
        elif choice < 0.7:
            system.read(index, materialized)
        elif choice < 0.75:
            system.break_connection()
        elif choice < 0.78:
            routing = chance.choice(["interactive", "maintenance", "hinted"])
            flag = chance.random() < 0.5
            updates = (("peek_routing", routing), ("enable_compute_interactive_dataflows", flag))
            system.send(Configure, updates=updates)
        elif choice < 0.83 and system.reads:
            system.controller.tell(Cancel(chance.choice(system.reads)[0]))
        else:
            for _ in range(chance.randrange(60)):
                dispatcher.step()
    last = system.ask(Commit, changes=()).timestamp
    assert system.check() > 0
    _check_subscription(system, stream, last)
    for id in (index, materialized):
        system.ask(Drop, id=id)
    dispatcher.run()
    assert dispatcher.failure is None
    dispatcher.stop()


def _check_subscription(system: System, stream: Any, last: int) -> None:
    """The batches are contiguous, and integrate to the view after the last transaction."""
    integrated: Rows = Counter()
    batch: SubscribeBatch = stream.get()
    upper = batch.lower
    while True:
        assert batch.lower == upper and batch.error is None
        upper = batch.upper
        updates = batch.updates
        diffs = [updates.diffs] * updates.num_rows if isinstance(updates.diffs, int) else updates.diffs.to_pylist()
        for row, diff in zip(updates.columns.to_pylist(), diffs, strict=True):
            integrated[tuple(row.values())] += diff
        if upper is None or upper > last:
            break
        batch = stream.get()
    expected = totals(system.commits[-1][1]) if system.commits else Counter()
    assert Counter({row: count for row, count in integrated.items() if count}) == expected


class Saboteur(SystemActor):
    """Fails when it is told anything."""

    def receive(self, message: Any) -> Any:
        raise ZeroDivisionError("sabotage")


@pytest.mark.parametrize("threaded", [True, False])
def test_a_crash_answers_everything_and_leaves_nothing_behind(threaded: bool) -> None:
    dispatcher = ThreadedDispatcher() if threaded else SimulatedDispatcher()
    storage = dispatcher.start(Storage)
    controller = dispatcher.start(Controller, storage)
    saboteur = dispatcher.start(Saboteur)
    created = dispatcher.reply()
    controller.tell(CreateTable(name="table", schema=TABLE, reply=created))
    table = created.get()
    never = dispatcher.reply()
    controller.tell(Query(relation=Get(table), schema=TABLE, reply=never))
    saboteur.tell("go")
    with pytest.raises(ZeroDivisionError, match="sabotage"):
        never.get()
    with pytest.raises(SystemFailed, match="sabotage") as failed:
        controller.tell(Commit(changes=(), reply=OneShot()))
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    with pytest.raises(SystemFailed):
        dispatcher.reply().get()
    dispatcher.stop()
    assert pykka.ActorRegistry.get_all() == []
