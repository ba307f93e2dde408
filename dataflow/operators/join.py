"""Join: two arrangements, kept joined.

An interval's output is ``dL × R before it`` plus ``(L before it and dL) × dR``: every pair of updates once, at the
later of their two times. What is *before* is told by time and not by batch, because batches may have been merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...messages.frontiers import Frontier, Timestamp, less_than, minimum
from ..arrangements.batch import Batch
from ..arrangements.updates import Chunk, concat_optional
from .agenda import Agenda
from .arrange import visible
from .closure import Closure, JoinOutput
from .intake import Intake
from .operator import Operator

_PAUSE = 1 << 20
"""So many pairs are made at a time, also when nobody limits the work: then those who read them come first, and they are
not all kept at once."""


class Join(Operator):
    """The pairs of rows of two arrangements with equal keys, through a closure. NULL equals nothing."""

    __slots__ = ("_closure", "_left", "_right", "_started")

    def __init__(self, agenda: Agenda, as_of: Timestamp, left: Intake, right: Intake, closure: Closure) -> None:
        super().__init__(agenda, as_of)
        self._left = left
        self._right = right
        self._closure = closure
        self._started = False

    def run(self, fuel: int | None) -> int:
        if self.work is not None:
            return self.resume(self.work, _PAUSE if fuel is None else fuel)
        lower, available = self.upper, minimum((self._left.upper, self._right.upper))
        if lower is None or not less_than(lower, available):
            return 0
        return self.begin(self._join(lower, available, fuel), _PAUSE if fuel is None else fuel)

    def _join(self, lower: Timestamp, available: Frontier, fuel: int | None) -> Iterator[int]:
        """Emit the output of ``[lower, available)``."""
        left, right = self._left, self._right
        new_left, left_errs = left.take(available)
        new_right, right_errs = right.take(available)
        output: JoinOutput | None = None
        if new_left or new_right:
            output = JoinOutput(self._closure, fuel)
            for pair in self._pairs(new_left, new_right, lower, left.bound(available)):
                for rows in output.add(*pair):
                    if output.is_large:
                        self.emit(Chunk(lower, lower, *output.take()))
                    yield rows
        self._started = True
        left.done(available)
        right.done(available)
        # Once a side is finished, nothing will ever be sought in the other one.
        if left.finished:
            right.release()
        if right.finished:
            left.release()
        oks, errs = (None, None) if output is None else output.take()
        if left_errs or right_errs:
            errs = concat_optional([errs, visible(left_errs, 1), visible(right_errs, 1)])
        self.emit(Chunk(lower, available, oks, errs))

    def _pairs(
        self, new_left: Sequence[Batch], new_right: Sequence[Batch], lower: Timestamp, bound: Frontier
    ) -> Iterator[tuple[Batch, Batch, Frontier, Frontier]]:
        """The batches to match, and the times before which their updates count."""
        # The spines may move on meanwhile.
        left, right = self._left.arrangement.oks.batches, self._right.arrangement.oks.batches
        if self._started:
            # At first nothing is before: all of the right side is new.
            for new in new_left:
                for old in right:
                    if old.lower < lower:
                        yield new, old, None, lower
        for new in new_right:
            for old in left:
                if bound is None or old.lower < bound:
                    yield old, new, bound, None
