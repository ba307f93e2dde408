"""What a reduction reads of a row: the key's columns, and each aggregate's input."""

from __future__ import annotations

from collections.abc import Sequence

from ....messages.plans import ReduceNode
from ....messages.scalars import ColumnRef
from ....messages.types import ColumnType, SqlType
from ...arrangements.updates import Chunk, Updates
from ...columns.column import Column
from ...scalars.typing import scalar_type
from ..rowwise import AppendKey


class ReduceInputs:
    """Evaluates the expressions of a reduction.

    Attributes:
        arguments: the column of an evaluated chunk that is each aggregate's input; None for ``count(*)``.
        key_types: of the key's columns.
        argument_types: of each aggregate's input; None for ``count(*)``.
    """

    def __init__(self, node: ReduceNode, input_types: Sequence[ColumnType], *, trust: bool) -> None:
        inputs = [a.aggregate.input for a in node.aggregates]
        expressions = [*node.key, *[i for i in inputs if i is not None]]
        self._append: AppendKey | None = None
        if all(isinstance(e, ColumnRef) for e in expressions):
            places = [e.index for e in expressions if isinstance(e, ColumnRef)]
        else:
            self._append = AppendKey(expressions, input_types, trust=trust)
            places = list(self._append.positions)
        self._keys = tuple(places[: len(node.key)])
        rest = iter(places[len(node.key) :])
        self.arguments = tuple([None if i is None else next(rest) for i in inputs])
        self.key_types: tuple[SqlType, ...] = tuple([scalar_type(k, input_types).type for k in node.key])
        self.argument_types = tuple([None if i is None else scalar_type(i, input_types).type for i in inputs])

    def evaluate(self, chunk: Chunk) -> Chunk:
        """The chunk with computed columns appended; rows that fail become errors."""
        return chunk if self._append is None else self._append.process(chunk)

    def keys(self, oks: Updates) -> tuple[Column, ...]:
        """The key's columns of an evaluated chunk."""
        return tuple([oks.columns[p] for p in self._keys])
