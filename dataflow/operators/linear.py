"""Operators on streams: one input to one output, and the union of several."""

from __future__ import annotations

from collections.abc import Sequence

from ...messages.frontiers import Frontier, Timestamp, less_than, minimum
from ..arrangements.updates import Chunk, Updates, concat_optional
from .agenda import Agenda
from .operator import Operator, UnaryLogic
from .queue import InputQueue


class Unary(Operator):
    """Runs a :class:`UnaryLogic` on whatever its queue holds."""

    __slots__ = ("_logic", "input")

    def __init__(self, agenda: Agenda, lower: Timestamp, logic: UnaryLogic) -> None:
        super().__init__(agenda, lower)
        self._logic = logic
        self.input = InputQueue(agenda, self.bit, lower)

    def run(self) -> bool:
        available = self.input.upper
        if not less_than(self.upper, available):
            return False
        chunk = self.input.take(available)
        if chunk.oks is not None or chunk.errs is not None:
            chunk = self._logic.process(chunk)
        self.emit(chunk)
        return True


class Negation:
    """The opposite of every multiplicity; errors stay errors."""

    def process(self, chunk: Chunk) -> Chunk:
        oks = chunk.oks
        return chunk if oks is None else Chunk(chunk.lower, chunk.upper, oks.negate(), chunk.errs)


class Projection:
    """Some of the columns, in this order: a map/filter/project that computes nothing."""

    def __init__(self, columns: Sequence[int]) -> None:
        self._columns = tuple(columns)

    def process(self, chunk: Chunk) -> Chunk:
        oks = chunk.oks
        return chunk if oks is None else Chunk(chunk.lower, chunk.upper, oks.project(self._columns), chunk.errs)


class Union(Operator):
    """All updates of several inputs, up to the least of their uppers."""

    __slots__ = ("inputs",)

    def __init__(self, agenda: Agenda, lower: Timestamp, arity: int) -> None:
        super().__init__(agenda, lower)
        self.inputs = tuple([InputQueue(agenda, self.bit, lower) for _ in range(arity)])

    def run(self) -> bool:
        available: Frontier = minimum([queue.upper for queue in self.inputs])
        lower = self.upper
        if lower is None or not less_than(lower, available):
            return False
        oks: list[Updates | None] = []
        errs: list[Updates | None] = []
        for queue in self.inputs:
            chunk = queue.take(available)
            oks.append(chunk.oks)
            errs.append(chunk.errs)
        self.emit(Chunk(lower, available, concat_optional(oks), concat_optional(errs)))
        return True
