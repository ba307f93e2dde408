"""User functions: Python in the middle of a relation, carried by cloudpickle.

initials = udf("text")(lambda name: "".join(part[0] for part in name.split()))
people.with_columns(short=initials("name"))
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import pyarrow as pa

from ...messages.functions import pickle_function
from ...messages.types import ColumnType
from .errors import RelationError
from .expressions import Expression, as_column
from .nodes import CallUser
from .types import TypeLike, column_type


def udf(
    returns: TypeLike, *, vectorized: bool = False, name: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Expression]]:
    """Make a Python function usable in expressions.

    It must be deterministic: the system calls it again for the same row when that is retracted, and must get the same
    value. It gets the values of one row, is not called when one of them is NULL (the result is NULL then), and its
    result may be None. ``vectorized``: it gets ``pyarrow`` arrays and returns one as long; NULLs are its own affair.
    An exception is an error of the row. ``returns`` is its result type.
    """
    if isinstance(returns, FunctionType):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RelationError(f"udf takes the type of the result; write @udf('text') above def {returns.__name__}")
    given = column_type(returns)
    result = ColumnType(given.type, nullable=True)

    def decorate(function: Callable[..., Any]) -> Callable[..., Expression]:
        if not callable(function):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RelationError(f"udf takes a function, and {function!r} was given; write @udf('text') above a def")
        called = name or getattr(function, "__name__", "function")
        whole = function if vectorized else _by_row(function, result)
        carried = pickle_function(whole, result, called)

        def apply(*arguments: Expression | str) -> Expression:
            if not arguments:
                raise RelationError(f"{called}: a user function takes at least one column")
            return Expression(CallUser(carried, tuple(as_column(argument).node for argument in arguments)))

        apply.__name__ = called
        apply.__doc__ = function.__doc__
        return apply

    return decorate


def _by_row(function: Callable[..., Any], result: ColumnType) -> Callable[..., pa.Array]:
    to = result.type.arrow

    def over_columns(*columns: pa.Array) -> pa.Array:
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        values = [None if any(value is None for value in row) else function(*row) for row in rows]
        return pa.array(values, type=to)

    return over_columns
