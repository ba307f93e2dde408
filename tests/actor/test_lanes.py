"""Who handles what waits in a lane: its own thread, a thread that waits for an answer, one that ends a handler."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec
import pytest

from pillion.actors.dispatch.base import SystemActor
from pillion.actors.dispatch.lane import BRISK
from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.dispatch.services import SystemClock, VirtualClock
from pillion.actors.dispatch.threaded import ThreadedDispatcher
from pillion.actors.errors import WaitInHandler


class Where(msgspec.Struct, frozen=True):
    """Answered with the thread of the handler."""

    reply: OneShot[threading.Thread]


class Pass(msgspec.Struct, frozen=True):
    """Tell somebody something."""

    to: Any
    message: Any


class Wait(msgspec.Struct, frozen=True):
    """Hold the handler up until the gate opens."""

    entered: threading.Event
    gate: threading.Event


class Work(msgspec.Struct, frozen=True):
    """Take so long."""

    clock: VirtualClock
    seconds: float


class Interrupt(msgspec.Struct, frozen=True):
    """Ctrl-C in the middle of a handler."""

    reply: OneShot[None]


class Count(msgspec.Struct, frozen=True):
    sender: int
    number: int


class Counted(msgspec.Struct, frozen=True):
    pass


class Ask(msgspec.Struct, frozen=True):
    """Ask an actor, and wait, which a handler may not."""

    of: Any


class Later(msgspec.Struct, frozen=True):
    seconds: float
    message: Any


class Linger(msgspec.Struct, frozen=True):
    """Stay in the handler while a timer comes due. Answered with how often the lane's thread looked at the clock."""

    clock: WatchedClock


class WatchedClock(SystemClock):
    """Knows which threads look at it."""

    def __init__(self) -> None:
        self.looks: Counter[str] = Counter()

    def now(self) -> float:
        self.looks[threading.current_thread().name] += 1
        return super().now()


class Clerk(SystemActor):
    handlers: ClassVar = {
        Where: "where",
        Pass: "hand_on",
        Wait: "wait",
        Work: "work",
        Interrupt: "interrupt",
        Count: "count",
        Counted: "counted",
        Ask: "ask",
        Later: "later",
        Linger: "linger",
    }

    def __init__(self) -> None:
        super().__init__()
        self.completed = 0
        self.at_work = False
        self.counts: list[Count] = []

    def takes_little(self, message: Any) -> bool:
        return not isinstance(message, Wait)

    def where(self, message: Where) -> None:
        message.reply.resolve(threading.current_thread())

    def hand_on(self, message: Pass) -> None:
        message.to.tell(message.message)

    def wait(self, message: Wait) -> None:
        message.entered.set()
        message.gate.wait()

    def work(self, message: Work) -> None:
        message.clock.advance_to(message.clock.now() + message.seconds)

    def interrupt(self, message: Interrupt) -> None:
        signal.raise_signal(signal.SIGINT)
        self.completed += 1
        message.reply.resolve(None)

    def count(self, message: Count) -> None:
        assert not self.at_work, "one at a time"
        self.at_work = True
        self.counts.append(message)
        self.at_work = False

    def counted(self, message: Counted) -> list[Count]:
        return list(self.counts)

    def ask(self, message: Ask) -> list[Count]:
        return message.of.ask(Counted())

    def linger(self, message: Linger) -> int:
        looks = message.clock.looks
        before = looks["pillion-timed"]
        # ``sleep(0)`` waits for no time: it offers the interpreter to the lane's own thread.
        while looks["pillion-timed"] == before:
            time.sleep(0)
        yields = 0
        while yields < 3000 and looks["pillion-timed"] - before < 100:
            time.sleep(0)
            yields += 1
        return looks["pillion-timed"] - before

    def later(self, message: Later) -> None:
        self.after(message.seconds, message.message)


class BriefClerk(Clerk):
    is_brief: ClassVar = True


@pytest.fixture
def dispatcher() -> Iterator[ThreadedDispatcher]:
    made = ThreadedDispatcher()
    yield made
    made.stop()


def settled(dispatcher: ThreadedDispatcher, *names: str) -> None:
    """Let the threads of lanes come to rest, so that who comes next finds nobody there."""
    for name in names:
        while not dispatcher._lanes[name].idle:  # pyright: ignore[reportPrivateUsage]
            pass


def where(dispatcher: ThreadedDispatcher, of: Any, *through: Any) -> threading.Thread:
    reply: OneShot[threading.Thread] = dispatcher.reply()
    message: Any = Where(reply)
    for to in (of, *through)[:-1]:
        message = Pass(to, message)
    first = (of, *through)[-1]
    return dispatcher.wait_for(lambda: first.tell(message), reply)


def test_a_thread_that_waits_does_the_work_itself(dispatcher: ThreadedDispatcher) -> None:
    far, near = dispatcher.start(Clerk, lane="far"), dispatcher.start(Clerk, lane="near")
    settled(dispatcher, "far", "near")
    assert where(dispatcher, far, near) is threading.current_thread()


def test_a_lane_that_took_long_keeps_its_work_to_its_own_thread() -> None:
    clock = VirtualClock()
    dispatcher = ThreadedDispatcher(clock=clock)
    clerk = dispatcher.start(Clerk, lane="slow")
    settled(dispatcher, "slow")
    clerk.tell(Work(clock, 3 * BRISK))
    settled(dispatcher, "slow")
    assert where(dispatcher, clerk).name == "pillion-slow"
    settled(dispatcher, "slow")
    assert where(dispatcher, clerk) is threading.current_thread()
    dispatcher.stop()


def test_a_thread_that_waits_leaves_what_may_take_long(dispatcher: ThreadedDispatcher) -> None:
    clerk = dispatcher.start(Clerk, lane="mixed")
    settled(dispatcher, "mixed")
    entered, gate = threading.Event(), threading.Event()
    reply: OneShot[threading.Thread] = dispatcher.reply()

    def send() -> None:
        clerk.tell(Wait(entered, gate))
        clerk.tell(Where(reply))

    opener = threading.Thread(target=lambda: entered.wait() and gate.set())
    opener.start()
    assert dispatcher.wait_for(send, reply).name == "pillion-mixed"
    opener.join()


def test_a_thread_with_a_deadline_leaves_all_but_brief_handlers(dispatcher: ThreadedDispatcher) -> None:
    clerk, brief = dispatcher.start(Clerk, lane="long"), dispatcher.start(BriefClerk, lane="brief")
    settled(dispatcher, "long", "brief")
    reply: OneShot[threading.Thread] = dispatcher.reply()
    assert dispatcher.wait_for(lambda: clerk.tell(Where(reply)), reply, 30).name == "pillion-long"
    settled(dispatcher, "long", "brief")
    soon: OneShot[threading.Thread] = dispatcher.reply()
    assert dispatcher.wait_for(lambda: brief.tell(Where(soon)), soon, 30) is threading.current_thread()


def test_a_lane_runs_brief_handlers_of_others_after_its_own(dispatcher: ThreadedDispatcher) -> None:
    brief = dispatcher.start(BriefClerk, lane="brief")
    clerk = dispatcher.start(Clerk, lane="long")
    settled(dispatcher, "brief", "long")
    reply: OneShot[threading.Thread] = dispatcher.reply()
    clerk.tell(Pass(brief, Where(reply)))
    assert OneShot.get(reply).name == "pillion-long"


def test_what_may_take_long_is_left_to_its_own_lane_by_others(dispatcher: ThreadedDispatcher) -> None:
    other = dispatcher.start(Clerk, lane="other")
    clerk = dispatcher.start(Clerk, lane="long")
    settled(dispatcher, "other", "long")
    reply: OneShot[threading.Thread] = dispatcher.reply()
    clerk.tell(Pass(other, Where(reply)))
    assert OneShot.get(reply).name == "pillion-other"


def test_ctrl_c_comes_after_the_handler(dispatcher: ThreadedDispatcher) -> None:
    clerk = dispatcher.start(Clerk, lane="interrupted")
    settled(dispatcher, "interrupted")
    before = signal.getsignal(signal.SIGINT)
    reply: OneShot[None] = dispatcher.reply()
    with pytest.raises(KeyboardInterrupt):
        dispatcher.wait_for(lambda: clerk.tell(Interrupt(reply)), reply)
    assert reply.is_set
    assert signal.getsignal(signal.SIGINT) is before
    assert dispatcher.failure is None
    assert where(dispatcher, clerk) is not None


def test_a_handler_that_waits_fails_instead_of_hanging(dispatcher: ThreadedDispatcher) -> None:
    first, second = dispatcher.start(Clerk), dispatcher.start(Clerk)
    with pytest.raises(WaitInHandler, match="inside of a handler"):
        first.ask(Ask(second))
    assert dispatcher.failure is None
    assert first.ask(Counted()) == []


def test_many_waiting_threads_keep_the_order_of_each_and_lose_nothing(dispatcher: ThreadedDispatcher) -> None:
    clerks = [dispatcher.start(Clerk, lane=f"lane {n}") for n in range(3)]
    brief = dispatcher.start(BriefClerk, lane="brief")
    senders, each = 6, 400

    def send(sender: int) -> None:
        for number in range(each):
            for clerk in clerks:
                brief.tell(Pass(clerk, Count(sender, number)))
            if number % 3 == 0:
                clerks[number % len(clerks)].ask(Counted())

    threads = [threading.Thread(target=send, args=(sender,)) for sender in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    for clerk in clerks:
        where(dispatcher, clerk, brief)
        counts = clerk.ask(Counted())
        assert len(counts) == senders * each
        for sender in range(senders):
            assert [c.number for c in counts if c.sender == sender] == list(range(each))


def test_a_timer_that_a_visitor_set_fires_without_one(dispatcher: ThreadedDispatcher) -> None:
    clerk = dispatcher.start(Clerk, lane="timed")
    settled(dispatcher, "timed")
    reply: OneShot[threading.Thread] = dispatcher.reply()
    visit: OneShot[threading.Thread] = dispatcher.reply()

    def send() -> None:
        clerk.tell(Later(0.01, Where(reply)))
        clerk.tell(Where(visit))

    assert dispatcher.wait_for(send, visit) is threading.current_thread()
    assert OneShot.get(reply, timeout=30).name == "pillion-timed"


def test_a_timer_that_is_due_waits_for_a_visitor_to_end() -> None:
    clock = WatchedClock()
    dispatcher = ThreadedDispatcher(clock=clock)
    try:
        clerk = dispatcher.start(Clerk, lane="timed")
        settled(dispatcher, "timed")
        gate = threading.Event()
        gate.set()
        fired = threading.Event()
        clerk.tell(Later(0.2, Wait(fired, gate)))
        assert clerk.ask(Linger(clock)) < 100, "the lane's own thread kept on trying"
        assert fired.wait(30)
    finally:
        dispatcher.stop()


def test_a_deadline_is_kept_while_another_thread_holds_the_lane(dispatcher: ThreadedDispatcher) -> None:
    clerk = dispatcher.start(Clerk, lane="held")
    entered, gate = threading.Event(), threading.Event()
    clerk.tell(Wait(entered, gate))
    entered.wait()
    reply: OneShot[threading.Thread] = dispatcher.reply()
    clerk.tell(Where(reply))
    with pytest.raises(Exception, match="seconds"):
        reply.get(timeout=0.01)
    gate.set()
    assert reply.get() is not None
