"""Actors in a simulation: one thread, one message at a time, in an order that a seed decides.

What a transport guarantees, and nothing more, is kept: messages from one sender to one actor arrive in the order
sent. Messages from different senders to one actor may arrive in any order. Time is virtual: it stands still while
there is a message to handle, and then jumps to the next timer.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import pykka
from pykka import ActorRegistry
from pykka import messages as pykka_messages
from pykka._actor import ActorInbox
from pykka._envelope import Envelope

from ...messages.errors import PillionError
from ..errors import StoppedFromOutside, SystemFailed, SystemStopped
from .base import Dispatcher, SystemActor, Timer
from .oneshot import OneShot, Stream
from .schedule import Channel, Delivery, Schedule, UniformSchedule
from .services import CountedIds, Services, VirtualClock
from .timers import ScheduledMessage

A = TypeVar("A", bound=SystemActor)
T = TypeVar("T")

APPLICATION = "application"
"""The sender of what no actor sent."""

_START = object()


class NeverAnswered(PillionError):
    """Somebody waits for a result, and nothing is left to happen that could bring it: the system lost it."""

    def __init__(self) -> None:
        super().__init__("waiting for a result, but no message and no timer is left: it will never come")


class StepsExhausted(PillionError):
    """A condition did not become true within so many steps."""

    def __init__(self, steps: int) -> None:
        super().__init__(f"not reached within {steps} steps of the simulation")
        self.steps = steps


class _Inbox:
    """Where the messages of one actor go: into the channel of whoever sends."""

    def __init__(self, dispatcher: SimulatedDispatcher) -> None:
        self.actor: SystemActor | None = None
        self._dispatcher = dispatcher

    def put(self, envelope: Envelope[Any], /) -> None:
        assert self.actor is not None, "an actor is addressed after it was created"
        self._dispatcher.send(self.actor, envelope.message, envelope.reply_to)

    def get(self) -> Envelope[Any]:
        raise AssertionError("a simulation takes messages from its channels")

    def empty(self) -> bool:
        return True


class _Ref(pykka.ActorRef[A]):
    def __init__(self, actor: A, dispatcher: SimulatedDispatcher) -> None:
        super().__init__(actor)
        self._actor = actor
        self._dispatcher = dispatcher

    def tell(self, message: Any) -> None:
        if self.actor_stopped.is_set():
            raise self._dispatcher.refusal(self.actor_class.__name__)
        self._dispatcher.send(self._actor, message, None)

    def ask(self, message: Any, *, block: bool = True, timeout: float | None = None) -> Any:
        reply = self._dispatcher.reply()
        if self.actor_stopped.is_set():
            reply.refuse(self._dispatcher.refusal(self.actor_class.__name__))
        else:
            self._dispatcher.send(self._actor, message, reply)
        return reply.get(timeout=timeout) if block else reply


class _OneShot(OneShot[T]):
    """A future whose ``get`` runs the simulation until it is set."""

    __slots__ = ("_dispatcher",)

    def __init__(
        self,
        forget: Callable[[OneShot[T]], object] | None = None,
        dispatcher: SimulatedDispatcher | None = None,
    ) -> None:
        # Without arguments it is made by pykka, for a future that is derived from others.
        super().__init__(forget)
        self._dispatcher = dispatcher

    def get(self, *, timeout: float | None = None) -> T:
        if self._dispatcher is not None:
            self._dispatcher.wait(lambda: self.is_set, timeout)
        return super().get(timeout=timeout)


class _Stream(Stream[T]):
    """A stream whose ``get`` runs the simulation until there is something."""

    __slots__ = ("_dispatcher",)

    def __init__(self, dispatcher: SimulatedDispatcher, forget: Callable[[Stream[T]], object]) -> None:
        super().__init__(forget)
        self._dispatcher = dispatcher

    def get(self, *, timeout: float | None = None) -> T:
        self._dispatcher.wait(lambda: self.ready, timeout)
        return super().get(timeout=0)


class SimulatedDispatcher(Dispatcher):
    """Executes actors when told to: by :meth:`step`, or while somebody waits for a result.

    Args:
        seed: equal seeds give equal runs, message for message.
        schedule: which channel delivers next; uniformly random by default.
        keep_trace: remember every delivery in ``trace``.

    Attributes:
        observer: called after every message with its sender, its receiver and itself; what it raises ends the step.
    """

    def __init__(self, seed: int = 0, *, schedule: Schedule | None = None, keep_trace: bool = True) -> None:
        self.clock = VirtualClock()
        self.services = Services(self.clock, CountedIds(), random.Random(seed))
        self.steps = 0
        self.trace: list[Delivery] = []
        self.observer: Callable[[str, SystemActor, Any], object] | None = None
        self._keep_trace = keep_trace
        self._schedule = schedule or UniformSchedule(seed)
        self._channels: dict[tuple[str, str], Channel] = {}
        self._waiting: list[Channel] = []
        self._timers: list[ScheduledMessage] = []
        self._order = itertools.count()
        self._actors: list[SystemActor] = []
        self._current = APPLICATION
        self._outstanding: dict[int, OneShot[Any] | Stream[Any]] = {}
        self._failure: BaseException | None = None
        self._stopping = False
        self._planned: set[str] = set()
        self._names: dict[str, str] = {}

    # --- running -------------------------------------------------------------------------------------------------

    @property
    def quiet(self) -> bool:
        """Whether nothing is left to do now; timers may still be pending."""
        return not self._waiting

    def step(self) -> bool:
        """Deliver one message, or let time jump to the next timer. False when there is neither."""
        if not self._waiting and not self._fire_timer():
            return False
        at = self._schedule.choose(self._waiting)
        channel = self._waiting[at]
        message, reply, sent_after = channel.items.popleft()
        if not channel.items:
            self._waiting.pop(at)
        self.steps += 1
        actor = channel.actor
        if self._keep_trace:
            self.trace.append(
                Delivery(self.steps, channel.sender, self.name(actor), message, self.clock.now(), sent_after)
            )
        self._handle(actor, message, reply)
        if self.observer is not None:
            self.observer(channel.sender, actor, message)
        return True

    def run(self, max_steps: int = 1_000_000) -> int:
        """Step until no message is left, without letting time pass. Returns the number of steps.

        Raises:
            StepsExhausted: messages were left.
        """
        begin = self.steps
        while self._waiting:
            if self.steps - begin >= max_steps:
                raise StepsExhausted(max_steps)
            self.step()
        return self.steps - begin

    def run_until(self, predicate: Callable[[], bool], max_steps: int = 1_000_000) -> int:
        """Step until the predicate is true. Returns the number of steps.

        Raises:
            StepsExhausted: it did not become true within ``max_steps``.
            NeverAnswered: it is not true, and nothing is left to happen.
        """
        begin = self.steps
        while not predicate():
            if self.steps - begin >= max_steps:
                raise StepsExhausted(max_steps)
            if not self.step():
                raise NeverAnswered
        return self.steps - begin

    def wait(self, predicate: Callable[[], bool], timeout: float | None) -> None:
        """Step until the predicate is true, for at most ``timeout`` seconds of virtual time.

        Raises:
            pykka.Timeout: that much time has passed.
            NeverAnswered: nothing is left to happen.
        """
        deadline = None if timeout is None else self.clock.now() + timeout
        while not predicate():
            next_timer = self._next_timer()
            if deadline is not None and not self._waiting and (next_timer is None or next_timer.deadline > deadline):
                self.clock.advance_to(deadline)
                raise pykka.Timeout(f"{timeout} seconds")
            if not self.step():
                raise NeverAnswered

    def elapse(self, seconds: float) -> None:
        """Let so much virtual time pass while messages are on their way: the timers that are due by then fire."""
        until = self.clock.now() + seconds
        while (timer := self._next_timer()) is not None and timer.deadline <= until:
            self._fire_timer()
        self.clock.advance_to(max(until, self.clock.now()))

    def name(self, actor: SystemActor) -> str:
        """The name of an actor in the trace: its class, counted."""
        return self._names[actor.actor_urn]

    def _fire_timer(self) -> bool:
        timer = self._next_timer()
        if timer is None or timer.actor is None:
            return False
        heapq.heappop(self._timers)
        self.clock.advance_to(max(timer.deadline, self.clock.now()))
        self._enqueue(self.name(timer.actor), timer.actor, timer.message, None)
        return True

    def _next_timer(self) -> ScheduledMessage | None:
        while self._timers and (self._timers[0].actor is None or self._timers[0].actor.actor_stopped.is_set()):
            heapq.heappop(self._timers)
        return self._timers[0] if self._timers else None

    def _handle(self, actor: SystemActor, message: Any, reply: pykka.Future[Any] | None) -> None:
        answer = cast("OneShot[Any] | None", reply)
        if actor.actor_stopped.is_set():
            if answer is not None:
                answer.refuse(self.refusal(type(actor).__name__))
            return
        outer, self._current = self._current, self.name(actor)
        try:
            response = actor.on_start() if message is _START else actor.receive(message)
        except BaseException as error:
            if answer is not None:
                answer.refuse(error)
            if answer is None or not isinstance(error, PillionError):
                self.fail(actor, error)
        else:
            if answer is not None:
                answer.resolve(response)
        finally:
            self._current = outer

    # --- what actors and applications use ------------------------------------------------------------------------

    @property
    def failure(self) -> BaseException | None:
        return self._failure

    def refusal(self, what: str) -> PillionError:
        """The error for whoever asks too late."""
        return SystemStopped(what) if self._failure is None else SystemFailed(self._failure)

    def send(self, actor: SystemActor, message: Any, reply: pykka.Future[Any] | None) -> None:
        """Put a message on its way, from whoever is handling one now."""
        self._enqueue(self._current, actor, message, reply)

    def _enqueue(self, sender: str, actor: SystemActor, message: Any, reply: pykka.Future[Any] | None) -> None:
        key = (sender, actor.actor_urn)
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = Channel(sender, actor)
        if not channel.items:
            self._waiting.append(channel)
        channel.items.append((message, reply, self.steps))

    def start(self, actor: type[A], *arguments: Any, lane: str | None = None, **options: Any) -> pykka.ActorRef[A]:
        if self._failure is not None or self._stopping:
            raise self.refusal("the system")
        created = self._create(lambda: actor(*arguments, **options))
        self._actors.append(created)
        ActorRegistry.register(created.actor_ref)
        self.run_actor(created)
        return created.actor_ref

    def create_inbox(self) -> ActorInbox:
        return _Inbox(self)

    def reference(self, actor: SystemActor) -> pykka.ActorRef[Any]:
        cast(_Inbox, actor.actor_inbox).actor = actor
        kind = type(actor).__name__.lower()
        number = sum(name.startswith(f"{kind}-") for name in self._names.values())
        self._names[actor.actor_urn] = f"{kind}-{number}"
        return _Ref(actor, self)

    def run_actor(self, actor: SystemActor) -> None:
        # Nothing may reach an actor before it started, whatever the schedule says.
        self._handle(actor, _START, None)

    def reply(self) -> OneShot[Any]:
        reply: OneShot[Any] = _OneShot(self._forget, self)
        self._register(reply)
        if self._stopping or self._failure is not None:
            reply.refuse(self.refusal("the system"))
        return reply

    def wait_for(
        self, send: Callable[[], object], reply: OneShot[T], timeout: float | None = None, *, hurried: bool = False
    ) -> T:
        send()
        return reply.get(timeout=timeout)

    def stream(self) -> Stream[Any]:
        stream: Stream[Any] = _Stream(self, self._forget)
        self._register(stream)
        if self._stopping or self._failure is not None:
            stream.close(self.refusal("the system"))
        return stream

    def _register(self, result: OneShot[Any] | Stream[Any]) -> None:
        # A dictionary, not a set: the order in which results are refused must not depend on addresses.
        self._outstanding[id(result)] = result

    def _forget(self, result: OneShot[Any] | Stream[Any]) -> None:
        self._outstanding.pop(id(result), None)

    def after(self, actor: SystemActor, seconds: float, message: object) -> Timer:
        timer = ScheduledMessage(self.clock.now() + seconds, next(self._order), actor, message)
        heapq.heappush(self._timers, timer)
        return timer

    # --- failing and stopping ------------------------------------------------------------------------------------

    def fail(self, actor: SystemActor, error: BaseException) -> None:
        if self._failure is not None or (self._stopping and isinstance(error, SystemStopped)):
            return
        self._failure = error
        actor.log.error("the system failed", exc_info=error)
        for each in list(self._actors):
            each.release()
        self._drop_everything(error)

    def stop_actor(self, ref: pykka.ActorRef[Any]) -> None:
        self._planned.add(ref.actor_urn)
        if ref.is_alive():
            ref.tell(pykka_messages._ActorStop())  # pyright: ignore[reportPrivateUsage]

    def kill(self, refs: Iterable[pykka.ActorRef[Any]]) -> None:
        """Let actors end as a process does that is killed: they handle nothing more, and nobody is told. What they said
        before is on its way; whoever tells them something from now on gets ``SystemStopped``."""
        gone = {ref.actor_urn for ref in refs}
        self._planned |= gone
        for actor in [each for each in self._actors if each.actor_urn in gone]:
            actor.release()
        for key, channel in list(self._channels.items()):
            if channel.actor.actor_urn in gone:
                del self._channels[key]
        self._waiting = [channel for channel in self._waiting if channel.actor.actor_urn not in gone]

    def stopped(self, actor: SystemActor) -> None:
        if actor in self._actors:
            self._actors.remove(actor)
        planned = self._stopping or actor.actor_urn in self._planned
        self._planned.discard(actor.actor_urn)
        if not planned:
            self.fail(actor, StoppedFromOutside(type(actor).__name__))

    def thread_of(self, actor: SystemActor) -> int | None:
        return None

    def mailbox_depths(self) -> dict[str, int]:
        depths = dict.fromkeys(self._names.values(), 0)
        for channel in self._channels.values():
            depths[self.name(channel.actor)] += len(channel.items)
        return depths

    def stop(self) -> None:
        self._stopping = True
        for actor in list(reversed(self._actors)):
            actor.release()
        self._drop_everything(self.refusal("the system"))

    def _drop_everything(self, error: BaseException) -> None:
        self._waiting.clear()
        self._channels.clear()
        self._timers.clear()
        for each in list(self._outstanding.values()):
            if isinstance(each, OneShot):
                each.refuse(error)
            else:
                each.close(error)
