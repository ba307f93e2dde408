"""Table functions: from one row to several, for ``explode``."""

from __future__ import annotations

from dataclasses import dataclass

from ...dataflow.plans.table_functions import table_function_types
from ...messages.errors import ExpressionError
from ...messages.relations import FlatMap, TableFunction
from ...messages.relations import Relation as Algebra
from ...messages.types import Field, Schema
from .binding import RowScope, bind
from .errors import ExpressionTypeError
from .expressions import Expression, ExpressionOrValue, as_column, as_expression
from .nodes import Node
from .types import check_names


@dataclass(frozen=True, slots=True)
class TableFunctionCall:
    """A table function and its arguments."""

    function: TableFunction
    arguments: tuple[Node, ...]


def generate_series(
    start: ExpressionOrValue, stop: ExpressionOrValue, step: ExpressionOrValue = 1
) -> TableFunctionCall:
    """The whole numbers from ``start`` to ``stop``, both included."""
    arguments = tuple(as_expression(argument).node for argument in (start, stop, step))
    return TableFunctionCall(TableFunction("generate_series"), arguments)


def split(text: Expression | str, separator: str) -> TableFunctionCall:
    """The parts of a text (a column's name or an expression) between separators; of NULL, none."""
    arguments = (as_column(text).node, as_expression(separator).node)
    return TableFunctionCall(TableFunction("unnest_text"), arguments)


def apply_table_function(input: Algebra, schema: Schema, name: str, call: TableFunctionCall) -> tuple[Algebra, Schema]:
    """Each row followed by each element of the call.

    Raises:
        ExpressionTypeError: the function does not take these arguments.
        RelationError: the name is taken.
    """
    if not isinstance(call, TableFunctionCall):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ExpressionTypeError(
            f"explode: {name!r} takes a table function such as split(…) or generate_series(…), and {call!r} was given"
        )
    scope = RowScope(schema, "explode")
    bound = [bind(argument, scope) for argument in call.arguments]
    try:
        (result,) = table_function_types(call.function, [argument.type for argument in bound])
    except ExpressionError as error:
        raise ExpressionTypeError(f"explode: {name!r}: {error}") from None
    check_names([*schema.names, name])
    fields = (*schema.fields, Field(name, result.type, result.nullable))
    return FlatMap(input, call.function, tuple(argument.scalar for argument in bound)), Schema(fields)
