"""Creating and dropping collections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from ...dataflow.plans.print_relation import print_types
from ...dataflow.plans.typing import extend_types, relation_types
from ...messages.commands import AllowWrites, CreateDataflow, LoggingIndex, Schedule
from ...messages.dataflows import MaterializedView, RenderDataflow
from ...messages.frontiers import Timestamp
from ...messages.ids import GlobalId
from ...messages.relations import Relation
from ...messages.types import Schema
from ..dispatch.oneshot import OneShot
from ..errors import RejectedData
from ..introspection.relations import IntrospectionRelation
from ..journal.messages import Defined
from ..requests import (
    CollectionInfo,
    CollectionKind,
    CreateIndex,
    CreateMaterializedView,
    CreateTable,
    CreateView,
    Drop,
    SetReadPolicy,
)
from ..storage.messages import CreateShard, CreateTableShard, DropShard
from .catalog import relation_of
from .compaction import Readable
from .planning import at, imports_of, index_dataflow, sink_dataflow
from .state import ControllerState

Creation = CreateTable | CreateView | CreateIndex | CreateMaterializedView


class Planned(NamedTuple):
    """A collection that is to be created, and the dataflow that keeps it, if one does."""

    defined: Defined
    dataflow: RenderDataflow | None


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

    # --- Creating: first what is to be, then that it is ----------------------------------------------------------

    def define(self, request: Creation) -> Planned:
        """Check a request, and give what it creates an id. Nothing is created yet.

        Raises:
            PillionError: it is refused.
        """
        self._state.catalog.check_name(request.name)
        match request:
            case CreateTable():
                return self._plan(self._table(request))
            case CreateView():
                uses = self._check_relation(request.name, request.relation, request.schema)
                return self._plan(Defined(self._relation(request, CollectionKind.VIEW, uses), None))
            case CreateIndex():
                return self._plan(self._index(request))
            case CreateMaterializedView():
                _check_schema(request.name, request.schema)
                uses = self._check_relation(request.name, request.relation, request.schema)
                info = self._relation(request, CollectionKind.MATERIALIZED_VIEW, uses)
                return self._plan(Defined(info, request.policy.lag))

    def _table(self, request: CreateTable) -> Defined:
        _check_schema(request.name, request.schema)
        arity = request.schema.arity
        if any(not 0 <= position < arity for position in request.key) or len(set(request.key)) < len(request.key):
            raise RejectedData(request.name, f"the key {request.key} is not a set of positions of its {arity} columns")
        id = self._state.user_id()
        info = CollectionInfo(id, request.name, CollectionKind.TABLE, request.schema, table_key=request.key)
        return Defined(info, request.policy.lag, self._state.oracle.latest)

    def _relation(
        self, request: CreateView | CreateMaterializedView, kind: CollectionKind, uses: tuple[GlobalId, ...]
    ) -> CollectionInfo:
        id = self._state.user_id()
        return CollectionInfo(id, request.name, kind, request.schema, uses, relation=request.relation)

    def _index(self, request: CreateIndex) -> Defined:
        on = relation_of(self._state.catalog.get(request.on))
        extend_types(on.schema.types, request.key)  # Raises when the key is no expression over its columns.
        info = CollectionInfo(
            self._state.user_id(),
            request.name,
            CollectionKind.INDEX,
            on.schema,
            (on.id,),
            on=on.id,
            key=request.key,
        )
        return Defined(info, request.policy.lag)

    def _plan(self, defined: Defined) -> Planned:
        state, info = self._state, defined.info
        if info.kind is CollectionKind.INDEX:
            assert info.on is not None, "an index is on a collection"
            return Planned(defined, index_dataflow(state.catalog, info.id, state.catalog.get(info.on), info.key))
        if info.kind is CollectionKind.MATERIALIZED_VIEW:
            assert info.relation is not None, "a materialized view has a relation"
            dataflow = sink_dataflow(
                state.catalog,
                f"materialized view {info.name}",
                info.relation,
                info.schema,
                object_id=state.transient_id(),
                sink=info.id,
                connection=MaterializedView(info.id),
            )
            return Planned(defined, dataflow)
        return Planned(defined, None)

    def create(self, planned: Planned, reply: OneShot[GlobalId] | None = None) -> GlobalId:
        """Create what was defined. ``reply``: what the storage is to answer, once a table is there."""
        state, (defined, dataflow) = self._state, planned
        info, lag = defined.info, defined.lag
        match info.kind:
            case CollectionKind.TABLE:
                state.catalog.add(info)
                state.readables[info.id] = Readable(info.id, defined.since, lag)
                state.tables.add(info.id)
                state.stored.add(info.id)
                state.storage.tell(
                    CreateTableShard(info.id, info.name, info.schema, defined.since, key=info.table_key, reply=reply)
                )
            case CollectionKind.INDEX:
                assert dataflow is not None, "an index is planned"
                self._install(info, dataflow, lag)
            case CollectionKind.MATERIALIZED_VIEW:
                assert dataflow is not None, "a materialized view is planned"
                state.stored.add(info.id)
                since = self._install(info, dataflow, lag)
                state.storage.tell(CreateShard(info.id, info.schema, since))
                state.send(AllowWrites(info.id))
            case _:
                state.catalog.add(info)
        return info.id

    def restore(self, definitions: Iterable[Defined]) -> None:
        """Create again what an earlier system had, users after what they use."""
        latest = self._state.oracle.latest
        for defined in definitions:
            if defined.info.kind is CollectionKind.TABLE and defined.lag is not None:
                defined = msgspec.structs.replace(defined, since=max(defined.since, latest - defined.lag))
            self.create(self._plan(defined))

    # --- The rest ------------------------------------------------------------------------------------------------

    def to_drop(self, request: Drop) -> list[CollectionInfo]:
        """What a request drops, users before what they use. Nothing is dropped yet.

        Raises:
            PillionError: it is refused.
        """
        catalog = self._state.catalog
        dropped = catalog.to_drop(request.id, cascade=request.cascade)
        if any(info.kind is CollectionKind.INTROSPECTION or info.id in self._state.introspection for info in dropped):
            raise RejectedData(catalog.get(request.id).name, "introspection relations cannot be dropped")
        return dropped

    def drop(self, dropped: Iterable[CollectionInfo]) -> None:
        """Drop what :meth:`to_drop` found."""
        state = self._state
        for info in dropped:
            state.catalog.remove(info.id)
            readable = state.readables.get(info.id)
            if readable is not None:
                readable.dropped = True
            if info.id in state.tables:
                state.storage.tell(DropShard(info.id))
        state.compact()

    def set_read_policy(self, request: SetReadPolicy) -> None:
        self._state.readable(request.id).lag = request.policy.lag

    def _install(self, info: CollectionInfo, dataflow: RenderDataflow, lag: int | None) -> Timestamp:
        """Create a maintained dataflow that exports this collection; returns since when it is readable."""
        state = self._state
        imports = imports_of(dataflow)
        as_of = state.since(imports)
        if lag is not None:
            # Nobody may ask for more history than the policy keeps, and less of it is less to compute.
            as_of = max(as_of, state.oracle.latest - lag)
        state.catalog.add(info)
        state.readables[info.id] = Readable(info.id, as_of, lag, imports)
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
