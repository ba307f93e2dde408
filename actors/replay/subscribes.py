"""Comparing what two runs of one subscription told, however it was cut into batches."""

from __future__ import annotations

from ...dataflow.arrangements.updates import Updates, concat_updates
from ...messages.frontiers import Frontier, Timestamp, less_than, minimum, show_frontier
from ...messages.responses import DroppedAt, SubscribeBatch
from ...messages.types import Schema
from ..peeks.blocks import updates_of
from .peeks import rows_verdict
from .rows import leftover
from .verdict import SAME, Outcome, Verdict

_FEW_UPDATES = 1 << 14


class SubscribeComparison:
    """The batches that were recorded, and those that came again.

    Invariant: ``_parts`` together are recorded minus replayed updates. What is equal cancels out whenever there are
    many, so that memory is needed for what one side has told and the other has not yet.
    """

    __slots__ = ("_error", "_keep", "_parts", "_schema", "_size", "error", "recorded", "replayed")

    def __init__(self, schema: Schema, as_of: Timestamp) -> None:
        self._schema = schema
        self._parts: list[Updates] = []
        self._size = 0
        self._keep = _FEW_UPDATES
        self.recorded: Frontier = as_of
        """Up to where batches were recorded."""
        self.replayed: Frontier = as_of
        self.error: str | None = None
        """The first error that was recorded, and the first one that came again, with the end of its batch."""
        self._error: tuple[Frontier, str] | None = None

    def record(self, result: SubscribeBatch | DroppedAt) -> None:
        """Take the next batch of the recording."""
        if isinstance(result, SubscribeBatch):
            self.recorded = result.upper
            self.error = self.error or result.error
            self._add(result, 1)

    def replay(self, result: SubscribeBatch | DroppedAt) -> None:
        """Take the next batch of this run."""
        if isinstance(result, SubscribeBatch):
            self.replayed = result.upper
            if self._error is None and result.error is not None:
                self._error = (result.upper, result.error)
            self._add(result, -1)

    @property
    def is_behind(self) -> bool:
        """Whether this run has not told yet what was recorded."""
        return less_than(self.replayed, self.recorded)

    @property
    def kept(self) -> int:
        """How many updates it keeps."""
        return self._size

    def verdict(self, *, dropped: bool = False) -> Verdict:
        """Compare everything before both uppers. ``dropped``: this run was to tell no more, however far it had come."""
        if self.is_behind and not dropped:
            upper = f"up to {show_frontier(self.recorded)}"
            return Verdict(
                Outcome.MISSING, (upper,), (f"up to {show_frontier(self.replayed)}",), "not as far as recorded"
            )
        if self.error is None and self._error is not None and not less_than(self.recorded, self._error[0]):
            return Verdict(Outcome.DIFFERENT, (), (f"error: {self._error[1]}",), "an error that was not recorded")
        if self.error is not None and self._error is None and not self.is_behind:
            return Verdict(Outcome.DIFFERENT, (f"error: {self.error}",), (), "no error this time")
        self._consolidate()
        common = minimum((self.recorded, self.replayed))
        early = [part.before(common) for part in self._parts]
        found = [part for part in early if len(part)]
        return rows_verdict(leftover(found[0], with_times=True)) if found else SAME

    def _add(self, batch: SubscribeBatch, sign: int) -> None:
        if not batch.updates.num_rows:
            return
        updates = updates_of(batch.updates, self._schema)
        self._parts.append(updates if sign > 0 else updates.negate())
        self._size += len(updates)
        if self._size > self._keep:
            self._consolidate()
            self._keep = max(_FEW_UPDATES, 2 * self._size)

    def _consolidate(self) -> None:
        if self._parts:
            rest = concat_updates(self._parts).consolidate()
            self._parts = [rest] if len(rest) else []
            self._size = len(rest)
