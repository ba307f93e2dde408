"""A small controller without policy: sends a replica what it is told to, and keeps what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pykka

from ...dataflow.arrangements.updates import Updates
from ...messages.commands import Command, CreateDataflow, Hello, Peek
from ...messages.dataflows import Subscribe
from ...messages.frontiers import MINIMUM, Frontier, Timestamp, less_equal
from ...messages.ids import GlobalId, PeekId
from ...messages.responses import (
    Copied,
    CopyDropped,
    CopyError,
    CopyToResponse,
    DroppedAt,
    Frontiers,
    PeekResponse,
    PeekResult,
    Response,
    Status,
    SubscribeBatch,
    SubscribeResponse,
)
from ...messages.types import Schema
from ..controller.messages import Connect, FromReplica
from ..dispatch.base import Dispatcher, SystemActor
from ..dispatch.oneshot import Stream
from ..peeks.blocks import updates_of
from ..worker.messages import Barrier
from ..worker.refusals import REFUSED
from .errors import DirectiveError

_POLL_SECONDS = 0.01
_COMPLETE = "initialization-complete"


def _never() -> bool:
    return False


class _Ear(SystemActor):
    """Stands in the controller's place and passes on what it hears."""

    handlers: ClassVar = {FromReplica: "heard", Barrier: "barrier"}

    def __init__(self, heard: Stream[FromReplica]) -> None:
        super().__init__()
        self._heard = heard

    def heard(self, message: FromReplica) -> None:
        self._heard.put(message)

    def barrier(self, message: Barrier) -> None:
        message.reply.resolve(None)


class Subscription:
    """What came of one subscribe."""

    def __init__(self, schema: Schema, as_of: Timestamp) -> None:
        self._schema = schema
        self.upper: Frontier = as_of
        self.updates: list[Updates] = []
        self.error: str | None = None
        self.dropped = False

    def absorb(self, result: SubscribeBatch | DroppedAt) -> None:
        """Take the next batch, or the end.

        Raises:
            DirectiveError: the batch does not begin where the last one ended.
        """
        if isinstance(result, DroppedAt):
            self.dropped = True
            return
        if result.lower != self.upper:
            raise DirectiveError(f"a batch begins at {result.lower}, but the last one ended at {self.upper}")
        self.upper = result.upper
        self.error = self.error or result.error
        if result.updates.num_rows:
            self.updates.append(updates_of(result.updates, self._schema))


class Client:
    """The only controller of a replica, for use by one thread."""

    def __init__(self, dispatcher: Dispatcher, endpoint: pykka.ActorRef[Any], timeout: float) -> None:
        """``timeout``: seconds that any wait may take, unless it says otherwise."""
        self._dispatcher = dispatcher
        self._endpoint = endpoint
        self._timeout = timeout
        self._heard: Stream[FromReplica] = dispatcher.stream()
        self._ear = dispatcher.start(_Ear, self._heard)
        self._nonce = ""
        self._refused: list[str] = []
        self.is_initialized = False
        self.frontiers: dict[GlobalId, Frontier] = {}
        """The output frontier of each collection, as last reported."""
        self.peeks: dict[PeekId, PeekResult] = {}
        self.subscriptions: dict[GlobalId, Subscription] = {}
        self.copies: dict[GlobalId, Copied | CopyError | CopyDropped] = {}
        self.counts: dict[str, int] = {}
        """How many commands of each kind were sent, and responses heard."""
        endpoint.tell(Connect("script", self._ear))

    def connect(self) -> None:
        """Open a connection; what belonged to an older one is forgotten."""
        # A fresh replica reconciles nothing.
        self.is_initialized = not self._nonce
        self._nonce = self._dispatcher.services.ids.fresh()
        self._refused.clear()
        self.frontiers.clear()
        self.peeks.clear()
        self.subscriptions.clear()
        self.copies.clear()
        self.send(Hello(self._nonce))

    def send(self, command: Command) -> None:
        """Send a command, and wait until every worker has handled it.

        Raises:
            DirectiveError: it was refused.
        """
        if isinstance(command, CreateDataflow):
            self._expect_subscriptions(command)
        self._count(command)
        self._endpoint.tell(command)
        self.barrier()
        if self._refused:
            message = self._refused[0]
            self._refused.clear()
            raise DirectiveError(message)

    def peek(self, peek: Peek, timeout: float | None = None) -> PeekResult:
        """Send a peek and wait for its answer.

        Raises:
            DirectiveError: it was not answered in time, or cannot be: nothing is before the initialization is complete.
        """
        if not self.is_initialized:
            raise DirectiveError(f"a peek is not answered before the connection's {_COMPLETE}")
        self.send(peek)
        self.wait(lambda: peek.uuid in self.peeks, f"peek of {peek.target.id} at {peek.timestamp}", timeout)
        return self.peeks.pop(peek.uuid)

    def barrier(self) -> None:
        """Wait until everything that was sent is handled, and take what was answered to it."""
        for actor in (self._endpoint, self._ear):
            reply = self._dispatcher.reply()
            actor.tell(Barrier(reply))
            try:
                reply.get(timeout=self._timeout)
            except pykka.Timeout:
                raise DirectiveError(f"timed out after {self._timeout:g} s: the replica is busy") from None
        while self._heard.ready:
            self._absorb(self._heard.get())

    def wait(self, condition: Callable[[], bool], what: str, timeout: float | None = None) -> None:
        """Take what is answered until a condition holds.

        Raises:
            DirectiveError: it did not come to hold in time.
        """
        if not self.holds(condition, timeout):
            seconds = self._timeout if timeout is None else timeout
            hint = "" if self.is_initialized else f"; the connection lacks its {_COMPLETE}"
            raise DirectiveError(f"timed out after {seconds:g} s: {what}{hint}")

    def holds(self, condition: Callable[[], bool], timeout: float | None = None) -> bool:
        """Take what is answered until a condition holds; whether it came to hold in time."""
        clock = self._dispatcher.services.clock
        end = clock.now() + (self._timeout if timeout is None else timeout)
        while not condition():
            left = end - clock.now()
            if left <= 0:
                return False
            try:
                self._absorb(self._heard.get(timeout=left))
            except pykka.Timeout:
                return condition()
        return True

    def poll(self, condition: Callable[[], bool], what: str, timeout: float | None = None) -> None:
        """Look again and again whether a condition holds that no response tells of.

        Raises:
            DirectiveError: it did not come to hold in time.
        """
        clock = self._dispatcher.services.clock
        seconds = self._timeout if timeout is None else timeout
        end = clock.now() + seconds
        while not condition():
            if clock.now() >= end:
                raise DirectiveError(f"timed out after {seconds:g} s: {what}")
            self.holds(_never, _POLL_SECONDS)

    def reached(self, id: GlobalId, time: Timestamp) -> bool:
        """Whether a collection's output frontier was reported to be at a time, or beyond."""
        return less_equal(time, self.frontiers.get(id, MINIMUM))

    def _expect_subscriptions(self, command: CreateDataflow) -> None:
        dataflow = command.dataflow
        for sink in dataflow.sink_exports:
            if isinstance(sink.connection, Subscribe):
                self.subscriptions[sink.id] = Subscription(dataflow.schema_of(sink.on), dataflow.as_of)

    def _absorb(self, message: FromReplica) -> None:
        if message.nonce != self._nonce:
            return
        for response in message.responses:
            self._count(response)
            self._absorb_response(response)

    def _absorb_response(self, response: Response) -> None:
        match response:
            case Frontiers():
                if response.output is not None:
                    self.frontiers[response.id] = response.output[0]
            case PeekResponse():
                self.peeks[response.uuid] = response.result
            case SubscribeResponse():
                self.subscriptions[response.id].absorb(response.result)
            case CopyToResponse():
                self.copies[response.id] = response.result
            case Status():
                self._refused += [response.details["message"]] if response.kind == REFUSED else []

    def _count(self, message: Command | Response) -> None:
        name = type(message).__struct_config__.tag
        self.counts[str(name)] = self.counts.get(str(name), 0) + 1
