"""Key information: which columns of a relation identify its rows."""

from __future__ import annotations

from collections.abc import Callable

from ...messages.relations import ArrangeBy, Distinct, Filter, Map, Project, Reduce, Relation, Threshold, TopK

Key = frozenset[int]


def unique_key(relation: Relation, arity: Callable[[Relation], int]) -> Key | None:
    """Columns whose values no two rows of the relation share (each row then occurs once); None when none are known."""
    match relation:
        case Reduce(_, group_by):
            return frozenset(range(len(group_by)))
        case Distinct():
            return frozenset(range(arity(relation)))
        case TopK(_, group_by, limit=1):
            return frozenset(group_by)
        case Filter(input) | Threshold(input) | ArrangeBy(input) | Map(input):
            return unique_key(input, arity)
        case Project(input, columns):
            inner = unique_key(input, arity)
            if inner is None or not inner <= set(columns):
                return None
            return frozenset(columns.index(column) for column in inner)
        case _:
            return None
