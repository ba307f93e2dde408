"""The multiplexer between a controller and two workers, all three replaced by probes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pillion.actors.controller.messages import Connect, FromReplica
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.multiplexer.multiplexer import Multiplexer
from pillion.actors.peeks.blocks import row_block, rows_of
from pillion.actors.testing.probe import Probe
from pillion.actors.worker.messages import Barrier, BarrierReached, FromWorker, Joined, Tagged
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import (
    AllowCompaction,
    CancelPeek,
    Finishing,
    Hello,
    IndexTarget,
    InitializationComplete,
    Peek,
    Schedule,
    UpdateConfiguration,
)
from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Order
from pillion.messages.responses import (
    Canceled,
    Frontiers,
    PeekError,
    PeekResponse,
    PeekResult,
    Response,
    Rows,
    Status,
)
from pillion.messages.types import Field, Schema, SqlType

INDEX = GlobalId("u", 2)
SCHEMA = Schema((Field("n", SqlType.BIGINT, False),))


class Bench:
    """A multiplexer with probes around it."""

    def __init__(self) -> None:
        self.dispatcher = SimulatedDispatcher()
        self.workers = [Probe(self.dispatcher), Probe(self.dispatcher)]
        self.controller = Probe(self.dispatcher)
        self.endpoint = self.dispatcher.start(Multiplexer, tuple(worker.ref for worker in self.workers))
        self.endpoint.tell(Connect("replica", self.controller.ref))
        self.connect("a")

    def connect(self, nonce: str) -> None:
        self.nonce = nonce
        self.endpoint.tell(Hello(nonce))
        self.dispatcher.run()
        for worker in self.workers:
            worker.take_all()

    def answer(self, worker: int, *responses: Response, incarnation: int = 0, nonce: str | None = None) -> None:
        tagged = tuple(Tagged(incarnation, response) for response in responses)
        self.endpoint.tell(FromWorker(worker, nonce or self.nonce, tagged))
        self.dispatcher.run()

    def heard(self) -> list[Response]:
        messages = self.controller.take_all()
        assert all(isinstance(message, FromReplica) and message.nonce == self.nonce for message in messages)
        return [response for message in messages for response in message.responses]


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.dispatcher.stop()


def peek(uuid: str = "p", finishing: Finishing = Finishing()) -> Peek:
    return Peek(uuid, IndexTarget(INDEX), 3, SCHEMA, finishing=finishing)


def rows(*numbers: int) -> Rows:
    return Rows(row_block(Updates.of((column_from_values(numbers, SqlType.BIGINT),), 0), SCHEMA))


def numbers(response: Response) -> list[object]:
    assert isinstance(response, PeekResponse)
    assert isinstance(response.result, Rows)
    return [row[0] for row, _, _ in rows_of(response.result.block, SCHEMA).to_tuples()]


def reached(frontier: Frontier) -> Frontiers:
    return Frontiers(INDEX, (frontier,), (frontier,), (frontier,))


def test_workers_join_before_they_hear_a_command() -> None:
    dispatcher = SimulatedDispatcher()
    worker = Probe(dispatcher)
    endpoint = dispatcher.start(Multiplexer, (worker.ref,))
    endpoint.tell(Hello("a"))
    dispatcher.run()
    worker.expect(Joined, multiplexer=endpoint)
    worker.expect(Hello, nonce="a")
    dispatcher.stop()


def test_every_command_goes_to_every_worker_in_order(bench: Bench) -> None:
    commands = [
        InitializationComplete(),
        UpdateConfiguration((("max_result_size", 1),)),
        Schedule(INDEX),
        peek(),
        CancelPeek("p"),
        AllowCompaction(INDEX, 4),
    ]
    for command in commands:
        bench.endpoint.tell(command)
    bench.dispatcher.run()
    for worker in bench.workers:
        assert worker.take_all() == commands


def test_a_peek_is_answered_once_all_workers_did(bench: Bench) -> None:
    bench.endpoint.tell(peek())
    bench.answer(0, PeekResponse("p", rows(1)))
    assert bench.heard() == []
    bench.answer(1, PeekResponse("p", rows(2, 3)))
    (response,) = bench.heard()
    assert numbers(response) == [1, 2, 3]


def test_order_and_limit_apply_to_the_whole(bench: Bench) -> None:
    bench.endpoint.tell(peek(finishing=Finishing((Order(0, descending=True),), limit=2)))
    bench.answer(0, PeekResponse("p", rows(9, 1)))
    bench.answer(1, PeekResponse("p", rows(8, 2)))
    (response,) = bench.heard()
    assert numbers(response) == [9, 8]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (rows(1), PeekError("no"), PeekError("no")),
        (PeekError("no"), Canceled(), PeekError("no")),
        (Canceled(), rows(1), Canceled()),
    ],
)
def test_an_error_wins_and_a_cancel_wins_over_rows(
    bench: Bench, first: PeekResult, second: PeekResult, expected: PeekResult
) -> None:
    bench.endpoint.tell(peek())
    bench.answer(0, PeekResponse("p", first))
    bench.answer(1, PeekResponse("p", second))
    assert bench.heard() == [PeekResponse("p", expected)]


def test_a_peek_with_the_uuid_of_an_outstanding_one_is_refused(bench: Bench) -> None:
    bench.endpoint.tell(peek())
    bench.endpoint.tell(peek())
    bench.dispatcher.run()
    (status,) = bench.heard()
    assert isinstance(status, Status)
    assert "outstanding already" in status.details["message"]
    assert len(bench.workers[0].take_all()) == 1


def test_the_setting_for_large_results_applies_to_the_union(bench: Bench) -> None:
    bench.endpoint.tell(UpdateConfiguration((("max_result_size", 20),)))
    bench.endpoint.tell(peek())
    bench.answer(0, PeekResponse("p", rows(1, 2)))
    bench.answer(1, PeekResponse("p", rows(3, 4)))
    (response,) = bench.heard()
    assert isinstance(response, PeekResponse)
    assert isinstance(response.result, PeekError)


def test_frontiers_are_told_at_their_minimum(bench: Bench) -> None:
    bench.answer(0, reached(5))
    assert bench.heard() == []
    bench.answer(1, reached(3))
    assert bench.heard() == [reached(3)]
    bench.answer(0, reached(9))
    assert bench.heard() == []


def test_an_id_that_is_used_again_is_another_collection(bench: Bench) -> None:
    """One worker is a drop and a creation ahead of the other."""
    bench.answer(0, reached(5), incarnation=1)
    bench.answer(1, reached(5), incarnation=1)
    assert bench.heard() == [reached(5)]
    bench.answer(0, reached(None), incarnation=1)
    bench.answer(0, reached(2), incarnation=2)
    assert bench.heard() == []
    bench.answer(1, reached(7), incarnation=1)
    assert bench.heard() == [reached(7)]
    bench.answer(1, reached(None), incarnation=1)
    bench.answer(1, reached(2), incarnation=2)
    assert bench.heard() == [reached(None), reached(2)]


def test_what_belongs_to_an_older_connection_is_dropped(bench: Bench) -> None:
    bench.endpoint.tell(peek())
    bench.answer(0, PeekResponse("p", rows(1)), reached(5))
    bench.connect("b")
    bench.answer(1, PeekResponse("p", rows(2)), reached(5), nonce="a")
    assert bench.heard() == []
    bench.endpoint.tell(peek())
    bench.answer(0, PeekResponse("p", rows(7)))
    bench.answer(1, PeekResponse("p", rows()))
    (response,) = bench.heard()
    assert numbers(response) == [7]


def test_a_barrier_is_reached_once_all_workers_reached_it(bench: Bench) -> None:
    reply = bench.dispatcher.reply()
    barrier = Barrier(reply)
    bench.endpoint.tell(barrier)
    bench.dispatcher.run()
    for worker in bench.workers:
        assert not reply.is_set
        assert worker.take_all() == [barrier]
        bench.endpoint.tell(BarrierReached(barrier))
        bench.dispatcher.run()
    assert reply.is_set
