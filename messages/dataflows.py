"""Descriptions of dataflows: what ``CreateDataflow`` carries."""

from __future__ import annotations

import enum
from typing import Generic, TypeVar

import msgspec

from .frontiers import Frontier, Timestamp
from .ids import GlobalId
from .plans import RenderPlan
from .relations import Relation
from .scalars import Scalar
from .structs import Message
from .types import Schema

P = TypeVar("P")


class DataflowClass(enum.StrEnum):
    """Decided once, where the command is made, so that every runtime and every replay agrees on it."""

    MAINTAINED = "maintained"
    ONE_SHOT_READ = "one_shot_read"


class SourceImport(Message, frozen=True):
    """A shard, visible to the dataflow's plans as ``Get id``."""

    id: GlobalId
    shard: GlobalId
    schema: Schema
    upper: Frontier = 0


class IndexImport(Message, frozen=True):
    """An index of the same runtime; makes ``Get on`` available, arranged by ``key``."""

    id: GlobalId
    on: GlobalId
    key: tuple[Scalar, ...]
    schema: Schema


class BuildDesc(Message, Generic[P], frozen=True):
    """One object to build; its plan may ``Get`` imports and objects built before it."""

    id: GlobalId
    plan: P
    schema: Schema


class IndexExport(Message, frozen=True):
    """An index on a built object or on an imported collection (then its arrangement is re-used if the key is equal)."""

    id: GlobalId
    on: GlobalId
    key: tuple[Scalar, ...]


class Subscribe(Message, frozen=True, tag="subscribe", tag_field="tag"):
    """Send every change to the controller."""


class MaterializedView(Message, frozen=True, tag="materialized_view", tag_field="tag"):
    """Keep a shard equal to the collection; the sink corrects what the shard has that it should not."""

    shard: GlobalId


class CopyTo(Message, frozen=True, tag="copy_to", tag_field="tag"):
    """Write the collection at ``as_of`` to a file; format by suffix (.csv, .parquet)."""

    path: str


SinkConnection = Subscribe | MaterializedView | CopyTo


class SinkExport(Message, frozen=True):
    id: GlobalId
    on: GlobalId
    connection: SinkConnection
    with_snapshot: bool = True
    up_to: Frontier = None


class DataflowDescription(Message, Generic[P], frozen=True):
    """Imports, plans and exports, over ``[as_of, until)``. ``objects_to_build`` is in dependency order."""

    debug_name: str
    source_imports: tuple[SourceImport, ...]
    index_imports: tuple[IndexImport, ...]
    objects_to_build: tuple[BuildDesc[P], ...]
    index_exports: tuple[IndexExport, ...]
    sink_exports: tuple[SinkExport, ...]
    as_of: Timestamp
    until: Frontier = None
    dataflow_class: DataflowClass = DataflowClass.MAINTAINED

    @property
    def export_ids(self) -> tuple[GlobalId, ...]:
        return tuple(e.id for e in self.index_exports) + tuple(e.id for e in self.sink_exports)

    def schema_of(self, id: GlobalId) -> Schema:
        """The columns of a collection that the dataflow imports or builds.

        Raises:
            KeyError: it does neither.
        """
        for built in self.objects_to_build:
            if built.id == id:
                return built.schema
        for source in self.source_imports:
            if source.id == id:
                return source.schema
        for index in self.index_imports:
            if index.on == id:
                return index.schema
        raise KeyError(id)

    def classified(self, one_shot_reads: bool = True) -> DataflowDescription[P]:
        """The same dataflow with its class: a one-shot read when it ends, nothing outlives it (all exports are
        transient, none is a subscribe or copy-to), and ``one_shot_reads`` allows it."""
        ends = self.until is not None and all(id.is_transient for id in self.export_ids)
        streams = any(isinstance(sink.connection, (Subscribe, CopyTo)) for sink in self.sink_exports)
        is_read = one_shot_reads and ends and not streams
        chosen = DataflowClass.ONE_SHOT_READ if is_read else DataflowClass.MAINTAINED
        return msgspec.structs.replace(self, dataflow_class=chosen)


RelationDataflow = DataflowDescription[Relation]
"""As a user or a text writes it."""

RenderDataflow = DataflowDescription[RenderPlan]
"""As a worker executes it."""
