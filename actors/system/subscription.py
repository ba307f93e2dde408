"""Subscriptions: every change of a relation, as it happens."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pykka

from ...messages.errors import CollectionError
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId
from ...messages.responses import SubscribeBatch
from ...messages.rows import UpdateBlock
from ...messages.types import Schema
from ..dispatch.oneshot import Stream
from ..requests import Unsubscribe
from .arguments import check_time, checked_seconds
from .connection import raise_here

if TYPE_CHECKING:
    from .connection import Connection

TIME_COLUMN, DIFF_COLUMN = "_time", "_diff"
"""What :meth:`ChangeBatch.to_arrow` calls the timestamps and multiplicities."""


class Change(NamedTuple):
    """A row that was added (``diff`` > 0) or removed (< 0) so many times at a timestamp."""

    time: Timestamp
    diff: int
    row: tuple[Any, ...]


class ChangeBatch:
    """All changes with ``lower <= time < upper``; nothing more will come for those times. May be empty.

    ``upper`` None: the relation will never change again.
    """

    __slots__ = ("_block", "lower", "schema", "upper")

    def __init__(self, lower: Timestamp, upper: Frontier, schema: Schema, block: UpdateBlock) -> None:
        self.lower = lower
        self.upper = upper
        self.schema = schema
        self._block = block

    def changes(self) -> list[Change]:
        """The changes, by time."""
        block = self._block
        size = block.num_rows
        columns = block.columns.columns
        rows = zip(*(column.to_pylist() for column in columns), strict=True) if columns else [()] * size
        times, diffs = _numbers(block.times, size), _numbers(block.diffs, size)
        return sorted(map(Change, times, diffs, rows), key=lambda change: change.time)

    def to_arrow(self) -> pa.Table:
        """The changes as an Arrow table: ``_time``, ``_diff``, then the relation's columns."""
        block = self._block
        size = block.num_rows
        fields = [pa.field(TIME_COLUMN, pa.int64(), False), pa.field(DIFF_COLUMN, pa.int64(), False)]
        schema = pa.schema([*fields, *self.schema.to_arrow()])
        arrays = [_array(block.times, size), _array(block.diffs, size), *block.columns.columns]
        return pa.Table.from_batches([pa.RecordBatch.from_arrays(arrays, schema=schema)])

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes())

    def __len__(self) -> int:
        return self._block.num_rows

    def __repr__(self) -> str:
        return f"ChangeBatch([{self.lower}, {self.upper}), {self.changes()!r})"


class Subscription:
    """The changes of one relation, in batches without gaps; the first has everything that is there at ``as_of``.

    Iterate over it, or :meth:`poll`. Close it, or use it in a ``with`` block: until then the system keeps working for
    it and keeps its batches in memory. One thread reads it; another one may close it.
    """

    __slots__ = ("_closed", "_connection", "_stream", "as_of", "id", "schema")

    def __init__(
        self,
        connection: Connection,
        id: GlobalId,
        as_of: Timestamp,
        schema: Schema,
        stream: Stream[SubscribeBatch],
    ) -> None:
        self._connection = connection
        self._stream = stream
        self._closed = False
        self.id = id
        self.as_of = as_of
        self.schema = schema

    def __iter__(self) -> Iterator[ChangeBatch]:
        return self

    def __next__(self) -> ChangeBatch:
        """The next batch; waits for it. Ends when the relation ends, or the subscription is closed.

        Raises:
            CollectionError: the relation has an error in this interval; going on is possible.
        """
        return self._batch(self._take(None))

    def poll(self, timeout: float = 0.0) -> ChangeBatch | None:
        """The next batch, or None when there is none within so many seconds, or none any more.

        Raises:
            CollectionError: the relation has an error in this interval; going on is possible.
        """
        seconds = checked_seconds(timeout, "timeout")
        try:
            return self._batch(self._take(seconds))
        except (pykka.Timeout, StopIteration):
            return None

    def until(self, timestamp: Timestamp) -> Iterator[ChangeBatch]:
        """The batches up to and including everything that happened at ``timestamp``."""
        check_time(timestamp, "timestamp")
        return self._until(timestamp)

    def _until(self, timestamp: Timestamp) -> Iterator[ChangeBatch]:
        for batch in self:
            yield batch
            if batch.upper is None or batch.upper > timestamp:
                return

    def close(self) -> None:
        """End it. Batches that arrived before can still be read. May be called again."""
        if self._closed or self._connection.is_closed:
            return
        self._closed = True
        self._connection.ask(lambda reply: Unsubscribe(id=self.id, reply=reply))

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Subscription({self.id}, as_of={self.as_of}{', closed' if self._closed else ''})"

    def _take(self, timeout: float | None) -> SubscribeBatch:
        try:
            return self._stream.get(timeout=timeout)
        except BaseException as error:
            raise_here(error)

    def _batch(self, batch: SubscribeBatch) -> ChangeBatch:
        if batch.error is not None:
            raise CollectionError(self.id, batch.lower, batch.error, "what is followed")
        return ChangeBatch(batch.lower, batch.upper, self.schema, batch.updates)


def _numbers(given: pa.Int64Array | int, size: int) -> list[int]:
    return [given] * size if isinstance(given, int) else given.to_pylist()  # type: ignore[return-value]


def _array(given: pa.Int64Array | int, size: int) -> pa.Array:
    return pa.repeat(pa.scalar(given, pa.int64()), size) if isinstance(given, int) else given
