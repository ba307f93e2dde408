"""How long peeks wait and how long they are worked on, measured where it happens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pillion.actors.controller.messages import Connect
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.metrics.system import SystemMetrics
from pillion.actors.multiplexer.multiplexer import Multiplexer
from pillion.actors.storage.messages import ShardSnapshot, SubscribeShard
from pillion.actors.testing.probe import Probe
from pillion.actors.worker.messages import FromWorker, Joined, Tagged
from pillion.actors.worker.placement import Placement
from pillion.actors.worker.worker import Worker
from pillion.dataflow.arrangements.updates import Chunk, Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import (
    CreateDataflow,
    CreateInstance,
    Hello,
    IndexTarget,
    InitializationComplete,
    InstanceConfig,
    Peek,
    Schedule,
    UpdateConfiguration,
)
from pillion.messages.dataflows import DataflowClass, IndexExport, RenderDataflow, SourceImport
from pillion.messages.ids import GlobalId
from pillion.messages.responses import Canceled, PeekError, PeekResponse, Rows
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import Field, Schema, SqlType

TABLE, INDEX = GlobalId("u", 1), GlobalId("u", 2)
SCHEMA = Schema((Field("n", SqlType.BIGINT, False),))
PEEK = Peek("p", IndexTarget(INDEX), 3, SCHEMA)


class Ticking:
    """A clock that moves by a second whenever somebody looks at it."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        self._now += 1.0
        return self._now


@pytest.fixture
def dispatcher() -> Iterator[SimulatedDispatcher]:
    made = SimulatedDispatcher()
    yield made
    assert made.failure is None
    made.stop()


@pytest.fixture
def ticking() -> Iterator[SimulatedDispatcher]:
    made = SimulatedDispatcher()
    made.services = replace(made.services, clock=Ticking())
    yield made
    assert made.failure is None
    made.stop()


def test_a_peek_waits_unless_a_worker_works_on_it(dispatcher: SimulatedDispatcher) -> None:
    metrics = SystemMetrics()
    workers = [Probe(dispatcher), Probe(dispatcher)]
    endpoint = dispatcher.start(Multiplexer, tuple(worker.ref for worker in workers), metrics)
    endpoint.tell(Connect("r", Probe(dispatcher).ref))
    endpoint.tell(Hello("a"))
    endpoint.tell(PEEK)
    dispatcher.run()
    answer = PeekResponse("p", PeekError("no"))
    dispatcher.clock.advance_to(1.0)
    endpoint.tell(FromWorker(0, "a", (Tagged(-1, answer, 0.5),)))
    dispatcher.run()
    dispatcher.clock.advance_to(3.0)
    endpoint.tell(FromWorker(1, "a", (Tagged(-1, answer, 2.0),)))
    dispatcher.run()
    figures = metrics.peeks(Placement.SOLO)
    assert (figures.queue.seconds, figures.service.seconds) == (1.0, 2.0)
    assert figures.queue.count == figures.service.count == 1


def test_a_peek_that_was_canceled_is_not_counted(dispatcher: SimulatedDispatcher) -> None:
    metrics = SystemMetrics()
    endpoint = dispatcher.start(Multiplexer, (Probe(dispatcher).ref,), metrics)
    endpoint.tell(Connect("r", Probe(dispatcher).ref))
    endpoint.tell(Hello("a"))
    endpoint.tell(PEEK)
    dispatcher.run()
    endpoint.tell(FromWorker(0, "a", (Tagged(-1, PeekResponse("p", Canceled())),)))
    dispatcher.run()
    assert metrics.peeks(Placement.SOLO).queue.count == 0


def index(
    workers_metrics: SystemMetrics, dispatcher: SimulatedDispatcher, rows: int, slice: int
) -> tuple[Probe, Probe]:
    """A worker with an index of so many rows at times 0 to 9, seen from its storage and its multiplexer."""
    storage, multiplexer = Probe(dispatcher), Probe(dispatcher)
    worker = dispatcher.start(Worker, 0, storage.ref, metrics=workers_metrics)
    worker.tell(Joined(multiplexer.ref, (worker,)))
    worker.tell(Hello("a"))
    worker.tell(CreateInstance(InstanceConfig()))
    worker.tell(InitializationComplete())
    worker.tell(UpdateConfiguration((("peek_scan_slice", slice), ("worker_turn_seconds", 1000.0))))
    description = RenderDataflow(
        debug_name="index",
        source_imports=(SourceImport(TABLE, TABLE, SCHEMA),),
        index_imports=(),
        objects_to_build=(),
        index_exports=(IndexExport(INDEX, TABLE, (ColumnRef(0),)),),
        sink_exports=(),
        as_of=0,
        dataflow_class=DataflowClass.MAINTAINED,
    )
    worker.tell(CreateDataflow(description))
    worker.tell(Schedule(INDEX))
    subscription = storage.find(SubscribeShard).subscription
    updates = Updates.of((column_from_values(list(range(rows)), SqlType.BIGINT),), 0)
    worker.tell(ShardSnapshot(TABLE, subscription, Chunk(0, 10, updates)))
    worker.tell(PEEK)
    return storage, multiplexer


def worked(multiplexer: Probe) -> float:
    """What a worker says that it spent on the peek."""
    for message in multiplexer.take_all():
        for tagged in message.responses if isinstance(message, FromWorker) else ():
            if isinstance(tagged.response, PeekResponse):
                assert isinstance(tagged.response.result, Rows)
                return tagged.worked
    raise AssertionError("the peek was not answered")


def test_work_on_a_scan_is_the_sum_over_its_slices(ticking: SimulatedDispatcher) -> None:
    seconds: list[float] = []
    for slice in (100, 10):
        _, multiplexer = index(SystemMetrics(), ticking, rows=50, slice=slice)
        ticking.run()
        seconds.append(worked(multiplexer))
    # The clock is looked at once when work on a slice begins and once when it ends, and nobody counts what is between.
    assert seconds[1] - seconds[0] == pytest.approx(4.0)


def test_steps_are_measured(ticking: SimulatedDispatcher) -> None:
    metrics = SystemMetrics()
    index(metrics, ticking, rows=5, slice=10)
    ticking.run()
    (state,) = metrics.workers
    steps = state.figures.steps
    assert steps.count > 0
    assert steps.seconds == steps.count  # the clock was looked at once after each
