"""Structural checks of a dataflow description, before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...messages.dataflows import (
    BuildDesc,
    DataflowClass,
    IndexImport,
    MaterializedView,
    RelationDataflow,
    RenderDataflow,
)
from ...messages.errors import ExpressionError
from ...messages.frontiers import less_equal, show_frontier
from ...messages.ids import GlobalId
from ...messages.plans import GetNode, ImportIndex, PlanNode, RenderPlan
from ...messages.relations import Relation
from ...messages.scalars import Scalar
from ...messages.types import Schema
from ..scalars.typing import scalar_type
from .errors import DescriptionError
from .print_relation import print_types
from .print_scalar import print_scalar
from .typing import Types, relation_types


def validate(dataflow: RelationDataflow | RenderDataflow) -> None:
    """Refuse a description that breaks a rule.

    Raises:
        DescriptionError: an id is imported, built or exported twice; a plan or an export reads what is neither imported
            nor built; an expression has other types than its schema; a key is no expression over its collection; a time
            is out of order. The error names the id and the rule.
        RelationTypeError: an expression is ill-formed.
        PlanDepthError: an expression is nested too deep.
    """
    _Validation(dataflow).run()


class _Validation:
    def __init__(self, dataflow: RelationDataflow | RenderDataflow) -> None:
        self._dataflow = dataflow
        self._collections: dict[GlobalId, Schema] = {}

    def run(self) -> None:
        self._imports()
        for build in self._dataflow.objects_to_build:
            self._build(build)
        self._exports()
        self._times()

    def _imports(self) -> None:
        dataflow = self._dataflow
        _check_once((source.id for source in dataflow.source_imports), "it is imported twice as a source")
        _check_once((index.id for index in dataflow.index_imports), "it is imported twice as an index")
        for source in dataflow.source_imports:
            self._collections[source.id] = source.schema
        for index in dataflow.index_imports:
            known = self._collections.setdefault(index.on, index.schema)
            if known.types != index.schema.types:
                shown = f"{print_types(index.schema.types)} and {print_types(known.types)}"
                raise DescriptionError(index.on, f"it is imported with different types: {shown}")
            _check_key(index.id, index.key, index.on, index.schema)

    def _build(self, build: BuildDesc[Relation] | BuildDesc[RenderPlan]) -> None:
        if build.id in self._collections:
            raise DescriptionError(build.id, "it is imported or built before; every object has an id of its own")
        if isinstance(build.plan, RenderPlan):
            types = _plan_types(build.id, build.plan, self._collections, self._dataflow.index_imports)
        else:
            types = relation_types(build.plan, {id: schema.types for id, schema in self._collections.items()})
        if [type.type for type in types] != [field.type for field in build.schema.fields]:
            shown = f"its plan has types {print_types(types)}, its schema {print_types(build.schema.types)}"
            raise DescriptionError(build.id, shown)
        self._collections[build.id] = build.schema

    def _exports(self) -> None:
        dataflow = self._dataflow
        _check_once(dataflow.export_ids, "it is exported twice")
        imported = {index.id for index in dataflow.index_imports}
        for export in dataflow.index_exports:
            if export.id in imported:
                raise DescriptionError(export.id, "it is both imported and exported; an export has an id of its own")
            _check_key(export.id, export.key, export.on, self._exported(export.id, export.on))
        for sink in dataflow.sink_exports:
            self._exported(sink.id, sink.on)
        if dataflow.dataflow_class is DataflowClass.ONE_SHOT_READ:
            # Peeks find it by that: they go to the runtime that renders such dataflows.
            for id in dataflow.export_ids:
                if not id.is_transient:
                    raise DescriptionError(id, "it is not transient, and nothing of a one-shot read outlives it")
        shards = [s.connection.shard for s in dataflow.sink_exports if isinstance(s.connection, MaterializedView)]
        _check_once(shards, "two materialized views write it; a shard has one writer")

    def _exported(self, id: GlobalId, on: GlobalId) -> Schema:
        if on not in self._collections:
            raise DescriptionError(id, f"it is on {on}, which is neither imported nor built; {self._known()}")
        return self._collections[on]

    def _known(self) -> str:
        return f"there are {', '.join(map(str, self._collections))}" if self._collections else "there is nothing"

    def _times(self) -> None:
        dataflow = self._dataflow
        if not dataflow.export_ids:
            return
        first = dataflow.export_ids[0]
        if not less_equal(dataflow.as_of, dataflow.until):
            raise DescriptionError(first, f"as_of {dataflow.as_of} is after until {show_frontier(dataflow.until)}")
        for sink in dataflow.sink_exports:
            if not less_equal(dataflow.as_of, sink.up_to):
                raise DescriptionError(sink.id, f"as_of {dataflow.as_of} is after up_to {show_frontier(sink.up_to)}")


def _plan_types(
    id: GlobalId, plan: RenderPlan, collections: dict[GlobalId, Schema], indexes: Sequence[IndexImport]
) -> Types:
    imported = {index.id: index for index in indexes}
    for node in plan.nodes:
        _check_get(id, node, collections, imported)
    return plan.nodes[-1].types


def _check_get(
    id: GlobalId, node: PlanNode, collections: dict[GlobalId, Schema], indexes: dict[GlobalId, IndexImport]
) -> None:
    match node:
        case GetNode(_, read) if read not in collections:
            raise DescriptionError(id, f"it reads {read}, which is neither imported nor built before it")
        case ImportIndex(_, index, key) if index not in indexes or indexes[index].key != key:
            problem = "is not imported" if index not in indexes else "is imported with another key"
            raise DescriptionError(id, f"it reads the index {index}, which {problem}")
        case _:
            pass


def _check_key(id: GlobalId, key: Sequence[Scalar], on: GlobalId, schema: Schema) -> None:
    for scalar in key:
        try:
            scalar_type(scalar, schema.types)
        except ExpressionError as error:
            columns = ", ".join(schema.names)
            problem = f"its key {print_scalar(scalar)} is no expression over {on} ({columns}): {error}"
            raise DescriptionError(id, problem) from error


def _check_once(ids: Iterable[GlobalId], rule: str) -> None:
    seen: set[GlobalId] = set()
    for id in ids:
        if id in seen:
            raise DescriptionError(id, rule)
        seen.add(id)
