"""What is between a controller and its replica: a line that can break, and an order in which workers fall behind."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pykka

from pillion.actors.controller.messages import Connect, FromReplica, ReplicaLost
from pillion.actors.dispatch.base import SystemActor
from pillion.actors.dispatch.schedule import Channel
from pillion.messages.commands import CreateInstance, Hello, InitializationComplete
from pillion.messages.frontiers import Frontier, less_equal
from pillion.messages.ids import GlobalId, PeekId
from pillion.messages.responses import DroppedAt, Frontiers, PeekResponse, SubscribeResponse


class LaggingSchedule:
    """Delivers in a random order; to an actor that lags only when there is nothing else to deliver."""

    def __init__(self, seed: int) -> None:
        self.lagging: set[SystemActor] = set()
        self._random = random.Random(seed)

    def choose(self, channels: Sequence[Channel]) -> int:
        ahead = [at for at, channel in enumerate(channels) if channel.actor not in self.lagging]
        return self._random.choice(ahead or range(len(channels)))


class Break:
    """To a line: the connection breaks, and what is at the other end loses everything before there is another one."""


class Line(SystemActor):
    """Passes on what controller and replica say to each other, and checks that the replica keeps the rules of
    ``docs/protocol.md``: frontiers never go back and are final once empty, a peek has one answer, batches of
    subscriptions have no gaps."""

    def __init__(self, endpoint: pykka.ActorRef[Any], replica: str) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._replica = replica
        self._controller: pykka.ActorRef[Any] | None = None
        self._instance: CreateInstance | None = None
        self._broken = False
        self._breaks = 0
        self._nonce = ""
        self._frontiers: dict[tuple[GlobalId, str], Frontier] = {}
        self._answered: set[PeekId] = set()
        self._uppers: dict[GlobalId, Frontier] = {}

    def receive(self, message: Any) -> None:
        match message:
            case FromReplica():
                self._from_replica(message)
            case Break():
                self._break()
            case Connect():
                self._controller, self._broken = message.controller, False
                self._endpoint.tell(Connect(message.replica, self.actor_ref))
            case _ if self._broken:
                pass  # Sent before the controller heard of it; its history has what is still wanted.
            case _:
                if isinstance(message, CreateInstance):
                    self._instance = message
                self._endpoint.tell(message)

    def _break(self) -> None:
        if self._controller is None or self._instance is None:
            return
        self._breaks += 1
        self._broken = True
        # A connection on which nothing is wanted: the replica drops all that it has.
        for command in (Hello(f"broken-{self._breaks}"), self._instance, InitializationComplete()):
            self._endpoint.tell(command)
        self._controller.tell(ReplicaLost(self._replica))

    def _from_replica(self, message: FromReplica) -> None:
        if message.nonce != self._nonce:
            self._nonce = message.nonce
            self._frontiers.clear()
            self._answered.clear()
            self._uppers.clear()
        for response in message.responses:
            match response:
                case Frontiers():
                    for kind in ("write", "input", "output"):
                        self._check_frontier(response, kind)
                case PeekResponse(uuid=uuid):
                    assert uuid not in self._answered, f"peek {uuid} was answered twice"
                    self._answered.add(uuid)
                case SubscribeResponse(id=id, result=result) if not isinstance(result, DroppedAt):
                    assert self._uppers.setdefault(id, result.lower) == result.lower, f"{id} has a gap"
                    self._uppers[id] = result.upper
                case _:
                    pass
        assert self._controller is not None
        self._controller.tell(message)

    def _check_frontier(self, response: Frontiers, kind: str) -> None:
        moved: tuple[Frontier] | None = getattr(response, kind)
        if moved is None:
            return
        key = (response.id, kind)
        known = self._frontiers.get(key, 0)
        assert known is not None, f"{key} was reported after it was empty"
        assert less_equal(known, moved[0]), f"{key} went from {known} back to {moved[0]}"
        self._frontiers[key] = moved[0]
