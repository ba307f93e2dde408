"""What the sharing registry hears and tells."""

from __future__ import annotations

from typing import Any

import msgspec
import pykka

from ...dataflow.arrangements.publication import Incarnation, Publication
from ...messages.ids import GlobalId


class Message(msgspec.Struct, frozen=True, eq=False):
    """Base of the messages here."""


class Publish(Message, frozen=True, eq=False):
    """From the worker that maintains an index: here it is."""

    worker: int
    publication: Publication
    publisher: pykka.ActorRef[Any]


class Acquire(Message, frozen=True, eq=False):
    """From worker ``worker`` of the runtime that reads: it wants the publication of this incarnation of an index on the
    worker of the same number, once it is there."""

    worker: int
    id: GlobalId
    incarnation: Incarnation
    reader: pykka.ActorRef[Any]


class Bound(Message, frozen=True, eq=False):
    """To who acquired: the publication."""

    publication: Publication


class Release(Message, frozen=True, eq=False):
    """From who acquired, whether it was bound or not: it needs the publication no more."""

    worker: int
    id: GlobalId
    incarnation: Incarnation


class Released(Message, frozen=True, eq=False):
    """To the publisher: nobody reads this incarnation of an index any more, and nobody will."""

    id: GlobalId
    incarnation: Incarnation


class CountSlots(Message, frozen=True, eq=False):
    """Asked: how many publications there are or are waited for (``int``). For tests."""
