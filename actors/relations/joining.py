"""The arguments of ``join``: keys, the names of the result's columns, and the lowering for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...messages.relations import Relation as Algebra
from ...messages.scalars import Call, Cast, ColumnRef, Scalar
from ...messages.types import Field, Schema
from . import joins
from .binding import RowScope, bind, position_of
from .coercion import Bound, coerce, common_type
from .errors import RelationError, kind_of, suggestion
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
        shown = "; did you mean 'full'?" if str(how) == "outer" else suggestion(str(how), KINDS)
        raise RelationError(f"join: there is no how={how!r}{shown}")
    _check_relation(right)
    names = LocalNames(max(left.locals, right.locals))
    if how == "cross":
        if not on is left_on is right_on is None:
            raise RelationError("join: how='cross' pairs all rows and takes no key; use filter afterwards")
        one, two = Side(left.algebra, left.schema, ()), Side(right.algebra, right.schema, ())
        return *_side_by_side(joins.inner(one, two), one, two, [], suffix, merge=False), names
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
    keys = _key_columns(left_keys, one, right_keys, two)
    return *_side_by_side(joined, one, two, keys, suffix, merge=how in ("right", "full")), names


def _check_relation(right: object) -> None:
    from .relation import Relation

    if not isinstance(right, Relation):
        raise RelationError(f"join takes another relation, and {kind_of(right)} was given")


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
    return (
        Side(left.algebra, left.schema, left_key, _is_unique(left, left_keys, left_key)),
        Side(right.algebra, right.schema, right_key, _is_unique(right, right_keys, right_key)),
    )


def _is_unique(relation: Relation, keys: list[Expression], scalars: tuple[Scalar, ...]) -> bool:
    """Whether no two rows of the relation have the same key. Two integers may be one double."""
    if any(isinstance(scalar, Cast) and scalar.type.is_float for scalar in scalars):
        return False
    names = {key.node.name for key in keys if isinstance(key.node, ColumnName)}
    return bool(relation.unique_columns) and relation.unique_columns <= names


def _same_type(left: Bound, right: Bound) -> tuple[Scalar, Scalar]:
    type = common_type([left, right], "join")
    return coerce(left, type).scalar, coerce(right, type).scalar


def _maybe_absent(side: Side) -> Side:
    fields = tuple(Field(f.name, f.type, nullable=True) for f in side.schema.fields)
    return Side(side.relation, Schema(fields), side.key, side.unique)


@dataclass(frozen=True, slots=True)
class _KeyColumn:
    """A right column that repeats what the left side's key says; ``left``: the position, when that is a column too."""

    left: int | None
    right: int
    merged: tuple[Field, Scalar] | None
    """What stands for both when one of them may be absent."""


def _key_columns(
    left_keys: list[Expression], left: Side, right_keys: list[Expression], right: Side
) -> list[_KeyColumn]:
    """The right columns that are keys by themselves (not computed from)."""
    found: list[_KeyColumn] = []
    pairs = zip(left_keys, left.key, right_keys, right.key, strict=True)
    for left_key, left_scalar, right_key, right_scalar in pairs:
        if not isinstance(right_key.node, ColumnName):
            continue
        position = position_of(right_key.node.name, right.schema, "join")
        if not isinstance(left_key.node, ColumnName):
            found.append(_KeyColumn(None, position, None))
            continue
        at = position_of(left_key.node.name, left.schema, "join")
        either = Call("coalesce", (left_scalar, joins.shift(right_scalar, left.arity)))
        type = left_scalar.type if isinstance(left_scalar, Cast) else left.schema.fields[at].type
        nullable = left.schema.fields[at].nullable and right.schema.fields[position].nullable
        found.append(_KeyColumn(at, position, (Field(left_key.node.name, type, nullable), either)))
    return found


def _side_by_side(
    joined: Algebra, left: Side, right: Side, keys: list[_KeyColumn], suffix: str, *, merge: bool
) -> tuple[Algebra, Schema]:
    """The left columns, then the right ones that do not repeat a key. ``merge``: a left key column may be absent, and
    then takes the right one's value."""
    merged = {key.left: key.merged for key in keys if merge and key.left is not None and key.merged is not None}
    outputs: list[tuple[Field, Scalar]] = [
        merged.get(index) or (field, ColumnRef(index)) for index, field in enumerate(left.schema.fields)
    ]
    # Where the left key is computed, only the right one says the key of a row that the left side does not have.
    left_out = {key.right for key in keys if not merge or key.merged is not None}
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
