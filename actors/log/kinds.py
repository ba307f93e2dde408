"""The kinds of messages that a log can hold, by the names of their classes."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...messages.ids import GlobalId
from ..controller.controller import Controller
from ..multiplexer.multiplexer import Multiplexer
from ..registry.registry import SharingRegistry
from ..requests import CollectionInfo, Committed, Explained, Held, ReadResult, Subscribed
from ..storage.storage import Storage
from ..transport.remote_replica import RemoteReplica, RemoteWorker
from ..transport.remote_system import RemoteSystem
from ..worker.worker import Worker

_ACTORS = (Controller, Storage, Multiplexer, Worker, SharingRegistry, RemoteReplica, RemoteWorker, RemoteSystem)


@cache
def kinds() -> dict[str, type]:
    """Every kind of message that an actor of a system handles."""
    found: dict[str, type] = {}
    for actor in _ACTORS:
        for kind in actor.handlers:
            other = found.setdefault(kind.__name__, kind)
            assert other is kind, f"two kinds of messages have the name {kind.__name__}, and a log could not tell them"
    return found


ANSWERS: dict[str, Any] = {
    "GlobalId": GlobalId,
    "Committed": Committed,
    "ReadResult": ReadResult,
    "Subscribed": Subscribed,
    "Held": Held,
    "Explained": Explained,
    "ids": tuple[GlobalId, ...],
    "collections": tuple[CollectionInfo, ...],
    "plain": Any,
}
"""What requests are answered with: the types, and how they are named."""
