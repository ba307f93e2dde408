"""Messages between the controller and a replica's endpoint that are not the compute protocol itself.

To a replica's multiplexer the controller tells :class:`Connect`, then commands as they are
(:mod:`pillion.messages.commands`), the first of which is ``Hello``. It hears :class:`FromReplica`.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pykka

from ...dataflow.arrangements.updates import Updates
from ...messages.commands import Setting
from ...messages.frontiers import Timestamp
from ...messages.ids import GlobalId, Nonce
from ...messages.responses import Response
from ..journal.messages import Defined


class Message(msgspec.Struct, frozen=True, eq=False):
    """Base of the messages here."""


class Connect(Message, frozen=True, eq=False):
    """To a multiplexer: from now on, commands come from this actor and responses go to it. ``replica`` is what the
    responses are labelled with."""

    replica: str
    controller: pykka.ActorRef[Any]


class FromReplica(Message, frozen=True, eq=False):
    """From a multiplexer: responses, in order. ``nonce`` is the connection they belong to (of the last ``Hello``)."""

    replica: str
    nonce: Nonce
    responses: tuple[Response, ...]


class AddReplica(Message, frozen=True, eq=False):
    """To the controller: a replica was provisioned. It gets everything that should be running. ``overrides``: the
    settings that it has for itself; ``workers``: those that maintain its indexes, when they are in this process;
    ``interactive``: whether it runs a second runtime, if it is known."""

    replica: str
    endpoint: pykka.ActorRef[Any]
    overrides: tuple[tuple[str, Setting], ...] = ()
    workers: tuple[pykka.ActorRef[Any], ...] = ()
    interactive: bool | None = None


class ReplicaLost(Message, frozen=True, eq=False):
    """To the controller: the connection broke, and there is another one. It connects again with a fresh nonce and
    replays its history. ``interactive``: whether what it connects to now runs a second runtime, if it is known."""

    replica: str
    interactive: bool | None = None


class ReplicaUnavailable(Message, frozen=True, eq=False):
    """To the controller: the replica is not connected and may not be for long. What waits for it is refused, as are
    reads to come, until :class:`ReplicaLost` tells that there is a connection again. ``reason``: a sentence."""

    replica: str
    reason: str


class CompactNow(Message, frozen=True, eq=False):
    """To itself: allow compaction as far as policies and holds let it."""


class ResumeCollections(Message, frozen=True, eq=False):
    """Before anything else: go on after ``latest`` with the collections that an earlier system had, users after what
    they use, and log what is created and dropped. ``next_id``: the number of the first id that was never given.
    ``contents``: what tables hold, for the storage."""

    journal: pykka.ActorRef[Any]
    latest: Timestamp
    next_id: int
    definitions: tuple[Defined, ...]
    contents: dict[GlobalId, Updates]
