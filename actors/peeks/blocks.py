"""Between the engine's updates and the blocks of rows that messages carry. No copies where the layout allows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

import pyarrow as pa

from ...dataflow.arrangements.updates import Updates, empty_updates, is_uniform, uniform
from ...dataflow.columns.column import column_from_arrow
from ...messages.rows import RowBlock, UpdateBlock
from ...messages.types import Schema


@lru_cache(maxsize=1024)
def arrow_schema(schema: Schema) -> pa.Schema:
    """``schema.to_arrow()``, remembered: building one costs more than reading a row."""
    return schema.to_arrow()


def record_batch(updates: Updates, schema: Schema) -> pa.RecordBatch:
    """The columns of updates, named."""
    target = arrow_schema(schema)
    if not updates.columns:
        # A record batch without columns still has a number of rows.
        return cast(Any, pa.RecordBatch).from_struct_array(pa.array([{}] * len(updates), pa.struct([])))
    return pa.RecordBatch.from_arrays([column.to_arrow() for column in updates.columns], schema=target)


def row_block(updates: Updates | None, schema: Schema) -> RowBlock:
    """Rows with their multiplicities, without their times."""
    if updates is None:
        return empty_block(schema)
    diffs = updates.diffs
    ones = bool(diffs[0] == 1) if len(diffs) and is_uniform(diffs) else bool((diffs == 1).all())
    return RowBlock(record_batch(updates, schema), None if ones else cast(pa.Int64Array, pa.array(diffs)))


@lru_cache(maxsize=1024)
def empty_block(schema: Schema) -> RowBlock:
    """No rows."""
    return RowBlock(record_batch(empty_updates([field.type for field in schema.fields]), schema))


def rows_of(block: RowBlock, schema: Schema) -> Updates:
    """The inverse of :func:`row_block`; every time is 0."""
    columns = tuple(column_from_arrow(block.columns.column(i), field.type) for i, field in enumerate(schema.fields))
    size = block.num_rows
    diffs = uniform(1, size) if block.diffs is None else block.diffs.to_numpy(zero_copy_only=False)
    return Updates(columns, uniform(0, size), diffs)


def update_block(updates: Updates, schema: Schema) -> UpdateBlock:
    """Updates as messages carry them; equal times or multiplicities as one number."""
    return UpdateBlock(record_batch(updates, schema), _numbers(updates.times), _numbers(updates.diffs))


def updates_of(block: UpdateBlock, schema: Schema) -> Updates:
    """The inverse of :func:`update_block`."""
    columns = tuple(column_from_arrow(block.columns.column(i), field.type) for i, field in enumerate(schema.fields))
    size = block.num_rows
    return Updates(columns, _vector(block.times, size), _vector(block.diffs, size))


def _numbers(vector: Any) -> pa.Int64Array | int:
    if len(vector) and is_uniform(vector):
        return int(vector[0])
    return cast(pa.Int64Array, pa.array(vector))


def _vector(numbers: pa.Int64Array | int, size: int) -> Any:
    return uniform(numbers, size) if isinstance(numbers, int) else numbers.to_numpy(zero_copy_only=False)
