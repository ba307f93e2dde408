"""Which expressions can fail for a row. One that can is not moved to where it would see more rows."""

from __future__ import annotations

from collections.abc import Sequence

from ...messages.scalars import Call, CallUser, Cast, ColumnRef, If, Literal, LiteralError, Scalar
from ...messages.types import ColumnType, SqlType
from ..scalars.typing import scalar_type
from .trees import scalar_inputs

_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "and", "or", "not", "is_null")
_CHOICES = ("coalesce", "least", "greatest", "nullif")
_TEXTS = ("||", "length", "upper", "lower", "trim", "ltrim", "rtrim", "concat", "starts_with", "ends_with", "contains")
_DATES = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "dow", "doy", "epoch")
_SAFE = frozenset(_COMPARISONS + _CHOICES + _TEXTS + _DATES)
_WIDER = (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT, SqlType.NUMERIC)


def may_fail(scalar: Scalar, types: Sequence[ColumnType]) -> bool:
    """Whether the expression can be an error for some row of these types. Never False for one that can."""
    match scalar:
        case ColumnRef() | Literal():
            return False
        case LiteralError() | CallUser():
            return True
        case Call(function, arguments):
            return function not in _SAFE or any(may_fail(argument, types) for argument in arguments)
        case Cast(input, type):
            return may_fail(input, types) or not always_casts(scalar_type(input, types).type, type)
        case If():
            return any(may_fail(part, types) for part in scalar_inputs(scalar))


def always_casts(source: SqlType, target: SqlType) -> bool:
    """Whether every value of one type has a counterpart in the other."""
    if source is target or target is SqlType.TEXT:
        return True
    if target is SqlType.DOUBLE:
        return source.is_number
    if source in _WIDER and target in _WIDER:
        return _WIDER.index(source) <= _WIDER.index(target)
    return source is SqlType.DATE and target is SqlType.TIMESTAMP
