"""Dataflows for what an application asks: which collections they import, what they build and export."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...dataflow.plans.lower import lower
from ...messages.dataflows import (
    BuildDesc,
    IndexExport,
    IndexImport,
    RelationDataflow,
    RenderDataflow,
    SinkConnection,
    SinkExport,
    SourceImport,
)
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId
from ...messages.relations import Relation
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import Schema
from ..requests import CollectionInfo, CollectionKind
from .catalog import Catalog
from .expansion import expand

_STORED = (CollectionKind.TABLE, CollectionKind.MATERIALIZED_VIEW)


def index_dataflow(catalog: Catalog, id: GlobalId, on: CollectionInfo, key: tuple[Scalar, ...]) -> RenderDataflow:
    """An index on a collection. An arrangement that exists is used again; else the collection is computed."""
    export = (IndexExport(id, on.id, key),)
    name = f"index {id} on {on.name}"
    existing = catalog.indexes(on.id)
    same = [index for index in existing if index.key == key]
    if same:
        return lower(_description(name, index_imports=(_import(same[0]),), index_exports=export))
    if on.kind in _STORED:
        return lower(_description(name, source_imports=(_source(on),), index_exports=export))
    if existing:
        return lower(_description(name, index_imports=(_import(existing[0]),), index_exports=export))
    assert on.relation is not None, "what is neither stored nor indexed is a view"
    return _build(catalog, name, on.relation, on.schema, on.id, index_exports=export)


def sink_dataflow(
    catalog: Catalog,
    name: str,
    relation: Relation,
    schema: Schema,
    *,
    object_id: GlobalId,
    sink: GlobalId,
    connection: SinkConnection,
    with_snapshot: bool = True,
    up_to: Frontier = None,
) -> RenderDataflow:
    """A relation whose changes go somewhere."""
    export = SinkExport(sink, object_id, connection, with_snapshot, up_to)
    return _build(catalog, name, relation, schema, object_id, sink_exports=(export,))


def query_dataflow(
    catalog: Catalog, relation: Relation, schema: Schema, *, object_id: GlobalId, index: GlobalId
) -> RenderDataflow:
    """A relation computed once, for a peek of ``index``; rows are spread over the workers by all columns."""
    key = tuple(ColumnRef(column) for column in range(schema.arity))
    export = (IndexExport(index, object_id, key),)
    return _build(catalog, f"query {index}", relation, schema, object_id, index_exports=export)


def at(
    dataflow: RenderDataflow, as_of: Timestamp, until: Frontier = None, *, one_shot_reads: bool = True
) -> RenderDataflow:
    """The dataflow over ``[as_of, until)``, with the class that follows from it. ``one_shot_reads``: whether it may be
    one that the interactive runtime renders."""
    return msgspec.structs.replace(dataflow, as_of=as_of, until=until).classified(one_shot_reads)


def imports_of(dataflow: RenderDataflow) -> tuple[GlobalId, ...]:
    """The collections that it reads directly: shards and indexes."""
    return tuple(s.shard for s in dataflow.source_imports) + tuple(i.id for i in dataflow.index_imports)


def _build(
    catalog: Catalog,
    name: str,
    relation: Relation,
    schema: Schema,
    object_id: GlobalId,
    *,
    index_exports: tuple[IndexExport, ...] = (),
    sink_exports: tuple[SinkExport, ...] = (),
) -> RenderDataflow:
    expanded = expand(relation, catalog)
    available = [_import(index) for leaf in expanded.leaves for index in catalog.indexes(leaf.id)]
    description = _description(
        name,
        source_imports=tuple(_source(leaf) for leaf in expanded.leaves if leaf.kind in _STORED),
        objects_to_build=(BuildDesc(object_id, expanded.relation, schema),),
        index_exports=index_exports,
        sink_exports=sink_exports,
    )
    return lower(description, available)


def _description(
    name: str,
    *,
    source_imports: tuple[SourceImport, ...] = (),
    index_imports: tuple[IndexImport, ...] = (),
    objects_to_build: Iterable[BuildDesc[Relation]] = (),
    index_exports: tuple[IndexExport, ...] = (),
    sink_exports: tuple[SinkExport, ...] = (),
) -> RelationDataflow:
    return RelationDataflow(
        debug_name=name,
        source_imports=source_imports,
        index_imports=index_imports,
        objects_to_build=tuple(objects_to_build),
        index_exports=index_exports,
        sink_exports=sink_exports,
        as_of=0,
    )


def _source(info: CollectionInfo) -> SourceImport:
    return SourceImport(info.id, info.id, info.schema)


def _import(index: CollectionInfo) -> IndexImport:
    assert index.on is not None, "an index is on a collection"
    return IndexImport(index.id, index.on, index.key, index.schema)
