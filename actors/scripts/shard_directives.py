"""Directives that define schemas and write to shards."""

from __future__ import annotations

import numpy as np

from ...dataflow.arrangements.updates import Diffs, Updates, uniform
from ...dataflow.columns.column import Column
from ...messages.frontiers import Timestamp
from ...messages.types import Field, Schema
from ..storage.messages import AppendRows
from .arguments import Signature, read_list, read_number, read_text, read_time, split_words
from .catalog import Shard
from .directive import OK, Arguments, Body, BodyKind, Directive, Output
from .errors import DirectiveError
from .session import Session
from .values import read_row, read_type, rows_to_columns, synthetic_columns


def _define_schema(session: Session, arguments: Arguments, body: Body) -> Output:
    fields: list[Field] = []
    for line in body.content:
        words = split_words(line)
        if len(words) not in (2, 3) or words[2:] not in ([], ["nullable"]):
            raise DirectiveError(f"column {line.strip()}: expected a name, a type, and perhaps nullable")
        if any(field.name == words[0] for field in fields):
            raise DirectiveError(f"column {words[0]} is defined twice")
        fields.append(Field(words[0], read_type(words[1]), len(words) == 3))
    session.catalog.schemas[arguments["name"]] = Schema(tuple(fields))
    return OK


def _write_rows(session: Session, arguments: Arguments, body: Body) -> Output:
    schema = session.catalog.schema(arguments.get("schema"))
    rows = [read_row(line, schema) for line in body.content]
    time: Timestamp = arguments["ts"]
    diffs = _diffs(arguments, len(rows))
    updates = Updates(rows_to_columns(rows, schema), uniform(time, len(rows)), diffs)
    return _append(session, arguments["shard"], schema, updates, time, time + 1)


def _diffs(arguments: Arguments, rows: int) -> Diffs:
    """The multiplicity of each row: ``diff=`` for all, or ``diffs=[…]``, because a shard is written once at a time."""
    if "diffs" not in arguments:
        return uniform(arguments.get("diff", 1), rows)
    if "diff" in arguments:
        raise DirectiveError("write-rows takes diff= or diffs=, not both")
    diffs: list[int] = arguments["diffs"]
    if len(diffs) != rows:
        raise DirectiveError(f"diffs= has {len(diffs)} numbers for {rows} rows")
    return np.array(diffs, np.int64)


def _write_single_time(session: Session, arguments: Arguments, body: Body) -> Output:
    schema, columns = _synthetic(session, arguments)
    time: Timestamp = arguments["ts"]
    count = arguments["count"]
    updates = Updates(columns, uniform(time, count), uniform(arguments.get("diff", 1), count))
    return _append(session, arguments["shard"], schema, updates, time, time + 1)


def _write_spread(session: Session, arguments: Arguments, body: Body) -> Output:
    schema, columns = _synthetic(session, arguments)
    count, times = arguments["count"], arguments["n-ts"]
    if times == 0:
        raise DirectiveError("rows cannot be spread over 0 times")
    spread = np.arange(count, dtype=np.int64) % times
    updates = Updates(columns, spread, uniform(arguments.get("diff", 1), count))
    return _append(session, arguments["shard"], schema, updates, 0, times)


def _synthetic(session: Session, arguments: Arguments) -> tuple[Schema, tuple[Column, ...]]:
    schema = session.catalog.schema(arguments.get("schema"))
    start, count = arguments.get("start", 0), arguments["count"]
    return schema, synthetic_columns(schema, start, count, arguments.get("row-bytes", 0))


def _append(session: Session, name: str, schema: Schema, updates: Updates, time: Timestamp, upper: Timestamp) -> Output:
    """Append updates of which none is before ``time``."""
    shard: Shard = session.catalog.shard(name, schema)
    if time < shard.upper:
        raise DirectiveError(f"shard {name} is sealed up to {shard.upper}: cannot write at {time}")
    session.ensure_shard(shard)
    count = len(updates)
    session.ask_storage(lambda reply: AppendRows(shard.id, shard.schema, updates, upper, reply))
    shard.upper = upper
    session.client.barrier()
    return (f"wrote {count}",)


def _read_diff(text: str) -> int:
    number = int(text)
    if number == 0:
        raise ValueError("a row that is written 0 times is not written")
    return number


def _read_diffs(text: str) -> list[int]:
    return [_read_diff(each) for each in read_list(text)]


_SYNTHETIC = {"schema": read_text, "start": read_number, "row-bytes": read_number, "diff": _read_diff}

SHARD_DIRECTIVES: dict[str, Directive] = {
    "define-schema": Directive(_define_schema, Signature({"name": read_text}), BodyKind.INDENTED),
    "write-rows": Directive(
        _write_rows,
        Signature(
            {"shard": read_text, "ts": read_time}, {"schema": read_text, "diff": _read_diff, "diffs": _read_diffs}
        ),
        BodyKind.INDENTED,
    ),
    "write-single-ts": Directive(
        _write_single_time, Signature({"shard": read_text, "ts": read_time, "count": read_number}, _SYNTHETIC)
    ),
    "write-spread": Directive(
        _write_spread, Signature({"shard": read_text, "count": read_number, "n-ts": read_number}, _SYNTHETIC)
    ),
}
