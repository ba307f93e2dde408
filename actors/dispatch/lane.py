"""Lanes: the queues of actors on threads, and who handles what waits in them.

A lane handles one message at a time, in the order they were sent, so that messages of one sender to one actor stay in
order. It has a thread of its own; but waking a thread takes longer than most handlers do. So whoever is there already
may *attend* a lane, if nobody does: a thread that waits for an answer handles what its answer depends on, and a thread
that ends a handler handles what that handler told to lanes with brief handlers.

Invariants. One thread attends at a time: the one that holds the turn. While ``idle`` is set nobody attends and no bell
rings, and whoever puts a message must see that somebody will; while it is not, whoever attends looks again after it
gave the turn back.
"""

from __future__ import annotations

import heapq
import itertools
import queue
import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec
import pykka

from ...messages.errors import PillionError
from .base import SystemActor
from .oneshot import LONGEST_WAIT, OneShot
from .timers import ScheduledMessage

if TYPE_CHECKING:
    from .threaded import ThreadedDispatcher

BRISK = 0.001
"""Seconds. A lane that took longer for a message lately is left to its own thread by those who wait for an answer: an
interruption of theirs would have to wait as long."""

START = object()
"""The first message of each actor."""


class Item(msgspec.Struct, gc=False, frozen=True):
    """A message on its way. Untracked by the garbage collector, which would otherwise look through all that wait,
    again and again: that took more time than sending them. A lane empties its queue when it ends, so no cycle stays.
    """

    actor: SystemActor
    message: Any
    reply: pykka.Future[Any] | None = None


class _Here(threading.local):
    """What the present thread does.

    Attributes:
        pending: lanes that it will attend once the handler it is in has ended; None outside of handlers.
        waits: whether it is one of the application, waiting for an answer.
    """

    pending: list[Lane] | None = None
    waits: bool = False


_here = _Here()


def in_handler() -> bool:
    """Whether the present thread is running a handler."""
    return _here.pending is not None


class Attending:
    """Lets the present thread, one of the application, attend lanes in a ``with`` block. The list gets those that were
    told something; what is left there at the end is left to the lanes' own threads."""

    __slots__ = ("_pending",)

    def __enter__(self) -> list[Lane]:
        self._pending: list[Lane] = []
        _here.pending = self._pending
        _here.waits = True
        return self._pending

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _here.pending = None
        _here.waits = False
        for lane in self._pending:
            lane.ring()


class Lane:
    """A queue, its thread and its actors. It lives until each of them was stopped; then the thread ends.

    Attributes:
        append: put an item; then, if ``idle``, call :meth:`wake`.
        brief: none of its actors ever works long.
    """

    def __init__(self, name: str, dispatcher: ThreadedDispatcher, lock: threading.RLock) -> None:
        """``lock`` is held by whoever adds an actor, so that a lane does not end while it is given another one."""
        self._items: deque[Item] = deque()
        self.append = self._items.append
        self.idle = False
        self.brief = True
        self._visited = False
        self._brisk = True
        self.aborted = False
        self._ended = False
        self._lock = lock
        self._turn = threading.Lock()
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._actors: list[SystemActor] = []
        self._dispatcher = dispatcher
        self._timers: list[ScheduledMessage] = []
        self._sleeps_until = LONGEST_WAIT
        self._order = itertools.count()
        self.thread = threading.Thread(target=self._run, name=f"pillion-{name}", daemon=True)

    # --- For any thread ------------------------------------------------------------------------------------------

    def put(self, item: Item) -> None:
        """Add a message, and see to it that somebody handles it."""
        self.append(item)
        if self.idle:
            self.wake()

    def wake(self) -> None:
        """Have what waits handled: by this thread once it is out of its handler, or by the lane's own."""
        pending = _here.pending
        if pending is not None and (self.brief or _here.waits):
            pending.append(self)
        else:
            self.ring()

    def ring(self) -> None:
        """Wake the lane's own thread, if there is something to do."""
        if self.idle and (self._items or self.aborted or not self._actors or self._oversleeps()):
            self.idle = False
            self._bell.put(None)

    def add(self, actor: SystemActor) -> None:
        self._actors.append(actor)
        self.brief = self.brief and actor.is_brief
        self._visited = self._visited or type(actor).takes_little is not SystemActor.takes_little
        self.put(Item(actor, START))
        if self.thread.ident is None:
            self.thread.start()

    @property
    def alive(self) -> bool:
        """Whether it takes further actors."""
        return not self.aborted and not self._ended

    def admits(self, *, hurried: bool) -> bool:
        """Whether a thread that waits may handle here what takes little."""
        return self.brief or (self._visited and self._brisk and not hurried)

    @property
    def has_work(self) -> bool:
        return bool(self._items)

    def is_alone(self, actor: SystemActor) -> bool:
        """Whether this actor shares the lane with no other."""
        return self._actors == [actor]

    @property
    def depth(self) -> int:
        """How many messages wait."""
        return len(self._items)

    def abort(self) -> None:
        """End the thread after the handler that is running."""
        self.aborted = True
        self.ring()

    def attend(self, enough: Callable[[], bool] | None = None) -> bool:
        """Handle what waits until nothing does or it is ``enough``, unless another thread is at it. Whether anything
        was handled."""
        handled = attended = False
        while self._turn.acquire(blocking=False):
            attended = True
            self.idle = False
            try:
                progressed = self._drain(enough)
            finally:
                self.idle = True
                self._turn.release()
            handled |= progressed
            # Whoever put something in the meantime relied on this one.
            if not progressed or not self._items or self.aborted or (enough is not None and enough()):
                break
        if attended and threading.get_ident() != self.thread.ident:
            self.ring()
        return handled

    # --- For whoever attends -------------------------------------------------------------------------------------

    def after(self, actor: SystemActor, seconds: float, message: object) -> ScheduledMessage:
        timer = ScheduledMessage(self._dispatcher.services.clock.now() + seconds, next(self._order), actor, message)
        heapq.heappush(self._timers, timer)
        return timer

    def _drain(self, enough: Callable[[], bool] | None) -> bool:
        items, timers, pending = self._items, self._timers, _here.pending
        assert pending is not None, "only who can attend to what handlers tell runs handlers"
        waits, brief, now = _here.waits, self.brief, self._dispatcher.services.clock.now
        visits = waits and not brief
        begin = 0.0 if brief else now()
        count = 0
        while not self.aborted:
            # Timers come before what waits in the queue: a lane that is never idle has timers, too.
            item = None
            if timers and (timers[0].actor is None or timers[0].deadline <= now()):
                item = self._due(now(), visits=visits)
            if item is None:
                if not items or (visits and not _takes_little(items[0])):
                    break
                item = items.popleft()
            count += 1
            actor = item.actor
            handler = actor.table.get(item.message.__class__)
            # By far the most: a message that somebody told to an actor that runs, and that one of its handlers takes.
            if item.reply is None and handler is not None and actor.running:
                try:
                    handler(item.message)
                except BaseException as error:
                    self._dispatcher.fail(actor, error)
            else:
                self._handle(item)
            if pending and not waits:
                while pending:
                    pending.pop().attend()
            if enough is not None and enough():
                break
        if count and not brief:
            self._brisk = now() - begin < BRISK * count
        return count > 0

    def _due(self, now: float, *, visits: bool) -> Item | None:
        """The message of a timer whose moment has come; for a visitor, only if it takes little."""
        timers = self._timers
        while timers:
            timer = timers[0]
            actor = timer.actor
            if actor is not None and (timer.deadline > now or (visits and not actor.takes_little(timer.message))):
                return None
            heapq.heappop(timers)
            if actor is not None:
                return Item(actor, timer.message)
        return None

    def _handle(self, item: Item) -> None:
        actor, message, reply = item.actor, item.message, item.reply
        if not actor.running:
            if reply is not None:
                _refuse(reply, self._dispatcher.refusal(type(actor).__name__))
            return
        try:
            response = actor.on_start() if message is START else actor.receive(message)
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

    # --- The lane's own thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        _here.pending = []
        while True:
            self.attend()
            if self.aborted:
                break
            if not self._actors and self._end():
                return
            self._sleep()
        with self._turn:  # Who attends ends the handler first.
            for actor in self._actors:
                self._dispatcher.abandon(actor)
            self._items.clear()

    def _sleep(self) -> None:
        """Wait for the bell or for a timer."""
        now = self._dispatcher.services.clock.now
        while True:
            self._sleeps_until = deadline = self._next_deadline()
            # Whoever sets an earlier timer now rings; who set it a moment ago did not know.
            if self._next_deadline() >= deadline:
                break
        wait = deadline - now()
        try:
            if wait > 0:
                self._bell.get(timeout=None if deadline == LONGEST_WAIT else min(wait, LONGEST_WAIT))
        except queue.Empty:
            pass
        self._sleeps_until = LONGEST_WAIT
        if wait <= 0 and self._turn.locked():
            # A timer is due, and somebody attends, who will ring if it is left. To try again and again until then would
            # take the interpreter from the one who is at it.
            self._bell.get()

    def _next_deadline(self) -> float:
        # Another thread may attend, and take the last timer while this one looks.
        first = next(iter(self._timers), None)
        return LONGEST_WAIT if first is None else first.deadline

    def _oversleeps(self) -> bool:
        """Whether the thread sleeps beyond the next timer."""
        return self._next_deadline() < self._sleeps_until

    def _end(self) -> bool:
        """End the lane, unless it was just given another actor."""
        with self._lock:
            self._ended = not self._actors
        if self._ended:
            # What came in while the last one stopped; later senders see that it is closed.
            with self._turn:
                while self._items:
                    self._handle(self._items.popleft())
        return self._ended


def _takes_little(item: Item) -> bool:
    return item.message is not START and item.actor.takes_little(item.message)


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
