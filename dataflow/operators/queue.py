"""Input queues: what arrives before an operator comes to it is taken together, as one larger interval."""

from __future__ import annotations

from collections import deque

from ...messages.frontiers import Frontier, Timestamp, less_equal, less_than
from ..arrangements.updates import Chunk, Updates, concat_optional
from .agenda import Agenda


class InputQueue:
    """Contiguous chunks that wait for one operator.

    Attributes:
        upper: how far the input is known.
    """

    __slots__ = ("_agenda", "_bit", "_chunks", "upper")

    def __init__(self, agenda: Agenda, bit: int, lower: Timestamp) -> None:
        self._agenda = agenda
        self._bit = bit
        self._chunks: deque[Chunk] = deque()
        self.upper: Frontier = lower

    def push(self, chunk: Chunk) -> None:
        """Append the next chunk, and have the operator look at it."""
        assert chunk.lower == self.upper, f"chunk from {chunk.lower} after an input up to {self.upper}"
        self._chunks.append(chunk)
        self.upper = chunk.upper
        self._agenda.pending |= self._bit

    def take(self, upper: Frontier) -> Chunk:
        """Everything before ``upper``, which is beyond what was taken before and not beyond the queue's upper."""
        chunks = self._chunks
        first = chunks[0]
        if first.upper == upper:
            chunks.popleft()
            return first
        oks: list[Updates | None] = []
        errs: list[Updates | None] = []
        while chunks:
            chunk = chunks[0]
            if less_equal(chunk.upper, upper):
                chunks.popleft()
            elif upper is not None and less_than(chunk.lower, upper):
                chunk, chunks[0] = split_chunk(chunk, upper)
            else:
                break
            oks.append(chunk.oks)
            errs.append(chunk.errs)
        return Chunk(first.lower, upper, concat_optional(oks), concat_optional(errs))

    def discard(self) -> None:
        """Drop everything: the operator is finished, whatever still arrives."""
        self._chunks.clear()


def split_chunk(chunk: Chunk, time: Timestamp) -> tuple[Chunk, Chunk]:
    """The chunk in two, before ``time`` and from it on."""
    early_oks, late_oks = split_updates(chunk.oks, time)
    early_errs, late_errs = split_updates(chunk.errs, time)
    return Chunk(chunk.lower, time, early_oks, early_errs), Chunk(time, chunk.upper, late_oks, late_errs)


def split_updates(updates: Updates | None, time: Timestamp) -> tuple[Updates | None, Updates | None]:
    """The updates before ``time`` and those from it on; None for none."""
    if updates is None or not len(updates):
        return None, None
    late = updates.times >= time
    if not late.any():
        return updates, None
    if late.all():
        return None, updates
    return updates.filter(~late), updates.filter(late)
