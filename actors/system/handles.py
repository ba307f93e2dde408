"""From what the catalog knows of a collection to the object that an application holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import Schema
from ..relations.binding import check_scalar
from ..requests import CollectionInfo, CollectionKind
from .index import Index
from .table import Table
from .view import IntrospectionRelation, MaterializedView, View

if TYPE_CHECKING:
    from .connection import Connection
    from .system import ActorSystem


def handle(
    system: ActorSystem, connection: Connection, info: CollectionInfo, all: tuple[CollectionInfo, ...]
) -> Table | View | Index:
    """The object for one collection; ``all`` are the collections that an index may be on."""
    match info.kind:
        case CollectionKind.TABLE:
            names = info.schema.names
            key = tuple(names[position] for position in info.table_key)
            return Table(system, connection, info.id, info.name, info.schema, key)
        case CollectionKind.VIEW:
            return View(system, info.id, info.name, info.schema)
        case CollectionKind.MATERIALIZED_VIEW:
            return MaterializedView(system, info.id, info.name, info.schema)
        case CollectionKind.INTROSPECTION:
            return IntrospectionRelation(system, info.id, info.name, info.schema)
        case CollectionKind.INDEX:
            return _index(connection, info, all)


def _index(connection: Connection, info: CollectionInfo, all: tuple[CollectionInfo, ...]) -> Index:
    assert info.on is not None, "an index is on a collection"
    schema = next(other.schema for other in all if other.id == info.on)
    key = tuple((scalar, check_scalar(scalar, schema.types).type, _shown(scalar, schema)) for scalar in info.key)
    return Index(connection, info.id, info.name, info.on, schema, key)


def _shown(scalar: Scalar, schema: Schema) -> str:
    """A part of a key: as it was written, when it is a column."""
    if isinstance(scalar, ColumnRef):
        return schema.names[scalar.index]
    from ...dataflow.plans.print_scalar import print_scalar

    return print_scalar(scalar, schema.names)
