"""Table functions: for every row, any number of rows.

A row for which an argument is NULL yields none. Their names and types are in ``plans/table_functions.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.errors import ExpressionError
from ...messages.functions import load_function
from ...messages.relations import TableFunction
from ...messages.scalars import Scalar, UserFunction
from ...messages.types import ColumnType, SqlType
from ..columns.column import ArrowColumn, Column, FixedColumn, Indices, Mask, column_from_arrow
from .compile import compile_scalar
from .user_functions import apply_by_halves
from .vectors import Errors, both_valid, make_errors, merge_errors, select

MAX_ROWS = 1 << 24
"""A row that would yield more rows than this is an error, because all of them are in memory at once."""


class Expanded(NamedTuple):
    """What a table function yielded: ``columns``, and beside each of their rows the input row that it came from
    (``rows``, ascending); and which input rows failed, which yield nothing."""

    rows: Indices
    columns: tuple[Column, ...]
    errors: Errors | None


class TableProgram:
    """A table function applied to expressions over columns of these types."""

    __slots__ = ("_arguments", "_expand")

    def __init__(
        self,
        function: TableFunction,
        arguments: Sequence[Scalar],
        types: Sequence[ColumnType],
        *,
        trust: bool = False,
    ) -> None:
        """Compile.

        Args:
            function: a built-in function by name, or a user's. A user's takes one Arrow array per argument and returns
                an array of lists (of the result type) or a sequence of sequences, one for each row.
            arguments: what it is applied to.
            types: of the input's columns.
            trust: whether user functions may be loaded.

        Raises:
            ExpressionError: there is no such function, or an argument is ill-formed.
            UntrustedFunctionError, UserFunctionError: a user function cannot be loaded.
        """
        self._arguments = [compile_scalar(argument, types, trust=trust) for argument in arguments]
        if function.user is not None:
            if not arguments:
                raise ExpressionError(f"table function {function.name!r} needs at least one argument")
            self._expand = _user(function.user, load_function(function.user, trust=trust))
            return
        expand = _FUNCTIONS.get(function.name)
        if expand is None:
            raise ExpressionError(f"there is no table function {function.name!r}; there are {', '.join(_FUNCTIONS)}")
        self._expand = expand

    def __call__(self, columns: Sequence[Column], size: int) -> Expanded:
        """Expand the ``size`` rows of these columns."""
        arguments: list[Column] = []
        errors: Errors | None = None
        for program in self._arguments:
            column, own = program(columns, size)
            errors = merge_errors(errors, own)
            arguments.append(column)
        alive = None if errors is None else ~errors.mask
        expanded = self._expand(arguments, size, alive)
        return expanded._replace(errors=merge_errors(errors, expanded.errors))


Expand = Callable[[Sequence[Column], int, Mask | None], Expanded]
"""Expands the rows of these arguments, of which only those in the mask have values."""


def _present(arguments: Sequence[Column], alive: Mask | None) -> Mask | None:
    """The rows without errors and NULLs."""
    for argument in arguments:
        alive = both_valid(alive, argument.validity())
    return alive


def _generate_series(arguments: Sequence[Column], size: int, alive: Mask | None) -> Expanded:
    """From start to stop, both included, by step (1 when there is none)."""
    start, stop = (_integers(argument) for argument in arguments[:2])
    step = _integers(arguments[2]) if len(arguments) > 2 else np.ones(size, np.int64)
    present = _present(arguments, alive)
    usable = np.ones(size, np.bool_) if present is None else present
    errors = None
    if np.count_nonzero(step == 0):
        stuck = (step == 0) & usable
        errors = make_errors(stuck, "step size cannot equal zero") if np.count_nonzero(stuck) else None
        usable = usable & (step != 0)
    up = step > 0
    some = usable & select(up, start <= stop, start >= stop)
    # Distances do not fit 64 bits with a sign, and do without.
    first, last, stride = start.view(np.uint64), stop.view(np.uint64), step.view(np.uint64)
    distance = select(up, last - first, first - last)
    magnitude = select(up, stride, np.uint64(0) - stride)
    counts = select(some, distance // select(some, magnitude, np.uint64(1)), np.uint64(0))
    too_many = counts >= MAX_ROWS
    if np.count_nonzero(too_many):
        errors = merge_errors(errors, make_errors(too_many, f"a series has more than {MAX_ROWS} rows"))
        some = some & ~too_many
    lengths = select(some, counts, np.uint64(0)).astype(np.int64) + some
    rows, offsets = _positions(lengths)
    values = start[rows] + step[rows] * offsets
    return Expanded(rows, (FixedColumn(SqlType.BIGINT, values),), errors)


def _integers(column: Column) -> Any:
    assert isinstance(column, FixedColumn)
    return np.ascontiguousarray(column.values, np.int64)


def _positions(lengths: Any) -> tuple[Indices, Any]:
    """For rows that yield so many rows each: the row of each, and its number, from 0, among those of its row."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.cumsum(lengths) - lengths
    return rows, np.arange(len(rows)) - begins[rows]


def _unnest_text(arguments: Sequence[Column], size: int, alive: Mask | None) -> Expanded:
    """The parts of a text between separators; the empty text has none, and the empty separator separates nothing."""
    texts, separators = (_array(argument) for argument in arguments)
    present = _present(arguments, alive)
    usable = np.arange(size) if present is None else np.flatnonzero(present)
    usable = usable[pc.not_equal(texts.take(pa.array(usable)), "").to_numpy(zero_copy_only=False)]
    encoded = separators.take(pa.array(usable)).dictionary_encode()
    kinds = encoded.indices.to_numpy(zero_copy_only=False)
    rows: list[Any] = []
    parts: list[Any] = []
    for kind, separator in enumerate(encoded.dictionary.to_pylist()):
        chosen = usable[kinds == kind]
        some = texts.take(pa.array(chosen))
        if not separator:
            rows.append(chosen)
            parts.append(some)
            continue
        lists = pc.split_pattern(some, separator)
        rows.append(chosen[pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)])
        parts.append(lists.flatten())
    return _in_order(rows, parts, SqlType.TEXT)


def _array(column: Column) -> Any:
    assert isinstance(column, ArrowColumn)
    return column.array


def _in_order(rows: list[Any], parts: list[Any], type: SqlType) -> Expanded:
    """Bring the rows of several groups, each in order, into one order."""
    if len(rows) == 1:
        return Expanded(rows[0], (column_from_arrow(parts[0], type),), None)
    if not rows:
        return Expanded(np.zeros(0, np.int64), (column_from_arrow(pa.nulls(0, type.arrow), type),), None)
    every = np.concatenate(rows)
    order = np.argsort(every, kind="stable")
    return Expanded(every[order], (column_from_arrow(pa.concat_arrays(parts), type).take(order),), None)


def _user(function: UserFunction, call: Callable[..., Any]) -> Expand:
    type = function.result.type

    def expand(arguments: Sequence[Column], size: int, alive: Mask | None) -> Expanded:
        present = _present(arguments, alive)
        usable = np.arange(size) if present is None else np.flatnonzero(present)
        if not len(usable):
            return _in_order([], [], type)
        arrays = [argument.take(usable).to_arrow() for argument in arguments]
        lists, failures = apply_by_halves(function, call, arrays, len(usable), pa.large_list(type.arrow))
        rows = usable[pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)]
        errors = None
        if failures is not None:
            mask, messages = np.zeros(size, np.bool_), np.empty(size, np.object_)
            mask[usable], messages[usable] = failures.mask, failures.messages
            errors = Errors(mask, messages)
        return Expanded(rows, (column_from_arrow(pc.list_flatten(lists), type),), errors)

    return expand


_FUNCTIONS: dict[str, Expand] = {"generate_series": _generate_series, "unnest_text": _unnest_text}
