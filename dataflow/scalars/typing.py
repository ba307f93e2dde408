"""Types of scalar expressions. What this accepts, compilation accepts, and gives columns of the type found here."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ...messages.errors import ExpressionError, FunctionArgumentsError
from ...messages.scalars import Call, CallUser, Cast, ColumnRef, If, Literal, LiteralError, Scalar
from ...messages.types import ColumnType, SqlType
from .functions import FUNCTIONS, result_type
from .promotion import can_cast, promote

UNDECIDED = ColumnType(SqlType.TEXT, nullable=False)
"""The type of an expression that always fails, where nothing around it asks for another."""


_CANDIDATES = (SqlType.TEXT, SqlType.BOOLEAN, SqlType.BIGINT, SqlType.TIMESTAMP)
_SEARCHED = 3
"""Of so many arguments that always fail, types are tried independently; further ones take the last one's."""


def scalar_type(scalar: Scalar, inputs: Sequence[ColumnType]) -> ColumnType:
    """The type of an expression over columns of these types.

    Raises:
        ExpressionError: it is ill-formed; the message says how.
    """
    return _infer(scalar, inputs) or UNDECIDED


def always_fails(scalar: Scalar) -> bool:
    """Whether the expression has no type of its own and takes that of its neighbours."""
    match scalar:
        case LiteralError():
            return True
        case If(_, then, otherwise):
            return always_fails(then) and always_fails(otherwise)
        case _:
            return False


def argument_types(call: Call, inputs: Sequence[ColumnType]) -> tuple[ColumnType, ...]:
    """The types of a call's arguments; an argument that always fails takes the type of its neighbours.

    Raises:
        ExpressionError: an argument is ill-formed.
    """
    types = [_infer(argument, inputs) for argument in call.arguments]
    known = [type for type in types if type is not None]
    if len(known) == len(types):
        return tuple(known)
    return _stand_ins(call.function, types)


def _stand_ins(function: str, types: Sequence[ColumnType | None]) -> tuple[ColumnType, ...]:
    """Types that a function takes, the given ones where they are known."""
    entry = FUNCTIONS.get(function)
    candidates = (*(type.type for type in types if type is not None), *_CANDIDATES)
    missing = sum(type is None for type in types)
    for chosen in itertools.product(candidates, repeat=min(missing, _SEARCHED)):
        fill = iter((*chosen, *[chosen[-1]] * (missing - len(chosen))))
        filled = tuple(ColumnType(next(fill), nullable=False) if type is None else type for type in types)
        if entry is None or not entry.minimum <= len(filled) <= entry.maximum:
            return filled
        if entry.rule([type.type for type in filled]) is not None:
            return filled
    return tuple(UNDECIDED if type is None else type for type in types)


def _infer(scalar: Scalar, inputs: Sequence[ColumnType]) -> ColumnType | None:
    """The type, or None for an expression that always fails and so fits in anywhere."""
    match scalar:
        case ColumnRef(index):
            if not 0 <= index < len(inputs):
                raise ExpressionError(f"there is no column #{index}: the input has {len(inputs)} columns")
            return inputs[index]
        case Literal(raw, type):
            return ColumnType(type, nullable=raw is None)
        case LiteralError():
            return None
        case Call(function):
            return result_type(function, argument_types(scalar, inputs))
        case Cast(input, type):
            source = _infer(input, inputs)
            if source is None:
                return ColumnType(type, nullable=False)
            if not can_cast(source.type, type):
                raise FunctionArgumentsError("cast", (str(source.type), str(type)), "a type that can become the other")
            return ColumnType(type, source.nullable)
        case If(condition, then, otherwise):
            return _infer_if(_infer(condition, inputs), _infer(then, inputs), _infer(otherwise, inputs))
        case CallUser(function, arguments):
            for argument in arguments:
                _infer(argument, inputs)
            return function.result


def _infer_if(condition: ColumnType | None, then: ColumnType | None, otherwise: ColumnType | None) -> ColumnType | None:
    if condition is not None and condition.type is not SqlType.BOOLEAN:
        raise FunctionArgumentsError("if", (str(condition.type),), "a boolean condition")
    if then is None or otherwise is None:
        return then or otherwise
    type = promote(then.type, otherwise.type)
    if type is None:
        raise FunctionArgumentsError("if", (str(then.type), str(otherwise.type)), "two branches of one type")
    return ColumnType(type, then.nullable or otherwise.nullable)
