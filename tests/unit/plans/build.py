"""Short names for building plans in tests."""

from __future__ import annotations

from collections.abc import Sequence

from pillion.dataflow.plans.lower import lower
from pillion.messages.dataflows import (
    BuildDesc,
    IndexExport,
    IndexImport,
    RelationDataflow,
    RenderDataflow,
    SourceImport,
)
from pillion.messages.ids import GlobalId
from pillion.messages.plans import PlanNode
from pillion.messages.relations import Get, Relation
from pillion.messages.scalars import Call, ColumnRef, Literal, Scalar, Value
from pillion.messages.types import ColumnType, Field, Schema, SqlType

BIGINT, INTEGER, TEXT, BOOLEAN = SqlType.BIGINT, SqlType.INTEGER, SqlType.TEXT, SqlType.BOOLEAN
DOUBLE, NUMERIC, DATE = SqlType.DOUBLE, SqlType.NUMERIC, SqlType.DATE

NOT_NULL = ColumnType(BIGINT, nullable=False)
NULLABLE = ColumnType(BIGINT)


def col(index: int) -> ColumnRef:
    return ColumnRef(index)


def lit(value: Value, type: SqlType = BIGINT) -> Literal:
    return Literal.of(value, type)


def call(function: str, *arguments: Scalar) -> Call:
    return Call(function, arguments)


def eq(left: Scalar, right: Scalar) -> Call:
    return Call("=", (left, right))


def gid(text: str) -> GlobalId:
    return GlobalId.parse(text)


def get(text: str) -> Get:
    return Get(GlobalId.parse(text))


def schema(*columns: str) -> Schema:
    """``schema("a bigint", "b text?")``."""
    fields: list[Field] = []
    for column in columns:
        name, type = column.split()
        fields.append(Field(name, SqlType(type.rstrip("?")), type.endswith("?")))
    return Schema(tuple(fields))


def anonymous(types: Sequence[ColumnType]) -> Schema:
    return Schema(tuple(Field(f"c{i}", t.type, t.nullable) for i, t in enumerate(types)))


def dataflow(
    relation: Relation,
    out: Schema,
    sources: dict[str, Schema],
    indexes: Sequence[IndexImport] = (),
) -> RelationDataflow:
    """One object ``u100`` with an index ``u101`` on it."""
    return RelationDataflow(
        debug_name="test",
        source_imports=tuple(SourceImport(gid(id), gid(id), columns) for id, columns in sources.items()),
        index_imports=tuple(indexes),
        objects_to_build=(BuildDesc(gid("u100"), relation, out),),
        index_exports=(IndexExport(gid("u101"), gid("u100"), ()),),
        sink_exports=(),
        as_of=0,
    )


def nodes_of(lowered: RenderDataflow) -> tuple[PlanNode, ...]:
    return lowered.objects_to_build[0].plan.nodes


def lower_nodes(description: RelationDataflow, *, optimize: bool = True) -> tuple[PlanNode, ...]:
    return nodes_of(lower(description, optimize=optimize))
