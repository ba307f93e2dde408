"""Render plans: what workers execute. A plan is a directed acyclic graph in topological order.

Nodes name their inputs by position in :attr:`RenderPlan.nodes`, so work that is used twice is one node and is done
once. Every node carries its output types, so that rendering infers nothing. A node is either a *stream* (of batches)
or an *arrangement* (a stream that is also indexed by a key); only ``Arrange`` and ``ImportIndex`` are arrangements.
"""

from __future__ import annotations

import enum

from .ids import GlobalId
from .relations import Aggregate, Order, TableFunction, check_constant_rows
from .scalars import Literal, Scalar
from .structs import Message, Natural, Signed
from .types import ColumnType


class MapFilterProject(Message, frozen=True, omit_defaults=True):
    """Append ``scalars`` to a row of ``arity`` columns (each sees the ones before it), keep the row when every
    predicate is true, then output ``projection`` (positions in the extended row)."""

    arity: Natural
    scalars: tuple[Scalar, ...] = ()
    predicates: tuple[Scalar, ...] = ()
    projection: tuple[Natural, ...] = ()

    def __post_init__(self) -> None:
        extended = self.arity + len(self.scalars)
        for position in self.projection:
            if position >= extended:
                raise ValueError(f"projection of column #{position}: the extended row has {extended} columns")

    @staticmethod
    def identity(arity: int) -> MapFilterProject:
        return MapFilterProject(arity, projection=tuple(range(arity)))

    @property
    def is_identity(self) -> bool:
        return not self.scalars and not self.predicates and self.projection == tuple(range(self.arity))


class PlanStruct(Message, frozen=True, tag=True, tag_field="tag", omit_defaults=True):
    types: tuple[ColumnType, ...]


class ConstantNode(PlanStruct, frozen=True, tag="constant", tag_field="tag"):
    rows: tuple[tuple[Literal, ...], ...]
    diffs: tuple[Signed, ...] = ()

    def __post_init__(self) -> None:
        check_constant_rows(self.types, self.rows, self.diffs)


class GetNode(PlanStruct, frozen=True, tag="get", tag_field="tag"):
    """The stream of a source import, or of an object built earlier in the dataflow."""

    id: GlobalId


class ImportIndex(PlanStruct, frozen=True, tag="import_index", tag_field="tag"):
    """The arrangement of an imported index: columns ``types`` in collection order, indexed by ``key``."""

    index: GlobalId
    key: tuple[Scalar, ...]


class Mfp(PlanStruct, frozen=True, tag="mfp", tag_field="tag"):
    input: Natural
    mfp: MapFilterProject


class FlatMapNode(PlanStruct, frozen=True, tag="flat_map", tag_field="tag"):
    input: Natural
    function: TableFunction
    arguments: tuple[Scalar, ...]


class Arrange(PlanStruct, frozen=True, tag="arrange", tag_field="tag"):
    """The input's rows unchanged, exchanged and indexed by ``key`` (the empty key puts all rows on one worker)."""

    input: Natural
    key: tuple[Scalar, ...]


class JoinNode(PlanStruct, frozen=True, tag="join", tag_field="tag"):
    """Two arrangements with equal key types. A row is the left row followed by the right row, through ``mfp``."""

    left: Natural
    right: Natural
    mfp: MapFilterProject


class AggregateKind(enum.StrEnum):
    ACCUMULABLE = "accumulable"
    HIERARCHICAL = "hierarchical"
    BASIC = "basic"


class PlannedAggregate(Message, frozen=True, array_like=True):
    aggregate: Aggregate
    kind: AggregateKind


class ReduceNode(PlanStruct, frozen=True, tag="reduce", tag_field="tag"):
    """Exchanges its input by ``key``. ``key`` and the aggregates' inputs are expressions over the input's row; the
    output is the key's columns, then one column per aggregate. Without aggregates: distinct keys."""

    input: Natural
    key: tuple[Scalar, ...]
    aggregates: tuple[PlannedAggregate, ...]


class TopKNode(PlanStruct, frozen=True, tag="top_k", tag_field="tag"):
    input: Natural
    group_by: tuple[Natural, ...]
    order_by: tuple[Order, ...]
    limit: Natural | None = None
    offset: Natural = 0


class NegateNode(PlanStruct, frozen=True, tag="negate", tag_field="tag"):
    input: Natural


class ThresholdNode(PlanStruct, frozen=True, tag="threshold", tag_field="tag"):
    input: Natural


class UnionNode(PlanStruct, frozen=True, tag="union", tag_field="tag"):
    inputs: tuple[Natural, ...]


PlanNode = (
    ConstantNode
    | GetNode
    | ImportIndex
    | Mfp
    | FlatMapNode
    | Arrange
    | JoinNode
    | ReduceNode
    | TopKNode
    | NegateNode
    | ThresholdNode
    | UnionNode
)


def node_inputs(node: PlanNode) -> tuple[int, ...]:
    """The positions of the nodes that this one reads."""
    match node:
        case ConstantNode() | GetNode() | ImportIndex():
            return ()
        case JoinNode(left=left, right=right):
            return (left, right)
        case UnionNode(inputs=inputs):
            return inputs
        case _:
            return (node.input,)


class RenderPlan(Message, frozen=True):
    """The last node is the result.

    Raises:
        ValueError: there is no node, or one reads a node that does not come before it.
    """

    nodes: tuple[PlanNode, ...]

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ValueError("a plan has at least one node")
        for position, node in enumerate(self.nodes):
            for input in node_inputs(node):
                if input >= position:
                    raise ValueError(f"node {position} of a plan reads node {input}, which does not come before it")
