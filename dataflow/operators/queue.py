"""Input queues: what arrives before an operator comes to it is taken together, as one larger interval."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ...messages.frontiers import Frontier, Timestamp, less_than
from ..arrangements.updates import Chunk, Updates, concat_optional
from .agenda import Agenda

MANY = 1 << 22
"""Rows that wait before it is tried whether they cancel out."""


class InputQueue:
    """Contiguous chunks, and parts of chunks (see :mod:`.operator`), that wait for one operator.

    Attributes:
        upper: how far the input is known.
    """

    __slots__ = ("_agenda", "_bit", "_chunks", "_limit", "_waiting", "upper")

    def __init__(self, agenda: Agenda, bit: int, lower: Timestamp) -> None:
        self._agenda = agenda
        self._bit = bit
        self._chunks: deque[Chunk] = deque()
        # Rows in parts, since some were taken, and how many are worth an attempt to consolidate them.
        self._waiting = 0
        self._limit = MANY
        self.upper: Frontier = lower

    def push(self, chunk: Chunk) -> None:
        """Append the next chunk, and have the operator look at it."""
        assert chunk.lower == self.upper, f"chunk from {chunk.lower} after an input up to {self.upper}"
        self._chunks.append(chunk)
        if chunk.upper == chunk.lower:
            self._waiting += chunk.size
            if self._waiting > self._limit:
                self._consolidate()
        self.upper = chunk.upper
        self._agenda.pending |= self._bit

    def take(self, upper: Frontier) -> Chunk:
        """Everything before ``upper``, which is beyond what was taken before and not beyond the queue's upper."""
        chunks = self._chunks
        self._waiting, self._limit = 0, MANY
        first = chunks[0]
        if first.upper == upper:
            chunks.popleft()
            return first
        oks: list[Updates | None] = []
        errs: list[Updates | None] = []
        later: list[Chunk] = []
        while chunks and less_than(chunks[0].lower, upper):
            chunk = chunks.popleft()
            is_part = chunk.lower == chunk.upper
            if upper is not None and (is_part or less_than(upper, chunk.upper)):
                chunk, rest = split_chunk(chunk, upper)
                if not is_part:
                    later.append(rest)
                elif rest.oks is not None or rest.errs is not None:
                    later.append(Chunk(upper, upper, rest.oks, rest.errs))
            oks.append(chunk.oks)
            errs.append(chunk.errs)
        chunks.extendleft(reversed(later))
        return Chunk(first.lower, upper, concat_optional(oks), concat_optional(errs))

    def take_parts(self, ready: Callable[[Chunk], bool]) -> Chunk | None:
        """The parts that are there of the interval from the queue's upper on, when everything before was taken; those
        that are ready up to the first that is not."""
        chunks = self._chunks
        oks: list[Updates | None] = []
        errs: list[Updates | None] = []
        while chunks and ready(chunks[0]):
            part = chunks.popleft()
            self._waiting -= part.size
            oks.append(part.oks)
            errs.append(part.errs)
        if not oks:
            return None
        upper = self.upper
        assert upper is not None, "nothing follows the empty frontier"
        return Chunk(upper, upper, concat_optional(oks), concat_optional(errs))

    def _consolidate(self) -> None:
        """Make one part of the last ones: whoever waits for the rest of them will consolidate them anyway, unless they
        are so many that holding them is the problem."""
        chunks, upper = self._chunks, self.upper
        assert upper is not None, "nothing follows the empty frontier"
        oks: list[Updates | None] = []
        errs: list[Updates | None] = []
        while chunks and chunks[-1].lower == upper:
            part = chunks.pop()
            oks.append(part.oks)
            errs.append(part.errs)
        whole = [None if u is None else u.consolidate() for u in (concat_optional(oks), concat_optional(errs))]
        chunks.append(Chunk(upper, upper, *whole))
        self._waiting = chunks[-1].size
        self._limit = max(MANY, 2 * self._waiting)

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
