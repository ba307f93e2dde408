"""From a scalar expression to a program over columns.

Compiled once into closures, run once per batch: the number of Python calls depends on the expression and never on the
number of rows. Constants are folded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ...messages.scalars import Call, CallUser, Cast, ColumnRef, If, Literal, LiteralError, Scalar
from ...messages.types import ColumnType, SqlType
from ..columns.column import Column
from . import arithmetic, comparisons, conditionals, dates, logic, mathematics, texts
from .casts import cast
from .distinct_values import by_distinct_values
from .functions import result_type
from .nodes import Node, column_node, error_node, fold, literal_node
from .promotion import common_type, promote
from .typing import always_fails, argument_types, scalar_type
from .user_functions import user_call
from .vectors import Errors, is_arrow, to_column

DATES = (SqlType.DATE, SqlType.TIMESTAMP)


class Evaluated(NamedTuple):
    """What an expression gave: a value per row, and which rows failed (their values mean nothing)."""

    column: Column
    errors: Errors | None


class ScalarProgram:
    """A compiled expression.

    Attributes:
        type: of its result.
        fallible: whether a row can fail.
    """

    __slots__ = ("_node", "_quiet", "fallible", "type")

    def __init__(self, node: Node, type: ColumnType) -> None:
        self._node = node
        self._quiet = node.floating or node.fallible
        self.type = type
        self.fallible = node.fallible

    def __call__(self, columns: Sequence[Column], size: int) -> Evaluated:
        """Evaluate for the ``size`` rows of these columns."""
        if self._quiet:
            # NaN and infinity are values like any other, and what is out of range was looked for. NumPy warns of
            # integers as well, where both sides are constants.
            with np.errstate(all="ignore"):
                vector = self._node.run(columns, size)
        else:
            vector = self._node.run(columns, size)
        return Evaluated(to_column(vector, self.type.type, size), vector[2])


def compile_scalar(scalar: Scalar, types: Sequence[ColumnType], *, trust: bool = False) -> ScalarProgram:
    """Compile an expression over columns of these types.

    Args:
        trust: whether user functions may be loaded.

    Raises:
        ExpressionError: it is ill-formed.
        UntrustedFunctionError, UserFunctionError: a user function cannot be loaded.
    """
    type = scalar_type(scalar, types)
    return ScalarProgram(Compiler(types, len(types), trust).node(scalar, type.type), type)


class Compiler:
    """Compiles the expressions of one row, after they were typed: ``types`` are its columns', of which the first
    ``arity`` are the input's."""

    def __init__(self, types: Sequence[ColumnType], arity: int, trust: bool) -> None:
        self.types = types
        self._arity = arity
        self._trust = trust

    def node(self, scalar: Scalar, wanted: SqlType | None = None) -> Node:
        """The compiled expression, converted to the wanted type where one is given."""
        if isinstance(scalar, LiteralError):
            return error_node(wanted or scalar_type(scalar, self.types).type, scalar.message)
        node = self._compile(scalar)
        if wanted is not None:
            node = cast(node, wanted)
        text = self._only_text(scalar, node)
        return node if text is None else by_distinct_values(node, text)

    def _only_text(self, scalar: Scalar, node: Node) -> int | None:
        """The column of text or bytea that is the only one that a built-in function reads."""
        if len(node.columns) != 1 or isinstance(scalar, ColumnRef):
            return None
        (index,) = node.columns
        if index >= self._arity or not is_arrow(self.types[index].type) or _calls_user(scalar):
            return None
        return index

    def _compile(self, scalar: Scalar) -> Node:
        match scalar:
            case ColumnRef(index):
                return column_node(index, self.types[index].type, input=index < self._arity)
            case Literal():
                return literal_node(scalar)
            case Cast(input, type):
                return self.node(input, type)
            case If():
                return self._choice(scalar)
            case CallUser(function, arguments):
                nodes = [self.node(argument) for argument in arguments]
                return user_call(function, nodes, trust=self._trust)
            case Call():
                return self._call(scalar)
            case LiteralError():
                return self.node(scalar)

    def _choice(self, scalar: If) -> Node:
        condition = self.node(scalar.condition, SqlType.BOOLEAN)
        if always_fails(scalar.then) or always_fails(scalar.otherwise):
            type = scalar_type(scalar, self.types).type
            then, otherwise = self.node(scalar.then, type), self.node(scalar.otherwise, type)
        else:
            then, otherwise = self.node(scalar.then), self.node(scalar.otherwise)
            type = promote(then.type, otherwise.type)
            assert type is not None, "the expression was typed before"
            then, otherwise = cast(then, type), cast(otherwise, type)
        if condition.constant is not None:
            values, valid, _ = condition.constant
            return then if values and valid is None else otherwise
        return conditionals.choice(condition, then, otherwise)

    def _call(self, call: Call) -> Node:
        if any(always_fails(argument) for argument in call.arguments):
            wanted = argument_types(call, self.types)
            nodes = [self.node(argument, type.type) for argument, type in zip(call.arguments, wanted, strict=True)]
        else:
            nodes = [self.node(argument) for argument in call.arguments]
        types = [node.type for node in nodes]
        result = result_type(call.function, [ColumnType(type) for type in types]).type
        shared = self._argument_type(call.function, types, result)
        if shared is not None:
            nodes = [cast(node, shared) for node in nodes]
        if call.function == "nullif":
            common = common_type(types)
            assert common is not None
            return fold(lambda n: comparisons.nullif(n[0], cast(n[0], common), cast(n[1], common)), nodes)
        return fold(partial(_build, call.function, result), nodes)

    def _argument_type(self, function: str, types: Sequence[SqlType], result: SqlType) -> SqlType | None:
        """The type that all arguments are converted to; None when each keeps its own."""
        if function in _COMPARISONS or function in ("coalesce", "least", "greatest"):
            return common_type(types)
        if function in ("sqrt", "ln", "exp", "power"):
            return SqlType.DOUBLE
        if function in _OPERATORS:
            return None if any(type in DATES for type in types) and result is not SqlType.DOUBLE else _operands(types)
        return None


def _calls_user(scalar: Scalar) -> bool:
    match scalar:
        case CallUser():
            return True
        case Call(_, arguments):
            return any(_calls_user(argument) for argument in arguments)
        case Cast(input):
            return _calls_user(input)
        case If(condition, then, otherwise):
            return any(_calls_user(part) for part in (condition, then, otherwise))
        case _:
            return False


_COMPARISONS = frozenset(("=", "!=", "<", "<=", ">", ">="))
_OPERATORS = frozenset(("+", "-", "*", "/", "%"))
_PARTS = frozenset(("year", "quarter", "month", "week", "day", "hour", "minute", "second", "dow", "doy"))


def _operands(types: Sequence[SqlType]) -> SqlType | None:
    return promote(types[0], types[1])


def _build(function: str, result: SqlType, nodes: Sequence[Node]) -> Node:
    """The node of a function whose arguments have the types that it works on."""
    if function in _COMPARISONS:
        return comparisons.comparison(function, nodes[0], nodes[1])
    if function in _OPERATORS:
        return _operator(function, result, nodes[0], nodes[1])
    if function in texts.TEXT_FUNCTIONS:
        return texts.text_function(function, nodes)
    if function in _PARTS:
        return dates.date_part(function, nodes[0])
    return _OTHERS[function](nodes)


def _operator(function: str, result: SqlType, left: Node, right: Node) -> Node:
    if left.type in DATES:
        if right.type in DATES:
            difference = dates.days_between if result is SqlType.INTEGER else dates.fraction_of_days_between
            return difference(left, right)
        return dates.add_days(left, right, subtract=function == "-")
    if right.type in DATES:
        return dates.add_days(right, left)
    return arithmetic.operator(function, result, left, right)


def _round(nodes: Sequence[Node]) -> Node:
    return mathematics.whole_number("round", nodes[0]) if len(nodes) == 1 else mathematics.round_to_digits(*nodes)


_OTHERS: dict[str, Callable[[Sequence[Node]], Node]] = {
    "and": lambda nodes: logic.connective("and", nodes),
    "or": lambda nodes: logic.connective("or", nodes),
    "not": lambda nodes: logic.negation(nodes[0]),
    "coalesce": conditionals.coalesce,
    "||": lambda nodes: texts.concatenation(nodes, skip_nulls=False),
    "concat": lambda nodes: texts.concatenation(nodes, skip_nulls=True),
    "is_null": lambda nodes: comparisons.is_null(nodes[0]),
    "least": lambda nodes: comparisons.extreme("least", nodes),
    "greatest": lambda nodes: comparisons.extreme("greatest", nodes),
    "neg": lambda nodes: arithmetic.negation(nodes[0].type, nodes[0]),
    "abs": lambda nodes: arithmetic.absolute(nodes[0].type, nodes[0]),
    "sign": lambda nodes: mathematics.sign(nodes[0]),
    "floor": lambda nodes: mathematics.whole_number("floor", nodes[0]),
    "ceil": lambda nodes: mathematics.whole_number("ceil", nodes[0]),
    "round": _round,
    "sqrt": lambda nodes: mathematics.function_of_double("sqrt", nodes[0]),
    "ln": lambda nodes: mathematics.function_of_double("ln", nodes[0]),
    "exp": lambda nodes: mathematics.function_of_double("exp", nodes[0]),
    "power": lambda nodes: mathematics.power(nodes[0], nodes[1]),
    "length": lambda nodes: texts.length(nodes[0]),
    "epoch": lambda nodes: dates.epoch(nodes[0]),
    "date_trunc": lambda nodes: texts.date_trunc(nodes[0], nodes[1]),
    "add_seconds": lambda nodes: dates.add_seconds(nodes[0], cast(nodes[1], SqlType.DOUBLE)),
}
