"""Columns and updates in a payload: one Arrow IPC record batch, and the types that it is read with.

The schema of a batch takes longer to write than a few rows; its types are all that is needed to make it again.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ...dataflow.arrangements.updates import Updates, is_uniform, uniform
from ...dataflow.columns.column import Column, column_from_arrow
from ...messages.structs import Message, Natural, Signed
from ...messages.types import SqlType


class ColumnsForm(Message, frozen=True, array_like=True):
    """Columns of one length. ``types``: their SQL types, with commas; ``batch``: empty when there are no columns."""

    types: str
    size: Natural
    batch: bytes


class UpdatesForm(Message, frozen=True, array_like=True):
    """Updates. Times and multiplicities: a number that holds for every row, or little-endian 64-bit integers."""

    rows: ColumnsForm
    times: Natural | bytes
    diffs: Signed | bytes


def columns_form(columns: tuple[Column, ...], size: int | None = None) -> ColumnsForm:
    """The form of columns. ``size`` is needed where there may be none."""
    if not columns:
        return ColumnsForm("", size or 0, b"")
    types = tuple([column.type for column in columns])
    batch = pa.RecordBatch.from_arrays([column.to_arrow() for column in columns], schema=_schema(types))
    return ColumnsForm(_names(types), batch.num_rows, batch.serialize().to_pybytes())


def columns_in(form: ColumnsForm) -> tuple[Column, ...]:
    """The inverse of :func:`columns_form`.

    Raises:
        ValueError: these are no columns.
    """
    types = _types(form.types)
    if not types:
        return ()
    try:
        batch = pa.ipc.read_record_batch(pa.py_buffer(form.batch), _schema(types))
        batch.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"Expected an Arrow record batch: {error}") from None
    if batch.num_rows != form.size:
        raise ValueError(f"Expected {form.size} rows, got {batch.num_rows}")
    return tuple([column_from_arrow(batch.column(at), type) for at, type in enumerate(types)])


def updates_form(updates: Updates) -> UpdatesForm:
    """The form of updates."""
    rows = columns_form(updates.columns, len(updates))
    return UpdatesForm(rows, _numbers(updates.times), _numbers(updates.diffs))


def updates_in(form: UpdatesForm) -> Updates:
    """The inverse of :func:`updates_form`.

    Raises:
        ValueError: these are no updates.
    """
    size = form.rows.size
    return Updates(columns_in(form.rows), _vector(form.times, size), _vector(form.diffs, size))


def _numbers(vector: Any) -> int | bytes:
    if len(vector) and is_uniform(vector):
        return int(vector[0])
    return np.ascontiguousarray(vector, "<i8").tobytes()


def _vector(numbers: int | bytes, size: int) -> Any:
    if isinstance(numbers, int):
        return uniform(numbers, size)
    if len(numbers) != 8 * size:
        raise ValueError(f"Expected {size} integers of 8 bytes, got {len(numbers)} bytes")
    return np.frombuffer(numbers, "<i8").astype(np.int64)


@lru_cache(maxsize=1024)
def _schema(types: tuple[SqlType, ...]) -> pa.Schema:
    return pa.schema([pa.field(str(at), type.arrow) for at, type in enumerate(types)])


@lru_cache(maxsize=1024)
def _names(types: tuple[SqlType, ...]) -> str:
    return ",".join([type.value for type in types])


@lru_cache(maxsize=1024)
def _types(names: str) -> tuple[SqlType, ...]:
    return tuple([SqlType(name) for name in names.split(",")]) if names else ()
