"""The base of every actor of a system, and what executes it.

An actor owns state that only its handlers touch; a *dispatcher* decides on which thread and in which order they
run. :class:`~.threaded.ThreadedDispatcher` runs them on threads, :class:`~.simulated.SimulatedDispatcher` one at a
time in a seeded order. An actor cannot tell which one runs it, if it keeps two rules: a handler never blocks, and
everything it depends on came in a message or is in :attr:`SystemActor.services`.

    class Counter(SystemActor):
        handlers = {Increment: "increment"}

        def increment(self, message: Increment) -> None: ...

    dispatcher = ThreadedDispatcher()
    ref = dispatcher.start(Counter)
    ref.tell(Increment())
    dispatcher.stop()
"""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

import pykka
import structlog
from pykka._actor import ActorInbox

from .oneshot import OneShot, Stream
from .services import Services, make_logger

A = TypeVar("A", bound="SystemActor")
T = TypeVar("T")

_starting = threading.local()


class Timer(Protocol):
    """A message that will be sent to its actor at a moment."""

    def cancel(self) -> None:
        """Do not send it. No effect after it was sent."""
        ...


class Dispatcher(abc.ABC):
    """Executes the actors of one system, and fails and stops them together.

    A failure (an exception that escapes a handler) is final: every outstanding future and stream gets the original
    exception, the actors stop, and what is asked for later is refused with ``SystemFailed``, whose cause it is.
    """

    services: Services

    @property
    @abc.abstractmethod
    def failure(self) -> BaseException | None:
        """The exception that failed the system, or None."""

    @abc.abstractmethod
    def start(self, actor: type[A], *arguments: Any, lane: str | None = None, **options: Any) -> pykka.ActorRef[A]:
        """Start an actor.

        Actors with the same ``lane`` share one thread, so that a message between them costs no thread switch;
        a handler that takes long delays its lane mates. None: a thread of its own. A simulation ignores it.
        """

    @abc.abstractmethod
    def reply(self) -> OneShot[Any]:
        """A future to put into a request; the actor that has the answer resolves it."""

    @abc.abstractmethod
    def wait_for(
        self, send: Callable[[], object], reply: OneShot[T], timeout: float | None = None, *, hurried: bool = False
    ) -> T:
        """Send what ``reply`` answers, and wait for it, on a thread of the application.

        Args:
            timeout: seconds to wait.
            hurried: whether somebody else keeps a deadline for it, so that this thread must not be busy.

        Raises:
            pykka.Timeout: it took longer than ``timeout`` seconds.
        """

    @abc.abstractmethod
    def stream(self) -> Stream[Any]:
        """A queue of results to put into a request."""

    @abc.abstractmethod
    def fail(self, actor: SystemActor, error: BaseException) -> None:
        """Fail the system: an exception escaped a handler of this actor."""

    @abc.abstractmethod
    def stop_actor(self, ref: pykka.ActorRef[Any]) -> None:
        """Stop one actor as planned, after the messages it already has. Stopping it in another way fails the system."""

    @abc.abstractmethod
    def stop(self) -> None:
        """Stop the actors, newest first, and wait for their threads. Outstanding requests are refused with
        ``SystemStopped``. May be called again, and after a failure."""

    @abc.abstractmethod
    def mailbox_depths(self) -> dict[str, int]:
        """How many messages wait, by the name of the queue that they wait in. For any thread, at any time."""

    @abc.abstractmethod
    def thread_of(self, actor: SystemActor) -> int | None:
        """The operating system's number of the thread that runs this actor and no other; None where there is none."""

    # What actors need.

    @abc.abstractmethod
    def create_inbox(self) -> ActorInbox:
        """An inbox for an actor that is being created."""

    @abc.abstractmethod
    def reference(self, actor: SystemActor) -> pykka.ActorRef[Any]:
        """The reference by which others know an actor that is being created."""

    @abc.abstractmethod
    def run_actor(self, actor: SystemActor) -> None:
        """Start executing an actor that was just created."""

    @abc.abstractmethod
    def stopped(self, actor: SystemActor) -> None:
        """An actor has stopped. Called on its own thread."""

    @abc.abstractmethod
    def after(self, actor: SystemActor, seconds: float, message: object) -> Timer:
        """Send a message to this actor in so many seconds. Called on the actor's own thread."""

    def _create(self, create: Callable[[], A]) -> A:
        """Run an actor's constructor, which takes its inbox from this dispatcher."""
        outer: Dispatcher | None = getattr(_starting, "dispatcher", None)
        _starting.dispatcher = self
        try:
            return create()
        finally:
            _starting.dispatcher = outer


class SystemActor(pykka.Actor):
    """An actor of a system: start it with :meth:`Dispatcher.start`, never by its class method ``start``."""

    handlers: ClassVar[Mapping[type, str]] = {}
    """The messages it understands, and the method that handles each. A handler takes the message; what it returns
    answers an ``ask``. Any other message fails the system."""

    is_brief: ClassVar[bool] = False
    """Whether no handler ever works long, so that any thread that told it something may run its handlers."""

    def takes_little(self, message: Any) -> bool:
        """Whether handling this message is work of less than a millisecond or so, so that a thread of the application
        that waits may do it: an interruption or a deadline of that thread waits until it is done."""
        return self.is_brief

    dispatcher: Dispatcher
    services: Services
    log: structlog.stdlib.BoundLogger
    running: bool
    """False once it is stopped: ``actor_stopped`` without a lock, for the dispatcher that looks before each message."""

    def __init__(self, **bound: Any) -> None:
        """``bound`` are fields for the log, such as the worker's index."""
        dispatcher: Dispatcher | None = getattr(_starting, "dispatcher", None)
        if dispatcher is None:
            raise RuntimeError(f"start {type(self).__name__} with Dispatcher.start(), not by itself")
        self.dispatcher = dispatcher
        self.services = dispatcher.services
        self.running = True
        super().__init__()
        self._actor_ref = dispatcher.reference(self)
        self.log = make_logger(type(self).__name__.lower(), **bound)
        self.table: Mapping[type, Callable[[Any], Any]] = {
            message: getattr(self, method) for message, method in self.handlers.items()
        }
        """``handlers``, bound to this actor. For dispatchers."""

    def after(self, seconds: float, message: object) -> Timer:
        """Send ``message`` to this actor in so many seconds, unless the timer is cancelled."""
        return self.dispatcher.after(self, seconds, message)

    def tell_self(self, message: object) -> None:
        """The next step of long work, behind the messages that are waiting."""
        self.actor_ref.tell(message)

    def receive(self, message: Any) -> Any:
        """Handle one message. For dispatchers."""
        handler = self.table.get(message.__class__)
        return super()._handle_receive(message) if handler is None else handler(message)

    def release(self) -> None:
        """End the actor without handling what it has still to do: its system failed. For dispatchers."""
        if not self.actor_stopped.is_set():
            self._stop()

    def on_receive(self, message: Any) -> Any:
        raise TypeError(f"{type(self).__name__} has no handler for {type(message).__name__}")

    # pykka's extension points.

    @staticmethod
    def _create_actor_inbox() -> ActorInbox:
        return _starting.dispatcher.create_inbox()

    @staticmethod
    def _create_future() -> pykka.Future[Any]:
        return OneShot()

    def _start_actor_loop(self) -> None:
        self.dispatcher.run_actor(self)

    def _handle_failure(self, exception_type: Any, exception_value: Any, traceback: Any) -> None:
        self.dispatcher.fail(self, exception_value)

    def _stop(self) -> None:
        self.running = False
        super()._stop()
        self.dispatcher.stopped(self)
