"""Arrange: index a stream by a key, once for everybody who wants it so."""

from __future__ import annotations

from collections.abc import Sequence

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

    def run(self) -> bool:
        available = self.input.upper
        if not less_than(self.upper, available):
            return False
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
        return True


class ArrangementStream(Operator):
    """An arrangement of another dataflow, as a stream."""

    __slots__ = ("_intake",)

    def __init__(self, agenda: Agenda, as_of: Timestamp, intake: Intake) -> None:
        super().__init__(agenda, as_of)
        self._intake = intake

    def run(self) -> bool:
        intake = self._intake
        lower, available = self.upper, intake.upper
        if lower is None or not less_than(lower, available):
            return False
        oks, errs = intake.take(available)
        intake.done(available)
        self.emit(Chunk(lower, available, visible(oks, intake.arrangement.arity), visible(errs, 1)))
        return True


def visible(batches: Sequence[Batch | None], arity: int) -> Updates | None:
    """The updates of batches, without computed key columns; None when there are none."""
    updates = concat_optional([None if b is None else b.updates for b in batches])
    if updates is None or len(updates.columns) == arity:
        return updates
    return updates.project(range(arity))
