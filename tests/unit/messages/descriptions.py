"""Small dataflow descriptions for tests."""

from __future__ import annotations

from collections.abc import Sequence

from pillion.messages.dataflows import (
    BuildDesc,
    IndexExport,
    IndexImport,
    RenderDataflow,
    SinkConnection,
    SinkExport,
    SourceImport,
)
from pillion.messages.ids import GlobalId
from pillion.messages.plans import GetNode, NegateNode, PlanNode, RenderPlan
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import Field, Schema, SqlType

SCHEMA = Schema((Field("a", SqlType.BIGINT),))
KEY = (ColumnRef(0),)


def user(number: int) -> GlobalId:
    return GlobalId("u", number)


def dataflow(
    *exports: int,
    as_of: int = 0,
    sinks: dict[int, SinkConnection] | None = None,
    imports: Sequence[int] = (),
    source_upper: int = 0,
    negated: bool = False,
    name: str = "",
) -> RenderDataflow:
    """A dataflow over shard u1000 (and these imported indexes) with these index and sink exports."""
    nodes: list[PlanNode] = [GetNode(SCHEMA.types, user(1000))]
    if negated:
        nodes.append(NegateNode(SCHEMA.types, 0))
    return RenderDataflow(
        name,
        (SourceImport(user(1000), user(1000), SCHEMA, source_upper),),
        tuple(IndexImport(user(id), user(id + 500), KEY, SCHEMA) for id in imports),
        (BuildDesc(user(2000), RenderPlan(tuple(nodes)), SCHEMA),),
        tuple(IndexExport(user(id), user(2000), KEY) for id in exports),
        tuple(SinkExport(user(id), user(2000), connection) for id, connection in (sinks or {}).items()),
        as_of,
    )
