"""Joins, lowered to the algebra of :mod:`pillion.messages.relations`.

Only the inner join is there; the others are made of it. With the keys of the other side made distinct, the inner join
keeps exactly the rows that have a partner, as often as they are there (*semi*); the rows minus those are the ones
without (*anti*); those, padded with NULL, are what a *left* join adds. A key with NULL in it has no partner.
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
    """One input of a join, and its key: expressions over its columns."""

    relation: Relation
    schema: Schema
    key: tuple[Scalar, ...]

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
    keys = Distinct(right.relation, right.key)
    pairs = enumerate(left.key)
    joined = Join((left.relation, keys), tuple((a, ColumnRef(left.arity + i)) for i, a in pairs))
    return Project(joined, tuple(range(left.arity)))


def anti(left: Side, right: Side, names: LocalNames) -> Relation:
    """The rows of the left side that have no partner."""
    local = names.fresh()
    shared = Side(GetLocal(local), left.schema, left.key)
    body = Union((shared.relation, Negate(semi(shared, right))))
    return Let((Binding(local, left.relation),), body)


def outer(left: Side, right: Side, names: LocalNames, *, keep_left: bool, keep_right: bool) -> Relation:
    """The inner join, and the rows without a partner of one side or both, padded with NULL."""
    left_name, right_name = names.fresh(), names.fresh()
    one = Side(GetLocal(left_name), left.schema, left.key)
    other = Side(GetLocal(right_name), right.schema, right.key)
    parts: list[Relation] = [inner(one, other)]
    if keep_left:
        parts.append(Map(_without_partner(one, other), _nulls(right.schema.types)))
    if keep_right:
        padded = Map(_without_partner(other, one), _nulls(left.schema.types))
        order = (*range(right.arity, right.arity + left.arity), *range(right.arity))
        parts.append(Project(padded, order))
    bindings = (Binding(left_name, left.relation), Binding(right_name, right.relation))
    return Let(bindings, Union(tuple(parts)))


def _without_partner(side: Side, other: Side) -> Relation:
    return Union((side.relation, Negate(semi(side, other))))


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
