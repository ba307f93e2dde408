"""The plan of the workload that all performance figures are about."""

from __future__ import annotations

from pillion.messages.plans import (
    AggregateKind,
    Arrange,
    GetNode,
    JoinNode,
    MapFilterProject,
    Mfp,
    PlannedAggregate,
    ReduceNode,
)
from pillion.messages.relations import Aggregate, Join, Reduce
from pillion.messages.types import ColumnType

from .build import BIGINT, TEXT, col, dataflow, get, gid, lower_nodes, schema

ORDERS = schema("oid bigint", "cid bigint", "amount bigint")
CUSTOMERS = schema("cid bigint", "region text")
BY_REGION = Reduce(
    Join((get("u1"), get("u2")), ((col(1), col(3)),)),
    (col(4),),
    (Aggregate("count"), Aggregate("sum", col(2))),
)


def test_only_what_is_read_is_arranged() -> None:
    description = dataflow(
        BY_REGION, schema("region text", "n bigint", "total bigint"), {"u1": ORDERS, "u2": CUSTOMERS}
    )
    number, text = ColumnType(BIGINT, nullable=False), ColumnType(TEXT, nullable=False)
    assert lower_nodes(description) == (
        GetNode((number, number, number), gid("u1")),
        Mfp((number, number), 0, MapFilterProject(3, projection=(1, 2))),
        Arrange((number, number), 1, (col(0),)),
        GetNode((number, text), gid("u2")),
        Arrange((number, text), 3, (col(0),)),
        JoinNode((text, number), 2, 4, MapFilterProject(4, projection=(3, 1))),
        ReduceNode(
            (text, number, number),
            5,
            (col(0),),
            (
                PlannedAggregate(Aggregate("count"), AggregateKind.ACCUMULABLE),
                PlannedAggregate(Aggregate("sum", col(1)), AggregateKind.ACCUMULABLE),
            ),
        ),
    )
