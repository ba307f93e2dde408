"""Does data fit a table: arity, types, lengths, NULLs. Checked before anything is applied."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dataflow.columns.column import Column
from ...messages.types import Field, Schema
from ..errors import RejectedData


def check_columns(table: str, schema: Schema, columns: Sequence[Column]) -> None:
    """Refuse columns that are not exactly those of the schema.

    Raises:
        RejectedData: naming the table, the column and the first row in question.
    """
    if len(columns) != schema.arity:
        names = ", ".join(schema.names)
        raise RejectedData(table, f"expected {schema.arity} columns ({names}), given {len(columns)}")
    size = len(columns[0]) if columns else 0
    for field, column in zip(schema.fields, columns, strict=True):
        if column.type is not field.type:
            raise RejectedData(table, f"column {field.name!r} is of type {field.type}, given {column.type}")
        if len(column) != size:
            raise RejectedData(
                table, f"columns differ in length: {schema.names[0]!r} has {size} rows, {field.name!r} {len(column)}"
            )
        check_nulls(table, field, column)


def check_nulls(table: str, field: Field, column: Column) -> None:
    """Refuse a NULL in a column that takes none.

    Raises:
        RejectedData: naming the column and the first row with a NULL.
    """
    if field.nullable:
        return
    valid = column.validity()
    if valid is not None and not valid.all():
        row = int(np.argmin(valid))
        raise RejectedData(table, f"column {field.name!r} takes no NULL, but row {row} has one")
