"""Literal constraints: which keys of an index a filter leaves, so that a read looks them up instead of scanning."""

from __future__ import annotations

import datetime
import itertools
import math
import struct
from collections.abc import Sequence
from decimal import Decimal

from ...messages.plans import MapFilterProject
from ...messages.scalars import Call, Literal, Scalar, Value
from ...messages.types import ColumnType, SqlType
from ..scalars.promotion import promote
from ..scalars.typing import scalar_type
from .mfp import inline, inlined, simplify

MAX_KEYS = 10_000
"""More keys than this are not looked up one by one."""

_EXACT_DOUBLES = 2**53
_INTEGER_BOUNDS = {SqlType.SMALLINT: 2**15, SqlType.INTEGER: 2**31, SqlType.BIGINT: 2**63}

Keys = tuple[tuple[Literal, ...], ...]


def extract_literal_constraints(
    mfp: MapFilterProject, key: Sequence[Scalar], types: Sequence[ColumnType]
) -> tuple[Keys, MapFilterProject] | None:
    """The keys that rows must have to pass, each once, and what remains to be done to the rows found by them.

    ``types`` are those of the columns that ``key`` and ``mfp`` refer to. Keys have the types of the key. No keys at all
    means that no row passes. None: the predicates do not determine every part of the key by equality with constants
    (or a choice of constants, ``#0 = 1 OR #0 = 2``), or by too many.
    """
    if not key:
        return None
    expressions = inlined(mfp) if mfp.scalars else None
    parts = [_Part(scalar, scalar_type(scalar, types).type) for scalar in key]
    found: list[list[Literal] | None] = [None] * len(parts)
    kept: list[Scalar] = []
    for predicate in _conjuncts(mfp.predicates):
        expression = predicate if expressions is None else inline(predicate, expressions)
        position, choices = _constrained(expression, parts) if expression is not None else (None, None)
        if position is None or choices is None:
            kept.append(predicate)
            continue
        known = found[position]
        found[position] = choices if known is None else [literal for literal in known if literal in choices]
    values = [choices for choices in found if choices is not None]
    if len(values) < len(parts) or math.prod(map(len, values)) > MAX_KEYS:
        return None
    rest = simplify(MapFilterProject(mfp.arity, mfp.scalars, tuple(kept), mfp.projection))
    return tuple(itertools.product(*values)), rest


class _Part:
    """One part of a key."""

    def __init__(self, scalar: Scalar, type: SqlType) -> None:
        self.scalar = scalar
        self.type = type

    def choices(self, predicate: Scalar) -> list[Literal] | None:
        """The values of this part for which the predicate is true, when it says nothing else."""
        match predicate:
            case Call("=", (Literal() as literal, other)) if not isinstance(other, Literal):
                return literals_equal_to(literal, self.type) if other == self.scalar else None
            case Call("=", (other, Literal() as literal)):
                return literals_equal_to(literal, self.type) if other == self.scalar else None
            case Call("or", arguments):
                choices = [self.choices(argument) for argument in arguments]
                if any(some is None for some in choices):
                    return None
                return list(dict.fromkeys(itertools.chain.from_iterable(some or () for some in choices)))
            case _:
                return None


def _conjuncts(predicates: Sequence[Scalar]) -> list[Scalar]:
    pending = list(reversed(predicates))
    found: list[Scalar] = []
    while pending:
        predicate = pending.pop()
        if isinstance(predicate, Call) and predicate.function == "and":
            pending.extend(reversed(predicate.arguments))
        else:
            found.append(predicate)
    return found


def _constrained(predicate: Scalar, parts: Sequence[_Part]) -> tuple[int | None, list[Literal] | None]:
    for position, part in enumerate(parts):
        choices = part.choices(predicate)
        if choices is not None:
            return position, choices
    return None, None


def literals_equal_to(literal: Literal, type: SqlType) -> list[Literal] | None:
    """All values of a type that compare equal to a constant of maybe another type: one or none; None when there may be
    several, or the two do not compare."""
    common = promote(literal.type, type)
    if common is None:
        return None
    value = literal.value
    if value is None:
        return []
    if literal.type is type:
        return [literal]
    converted = _convert(value, literal.type, type)
    return None if converted is None else [Literal.of(value, type) for value in converted]


def _convert(value: Value, source: SqlType, target: SqlType) -> list[Value] | None:
    match value:
        case bool() | str() | bytes() | None:
            return None
        case datetime.datetime():
            return [value.date()] if value.time() == datetime.time() else []
        case datetime.date():
            return [datetime.datetime.combine(value, datetime.time())]
        case _:
            return _convert_number(value, source, target)


def _convert_number(value: int | float | Decimal, source: SqlType, target: SqlType) -> list[Value] | None:
    """Numbers are compared as doubles when one is a float; then large ones are equal to several."""
    if source.is_float or target.is_float:
        compared = float(value)
        if math.isfinite(compared) and abs(compared) > _EXACT_DOUBLES and not target.is_float:
            return None
        if target is SqlType.DOUBLE:
            return [compared]
        if target is SqlType.REAL:
            return _convert_to_real(compared)
        if target is SqlType.NUMERIC:
            return None
        value = compared
    if isinstance(value, float) and not math.isfinite(value):
        return []
    if target is SqlType.NUMERIC:
        return [Decimal(value)]
    whole = int(value)
    bound = _INTEGER_BOUNDS[target]
    return [whole] if whole == value and -bound <= whole < bound else []


def _convert_to_real(value: float) -> list[Value]:
    if not math.isfinite(value):
        return [value]
    try:
        (nearest,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return []
    return [nearest] if nearest == value else []
