"""Row and update blocks as Arrow IPC streams.

A stream holds one record batch: the block's columns, then its times and diffs where they are arrays. What they are
otherwise stands in the schema's metadata. Whatever comes in was written by somebody else: it is validated in full
before anything reads a buffer.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa

from .rows import RowBlock, UpdateBlock
from .structs import Message, Natural, Signed

_KEY = b"pillion"


class _Layout(Message, frozen=True):
    """Where times and diffs are: None when they are columns of the batch (times before diffs), else the number that
    holds for every row."""

    times: Natural | None
    diffs: Signed | None


def row_block_to_ipc(block: RowBlock) -> bytes:
    """The stream of a row block."""
    return _write(block.columns, 0, 1 if block.diffs is None else block.diffs)


def update_block_to_ipc(block: UpdateBlock) -> bytes:
    """The stream of an update block."""
    return _write(block.columns, block.times, block.diffs)


def row_block_from_ipc(data: bytes) -> RowBlock:
    """The row block in a stream.

    Raises:
        ValueError: there is none.
    """
    columns, _, diffs = _read(data)
    if isinstance(diffs, int):
        if diffs != 1:
            raise ValueError(f"expected multiplicities or 1 for all rows, got {diffs} for all rows")
        return RowBlock(columns)
    return RowBlock(columns, diffs)


def update_block_from_ipc(data: bytes) -> UpdateBlock:
    """The update block in a stream.

    Raises:
        ValueError: there is none.
    """
    columns, times, diffs = _read(data)
    return UpdateBlock(columns, times, diffs)


def _write(columns: pa.RecordBatch, times: pa.Int64Array | int, diffs: pa.Int64Array | int) -> bytes:
    layout = _Layout(times if isinstance(times, int) else None, diffs if isinstance(diffs, int) else None)
    metadata = {**(columns.schema.metadata or {}), _KEY: msgspec.json.encode(layout)}
    appended = [values for values in (times, diffs) if not isinstance(values, int)]
    if appended:
        fields = [*columns.schema, *(pa.field("", pa.int64(), nullable=False) for _ in appended)]
        batch = pa.RecordBatch.from_arrays([*columns.columns, *appended], schema=pa.schema(fields, metadata))
    else:
        batch = columns.replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _read(data: bytes) -> tuple[pa.RecordBatch, pa.Int64Array | int, pa.Int64Array | int]:
    try:
        with pa.ipc.open_stream(data) as reader:
            batch = reader.read_next_batch()
        batch.validate(full=True)
        _ = batch.schema.names  # Decoded only now, and in whatever encoding somebody wrote them.
    except (pa.ArrowException, OSError, StopIteration, UnicodeDecodeError) as error:
        raise ValueError(f"Expected an Arrow IPC stream of one batch: {error}") from None
    if batch.num_rows < 0:
        raise ValueError(f"Expected a number of rows, got {batch.num_rows}")
    metadata = dict(batch.schema.metadata or {})
    described = metadata.pop(_KEY, None)
    if described is None:
        raise ValueError("Expected an Arrow IPC stream of a row or update block, got one of something else")
    layout = msgspec.json.decode(described, type=_Layout)
    arity = batch.num_columns - (layout.times is None) - (layout.diffs is None)
    if arity < 0:
        raise ValueError("Expected times and diffs as the last columns of the batch, got fewer columns")
    appended = iter([_int64(batch.column(position)) for position in range(arity, batch.num_columns)])
    times = next(appended) if layout.times is None else layout.times
    diffs = next(appended) if layout.diffs is None else layout.diffs
    # Selecting keeps the number of rows also when no column is left.
    return batch.select(list(range(arity))).replace_schema_metadata(metadata or None), times, diffs


def _int64(array: Any) -> pa.Int64Array:
    if array.type != pa.int64() or array.null_count:
        raise ValueError(f"Expected times and diffs as int64 without NULL, got {array.type}")
    return array
