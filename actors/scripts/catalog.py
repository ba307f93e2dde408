"""What a script has defined: schemas, shards and the collections of its dataflows. Names stay known after a drop, so
that the replica, and not the script's runner, is what refuses their use."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...messages.dataflows import MaterializedView, RelationDataflow, RenderDataflow
from ...messages.frontiers import MINIMUM, Timestamp
from ...messages.ids import GlobalId
from ...messages.scalars import Scalar
from ...messages.types import Schema
from .errors import DirectiveError
from .values import DEFAULT_SCHEMA

_FIRST_SHARD = 1_000_000
"""Shards have names in scripts and system ids in messages, out of the way of the ids that a script uses."""


@dataclass(slots=True)
class Shard:
    """A shard by its name in the script."""

    name: str
    id: GlobalId
    schema: Schema
    upper: Timestamp = MINIMUM
    """How far the script has sealed it."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index that some dataflow of the script exports; ``is_unknown`` stands for one that none does."""

    on: GlobalId
    key: tuple[Scalar, ...]
    schema: Schema
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class SinkInfo:
    """A sink that some dataflow of the script exports. ``shard`` is what a materialized view writes."""

    schema: Schema
    as_of: Timestamp
    shard: Shard | None


@dataclass(frozen=True, slots=True)
class Defined:
    """A dataflow by its name: as written, and as it is sent."""

    written: RelationDataflow
    rendered: RenderDataflow


@dataclass(slots=True)
class Catalog:
    """Everything a script has defined so far."""

    schemas: dict[str, Schema] = field(default_factory=dict[str, Schema])
    shards: dict[str, Shard] = field(default_factory=dict[str, Shard])
    indexes: dict[GlobalId, Index] = field(default_factory=dict[GlobalId, Index])
    sinks: dict[GlobalId, SinkInfo] = field(default_factory=dict[GlobalId, SinkInfo])
    dataflows: dict[str, Defined] = field(default_factory=dict[str, Defined])

    def schema(self, name: str | None) -> Schema:
        """A schema by name; the default one when no name is given.

        Raises:
            DirectiveError: none has this name.
        """
        if name is None:
            return DEFAULT_SCHEMA
        schema = self.schemas.get(name)
        if schema is None:
            raise DirectiveError(f"unknown schema {name}; define it with define-schema name={name}")
        return schema

    def shard(self, name: str, schema: Schema) -> Shard:
        """A shard by name. One that is not known yet gets this schema.

        Raises:
            DirectiveError: it has another schema.
        """
        shard = self.shards.get(name)
        if shard is None:
            shard = self.shards[name] = Shard(name, GlobalId("s", _FIRST_SHARD + len(self.shards)), schema)
        elif [f.type for f in shard.schema.fields] != [f.type for f in schema.fields]:
            given, expected = show_types(schema), show_types(shard.schema)
            raise DirectiveError(f"shard {name} has columns ({expected}), not ({given})")
        return shard

    def dataflow(self, name: str) -> Defined:
        """A dataflow by name.

        Raises:
            DirectiveError: none has this name.
        """
        defined = self.dataflows.get(name)
        if defined is None:
            raise DirectiveError(f"unknown dataflow {name}; create it with create-dataflow name={name}")
        return defined

    def record_exports(self, dataflow: RenderDataflow) -> None:
        """The dataflow is about to be sent: its exports are what their ids mean from now on."""
        for index in dataflow.index_exports:
            self.indexes[index.id] = Index(index.on, index.key, dataflow.schema_of(index.on))
        for sink in dataflow.sink_exports:
            shard = None
            if isinstance(sink.connection, MaterializedView):
                written = sink.connection.shard
                shard = next(shard for shard in self.shards.values() if shard.id == written)
            self.sinks[sink.id] = SinkInfo(dataflow.schema_of(sink.on), dataflow.as_of, shard)


def show_types(schema: Schema) -> str:
    """The types of a schema's columns, as errors print them."""
    return ", ".join(str(type) for type in schema.types)
