"""The table of scalar functions: names, argument and result types, and what they make of NULL.

How they are computed is in the files beside this one; what they mean follows PostgreSQL. The names here are the ones
in :class:`~pillion.messages.scalars.Call`, in texts and in printed plans.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...messages.errors import FunctionArgumentsError, UnknownFunctionError
from ...messages.types import ColumnType, SqlType
from .promotion import common_type, promote

Types = Sequence[SqlType]
Rule = Callable[[Types], SqlType | None]

_BOOLEAN, _INTEGER, _BIGINT = SqlType.BOOLEAN, SqlType.INTEGER, SqlType.BIGINT
_DOUBLE, _NUMERIC, _TEXT, _BYTEA = SqlType.DOUBLE, SqlType.NUMERIC, SqlType.TEXT, SqlType.BYTEA
_DATE, _TIMESTAMP = SqlType.DATE, SqlType.TIMESTAMP
_MANY = 1_000


class NullRule(enum.Enum):
    """What a function makes of NULL arguments."""

    STRICT = "NULL when any argument is NULL"
    KLEENE = "three-valued logic: NULL unless the other arguments decide"
    SKIPS = "NULL arguments are passed over; NULL when all are NULL"
    NEVER = "never NULL"
    SOMETIMES = "may be NULL although no argument is"


@dataclass(frozen=True, slots=True)
class Function:
    """One entry of the table.

    ``rule`` maps as many argument types as ``minimum`` to ``maximum`` allow to the result type, or to None when the
    function does not take them; ``expected`` is how an error describes what it does take.
    """

    name: str
    minimum: int
    maximum: int
    rule: Rule
    expected: str
    nulls: NullRule = NullRule.STRICT


def _exactly(arguments: Types, result: SqlType) -> Rule:
    """Arguments of exactly these types, of which the last may be absent or repeated as the arity allows; an integer
    of any width stands for a bigint, and any number for a double."""

    def rule(given: Types) -> SqlType | None:
        for position, type in enumerate(given):
            wanted = arguments[min(position, len(arguments) - 1)]
            if type is wanted or (wanted is _BIGINT and type.is_integer) or (wanted is _DOUBLE and type.is_number):
                continue
            return None
        return result

    return rule


def _arithmetic(given: Types) -> SqlType | None:
    left, right = given
    return promote(left, right) if left.is_number and right.is_number else None


def _add(given: Types) -> SqlType | None:
    left, right = given
    if left in (_DATE, _TIMESTAMP) and right.is_integer:
        return left
    if right in (_DATE, _TIMESTAMP) and left.is_integer:
        return right
    return _arithmetic(given)


def _subtract(given: Types) -> SqlType | None:
    left, right = given
    if left in (_DATE, _TIMESTAMP):
        if right.is_integer:
            return left
        if left is right is _DATE:
            return _INTEGER
        return _DOUBLE if right in (_DATE, _TIMESTAMP) else None
    return _arithmetic(given)


def _comparison(given: Types) -> SqlType | None:
    return None if promote(*given) is None else _BOOLEAN


def _same_number(given: Types) -> SqlType | None:
    return given[0] if given[0].is_number else None


def _round(given: Types) -> SqlType | None:
    return None if len(given) == 2 and not given[1].is_integer else _same_number(given)


def _nullif(given: Types) -> SqlType | None:
    return None if promote(*given) is None else given[0]


def _length(given: Types) -> SqlType | None:
    return _INTEGER if given[0] in (_TEXT, _BYTEA) else None


def _join_text(given: Types) -> SqlType | None:
    return given[0] if given[0] is given[1] and given[0] in (_TEXT, _BYTEA) else None


def _date_part(given: Types) -> SqlType | None:
    return _INTEGER if given[0] in (_DATE, _TIMESTAMP) else None


def _date_trunc(given: Types) -> SqlType | None:
    return given[1] if given[0] is _TEXT and given[1] in (_DATE, _TIMESTAMP) else None


def _epoch(given: Types) -> SqlType | None:
    return _DOUBLE if given[0] in (_DATE, _TIMESTAMP) else None


_NUMBERS = "two numbers"
_SUMMANDS = "two numbers, or a date or timestamp and an integer (days)"
_DIFFERENCE = "two numbers, a date or timestamp and an integer (days), or two dates or timestamps"
_COMPARABLE = "two values of one type, two numbers, or a date and a timestamp"
_ALIKE = "values of one type, or numbers, or dates and timestamps"
_STRING = _exactly((_TEXT,), _TEXT)
_TEST = _exactly((_TEXT,), _BOOLEAN)
_MATH = _exactly((_DOUBLE,), _DOUBLE)

_TABLE: tuple[Function, ...] = (
    # Operators.
    Function("+", 2, 2, _add, _SUMMANDS),
    Function("-", 2, 2, _subtract, _DIFFERENCE),
    Function("*", 2, 2, _arithmetic, _NUMBERS),
    Function("/", 2, 2, _arithmetic, _NUMBERS),
    Function("%", 2, 2, _arithmetic, _NUMBERS),
    *(Function(name, 2, 2, _comparison, _COMPARABLE) for name in ("=", "!=", "<", "<=", ">", ">=")),
    Function("and", 1, _MANY, _exactly((_BOOLEAN,), _BOOLEAN), "booleans", NullRule.KLEENE),
    Function("or", 1, _MANY, _exactly((_BOOLEAN,), _BOOLEAN), "booleans", NullRule.KLEENE),
    Function("not", 1, 1, _exactly((_BOOLEAN,), _BOOLEAN), "a boolean"),
    Function("||", 2, 2, _join_text, "two texts or two byteas"),
    # NULL and choice.
    Function("is_null", 1, 1, lambda given: _BOOLEAN, "one argument", NullRule.NEVER),
    Function("coalesce", 1, _MANY, common_type, _ALIKE, NullRule.SKIPS),
    Function("least", 1, _MANY, common_type, _ALIKE, NullRule.SKIPS),
    Function("greatest", 1, _MANY, common_type, _ALIKE, NullRule.SKIPS),
    Function("nullif", 2, 2, _nullif, _COMPARABLE, NullRule.SOMETIMES),
    # Numbers.
    Function("neg", 1, 1, _same_number, "a number"),
    Function("abs", 1, 1, _same_number, "a number"),
    Function("sign", 1, 1, _same_number, "a number"),
    Function("floor", 1, 1, _same_number, "a number"),
    Function("ceil", 1, 1, _same_number, "a number"),
    Function("round", 1, 2, _round, "a number, and optionally how many digits after the point (an integer)"),
    Function("sqrt", 1, 1, _MATH, "a number"),
    Function("ln", 1, 1, _MATH, "a number"),
    Function("exp", 1, 1, _MATH, "a number"),
    Function("power", 2, 2, _MATH, _NUMBERS),
    # Text.
    Function("length", 1, 1, _length, "a text or a bytea"),
    Function("upper", 1, 1, _STRING, "a text"),
    Function("lower", 1, 1, _STRING, "a text"),
    *(
        Function(name, 1, 2, _STRING, "a text, and optionally the characters to remove")
        for name in ("trim", "ltrim", "rtrim")
    ),
    Function("substr", 2, 3, _exactly((_TEXT, _BIGINT), _TEXT), "a text, the first position from 1, maybe a length"),
    Function("concat", 1, _MANY, _STRING, "texts", NullRule.NEVER),
    Function("replace", 3, 3, _STRING, "a text, what to replace, and by what"),
    Function(
        "split_part",
        3,
        3,
        lambda given: _TEXT if given[:2] == [_TEXT, _TEXT] and given[2].is_integer else None,
        "a text, a separator, and which part, from 1",
    ),
    Function("like", 2, 2, _TEST, "a text and a pattern"),
    Function("starts_with", 2, 2, _TEST, "two texts"),
    Function("ends_with", 2, 2, _TEST, "two texts"),
    Function("contains", 2, 2, _TEST, "two texts"),
    # Dates.
    *(
        Function(name, 1, 1, _date_part, "a date or a timestamp")
        for name in ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "dow", "doy")
    ),
    Function("epoch", 1, 1, _epoch, "a date or a timestamp"),
    Function("date_trunc", 2, 2, _date_trunc, "a unit (text) and a date or timestamp"),
    Function("add_seconds", 2, 2, _exactly((_TIMESTAMP, _DOUBLE), _TIMESTAMP), "a timestamp and a number of seconds"),
)

FUNCTIONS: dict[str, Function] = {function.name: function for function in _TABLE}
"""Every scalar function by name. ``x IS NOT NULL`` is ``not(is_null(x))``."""


def result_type(function: str, argument_types: Sequence[ColumnType]) -> ColumnType:
    """The type of a call, and whether it may be NULL.

    Raises:
        UnknownFunctionError: there is no such function.
        FunctionArgumentsError: it does not take these types, or not this many.
    """
    entry = FUNCTIONS.get(function)
    if entry is None:
        raise UnknownFunctionError(function, tuple(difflib.get_close_matches(function, FUNCTIONS, n=2)))
    given = [argument.type for argument in argument_types]
    in_range = entry.minimum <= len(given) <= entry.maximum
    type = entry.rule(given) if in_range else None
    if type is None:
        raise FunctionArgumentsError(function, tuple(str(t) for t in given), entry.expected)
    return ColumnType(type, _nullable(entry.nulls, argument_types))


def _nullable(rule: NullRule, arguments: Sequence[ColumnType]) -> bool:
    match rule:
        case NullRule.STRICT | NullRule.KLEENE:
            return any(argument.nullable for argument in arguments)
        case NullRule.SKIPS:
            return all(argument.nullable for argument in arguments)
        case NullRule.NEVER:
            return False
        case NullRule.SOMETIMES:
            return True
