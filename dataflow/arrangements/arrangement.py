"""Arrangements, and who keeps them from being compacted.

Invariant: ``since <= upper``, both only advance, and ``since`` is no greater than any hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...messages.frontiers import Frontier, Timestamp, less_equal, less_than
from ...messages.types import SqlType
from .batch import Batch, Layout
from .publication import Publication
from .snapshot import Snapshot
from .spine import Spine
from .updates import ERROR_TYPES

ERROR_LAYOUT = Layout(len(ERROR_TYPES), (0,))
"""How errors are arranged: by their message."""


class Hold:
    """A promise that an arrangement stays readable from ``time`` on, until it is moved or released."""

    __slots__ = ("_arrangement", "time")

    def __init__(self, arrangement: Arrangement, time: Frontier) -> None:
        self._arrangement = arrangement
        self.time = time

    def downgrade(self, time: Frontier) -> None:
        """Promise only times from ``time`` on; an earlier one changes nothing."""
        if less_than(self.time, time):
            self.time = time
            self._arrangement.holds_moved = True

    def release(self) -> None:
        """Promise nothing any more."""
        self._arrangement.drop_hold(self)


class TraceReader:
    """Follows an arrangement for one operator.

    Attributes:
        as_of: the first time that the operator tells apart; earlier ones count as this one.
        hold: of the arrangement, at the times that the operator has not done yet.
        oks, errs: the batches that the operator has not taken: at first everything sealed so far, then each new one.
    """

    __slots__ = ("_arrangement", "as_of", "errs", "hold", "oks")

    def __init__(self, arrangement: Arrangement, as_of: Timestamp) -> None:
        self._arrangement = arrangement
        self.as_of = as_of
        self.hold = arrangement.hold(as_of)
        self.oks = list(arrangement.oks.batches)
        self.errs = list(arrangement.errs.batches)

    def close(self) -> None:
        """Follow no longer."""
        self._arrangement.detach(self)
        self.oks.clear()
        self.errs.clear()


class Arrangement:
    """A collection (oks and errs together) indexed by a key, on one worker.

    Args:
        types: SQL types of the columns in the batches: the visible ones, then computed key columns.
        arity: how many columns are visible.
        layout: which of the columns are the key.
        since: the least readable time (the dataflow's ``as_of``).
    """

    __slots__ = (
        "_holds",
        "_publications",
        "_snapshot",
        "arity",
        "errs",
        "holds_moved",
        "layout",
        "oks",
        "published",
        "readers",
        "types",
        "upper",
    )

    def __init__(self, types: Sequence[SqlType], arity: int, layout: Layout, since: Timestamp) -> None:
        self.types = tuple(types)
        self.arity = arity
        self.layout = layout
        self.oks = Spine(layout, since)
        self.errs = Spine(ERROR_LAYOUT, since)
        self.upper: Frontier = since
        self.readers: list[TraceReader] = []
        self._holds: list[Hold] = []
        # Holds move with every interval, often several for one arrangement; what follows from it waits for who asks.
        self.holds_moved = False
        self._snapshot: Snapshot | None = None
        self._publications: tuple[Publication, ...] = ()
        self.published = 0
        """How many states were published."""

    @property
    def merges(self) -> int:
        """How many merges of batches were completed."""
        return self.oks.merges + self.errs.merges

    @property
    def since(self) -> Timestamp:
        """The least readable time."""
        if self.holds_moved:
            self._compact()
        return self.oks.since

    def seal(self, oks: Batch | None, errs: Batch | None, upper: Frontier) -> None:
        """Append the batches of ``[self.upper, upper)``."""
        lower = self.upper
        assert lower is not None and less_equal(lower, upper), (lower, upper)
        if oks is not None and not len(oks):
            oks = None
        if errs is not None and not len(errs):
            errs = None
        if self.holds_moved:
            self._advance_since()
        if oks is not None:
            self.oks.insert(oks)
        if errs is not None:
            self.errs.insert(errs)
        self.upper = upper
        for reader in self.readers:
            if oks is not None:
                reader.oks.append(oks)
            if errs is not None:
                reader.errs.append(errs)
        self._changed()

    def snapshot(self) -> Snapshot:
        """The present state; what was taken stays as it is."""
        if self.holds_moved:
            self._compact()
        snapshot = self._snapshot
        if snapshot is None:
            snapshot = Snapshot(self.layout, self.arity, self.oks.batches, self.errs.batches, self.since, self.upper)
            self._snapshot = snapshot
        return snapshot

    def maintain(self, fuel: int) -> bool:
        """Merge about ``fuel`` rows while nobody waits; whether there is more to do."""
        if self.holds_moved:
            self._compact()
        before = self.oks.batches, self.errs.batches
        more = self.oks.tidy(fuel)
        if not more and self.errs.batches:
            more = self.errs.tidy(fuel)
        if self.oks.batches is not before[0] or self.errs.batches is not before[1]:
            self._changed()
        return more

    def follow(self, as_of: Timestamp) -> TraceReader:
        """A reader of everything from ``as_of`` on, whose batches may have earlier times, which stand for ``as_of``.

        Raises:
            ValueError: the arrangement was compacted past ``as_of`` already.
        """
        reader = TraceReader(self, as_of)
        self.readers.append(reader)
        return reader

    def detach(self, reader: TraceReader) -> None:
        """Give a reader no more batches, and let go of its hold."""
        if reader in self.readers:
            self.readers.remove(reader)
        self.drop_hold(reader.hold)

    def hold(self, time: Timestamp) -> Hold:
        """Keep the arrangement readable from ``time`` on.

        Raises:
            ValueError: it was compacted past ``time`` already.
        """
        if time < self.since:
            raise ValueError(f"cannot hold {time}: the arrangement is compacted to {self.since}")
        hold = Hold(self, time)
        self._holds.append(hold)
        return hold

    @property
    def holds(self) -> tuple[Hold, ...]:
        """Who needs it: index handles, readers and peeks."""
        return tuple(self._holds)

    def drop_hold(self, hold: Hold) -> None:
        """Forget a hold, if it is not forgotten already."""
        if hold in self._holds:
            self._holds.remove(hold)
            self.holds_moved = True

    def publish(self, publication: Publication) -> None:
        """Keep a publication up to date from now on."""
        self._publications = (*self._publications, publication)
        publication.replace(self.snapshot())

    def withdraw(self, publication: Publication) -> None:
        """Close a publication, whose readers find nothing more in it."""
        self._publications = tuple([p for p in self._publications if p is not publication])
        publication.close()

    def _compact(self) -> None:
        if self._advance_since():
            self._changed()

    def _advance_since(self) -> bool:
        """Compact, logically, as far as the holds allow: never past what is sealed. Whether anything changed."""
        self.holds_moved = False
        least: Frontier = self.upper
        for hold in self._holds:
            time = hold.time
            if time is not None and (least is None or time < least):
                least = time
        if least is None or least <= self.oks.since:
            return False
        self.oks.advance_since(least)
        self.errs.advance_since(least)
        return True

    def _changed(self) -> None:
        self._snapshot = None
        if self._publications:
            self._publish()

    def _publish(self) -> None:
        snapshot = self.snapshot()
        self.published += 1
        for publication in self._publications:
            publication.replace(snapshot)
