"""Raising: from a plan that workers execute back to an expression that a text can hold. Pure.

What comes out computes the same rows; lowered again it need not be the same plan. Nodes that several others read become
local bindings, so that the expression is no longer than the plan.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...messages.ids import GlobalId
from ...messages.plans import (
    Arrange,
    ConstantNode,
    FlatMapNode,
    GetNode,
    ImportIndex,
    JoinNode,
    MapFilterProject,
    Mfp,
    NegateNode,
    PlanNode,
    ReduceNode,
    RenderPlan,
    ThresholdNode,
    TopKNode,
    UnionNode,
    node_inputs,
)
from ...messages.relations import (
    Binding,
    Constant,
    Filter,
    FlatMap,
    Get,
    GetLocal,
    Join,
    Let,
    Map,
    Negate,
    Project,
    Reduce,
    Relation,
    Threshold,
    TopK,
    Union,
)
from ...messages.scalars import ColumnRef, Scalar
from .trees import substitute


def raise_plan(plan: RenderPlan, indexed: Mapping[GlobalId, GlobalId]) -> Relation:
    """The expression that a plan computes.

    Args:
        indexed: the collection that each imported index is on.
    """
    readers = [0] * len(plan.nodes)
    for node in plan.nodes:
        for input in node_inputs(node):
            readers[input] += 1
    raised: list[Relation] = []
    bindings: list[Binding] = []
    for position, node in enumerate(plan.nodes):
        relation = _raise(node, plan.nodes, raised, indexed)
        if readers[position] > 1 and not isinstance(relation, Get | GetLocal):
            bindings.append(Binding(f"l{len(bindings)}", relation))
            relation = GetLocal(bindings[-1].name)
        raised.append(relation)
    return Let(tuple(bindings), raised[-1]) if bindings else raised[-1]


def apply_mfp(relation: Relation, mfp: MapFilterProject) -> Relation:
    """A map/filter/project over a relation, as separate operators, without those that do nothing."""
    if mfp.scalars:
        relation = Map(relation, mfp.scalars)
    if mfp.predicates:
        relation = Filter(relation, mfp.predicates)
    extended = mfp.arity + len(mfp.scalars)
    return relation if mfp.projection == tuple(range(extended)) else Project(relation, mfp.projection)


def _raise(
    node: PlanNode, nodes: tuple[PlanNode, ...], raised: list[Relation], indexed: Mapping[GlobalId, GlobalId]
) -> Relation:
    """One node, given those before it."""
    match node:
        case ConstantNode(types, rows, diffs):
            return Constant(types, rows, diffs)
        case GetNode(id=id):
            return Get(id)
        case ImportIndex(index=index):
            return Get(indexed[index])
        case Mfp(input=input, mfp=mfp):
            return apply_mfp(raised[input], mfp)
        case FlatMapNode(input=input, function=function, arguments=arguments):
            return FlatMap(raised[input], function, arguments)
        case Arrange(input=input):
            return raised[input]
        case JoinNode(left=left, right=right, mfp=mfp):
            arity = len(nodes[left].types)
            pairs = zip(_key(nodes[left]), _key(nodes[right]), strict=True)
            equal = tuple([(one, _shifted(other, arity)) for one, other in pairs])
            return apply_mfp(Join((raised[left], raised[right]), equal), mfp)
        case ReduceNode(input=input, key=key, aggregates=aggregates):
            return Reduce(raised[input], key, tuple([planned.aggregate for planned in aggregates]))
        case TopKNode(_, input, group_by, order_by, limit, offset):
            return TopK(raised[input], group_by, order_by, limit, offset)
        case NegateNode(input=input):
            return Negate(raised[input])
        case ThresholdNode(input=input):
            return Threshold(raised[input])
        case UnionNode(inputs=inputs):
            return Union(tuple([raised[input] for input in inputs]))


def _key(node: PlanNode) -> tuple[Scalar, ...]:
    assert isinstance(node, Arrange | ImportIndex), "a join's inputs are arrangements"
    return node.key


def _shifted(scalar: Scalar, columns: int) -> Scalar:
    return substitute(scalar, lambda column: ColumnRef(column + columns))
