"""The table of table functions: what they take and which columns they yield."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from ...messages.errors import ExpressionError
from ...messages.relations import TableFunction
from ...messages.types import ColumnType, SqlType


@dataclass(frozen=True, slots=True)
class TableFunctionEntry:
    """One entry of the table. ``arguments`` are the types in order, of which the last ``optional`` may be left out; an
    integer of any width stands for a bigint."""

    arguments: tuple[SqlType, ...]
    result: tuple[ColumnType, ...]
    optional: int = 0


TABLE_FUNCTIONS: dict[str, TableFunctionEntry] = {
    # From start to stop, both included, by step (default 1; a step of zero is an error of the row).
    "generate_series": TableFunctionEntry(
        (SqlType.BIGINT, SqlType.BIGINT, SqlType.BIGINT), (ColumnType(SqlType.BIGINT, nullable=False),), optional=1
    ),
    # The parts of a text between separators.
    "unnest_text": TableFunctionEntry((SqlType.TEXT, SqlType.TEXT), (ColumnType(SqlType.TEXT, nullable=False),)),
}
"""Every built-in table function by name. One that gets NULL yields no row."""


def table_function_types(function: TableFunction, arguments: Sequence[ColumnType]) -> tuple[ColumnType, ...]:
    """The columns that a table function yields.

    Raises:
        ExpressionError: there is no such function, or it does not take these arguments.
    """
    if function.user is not None:
        return (function.user.result,)
    entry = TABLE_FUNCTIONS.get(function.name)
    if entry is None:
        similar = difflib.get_close_matches(function.name, TABLE_FUNCTIONS, n=1)
        hint = f"; did you mean {similar[0]}?" if similar else f"; there are {', '.join(TABLE_FUNCTIONS)}"
        raise ExpressionError(f"there is no table function {function.name!r}{hint}")
    least = len(entry.arguments) - entry.optional
    fits = least <= len(arguments) <= len(entry.arguments) and all(
        given.type is wanted or (wanted is SqlType.BIGINT and given.type.is_integer)
        for given, wanted in zip(arguments, entry.arguments, strict=False)
    )
    if not fits:
        shown = ", ".join(str(argument.type) for argument in arguments)
        wanted = ", ".join(entry.arguments[:least]) + "".join(f"[, {type}]" for type in entry.arguments[least:])
        raise ExpressionError(f"{function.name}({shown}) is not possible: expected {function.name}({wanted})")
    return entry.result
