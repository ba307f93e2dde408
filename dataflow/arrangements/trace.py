"""Traces: the handles of indexes on arrangements. Two indexes with one key share the data and compact apart."""

from __future__ import annotations

from ...messages.frontiers import Frontier, Timestamp, less_than, show_frontier
from ...messages.ids import GlobalId
from ...messages.scalars import Scalar
from ...messages.types import SqlType
from .arrangement import Arrangement, Hold
from .publication import Incarnation, Publication
from .snapshot import Snapshot


class Trace:
    """One index's handle on an arrangement.

    Attributes:
        id: the index.
        incarnation: distinguishes this index from an earlier one under the same id.
        key: the key expressions over the visible columns.
        publication: what is shared of it, when it is shared.
    """

    __slots__ = ("_hold", "arrangement", "id", "incarnation", "key", "publication")

    def __init__(
        self,
        id: GlobalId,
        incarnation: Incarnation,
        key: tuple[Scalar, ...],
        arrangement: Arrangement,
        since: Timestamp,
    ) -> None:
        self.id = id
        self.incarnation = incarnation
        self.key = key
        self.arrangement = arrangement
        self._hold = arrangement.hold(since)
        self.publication: Publication | None = None

    @property
    def types(self) -> tuple[SqlType, ...]:
        """The visible columns."""
        return self.arrangement.types[: self.arrangement.arity]

    @property
    def key_types(self) -> tuple[SqlType, ...]:
        return tuple(self.arrangement.types[k] for k in self.arrangement.layout.key)

    @property
    def since(self) -> Frontier:
        """The least time that this index may be read at; empty once it is dropped."""
        return self._hold.time

    @property
    def upper(self) -> Frontier:
        return self.arrangement.upper

    def allow_compaction(self, frontier: Frontier) -> None:
        """No reader of this index needs times before ``frontier``; the empty frontier drops the index.

        Raises:
            ValueError: an earlier call allowed more.
        """
        if less_than(frontier, self._hold.time):
            raise ValueError(
                f"compaction of {self.id} cannot go back "
                f"from {show_frontier(self._hold.time)} to {show_frontier(frontier)}"
            )
        self._hold.downgrade(frontier)
        if frontier is None:
            self._hold.release()
            if self.publication is not None and self.publication.standing_hold is None:
                self.withdraw()

    def hold(self, time: Timestamp) -> Hold:
        """Keep the index readable from ``time`` on, whatever compaction is allowed."""
        return self.arrangement.hold(time)

    def publish(self, *, standing: bool = False) -> Publication:
        """Share the index with other threads, from now on; the same publication every time.

        Args:
            standing: hold it for the other runtime, and share it until that releases it (:meth:`withdraw`), even when
                it is dropped here before; else it is shared until it is dropped.
        """
        if self.publication is None:
            arrangement, since = self.arrangement, self.since
            assert since is not None, "what is dropped is not shared"
            self.publication = Publication(
                self.id,
                self.incarnation,
                self.key,
                arrangement.types,
                arrangement.layout,
                arrangement.snapshot(),
                arrangement.hold(since) if standing else None,
            )
            arrangement.publish(self.publication)
        return self.publication

    def withdraw(self) -> None:
        """Share it no longer, and hold nothing for others."""
        publication = self.publication
        if publication is not None:
            if publication.standing_hold is not None:
                publication.standing_hold.release()
            self.arrangement.withdraw(publication)
            self.publication = None

    def snapshot(self) -> Snapshot:
        return self.arrangement.snapshot()

    def maintain(self, fuel: int) -> bool:
        return self.arrangement.maintain(fuel)

    def sizes(self) -> tuple[int, int, int]:
        """Records, batches and bytes of memory."""
        oks, errs = self.arrangement.oks, self.arrangement.errs
        return (len(oks) + len(errs), len(oks.batches) + len(errs.batches), oks.nbytes + errs.nbytes)
