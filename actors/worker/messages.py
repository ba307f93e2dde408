"""What a worker hears and tells besides the compute protocol."""

from __future__ import annotations

from typing import Any

import msgspec
import pykka

from ...dataflow.arrangements.publication import Incarnation, Publication
from ...dataflow.arrangements.updates import Chunk
from ...messages.frontiers import Timestamp
from ...messages.ids import GlobalId, Nonce
from ...messages.responses import Response
from ..dispatch.oneshot import OneShot

DataflowNumber = int
"""Which ``CreateDataflow`` of the command stream made a dataflow, counted from 0 and never reset. Every worker counts
the same stream, so the number names the same dataflow on each of them, and it tells two dataflows apart that exported
the same id one after the other: it is the *incarnation* of what a dataflow exports."""


class Message(msgspec.Struct, frozen=True, eq=False):
    """Base of the messages here."""


class Joined(Message, frozen=True, eq=False):
    """To a worker, from its multiplexer, before any command: whom it works with. ``workers`` are all workers of its
    runtime in order of their index, itself included; ``sibling`` is the worker with the same index of the other runtime
    of the process, if there is one."""

    multiplexer: pykka.ActorRef[Any]
    workers: tuple[pykka.ActorRef[Any], ...]
    sibling: pykka.ActorRef[Any] | None = None


class Exchanged(Message, frozen=True, eq=False):
    """From worker ``sender``: its part of what flows through one channel of a dataflow."""

    dataflow: DataflowNumber
    channel: int
    sender: int
    chunk: Chunk


class SinkPart(Message, frozen=True, eq=False):
    """From worker ``sender`` to the worker that owns a sink: its part of the sink's collection."""

    dataflow: DataflowNumber
    sink: GlobalId
    sender: int
    chunk: Chunk


class Turn(Message, frozen=True, eq=False):
    """To itself: go on with what is left to do."""


class Idle(Message, frozen=True, eq=False):
    """To itself, some time after the last work: tidy up."""


class Sealed(Message, frozen=True, eq=False):
    """To a worker that waits for an index of the other runtime, from the publisher: it is sealed at the time."""

    id: GlobalId
    incarnation: Incarnation


class Introspect(Message, frozen=True, eq=False):
    """To a worker of the maintenance runtime, from its sibling: somebody reads introspection relations at ``time``."""

    time: Timestamp


class LookAtMemory(Message, frozen=True, eq=False):
    """To itself, while the process has more memory than it may: see whether it still has."""


class Impatient(Message, frozen=True, eq=False):
    """To itself, some time after an :class:`Introspect`: whoever reads this relation has waited long enough."""

    id: GlobalId
    incarnation: Incarnation
    time: Timestamp


class Tagged(Message, frozen=True, eq=False):
    """A response and the incarnation of the collection that it is about (-1 where it is about none). ``worked``: the
    seconds that this worker spent on the peek that it answers."""

    incarnation: DataflowNumber
    response: Response
    worked: float = 0.0


class FromWorker(Message, frozen=True, eq=False):
    """To the multiplexer: what a worker answers, in order, on the connection named by ``nonce``."""

    worker: int
    nonce: Nonce
    responses: tuple[Tagged, ...]


class Barrier(Message, frozen=True, eq=False):
    """To the multiplexer, which passes it on to every worker and resolves ``reply`` when all have handled everything
    that was sent before it; their responses to that were passed on by then. For scripts and tests."""

    reply: OneShot[None]


class BarrierReached(Message, frozen=True, eq=False):
    """To the multiplexer: this worker has handled everything before a barrier."""

    barrier: Barrier


class ReadCounters(Message, frozen=True, eq=False):
    """To a worker, asked: what it has and has done, as numbers by name (``dict[str, int]``). For scripts and tests."""


class OpenPublication(Message, frozen=True, eq=False):
    """To the worker that maintains an index: share it. ``reply`` gets this worker's :class:`Publication`, which stays
    open until the index is dropped, or a :class:`~pillion.messages.errors.ProtocolError` when it has no such index."""

    id: GlobalId
    reply: OneShot[Publication]
