"""Scalar expressions as text. :mod:`.parse_scalar` reads what is printed here back into the same expression."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...messages.scalars import Call, CallUser, Cast, ColumnRef, If, Literal, LiteralError, Scalar
from ...messages.types import SqlType

Names = Sequence[str | None]
"""The names of columns by position, None where unknown."""

OR, AND, NOT, COMPARISON, ADDITIVE, MULTIPLICATIVE, UNARY, ATOM = range(8)
"""How strongly an expression's outermost operator binds."""

BINARY: dict[str, int] = {
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">="), COMPARISON),
    **dict.fromkeys(("+", "-", "||"), ADDITIVE),
    **dict.fromkeys(("*", "/", "%"), MULTIPLICATIVE),
}
"""The infix operators and how strongly they bind; all but comparisons group to the left."""

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_NAME = re.compile(r"[\w .-]+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def print_scalar(scalar: Scalar, names: Names = ()) -> str:
    """The expression as text; columns with a known name as ``#0{name}``."""
    return _print(scalar, names)[0]


def print_scalars(scalars: Sequence[Scalar], names: Names = ()) -> str:
    """Expressions, separated by commas."""
    return ", ".join(print_scalar(scalar, names) for scalar in scalars)


def print_operand(scalar: Scalar, least: int, names: Names = ()) -> str:
    """The expression, in parentheses unless it binds at least as strongly as ``least``."""
    text, level = _print(scalar, names)
    return text if level >= least else f"({text})"


def print_column(index: int, names: Names = ()) -> str:
    """``#1``, or ``#1{name}``."""
    name = names[index] if 0 <= index < len(names) else None
    if name is None:
        return f"#{index}"
    return f"#{index}{{{name if _PLAIN_NAME.fullmatch(name) else quote(name)}}}"


def quote(text: str) -> str:
    """A text in double quotes, on one line."""
    escaped = _ESCAPED.sub(lambda match: _ESCAPES.get(match[0]) or f"\\u{{{ord(match[0]):x}}}", text)
    return f'"{escaped}"'


def print_literal(literal: Literal, expected: SqlType | None = None) -> str:
    """A constant. Its type stands before it unless the reader knows to expect it or sees it from the value."""
    raw, type = literal.raw, literal.type
    if raw is None:
        text, natural = "null", SqlType.TEXT
    elif isinstance(raw, bool):
        text, natural = ("true" if raw else "false"), SqlType.BOOLEAN
    elif isinstance(raw, str):
        plain = type is SqlType.NUMERIC and _NUMBER.fullmatch(raw) is not None
        text, natural = (raw if plain else quote(raw)), SqlType.TEXT
    elif type.is_float:
        text, natural = repr(float(raw)), SqlType.DOUBLE
    else:
        text, natural = str(raw), SqlType.BIGINT
    return text if type is (expected or natural) else f"{type} {text}"


def print_user(name: str) -> str:
    """A user function: ``@name``."""
    return f"@{name}" if _IDENTIFIER.fullmatch(name) else f"@{quote(name)}"


def _print(scalar: Scalar, names: Names) -> tuple[str, int]:
    match scalar:
        case ColumnRef(index):
            return print_column(index, names), ATOM
        case Literal():
            return print_literal(scalar), ATOM
        case LiteralError(message):
            return f"error({quote(message)})", ATOM
        case Cast(input, type):
            return f"cast({print_scalar(input, names)} as {type})", ATOM
        case If():
            return _print_case(scalar, names), ATOM
        case CallUser(function, arguments):
            return f"{print_user(function.name)}({print_scalars(arguments, names)})", ATOM
        case Call():
            return _print_call(scalar, names)


def _print_case(scalar: If, names: Names) -> str:
    branches: list[str] = []
    rest: Scalar = scalar
    while isinstance(rest, If):
        branches.append(f"when {print_scalar(rest.condition, names)} then {print_scalar(rest.then, names)}")
        rest = rest.otherwise
    return f"case {' '.join(branches)} else {print_scalar(rest, names)} end"


def _print_call(call: Call, names: Names) -> tuple[str, int]:
    match call.function, call.arguments:
        case "or" | "and" as function, arguments if len(arguments) > 1:
            level = OR if function == "or" else AND
            parts = [print_operand(argument, level + 1, names) for argument in arguments]
            return f" {function.upper()} ".join(parts), level
        case "not", (Call("is_null", (argument,)),):
            return f"{print_operand(argument, ADDITIVE, names)} IS NOT NULL", COMPARISON
        case "is_null", (argument,):
            return f"{print_operand(argument, ADDITIVE, names)} IS NULL", COMPARISON
        case "not", (argument,):
            return f"NOT {print_operand(argument, NOT, names)}", NOT
        case "neg", (argument,):
            operand = print_operand(argument, ATOM, names)
            return f"-{operand}" if isinstance(argument, ColumnRef) else f"-({print_scalar(argument, names)})", UNARY
        case function, (left, right) if function in BINARY:
            level = BINARY[function]
            least = ADDITIVE if level == COMPARISON else level
            texts = print_operand(left, least, names), print_operand(right, level + 1, names)
            return f"{texts[0]} {function} {texts[1]}", level
        case function, arguments:
            return f"{function}({print_scalars(arguments, names)})", ATOM
