"""How the handles of an application (tables, indexes, subscriptions) reach the controller."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import pykka

from ..dispatch.base import Dispatcher
from ..dispatch.oneshot import OneShot, Stream
from ..errors import SystemFailed, SystemStopped
from ..metrics.figures import Lookups
from ..recorder.recording import Recording
from ..requests import (
    Cancel,
    Commit,
    CreateIndex,
    CreateMaterializedView,
    CreateTable,
    CreateView,
    Drop,
    Read,
    Request,
)

T = TypeVar("T")

_CHANGES = (Commit, CreateTable, CreateView, CreateIndex, CreateMaterializedView, Drop)
"""What a recording that ended would lack."""


class Connection:
    """Sends requests to one controller and waits for the answers. Used by any number of application threads."""

    __slots__ = ("_closed", "_controller", "_dispatcher", "_recording", "lookups")

    def __init__(
        self,
        dispatcher: Dispatcher,
        controller: pykka.ActorRef[Any],
        lookups: Lookups,
        recording: Recording | None = None,
    ) -> None:
        """``lookups``: counts those for which nobody was asked."""
        self._recording = recording
        self._dispatcher = dispatcher
        self.lookups = lookups
        self._controller = controller
        self._closed = threading.Event()

    def ask(self, make: Callable[[OneShot[Any]], Request]) -> Any:
        """Send the request that ``make`` makes of a reply, and wait for the answer.

        Whatever interrupts the wait (Ctrl-C) withdraws the request and goes on up; the system stays healthy.

        Raises:
            PillionError: the request was refused.
            SystemStopped: the system was stopped.
            RecordingFailed: it would change something, and could not be recorded.
        """
        if self._closed.is_set():
            raise SystemStopped
        reply = self._dispatcher.reply()
        request = make(reply)
        if self._recording is not None and self._recording.failure is not None and isinstance(request, _CHANGES):
            refusal = self._recording.failure.again()
            reply.refuse(refusal)  # Nobody will answer it.
            raise refusal
        try:
            hurried = isinstance(request, Read) and request.timeout is not None
            return self._dispatcher.wait_for(lambda: self._controller.tell(request), reply, hurried=hurried)
        except BaseException as error:
            if not isinstance(error, Exception) and not reply.is_set:
                self._controller.tell(Cancel(reply))
            raise_here(error)

    def send(self, make: Callable[[OneShot[Any]], Request]) -> OneShot[Any]:
        """Send a request without waiting for the answer.

        Raises:
            SystemStopped: the system was stopped.
        """
        if self._closed.is_set():
            raise SystemStopped
        reply = self._dispatcher.reply()
        self._controller.tell(make(reply))
        return reply

    def reply(self) -> OneShot[Any]:
        """A future for an actor to set, or for a notice of it."""
        return self._dispatcher.reply()

    def wait_for(self, reply: OneShot[T]) -> T:
        """Wait for what somebody was sent a reply for."""
        try:
            return self._dispatcher.wait_for(_nothing, reply)
        except BaseException as error:
            raise_here(error)

    def check(self) -> None:
        """
        Raises:
            SystemStopped, SystemFailed: the system answers nothing any more.
        """
        if self._closed.is_set():
            raise SystemStopped
        if self._dispatcher.failure is not None:
            raise SystemFailed(self._dispatcher.failure)

    def stream(self) -> Stream[Any]:
        """A queue of results to put into a request."""
        return self._dispatcher.stream()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def close(self) -> None:
        """Refuse every request from now on."""
        self._closed.set()


def _nothing() -> None:
    """It was sent before."""


def raise_here(error: BaseException) -> NoReturn:
    """Raise what a wait ended with. What failed an actor and is no ordinary exception (a ``SystemExit``) would end the
    application's thread with it, so it becomes ``SystemFailed``; an interruption is the application's own."""
    if isinstance(error, Exception | KeyboardInterrupt):
        raise error
    raise SystemFailed(error)
