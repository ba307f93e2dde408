"""The body of ``create-dataflow``: imports, objects to build, exports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...dataflow.plans.parse_relation import parse_relation
from ...dataflow.plans.parse_scalar import parse_scalar
from ...dataflow.plans.typing import relation_types
from ...messages.dataflows import (
    BuildDesc,
    CopyTo,
    IndexExport,
    IndexImport,
    MaterializedView,
    RelationDataflow,
    SinkExport,
    SourceImport,
    Subscribe,
)
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId
from ...messages.relations import Relation
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import ColumnType, Field, Schema
from .arguments import Signature, read_frontier, read_id, read_list, read_text, split_words
from .catalog import Catalog, show_types
from .errors import DirectiveError

_SOURCE = Signature(
    required={"source": read_id, "shard": read_text}, optional={"schema": read_text, "upper": read_frontier}
)
_INDEX = Signature(required={"index": read_id})
_BUILD = Signature(required={"id": read_id})
_EXPORTS = {
    "index": Signature(
        required={"index": read_id, "on": read_id, "key": read_list}, optional={"kind": read_text, "schema": read_text}
    ),
    "materialized-view": Signature(
        required={"kind": read_text, "sink": read_id, "on": read_id, "shard": read_text},
        optional={"schema": read_text},
    ),
    "subscribe": Signature(
        required={"kind": read_text, "sink": read_id, "on": read_id},
        optional={"schema": read_text, "up-to": read_frontier},
        flags=frozenset({"no-snapshot"}),
    ),
    "copy-to": Signature(
        required={"kind": read_text, "sink": read_id, "on": read_id, "path": read_text}, optional={"schema": read_text}
    ),
}


@dataclass(slots=True)
class _Body:
    """What was read so far."""

    catalog: Catalog
    sources: list[SourceImport] = field(default_factory=list[SourceImport])
    indexes: list[IndexImport] = field(default_factory=list[IndexImport])
    builds: list[BuildDesc[Relation]] = field(default_factory=list[BuildDesc[Relation]])
    index_exports: list[IndexExport] = field(default_factory=list[IndexExport])
    sink_exports: list[SinkExport] = field(default_factory=list[SinkExport])
    types: dict[GlobalId, tuple[ColumnType, ...]] = field(default_factory=dict[GlobalId, tuple[ColumnType, ...]])


def read_dataflow(
    name: str, as_of: Timestamp, until: Frontier, body: Sequence[str], catalog: Catalog
) -> RelationDataflow:
    """The dataflow in a body.

    Raises:
        DirectiveError, PillionError: a line is malformed, or names what is not defined.
    """
    read = _Body(catalog)
    readers: dict[str, Callable[[_Body, list[str], Sequence[str]], None]] = {
        "import": _read_import,
        "build": _read_build,
        "export": _read_export,
    }
    position = 0
    while position < len(body):
        if not body[position]:
            position += 1
            continue
        nested = position + 1
        while nested < len(body) and (not body[nested] or _indentation(body[nested]) > _indentation(body[position])):
            nested += 1
        try:
            words = split_words(body[position])
            reader = readers.get(words[0])
            if reader is None:
                raise ValueError(f"expected import, build or export, found {words[0]!r}")
            reader(read, words[1:], body[position + 1 : nested])
        except ValueError as error:
            raise DirectiveError(str(error)) from None
        position = nested
    return RelationDataflow(
        debug_name=name,
        source_imports=tuple(read.sources),
        index_imports=tuple(read.indexes),
        objects_to_build=tuple(read.builds),
        index_exports=tuple(read.index_exports),
        sink_exports=tuple(read.sink_exports),
        as_of=as_of,
        until=until,
    )


def read_key(texts: Sequence[str], types: Sequence[ColumnType]) -> tuple[Scalar, ...]:
    """The key of an index: column positions, or expressions.

    Raises:
        DirectiveError: a column is out of range.
    """
    key: list[Scalar] = []
    for text in texts:
        column = text.removeprefix("#")
        if not column.isdigit():
            key.append(parse_scalar(text))
            continue
        if int(column) >= len(types):
            raise DirectiveError(f"key column {column} is out of range: the collection has {len(types)} columns")
        key.append(ColumnRef(int(column)))
    return tuple(key)


def _read_import(body: _Body, words: list[str], nested: Sequence[str]) -> None:
    _refuse_nested("import", nested)
    if any(word.startswith("source=") for word in words):
        arguments = _SOURCE.read("import", words)
        named = arguments.get("schema")
        known = body.catalog.shards.get(arguments["shard"])
        schema = known.schema if named is None and known is not None else body.catalog.schema(named)
        shard = body.catalog.shard(arguments["shard"], schema)
        id = arguments["source"]
        body.sources.append(SourceImport(id, shard.id, schema, arguments.get("upper", 0)))
        body.types[id] = schema.types
        return
    id = _INDEX.read("import", words)["index"]
    index = body.catalog.indexes.get(id)
    if index is None:
        raise DirectiveError(f"{id}: cannot import an index that no dataflow of this script exports")
    body.indexes.append(IndexImport(id, index.on, index.key, index.schema))
    body.types.setdefault(index.on, index.schema.types)


def _read_build(body: _Body, words: list[str], nested: Sequence[str]) -> None:
    id = _BUILD.read("build", words)["id"]
    if not any(nested):
        raise DirectiveError(f"build id={id} has no expression below it")
    # Lines are counted from the expression's first one, so that an error does not change with what stands above.
    relation = parse_relation(nested, env=body.types)
    types = relation_types(relation, body.types)
    fields = tuple([Field(f"column{i}", type.type, type.nullable) for i, type in enumerate(types)])
    body.builds.append(BuildDesc(id, relation, Schema(fields)))
    body.types[id] = types


def _read_export(body: _Body, words: list[str], nested: Sequence[str]) -> None:
    _refuse_nested("export", nested)
    kind = next((word.removeprefix("kind=") for word in words if word.startswith("kind=")), "index")
    signature = _EXPORTS.get(kind)
    if signature is None:
        raise DirectiveError(f"there is no kind of export {kind!r}; there are {', '.join(_EXPORTS)}")
    arguments = signature.read("export", words)
    on: GlobalId = arguments["on"]
    if on not in body.types:
        raise DirectiveError(f"cannot export {on}, which the dataflow neither imports nor builds")
    types = body.types[on]
    _check_schema(body.catalog, arguments, on, types)
    if kind == "index":
        body.index_exports.append(IndexExport(arguments["index"], on, read_key(arguments["key"], types)))
        return
    sink: GlobalId = arguments["sink"]
    match kind:
        case "materialized-view":
            shard = body.catalog.shard(arguments["shard"], _schema(body, arguments, on))
            body.sink_exports.append(SinkExport(sink, on, MaterializedView(shard.id)))
        case "subscribe":
            with_snapshot = not arguments["no-snapshot"]
            body.sink_exports.append(SinkExport(sink, on, Subscribe(), with_snapshot, arguments.get("up-to")))
        case _:
            body.sink_exports.append(SinkExport(sink, on, CopyTo(arguments["path"])))


def _schema(body: _Body, arguments: dict[str, Any], on: GlobalId) -> Schema:
    """The schema of what a materialized view writes: the named one, else that of the collection."""
    if "schema" in arguments:
        return body.catalog.schema(arguments["schema"])
    return Schema(tuple([Field(f"column{i}", type.type, type.nullable) for i, type in enumerate(body.types[on])]))


def _check_schema(catalog: Catalog, arguments: dict[str, Any], on: GlobalId, types: Sequence[ColumnType]) -> None:
    if "schema" not in arguments:
        return
    schema = catalog.schema(arguments["schema"])
    if [type.type for type in schema.types] != [type.type for type in types]:
        shown = ", ".join(str(type) for type in types)
        raise DirectiveError(f"{on} has columns ({shown}), but schema {arguments['schema']} has ({show_types(schema)})")


def _refuse_nested(what: str, nested: Sequence[str]) -> None:
    if any(nested):
        raise DirectiveError(f"nothing may be indented below an {what}")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
