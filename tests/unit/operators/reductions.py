"""Plans of reductions, and their plain evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pillion.dataflow.operators.reduce.logic import ReduceLogic
from pillion.messages.plans import AggregateKind, PlannedAggregate, ReduceNode
from pillion.messages.relations import Aggregate
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import ColumnType, SqlType

from .histories import Expected, Row, Rows, canonical


@dataclass(frozen=True)
class Case:
    """An aggregate, its result's type, and what it is of the group's values that are not NULL (of all rows when it
    has no input), which come in no particular order."""

    aggregate: Aggregate
    type: SqlType
    kind: AggregateKind
    evaluate: Callable[[list], object]


def new_reduce(types: Sequence[SqlType], arity: int, cases: Sequence[Case]) -> ReduceLogic:
    """The operator that groups by the first ``arity`` columns."""
    node = ReduceNode(
        types=tuple([ColumnType(t) for t in (*types[:arity], *[c.type for c in cases])]),
        input=0,
        key=tuple([ColumnRef(i) for i in range(arity)]),
        aggregates=tuple([PlannedAggregate(c.aggregate, c.kind) for c in cases]),
    )
    return ReduceLogic(node, [ColumnType(t) for t in types], trust=True)


def plain_reduce(arity: int, cases: Sequence[Case]) -> Callable[[Rows], Expected]:
    """What the operator's output must be."""

    def evaluate(rows: Rows) -> Expected:
        groups: dict[Row, list[Row]] = {}
        names: dict[Row, Row] = {}
        negative: dict[Row, Row] = {}
        for row, count in rows.items():
            key = canonical(row[:arity])
            names.setdefault(key, row[:arity])
            groups.setdefault(key, []).extend([row] * count)
            if count < 0:
                negative[key] = row[:arity]
        result: Rows = Counter()
        for key, members in groups.items():
            if key not in negative:
                result[(*names[key], *[_value(case, members) for case in cases])] += 1
        keys = [", ".join("NULL" if v is None else repr(v) for v in key) for key in negative.values()]
        return result, {f"in the group ({key}) a row was deleted more often than inserted" for key in keys}

    return evaluate


def _value(case: Case, members: list[Row]) -> object:
    input = case.aggregate.input
    if not isinstance(input, ColumnRef):
        return case.evaluate(list(members))
    values = [m[input.index] for m in members if m[input.index] is not None or case.aggregate.user is not None]
    if case.aggregate.distinct:
        values = list({canonical((v,)): v for v in values}.values())
    return case.evaluate(values)
