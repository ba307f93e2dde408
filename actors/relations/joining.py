"""The arguments of ``join``: keys, the names of the result's columns, and the lowering for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...messages.relations import Relation as Algebra
from ...messages.scalars import Call, ColumnRef, Scalar
from ...messages.types import Field, Schema
from . import joins
from .binding import RowScope, bind
from .coercion import Bound, coerce, common_type
from .errors import RelationError, suggestion
from .expressions import Expression, as_column
from .joins import KINDS, JoinKind, LocalNames, Side
from .nodes import ColumnName
from .selection import ColumnLike, project

if TYPE_CHECKING:
    from .relation import Relation

_Keys = ColumnLike | Sequence[ColumnLike] | None


def join_relations(
    left: Relation, right: Relation, on: _Keys, left_on: _Keys, right_on: _Keys, how: JoinKind, suffix: str
) -> tuple[Algebra, Schema, LocalNames]:
    """The joined relation and its columns.

    Raises:
        RelationError: the arguments make no join.
    """
    if how not in KINDS:
        raise RelationError(f"join: there is no how={how!r}{suggestion(str(how), KINDS)}")
    _check_relation(right)
    names = LocalNames(max(left.locals, right.locals))
    if how == "cross":
        if not on is left_on is right_on is None:
            raise RelationError("join: how='cross' pairs all rows and takes no key; use filter afterwards")
        one, two = Side(left.algebra, left.schema, ()), Side(right.algebra, right.schema, ())
        return *_side_by_side(joins.inner(one, two), one, two, (), suffix, merge=False), names
    left_keys, right_keys = _keys(on, left_on, right_on)
    one, two = _bind_sides(left, right, left_keys, right_keys)
    match how:
        case "inner":
            joined = joins.inner(one, two)
        case "semi":
            return joins.semi(one, two), left.schema, names
        case "anti":
            return joins.anti(one, two, names), left.schema, names
        case _:
            keep = {"keep_left": how in ("left", "full"), "keep_right": how in ("right", "full")}
            joined = joins.outer(one, two, names, **keep)
            one = _maybe_absent(one) if how in ("right", "full") else one
            two = _maybe_absent(two) if how in ("left", "full") else two
    repeated = _repeated(right_keys, right.schema)
    return *_side_by_side(joined, one, two, repeated, suffix, merge=how in ("right", "full")), names


def _check_relation(right: object) -> None:
    from .relation import Relation

    if not isinstance(right, Relation):
        raise RelationError(f"join takes another relation, and a {right.__class__.__name__} was given")


def _keys(on: _Keys, left_on: _Keys, right_on: _Keys) -> tuple[list[Expression], list[Expression]]:
    if on is not None:
        if left_on is not None or right_on is not None:
            raise RelationError("join takes on=, or left_on= and right_on=, not both")
        keys = _list(on)
        return keys, keys
    if left_on is None or right_on is None:
        raise RelationError("join needs its key: on='…', or both left_on='…' and right_on='…' (or how='cross')")
    left, right = _list(left_on), _list(right_on)
    if len(left) != len(right):
        raise RelationError(f"join: left_on has {len(left)} columns and right_on {len(right)}; they go in pairs")
    return left, right


def _list(keys: ColumnLike | Sequence[ColumnLike]) -> list[Expression]:
    given = [keys] if isinstance(keys, str | Expression) else list(keys)
    if not given:
        raise RelationError("join needs at least one key column (or how='cross')")
    return [as_column(key) for key in given]


def _bind_sides(
    left: Relation, right: Relation, left_keys: list[Expression], right_keys: list[Expression]
) -> tuple[Side, Side]:
    """Both keys, with each pair converted to one type."""
    left_scope = RowScope(left.schema, "join (left side)")
    right_scope = RowScope(right.schema, "join (right side)")
    pairs: list[tuple[Scalar, Scalar]] = []
    for one, other in zip(left_keys, right_keys, strict=True):
        bound = bind(one.node, left_scope), bind(other.node, right_scope)
        pairs.append(_same_type(*bound))
    left_key, right_key = zip(*pairs, strict=True)
    return Side(left.algebra, left.schema, left_key), Side(right.algebra, right.schema, right_key)


def _same_type(left: Bound, right: Bound) -> tuple[Scalar, Scalar]:
    type = common_type([left, right], "join")
    return coerce(left, type).scalar, coerce(right, type).scalar


def _maybe_absent(side: Side) -> Side:
    fields = tuple(Field(f.name, f.type, nullable=True) for f in side.schema.fields)
    return Side(side.relation, Schema(fields), side.key)


def _repeated(right_keys: list[Expression], schema: Schema) -> tuple[int | None, ...]:
    """For each key the right column that repeats it, None when the key is computed."""
    positions = {name: position for position, name in enumerate(schema.names)}
    return tuple(positions.get(key.node.name) if isinstance(key.node, ColumnName) else None for key in right_keys)


def _side_by_side(
    joined: Algebra, left: Side, right: Side, repeated: tuple[int | None, ...], suffix: str, *, merge: bool
) -> tuple[Algebra, Schema]:
    """The left columns, then the right ones that do not repeat a key. ``merge``: a left key column may be absent, and
    then takes the right one's value."""
    from_right: dict[int, int] = {}
    for key, position in zip(left.key, repeated, strict=False):
        if isinstance(key, ColumnRef) and position is not None:
            from_right.setdefault(key.index, position)
    outputs: list[tuple[Field, Scalar]] = []
    for index, field in enumerate(left.schema.fields):
        position = from_right.get(index)
        if merge and position is not None:
            other = right.schema.fields[position]
            scalar: Scalar = Call("coalesce", (ColumnRef(index), ColumnRef(left.arity + position)))
            outputs.append((Field(field.name, field.type, field.nullable and other.nullable), scalar))
        else:
            outputs.append((field, ColumnRef(index)))
    left_out = {position for position in repeated if position is not None}
    taken = set(left.schema.names)
    for position, field in enumerate(right.schema.fields):
        if position in left_out:
            continue
        name = field.name if field.name not in taken else field.name + suffix
        if name in taken:
            raise RelationError(
                f"join: both sides have a column {field.name!r}, and {name!r} is taken too; "
                "rename one of them before, or give another suffix=…"
            )
        taken.add(name)
        outputs.append((Field(name, field.type, field.nullable), ColumnRef(left.arity + position)))
    return project(joined, left.arity + right.arity, outputs)
