"""From names to positions: an expression meets the columns of a relation and becomes a typed scalar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn, Protocol

from ...dataflow.scalars.functions import result_type
from ...dataflow.scalars.promotion import can_cast
from ...dataflow.scalars.typing import scalar_type
from ...messages import scalars
from ...messages.errors import ExpressionError, FunctionArgumentsError
from ...messages.scalars import ColumnRef, Literal, Scalar
from ...messages.types import ColumnType, Schema, SqlType
from .coercion import Bound, bind_constant, coerce, common_type
from .division import floor_divide, floor_modulo
from .errors import ExpressionTypeError, RelationError, UnknownColumnError
from .nodes import Aggregation, Call, CallUser, Cast, ColumnName, Conditional, Constant, Node, show

_CHAIN_LIMIT = 500
"""Arguments of one ``and`` or ``or``; longer chains are nested."""

_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%"})
_SAME_TYPE = _COMPARISONS | {"coalesce", "greatest", "least", "nullif"}


class Scope(Protocol):
    """What an expression may refer to."""

    @property
    def types(self) -> tuple[ColumnType, ...]:
        """Of the positions that :meth:`column` and :meth:`aggregation` give out."""
        ...

    def column(self, node: ColumnName) -> Bound: ...

    def aggregation(self, node: Aggregation) -> Bound: ...


@dataclass(frozen=True, slots=True)
class RowScope:
    """The columns of one row; ``where`` is the operation, for errors."""

    schema: Schema
    where: str

    @property
    def types(self) -> tuple[ColumnType, ...]:
        return self.schema.types

    def column(self, node: ColumnName) -> Bound:
        position = position_of(node.name, self.schema, self.where)
        return Bound(ColumnRef(position), self.schema.fields[position].column_type, node)

    def aggregation(self, node: Aggregation) -> NoReturn:
        raise RelationError(
            f"{self.where} computes row by row, and {show(node)} aggregates many rows; "
            "use .group_by(…).agg(…), or .agg(…) for all rows"
        )


def position_of(name: str, schema: Schema, where: str) -> int:
    """Where the column stands.

    Raises:
        UnknownColumnError: the relation has none of this name.
    """
    for position, field in enumerate(schema.fields):
        if field.name == name:
            return position
    raise UnknownColumnError(name, schema.names, f"{where}: the relation")


def bind(node: Node, scope: Scope) -> Bound:
    """The scalar that an expression is, over the columns of a scope.

    Raises:
        UnknownColumnError: it names a column that is not there.
        ExpressionTypeError: an operation is not defined for what it is applied to.
        RelationError: an aggregate where none may be.
    """
    match node:
        case ColumnName():
            return scope.column(node)
        case Aggregation():
            return scope.aggregation(node)
        case Constant(value, type):
            return bind_constant(value, type, node)
        case Cast(argument, type):
            return _bind_cast(bind(argument, scope), type, node)
        case Conditional():
            return _bind_conditional(node, scope)
        case CallUser(function, arguments):
            given = tuple(bind(argument, scope).scalar for argument in arguments)
            return Bound(scalars.CallUser(function, given), function.result, node)
        case Call("and" | "or" as function):
            return _bind_chain(function, node, scope)
        case Call(function, arguments):
            return _bind_call(function, [bind(argument, scope) for argument in arguments], node)


def bind_condition(node: Node, scope: Scope, where: str) -> Scalar:
    """A condition.

    Raises:
        ExpressionTypeError: it is not boolean.
    """
    bound = bind(node, scope)
    if bound.is_null:
        return Literal.of(None, SqlType.BOOLEAN)
    if bound.sql is not SqlType.BOOLEAN:
        raise ExpressionTypeError(
            f"{where} takes a condition (boolean), and {bound.shown} is {bound.sql}; compare it with something"
        )
    return bound.scalar


def _bind_cast(bound: Bound, type: SqlType, node: Node) -> Bound:
    if bound.is_null:
        return Bound(Literal.of(None, type), ColumnType(type, nullable=True), node)
    if bound.sql is type:
        return Bound(bound.scalar, bound.type, node)
    if not can_cast(bound.sql, type):
        raise ExpressionTypeError(f"{show(node)}: a {bound.sql} cannot become a {type}")
    return Bound(scalars.Cast(bound.scalar, type), ColumnType(type, bound.type.nullable), node)


def _bind_conditional(node: Conditional, scope: Scope) -> Bound:
    conditions = [bind_condition(condition, scope, "when") for condition, _ in node.branches]
    values = [bind(value, scope) for _, value in node.branches]
    values.append(bind_constant(None, None, "None") if node.otherwise is None else bind(node.otherwise, scope))
    type = common_type(values, "when/then/otherwise")
    values = [coerce(value, type) for value in values]
    result = values[-1].scalar
    for condition, value in zip(reversed(conditions), reversed(values[:-1]), strict=True):
        result = scalars.If(condition, value.scalar, result)
    return Bound(result, ColumnType(type, any(value.type.nullable for value in values)), node)


def _bind_chain(function: str, node: Call, scope: Scope) -> Bound:
    operands = [bind(argument, scope) for argument in node.arguments]
    for operand in operands:
        if operand.sql is not SqlType.BOOLEAN and not operand.is_null:
            symbol = "&" if function == "and" else "|"
            raise ExpressionTypeError(
                f"{symbol} combines conditions (boolean), and {operand.shown} is {operand.sql}; "
                f"it binds tighter than comparisons, so put those in parentheses: (a > 1) {symbol} (b < 2)"
            )
    boolean = [coerce(operand, SqlType.BOOLEAN) for operand in operands]
    nullable = any(operand.type.nullable for operand in boolean)
    parts = tuple(operand.scalar for operand in boolean)
    while len(parts) > _CHAIN_LIMIT:
        cuts = range(0, len(parts), _CHAIN_LIMIT)
        parts = tuple(scalars.Call(function, parts[cut : cut + _CHAIN_LIMIT]) for cut in cuts)
    return Bound(scalars.Call(function, parts), ColumnType(SqlType.BOOLEAN, nullable), node)


def _bind_call(function: str, arguments: list[Bound], node: Node) -> Bound:
    if function in _SAME_TYPE:
        type = common_type(arguments, node)
        arguments = [coerce(a, type) if isinstance(a.scalar, Literal) else a for a in arguments]
    elif function in _ARITHMETIC:
        arguments = _fit_operands(function, arguments)
        if function == "+" and all(argument.sql is SqlType.TEXT for argument in arguments):
            function = "||"
        elif function == "/" and all(argument.sql.is_integer for argument in arguments):
            arguments = [coerce(argument, SqlType.DOUBLE) for argument in arguments]
    else:
        for argument in arguments:
            if argument.is_null:
                raise ExpressionTypeError(f"{show(node)}: NULL has no type here; give it one: lit(None, 'bigint')")
    types = tuple(argument.type for argument in arguments)
    try:
        if function in ("//", "%"):
            result = result_type("%", types)
            make = floor_divide if function == "//" else floor_modulo
            scalar = make(arguments[0].scalar, arguments[1].scalar, result.type)
        else:
            result = result_type(function, types)
            scalar = scalars.Call(function, tuple(argument.scalar for argument in arguments))
    except FunctionArgumentsError as error:
        given = ", ".join(f"{argument.shown} is {argument.sql}" for argument in arguments)
        raise ExpressionTypeError(
            f"{show(node)}: expected {error.expected}, but {given}; convert with .cast(…) if that is meant"
        ) from None
    return Bound(scalar, result, node)


def _fit_operands(function: str, operands: list[Bound]) -> list[Bound]:
    """Constants in arithmetic: NULL and decimals take the other operand's type, a whole number is a bigint, so that
    adding one to a smallint does not overflow it."""
    left, right = operands
    return [_fit(left, right, function), _fit(right, left, function)]


def _fit(operand: Bound, other: Bound, function: str) -> Bound:
    if not operand.flexible or other.flexible:
        if operand.is_null:
            raise ExpressionTypeError(f"{function} of NULL has no type; give NULL one: lit(None, 'bigint')")
        return operand
    if operand.is_null:
        return coerce(operand, other.sql)
    if operand.sql is SqlType.TEXT and other.sql in (SqlType.DATE, SqlType.TIMESTAMP):
        return coerce(operand, other.sql)
    if operand.sql.is_number and other.sql.is_number and not other.sql.is_integer:
        return coerce(operand, common_type([operand, other], function))
    return operand


def check_scalar(scalar: Scalar, types: tuple[ColumnType, ...]) -> ColumnType:
    """The engine's opinion of a scalar's type.

    Raises:
        ExpressionTypeError: it has none, the scalar is ill-formed.
    """
    try:
        return scalar_type(scalar, types)
    except ExpressionError as error:
        raise ExpressionTypeError(str(error)) from None
