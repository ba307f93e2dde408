"""The copy-to sink: a collection at its dataflow's ``as_of``, as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet

from ...dataflow.arrangements.updates import Chunk, Updates, concat_optional, error_messages
from ...dataflow.columns.grouping import shard_of
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId
from ...messages.responses import Copied, CopyDropped, CopyError, CopyToResponse
from ...messages.types import Schema
from ..peeks.blocks import record_batch
from .gathering import GatheringSink
from .link import Link
from .messages import DataflowNumber


class CopyToSink(GatheringSink):
    """Writes the rows once all of them came. The owner, to which the dataflow brings the rows, is the only one that
    answers."""

    def __init__(
        self, link: Link, dataflow: DataflowNumber, id: GlobalId, path: str, schema: Schema, as_of: Timestamp
    ) -> None:
        super().__init__(link, dataflow, id, as_of, owner=int(shard_of((), 1, len(link.fellows))[0]))
        self._path = Path(path)
        self._schema = schema
        self._parts: list[Chunk] = []
        self._done = not self.is_owner

    def gathered(self, chunk: Chunk, upper: Frontier) -> None:
        if self._done:
            return
        self._parts.append(chunk)
        if upper is None:
            self._answer(self._copy())

    def drop(self) -> None:
        if not self._done:
            self._answer(CopyDropped())

    def _answer(self, result: Copied | CopyError | CopyDropped) -> None:
        self._done = True
        self._parts.clear()
        self._link.respond(CopyToResponse(self._id, result), self._dataflow)

    def _copy(self) -> Copied | CopyError:
        errors = concat_optional([part.errs for part in self._parts])
        if errors is not None:
            errors = errors.consolidate()
            if len(errors):
                return CopyError(min(error_messages(errors)))
        rows = concat_optional([part.oks for part in self._parts])
        if rows is not None:
            rows = rows.consolidate()
            if len(rows) and rows.diffs.min() < 0:
                return CopyError("the collection has a row of negative multiplicity")
        table = _table(rows, self._schema)
        try:
            _write(table, self._path)
        except (OSError, pa.ArrowException) as error:
            return CopyError(f"cannot write {self._path}: {error}")
        return Copied(table.num_rows)


def _table(rows: Updates | None, schema: Schema) -> pa.Table:
    """The rows, each as often as its multiplicity says."""
    if rows is None or not len(rows):
        return schema.to_arrow().empty_table()
    batch = record_batch(rows, schema)
    if (rows.diffs != 1).any():
        batch = batch.take(pa.array(np.repeat(np.arange(len(rows)), rows.diffs)))
    return pa.Table.from_batches([batch])


def _write(table: pa.Table, path: Path) -> None:
    match path.suffix:
        case ".csv":
            csv.write_csv(table, path)
        case ".parquet":
            parquet.write_table(table, path)
        case suffix:
            raise OSError(f"the format {suffix or '(none)'} is unknown; name the file .csv or .parquet")
