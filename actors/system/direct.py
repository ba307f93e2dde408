"""Lookups on the application's own thread, without a message, where the worker publishes its index.

Any thread may read a publication; so a lookup takes the snapshot that is published and reads it where it lies. It is
the same read as one through the actors: at the same time, of the same rows, refused for the same reasons.
"""

from __future__ import annotations

from typing import NamedTuple

from ...dataflow.arrangements.publication import Publication
from ...dataflow.arrangements.snapshot import NegativeMultiplicity, Snapshot
from ...dataflow.columns.column import column_from_values
from ...dataflow.columns.grouping import shard_of
from ...messages.errors import CollectionError, PillionError
from ...messages.frontiers import Timestamp, is_sealed
from ...messages.ids import GlobalId
from ...messages.scalars import Literal
from ...messages.types import Schema
from ..dispatch.oneshot import OneShot
from ..errors import UnknownCollection
from ..requests import Isolation, OpenReader, ReaderOpened
from ..worker.messages import OpenPublication
from .connection import Connection
from .reading import ReadOptions
from .result import Result

_ATTEMPTS = 3
"""So often it is tried: each time, another transaction may be followed by compaction past the time of the read."""


class _Reading(NamedTuple):
    """What was opened, and what every worker publishes of it; nothing when that has to be asked for."""

    opened: ReaderOpened
    publications: tuple[Publication, ...]


class DirectReader:
    """Reads one index of a system in this process."""

    __slots__ = ("_connection", "_id", "_name", "_reading", "_schema")

    def __init__(self, connection: Connection, id: GlobalId, name: str, schema: Schema) -> None:
        self._connection = connection
        self._id = id
        self._name = name
        self._schema = schema
        self._reading: _Reading | None = None
        """Replaced as a whole, because several threads may use one index."""

    def lookup(self, key: tuple[Literal, ...], options: ReadOptions) -> Result | None:
        """The rows with this key. None when it has to be asked for: the index is not in this process or not published
        yet, it was made anew, or it is read at an explicit time.

        Raises:
            SystemStopped, SystemFailed: nothing is read any more.
            UnknownCollection: the index was dropped.
            CollectionError: the index has an error at this time.
        """
        if options.as_of is not None or options.timeout is not None:
            return None
        self._connection.check()
        reading = self._reading
        if reading is None or not reading.publications or any(p.closed for p in reading.publications):
            reading = self._reading = self._open()
            if not reading.publications:
                return None
        opened, publications = reading
        if opened.readable.dropped:
            raise UnknownCollection(self._id)
        types = publications[0].key_types
        columns = tuple([column_from_values([part.value], type) for part, type in zip(key, types, strict=True)])
        owner = int(shard_of(columns, 1, len(publications))[0]) if len(publications) > 1 else 0
        for _ in range(_ATTEMPTS):
            time = latest = opened.oracle.latest
            if options.isolation is not Isolation.STRICT_SERIALIZABLE:
                time = max(_latest_sealed(publications, time), opened.readable.seen)
            if time > latest:
                continue  # What was withdrawn meanwhile is readable at no time that there is.
            snapshots = [self._sealed(publication, time) for publication in publications]
            if any(snapshot.since > time for snapshot in snapshots):
                continue
            # Whichever worker has the row: an error of any row is one of the whole collection.
            for snapshot in snapshots:
                message = snapshot.error_at(time) if snapshot.errs else None
                if message is not None:
                    raise CollectionError(self._id, time, message, repr(self._name))
            snapshot = snapshots[owner]
            try:
                rows = snapshot.few_rows(columns, time)
                found = rows if rows is not None else snapshot.lookup(columns, time)
            except NegativeMultiplicity as error:
                raise CollectionError(self._id, time, str(error), repr(self._name)) from None
            if options.isolation is not Isolation.STRICT_SERIALIZABLE:
                opened.readable.see(time)
            self._connection.lookups.add()
            return Result(time, self._schema, found)
        return None

    def _sealed(self, publication: Publication, time: Timestamp) -> Snapshot:
        """A state that is sealed at a time. What is waited for is worked on meanwhile."""
        snapshot = publication.snapshot
        if not is_sealed(snapshot.upper, time):
            sealed: OneShot[None] = self._connection.reply()
            if not publication.wait(time, lambda: sealed.resolve(None)):
                self._connection.wait_for(sealed)
            snapshot = publication.snapshot
        return snapshot

    def _open(self) -> _Reading:
        """Ask for the publications of every worker that maintains the index."""
        if self._reading is not None:
            opened = self._reading.opened
        else:
            opened = self._connection.ask(lambda reply: OpenReader(index=self._id, reply=reply))
        replies: list[OneShot[Publication]] = []
        for worker in opened.workers:
            reply: OneShot[Publication] = self._connection.reply()
            worker.tell(OpenPublication(self._id, reply))
            replies.append(reply)
        try:
            return _Reading(opened, tuple([self._connection.wait_for(reply) for reply in replies]))
        except PillionError:
            self._connection.check()
            return _Reading(opened, ())  # Its dataflow is on its way.


def _latest_sealed(publications: tuple[Publication, ...], latest: Timestamp) -> Timestamp:
    """The latest time at which every worker can read, or the earliest at which it will."""
    snapshots = [publication.snapshot for publication in publications]
    sealed = min([snapshot.upper - 1 for snapshot in snapshots if snapshot.upper is not None], default=latest)
    return max(min(sealed, latest), *[snapshot.since for snapshot in snapshots])
