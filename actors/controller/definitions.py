"""Creating and dropping collections."""

from __future__ import annotations

from collections.abc import Iterable

from ...dataflow.plans.print_relation import print_types
from ...dataflow.plans.typing import extend_types, relation_types
from ...messages.commands import AllowWrites, CreateDataflow, LoggingIndex, Schedule
from ...messages.dataflows import MaterializedView, RenderDataflow
from ...messages.frontiers import Timestamp
from ...messages.ids import GlobalId
from ...messages.relations import Relation
from ...messages.types import Schema
from ..errors import RejectedData
from ..introspection.relations import IntrospectionRelation
from ..requests import (
    CollectionInfo,
    CollectionKind,
    CreateIndex,
    CreateMaterializedView,
    CreateTable,
    CreateView,
    Drop,
    ReadPolicy,
    SetReadPolicy,
)
from ..storage.messages import CreateShard, CreateTableShard, DropShard
from .catalog import relation_of
from .compaction import Readable
from .planning import at, imports_of, index_dataflow, sink_dataflow
from .state import ControllerState


class Definitions:
    """The application's collections."""

    def __init__(self, state: ControllerState, introspection: Iterable[IntrospectionRelation]) -> None:
        self._state = state
        self.logging: list[LoggingIndex] = []
        """Which introspection relation has which index, for ``CreateInstance``."""
        for number, relation in enumerate(introspection, 1):
            self._add_introspection(relation, GlobalId("s", number))

    def _add_introspection(self, relation: IntrospectionRelation, index: GlobalId) -> None:
        state = self._state
        key = relation.key_expressions
        state.catalog.add(CollectionInfo(relation.source, relation.name, CollectionKind.INTROSPECTION, relation.schema))
        state.catalog.add(
            CollectionInfo(
                index,
                f"{relation.name}_index",
                CollectionKind.INDEX,
                relation.schema,
                depends_on=(relation.source,),
                on=relation.source,
                key=key,
            )
        )
        state.readables[index] = Readable(index, 0, 0)
        state.introspection.add(index)
        self.logging.append(LoggingIndex(relation.name, index))

    def create_table(self, request: CreateTable) -> None:
        """The storage answers, once the table is there."""
        state = self._state
        state.catalog.check_name(request.name)
        _check_schema(request.name, request.schema)
        arity = request.schema.arity
        if any(not 0 <= position < arity for position in request.key) or len(set(request.key)) < len(request.key):
            raise RejectedData(request.name, f"the key {request.key} is not a set of positions of its {arity} columns")
        id = state.user_id()
        since = state.oracle.latest
        state.catalog.add(CollectionInfo(id, request.name, CollectionKind.TABLE, request.schema, table_key=request.key))
        state.readables[id] = Readable(id, since, request.policy.lag)
        state.tables.add(id)
        state.stored.add(id)
        state.storage.tell(
            CreateTableShard(id, request.name, request.schema, since, key=request.key, reply=request.reply)
        )

    def create_view(self, request: CreateView) -> GlobalId:
        state = self._state
        state.catalog.check_name(request.name)
        uses = self._check_relation(request.name, request.relation, request.schema)
        id = state.user_id()
        info = CollectionInfo(id, request.name, CollectionKind.VIEW, request.schema, uses, relation=request.relation)
        state.catalog.add(info)
        return id

    def create_index(self, request: CreateIndex) -> GlobalId:
        state = self._state
        state.catalog.check_name(request.name)
        on = relation_of(state.catalog.get(request.on))
        extend_types(on.schema.types, request.key)  # Raises when the key is no expression over its columns.
        id = state.user_id()
        dataflow = index_dataflow(state.catalog, id, on, request.key)
        info = CollectionInfo(id, request.name, CollectionKind.INDEX, on.schema, (on.id,), on=on.id, key=request.key)
        self._install(info, dataflow, request.policy)
        return id

    def create_materialized_view(self, request: CreateMaterializedView) -> GlobalId:
        state = self._state
        state.catalog.check_name(request.name)
        _check_schema(request.name, request.schema)
        uses = self._check_relation(request.name, request.relation, request.schema)
        id = state.user_id()
        dataflow = sink_dataflow(
            state.catalog,
            f"materialized view {request.name}",
            request.relation,
            request.schema,
            object_id=state.transient_id(),
            sink=id,
            connection=MaterializedView(id),
        )
        info = CollectionInfo(
            id, request.name, CollectionKind.MATERIALIZED_VIEW, request.schema, uses, relation=request.relation
        )
        state.stored.add(id)
        since = self._install(info, dataflow, request.policy)
        state.storage.tell(CreateShard(id, request.schema, since))
        state.send(AllowWrites(id))
        return id

    def drop(self, request: Drop) -> tuple[GlobalId, ...]:
        state = self._state
        dropped = state.catalog.to_drop(request.id, cascade=request.cascade)
        if any(info.kind is CollectionKind.INTROSPECTION or info.id in state.introspection for info in dropped):
            raise RejectedData(state.catalog.get(request.id).name, "introspection relations cannot be dropped")
        for info in dropped:
            state.catalog.remove(info.id)
            readable = state.readables.get(info.id)
            if readable is not None:
                readable.dropped = True
            if info.id in state.tables:
                state.storage.tell(DropShard(info.id))
        state.compact()
        return tuple(info.id for info in dropped)

    def set_read_policy(self, request: SetReadPolicy) -> None:
        self._state.readable(request.id).lag = request.policy.lag

    def _install(self, info: CollectionInfo, dataflow: RenderDataflow, policy: ReadPolicy) -> Timestamp:
        """Create a maintained dataflow that exports this collection; returns since when it is readable."""
        state = self._state
        imports = imports_of(dataflow)
        as_of = state.since(imports)
        if policy.lag is not None:
            # Nobody may ask for more history than the policy keeps, and less of it is less to compute.
            as_of = max(as_of, state.oracle.latest - policy.lag)
        state.catalog.add(info)
        state.readables[info.id] = Readable(info.id, as_of, policy.lag, imports)
        state.send(CreateDataflow(at(dataflow, as_of)))
        state.send(Schedule(info.id))
        return as_of

    def _check_relation(self, name: str, relation: Relation, schema: Schema) -> tuple[GlobalId, ...]:
        """Refuse a relation that is ill-formed or has not the types of the schema; returns what it uses."""
        catalog = self._state.catalog
        uses = catalog.uses(relation)
        types = relation_types(relation, {id: catalog.get(id).schema.types for id in uses})
        if [type.type for type in types] != [field.type for field in schema.fields]:
            given, expected = print_types(types), print_types(schema.types)
            raise RejectedData(name, f"the relation has types {given}, the schema {expected}")
        return uses


def _check_schema(name: str, schema: Schema) -> None:
    if not schema.fields:
        raise RejectedData(name, "a table or materialized view has at least one column")
