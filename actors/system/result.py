"""What a read returns: rows as of one timestamp, as Python values or as Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, cast, overload

import numpy as np
import pyarrow as pa

from ...dataflow.arrangements.updates import Updates, is_uniform
from ...dataflow.columns.column import column_from_values
from ...messages.errors import PillionError
from ...messages.frontiers import Timestamp
from ...messages.rows import RowBlock
from ...messages.types import Schema
from ..peeks.blocks import row_block
from ..relations.errors import RelationError, UnknownColumnError
from ..relations.other_names import OF_RESULTS, no_attribute

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Row = tuple[Any, ...]


class WrongRowCount(PillionError, LookupError):
    """A result that does not have the number of rows that was asked for."""

    def __init__(self, expected: str, given: int) -> None:
        super().__init__(f"expected {expected}, and the result has {given} rows")
        self.given = given


class Result:
    """Rows as of :attr:`timestamp`. A row that is there several times appears several times.

    In the order that was asked for; without one, in no particular order. Reading it again costs no new read.

    Attributes:
        age: of an introspection relation in a system with an interactive runtime: how many seconds before the answer
            its rows were recorded, because a busy worker is not waited for. Else None: the rows are those of the
            timestamp.
    """

    __slots__ = ("_given", "_rows", "age", "schema", "timestamp")

    def __init__(
        self,
        timestamp: Timestamp,
        schema: Schema,
        given: tuple[RowBlock, ...] | Updates | list[Row] | None,
        age: float | None = None,
    ) -> None:
        """``given``: the rows as messages carry them, as the engine found them (None when it found none), or as they
        are."""
        self.timestamp = timestamp
        self.schema = schema
        self.age = age
        self._given = given
        self._rows: list[Row] | None = None

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, "a result", OF_RESULTS)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.schema.names

    def rows(self) -> list[Row]:
        """The rows as tuples."""
        if self._rows is None:
            given = self._given
            if isinstance(given, list):
                self._rows = given
            elif isinstance(given, Updates):
                self._rows = _rows_found(given)
            else:
                self._rows = [] if given is None else [row for block in given for row in rows_of(block)]
        return self._rows

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries from column name to value."""
        names = self.columns
        return [dict(zip(names, row, strict=True)) for row in self.rows()]

    def one(self) -> Row:
        """The only row.

        Raises:
            WrongRowCount: there is none, or there are several.
        """
        rows = self.rows()
        if len(rows) != 1:
            raise WrongRowCount("one row", len(rows))
        return rows[0]

    def one_or_none(self) -> Row | None:
        """The only row, or None when there is none.

        Raises:
            WrongRowCount: there are several.
        """
        rows = self.rows()
        if len(rows) > 1:
            raise WrongRowCount("at most one row", len(rows))
        return rows[0] if rows else None

    def scalar(self) -> Any:
        """The first value of the only row.

        Raises:
            WrongRowCount: there is no row, or there are several.
        """
        return self.one()[0]

    def column(self, name: str) -> list[Any]:
        """The values of one column.

        Raises:
            UnknownColumnError: the result has no such column.
        """
        if name not in self.columns:
            raise UnknownColumnError(name, self.columns, "the result")
        position = self.columns.index(name)
        return [row[position] for row in self.rows()]

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, sharing memory where it can."""
        schema = self.schema.to_arrow()
        batches = [_named(expand(block), schema) for block in self._blocks()]
        return pa.Table.from_batches(batches, schema)

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame, when pandas is installed."""
        return cast(Any, self.to_arrow()).to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The rows as a Polars frame, when Polars is installed."""
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame), "a table becomes a frame"
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow stream interface: DuckDB, Polars, pandas and others take a result as it is."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows())

    @overload
    def __getitem__(self, number: int) -> Row: ...

    @overload
    def __getitem__(self, number: slice) -> list[Row]: ...

    def __getitem__(self, number: int | slice) -> Row | list[Row]:
        """A row by its number, or several."""
        if isinstance(number, str):
            raise RelationError(f"a result has its rows by number; for a column, use result.column({number!r})")
        return self.rows()[number]

    def __len__(self) -> int:
        return len(self.rows()) if self._rows is not None else sum(_count(block) for block in self._blocks())

    def _blocks(self) -> tuple[RowBlock, ...]:
        given = self._given
        if isinstance(given, tuple):
            return given
        if isinstance(given, list):
            types = [field.type for field in self.schema.fields]
            columns = tuple([column_from_values([row[i] for row in given], type) for i, type in enumerate(types)])
            given = Updates.of(columns, 0, size=len(given))
        return (row_block(given, self.schema),)

    def __repr__(self) -> str:
        shown = ", ".join(repr(row) for row in self.rows()[:5])
        more = f", … {len(self) - 5} more" if len(self) > 5 else ""
        return f"Result([{shown}{more}], columns={list(self.columns)}, timestamp={self.timestamp})"


def _rows_found(found: Updates) -> list[Row]:
    rows: list[Row] = list(zip(*[column.to_values() for column in found.columns], strict=True))
    if not found.columns:
        rows = [()] * len(found)
    diffs = found.diffs
    if is_uniform(diffs) and diffs[0] == 1:
        return rows
    return [row for row, diff in zip(rows, diffs.tolist(), strict=True) for _ in range(diff)]


def rows_of(block: RowBlock) -> list[Row]:
    """The rows of a block as tuples, each as often as it is there."""
    batch = block.columns
    if block.diffs is not None and batch.num_rows:
        batch = expand(block)
    if not batch.num_columns:
        return [()] * batch.num_rows
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def expand(block: RowBlock) -> pa.RecordBatch:
    """The rows of a block with each row as often as it is there."""
    if block.diffs is None:
        return block.columns
    counts = block.diffs.to_numpy()
    if (counts == 1).all():
        return block.columns
    return block.columns.take(pa.array(np.repeat(np.arange(len(counts)), counts)))


def _count(block: RowBlock) -> int:
    return block.num_rows if block.diffs is None else int(block.diffs.to_numpy().sum())


def _named(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    return batch if batch.schema.equals(schema) else pa.RecordBatch.from_arrays(batch.columns, schema=schema)
