"""Sinks: where a dataflow's output leaves it."""

from __future__ import annotations

from collections import deque

from ...messages.frontiers import Frontier, Timestamp, less_equal, less_than
from ..arrangements.updates import Chunk, Updates
from .agenda import Agenda
from .operator import Operator
from .queue import InputQueue


class SinkQueue:
    """What a sink has ready for the worker to send or write.

    Attributes:
        chunks: contiguous, consolidated, from ``as_of`` on; the worker takes them from the left.
        upper: how far the output is complete.
    """

    __slots__ = ("chunks", "upper")

    def __init__(self, lower: Timestamp) -> None:
        self.chunks: deque[Chunk] = deque()
        self.upper: Frontier = lower


class Sink(Operator):
    """Consolidates the output of each interval into a :class:`SinkQueue`.

    Args:
        with_snapshot: whether to show what there is at ``as_of``; otherwise only what changes after it.
        up_to: the time before which the sink ends.
    """

    __slots__ = ("_as_of", "_up_to", "_with_snapshot", "input", "queue")

    def __init__(self, agenda: Agenda, as_of: Timestamp, *, with_snapshot: bool, up_to: Frontier) -> None:
        super().__init__(agenda, as_of)
        self._as_of = as_of
        self._with_snapshot = with_snapshot
        self._up_to = up_to
        self.input = InputQueue(agenda, self.bit, as_of)
        self.queue = SinkQueue(as_of)

    def run(self, fuel: int | None) -> int:
        available = self.input.upper
        if not less_than(self.upper, available):
            if self.upper is None:
                self.input.discard()
            return 0
        chunk = self.input.take(available)
        up_to = self._up_to
        if up_to is not None and less_equal(up_to, available):
            available = None
        oks, errs = self._show(chunk.oks), self._show(chunk.errs)
        self.upper = self.queue.upper = available
        self.queue.chunks.append(Chunk(chunk.lower, available, oks, errs))
        return chunk.size + 1

    def _show(self, updates: Updates | None) -> Updates | None:
        if updates is None:
            return None
        updates = updates.before(self._up_to)
        if not self._with_snapshot:
            later = updates.times > self._as_of
            if not later.all():
                updates = updates.filter(later)
        updates = updates.consolidate()
        # Who subscribed may keep what is shown for long.
        return updates.owned() if len(updates) else None
