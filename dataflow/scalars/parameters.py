"""Functions some of whose arguments are parameters: a pattern, a position, a unit.

They are nearly always constants, and Arrow's kernels want them to be. When they are not, the rows are taken together by
the parameters' values, and the kernel runs once for each combination of values that occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.types import SqlType
from ..columns.column import Mask
from .nodes import Failure, Node, derived, failed, is_null_constant
from .vectors import (
    Slots,
    Vector,
    arrow_validity,
    both_valid,
    dtype_of,
    from_arrow,
    is_arrow,
    merge_errors,
    spread,
    with_nulls,
)

Operation = Callable[..., Any]
"""From an array and the parameters as Python values to an array; may raise ``ParameterError``."""


class ParameterError(Exception):
    """Parameters for which a function has no value, whatever the other argument."""


def by_parameters(
    operation: Operation, type: SqlType, subject: Node, parameters: Sequence[Node], *, fallible: bool
) -> Node:
    """A function of the subject's array and parameters that are the same for all its rows."""
    constants = [_python_constant(parameter) for parameter in parameters if parameter.constant is not None]
    if len(constants) == len(parameters) and not any(is_null_constant(parameter) for parameter in parameters):
        return _with_constants(operation, type, subject, constants, fallible=fallible)
    return _with_columns(operation, type, subject, parameters, fallible=fallible)


def _python_constant(node: Node) -> Any:
    assert node.constant is not None
    value = node.constant[0]
    return value.as_py() if isinstance(value, pa.Scalar) else value.item()


def _with_constants(
    operation: Operation, type: SqlType, subject: Node, constants: Sequence[Any], *, fallible: bool
) -> Node:
    inner = subject.run

    def run(slots: Slots, size: int) -> Vector:
        vector = inner(slots, size)
        array, valid = spread(vector, subject.type, size)
        errors = vector[2]
        try:
            values, own = _unpack(operation(array, *constants), type)
        except ParameterError as error:
            valid = arrow_validity(array) if is_arrow(subject.type) else valid
            failures: list[Failure] = [(np.ones(size, np.bool_), str(error))]
            return _nothing(type, size), valid, failed(errors, failures, valid, size)
        return values, both_valid(valid, own), errors

    return derived(type, run, (subject,), fallible=fallible)


def _with_columns(
    operation: Operation, type: SqlType, subject: Node, parameters: Sequence[Node], *, fallible: bool
) -> Node:
    inner, runs = subject.run, [parameter.run for parameter in parameters]

    def run(slots: Slots, size: int) -> Vector:
        vector = inner(slots, size)
        array, valid = spread(vector, subject.type, size)
        if is_arrow(subject.type):
            valid = arrow_validity(array)
        errors = vector[2]
        codes = np.zeros(size, np.int64)
        tables: list[Any] = []
        for one, node in zip(runs, parameters, strict=True):
            part = one(slots, size)
            errors = merge_errors(errors, part[2])
            numbers, table, present = _encoded(part, node.type, size)
            valid = both_valid(valid, present)
            tables.append(table)
            codes = codes * (len(table) + 1) + numbers
        values, own, failures = _by_groups(operation, type, array, codes, tables, valid)
        errors = failed(errors, failures, valid, size)
        if is_arrow(type):
            return with_nulls(values, valid), None, errors
        return values, both_valid(valid, own), errors

    return derived(type, run, (subject, *parameters), fallible=fallible)


def _encoded(vector: Vector, type: SqlType, size: int) -> tuple[Any, list[Any], Any]:
    """A parameter as numbers into a list of its different values; and where it is not NULL."""
    values, valid = spread(vector, type, size)
    if is_arrow(type):
        encoded = values.dictionary_encode()
        numbers = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
        return numbers, encoded.dictionary.to_pylist(), arrow_validity(values)
    different, numbers = np.unique(values, return_inverse=True)
    return numbers, different.tolist(), valid


def _by_groups(
    operation: Operation, type: SqlType, array: Any, codes: Any, tables: Sequence[list[Any]], valid: Any
) -> tuple[Any, Any, list[Failure]]:
    """Apply the operation to the rows of each combination of parameters."""
    size = len(codes)
    alive = np.arange(size) if valid is None else np.flatnonzero(valid)
    order = alive[np.argsort(codes[alive], kind="stable")]
    sorted_codes = codes[order]
    changes = np.flatnonzero(sorted_codes[1:] != sorted_codes[:-1]) + 1
    begins: list[int] = [0, *changes.tolist()] if len(order) else []
    pieces: list[Any] = []
    validities: list[Any] = []
    failures: list[Failure] = []
    for begin, end in zip(begins, [*begins[1:], len(order)], strict=False):
        rows = order[begin:end]
        parameters = _decoded(int(sorted_codes[begin]), tables)
        part = array.take(pa.array(rows)) if isinstance(array, pa.Array) else array[rows]
        try:
            values, own = _unpack(operation(part, *parameters), type)
        except ParameterError as error:
            bad = np.zeros(size, np.bool_)
            bad[rows] = True
            failures.append((bad, str(error)))
            values, own = _nothing(type, len(rows)), None
        pieces.append(values)
        validities.append(np.ones(len(rows), np.bool_) if own is None else own)
    return *_reordered(pieces, validities, type, order, size), failures


def _reordered(pieces: list[Any], validities: list[Any], type: SqlType, order: Any, size: int) -> tuple[Any, Any]:
    """Put the results of the groups back to where their rows stand."""
    if not pieces:
        return _nothing(type, size), None
    if is_arrow(type):
        places = np.zeros(size, np.int64)
        places[order] = np.arange(len(order))
        return pa.concat_arrays(pieces).take(pa.array(places)), None
    values = np.zeros(size, dtype_of(type))
    values[order] = np.concatenate(pieces)
    valid = np.ones(size, np.bool_)
    valid[order] = np.concatenate(validities)
    return values, valid if np.count_nonzero(valid) < size else None


def _decoded(code: int, tables: Sequence[list[Any]]) -> list[Any]:
    parameters: list[Any] = []
    for table in reversed(tables):
        code, position = divmod(code, len(table) + 1)
        parameters.append(table[position])
    return parameters[::-1]


def _unpack(result: Any, type: SqlType) -> tuple[Any, Mask | None]:
    """Values and validity of what an operation returned: an Arrow array, or NumPy values as they are."""
    if is_arrow(type) or not isinstance(result, pa.Array):
        return result, None
    return from_arrow(result)


def _nothing(type: SqlType, size: int) -> Any:
    return pa.nulls(size, type.arrow) if is_arrow(type) else np.zeros(size, dtype_of(type))
