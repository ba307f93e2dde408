"""Random relations over collections of two numbers, which again have two numbers."""

from __future__ import annotations

import random

from ...messages.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Map,
    Negate,
    Order,
    Project,
    Reduce,
    Relation,
    Threshold,
    TopK,
    Union,
)
from ...messages.scalars import Call, ColumnRef, Literal
from ...messages.types import SqlType
from .model import Known

A, B = ColumnRef(0), ColumnRef(1)


def number(value: int) -> Literal:
    return Literal.of(value, SqlType.BIGINT)


def remainder(input: Relation) -> Relation:
    """Fails over rows whose second number is 0."""
    return Project(Map(input, (Call("%", (number(12), B)),)), (0, 2))


def relation(rng: random.Random, over: list[Known], *, failing: bool) -> tuple[Relation, tuple[Known, ...], bool]:
    """A relation, what it uses, and whether it itself may fail. ``failing``: whether it may."""
    first, second = rng.choice(over), rng.choice(over)
    one, two = first.get, second.get
    kind = rng.randrange(11 if failing else 10)
    alone: dict[int, Relation] = {
        0: one,
        1: Filter(one, (Call(">=", (A, number(rng.randrange(4)))),)),
        2: Project(one, (1, 0)),
        3: Reduce(one, (A,), (Aggregate("count"),)),
        4: Reduce(one, (B,), (Aggregate("max", A),)),
        5: Distinct(one),
        6: TopK(one, (0,), (Order(1, True),), 1),
        10: remainder(one),
    }
    if kind in alone:
        return alone[kind], (first,), kind == 10
    both: dict[int, Relation] = {
        7: Union((one, two)),
        8: Project(Join((one, two), ((A, ColumnRef(2)),)), (1, 3)),
        9: Threshold(Union((one, Negate(two)))),
    }
    return both[kind], tuple(dict.fromkeys((first, second))), False
