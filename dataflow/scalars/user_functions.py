"""User functions over columns.

A user function sees whole Arrow arrays, NULLs included, and only rows whose arguments have no error. When it raises,
the rows are halved until those that it raises for stand alone; they fail, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ...messages.errors import ExpressionError
from ...messages.functions import load_function
from ...messages.scalars import UserFunction
from ..columns.column import column_from_arrow
from .nodes import Node, derived
from .vectors import Errors, Slots, Vector, make_errors, merge_errors, read, to_column


class UserFunctionFailure(Exception):
    """What a user function did wrong, for the error of a row."""


def user_call(function: UserFunction, arguments: Sequence[Node], *, trust: bool) -> Node:
    """A user function applied to columns.

    Raises:
        UntrustedFunctionError, UserFunctionError: it cannot be loaded.
        ExpressionError: it has no arguments, and so no rows.
    """
    if not arguments:
        raise ExpressionError(f"user function {function.name!r} needs at least one argument: a column to work on")
    call = load_function(function, trust=trust)
    runs = [argument.run for argument in arguments]
    type = function.result.type

    def run(slots: Slots, size: int) -> Vector:
        errors = None
        arrays: list[Any] = []
        for one, node in zip(runs, arguments, strict=True):
            vector = one(slots, size)
            errors = merge_errors(errors, vector[2])
            arrays.append(to_column(vector, node.type, size).to_arrow())
        rows = np.arange(size) if errors is None else np.flatnonzero(~errors.mask)
        if not len(rows):
            # Not called at all; the values of failed rows do not matter.
            return *read(column_from_arrow(pa.nulls(size, type.arrow), type))[:2], errors
        if len(rows) < size:
            arrays = [array.take(pa.array(rows)) for array in arrays]
        results, own = apply_by_halves(function, call, arrays, len(rows), function.result.type.arrow)
        if own is None and results.null_count and not function.result.nullable:
            own = _unexpected_nulls(function, results)
        column = column_from_arrow(results, type)
        if len(rows) < size:
            places = np.zeros(size, np.int64)
            places[rows] = np.arange(len(rows))
            column = column.take(places)
            own = None if own is None else Errors(own.mask[places], own.messages[places])
        values, valid, _ = read(column)
        return values, valid, merge_errors(errors, own)

    return derived(type, run, arguments, fallible=True)


def apply_by_halves(
    function: UserFunction, call: Callable[..., Any], arrays: Sequence[Any], size: int, expected: pa.DataType
) -> tuple[pa.Array, Errors | None]:
    """The function's results, as an array of the expected type; and the errors of the rows for which it raises even
    when called with them alone."""
    pieces: list[Any] = []
    mask, messages = np.zeros(size, np.bool_), np.empty(size, np.object_)
    intervals = [(0, size)]
    while intervals:
        start, stop = intervals.pop()
        part = [array.slice(start, stop - start) for array in arrays]
        try:
            pieces.append(_checked(call(*part), stop - start, expected))
        except Exception as error:  # The function is the user's and may raise anything; the row's error tells.
            if stop - start > 1:
                middle = (start + stop) // 2
                intervals += [(middle, stop), (start, middle)]
                continue
            mask[start] = True
            messages[start] = f"user function {function.name!r}: {_describe(error)}"
            pieces.append(pa.nulls(1, expected))
    results = pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)
    return results, Errors(mask, messages) if np.count_nonzero(mask) else None


def _unexpected_nulls(function: UserFunction, results: pa.Array) -> Errors:
    message = f"user function {function.name!r} returned NULL, although its result was declared not to be"
    return make_errors(results.is_null().to_numpy(zero_copy_only=False), message)


LONGEST_MESSAGE = 1000
"""Characters of what a user's exception says; a column of messages holds one for every row that fails."""


def _describe(error: Exception) -> str:
    """One sentence that a text column takes, whatever the exception of the user makes of itself."""
    try:
        said = str(error)
    except Exception as failure:
        said = f"(its text cannot be shown: {type(failure).__name__})"
    if len(said) > LONGEST_MESSAGE:
        said = f"{said[:LONGEST_MESSAGE]}…"
    # A lone surrogate is no UTF-8.
    said = said.encode(errors="backslashreplace").decode()
    return said if isinstance(error, UserFunctionFailure) else f"{type(error).__name__}: {said}"


def _checked(result: Any, size: int, expected: pa.DataType) -> pa.Array:
    """What the function returned, as an array of this length and type."""
    try:
        array = result if isinstance(result, pa.Array | pa.ChunkedArray) else pa.array(result, expected)
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
        if array.type != expected:
            array = array.cast(expected)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise UserFunctionFailure(
            f"returned a {type(result).__name__} that is no array of {expected}: {error}"
        ) from error
    if len(array) != size:
        raise UserFunctionFailure(f"returned {len(array)} values for {size} rows")
    return array
