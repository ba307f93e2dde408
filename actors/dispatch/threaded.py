"""Actors on threads.

A *lane* is a thread and its queue. An actor has a lane of its own, or shares one with others of the same lane name.
A lane handles one message at a time, in the order they were sent, so that messages of one sender to one actor stay
in order.
"""

from __future__ import annotations

import atexit
import heapq
import itertools
import os
import queue
import random
import threading
import weakref
from typing import Any, TypeVar, cast

import msgspec
import pykka
from pykka import ActorRegistry
from pykka import messages as pykka_messages
from pykka._actor import ActorInbox
from pykka._envelope import Envelope

from ...messages.errors import PillionError
from ..errors import LostInFork, StoppedFromOutside, SystemFailed, SystemStopped
from .base import Dispatcher, SystemActor, Timer
from .oneshot import LONGEST_WAIT, OneShot, Stream
from .services import Clock, RandomIds, Services, SystemClock
from .timers import ScheduledMessage

A = TypeVar("A", bound=SystemActor)

_START = object()


class _Item(msgspec.Struct, gc=False, frozen=True):
    """A message on its way. Untracked by the garbage collector, which would otherwise look through all that wait,
    again and again: that took more time than sending them. A lane empties its queue when it ends, so no cycle stays.
    """

    actor: SystemActor | None
    message: Any
    reply: pykka.Future[Any] | None = None


_WAKE = _Item(None, None)


class Inbox:
    """Where the messages of one actor go: into the queue of its lane."""

    __slots__ = ("actor", "lane", "open")

    def __init__(self, lane: Lane) -> None:
        self.actor: SystemActor | None = None
        self.lane = lane
        self.open = True

    def put(self, envelope: Envelope[Any], /) -> None:
        self.lane.queue.put(_Item(self.actor, envelope.message, envelope.reply_to))

    def get(self) -> Envelope[Any]:
        raise AssertionError("a lane takes messages from its own queue")

    def empty(self) -> bool:
        return True


class Ref(pykka.ActorRef[A]):
    """A reference whose ``tell`` is one check and one ``put``."""

    def __init__(self, actor: A, dispatcher: ThreadedDispatcher) -> None:
        super().__init__(actor)
        self._inbox = _inbox(actor)
        self._dispatcher = dispatcher
        self._actor = actor
        self._put = self._inbox.lane.queue.put

    def tell(self, message: Any) -> None:
        if not self._inbox.open:
            raise self._dispatcher.refusal(self.actor_class.__name__)
        self._put(_Item(self._actor, message))

    def ask(self, message: Any, *, block: bool = True, timeout: float | None = None) -> Any:
        reply = self._dispatcher.reply()
        if self._inbox.open:
            self._put(_Item(self._actor, message, reply))
        if not self._inbox.open:
            # It stopped before, or between the check and the put: whatever its lane did not answer, nobody will.
            reply.refuse(self._dispatcher.refusal(self.actor_class.__name__))
        return reply.get(timeout=timeout) if block else reply


def _inbox(actor: SystemActor) -> Inbox:
    return cast(Inbox, actor.actor_inbox)


class Lane:
    """One thread. Its actors live until each was stopped; then the thread ends."""

    def __init__(self, name: str, dispatcher: ThreadedDispatcher, lock: threading.RLock) -> None:
        """``lock`` is held by whoever adds an actor, so that a lane does not end while it is given another one."""
        self.queue: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self.aborted = False
        self._ended = False
        self._lock = lock
        self._actors: list[SystemActor] = []
        self._dispatcher = dispatcher
        self._timers: list[ScheduledMessage] = []
        self._order = itertools.count()
        self.thread = threading.Thread(target=self._run, name=f"pillion-{name}", daemon=True)

    def add(self, actor: SystemActor) -> None:
        self._actors.append(actor)
        self.queue.put(_Item(actor, _START))
        if self.thread.ident is None:
            self.thread.start()

    @property
    def alive(self) -> bool:
        """Whether it takes further actors."""
        return not self.aborted and not self._ended

    def abort(self) -> None:
        """End the thread after the handler it is in."""
        self.aborted = True
        self.queue.put(_WAKE)

    def after(self, actor: SystemActor, seconds: float, message: object) -> ScheduledMessage:
        timer = ScheduledMessage(self._dispatcher.services.clock.now() + seconds, next(self._order), actor, message)
        heapq.heappush(self._timers, timer)
        return timer

    def _run(self) -> None:
        get, timers = self.queue.get, self._timers
        while not self.aborted:
            item = self._next_or_timer() if timers else get()
            actor = item.actor
            # By far the most: a message that somebody told to an actor that runs, and that one of its handlers takes.
            if item.reply is None and actor is not None and actor.running:
                message = item.message
                handler = actor.table.get(message.__class__)
                if handler is not None:
                    try:
                        handler(message)
                    except BaseException as error:
                        self._dispatcher.fail(actor, error)
                    continue
            self._handle(item)
            if not self._actors and self._end():
                return
        for actor in self._actors:
            self._dispatcher.abandon(actor)
        while not self.queue.empty():
            self.queue.get()

    def _end(self) -> bool:
        """End the lane, unless it was just given another actor."""
        with self._lock:
            self._ended = not self._actors
        if self._ended:
            # What came in while the last one stopped; later senders see that it is closed.
            while not self.queue.empty():
                self._handle(self.queue.get())
        return self._ended

    def _next_or_timer(self) -> _Item:
        timer = self._timers[0]
        if timer.actor is None:
            heapq.heappop(self._timers)
            return _WAKE
        wait = timer.deadline - self._dispatcher.services.clock.now()
        if wait <= 0:
            # Before what waits in the queue: a lane that is never idle has timers, too.
            heapq.heappop(self._timers)
            return _Item(timer.actor, timer.message)
        try:
            return self.queue.get(timeout=min(wait, LONGEST_WAIT))
        except queue.Empty:
            return _WAKE

    def _handle(self, item: _Item) -> None:
        actor, message, reply = item.actor, item.message, item.reply
        if actor is None:
            return
        if not actor.running:
            if reply is not None:
                _refuse(reply, self._dispatcher.refusal(type(actor).__name__))
            return
        try:
            response = actor.on_start() if message is _START else actor.receive(message)
        except PillionError as error:
            # Whoever asked did something wrong and learns it; what nobody asked for must not fail.
            if reply is None:
                self._dispatcher.fail(actor, error)
            else:
                _refuse(reply, error)
        except BaseException as error:
            if reply is not None:
                _refuse(reply, error)
            self._dispatcher.fail(actor, error)
        else:
            if reply is not None:
                _resolve(reply, response)
        if not actor.running:
            self._actors.remove(actor)


def _resolve(reply: pykka.Future[Any], value: object) -> None:
    if isinstance(reply, OneShot):
        reply.resolve(value)
    else:
        reply.set(value)


def _refuse(reply: pykka.Future[Any], error: BaseException) -> None:
    if isinstance(reply, OneShot):
        reply.refuse(error)
    else:
        reply.set_exception((type(error), error, error.__traceback__))


class ThreadedDispatcher(Dispatcher):
    """Executes actors on threads, in real time. For use by any thread."""

    def __init__(self, *, clock: Clock | None = None, seed: int | None = None) -> None:
        self.services = Services(clock or SystemClock(), RandomIds(), random.Random(seed))
        self._lanes: dict[str, Lane] = {}
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
        reply: OneShot[Any] = OneShot(self._outstanding.discard)
        self._outstanding.add(reply)
        # After adding it, so that of this check and the one who fails what is outstanding, at least one sees the other.
        if self._stopping or self._failure is not None:
            reply.refuse(self.refusal("the system"))
        return reply

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

    def stop(self) -> None:
        with self._lock:
            self._stopping = True
            actors = list(reversed(self._actors))
            lanes = list(self._lanes.values())
        for actor in actors:
            _inbox(actor).lane.queue.put(_Item(actor, pykka_messages._ActorStop()))  # pyright: ignore[reportPrivateUsage]
        for lane in lanes:
            if lane.thread is not threading.current_thread():
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
