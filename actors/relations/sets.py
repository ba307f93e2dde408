"""Union, difference and intersection of multisets, in the algebra of :mod:`pillion.messages.relations`."""

from __future__ import annotations

from ...messages.relations import Binding, Distinct, GetLocal, Let, Negate, Relation, Threshold, Union
from .joins import LocalNames


def union(left: Relation, right: Relation, *, distinct: bool) -> Relation:
    """The rows of both; a row that is there m and n times is there m + n times."""
    inputs: list[Relation] = []
    for side in (left, right):
        inputs.extend(side.inputs if isinstance(side, Union) else (side,))
    both = Union(tuple(inputs))
    return Distinct(both) if distinct else both


def difference(left: Relation, right: Relation, *, distinct: bool) -> Relation:
    """A row that is there m and n times is there max(m - n, 0) times; once when ``distinct`` and n is 0."""
    if distinct:
        left, right = Distinct(left), Distinct(right)
    return Threshold(Union((left, Negate(right))))


def intersection(left: Relation, right: Relation, names: LocalNames, *, distinct: bool) -> Relation:
    """A row that is there m and n times is there min(m, n) times: all of the left without what only the left has."""
    if distinct:
        left, right = Distinct(left), Distinct(right)
    local = names.fresh()
    only_left = Threshold(Union((GetLocal(local), Negate(right))))
    return Let((Binding(local, left),), Union((GetLocal(local), Negate(only_left))))
