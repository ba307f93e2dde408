"""What both dispatchers promise, and what each promises alone."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec
import pykka
import pytest

from pillion.actors.dispatch.base import Dispatcher, SystemActor
from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.dispatch.simulated import NeverAnswered, SimulatedDispatcher
from pillion.actors.dispatch.threaded import ThreadedDispatcher
from pillion.actors.errors import StoppedFromOutside, SystemFailed, SystemStopped
from pillion.actors.testing.probe import Probe
from pillion.messages.errors import PillionError


class Note(msgspec.Struct, frozen=True):
    text: str


class Relay(msgspec.Struct, frozen=True):
    to: Any
    text: str


class Later(msgspec.Struct, frozen=True):
    seconds: float
    text: str


class Total(msgspec.Struct, frozen=True):
    pass


class Break(msgspec.Struct, frozen=True):
    pass


class Refuse(msgspec.Struct, frozen=True):
    pass


class Keep(msgspec.Struct, frozen=True):
    reply: OneShot[str]


class Spin(msgspec.Struct, frozen=True):
    """To itself again and again, until the first note was taken or so much time has passed."""

    report: Any
    seconds: float


class Scribe(SystemActor):
    handlers: ClassVar = {
        Spin: "spin",
        Note: "note",
        Relay: "relay",
        Later: "later",
        Total: "total",
        Break: "break_down",
        Refuse: "refuse",
        Keep: "keep",
    }

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []
        self.spinning_since: float | None = None

    def note(self, message: Note) -> None:
        self.notes.append(message.text)

    def relay(self, message: Relay) -> None:
        message.to.tell(Note(message.text))

    def later(self, message: Later) -> None:
        self.after(message.seconds, Note(message.text))

    def total(self, message: Total) -> list[str]:
        return list(self.notes)

    def break_down(self, message: Break) -> None:
        raise ZeroDivisionError("broken")

    def refuse(self, message: Refuse) -> None:
        raise PillionError("you may not")

    def spin(self, message: Spin) -> None:
        self.spinning_since = self.spinning_since or self.services.clock.now()
        if self.notes or self.services.clock.now() - self.spinning_since > message.seconds:
            message.report.tell(list(self.notes))
        else:
            self.tell_self(message)

    def keep(self, message: Keep) -> None:
        pass


@pytest.fixture(params=["threaded", "simulated"])
def dispatcher(request: pytest.FixtureRequest) -> Iterator[Dispatcher]:
    made: Dispatcher = ThreadedDispatcher() if request.param == "threaded" else SimulatedDispatcher(seed=1)
    yield made
    made.stop()
    assert [t.name for t in threading.enumerate() if t.name.startswith("pillion-")] == []
    assert pykka.ActorRegistry.get_by_class(SystemActor) == []


def test_messages_of_one_sender_arrive_in_order(dispatcher: Dispatcher) -> None:
    scribe = dispatcher.start(Scribe)
    for number in range(100):
        scribe.tell(Note(str(number)))
    assert scribe.ask(Total()) == [str(number) for number in range(100)]


def test_actors_of_one_lane_talk_to_each_other(dispatcher: Dispatcher) -> None:
    first, second = dispatcher.start(Scribe, lane="shared"), dispatcher.start(Scribe, lane="shared")
    probe = Probe(dispatcher)
    first.tell(Relay(second, "hello"))
    first.tell(Relay(probe.ref, "done"))
    probe.expect(Note, text="done")
    assert second.ask(Total()) == ["hello"]
    if isinstance(dispatcher, ThreadedDispatcher):
        lanes = [t for t in threading.enumerate() if t.name == "pillion-shared"]
        assert len(lanes) == 1


def test_timers_fire_in_order_of_time(dispatcher: Dispatcher) -> None:
    scribe = dispatcher.start(Scribe)
    probe = Probe(dispatcher)
    scribe.tell(Later(0.02, "second"))
    scribe.tell(Later(0.01, "first"))
    while len(scribe.ask(Total())) < 2:
        if isinstance(dispatcher, SimulatedDispatcher):
            dispatcher.step()
    assert scribe.ask(Total()) == ["first", "second"]
    probe.expect_none()


def test_timers_fire_in_an_actor_that_is_never_idle() -> None:
    dispatcher = ThreadedDispatcher()
    probe = Probe(dispatcher)
    scribe = dispatcher.start(Scribe)
    scribe.ask(Later(0.01, "now"))
    scribe.tell(Spin(probe.ref, 0.5))
    assert "now" in probe.expect(list)
    dispatcher.stop()


def test_a_timer_further_away_than_a_thread_can_wait() -> None:
    dispatcher = ThreadedDispatcher()
    scribe = dispatcher.start(Scribe)
    scribe.tell(Later(1e300, "never"))
    assert scribe.ask(Total(), timeout=1e300) == []
    dispatcher.stop()
    assert dispatcher.failure is None


def test_an_error_on_purpose_goes_to_whoever_asked(dispatcher: Dispatcher) -> None:
    scribe = dispatcher.start(Scribe)
    with pytest.raises(PillionError, match="you may not"):
        scribe.ask(Refuse())
    assert dispatcher.failure is None
    assert scribe.ask(Total()) == []


def test_an_exception_fails_the_whole_system(dispatcher: Dispatcher) -> None:
    scribe, other = dispatcher.start(Scribe), dispatcher.start(Scribe)
    kept = dispatcher.reply()
    stream = dispatcher.stream()
    scribe.ask(Keep(kept))
    other.tell(Break())
    with pytest.raises(ZeroDivisionError, match="broken"):
        kept.get(timeout=10)
    with pytest.raises(ZeroDivisionError, match="broken"):
        stream.get(timeout=10)
    assert isinstance(dispatcher.failure, ZeroDivisionError)
    with pytest.raises(SystemFailed) as later:
        scribe.ask(Total())
    assert later.value.__cause__ is dispatcher.failure
    with pytest.raises(SystemFailed):
        other.tell(Note("too late"))
    with pytest.raises(SystemFailed):
        dispatcher.reply().get()


def test_an_unknown_message_fails_the_system_by_name(dispatcher: Dispatcher) -> None:
    scribe = dispatcher.start(Scribe)
    with pytest.raises(TypeError, match="Scribe has no handler for int"):
        scribe.ask(3)
    assert isinstance(dispatcher.failure, TypeError)


def test_stopping_refuses_what_is_outstanding_and_what_comes_later(dispatcher: Dispatcher) -> None:
    scribe = dispatcher.start(Scribe)
    kept = dispatcher.reply()
    scribe.tell(Keep(kept))
    dispatcher.stop()
    with pytest.raises(SystemStopped):
        kept.get()
    with pytest.raises(SystemStopped):
        scribe.tell(Note("late"))
    with pytest.raises(pykka.ActorDeadError):
        scribe.ask(Total())
    with pytest.raises(SystemStopped):
        dispatcher.start(Scribe)
    dispatcher.stop()


def test_one_actor_can_be_stopped_as_planned(dispatcher: Dispatcher) -> None:
    first, second = dispatcher.start(Scribe), dispatcher.start(Scribe)
    dispatcher.stop_actor(first)
    with pytest.raises(SystemStopped):
        while True:
            first.ask(Total())
    assert second.ask(Total()) == []
    assert dispatcher.failure is None


def test_stopping_an_actor_from_outside_fails_the_system(dispatcher: Dispatcher) -> None:
    first, second = dispatcher.start(Scribe), dispatcher.start(Scribe)
    first.stop()
    with pytest.raises(SystemFailed):
        while True:
            second.ask(Total())
    assert isinstance(dispatcher.failure, StoppedFromOutside)


def test_actors_of_others_live_on() -> None:
    class Foreign(pykka.ThreadingActor):
        def on_receive(self, message: Any) -> Any:
            return message

    foreign = Foreign.start()
    try:
        ours = ThreadedDispatcher()
        ours.start(Scribe).tell(Break())
        ours.stop()
        assert foreign.ask(1) == 1
    finally:
        foreign.stop()


def test_an_interrupted_wait_leaves_a_system_that_stops() -> None:
    dispatcher = ThreadedDispatcher()
    scribe = dispatcher.start(Scribe)
    kept = dispatcher.reply()
    scribe.ask(Keep(kept))
    interrupter = threading.Timer(0.05, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        interrupter.start()
        kept.get(timeout=10)
    interrupter.join()
    assert scribe.ask(Total()) == []
    dispatcher.stop()


def test_an_actor_is_not_started_by_itself() -> None:
    with pytest.raises(RuntimeError, match=r"Dispatcher\.start"):
        Scribe()


def _relayed(seed: int) -> tuple[list[str], list[str]]:
    dispatcher = SimulatedDispatcher(seed)
    target = dispatcher.start(Scribe)
    relays = [dispatcher.start(Scribe) for _ in range(3)]
    for number in range(4):
        for relay in relays:
            relay.tell(Relay(target, f"{relays.index(relay)}.{number}"))
    dispatcher.run()
    notes = target.ask(Total())
    trace = [delivery.line() for delivery in dispatcher.trace]
    dispatcher.stop()
    return notes, trace


class Stillborn(SystemActor):
    def __init__(self) -> None:
        super().__init__()
        raise ValueError("no actor")


@pytest.mark.parametrize("make", [ThreadedDispatcher, SimulatedDispatcher])
def test_an_actor_that_cannot_be_made_leaves_a_system_that_stops(make: type[Dispatcher]) -> None:
    dispatcher = make()
    with pytest.raises(ValueError, match="no actor"):
        dispatcher.start(Stillborn, lane="shared")
    scribe = dispatcher.start(Scribe, lane="shared")
    scribe.tell(Note("a"))
    assert scribe.ask(Total()) == ["a"]
    dispatcher.stop()


def test_equal_seeds_give_equal_traces_and_others_other_orders() -> None:
    assert _relayed(7) == _relayed(7)
    orders = {tuple(_relayed(seed)[0]) for seed in range(5)}
    assert len(orders) > 1
    for order in orders:
        for relay in "012":
            assert [note for note in order if note.startswith(relay)] == [f"{relay}.{n}" for n in range(4)]


def test_a_lost_answer_is_noticed() -> None:
    dispatcher = SimulatedDispatcher()
    scribe = dispatcher.start(Scribe)
    kept = dispatcher.reply()
    scribe.tell(Keep(kept))
    with pytest.raises(NeverAnswered):
        kept.get()
    dispatcher.stop()


def test_virtual_time_passes_only_when_nothing_else_is_left() -> None:
    dispatcher = SimulatedDispatcher()
    scribe = dispatcher.start(Scribe)
    scribe.tell(Later(3600.0, "an hour later"))
    dispatcher.run()
    assert dispatcher.clock.now() == 0.0
    assert dispatcher.step()
    assert dispatcher.clock.now() == 3600.0
    assert scribe.ask(Total()) == ["an hour later"]
    with pytest.raises(pykka.Timeout):
        dispatcher.reply().get(timeout=5)
    dispatcher.stop()


FORKING = """
import os
from pillion.actors import ActorSystem, SystemFailed

with ActorSystem() as system:
    table = system.create_table("t", {"a": int})
    changes = system.subscribe(table)
    next(changes)
    if os.fork() == 0:
        for ask in (lambda: system.query(table), lambda: table.insert((1,)), lambda: next(changes)):
            try:
                ask()
            except Exception as error:
                print(error, flush=True)
        system.stop()
        with ActorSystem() as another:
            print(another.create_table("t", {"a": int}).insert((1,)).rows, flush=True)
        os._exit(0)
    os.wait()
    print(table.insert((1,)).rows, flush=True)
"""


def test_a_forked_child_is_refused_and_the_parent_goes_on() -> None:
    ran = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=60, check=True)
    *refused, in_child, in_parent = ran.stdout.splitlines()
    assert len(refused) == 3
    assert all("stayed behind when the process was forked" in line for line in refused)
    assert (in_child, in_parent) == ("1", "1")
