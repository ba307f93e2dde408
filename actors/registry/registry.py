"""The sharing registry of a process with two runtimes.

It brings together a publication and its reader, once each; everything after that goes over the publication itself,
without a message: the publisher replaces its snapshot and wakes who waits, the reader moves its standing hold.

A *slot* is an index, its incarnation and a worker. Both runtimes hear the same commands and derive the same slots from
them, so a bundle meets its own incarnation only, whichever of the two runtimes is ahead.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pykka

from ...dataflow.arrangements.publication import Incarnation, Publication
from ...messages.ids import GlobalId
from ..dispatch.base import SystemActor
from .messages import Acquire, Bound, CountSlots, Publish, Release, Released

_Slot = tuple[GlobalId, Incarnation, int]


class _Entry:
    """What was heard of one slot."""

    __slots__ = ("publication", "publisher", "reader", "released")

    def __init__(self) -> None:
        self.publication: Publication | None = None
        self.publisher: pykka.ActorRef[Any] | None = None
        self.reader: pykka.ActorRef[Any] | None = None
        self.released = False


class SharingRegistry(SystemActor):
    """Hears of publications and of those who want them, in any order.

    Invariant: a slot is published once, acquired once and released once; whoever acquired is told of the publication
    unless it released before, and every publisher is told when it may withdraw. Then the slot is forgotten.
    """

    is_brief: ClassVar = True

    handlers: ClassVar = {
        Publish: "publish",
        Acquire: "acquire",
        Release: "reader_left",
        CountSlots: "count",
    }

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[_Slot, _Entry] = {}

    def publish(self, message: Publish) -> None:
        publication = message.publication
        slot = (publication.id, publication.incarnation, message.worker)
        entry = self._entry(slot)
        assert entry.publication is None, f"{slot} is published twice"
        entry.publication = publication
        entry.publisher = message.publisher
        self._advance(slot, entry)

    def acquire(self, message: Acquire) -> None:
        slot = (message.id, message.incarnation, message.worker)
        entry = self._entry(slot)
        assert entry.reader is None, f"{slot} is acquired twice"
        entry.reader = message.reader
        self._advance(slot, entry)

    def reader_left(self, message: Release) -> None:
        slot = (message.id, message.incarnation, message.worker)
        entry = self._entries[slot]
        entry.released = True
        self._advance(slot, entry)

    def count(self, message: CountSlots) -> int:
        return len(self._entries)

    def _entry(self, slot: _Slot) -> _Entry:
        return self._entries.setdefault(slot, _Entry())

    def _advance(self, slot: _Slot, entry: _Entry) -> None:
        publication, publisher, reader = entry.publication, entry.publisher, entry.reader
        if publication is None or publisher is None or reader is None:
            return
        if entry.released:
            del self._entries[slot]
            publisher.tell(Released(publication.id, publication.incarnation))
        else:
            reader.tell(Bound(publication))
