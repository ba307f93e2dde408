"""Join: two arrangements, kept joined.

An interval's output is ``dL × R before it`` plus ``(L before it and dL) × dR``: every pair of updates once, at the
later of their two times. What is *before* is told by time and not by batch, because batches may have been merged.
"""

from __future__ import annotations

from ...messages.frontiers import Timestamp, less_than, minimum
from ..arrangements.updates import Chunk, concat_optional
from .agenda import Agenda
from .arrange import visible
from .closure import Closure, JoinOutput
from .intake import Intake
from .operator import Operator


class Join(Operator):
    """The pairs of rows of two arrangements with equal keys, through a closure. NULL equals nothing."""

    __slots__ = ("_closure", "_left", "_right", "_started")

    def __init__(self, agenda: Agenda, as_of: Timestamp, left: Intake, right: Intake, closure: Closure) -> None:
        super().__init__(agenda, as_of)
        self._left = left
        self._right = right
        self._closure = closure
        self._started = False

    def run(self) -> bool:
        left, right = self._left, self._right
        lower, available = self.upper, minimum((left.upper, right.upper))
        if lower is None or not less_than(lower, available):
            return False
        new_left, left_errs = left.take(available)
        new_right, right_errs = right.take(available)
        output: JoinOutput | None = None
        if new_left or new_right:
            output = JoinOutput(self._closure)
            if self._started:
                # At first nothing is before: all of the right side is new.
                for new in new_left:
                    for old in right.arrangement.oks.batches:
                        if old.lower < lower:
                            output.add(new, old, None, lower)
            bound = left.bound(available)
            for new in new_right:
                for old in left.arrangement.oks.batches:
                    if bound is None or old.lower < bound:
                        output.add(old, new, bound, None)
        self._started = True
        left.done(available)
        right.done(available)
        # Once a side is finished, nothing will ever be sought in the other one.
        if left.finished:
            right.release()
        if right.finished:
            left.release()
        errs = None
        if left_errs or right_errs or (output is not None and output.errs):
            failed = [] if output is None else output.errs
            errs = concat_optional([*failed, visible(left_errs, 1), visible(right_errs, 1)])
        self.emit(Chunk(lower, available, None if output is None else output.oks(), errs))
        return True
