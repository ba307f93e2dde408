"""Predicates that name one key: then its row is looked up instead of all rows being read."""

from __future__ import annotations

from ...dataflow.columns.column import Column, column_from_values
from ...messages.scalars import Call, ColumnRef, Literal, Scalar
from .shard import Shard


def keys_of(predicate: Scalar | None, shard: Shard) -> tuple[Column, ...] | None:
    """The key that a row must have for the predicate to be true; None when it leaves that open (or there is no key).

    A conjunction that says ``column = literal`` of every column of the key does.
    """
    if predicate is None or not shard.key:
        return None
    equal: dict[int, Literal] = {}
    for conjunct in conjuncts(predicate):
        match conjunct:
            case Call("=", (ColumnRef(column), Literal() as literal)) | Call(
                "=", (Literal() as literal, ColumnRef(column))
            ) if literal.raw is not None and literal.type is shard.schema.fields[column].type:
                equal[column] = literal
            case _:
                pass
    if not all(position in equal for position in shard.key):
        return None
    literals = [equal[position] for position in shard.key]
    return tuple(column_from_values([literal.value], literal.type) for literal in literals)


def conjuncts(predicate: Scalar) -> list[Scalar]:
    """What all must be true for the predicate to be true."""
    match predicate:
        case Call("and", arguments):
            return [part for argument in arguments for part in conjuncts(argument)]
        case _:
            return [predicate]
