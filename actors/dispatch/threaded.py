"""Actors on threads."""

from __future__ import annotations

import atexit
import itertools
import os
import random
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast

import pykka
from pykka import ActorRegistry
from pykka import messages as pykka_messages
from pykka._actor import ActorInbox
from pykka._envelope import Envelope

from ...messages.errors import PillionError
from ..errors import LostInFork, StoppedFromOutside, SystemFailed, SystemStopped, WaitInHandler
from .base import Dispatcher, SystemActor, Timer
from .interrupts import InterruptsDeferred
from .lane import BRISK, Attending, Item, Lane, in_handler
from .oneshot import OneShot, Stream
from .services import Clock, RandomIds, Services, SystemClock

A = TypeVar("A", bound=SystemActor)
T = TypeVar("T")


class Inbox:
    """Where the messages of one actor go: into the queue of its lane."""

    __slots__ = ("actor", "lane", "open")

    def __init__(self, lane: Lane) -> None:
        self.actor: SystemActor | None = None
        self.lane = lane
        self.open = True

    def put(self, envelope: Envelope[Any], /) -> None:
        assert self.actor is not None, "an actor is addressed after it was created"
        self.lane.put(Item(self.actor, envelope.message, envelope.reply_to))

    def get(self) -> Envelope[Any]:
        raise AssertionError("a lane takes messages from its own queue")

    def empty(self) -> bool:
        return True


class Ref(pykka.ActorRef[A]):
    """A reference whose ``tell`` is two checks and one ``append``."""

    def __init__(self, actor: A, dispatcher: ThreadedDispatcher) -> None:
        super().__init__(actor)
        self._inbox = _inbox(actor)
        self._dispatcher = dispatcher
        self._actor = actor
        self._lane = self._inbox.lane
        self._append = self._lane.append

    def tell(self, message: Any) -> None:
        if not self._inbox.open:
            raise self._dispatcher.refusal(self.actor_class.__name__)
        self._append(Item(self._actor, message))
        if self._lane.idle:
            self._lane.wake()

    def ask(self, message: Any, *, block: bool = True, timeout: float | None = None) -> Any:
        reply = self._dispatcher.reply()
        if not block:
            self._ask(message, reply)
            return reply
        return self._dispatcher.wait_for(lambda: self._ask(message, reply), reply, timeout)

    def _ask(self, message: Any, reply: OneShot[Any]) -> None:
        if self._inbox.open:
            self._lane.put(Item(self._actor, message, reply))
        if not self._inbox.open:
            # It stopped before, or between the check and the put: whatever its lane did not answer, nobody will.
            reply.refuse(self._dispatcher.refusal(self.actor_class.__name__))


def _inbox(actor: SystemActor) -> Inbox:
    return cast(Inbox, actor.actor_inbox)


class _Reply(OneShot[T]):
    """A future whose ``get`` does what its result needs, as far as nobody else is at it."""

    __slots__ = ("_dispatcher",)

    def __init__(
        self,
        forget: Callable[[OneShot[T]], object] | None = None,
        dispatcher: ThreadedDispatcher | None = None,
    ) -> None:
        # Without arguments it is made by pykka, for a future that is derived from others.
        super().__init__(forget)
        self._dispatcher = dispatcher

    def get(self, *, timeout: float | None = None) -> T:
        if self._dispatcher is not None and not self.is_set:
            self._dispatcher.attend(None, self, hurried=timeout is not None)
        return super().get(timeout=timeout)

    def wait(self, timeout: float | None) -> T:
        """Wait for the result, and do nothing for it."""
        return super().get(timeout=timeout)


class ThreadedDispatcher(Dispatcher):
    """Executes actors on threads, in real time. For use by any thread."""

    def __init__(self, *, clock: Clock | None = None, seed: int | None = None) -> None:
        self.services = Services(clock or SystemClock(), RandomIds(), random.Random(seed))
        self._lanes: dict[str, Lane] = {}
        self._attendable: tuple[Lane, ...] = ()
        """The lanes, those with brief handlers first."""
        self._starting_in: Lane | None = None
        self._actors: list[SystemActor] = []
        self._outstanding: set[OneShot[Any] | Stream[Any]] = set()
        self._failure: BaseException | None = None
        self._stopping = False
        self._planned: set[str] = set()
        self._lock = threading.RLock()
        self._names = itertools.count()
        # Threads are daemons, so that a forgotten stop() does not keep the interpreter from ending; it is made up
        # for at exit, while threads still run.
        reference: weakref.ref[ThreadedDispatcher] = weakref.ref(self)
        self._at_exit = lambda: _stop_if_alive(reference)
        atexit.register(self._at_exit)
        _DISPATCHERS.add(self)

    @property
    def failure(self) -> BaseException | None:
        return self._failure

    def refusal(self, what: str) -> PillionError:
        """The error for whoever asks too late."""
        return SystemStopped(what) if self._failure is None else SystemFailed(self._failure)

    def start(self, actor: type[A], *arguments: Any, lane: str | None = None, **options: Any) -> pykka.ActorRef[A]:
        with self._lock:
            if self._failure is not None or self._stopping:
                raise self.refusal("the system")
            name = lane or f"{actor.__name__.lower()}-{next(self._names)}"
            found = self._lanes.get(name)
            if found is None or not found.alive:
                found = Lane(name, self, self._lock)
            self._starting_in = found
            created = self._create(lambda: actor(*arguments, **options))
            # Only now: a lane whose first actor could not be made has no thread to wait for.
            self._lanes[name] = found
            self._actors.append(created)
            ActorRegistry.register(created.actor_ref)
            self.run_actor(created)
            self._attendable = tuple(sorted(self._lanes.values(), key=lambda lane: not lane.brief))
            return created.actor_ref

    def create_inbox(self) -> ActorInbox:
        assert self._starting_in is not None, "actors are created by start() alone"
        return Inbox(self._starting_in)

    def reference(self, actor: SystemActor) -> pykka.ActorRef[Any]:
        _inbox(actor).actor = actor
        return Ref(actor, self)

    def run_actor(self, actor: SystemActor) -> None:
        _inbox(actor).lane.add(actor)

    def reply(self) -> OneShot[Any]:
        reply: OneShot[Any] = _Reply(self._outstanding.discard, self)
        self._outstanding.add(reply)
        # After adding it, so that of this check and the one who fails what is outstanding, at least one sees the other.
        if self._stopping or self._failure is not None:
            reply.refuse(self.refusal("the system"))
        return reply

    def wait_for(
        self, send: Callable[[], object], reply: OneShot[T], timeout: float | None = None, *, hurried: bool = False
    ) -> T:
        if not reply.is_set:
            self.attend(send, reply, hurried=hurried or timeout is not None)
        return reply.wait(timeout) if isinstance(reply, _Reply) else reply.get(timeout=timeout)

    def attend(self, send: Callable[[], object] | None, reply: OneShot[Any], *, hurried: bool = False) -> None:
        """Send something, and handle what waits until a reply is set, or nothing waits that others are not at.

        An application's thread that would only wait does this: two or more switches between threads take longer than
        what they hand over.

        Args:
            hurried: handle only what is certain to be brief; there is a deadline.

        Raises:
            WaitInHandler: called inside of a handler, which never waits.
        """
        if in_handler():
            raise WaitInHandler

        def answered() -> bool:
            return reply.is_set

        with InterruptsDeferred(), Attending() as pending:
            if send is not None:
                send()
            while not reply.is_set:
                if pending:
                    lane = pending.pop(0)
                    if not lane.admits(hurried=hurried) or not lane.attend(answered):
                        lane.ring()
                elif not self._attend_any(answered, hurried=hurried):
                    return
            # What follows from the request, such as the upkeep of views after a commit: whoever reads next finds it
            # done. Waking a thread for it would delay this one by as much, because they share the interpreter.
            now = self.services.clock.now
            end = now() + BRISK
            while pending and now() < end:
                lane = pending.pop(0)
                if not lane.admits(hurried=hurried) or not lane.attend(lambda: now() >= end):
                    lane.ring()

    def _attend_any(self, enough: Callable[[], bool], *, hurried: bool) -> bool:
        """Handle something that waits in a lane that nobody attends; whether there was any."""
        return any(lane.has_work and lane.admits(hurried=hurried) and lane.attend(enough) for lane in self._attendable)

    def stream(self) -> Stream[Any]:
        stream: Stream[Any] = Stream(self._outstanding.discard)
        self._outstanding.add(stream)
        if self._stopping or self._failure is not None:
            stream.close(self.refusal("the system"))
        return stream

    def after(self, actor: SystemActor, seconds: float, message: object) -> Timer:
        return _inbox(actor).lane.after(actor, seconds, message)

    def fail(self, actor: SystemActor, error: BaseException) -> None:
        with self._lock:
            if self._failure is not None:
                return
            if self._stopping and isinstance(error, SystemStopped):
                return  # It told something to an actor that was stopped a moment earlier.
            self._failure = error
            actors = list(self._actors)
            lanes = list(self._lanes.values())
        actor.log.error("the system failed", exc_info=error)
        for each in actors:
            _inbox(each).open = False
        for lane in lanes:
            lane.abort()
        self._refuse_outstanding(error)

    def stop_actor(self, ref: pykka.ActorRef[Any]) -> None:
        with self._lock:
            self._planned.add(ref.actor_urn)
        if ref.is_alive():
            ref.tell(pykka_messages._ActorStop())  # pyright: ignore[reportPrivateUsage]

    def stopped(self, actor: SystemActor) -> None:
        with self._lock:
            _inbox(actor).open = False
            if actor in self._actors:
                self._actors.remove(actor)
            planned = self._stopping or actor.actor_urn in self._planned
            self._planned.discard(actor.actor_urn)
        if not planned:
            self.fail(actor, StoppedFromOutside(type(actor).__name__))

    def abandon(self, actor: SystemActor) -> None:
        """Release an actor whose lane was aborted, on the lane's thread."""
        actor.release()

    def thread_of(self, actor: SystemActor) -> int | None:
        lane = _inbox(actor).lane
        return lane.thread.native_id if lane.is_alone(actor) else None

    def mailbox_depths(self) -> dict[str, int]:
        return {name: lane.depth for name, lane in self._lanes.copy().items() if lane.alive}

    def stop(self) -> None:
        if in_handler():
            raise WaitInHandler
        with self._lock:
            self._stopping = True
            actors = list(reversed(self._actors))
            lanes = list(self._lanes.values())
        for actor in actors:
            _inbox(actor).lane.put(Item(actor, pykka_messages._ActorStop()))  # pyright: ignore[reportPrivateUsage]
        for lane in lanes:
            lane.thread.join()
        self._refuse_outstanding(self.refusal("the system"))
        atexit.unregister(self._at_exit)

    def lose_threads(self) -> None:
        """Refuse everything, in a forked child: there are no threads that could answer, nor any to race with."""
        self._lock = threading.RLock()  # A thread that is not here may have held the other one.
        if self._failure is None:
            self._failure = LostInFork()
        for actor in self._actors:
            _inbox(actor).open = False
        self._refuse_outstanding(self._failure)

    def _refuse_outstanding(self, error: BaseException) -> None:
        for each in self._outstanding.copy():
            if isinstance(each, OneShot):
                each.refuse(error)
            else:
                each.close(error)


_DISPATCHERS: weakref.WeakSet[ThreadedDispatcher] = weakref.WeakSet()


def _after_fork() -> None:
    for dispatcher in list(_DISPATCHERS):
        dispatcher.lose_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _stop_if_alive(reference: weakref.ref[ThreadedDispatcher]) -> None:
    dispatcher = reference()
    if dispatcher is not None:
        dispatcher.stop()
