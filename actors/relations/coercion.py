"""Implicit conversions: what a constant becomes next to a column, and what two types have in common.

A constant without a type takes the type of its surroundings when it is a value of that type, so that
``col("small") + 1`` stays small and ``col("day") > "2013-12-01"`` compares dates. Numbers widen
(smallint, integer, bigint, numeric; anything with a double is a double); nothing else is converted silently.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from ...messages.scalars import Cast, Literal, Scalar, Value
from ...messages.types import NUMERIC_PRECISION, NUMERIC_SCALE, ColumnType, SqlType
from .errors import ExpressionTypeError
from .nodes import Node, show
from .types import sql_type_of_value

INTEGER_BITS = {SqlType.SMALLINT: 16, SqlType.INTEGER: 32, SqlType.BIGINT: 64}
_BIGINT_LIMIT = 1 << 63
_INTEGERS = (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT)


@dataclass(frozen=True, slots=True)
class Bound:
    """A scalar over the columns of a relation, its type, and how the user wrote it.

    ``source``: the syntax, or a text to show for it. ``flexible``: a constant that was given no type, so that its
    surroundings may choose; NULL then fits any.
    """

    scalar: Scalar
    type: ColumnType
    source: Node | str
    flexible: bool = False

    @property
    def shown(self) -> str:
        """How errors show it."""
        return self.source if isinstance(self.source, str) else show(self.source)

    @property
    def sql(self) -> SqlType:
        return self.type.type

    @property
    def is_null(self) -> bool:
        return self.flexible and isinstance(self.scalar, Literal) and self.scalar.raw is None


def literal_of(value: Value, type: SqlType) -> Literal:
    """The value as a literal of this type, converted when nothing is lost by it.

    Raises:
        ExpressionTypeError: it is no value of that type.
    """
    if value.__class__ is int and type is SqlType.BIGINT and -_BIGINT_LIMIT <= value < _BIGINT_LIMIT:  # type: ignore[operator]
        # The usual key of a lookup.
        return Literal(value, type)  # type: ignore[arg-type]
    if value is None:
        return Literal.of(None, type)
    converted = _convert(value, type)
    if converted is None:
        kind = sql_type_of_value(value)
        raise ExpressionTypeError(f"{value!r} is no {type} ({kind or value.__class__.__name__} was given)")
    try:
        return Literal.of(converted, type)
    except (ValueError, TypeError) as error:
        raise ExpressionTypeError(str(error)) from None


def _convert(value: Value, type: SqlType) -> Value:
    """None when the value has no counterpart."""
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    match type:
        case SqlType.SMALLINT | SqlType.INTEGER | SqlType.BIGINT if number:
            bits = INTEGER_BITS[type]
            whole = math.isfinite(value) and value == int(value)  # type: ignore[arg-type]
            return int(value) if whole and -(1 << bits - 1) <= value < 1 << bits - 1 else None  # type: ignore
        case SqlType.REAL | SqlType.DOUBLE if number:
            return float(value)  # type: ignore[arg-type]
        case SqlType.NUMERIC if number:
            return _decimal(value)  # type: ignore[arg-type]
        case SqlType.DATE | SqlType.TIMESTAMP:
            return _moment(value, type)
        case _:
            return value if sql_type_of_value(value) is type else None


def _decimal(value: float | Decimal) -> Decimal | None:
    try:
        exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if not exact.is_finite():
            return None
        scaled = exact.normalize()
    except InvalidOperation:
        return None
    exponent = scaled.as_tuple().exponent
    assert isinstance(exponent, int), "a finite decimal has a number as exponent"
    fits = exponent >= -NUMERIC_SCALE and scaled.adjusted() < NUMERIC_PRECISION - NUMERIC_SCALE
    return exact if fits else None


def _moment(value: Value, type: SqlType) -> Value:
    try:
        if type is SqlType.DATE:
            if isinstance(value, str):
                return datetime.date.fromisoformat(value)
            is_date = isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
            return value if is_date else None
        if isinstance(value, str):
            value = datetime.datetime.fromisoformat(value)
        elif isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
            value = datetime.datetime(value.year, value.month, value.day)
    except ValueError:
        return None
    if not isinstance(value, datetime.datetime):
        return None
    return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)


def bind_constant(value: Value, type: SqlType | None, source: Node | str) -> Bound:
    """A constant, of its own type or of one to be chosen."""
    if type is not None:
        return Bound(Literal.of(value, type), ColumnType(type, value is None), source)
    own = sql_type_of_value(value)
    if own is SqlType.BIGINT and _convert(value, SqlType.BIGINT) is None:
        own = SqlType.NUMERIC
    return Bound(literal_of(value, own or SqlType.TEXT), ColumnType(own or SqlType.TEXT, value is None), source, True)


def coerce(bound: Bound, to: SqlType) -> Bound:
    """The same value as another type: a constant is converted here, anything else is cast.

    Raises:
        ExpressionTypeError: a constant that is no value of that type.
    """
    if bound.sql is to and not bound.flexible:
        return bound
    if isinstance(bound.scalar, Literal):
        literal = literal_of(bound.scalar.value, to)
        return Bound(literal, ColumnType(to, literal.raw is None), bound.source)
    return Bound(Cast(bound.scalar, to), ColumnType(to, bound.type.nullable), bound.source)


def common_type(bounds: Sequence[Bound], operation: Node | str) -> SqlType:
    """The type that all of them can take without losing anything but digits of a double.

    Raises:
        ExpressionTypeError: there is none; names what was given.
    """
    fixed = {bound.sql for bound in bounds if not bound.flexible}
    loose = [bound for bound in bounds if bound.flexible and not bound.is_null]
    if not fixed:
        fixed = {bound.sql for bound in loose}
        if not fixed:
            raise ExpressionTypeError(
                f"{_named(operation)} of nothing but NULL has no type; give NULL one: lit(None, 'bigint')"
            )
    found = _widest(fixed)
    for bound in loose:
        found = None if found is None else _admit(bound, found)
    if found is None:
        given = ", ".join(f"{bound.shown} is {'NULL' if bound.is_null else bound.sql}" for bound in bounds)
        raise ExpressionTypeError(
            f"{_named(operation)} needs operands of one type: {given}; convert one of them with .cast(…)"
        )
    return found


def _named(operation: Node | str) -> str:
    return operation if isinstance(operation, str) else show(operation)


def _admit(constant: Bound, type: SqlType) -> SqlType | None:
    """The type that a constant and others of ``type`` have in common: preferably ``type`` itself."""
    assert isinstance(constant.scalar, Literal), "only constants are flexible"
    value = constant.scalar.value
    if _convert(value, type) is not None and not (type.is_integer and isinstance(value, float)):
        return type
    if constant.sql is SqlType.DOUBLE and type is SqlType.NUMERIC:
        return SqlType.DOUBLE
    if constant.sql is SqlType.TEXT:
        return None
    return _widest({constant.sql, type})


def _widest(types: set[SqlType]) -> SqlType | None:
    if len(types) == 1:
        return next(iter(types))
    if types == {SqlType.DATE, SqlType.TIMESTAMP}:
        return SqlType.TIMESTAMP
    if not all(type.is_number for type in types):
        return None
    if SqlType.DOUBLE in types:
        return SqlType.DOUBLE
    if SqlType.REAL in types:
        return SqlType.REAL if types == {SqlType.REAL, SqlType.SMALLINT} else SqlType.DOUBLE
    if SqlType.NUMERIC in types:
        return SqlType.NUMERIC
    return max(types, key=_INTEGERS.index)
