"""A replica in another process tells of its memory, and the controller refuses what would take more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pillion.actors.controller.controller import Controller
from pillion.actors.controller.messages import AddReplica, FromReplica, ReplicaLost
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.errors import MemoryLimitReached
from pillion.actors.process.memory import OVER_LIMIT, Memory
from pillion.actors.requests import Commit, CreateTable, Insert
from pillion.actors.storage.storage import Storage
from pillion.actors.testing.probe import Probe
from pillion.actors.worker.messages import FromWorker, Joined
from pillion.actors.worker.process_globals import ProcessGlobals
from pillion.actors.worker.worker import Worker
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import (
    CreateInstance,
    Hello,
    InitializationComplete,
    InstanceConfig,
    UpdateConfiguration,
)
from pillion.messages.ids import GlobalId
from pillion.messages.responses import Status
from pillion.messages.types import Field, Schema, SqlType

LIMIT = 1000
SCHEMA = Schema((Field("id", SqlType.BIGINT, False),))


class Process(Memory):
    """A process whose size the test decides."""

    def __init__(self, resident: int) -> None:
        self.size = resident

    @property
    def resident(self) -> int:
        return self.size


@pytest.fixture
def dispatcher() -> Iterator[SimulatedDispatcher]:
    made = SimulatedDispatcher()
    yield made
    assert made.failure is None
    made.stop()


class Told:
    """A worker of a replica, and what it tells its multiplexer of its memory."""

    def __init__(self, dispatcher: SimulatedDispatcher, process: Process | None, worker: int = 0) -> None:
        self.dispatcher = dispatcher
        self.multiplexer = Probe(dispatcher)
        apply = ProcessGlobals.APPLY
        self.worker = dispatcher.start(Worker, worker, Probe(dispatcher).ref, memory=process, process_globals=apply)
        self.worker.tell(Joined(self.multiplexer.ref, (self.worker,) * (worker + 1)))
        self.connect()

    def connect(self) -> None:
        for command in (
            Hello("a"),
            CreateInstance(InstanceConfig()),
            UpdateConfiguration((("process_memory_limit", LIMIT),)),
            InitializationComplete(),
        ):
            self.worker.tell(command)
        self.dispatcher.run()

    def heard(self) -> list[bool]:
        messages = [message for message in self.multiplexer.take_all() if isinstance(message, FromWorker)]
        statuses = [tagged.response for message in messages for tagged in message.responses]
        return [s.details["over"] for s in statuses if isinstance(s, Status) and s.kind == OVER_LIMIT]

    def let_time_pass(self) -> None:
        """A few looks, which are timers."""
        for _ in range(6):
            self.dispatcher.step()


def test_a_worker_tells_once_that_there_is_too_much_and_once_that_there_is_not(dispatcher: SimulatedDispatcher) -> None:
    process = Process(LIMIT + 1)
    told = Told(dispatcher, process)
    assert told.heard() == [True]
    told.let_time_pass()
    assert told.heard() == []
    process.size = LIMIT
    told.let_time_pass()
    assert told.heard() == [False]
    # There is nothing to wait for any more.
    while dispatcher.step():
        pass
    assert told.heard() == []


def test_on_a_new_connection_it_tells_again(dispatcher: SimulatedDispatcher) -> None:
    told = Told(dispatcher, Process(LIMIT + 1))
    told.heard()
    told.connect()
    assert told.heard() == [True]


def test_one_worker_tells_for_all_and_none_where_the_controller_is_in_the_process(
    dispatcher: SimulatedDispatcher,
) -> None:
    assert Told(dispatcher, Process(LIMIT + 1), worker=1).heard() == []
    assert Told(dispatcher, None).heard() == []


class Bench:
    """A controller with a probe as its replica, and a table."""

    def __init__(self, dispatcher: SimulatedDispatcher) -> None:
        self.dispatcher = dispatcher
        self.replica = Probe(dispatcher)
        self.controller = dispatcher.start(
            Controller, dispatcher.start(Storage), introspection=(), memory=Process(LIMIT)
        )
        self.controller.tell(AddReplica("r", self.replica.ref))
        self.nonce = self.replica.find(Hello).nonce
        reply = dispatcher.reply()
        self.controller.tell(CreateTable(name="orders", schema=SCHEMA, reply=reply))
        self.table: GlobalId = reply.get()

    def say(self, over: bool) -> None:
        details = {"over": over, "resident": 3 << 20, "limit": 2 << 20}
        self.controller.tell(FromReplica("r", self.nonce, (Status(OVER_LIMIT, details),)))
        self.dispatcher.run()

    def insert(self) -> None:
        columns = (column_from_values([1], SqlType.BIGINT),)
        reply = self.dispatcher.reply()
        self.controller.tell(Commit(changes=(Insert(self.table, columns),), reply=reply))
        reply.get()


def test_the_controller_refuses_for_as_long_as_a_replica_has_too_much(dispatcher: SimulatedDispatcher) -> None:
    bench = Bench(dispatcher)
    bench.insert()
    bench.say(True)
    with pytest.raises(MemoryLimitReached, match="the process of replica 'r' has 3 MiB of the 2 MiB") as refused:
        bench.insert()
    assert (refused.value.replica, refused.value.resident) == ("r", 3 << 20)
    bench.say(False)
    bench.insert()


def test_a_replica_that_comes_back_is_not_blamed_for_what_it_was(dispatcher: SimulatedDispatcher) -> None:
    bench = Bench(dispatcher)
    bench.say(True)
    bench.controller.tell(ReplicaLost("r"))
    bench.insert()
