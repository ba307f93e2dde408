"""How operators read arrangements: new batches as they are sealed, over the dataflow's ``[as_of, until)``."""

from __future__ import annotations

from ...messages.frontiers import Frontier, Timestamp, less_equal
from ..arrangements.arrangement import Arrangement, Hold, TraceReader
from ..arrangements.batch import Batch


class Intake:
    """The changes of an arrangement that one operator has not done yet.

    It holds the arrangement at the last time that the operator *has* done: so compaction moves what is done to times
    that are done, never to one that is still to come, and both stay distinguishable by time even after their batches
    were merged.
    """

    __slots__ = ("_as_of", "_reader", "_until", "arrangement")

    def __init__(self, arrangement: Arrangement, as_of: Timestamp, until: Frontier) -> None:
        self.arrangement = arrangement
        self._as_of = as_of
        self._until = until
        self._reader: TraceReader = arrangement.follow(as_of)

    @property
    def hold(self) -> Hold:
        """What keeps the arrangement readable for this operator."""
        return self._reader.hold

    @property
    def upper(self) -> Frontier:
        """How far the arrangement is sealed; empty once it is beyond ``until``."""
        upper = self.arrangement.upper
        return None if self._until is not None and less_equal(self._until, upper) else upper

    def bound(self, upper: Frontier) -> Frontier:
        """The time from which on rows are not part of the changes before ``upper``."""
        return self._until if upper is None else upper

    def take(self, upper: Frontier) -> tuple[list[Batch], list[Batch]]:
        """The batches of oks and errs before ``upper`` that were not taken before, with times before ``as_of``
        advanced to it."""
        reader = self._reader
        if not reader.oks and not reader.errs:
            return [], []
        bound = self.bound(upper)
        oks, reader.oks = self._divide(reader.oks, bound)
        errs, reader.errs = self._divide(reader.errs, bound)
        return oks, errs

    def _divide(self, batches: list[Batch], bound: Frontier) -> tuple[list[Batch], list[Batch]]:
        early: list[Batch] = []
        late: list[Batch] = []
        for place, batch in enumerate(batches):
            if bound is not None and batch.lower >= bound:
                late += batches[place:]
                break
            if bound is not None and not less_equal(batch.upper, bound):
                is_late = batch.updates.times >= bound
                if is_late.any():
                    late.append(batch.filter(is_late))
                    batch = batch.filter(~is_late)
            if len(batch):
                early.append(batch.advance(self._as_of))
        return early, late

    @property
    def finished(self) -> bool:
        """No change is left that was not taken, and none will come."""
        return self.upper is None and not self._reader.oks

    def done(self, upper: Frontier) -> None:
        """Everything before ``upper`` was processed."""
        if upper is None:
            self.close()
        else:
            self._reader.hold.downgrade(max(upper - 1, self._as_of))

    def release(self) -> None:
        """Only new batches will be needed, never what was sealed before."""
        self._reader.hold.release()

    def close(self) -> None:
        """Read no more."""
        self._reader.close()
