"""The controller's state, shared by its parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pykka

from ...messages.commands import AllowCompaction, Command
from ...messages.errors import NotReadableError
from ...messages.frontiers import MINIMUM, Frontier, Timestamp, maximum, minimum
from ...messages.history import CommandHistory
from ...messages.ids import GlobalId
from ..errors import ReplicaDown, UnknownCollection
from ..requests import Isolation
from ..settings import Settings
from ..storage.messages import CompactShard, DropShard
from .catalog import Catalog
from .compaction import Readable, Token, compactions, removable
from .replica import ReplicaState
from .timestamps import Input, Oracle, select_timestamp


class ControllerState:
    """What there is, and what the replicas were told.

    Attributes:
        readables: what can be read, in order of creation: tables, materialized views and indexes, and the indexes on
            introspection relations.
        tables, stored: which of them are tables, and which have a shard.
        introspection: which of them are indexes on introspection relations; their times are sealed by reading them.
        history: what a new replica is told.
        settings: the environment's.
    """

    def __init__(self, storage: pykka.ActorRef[Any], compact_later: Callable[[], object]) -> None:
        """``compact_later``: has :meth:`compact` called soon."""
        self._compact_later = compact_later
        self.storage = storage
        self.catalog = Catalog()
        self.oracle = Oracle()
        self.history = CommandHistory()
        self.settings = Settings()
        self.replicas: dict[str, ReplicaState] = {}
        self.readables: dict[GlobalId, Readable] = {}
        self.tables: set[GlobalId] = set()
        self.stored: set[GlobalId] = set()
        self.introspection: set[GlobalId] = set()
        self._user_ids = itertools.count(1)
        self._transient_ids = itertools.count(1)

    def resume(self, latest: Timestamp, next_id: int) -> None:
        """Go on after an earlier system, whose last transaction was at ``latest``, with a journal."""
        self.oracle.resume(latest)
        self._user_ids = itertools.count(next_id)

    def user_id(self) -> GlobalId:
        return GlobalId("u", next(self._user_ids))

    def transient_id(self) -> GlobalId:
        return GlobalId("t", next(self._transient_ids))

    # --- Commands ------------------------------------------------------------------------------------------------

    def send(self, command: Command) -> None:
        """Tell every replica, and remember it for those to come."""
        self.history.append(command)
        self.tell(command)

    def tell(self, command: Command) -> None:
        """Tell every replica that is connected."""
        for replica in self.replicas.values():
            replica.send(command)

    @property
    def down(self) -> ReplicaDown | None:
        """Why nothing can be read now: no replica can be reached, and there is one."""
        reasons = [replica.unavailable for replica in self.replicas.values()]
        return ReplicaDown("; ".join(filter(None, reasons))) if reasons and all(reasons) else None

    # --- Frontiers -----------------------------------------------------------------------------------------------

    def upper(self, id: GlobalId) -> Frontier:
        """How far a readable collection is sealed, as far as is known here."""
        if id in self.tables:
            return self.oracle.latest + 1
        return maximum(replica.upper(id) for replica in self.replicas.values()) if self.replicas else MINIMUM

    def _upper_everywhere(self, id: GlobalId) -> Frontier:
        """How far a readable collection is sealed on every replica that is there: the slowest one may still have to
        begin where the collection is readable now."""
        there = [replica for replica in self.replicas.values() if replica.unavailable is None]
        if id in self.tables or len(there) < 2:
            return self.upper(id)
        return minimum(replica.upper(id) for replica in there)

    def readable(self, id: GlobalId) -> Readable:
        """
        Raises:
            UnknownCollection: nothing readable has this id, or it was dropped.
        """
        found = self.readables.get(id)
        if found is None or found.dropped:
            raise UnknownCollection(id)
        return found

    def select(self, isolation: Isolation, as_of: Timestamp | None, ids: Iterable[GlobalId]) -> Timestamp:
        """The time at which a read of these happens.

        Raises:
            NotReadableError, NotYetReadable: not at the ``as_of`` asked for.
        """
        inputs = [Input(id, self.readables[id].since, self.upper(id)) for id in ids]
        try:
            time = select_timestamp(isolation, as_of, self.oracle.latest, inputs)
        except NotReadableError as error:
            raise NotReadableError(error.id, error.time, error.since, self.catalog.name(error.id)) from None
        if isolation is Isolation.SERIALIZABLE and as_of is None and len(inputs) == 1:
            # What was seen once is not unseen, also when a replica that was lost has not come as far again.
            time = self.readables[inputs[0].id].see(time)
        return time

    def since(self, ids: Iterable[GlobalId]) -> Timestamp:
        """The earliest time at which all of these are readable."""
        return max((self.readables[id].since for id in ids), default=MINIMUM)

    # --- Holds and compaction ------------------------------------------------------------------------------------

    def hold(self, token: Token, ids: Iterable[GlobalId], time: Timestamp) -> None:
        """Keep these readable at ``time`` and later; moves the hold that the token has."""
        for id in ids:
            readable = self.readables.get(id)
            if readable is not None:
                readable.holds[token] = time

    def release(self, token: Token, ids: Iterable[GlobalId]) -> None:
        for id in ids:
            readable = self.readables.get(id)
            if readable is not None:
                readable.holds.pop(token, None)
                if readable.dropped:
                    self._compact_later()  # It was perhaps the last that needed it.

    def compact(self) -> None:
        """Allow everything to compact as far as policies, holds and users let it, and remove what is not needed."""
        readables = list(self.readables.values())
        for id in removable(readables):
            self._remove(id)
        for id, since in compactions(list(self.readables.values()), self._upper_everywhere):
            self.readables[id].since = since
            if id not in self.tables:
                self.send(AllowCompaction(id, since))
            if id in self.stored:
                self.storage.tell(CompactShard(id, since))

    def _remove(self, id: GlobalId) -> None:
        del self.readables[id]
        if id in self.tables:
            self.tables.discard(id)
        else:
            self.send(AllowCompaction(id, None))
            if id in self.stored:
                # Not before: a shard ends where it stands, and readers may need later times than it has.
                self.storage.tell(DropShard(id))
        self.stored.discard(id)
        for replica in self.replicas.values():
            replica.forget(id)
