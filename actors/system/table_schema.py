"""The schema of a new table, from what an application describes it by: types, an Arrow schema, or data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import pyarrow as pa

from ...messages.types import Schema
from ..relations.errors import RelationError, kind_of
from ..relations.types import schema_of
from .ingest import as_arrow, as_arrow_column, is_mutable


def schema_and_data(name: str, given: Any) -> tuple[Schema, object | None]:
    """The schema, and the data when there is some.

    Raises:
        RelationError, ExpressionTypeError: it describes no table.
    """
    if isinstance(given, Schema | pa.Schema):
        return schema_of(given), None
    types = _mapping(given)
    if types is not None and all(_is_type(value) for value in types.values()):
        return schema_of(types), None
    # A reader can be read once only, so the table takes its place.
    table = as_arrow(given)
    data = given if table is None or is_mutable(given) else table
    try:
        found = schema_of_data(data)
    except pa.ArrowException as error:
        raise RelationError(
            f"create_table {name!r}: the data makes no columns of one type and length: {error}"
        ) from None
    if found is None:
        raise RelationError(
            f"create_table {name!r} takes a mapping of column to type, a pyarrow.Schema, or data with column names; "
            f"{kind_of(given)} was given"
        )
    return found, data


def schema_of_data(data: object) -> Schema | None:
    """The schema that data brings along: Arrow's, else by its values. None: it has no column names.

    Raises:
        RelationError, ExpressionTypeError: it has a schema, and no table can have that.
    """
    table = as_arrow(data)
    columns = _mapping(data)
    if table is None and columns is not None:
        table = pa.table({str(name): _inferred(values) for name, values in columns.items()})
    if table is None and isinstance(data, list) and data and all(isinstance(row, Mapping) for row in cast(Any, data)):
        table = pa.Table.from_pylist([dict(row) for row in cast(list[Mapping[str, Any]], data)])
    return None if table is None else schema_of(table.schema)


def _mapping(given: object) -> Mapping[str, Any] | None:
    return cast(Mapping[str, Any], given) if isinstance(given, Mapping) else None


def _inferred(values: Any) -> pa.Array | pa.ChunkedArray:
    array = as_arrow_column(values)
    return pa.array(list(values)) if array is None else array


def _is_type(value: object) -> bool:
    """Whether a value of a mapping stands for a type rather than for a column of data."""
    return not isinstance(value, Iterable) or isinstance(value, str | type)
