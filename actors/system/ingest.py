"""Data of an application, in whatever form it has it, to the columns of a table.

Taken are: Arrow tables, batches and readers; anything with the Arrow stream interface (pandas and Polars frames,
DuckDB results); a mapping of column names to lists or arrays; a list of tuples or of mappings; one tuple or mapping of
single values, which is one row. Columns go by name where there are names; a column that is left out is NULL. The index
of a pandas frame is a column when it has a name.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import numpy as np
import pyarrow as pa

from ...dataflow.columns.column import Column
from ...messages.types import Field, Schema
from ..errors import RejectedData
from ..relations.errors import kind_of, suggestion
from .arrow_values import column_of_arrow
from .row_values import BadValue, column_of

_ABSENT = object()

SCALARS = (bool, int, float, Decimal, str, bytes, datetime.date, np.generic)
"""Python classes of single values: a mapping of nothing else is one row and not columns."""

Columns = tuple[Column, ...]


class Ingest:
    """Conversion to the columns of one table (or of some columns of it)."""

    __slots__ = ("_names", "_schema", "_table")

    def __init__(self, table: str, schema: Schema) -> None:
        self._table = table
        self._schema = schema
        self._names = schema.names

    def columns(self, data: object) -> Columns:
        """The columns of the data, all of one length.

        Raises:
            RejectedData: it does not fit: names row, column, value and what is expected.
        """
        if isinstance(data, list | tuple):
            return self._from_rows(data)  # type: ignore[arg-type]
        table = as_arrow(data)
        if table is not None:
            return self._from_arrow(table, borrowed=is_mutable(data))
        if isinstance(data, Mapping):
            if data and all(value is None or isinstance(value, SCALARS) for value in data.values()):  # type: ignore
                return self._from_mappings([data])
            return self._from_mapping(data)  # type: ignore[arg-type]
        if isinstance(data, Iterable) and not isinstance(data, str | bytes):
            return self._from_rows(list(data))  # type: ignore[arg-type]
        if hasattr(data, "collect"):
            raise self._rejected(f"{kind_of(data)} has no rows yet; give what its collect() returns")
        raise self._rejected(f"{kind_of(data)} is no data that is understood; {_UNDERSTOOD}")

    # Rows

    def _from_rows(self, rows: Sequence[Any]) -> Columns:
        if not rows:
            return tuple(column_of((), field) for field in self._schema.fields)
        if isinstance(rows, tuple) and not isinstance(rows[0], tuple | list | Mapping):
            rows = [rows]
        if isinstance(rows[0], Mapping):
            return self._from_mappings(rows)
        kinds = set(map(type, rows))
        if not all(issubclass(kind, tuple | list) for kind in kinds) or set(map(len, rows)) != {len(self._names)}:
            raise self._misshapen(rows)
        values: Iterable[Sequence[Any]] = zip(*rows, strict=True)
        return tuple(
            self._column(field, column_of, given) for field, given in zip(self._schema.fields, values, strict=True)
        )

    def _misshapen(self, rows: Sequence[Any]) -> RejectedData:
        """What to say of the first row that is none, or has too few or too many values."""
        arity = len(self._names)
        for number, row in enumerate(rows):
            if not isinstance(row, tuple | list):
                return self._rejected(f"row {number} is {row!r}; rows are tuples or mappings, all of one kind")
            size = len(cast("Sequence[Any]", row))
            if size != arity:
                return self._rejected(
                    f"row {number} has {size} values, and there are {arity} columns: {', '.join(self._names)}"
                )
        raise AssertionError("called when a row does not fit")

    def _from_mappings(self, rows: Sequence[Any]) -> Columns:
        known = set(self._names)
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise self._rejected(f"row {number} is {row!r}; rows are tuples or mappings, all of one kind")
            if not row.keys() <= known:  # type: ignore[operator]
                self._check_names([str(name) for name in row], f"row {number}")  # type: ignore[union-attr]
        columns: list[Column] = []
        for field in self._schema.fields:
            values = [row.get(field.name, _ABSENT) for row in rows]
            if _ABSENT in values and not field.nullable:
                number = values.index(_ABSENT)
                raise self._rejected(f"row {number} has no value for column {field.name!r}, which takes no NULL")
            given = [None if value is _ABSENT else value for value in values]
            columns.append(self._column(field, column_of, given))
        return tuple(columns)

    # Columns

    def _from_mapping(self, data: Mapping[str, Any]) -> Columns:
        self._check_names([str(name) for name in data], "the data")
        columns: list[Column | None] = []
        for field in self._schema.fields:
            given = data.get(field.name, _ABSENT)
            columns.append(None if given is _ABSENT else self._one_column(field, given))
        return self._completed(columns)

    def _one_column(self, field: Field, given: Any) -> Column:
        if isinstance(given, list | tuple | range):
            return self._column(field, column_of, given)
        try:
            array = as_arrow_column(given)
        except pa.ArrowException as error:
            raise self._rejected(f"column {field.name!r} is no column of one type: {error}") from None
        if array is None:
            raise self._rejected(f"column {field.name!r} is {kind_of(given)}; a list, an array or a series is expected")
        return self._column(field, lambda a, f: column_of_arrow(a, f, borrowed=is_mutable(given)), array)

    def _from_arrow(self, table: pa.Table, *, borrowed: bool) -> Columns:
        names = table.column_names
        self._check_names(names, "the data")
        positions = {name: position for position, name in enumerate(names)}
        columns: list[Column | None] = []
        for field in self._schema.fields:
            position = positions.get(field.name)
            if position is None:
                columns.append(None)
                continue
            given = table.column(position)
            columns.append(self._column(field, lambda a, f: column_of_arrow(a, f, borrowed=borrowed), given))
        return self._completed(columns)

    def _completed(self, columns: Sequence[Column | None]) -> Columns:
        """With NULLs for the columns that were left out."""
        given = [
            (field.name, len(column))
            for column, field in zip(columns, self._schema.fields, strict=True)
            if column is not None
        ]
        if len({length for _, length in given}) > 1:
            shown = ", ".join(f"{name!r} has {length}" for name, length in given)
            raise self._rejected(f"the columns are not of one length: {shown}")
        size = given[0][1] if given else 0
        completed: list[Column] = []
        for column, field in zip(columns, self._schema.fields, strict=True):
            if column is not None:
                completed.append(column)
            elif field.nullable:
                completed.append(column_of([None] * size, field))
            else:
                raise self._rejected(f"column {field.name!r} is missing, and it takes no NULL")
        return tuple(completed)

    # Errors

    def _column(self, field: Field, make: Callable[[Any, Field], Column], values: Any) -> Column:
        try:
            return make(values, field)
        except BadValue as bad:
            place = f"column {field.name!r}" if bad.row < 0 else f"row {bad.row}, column {field.name!r}"
            raise self._rejected(f"{place}: {bad.problem}") from None

    def _check_names(self, names: Sequence[str], what: str) -> None:
        for name in names:
            if name not in self._names:
                raise self._rejected(f"{what} has a column {name!r}, which is not there{suggestion(name, self._names)}")
        if len(set(names)) < len(names):
            twice = next(name for name in names if list(names).count(name) > 1)
            raise self._rejected(f"{what} has column {twice!r} twice")

    def _rejected(self, problem: str) -> RejectedData:
        return RejectedData(self._table, problem)


_UNDERSTOOD = (
    "give a pyarrow table, something with the Arrow stream interface (a pandas or Polars frame, a DuckDB result), "
    "a mapping of columns, or a list of tuples or mappings"
)


def as_arrow(data: object) -> pa.Table | None:
    """The Arrow table that the data is, or None when it is something else."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if hasattr(data, "__arrow_c_stream__"):
        table = pa.RecordBatchReader.from_stream(data).read_all()
        return _without_row_labels(table) if type(data).__module__.partition(".")[0] == "pandas" else table
    return None


def _without_row_labels(table: pa.Table) -> pa.Table:
    """Without the columns that Arrow makes of a pandas index without a name, such as the one of a filtered frame."""
    return table.drop_columns([name for name in table.column_names if _ROW_LABELS.fullmatch(name)])


_ROW_LABELS = re.compile(r"__index_level_\d+__")


def as_arrow_column(values: object) -> pa.Array | pa.ChunkedArray | None:
    """The Arrow array that a NumPy array or a series is, or None when it is something else."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)  # type: ignore[arg-type]
    if isinstance(values, np.ndarray) or hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_array__"):
        return pa.array(values)
    return None


def is_mutable(data: object) -> bool:
    """Whether somebody may write to the memory that the data is in: NumPy's and pandas' is theirs."""
    return type(data).__module__.partition(".")[0] in ("numpy", "pandas")
