"""One shard: its schema, its frontiers, its updates and errors."""

from __future__ import annotations

import numpy as np

from ...dataflow.arrangements.arrangement import ERROR_LAYOUT
from ...dataflow.arrangements.batch import Layout
from ...dataflow.arrangements.updates import Chunk, Updates, concat_optional, error_messages
from ...dataflow.columns.grouping import shard_of
from ...messages.errors import NotReadableError
from ...messages.frontiers import Frontier, Timestamp, is_beyond
from ...messages.ids import GlobalId
from ...messages.types import Schema
from .contents import Arranged, Contents, Log


class Timeline:
    """How far all tables are written, and the upper that they share: up to where that may be read. With a journal,
    what is written is readable once it is durable."""

    def __init__(self, upper: Timestamp) -> None:
        self.upper = upper
        self.written = upper


class Shard:
    """Invariant: ``since <= upper``; both only advance; every update has a time before ``upper``.

    Attributes:
        name: what errors call it.
        key: positions of the columns that are unique together; empty when there is no such rule.
        layout: how its contents are arranged, once they are: by the key, or by whole rows.
        timeline: for a table, what its upper is; other shards have their own.
    """

    def __init__(
        self,
        id: GlobalId,
        schema: Schema,
        *,
        since: Timestamp = 0,
        upper: Frontier = 0,
        name: str | None = None,
        key: tuple[int, ...] = (),
        timeline: Timeline | None = None,
    ) -> None:
        self.id = id
        self.schema = schema
        self.since = since
        self.name = name or str(id)
        self.key = key
        self.timeline = timeline
        self._upper = upper
        self.layout = Layout(schema.arity, key or tuple(range(schema.arity)))
        self._oks: Contents = Arranged(self.layout, since) if key else Log(since)
        self._errs = Arranged(ERROR_LAYOUT, since)

    @property
    def upper(self) -> Frontier:
        return self._upper if self.timeline is None else self.timeline.upper

    @property
    def written(self) -> Frontier:
        """How far it is written; at least up to its upper."""
        return self._upper if self.timeline is None else self.timeline.written

    @property
    def oks(self) -> Contents:
        return self._oks

    @property
    def arranged(self) -> Arranged:
        """The contents by key (by whole row when there is none); arranged now if they were not."""
        if not isinstance(self._oks, Arranged):
            self._oks = Arranged.of(self._oks, self.layout, self.since, self.written)
        return self._oks

    def append(self, oks: Updates | None, errs: Updates | None, upper: Frontier) -> None:
        """Add the updates of ``[self.written, upper)``."""
        lower = self.written
        assert lower is not None, "a shard with the empty upper is never written again"
        if oks is not None and len(oks):
            self._contents_for(oks).append(oks, lower, upper)
        if errs is not None and len(errs):
            self._errs.append(errs, lower, upper)
        self._upper = upper

    def amend(self, oks: Updates, lower: Timestamp) -> None:
        """Add updates with times from ``lower`` on to what is written."""
        self._contents_for(oks).append(oks, lower, self.written)

    def _contents_for(self, oks: Updates) -> Contents:
        """The contents, in the form that takes these updates."""
        return self._oks if isinstance(self._oks, Arranged) or _only_inserts(oks) else self.arranged

    def compact(self, since: Timestamp) -> None:
        if since > self.since:
            self.since = since
            self._oks.advance_since(since)
            self._errs.advance_since(since)

    def snapshot(self, as_of: Timestamp, worker: int, workers: int) -> Chunk:
        """A worker's share of everything before the upper; times up to ``as_of`` are advanced to it.

        Raises:
            NotReadableError: the shard is compacted past ``as_of``.
        """
        if is_beyond(self.since, as_of):
            raise NotReadableError(self.id, as_of, self.since)
        oks = self._oks.everything()
        if oks is not None and self.written != self.upper:
            oks = oks.before(self.upper)
            oks = oks if len(oks) else None
        return Chunk(
            0,
            self.upper,
            _advanced(share(oks, worker, workers), as_of),
            _advanced(share(self._errs.everything(), worker, workers), as_of),
        )

    def read(self, time: Timestamp) -> tuple[Updates | None, str | None]:
        """The rows at one time with their multiplicities, or an error that the collection has then.

        Raises:
            NotReadableError: the shard is compacted past ``time``.
        """
        if is_beyond(self.since, time):
            raise NotReadableError(self.id, time, self.since)
        errors = at(self._errs, time)
        if errors is not None:
            return None, min(error_messages(errors))
        return at(self._oks, time), None

    @property
    def is_tidied(self) -> bool:
        """Whether there may be something to tidy: rows that only came are left as they came."""
        return isinstance(self._oks, Arranged)

    def maintain(self, fuel: int) -> bool:
        """Tidy about ``fuel`` rows; whether there is more to do."""
        return self._oks.maintain(fuel) or self._errs.maintain(fuel)


def at(contents: Contents, time: Timestamp) -> Updates | None:
    """The consolidated rows at one time; None when there are none."""
    updates = concat_optional([part.before(time + 1) for part in contents.parts()])
    if updates is None:
        return None
    rows = updates.at(time).consolidate()
    return rows if len(rows) else None


def share(updates: Updates | None, worker: int, workers: int) -> Updates | None:
    """The rows that are this worker's, by their hash; None when there are none.

    A row's worker depends on the row alone. The workers subscribe at different moments, between which there may be
    commits and merges: cut by position, a row could be in the snapshots of two of them, or of none.
    """
    if updates is None or workers == 1:
        return updates
    part = updates.filter(shard_of(updates.columns, len(updates), workers) == worker)
    return part if len(part) else None


def _advanced(updates: Updates | None, as_of: Timestamp) -> Updates | None:
    return None if updates is None else updates.advance(as_of)


def _only_inserts(updates: Updates) -> bool:
    diffs = updates.diffs
    return bool(diffs[0] > 0) if diffs.strides == (0,) else bool(np.min(diffs) > 0)
