"""From ``filter`` and ``select`` over an index to what is applied to each row, and to the keys that are looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...messages.plans import MapFilterProject
from ...messages.scalars import Call, ColumnRef, Literal, Scalar
from ...messages.types import Schema
from ..relations.binding import RowScope, bind_condition
from ..relations.expressions import ExpressionOrValue, as_expression
from ..relations.relation import conjuncts
from ..relations.selection import ColumnLike, bind_columns, named_columns
from ..relations.types import check_names

Keys = tuple[tuple[Literal, ...], ...]


@dataclass(frozen=True, slots=True)
class RowProgram:
    """What becomes of each row: None when it stays as it is; and the keys that the filter asks for, if it does."""

    mfp: MapFilterProject | None
    schema: Schema
    keys: Keys | None


def row_program(
    schema: Schema,
    key: tuple[Scalar, ...],
    filter: ExpressionOrValue | Sequence[ExpressionOrValue] | None,
    select: ColumnLike | Sequence[ColumnLike] | None,
) -> RowProgram:
    """The program over rows of this schema, in an index with this key.

    Raises:
        UnknownColumnError, ExpressionTypeError, RelationError: an expression that is none.
    """
    predicates = _predicates(schema, filter)
    keys = _keys_of(predicates, key)
    if select is None:
        if not predicates:
            return RowProgram(None, schema, None)
        identity = tuple(range(schema.arity))
        return RowProgram(MapFilterProject(schema.arity, (), predicates, identity), schema, keys)
    columns = list(select) if isinstance(select, list | tuple) else [select]
    outputs = bind_columns(named_columns(columns, {}, "peek select"), schema, "peek select")
    check_names([field.name for field, _ in outputs])
    computed = [scalar for _, scalar in outputs if not isinstance(scalar, ColumnRef)]
    fresh = iter(range(schema.arity, schema.arity + len(computed)))
    projection = tuple(s.index if isinstance(s, ColumnRef) else next(fresh) for _, s in outputs)
    mfp = MapFilterProject(schema.arity, tuple(computed), predicates, projection)
    return RowProgram(mfp, Schema(tuple(field for field, _ in outputs)), keys)


def _predicates(schema: Schema, filter: ExpressionOrValue | Sequence[ExpressionOrValue] | None) -> tuple[Scalar, ...]:
    if filter is None:
        return ()
    conditions = list(filter) if isinstance(filter, list | tuple) else [filter]
    scope = RowScope(schema, "peek filter")
    nodes = [node for condition in conditions for node in conjuncts(as_expression(condition).node)]
    return tuple(bind_condition(node, scope, "peek filter") for node in nodes)


def _keys_of(predicates: tuple[Scalar, ...], key: tuple[Scalar, ...]) -> Keys | None:
    """The one key that the predicates leave possible, when they say what each of its parts is equal to."""
    found: dict[Scalar, Literal] = {}
    for predicate in predicates:
        match predicate:
            case Call("=", (part, Literal() as literal)) | Call("=", (Literal() as literal, part)):
                if part in key and literal.raw is not None:
                    found.setdefault(part, literal)
            case _:
                continue
    if not key or len(found) < len(set(key)):
        return None
    return (tuple(found[part] for part in key),)
