"""Directives that create dataflows and govern what they export."""

from __future__ import annotations

from ...dataflow.plans.explain import explain
from ...dataflow.plans.lower import lower
from ...dataflow.plans.validate import validate
from ...messages.commands import AllowCompaction, AllowWrites, CreateDataflow, Schedule
from ...messages.dataflows import IndexExport, MaterializedView, RelationDataflow, SourceImport
from .arguments import Signature, read_frontier, read_id, read_list, read_text, read_time
from .catalog import Defined
from .dataflow_text import read_dataflow, read_key
from .directive import OK, Arguments, Body, BodyKind, Directive, Output
from .errors import DirectiveError
from .session import Session


def _define_index(session: Session, arguments: Arguments, body: Body) -> Output:
    catalog = session.catalog
    name = arguments["shard"]
    known = catalog.shards.get(name)
    named = arguments.get("schema")
    schema = known.schema if named is None and known is not None else catalog.schema(named)
    key = read_key(arguments["key"], schema.types)
    shard = catalog.shard(name, schema)
    source, index = arguments["source"], arguments["index"]
    written = RelationDataflow(
        debug_name=f"index {index}",
        source_imports=(SourceImport(source, shard.id, schema, arguments["upper"]),),
        index_imports=(),
        objects_to_build=(),
        index_exports=(IndexExport(index, source, key),),
        sink_exports=(),
        as_of=arguments["as-of"],
    )
    _send(session, Defined(written, lower(written)))
    return OK


def _create_dataflow(session: Session, arguments: Arguments, body: Body) -> Output:
    defined = _read(session, arguments, body)
    session.catalog.dataflows[arguments["name"]] = defined
    if arguments["defer"]:
        return ("deferred",)
    _send(session, defined)
    return OK


def _submit_dataflow(session: Session, arguments: Arguments, body: Body) -> Output:
    _send(session, session.catalog.dataflow(arguments["name"]))
    return OK


def _schedule(session: Session, arguments: Arguments, body: Body) -> Output:
    session.client.send(Schedule(arguments["id"]))
    return OK


def _allow_writes(session: Session, arguments: Arguments, body: Body) -> Output:
    session.client.send(AllowWrites(arguments["id"]))
    return OK


def _allow_compaction(session: Session, arguments: Arguments, body: Body) -> Output:
    session.client.send(AllowCompaction(arguments["id"], arguments["frontier"]))
    return OK


def _explain(session: Session, arguments: Arguments, body: Body) -> Output:
    if "ref" in arguments:
        if body.content:
            raise DirectiveError("explain takes ref= or a body, not both")
        defined = session.catalog.dataflow(arguments["ref"])
    else:
        defined = _read(session, arguments, body)
    return explain(defined.written, defined.rendered).splitlines()


def _read(session: Session, arguments: Arguments, body: Body) -> Defined:
    written = read_dataflow(
        arguments.get("name", "explained"),
        arguments.get("as-of", 0),
        arguments.get("until"),
        body.lines,
        session.catalog,
    ).classified()
    validate(written)
    return Defined(written, lower(written, optimize=arguments["optimize"]))


def _send(session: Session, defined: Defined) -> None:
    """Have the storage know every shard that a dataflow reads or writes, and send the dataflow."""
    dataflow = defined.rendered
    named = {source.shard for source in dataflow.source_imports}
    named |= {s.connection.shard for s in dataflow.sink_exports if isinstance(s.connection, MaterializedView)}
    for shard in session.catalog.shards.values():
        if shard.id in named:
            session.ensure_shard(shard)
    session.catalog.record_exports(dataflow)
    session.client.send(CreateDataflow(dataflow))


DATAFLOW_DIRECTIVES: dict[str, Directive] = {
    "define-index": Directive(
        _define_index,
        Signature(
            {
                "source": read_id,
                "index": read_id,
                "shard": read_text,
                "key": read_list,
                "as-of": read_time,
                "upper": read_frontier,
            },
            {"schema": read_text},
        ),
    ),
    "create-dataflow": Directive(
        _create_dataflow,
        Signature(
            {"name": read_text, "as-of": read_time},
            {"until": read_frontier},
            frozenset({"optimize", "defer"}),
        ),
        BodyKind.INDENTED,
    ),
    "submit-dataflow": Directive(_submit_dataflow, Signature({"name": read_text})),
    "explain": Directive(
        _explain,
        Signature(
            {},
            {"ref": read_text, "name": read_text, "as-of": read_time, "until": read_frontier},
            frozenset({"optimize"}),
        ),
        BodyKind.INDENTED,
    ),
    "schedule": Directive(_schedule, Signature({"id": read_id})),
    "allow-writes": Directive(_allow_writes, Signature({"id": read_id})),
    "allow-compaction": Directive(_allow_compaction, Signature({"id": read_id, "frontier": read_frontier})),
}
