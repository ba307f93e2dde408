"""Bulk data inside messages: Arrow columns by reference, Arrow IPC on the wire. Never written to after it was sent."""

from __future__ import annotations

from typing import Final

import pyarrow as pa


class RowBlock:
    """Rows and their multiplicities. ``diffs`` is an int64 array as long as ``columns``, or None when all are 1."""

    # Neither a struct nor a dataclass, so that the encoding treats it as one opaque value: see ``encoding.py``.
    __slots__ = ("columns", "diffs")

    def __init__(self, columns: pa.RecordBatch, diffs: pa.Int64Array | None = None) -> None:
        self.columns: Final = columns
        self.diffs: Final = diffs

    def __repr__(self) -> str:
        return f"RowBlock({self.num_rows} rows of {self.columns.schema.names})"

    @property
    def num_rows(self) -> int:
        return self.columns.num_rows


class UpdateBlock:
    """Updates ``(row, time, diff)``; ``times`` and ``diffs`` are int64 arrays as long as ``columns``, or one number
    that holds for every row."""

    __slots__ = ("columns", "diffs", "times")

    def __init__(self, columns: pa.RecordBatch, times: pa.Int64Array | int, diffs: pa.Int64Array | int) -> None:
        self.columns: Final = columns
        self.times: Final = times
        self.diffs: Final = diffs

    def __repr__(self) -> str:
        return f"UpdateBlock({self.num_rows} updates of {self.columns.schema.names})"

    @property
    def num_rows(self) -> int:
        return self.columns.num_rows
