"""Lowering that keeps the structure as written: one node per operator, joins in the order of their inputs."""

from __future__ import annotations

from ...messages.plans import (
    Arrange,
    ConstantNode,
    FlatMapNode,
    MapFilterProject,
    NegateNode,
    PlannedAggregate,
    ReduceNode,
    ThresholdNode,
    TopKNode,
    UnionNode,
)
from ...messages.relations import (
    ArrangeBy,
    Constant,
    Distinct,
    Filter,
    FlatMap,
    Get,
    GetLocal,
    Join,
    Let,
    LetRec,
    Map,
    Negate,
    Project,
    Reduce,
    Relation,
    Threshold,
    TopK,
    Union,
)
from ...messages.scalars import ColumnRef
from .aggregates import aggregate_kind
from .available import Available
from .graph import PlanGraph
from .join_flatten import FlatJoin
from .joins import JoinPlanner
from .mfp import of_node
from .type_table import TypeTable


class LiteralLowering:
    """Plans the expressions of one object, node by node."""

    def __init__(self, graph: PlanGraph, available: Available, types: TypeTable) -> None:
        self._graph = graph
        self._available = available
        self._table = types
        self._locals: dict[str, int] = {}

    def bind(self, name: str, node: int) -> None:
        """From now on ``Get name`` is this node."""
        self._locals[name] = node

    def build(self, relation: Relation) -> int:
        """The node of a relation."""
        graph = self._graph
        types = self._table.types(relation)
        match relation:
            case Constant(_, rows, diffs):
                return graph.add(ConstantNode(types, rows, diffs))
            case Get(id):
                return self._available.get(graph, id)
            case GetLocal(name):
                return self._locals[name]
            case Map(input) | Filter(input) | Project(input):
                return graph.separate(self.build(input), of_node(relation, self._table.arity(input)))
            case FlatMap(input, function, arguments):
                return graph.add(FlatMapNode(types, self.build(input), function, arguments))
            case Join(inputs, equivalences):
                join = FlatJoin(inputs, types, equivalences, MapFilterProject.identity(len(types)))
                return JoinPlanner(join, graph, self._available, self._table, self._below, reorder=False).plan()
            case Reduce(input, group_by, aggregates):
                planned = tuple([PlannedAggregate(aggregate, aggregate_kind(aggregate)) for aggregate in aggregates])
                return graph.add(ReduceNode(types, self.build(input), group_by, planned))
            case Distinct(input, project):
                key = tuple(map(ColumnRef, range(len(types)))) if project is None else project
                return graph.add(ReduceNode(types, self.build(input), key, ()))
            case TopK(input, group_by, order_by, limit, offset):
                return graph.add(TopKNode(types, self.build(input), group_by, order_by, limit, offset))
            case Negate(input):
                return graph.add(NegateNode(types, self.build(input)))
            case Threshold(input):
                return graph.add(ThresholdNode(types, self.build(input)))
            case Union(inputs):
                return graph.add(UnionNode(types, tuple([self.build(input) for input in inputs])))
            case ArrangeBy(input, keys):
                node = self.build(input)
                return graph.add(Arrange(types, node, keys[0])) if keys else node
            case Let() | LetRec():
                raise AssertionError("bindings were flattened before")

    def _below(self, relation: Relation, mfp: MapFilterProject) -> int:
        return self._graph.separate(self.build(relation), mfp)
