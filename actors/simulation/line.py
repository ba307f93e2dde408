"""The line between a controller and a replica of the same process, which breaks when it is told to."""

from __future__ import annotations

from typing import Any

import pykka

from ...messages.commands import CreateInstance, Hello, InitializationComplete
from ..controller.messages import Connect, FromReplica, ReplicaLost
from ..dispatch.base import SystemActor


class Break:
    """To a line: the connection breaks. What the controller says until it has connected again is lost.

    Attributes:
        restart: whether the replica loses everything that it has.
    """

    __slots__ = ("restart",)

    def __init__(self, *, restart: bool = True) -> None:
        self.restart = restart


class Line(SystemActor):
    """Passes on what controller and replica say to each other."""

    def __init__(self, endpoint: pykka.ActorRef[Any], replica: str) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._replica = replica
        self._controller: pykka.ActorRef[Any] | None = None
        self._instance: CreateInstance | None = None
        self._broken = False
        self._breaks = 0

    def receive(self, message: Any) -> None:
        match message:
            case FromReplica():
                assert self._controller is not None, "the replica was told by somebody to whom it may answer"
                self._controller.tell(message)
            case Break():
                self._break(message)
            case Connect():
                self._controller, self._broken = message.controller, False
                self._endpoint.tell(Connect(message.replica, self.actor_ref))
            case _ if self._broken:
                pass  # Sent before the controller heard of it; its history has what is still wanted.
            case _:
                if isinstance(message, CreateInstance):
                    self._instance = message
                self._endpoint.tell(message)

    def _break(self, message: Break) -> None:
        if self._controller is None or self._instance is None:
            return
        self._breaks += 1
        self._broken = True
        if message.restart:
            # A connection on which nothing is wanted: the replica drops all that it has.
            for command in (Hello(f"broken-{self._breaks}"), self._instance, InitializationComplete()):
                self._endpoint.tell(command)
        self._controller.tell(ReplicaLost(self._replica))
