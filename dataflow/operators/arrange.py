"""Arrange: index a stream by a key, once for everybody who wants it so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...messages.frontiers import Timestamp, less_than
from ...messages.types import SqlType
from ..arrangements.arrangement import ERROR_LAYOUT, Arrangement
from ..arrangements.batch import Batch, Layout
from ..arrangements.updates import Chunk, Updates, concat_optional
from .agenda import Agenda
from .intake import Intake
from .operator import Operator
from .queue import InputQueue


class Arrange(Operator):
    """Seals each interval of its input into an arrangement.

    Args:
        types: SQL types of the input's columns: ``arity`` visible ones, and computed key columns behind them.
        key: positions of the key's columns.

    Attributes:
        followers: the bits of the operators that read the arrangement.
    """

    __slots__ = ("arrangement", "followers", "input")

    def __init__(
        self, agenda: Agenda, lower: Timestamp, types: Sequence[SqlType], arity: int, key: tuple[int, ...]
    ) -> None:
        super().__init__(agenda, lower)
        self.arrangement = Arrangement(types, arity, Layout(len(types), key), lower)
        self.followers = 0
        self.input = InputQueue(agenda, self.bit, lower)

    def run(self, fuel: int | None) -> int:
        available = self.input.upper
        if not less_than(self.upper, available):
            return 0
        chunk = self.input.take(available)
        arrangement = self.arrangement
        oks, errs = chunk.oks, chunk.errs
        lower = chunk.lower
        sealed = None if oks is None else Batch.build(arrangement.layout, oks, lower, available)
        errors = None if errs is None else Batch.build(ERROR_LAYOUT, errs, lower, available)
        arrangement.seal(sealed, errors, available)
        self.agenda.pending |= self.followers
        self.upper = available
        if self.outputs:
            self.emit(Chunk(lower, available, visible([sealed], arrangement.arity), visible([errors], 1)))
        return chunk.size + 1


class ArrangementStream(Operator):
    """An arrangement of another dataflow, as a stream."""

    __slots__ = ("_intake",)

    def __init__(self, agenda: Agenda, as_of: Timestamp, intake: Intake) -> None:
        super().__init__(agenda, as_of)
        self._intake = intake

    def run(self, fuel: int | None) -> int:
        if self.work is not None:
            return self.resume(self.work, fuel)
        intake = self._intake
        lower, available = self.upper, intake.upper
        if lower is None or not less_than(lower, available):
            return 0
        oks, errs = intake.take(available)
        intake.done(available)
        size = sum([len(b) for b in oks])
        if fuel is not None and size > fuel:
            return self.begin(self._in_parts(Chunk(lower, available, None, visible(errs, 1)), oks, fuel), fuel)
        self.emit(Chunk(lower, available, visible(oks, intake.arrangement.arity), visible(errs, 1)))
        return size + 1

    def _in_parts(self, last: Chunk, batches: Sequence[Batch], fuel: int) -> Iterator[int]:
        """Emit the rows of batches, then a last chunk."""
        arity = self._intake.arrangement.arity
        for batch in batches:
            for start in range(0, len(batch), fuel):
                part = batch.slice(start, min(start + fuel, len(batch)))
                self.emit(Chunk(last.lower, last.lower, visible([part], arity)))
                yield len(part)
        self.emit(last)


def visible(batches: Sequence[Batch | None], arity: int) -> Updates | None:
    """The updates of batches, without computed key columns; None when there are none."""
    updates = concat_optional([None if b is None else b.updates for b in batches])
    if updates is None or len(updates.columns) == arity:
        return updates
    return updates.project(range(arity))
