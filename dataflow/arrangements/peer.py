"""Peer arrangements: an arrangement that a worker of another runtime maintains, as this worker reads it.

It stands in the same place as an arrangement of its own: operators follow it, peeks read it, indexes re-use it. What it
holds are the batches of the publication's snapshot that it took last; nothing is copied and nothing is merged here.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...messages.frontiers import Frontier, Timestamp, is_sealed, less_equal, less_than, maximum, show_frontier
from ...messages.types import SqlType
from .arrangement import Arrangement, Hold, TraceReader
from .batch import Batch, Layout
from .publication import Publication


class PeerArrangement(Arrangement):
    """A peer's arrangement, bound to its publication now or later.

    Before it is bound it stands where an arrangement stands that was just made: sealed up to its since, empty. It
    changes in :meth:`refresh` alone, so an operator that runs sees one state.

    Invariant (I1): ``since`` is no later than the least hold of its readers, which is passed on to the publisher as the
    *standing hold* of the publication.

    Args:
        types, arity, layout, since: as the arrangement of the publisher begins.
    """

    __slots__ = ("_taken", "_told", "publication")

    def __init__(self, types: Sequence[SqlType], arity: int, layout: Layout, since: Timestamp) -> None:
        super().__init__(types, arity, layout, since)
        self.publication: Publication | None = None
        self._taken: Frontier = since
        """How far what was taken was sealed by the publisher."""
        self._told: Frontier = since
        """The hold that the publisher has, or is going to have once this is bound."""

    def bind(self, publication: Publication) -> None:
        """Read this publication from now on, from the next :meth:`refresh`."""
        assert self.publication is None, "an incarnation is published once"
        assert (publication.types, publication.layout) == (self.types, self.layout), (publication.id, self.types)
        self.publication = publication
        self._hold_back(self._told)

    def refresh(self) -> bool:
        """Take the present state of the publication; whether it has moved."""
        publication = self.publication
        if publication is None:
            return False
        snapshot = publication.snapshot
        # Looked at second: what is closed was replaced after it was marked.
        if snapshot is self._snapshot or publication.closed:
            return False
        self._assert_readable(snapshot.since)
        for reader in self.readers:
            self._give(reader, reader.oks, snapshot.oks)
            self._give(reader, reader.errs, snapshot.errs)
        self.oks.batches = snapshot.oks
        self.errs.batches = snapshot.errs
        self.oks.since = self.errs.since = snapshot.since
        self._taken = snapshot.upper
        self.upper = maximum((self.upper, snapshot.upper))
        self._snapshot = snapshot
        self.holds_moved = True
        return True

    def claim(self, time: Timestamp) -> None:
        """Take the present state for the state at ``time``, though the publisher has not sealed it: for collections
        that tell what is, and of which an old answer is better than a late one. What the publisher has sealed before
        and tells later counts as if it happened after ``time``."""
        if not is_sealed(self.upper, time):
            self.upper = time + 1
            self.holds_moved = True

    @property
    def held(self) -> Frontier:
        """What this worker holds of the peer: the least time that any reader may still need; empty when none does."""
        if self.holds_moved:
            self._compact()
        return self._told

    def hold(self, time: Timestamp) -> Hold:
        if less_than(time, self.held):
            raise ValueError(f"cannot hold {time}: the peer is held at {show_frontier(self._told)} already")
        return super().hold(time)

    def maintain(self, fuel: int) -> bool:
        """Merging is the publisher's."""
        return False

    def _advance_since(self) -> bool:
        """Tell the publisher how far it may compact. What it makes of that comes with a later state."""
        self.holds_moved = False
        least: Frontier = None
        for hold in self.holds:
            if less_than(hold.time, least):
                least = hold.time
        if self._taken is not None and any(less_than(reader.as_of, self.upper) for reader in self.readers):
            # What was given out and what comes after it must stay apart by time.
            given = max(self._taken - 1, 0)
            least = given if least is None else min(given, least)
        if less_than(self._told, least):
            self._told = least
            if self.publication is not None:
                self._hold_back(least)
        return False

    def _hold_back(self, time: Frontier) -> None:
        assert self.publication is not None and self.publication.standing_hold is not None
        self.publication.standing_hold.downgrade(time)

    def _assert_readable(self, since: Timestamp) -> None:
        assert less_equal(since, self._told), (
            f"{self.publication and self.publication.id} was compacted to {since}, though it is held at {self._told}"
        )

    def _give(self, reader: TraceReader, mine: list[Batch], batches: tuple[Batch, ...]) -> None:
        """Append to what a reader has not taken what the publisher has sealed since this worker looked last, out of
        batches that may have been merged with earlier ones."""
        lower, upper = self._taken, self.upper
        if lower is None or upper is None:
            return
        if reader.as_of >= upper:
            # It has taken nothing yet: everything before its as_of is one to it.
            mine[:] = batches
            return
        for batch in batches:
            if batch.lower < lower:
                if not less_than(lower, batch.upper):
                    continue
                batch = batch.filter(batch.updates.times >= lower)
            if len(batch):
                mine.append(batch if lower == upper else _not_before(batch, upper))


def _not_before(batch: Batch, time: Timestamp) -> Batch:
    """The batch as one of changes from ``time`` on."""
    late = batch.advance(time)
    lower, upper = max(batch.lower, time), maximum((batch.upper, time + 1))
    return Batch(late.layout, late.order, late.updates, lower, upper, late.since)
