"""The system in another process, as a replica sees it.

:class:`RemoteSystem` stands where a replica's actors expect the storage and the controller: what they tell these goes
through the connection, and what comes from there is told to whom it is for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec
import pykka

from ...messages.responses import (
    PeekResponse,
    Response,
    Rows,
    Stashed,
    SubscribeBatch,
    SubscribeResponse,
)
from ..controller.messages import Connect, FromReplica
from ..dispatch.base import SystemActor
from ..dispatch.oneshot import OneShot
from ..storage.messages import (
    CancelRead,
    CompareAndAppend,
    ReadShard,
    SubscribeShard,
    UnsubscribeAll,
    UnsubscribeShard,
)
from ..worker.messages import Barrier
from .codec import Append, ForWorker
from .columns import weight_of
from .connection import Channel
from .errors import ConnectionEnded
from .wire import (
    MOST_SUBSCRIBERS,
    Answers,
    BarrierForm,
    BarrierReachedForm,
    CancelReadForm,
    Counters,
    CountersAsked,
    ReadForm,
    SubscribeForm,
    UnsubscribeAllForm,
    UnsubscribeForm,
)

_LARGE = 1 << 20
"""Bytes. A response with more rows than that travels alone, so that several together are not too large a message."""


class Message(msgspec.Struct, frozen=True, eq=False):
    """Base of the messages here."""


class Serve(Message, frozen=True, eq=False):
    """To itself: whom commands are for."""

    endpoint: pykka.ActorRef[Any]


class FromSystem(Message, frozen=True, eq=False):
    """From the connection: what the system said."""

    message: Any


class BarrierPassed(Message, frozen=True, eq=False):
    """From the endpoint: everything before a barrier was handled."""

    number: int


class CountersRead(Message, frozen=True, eq=False):
    """What the workers have counted together."""

    number: int
    values: dict[str, int]


class RemoteSystem(SystemActor):
    """Stands for the storage and the controller of a system in another process."""

    handlers: ClassVar = {
        SubscribeShard: "subscribe",
        UnsubscribeShard: "unsubscribe",
        UnsubscribeAll: "unsubscribe_all",
        ReadShard: "read",
        CancelRead: "cancel_read",
        CompareAndAppend: "append",
        FromReplica: "answered",
        BarrierPassed: "barrier_passed",
        CountersRead: "counters_read",
        FromSystem: "from_system",
        Serve: "serve",
    }

    def __init__(self, channel: Channel, read_counters: Callable[[Callable[[dict[str, int]], None]], None]) -> None:
        """``read_counters`` calls what it is given with the counters of the replica, later."""
        super().__init__()
        self._channel = channel
        self._read_counters = read_counters
        self._endpoint: pykka.ActorRef[Any] | None = None
        self._early: list[FromSystem] = []
        """What came before it was known whom commands are for: messages of two senders may overtake each other."""
        self._numbers: dict[pykka.ActorRef[Any], int] = {}
        self._workers: list[pykka.ActorRef[Any]] = []
        """Who asked for something, in the order in which they first did."""

    def serve(self, message: Serve) -> None:
        self._endpoint = message.endpoint
        self._endpoint.tell(Connect("", self.actor_ref))
        early, self._early = self._early, []
        for each in early:
            self.from_system(each)

    # --- To the storage ------------------------------------------------------------------------------------------

    def subscribe(self, message: SubscribeShard) -> None:
        self._channel.send(
            SubscribeForm(
                self._number(message.subscriber),
                message.shard,
                message.subscription,
                message.as_of,
                message.worker,
                message.workers,
            )
        )

    def unsubscribe(self, message: UnsubscribeShard) -> None:
        worker = self._number(message.subscriber)
        self._channel.send(UnsubscribeForm(worker, message.shard, message.subscription))

    def unsubscribe_all(self, message: UnsubscribeAll) -> None:
        self._channel.send(UnsubscribeAllForm(self._number(message.subscriber)))

    def read(self, message: ReadShard) -> None:
        worker = self._number(message.reader)
        self._channel.send(
            ReadForm(worker, message.shard, message.token, message.timestamp, message.worker, message.workers)
        )

    def cancel_read(self, message: CancelRead) -> None:
        self._channel.send(CancelReadForm(self._number(message.reader), message.token))

    def append(self, message: CompareAndAppend) -> None:
        weight = weight_of(message.updates) + weight_of(message.errors)
        self._channel.send(Append.of(self._number(message.writer), message), weight)

    def _number(self, worker: pykka.ActorRef[Any]) -> int:
        number = self._numbers.get(worker)
        if number is None:
            number = self._numbers[worker] = len(self._workers)
            assert number < MOST_SUBSCRIBERS, "a replica has fewer workers than that"
            self._workers.append(worker)
        return number

    # --- To the controller ---------------------------------------------------------------------------------------

    def answered(self, message: FromReplica) -> None:
        together: list[Response] = []
        weight = 0
        for response in message.responses:
            size = _weight(response)
            if together and weight + size > _LARGE:
                self._channel.send(Answers(message.nonce, tuple(together)), weight)
                together, weight = [], 0
            together.append(response)
            weight += size
        self._channel.send(Answers(message.nonce, tuple(together)), weight)

    def barrier_passed(self, message: BarrierPassed) -> None:
        self._channel.send(BarrierReachedForm(message.number))

    def counters_read(self, message: CountersRead) -> None:
        self._channel.send(Counters(message.number, message.values))

    # --- From the system -----------------------------------------------------------------------------------------

    def from_system(self, arrived: FromSystem) -> None:
        if self._endpoint is None:
            self._early.append(arrived)
            return
        message = arrived.message
        match message:
            case ForWorker(number, told):
                if number < len(self._workers):
                    self._workers[number].tell(told)
                else:
                    self._channel.end(ConnectionEnded(f"the system answers worker {number}, which asked for nothing"))
            case BarrierForm(number):
                self._endpoint.tell(Barrier(self._when_passed(number)))
            case CountersAsked(number):
                self._read_counters(self._when_read(number))
            case _:
                self._endpoint.tell(message)

    def _when_read(self, number: int) -> Callable[[dict[str, int]], None]:
        own = self.actor_ref
        return lambda values: own.tell(CountersRead(number, values))

    def _when_passed(self, number: int) -> OneShot[None]:
        own = self.actor_ref
        # Told to this actor, so that it comes behind the responses that the barrier waited for.
        return OneShot(lambda reply: own.tell(BarrierPassed(number)))


def _weight(response: Response) -> int:
    """About how many bytes a response keeps while it waits to be sent."""
    match response:
        case PeekResponse(_, Rows(block)):
            return block.columns.nbytes
        case PeekResponse(_, Stashed(parts)):
            return sum(block.columns.nbytes for block in parts)
        case SubscribeResponse(_, SubscribeBatch() as batch):
            return batch.updates.columns.nbytes
        case _:
            return 0
