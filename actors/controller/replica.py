"""What the controller knows of one replica."""

from __future__ import annotations

from typing import Any

import pykka

from ...messages.commands import Command, Setting
from ...messages.frontiers import MINIMUM, Frontier, less_than
from ...messages.ids import GlobalId, Nonce
from ...messages.responses import Frontiers
from ..settings import Overrides


class ReplicaState:
    """One replica: where commands go, the present connection, and how far its collections have come.

    Attributes:
        uppers: the write frontiers that it reported on this connection. What it did not report has the minimum one.
        unavailable: why it cannot be reached, when nobody should wait for it.
        overrides: the settings that it has for itself.
        provisioned_with: the settings that were read when it was provisioned.
        workers: those that maintain its indexes, when they are in this process.
    """

    __slots__ = ("endpoint", "name", "nonce", "overrides", "provisioned_with", "unavailable", "uppers", "workers")

    def __init__(self, name: str, endpoint: pykka.ActorRef[Any], workers: tuple[pykka.ActorRef[Any], ...] = ()) -> None:
        self.name = name
        self.endpoint = endpoint
        self.workers = workers
        self.nonce: Nonce = ""
        self.unavailable: str | None = None
        self.uppers: dict[GlobalId, Frontier] = {}
        self.overrides = Overrides({}, lambda problem: None)
        self.provisioned_with: dict[str, Setting] = {}

    def connected(self, nonce: Nonce) -> None:
        """A new connection: what was reported on older ones counts no more."""
        self.nonce = nonce
        self.unavailable = None
        self.uppers.clear()

    def send(self, command: Command) -> None:
        self.endpoint.tell(command)

    def upper(self, id: GlobalId) -> Frontier:
        return self.uppers.get(id, MINIMUM)

    def report(self, frontiers: Frontiers) -> bool:
        """Take a report; whether a write frontier has advanced."""
        if frontiers.write is None:
            return False
        (upper,) = frontiers.write
        known = self.uppers.get(frontiers.id, MINIMUM)
        if not less_than(known, upper):
            return False
        self.uppers[frontiers.id] = upper
        return True

    def forget(self, id: GlobalId) -> None:
        """The collection is dropped."""
        self.uppers.pop(id, None)
