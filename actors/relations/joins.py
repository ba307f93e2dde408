"""Joins, lowered to the algebra of :mod:`pillion.messages.relations`.

Only the inner join is there; the others are made of it. With the keys of the other side made distinct, the inner join
keeps exactly the rows that have a partner, as often as they are there (*semi*); the rows minus those are the ones
without (*anti*); those, padded with NULL, are what a *left* join adds. A key with NULL in it has no partner. Where the
other side's keys are known to be distinct already (a table's key, a group's), that step falls away, and with it an
arrangement; a left join is then one join.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from ...messages.relations import (
    Binding,
    Distinct,
    GetLocal,
    Join,
    Let,
    Map,
    Negate,
    Project,
    Relation,
    Union,
)
from ...messages.scalars import Call, Cast, ColumnRef, If, Literal, Scalar
from ...messages.scalars import CallUser as _CallUser
from ...messages.types import ColumnType, Schema

JoinKind = Choice["inner", "left", "right", "full", "semi", "anti", "cross"]
KINDS: tuple[JoinKind, ...] = ("inner", "left", "right", "full", "semi", "anti", "cross")


@dataclass(frozen=True, slots=True)
class Side:
    """One input of a join, and its key: expressions over its columns. ``unique``: no two rows have the same key."""

    relation: Relation
    schema: Schema
    key: tuple[Scalar, ...]
    unique: bool = False

    @property
    def arity(self) -> int:
        return self.schema.arity


def inner(left: Side, right: Side) -> Relation:
    """The rows of both sides, side by side, whose keys are equal."""
    pairs = zip(left.key, right.key, strict=True)
    equivalences = tuple((a, shift(b, left.arity)) for a, b in pairs)
    return Join((left.relation, right.relation), equivalences)


def semi(left: Side, right: Side) -> Relation:
    """The rows of the left side that have a partner."""
    columns = tuple(range(left.arity))
    if right.unique:
        return Project(inner(left, right), columns)
    keys = Distinct(right.relation, right.key)
    joined = Join((left.relation, keys), tuple((a, ColumnRef(left.arity + i)) for i, a in enumerate(left.key)))
    return Project(joined, columns)


def anti(left: Side, right: Side, names: LocalNames) -> Relation:
    """The rows of the left side that have no partner."""
    local = names.fresh()
    shared = Side(GetLocal(local), left.schema, left.key, left.unique)
    body = Union((shared.relation, Negate(semi(shared, right))))
    return Let((Binding(local, left.relation),), body)


def outer(left: Side, right: Side, names: LocalNames, *, keep_left: bool, keep_right: bool) -> Relation:
    """The inner join, and the rows without a partner of one side or both, padded with NULL."""
    left_name, right_name, pairs_name = names.fresh(), names.fresh(), names.fresh()
    one = Side(GetLocal(left_name), left.schema, left.key, left.unique)
    other = Side(GetLocal(right_name), right.schema, right.key, right.unique)
    pairs = GetLocal(pairs_name)
    of_left, of_right = tuple(range(left.arity)), tuple(range(left.arity, left.arity + right.arity))
    parts: list[Relation] = [pairs]
    if keep_left:
        with_partner = Project(pairs, of_left) if right.unique else semi(one, other)
        parts.append(Map(Union((one.relation, Negate(with_partner))), _nulls(right.schema.types)))
    if keep_right:
        with_partner = Project(pairs, of_right) if left.unique else semi(other, one)
        padded = Map(Union((other.relation, Negate(with_partner))), _nulls(left.schema.types))
        parts.append(Project(padded, (*range(right.arity, right.arity + left.arity), *range(right.arity))))
    bindings = (
        Binding(left_name, left.relation),
        Binding(right_name, right.relation),
        Binding(pairs_name, inner(one, other)),
    )
    return Let(bindings, Union(tuple(parts)))


def _nulls(types: tuple[ColumnType, ...]) -> tuple[Scalar, ...]:
    return tuple(Literal.of(None, type.type) for type in types)


class LocalNames:
    """Names of local bindings that no part of a relation uses yet: ``l0``, ``l1``, …"""

    __slots__ = ("next",)

    def __init__(self, first: int) -> None:
        self.next = first

    def fresh(self) -> str:
        self.next += 1
        return f"l{self.next - 1}"


def shift(scalar: Scalar, by: int) -> Scalar:
    """The scalar over a row that has ``by`` more columns in front."""
    match scalar:
        case ColumnRef(index):
            return ColumnRef(index + by)
        case Call(function, arguments):
            return Call(function, tuple(shift(argument, by) for argument in arguments))
        case _CallUser(function, arguments):
            return _CallUser(function, tuple(shift(argument, by) for argument in arguments))
        case Cast(argument, type):
            return Cast(shift(argument, by), type)
        case If(condition, then, otherwise):
            return If(shift(condition, by), shift(then, by), shift(otherwise, by))
        case _:
            return scalar
