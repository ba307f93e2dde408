"""Where a dataflow begins: sources that the worker feeds, and constants."""

from __future__ import annotations

from ...messages.frontiers import Frontier, Timestamp, less_equal, less_than
from ..arrangements.updates import Chunk, Updates
from .agenda import Agenda
from .operator import Operator
from .queue import InputQueue


class Source(Operator):
    """Brings an outside stream, from time 0 on, into the dataflow's ``[as_of, until)``: times before ``as_of`` become
    ``as_of``, and once ``until`` is reached nothing will ever change again."""

    __slots__ = ("_as_of", "_until", "input")

    def __init__(self, agenda: Agenda, as_of: Timestamp, until: Frontier) -> None:
        super().__init__(agenda, as_of)
        self._as_of = as_of
        self._until = until
        self.input = InputQueue(agenda, self.bit, 0)

    def run(self, fuel: int | None) -> int:
        available = self.input.upper
        if not less_than(self.upper, available):
            if self.upper is None:
                self.input.discard()
            return 0
        chunk = self.input.take(available)
        lower, until = self.upper, self._until
        assert lower is not None
        oks, errs = chunk.oks, chunk.errs
        if chunk.lower != lower or lower == self._as_of:
            # The first chunk, which holds what came before as_of.
            oks = None if oks is None else oks.advance(self._as_of)
            errs = None if errs is None else errs.advance(self._as_of)
            chunk = Chunk(lower, available, oks, errs)
        if until is not None and less_equal(until, available):
            chunk = Chunk(lower, None, _before(oks, until), _before(errs, until))
        self.emit(chunk)
        return 1


def _before(updates: Updates | None, until: Timestamp) -> Updates | None:
    early = None if updates is None else updates.before(until)
    return early if early is not None and len(early) else None


class ConstantSource(Operator):
    """Emits its rows at ``as_of``, once, and then nothing ever."""

    __slots__ = ("_chunk",)

    def __init__(self, agenda: Agenda, as_of: Timestamp, rows: Updates | None) -> None:
        super().__init__(agenda, as_of)
        self._chunk: Chunk | None = Chunk(as_of, None, rows)
        agenda.pending |= self.bit

    def run(self, fuel: int | None) -> int:
        chunk, self._chunk = self._chunk, None
        if chunk is None:
            return 0
        self.emit(chunk)
        return 1
