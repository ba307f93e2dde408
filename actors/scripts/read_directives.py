"""Directives that read: frontiers, rows, counts, subscriptions, counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pyarrow.compute as pc

from ...dataflow.arrangements.updates import Updates, concat_updates
from ...dataflow.plans.lower import lower
from ...dataflow.scalars.typing import scalar_type
from ...messages.commands import AllowCompaction, CreateDataflow, IndexTarget, Peek, Schedule, ShardTarget
from ...messages.dataflows import BuildDesc, IndexExport, IndexImport, RelationDataflow, SourceImport
from ...messages.frontiers import Timestamp, less_equal
from ...messages.ids import GlobalId
from ...messages.relations import Aggregate, Get, Reduce
from ...messages.responses import Canceled, PeekError, PeekResult, Rows, Stashed
from ...messages.rows import RowBlock
from ...messages.scalars import Literal
from ...messages.types import Field, Schema, SqlType
from ..peeks.blocks import rows_of
from .arguments import Signature, read_id, read_list, read_number, read_seconds, read_text, read_time
from .catalog import Index
from .directive import OK, Arguments, Body, Directive, Output
from .errors import DirectiveError
from .session import Session
from .values import Row, read_value, show_row, sort_key

_COUNT_SCHEMA = Schema((Field("count", SqlType.BIGINT, False),))


def _await_frontier(session: Session, arguments: Arguments, body: Body) -> Output:
    id, time = arguments["id"], arguments["ts"]
    timeout = arguments.get("timeout-secs")

    def reached() -> bool:
        return session.client.reached(id, time)

    if arguments["allow-timeout"]:
        session.client.holds(reached, timeout)
        return ("awaited",)
    session.client.wait(reached, f"the frontier of {id} has not come to {time}", timeout)
    return OK


def _peek(session: Session, arguments: Arguments, body: Body) -> Output:
    id, time = arguments["id"], arguments["ts"]
    schema = session.catalog.schema(arguments["schema"]) if "schema" in arguments else None
    sink = session.catalog.sinks.get(id)
    if sink is not None and sink.shard is not None:
        _check_arity(id, sink.schema, schema)
        rows = _read(session, ShardTarget(sink.shard.id), time, sink.schema)
    else:
        index = _index(session, id, schema)
        _check_arity(id, index.schema, schema)
        rows = _read(session, IndexTarget(id), time, index.schema)
    return [show_row(row) for row in sorted(rows, key=sort_key)]


def _peek_count(session: Session, arguments: Arguments, body: Body) -> Output:
    id = arguments["id"]
    index = _index(session, id, None)
    literals = _literals(id, index, arguments["literals"]) if "literals" in arguments else None
    peek = Peek(session.fresh_uuid(), IndexTarget(id), arguments["ts"], index.schema, literals)
    blocks = _blocks(session.client.peek(peek))
    return (str(sum(b.num_rows if b.diffs is None else int(pc.sum(b.diffs).as_py() or 0) for b in blocks)),)


def _literals(id: GlobalId, index: Index, texts: Sequence[str]) -> tuple[tuple[Literal, ...], ...]:
    """``[1, 2]``: keys of one column; ``[[1, "a"], [2, "b"]]``, or ``[1, "a"]`` for one key: of several."""
    if index.is_unknown:
        return ()
    if len(index.key) == 1:
        keys = [read_list(text) if text.startswith("[") else (text,) for text in texts]
    else:
        keys = [read_list(text) for text in texts] if any(t.startswith("[") for t in texts) else [tuple(texts)]
    types = _key_types(index)
    literals: list[tuple[Literal, ...]] = []
    for key in keys:
        if len(key) != len(types):
            raise DirectiveError(f"{id} has a key of {len(types)} columns, but {len(key)} literals were given")
        literals.append(tuple([_literal(text, type) for text, type in zip(key, types, strict=True)]))
    return tuple(literals)


def _literal(text: str, type: SqlType) -> Literal:
    try:
        return Literal.of(None if text == "null" else read_value(text, type), type)
    except ValueError:
        raise DirectiveError(f"{text} is no value of type {type}") from None


def _key_types(index: Index) -> list[SqlType]:
    return [scalar_type(scalar, index.schema.types).type for scalar in index.key]


def _count(session: Session, arguments: Arguments, body: Body) -> Output:
    """Through a dataflow that ends at the time of the count, and is dropped when it was read."""
    id, time = arguments["id"], arguments["ts"]
    collection, result, index = session.ephemeral_id(), session.ephemeral_id(), session.ephemeral_id()
    sources: tuple[SourceImport, ...] = ()
    imports: tuple[IndexImport, ...] = ()
    sink = session.catalog.sinks.get(id)
    if sink is not None and sink.shard is not None:
        sources = (SourceImport(collection, sink.shard.id, sink.schema),)
    else:
        counted = _index(session, id, None)
        collection = counted.on
        imports = (IndexImport(id, counted.on, counted.key, counted.schema),)
    written = RelationDataflow(
        debug_name=f"count of {id}",
        source_imports=sources,
        index_imports=imports,
        objects_to_build=(BuildDesc(result, Reduce(Get(collection), (), (Aggregate("count"),)), _COUNT_SCHEMA),),
        index_exports=(IndexExport(index, result, ()),),
        sink_exports=(),
        as_of=time,
        until=time + 1,
    ).classified()
    client = session.client
    client.send(CreateDataflow(lower(written)))
    client.send(Schedule(index))
    try:
        rows = _read(session, IndexTarget(index), time, _COUNT_SCHEMA)
    finally:
        client.send(AllowCompaction(index, None))
    return (show_row(rows[0]) if rows else "0",)


def _await_subscribe(session: Session, arguments: Arguments, body: Body) -> Output:
    id, time = arguments["id"], arguments["up-to"]
    client = session.client
    subscription = client.subscriptions.get(id)
    if subscription is None:
        raise DirectiveError(f"{id} is no subscription of this connection")

    def is_over() -> bool:
        return less_equal(time, subscription.upper) or subscription.dropped or subscription.error is not None

    client.wait(is_over, f"the subscription {id} has not come to {time}", arguments.get("timeout-secs"))
    if subscription.error is not None:
        raise DirectiveError(subscription.error)
    if not less_equal(time, subscription.upper):
        raise DirectiveError(f"the subscription {id} was dropped before it came to {time}")
    return _show_updates(subscription.updates, time)


def _show_updates(parts: Sequence[Updates], up_to: Timestamp) -> Output:
    if not parts:
        return ()
    updates = cast(list[tuple[Row, int, int]], concat_updates(parts).before(up_to).consolidate().to_tuples())
    ordered = sorted(updates, key=lambda update: (update[1], update[2], sort_key(update[0])))
    return [f"{time} {diff} {show_row(row)}".rstrip() for row, time, diff in ordered]


def _metrics(session: Session, arguments: Arguments, body: Body) -> Output:
    name, minus, limit = arguments["name"], arguments.get("minus"), arguments.get("max")

    def value() -> int:
        replica = session.counters()
        counters = session.client.counts | replica
        for asked in (name, minus):
            if asked is not None and asked not in counters:
                raise DirectiveError(f"there is no counter {asked}; there are {', '.join(sorted(replica))}")
        return counters[name] - (counters[minus] if minus is not None else 0)

    if limit is None:
        return (f"value = {value()}",)
    session.client.poll(lambda: value() <= limit, f"{name} has not come down to {limit}", arguments.get("timeout-secs"))
    return (f"value <= {limit}",)


def _index(session: Session, id: GlobalId, schema: Schema | None) -> Index:
    """What the script knows of an index. Of an unknown one it knows nothing, and has the replica say so."""
    index = session.catalog.indexes.get(id)
    return Index(id, (), schema or session.catalog.schema(None), is_unknown=True) if index is None else index


def _check_arity(id: GlobalId, schema: Schema, given: Schema | None) -> None:
    if given is not None and given.arity != schema.arity:
        raise DirectiveError(f"{id} has {schema.arity} columns, but the schema given has {given.arity}")


def _read(
    session: Session,
    target: IndexTarget | ShardTarget,
    time: Timestamp,
    schema: Schema,
    literals: tuple[tuple[Literal, ...], ...] | None = None,
) -> list[Row]:
    """The rows of a peek, each as often as its multiplicity says."""
    peek = Peek(session.fresh_uuid(), target, time, schema, literals)
    rows: list[Row] = []
    for block in _blocks(session.client.peek(peek)):
        for row, _, diff in rows_of(block, schema).to_tuples():
            rows += [cast(Row, row)] * diff
    return rows


def _blocks(result: PeekResult) -> Sequence[RowBlock]:
    match result:
        case Rows(block):
            return (block,)
        case Stashed(parts):
            return parts
        case PeekError(message):
            raise DirectiveError(message)
        case Canceled():
            raise DirectiveError("the peek was canceled")


READ_DIRECTIVES: dict[str, Directive] = {
    "await-frontier": Directive(
        _await_frontier,
        Signature({"id": read_id, "ts": read_time}, {"timeout-secs": read_seconds}, frozenset({"allow-timeout"})),
    ),
    "peek": Directive(_peek, Signature({"id": read_id, "ts": read_time}, {"schema": read_text})),
    "peek-count": Directive(_peek_count, Signature({"id": read_id, "ts": read_time}, {"literals": read_list})),
    "count": Directive(_count, Signature({"id": read_id, "ts": read_time})),
    "await-subscribe": Directive(
        _await_subscribe, Signature({"id": read_id, "up-to": read_time}, {"timeout-secs": read_seconds})
    ),
    "metrics": Directive(
        _metrics,
        Signature({}, {"minus": read_text, "max": read_number, "timeout-secs": read_seconds}, bare="name"),
    ),
}
