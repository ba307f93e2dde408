"""The materialized-view sink: keeps a shard equal to a collection.

One worker, the *owner*, gathers what all workers have of the collection and writes it. It follows the shard as well,
and so knows the difference between what the shard should be (*desired*) and what it is (*persisted*): that difference,
and nothing else, is what it writes. So whatever the shard has that it should not is corrected, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Callable

from ...dataflow.arrangements.updates import Chunk, Updates, concat_updates
from ...messages.frontiers import MINIMUM, Frontier, Timestamp, less_than
from ...messages.ids import GlobalId
from ..storage.messages import CompareAndAppend
from .appends import Answer, Appends
from .feeds import Take
from .gathering import GatheringSink
from .link import Link
from .messages import DataflowNumber


class MaterializedViewSink(GatheringSink):
    """One worker's end of the sink; the owner's does the writing.

    Invariant: at most one append is under way, and none before the shard's changes up to the last one were heard of.
    """

    reports_frontiers = True

    def __init__(
        self,
        link: Link,
        appends: Appends,
        follow: Callable[[Take], None],
        dataflow: DataflowNumber,
        id: GlobalId,
        shard: GlobalId,
        as_of: Timestamp,
    ) -> None:
        """``follow`` subscribes a consumer to all of the shard."""
        super().__init__(link, dataflow, id, as_of, owner=id.number % len(link.fellows))
        self._appends = appends
        self._follow = follow
        self._shard = shard
        self._read_only = True
        self._desired: Frontier = as_of
        self._persisted: Frontier = MINIMUM
        self._followed = False
        """Whether the shard's snapshot has come, so that the difference is known."""
        self._appended: Frontier = MINIMUM
        """The shard's upper as the storage said last; changes up to it are still to be heard of."""
        self._appending = False
        self._oks = _Difference()
        self._errs = _Difference()

    @property
    def write_frontier(self) -> Frontier:
        # The shard is one: the owner speaks for it, and the others do not hold it back.
        return self._persisted if self.is_owner else None

    def start(self) -> None:
        if self.is_owner:
            self._follow(self.persisted)

    def gathered(self, chunk: Chunk, upper: Frontier) -> None:
        self._oks.add(chunk.oks)
        self._errs.add(chunk.errs)
        self._desired = upper
        self._append()

    def persisted(self, chunk: Chunk) -> None:
        """The next changes of the shard; the first chunk is its snapshot."""
        self._oks.add(None if chunk.oks is None else chunk.oks.negate())
        self._errs.add(None if chunk.errs is None else chunk.errs.negate())
        self._persisted = chunk.upper
        self._followed = True
        self._append()

    def allow_writes(self) -> None:
        self._read_only = False
        self._append()

    def answered(self, answer: Answer) -> None:
        """What became of the append that was under way."""
        self._appending = False
        self._appended = answer.upper
        self._append()

    def drop(self) -> None:
        self._read_only = True

    def _append(self) -> None:
        """Write the difference, when that is allowed and the shard's state is known."""
        if self._read_only or self._appending or not self._followed or less_than(self._persisted, self._appended):
            return
        lower, upper = self._persisted, self._desired
        if lower is None or not less_than(lower, upper):
            return
        self._appending = True
        oks = self._oks.settle(lower, upper)
        errs = self._errs.settle(lower, upper)
        append = CompareAndAppend(self._shard, lower, upper, oks, self._link.own, errs)
        self._appends.send(append, self.answered)


class _Difference:
    """Desired minus persisted."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[Updates] = []

    def add(self, updates: Updates | None) -> None:
        if updates is not None and len(updates):
            self._parts.append(updates)

    def settle(self, lower: Timestamp, upper: Frontier) -> Updates | None:
        """The difference at times before ``upper``, none before ``lower``; None when there is none. It stays part of
        the difference until the shard's own changes cancel it."""
        if not self._parts:
            return None
        difference = concat_updates(self._parts).advance(lower).consolidate()
        self._parts = [difference] if len(difference) else []
        early = difference.before(upper)
        return early if len(early) else None
