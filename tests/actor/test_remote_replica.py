"""Both ends of a replica in another process, each with a probe for its neighbours and no socket in between."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import pykka
import pytest

from pillion.actors.controller.messages import Connect, FromReplica, ReplicaLost, ReplicaUnavailable
from pillion.actors.dispatch.simulated import NeverAnswered, SimulatedDispatcher
from pillion.actors.storage.messages import (
    Appended,
    CancelRead,
    CompareAndAppend,
    ReadShard,
    ShardChanges,
    ShardSnapshot,
    SubscribeShard,
    UnsubscribeAll,
    UnsubscribeShard,
)
from pillion.actors.testing.probe import Probe
from pillion.actors.transport.codec import Append, ForWorker, decode_down
from pillion.actors.transport.errors import ConnectionEnded, TransportError, Unreachable
from pillion.actors.transport.opening import Link
from pillion.actors.transport.remote_replica import AskCounters, LostReplica, RemoteReplica
from pillion.actors.transport.remote_system import FromSystem, RemoteSystem, Serve
from pillion.actors.transport.retry import Backoff, Retries
from pillion.actors.transport.wire import (
    Answers,
    BarrierForm,
    BarrierReachedForm,
    CancelReadForm,
    Counters,
    CountersAsked,
    Ended,
    Opened,
    ReadForm,
    SubscribeForm,
    UnsubscribeAllForm,
    UnsubscribeForm,
)
from pillion.actors.worker.messages import Barrier
from pillion.dataflow.arrangements.updates import Chunk
from pillion.messages.commands import (
    AllowCompaction,
    Finishing,
    Hello,
    IndexTarget,
    InitializationComplete,
    Peek,
    Schedule,
)
from pillion.messages.ids import GlobalId
from pillion.messages.responses import Frontiers, PeekError, PeekResponse, Status
from pillion.messages.types import Schema

SHARD = GlobalId("u", 1)
BACKOFF = Backoff(first=1.0, longest=8.0, stable=10.0, many=3)


class Wire:
    """Stands in the place of a connection."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.received: Callable[[Any], None] | None = None
        self.ended: Callable[[TransportError], None] | None = None
        self.end_reason: TransportError | None = None

    def start(self, received: Callable[[Any], None], ended: Callable[[TransportError], None]) -> None:
        self.received, self.ended = received, ended

    def send(self, message: Any, weight: int = 0) -> None:
        self.sent.append(decode_down(message) if isinstance(message, bytes) else message)

    def end(self, reason: TransportError) -> None:
        self.end_reason = reason

    def take(self) -> list[Any]:
        """What was sent since the last time."""
        sent, self.sent = self.sent, []
        return sent

    def arrive(self, message: Any) -> None:
        assert self.received is not None
        self.received(message)

    def break_off(self, reason: str = "it broke") -> None:
        assert self.ended is not None
        self.ended(ConnectionEnded(reason))


class Exchange:
    """Stands in the place of a line: connections are made when the test says so."""

    name = "tcp://there:1"

    def __init__(self) -> None:
        self.dialed: list[Callable[[Link | TransportError], None]] = []

    def dial(self, told: Callable[[Link | TransportError], None]) -> None:
        self.dialed.append(told)

    def answer(self, outcome: Link | TransportError) -> None:
        self.dialed.pop()(outcome)


def link() -> tuple[Link, Wire]:
    wire = Wire()
    return Link(wire, Opened(1, False, False, 1, 1000)), wire  # type: ignore[arg-type]


class System:
    """The system's end, with a probe as its storage and one as its controller."""

    def __init__(self, *, retries: bool = True) -> None:
        self.dispatcher = SimulatedDispatcher(1)
        self.storage = Probe(self.dispatcher)
        self.controller = Probe(self.dispatcher)
        self.exchange = Exchange()
        first, self.wire = link()
        policy = Retries(random.Random(1), BACKOFF) if retries else None
        self.replica: pykka.ActorRef[Any] = self.dispatcher.start(
            RemoteReplica, self.storage.ref, self.exchange, first, policy
        )
        self.connect("n1")

    def connect(self, nonce: str) -> None:
        self.tell(Connect("r", self.controller.ref), Hello(nonce), InitializationComplete())

    def tell(self, *messages: Any) -> None:
        for message in messages:
            self.replica.tell(message)
        self.dispatcher.run()

    def arrive(self, *messages: Any) -> None:
        for message in messages:
            self.wire.arrive(message)
        self.dispatcher.run()

    def break_off(self, reason: str = "it broke") -> None:
        self.wire.break_off(reason)
        self.dispatcher.run()

    def let_dial(self) -> None:
        """Let time pass until it tries to connect."""
        self.dispatcher.run_until(lambda: bool(self.exchange.dialed))

    def reconnect(self) -> None:
        """The next attempt succeeds."""
        self.let_dial()
        outcome, self.wire = link()
        self.exchange.answer(outcome)
        self.dispatcher.run()


@pytest.fixture
def system() -> Iterator[System]:
    system = System()
    yield system
    system.dispatcher.stop()


def test_commands_go_out_in_order_and_responses_come_in(system: System) -> None:
    system.tell(Schedule(SHARD))
    assert system.wire.take() == [Hello("n1"), InitializationComplete(), Schedule(SHARD)]
    frontiers = Frontiers(SHARD, write=(3,))
    system.arrive(Answers("n1", (frontiers,)))
    heard = system.controller.expect(FromReplica)
    assert (heard.replica, heard.nonce, heard.responses) == ("r", "n1", (frontiers,))


def test_each_worker_has_somebody_who_stands_for_it(system: System) -> None:
    system.arrive(SubscribeForm(0, SHARD, 4, 2, 0, 2), SubscribeForm(1, SHARD, 4, 2, 1, 2))
    first, second = system.storage.expect(SubscribeShard), system.storage.expect(SubscribeShard)
    assert (first.subscription, first.as_of, first.worker, first.workers) == (4, 2, 0, 2)
    assert first.subscriber != second.subscriber
    system.wire.take()
    snapshot, changes = ShardSnapshot(SHARD, 4, Chunk(0, 3)), ShardChanges(((4, Chunk(3, 4)),))
    second.subscriber.tell(snapshot)
    second.subscriber.tell(changes)
    first.subscriber.tell(snapshot)
    system.dispatcher.run()
    told = [(each.worker, each.message) for each in system.wire.take()]
    assert [message for worker, message in told if worker == 1] == [snapshot, changes]
    assert [message for worker, message in told if worker == 0] == [snapshot]


def test_all_that_workers_ask_of_the_storage(system: System) -> None:
    chunk = Chunk(3, 5)
    system.arrive(
        ReadForm(2, SHARD, "token", 7, 0, 1),
        CancelReadForm(2, "token"),
        Append(2, SHARD, chunk),
        UnsubscribeForm(2, SHARD, 4),
        UnsubscribeAllForm(2),
    )
    read = system.storage.expect(ReadShard, shard=SHARD, token="token", timestamp=7, worker=0, workers=1)
    assert system.storage.expect(CancelRead, token="token").reader == read.reader
    append = system.storage.expect(CompareAndAppend, shard=SHARD, lower=3, upper=5)
    assert append.writer == read.reader
    assert system.storage.expect(UnsubscribeShard, shard=SHARD, subscription=4).subscriber == read.reader
    assert system.storage.expect(UnsubscribeAll).subscriber == read.reader


def test_barriers_and_counters_are_answered_by_the_other_side(system: System) -> None:
    barrier, counters = system.dispatcher.reply(), system.dispatcher.reply()
    system.wire.take()
    system.tell(Barrier(barrier), AskCounters(counters))
    assert system.wire.take() == [BarrierForm(1), CountersAsked(2)]
    system.arrive(Counters(2, {"peers": 3}), BarrierReachedForm(1), BarrierReachedForm(7))
    assert barrier.is_set
    assert counters.get() == {"peers": 3}


@pytest.mark.parametrize(
    ("finishing", "nonce", "problem"),
    [
        (Finishing(limit=2**64), "", "can't serialize ints"),
        (Finishing(limit=2**63), "", "limit"),
        (Finishing(), "x" * 1000, "do not fit into a message between processes, which has 1000 at most"),
    ],
    ids=["no integer", "too large a number", "too long"],
)
def test_a_command_that_does_not_travel_is_refused_alone(
    system: System, finishing: Finishing, nonce: str, problem: str
) -> None:
    system.wire.take()
    peek = Peek(f"uuid{nonce}", IndexTarget(SHARD), 3, Schema(()), finishing=finishing)
    system.tell(peek, Schedule(SHARD))
    assert system.wire.take() == [Schedule(SHARD)]
    (refused,) = system.controller.expect(FromReplica, nonce="n1").responses
    assert isinstance(refused, PeekResponse)
    assert isinstance(refused.result, PeekError)
    assert problem in refused.result.message
    system.tell(AllowCompaction(SHARD, 2**64))
    (status,) = system.controller.expect(FromReplica).responses
    assert isinstance(status, Status)
    assert status.details["command"] == "AllowCompaction"


# --- Connections that break -----------------------------------------------------------------------------------------


def test_the_controller_says_everything_again_once_there_is_another_connection(system: System) -> None:
    old = system.wire
    system.arrive(SubscribeForm(0, SHARD, 4, 2, 0, 1))
    worker = system.storage.expect(SubscribeShard).subscriber
    old.take()
    system.break_off()
    # What it had asked for is taken back, and whoever stood for it is no more.
    assert system.storage.expect(UnsubscribeAll).subscriber == worker
    assert not worker.is_alive()
    # Commands meanwhile go nowhere: the controller remembers them.
    system.tell(Schedule(SHARD))
    system.controller.expect_none()
    system.reconnect()
    system.controller.expect(ReplicaLost, replica="r")
    # Still nothing, until it begins anew.
    system.tell(AllowCompaction(SHARD, 3))
    assert system.wire.take() == []
    system.connect("n2")
    assert system.wire.take() == [Hello("n2"), InitializationComplete()]
    assert old.take() == []
    # A worker of the same number is another one.
    system.arrive(SubscribeForm(0, SHARD, 0, 2, 0, 1))
    assert system.storage.expect(SubscribeShard).subscriber != worker


def test_what_an_old_connection_still_brings_is_dropped(system: System) -> None:
    old = system.wire
    system.break_off()
    system.reconnect()
    system.controller.expect(ReplicaLost)
    old.arrive(Answers("n1", (Frontiers(SHARD, write=(9,)),)))
    old.arrive(SubscribeForm(0, SHARD, 4, 2, 0, 1))
    old.break_off("again")
    system.dispatcher.run()
    system.controller.expect_none()
    system.storage.expect_none()
    assert system.exchange.dialed == []


def test_it_tries_again_less_and_less_often_and_lets_nobody_wait(system: System) -> None:
    clock = system.dispatcher.clock
    moments: list[float] = []
    system.break_off()
    for attempt in range(5):
        system.let_dial()
        moments.append(clock.now())
        assert len(system.exchange.dialed) == 1
        system.exchange.answer(Unreachable("there", f"attempt {attempt}"))
        system.dispatcher.run()
    waits = [b - a for a, b in itertools.pairwise(moments)]
    bounds = [(1.0, 2.0), (2.0, 4.0), (4.0, 8.0), (4.0, 8.0)]
    assert all(low <= wait <= high for wait, (low, high) in zip(waits, bounds, strict=True)), waits
    # The third failure in a row is one too many for those who wait.
    told = system.controller.expect(ReplicaUnavailable, replica="r")
    assert told.reason == "tcp://there:1: no replica answers at there: attempt 1"
    system.controller.take_all()
    system.reconnect()
    system.controller.expect(ReplicaLost)


def test_a_replica_that_was_taken_over_is_not_taken_back(system: System) -> None:
    system.arrive(Ended("process 7 has taken the replica over", again=False))
    system.break_off()
    told = system.controller.expect(ReplicaUnavailable)
    assert told.reason == "tcp://there:1: process 7 has taken the replica over"
    with pytest.raises(NeverAnswered):
        system.let_dial()


def test_the_replicas_own_reason_is_told(system: System, caplog: pytest.LogCaptureFixture) -> None:
    system.arrive(Ended("out of everything", again=True, failed=True))
    system.break_off("the peer closed the connection")
    assert "out of everything" in caplog.text
    system.let_dial()


def test_whoever_waits_for_an_answer_is_refused(system: System) -> None:
    waiting = system.dispatcher.reply()
    system.tell(Barrier(waiting))
    system.break_off()
    with pytest.raises(LostReplica, match="the connection to the replica at tcp://there:1 ended: it broke"):
        waiting.get()
    late = system.dispatcher.reply()
    system.tell(AskCounters(late))
    with pytest.raises(LostReplica, match="is not connected"):
        late.get()


def test_a_script_ends_with_its_connection() -> None:
    system = System(retries=False)
    system.wire.break_off()
    system.dispatcher.run()
    assert isinstance(system.dispatcher.failure, LostReplica)


# --- The replica's end ----------------------------------------------------------------------------------------------


class Replica:
    """The replica's end, with probes as its multiplexer and its workers."""

    def __init__(self) -> None:
        self.dispatcher = SimulatedDispatcher(1)
        self.endpoint = Probe(self.dispatcher)
        self.workers = [Probe(self.dispatcher), Probe(self.dispatcher)]
        self.wire = Wire()
        self.asked: list[Callable[[dict[str, int]], None]] = []
        self.system: pykka.ActorRef[Any] = self.dispatcher.start(RemoteSystem, self.wire, self.asked.append)
        self.tell(Serve(self.endpoint.ref))
        self.endpoint.expect(Connect)

    def tell(self, *messages: Any) -> None:
        for message in messages:
            self.system.tell(message)
        self.dispatcher.run()


@pytest.fixture
def replica() -> Iterator[Replica]:
    replica = Replica()
    yield replica
    replica.dispatcher.stop()


def test_workers_are_numbered_in_the_order_in_which_they_ask(replica: Replica) -> None:
    one, other = (worker.ref for worker in replica.workers)
    replica.tell(
        SubscribeShard(SHARD, 0, 2, 1, 2, other),
        SubscribeShard(SHARD, 0, 2, 0, 2, one),
        ReadShard(SHARD, "token", 3, 1, 2, other),
        CancelRead("token", other),
        UnsubscribeShard(SHARD, 0, one),
        UnsubscribeAll(one),
    )
    assert replica.wire.take() == [
        SubscribeForm(0, SHARD, 0, 2, 1, 2),
        SubscribeForm(1, SHARD, 0, 2, 0, 2),
        ReadForm(0, SHARD, "token", 3, 1, 2),
        CancelReadForm(0, "token"),
        UnsubscribeForm(1, SHARD, 0),
        UnsubscribeAllForm(1),
    ]
    appended = Appended(SHARD, 4)
    replica.tell(FromSystem(ForWorker(1, appended)))
    assert replica.workers[0].expect(Appended) is appended
    replica.workers[1].expect_none()


def test_an_answer_for_a_worker_that_asked_for_nothing_ends_the_connection(replica: Replica) -> None:
    replica.tell(FromSystem(ForWorker(0, Appended(SHARD, 4))))
    assert "answers worker 0, which asked for nothing" in str(replica.wire.end_reason)


def test_commands_reach_the_multiplexer_and_its_responses_the_system(replica: Replica) -> None:
    replica.tell(FromSystem(Hello("n1")), FromSystem(Schedule(SHARD)))
    replica.endpoint.expect(Hello, nonce="n1")
    replica.endpoint.expect(Schedule)
    frontiers = Frontiers(SHARD, write=(3,))
    replica.tell(FromReplica("", "n1", (frontiers,)))
    assert replica.wire.take() == [Answers("n1", (frontiers,))]


def test_a_barrier_is_reached_behind_the_responses_it_waited_for(replica: Replica) -> None:
    replica.tell(FromSystem(BarrierForm(5)))
    barrier = replica.endpoint.expect(Barrier)
    frontiers = Frontiers(SHARD, write=(3,))
    replica.system.tell(FromReplica("", "n1", (frontiers,)))
    barrier.reply.resolve(None)
    replica.dispatcher.run()
    assert replica.wire.take() == [Answers("n1", (frontiers,)), BarrierReachedForm(5)]


def test_counters_are_read_without_waiting_for_them(replica: Replica) -> None:
    replica.tell(FromSystem(CountersAsked(8)))
    (told,) = replica.asked
    assert replica.wire.take() == []
    told({"peers": 2})
    replica.dispatcher.run()
    assert replica.wire.take() == [Counters(8, {"peers": 2})]
