"""Operators on streams: one input to one output, and the union of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...messages.frontiers import Frontier, Timestamp, less_than, minimum
from ..arrangements.updates import Chunk, concat_optional
from .agenda import Agenda
from .operator import Operator, UnaryLogic
from .parts import RowLogic
from .queue import InputQueue


class Unary(Operator):
    """Runs a :class:`UnaryLogic` on whatever its queue holds."""

    __slots__ = ("_logic", "input")

    def __init__(self, agenda: Agenda, lower: Timestamp, logic: UnaryLogic) -> None:
        super().__init__(agenda, lower)
        self._logic = logic
        self.input = InputQueue(agenda, self.bit, lower)

    def run(self, fuel: int | None) -> int:
        if self.work is not None:
            return self.resume(self.work, fuel)
        available = self.input.upper
        if less_than(self.upper, available):
            chunk = self.input.take(available)
        else:
            part = self.input.take_parts(self._logic.takes_part)
            if part is None:
                return 0
            chunk = part
        size = chunk.size
        if fuel is not None and size > fuel:
            return self.begin(self._in_parts(chunk, fuel), fuel)
        if chunk.oks is not None or chunk.errs is not None:
            chunk = self._logic.process(chunk)
        self.emit(chunk)
        return size + 1

    def _in_parts(self, chunk: Chunk, fuel: int) -> Iterator[int]:
        lower = chunk.lower
        for part in self._logic.process_in_parts(chunk, fuel):
            self.emit(Chunk(lower, lower, part.oks, part.errs))
            yield max(fuel, part.size)
        if chunk.upper != lower:
            self.emit(Chunk(lower, chunk.upper))


class Negation(RowLogic):
    """The opposite of every multiplicity; errors stay errors."""

    def process(self, chunk: Chunk) -> Chunk:
        oks = chunk.oks
        return chunk if oks is None else Chunk(chunk.lower, chunk.upper, oks.negate(), chunk.errs)


class Projection(RowLogic):
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

    def run(self, fuel: int | None) -> int:
        available: Frontier = minimum([queue.upper for queue in self.inputs])
        lower = self.upper
        if lower is None:
            return 0
        if less_than(lower, available):
            chunks = [queue.take(available) for queue in self.inputs]
        else:
            parts = [queue.take_parts(_any_part) for queue in self.inputs if queue.upper == lower]
            chunks = [part for part in parts if part is not None]
            available = lower
            if not chunks:
                return 0
        chunk = Chunk(
            lower, available, concat_optional([c.oks for c in chunks]), concat_optional([c.errs for c in chunks])
        )
        self.emit(chunk)
        return chunk.size + 1


def _any_part(part: Chunk) -> bool:
    return True
