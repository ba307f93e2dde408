"""Merging the frontiers that workers report: by minimum, told only when the minimum moves."""

from __future__ import annotations

from ...messages.frontiers import Frontier, minimum
from ...messages.ids import GlobalId
from ...messages.responses import Frontiers

Moved = tuple[Frontier] | None


class FrontierMerge:
    """The frontiers of one collection on all workers.

    Invariant: what was merged so far never regresses, and the empty frontier is told once. A worker that has not
    reported yet stands at the minimum frontier, so nothing is told before all have.
    """

    __slots__ = ("_id", "_input", "_output", "_write")

    def __init__(self, id: GlobalId, workers: int) -> None:
        self._id = id
        self._write = _Kind(workers)
        self._input = _Kind(workers)
        self._output = _Kind(workers)

    def absorb(self, worker: int, report: Frontiers) -> Frontiers | None:
        """Take one worker's report; what the whole replica has to report because of it, or None."""
        write = self._write.absorb(worker, report.write)
        input = self._input.absorb(worker, report.input)
        output = self._output.absorb(worker, report.output)
        if write is None and input is None and output is None:
            return None
        return Frontiers(self._id, write, input, output)

    @property
    def is_finished(self) -> bool:
        """Whether all three are empty on every worker: nothing will ever be told again."""
        return self._write.is_finished and self._input.is_finished and self._output.is_finished


class _Kind:
    """One kind of frontier on all workers."""

    __slots__ = ("_missing", "_reported", "_told")

    def __init__(self, workers: int) -> None:
        self._reported: list[Moved] = [None] * workers
        self._missing = workers
        self._told: Moved = None

    def absorb(self, worker: int, moved: Moved) -> Moved:
        if moved is None:
            return None
        if self._reported[worker] is None:
            self._missing -= 1
        self._reported[worker] = moved
        if self._missing:
            return None
        least = (minimum(reported[0] for reported in self._reported if reported is not None),)
        if least == self._told:
            return None
        self._told = least
        return least

    @property
    def is_finished(self) -> bool:
        return self._told is not None and self._told[0] is None
