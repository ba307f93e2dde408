"""Since when collections are readable: policies, holds, and how far each may compact.

Invariant: a collection's ``since`` is no later than that of what is computed from it, so that it could be computed
again, and no later than any hold.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId

Token = str
"""Names a hold: the uuid of a peek, the id of a subscription, or what :class:`~..requests.Held` says."""


@dataclass(slots=True)
class Readable:
    """A collection that can be read: a table, a materialized view, or an index.

    Attributes:
        lag: how many timestamps before the last sealed one stay readable; None: all.
        imports: what it is computed from directly.
        dropped: nobody may begin to use it; it stays as long as others need it.
        seen: the latest time that a serializable read of it alone has seen; moved by :meth:`see`.
    """

    id: GlobalId
    since: Timestamp
    lag: int | None
    imports: tuple[GlobalId, ...] = ()
    holds: dict[Token, Timestamp] = field(default_factory=dict[Token, Timestamp])
    dropped: bool = False
    seen: Timestamp = 0

    def see(self, time: Timestamp) -> Timestamp:
        """A serializable read has seen a time, or is about to: the latest one that any has seen. Also called by threads
        that read an index where it lies, which may be ahead of what was reported to the controller."""
        with _SEEING:
            self.seen = max(self.seen, time)
            return self.seen


_SEEING = threading.Lock()
"""Held for one comparison, by whoever moves ``seen``."""


def allowed_since(readable: Readable, upper: Frontier) -> Timestamp:
    """How far the policy and the holds of one collection let it compact."""
    since = readable.since
    if readable.lag is not None and upper is not None:
        since = max(since, upper - 1 - readable.lag)
    return min(since, *readable.holds.values()) if readable.holds else since


def compactions(
    readables: Sequence[Readable], upper_of: Callable[[GlobalId], Frontier]
) -> list[tuple[GlobalId, Timestamp]]:
    """The collections that may compact now, and to where; those that use others come before what they use.

    ``readables`` are in order of creation, so what a collection imports comes before it.
    """
    limits: dict[GlobalId, Timestamp] = {}
    result: list[tuple[GlobalId, Timestamp]] = []
    for readable in reversed(readables):
        since = allowed_since(readable, upper_of(readable.id))
        limit = limits.get(readable.id)
        if limit is not None and limit < since:
            since = limit
        # What was promised is not taken back, and what was compacted does not come back.
        since = max(since, readable.since)
        for imported in readable.imports:
            known = limits.get(imported)
            limits[imported] = since if known is None else min(known, since)
        if since > readable.since:
            result.append((readable.id, since))
    return result


def removable(readables: Sequence[Readable]) -> list[GlobalId]:
    """The dropped collections that nobody needs any more; those that use others come before what they use."""
    needed: set[GlobalId] = set()
    result: list[GlobalId] = []
    for readable in reversed(readables):
        if readable.dropped and not readable.holds and readable.id not in needed:
            result.append(readable.id)
        else:
            needed.update(readable.imports)
    return result
