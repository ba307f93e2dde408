"""The syntax tree of an expression, before it knows which relation it will be used on.

Columns are names here; :mod:`.binding` turns a tree into positional scalars against the columns of a relation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, cast

from ...messages.scalars import UserFunction, Value
from ...messages.types import SqlType
from .errors import RelationError

MAX_DEPTH = 100
"""How deep expressions may nest; the engine's own limit is above it."""


@dataclass(frozen=True, slots=True)
class _Nested:
    """Base of nodes that are made of others: keeps how deep they nest, and the limit on it."""

    depth: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        depth = 1 + max((child.depth for child in children(cast("Node", self))), default=0)
        if depth > MAX_DEPTH:
            raise RelationError(
                f"an expression is nested deeper than {MAX_DEPTH} levels; compute a part of it with with_columns first"
            )
        object.__setattr__(self, "depth", depth)


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column of the relation, by name."""

    name: str
    depth: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class Constant:
    """A value. Without a type it takes the one that its surroundings ask for, if it is a value of that type."""

    value: Value
    type: SqlType | None = None
    depth: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class Call(_Nested):
    """A function of the table in :mod:`.functions`, by name."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Cast(_Nested):
    input: Node
    type: SqlType


@dataclass(frozen=True, slots=True)
class Conditional(_Nested):
    """The value of the first branch whose condition is true, else ``otherwise``, else NULL."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(frozen=True, slots=True)
class CallUser(_Nested):
    """A user function, with the types that it declared for its arguments (None: whatever comes)."""

    function: UserFunction
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Aggregation(_Nested):
    """An aggregate over the rows of a group; ``input`` None is ``count(*)``."""

    function: str
    input: Node | None
    distinct: bool = False
    parameters: tuple[Constant, ...] = ()
    user: UserFunction | None = None


Node = ColumnName | Constant | Call | Cast | Conditional | CallUser | Aggregation

_INFIX = frozenset({"+", "-", "*", "/", "//", "%", "=", "!=", "<", "<=", ">", ">=", "and", "or"})
_SHOWN = 8
"""Operands of one ``&`` or ``|`` that are shown."""
_SYMBOLS = {"=": "==", "and": "&", "or": "|"}


def show(node: Node) -> str:
    """The expression as a user would write it, for error messages and ``repr``."""
    match node:
        case ColumnName(name):
            return f"col({name!r})"
        case Constant(value):
            return repr(value)
        case Call(function, arguments) if function in _INFIX:
            symbol = _SYMBOLS.get(function, function)
            shown = [_operand(argument) for argument in arguments[:_SHOWN]]
            return f" {symbol} ".join(shown if len(arguments) <= _SHOWN else [*shown, "…"])
        case Call("not", (argument,)):
            return f"~{_operand(argument)}"
        case Call("is_null", (argument,)):
            return f"{_operand(argument)}.is_null()"
        case Call(function, arguments):
            return f"{function}({', '.join(show(argument) for argument in arguments)})"
        case Cast(argument, to):
            return f"{_operand(argument)}.cast({to.value!r})"
        case Conditional(branches, otherwise):
            shown = "".join(f".when({show(condition)}).then({show(then)})" for condition, then in branches)
            tail = "" if otherwise is None else f".otherwise({show(otherwise)})"
            return shown.removeprefix(".") + tail
        case CallUser(function, arguments):
            return f"{function.name}({', '.join(show(argument) for argument in arguments)})"
        case Aggregation(function, argument, distinct):
            if argument is None:
                return f"{function}()"
            return f"{_operand(argument)}.{'n_unique' if distinct and function == 'count' else function}()"


def _operand(node: Node) -> str:
    text = show(node)
    return f"({text})" if isinstance(node, Call) and node.function in _INFIX else text


def children(node: Node) -> tuple[Node, ...]:
    """The expressions that this one is made of."""
    match node:
        case ColumnName() | Constant():
            return ()
        case Call(_, arguments) | CallUser(_, arguments):
            return arguments
        case Cast(argument):
            return (argument,)
        case Conditional(branches, otherwise):
            parts = tuple(part for branch in branches for part in branch)
            return parts if otherwise is None else (*parts, otherwise)
        case Aggregation(_, argument):
            return () if argument is None else (argument,)


def has_aggregation(node: Node) -> bool:
    """Whether an aggregate occurs anywhere in the expression."""
    return isinstance(node, Aggregation) or any(has_aggregation(child) for child in children(node))


def default_name(node: Node) -> str | None:
    """The output name of an expression that was not given one: its leftmost column's, as in Polars."""
    if isinstance(node, ColumnName):
        return node.name
    if isinstance(node, Aggregation) and node.input is None:
        return node.function
    for child in children(node):
        name = default_name(child)
        if name is not None:
            return name
    return None
