"""Render plans over multisets, in plain Python: what the engine computes, without its ways of doing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pillion.actors.simulation.oracle.relations import Collection, Oracle, each, join
from pillion.actors.simulation.oracle.scalars import Row, RowError, evaluate
from pillion.dataflow.plans.trees import substitute
from pillion.dataflow.plans.typing import extend_types
from pillion.messages import plans as p
from pillion.messages import relations as r
from pillion.messages.ids import GlobalId
from pillion.messages.scalars import ColumnRef, LiteralError, Scalar
from pillion.messages.types import ColumnType

Types = Sequence[ColumnType]


def render(plan: p.RenderPlan, collections: Mapping[GlobalId, Collection]) -> Collection:
    """The result of a plan; indexes are found under their own ids."""
    results: list[Collection] = []
    for node in plan.nodes:
        results.append(_node(node, results, plan.nodes, collections).tidy())
    return results[-1]


def _node(
    node: p.PlanNode, results: list[Collection], nodes: Sequence[p.PlanNode], collections: Mapping[GlobalId, Collection]
) -> Collection:
    match node:
        case p.ConstantNode(types, rows, diffs):
            return Oracle({}, {}).evaluate(r.Constant(types, rows, diffs))
        case p.GetNode(_, id) | p.ImportIndex(_, id):
            return collections[id]
        case p.Mfp(_, input, mfp):
            types = nodes[input].types
            return each(results[input], lambda row: map_filter_project(mfp, row, types))
        case p.Arrange(types, input, key):
            return each(results[input], lambda row: [row] if values(key, row, types) is not None else [])
        case p.JoinNode():
            return _join(node, results, nodes)
        case p.UnionNode(_, inputs):
            return _union([results[input] for input in inputs])
        case _:
            id = GlobalId("t", 0)
            types = nodes[node.input].types
            oracle = Oracle({id: results[node.input]}, {id: tuple(types)})
            return oracle.evaluate(_relation(node, r.Get(id)))


def _relation(node: p.PlanNode, input: r.Relation) -> r.Relation:
    match node:
        case p.FlatMapNode(_, _, function, arguments):
            return r.FlatMap(input, function, arguments)
        case p.ReduceNode(_, _, key, ()):
            return r.Distinct(input, key)
        case p.ReduceNode(_, _, key, aggregates):
            return r.Reduce(input, key, tuple(planned.aggregate for planned in aggregates))
        case p.TopKNode(_, _, group_by, order_by, limit, offset):
            return r.TopK(input, group_by, order_by, limit, offset)
        case p.NegateNode():
            return r.Negate(input)
        case p.ThresholdNode():
            return r.Threshold(input)
        case _:
            raise AssertionError(node)


def _union(inputs: Sequence[Collection]) -> Collection:
    out = Collection(Counter(), Counter())
    for one in inputs:
        for row, diff in one.rows.items():
            out.rows[row] += diff
        out.errors.update(one.errors)
    return out


def _join(node: p.JoinNode, results: list[Collection], nodes: Sequence[p.PlanNode]) -> Collection:
    sides = nodes[node.left], nodes[node.right]
    keys: list[Sequence[Scalar]] = []
    for side in sides:
        assert isinstance(side, p.Arrange | p.ImportIndex), "a join reads arrangements"
        keys.append(side.key)
    arity = len(sides[0].types)
    types = (*sides[0].types, *sides[1].types)
    right = [substitute(key, lambda column: ColumnRef(column + arity)) for key in keys[1]]
    joined = join([results[node.left], results[node.right]], tuple(zip(keys[0], right, strict=True)), types)
    return each(joined, lambda row: map_filter_project(node.mfp, row, types))


def values(scalars: Sequence[Scalar], row: Row, types: Types) -> Row:
    return tuple(evaluate(scalar, row, tuple(types)) for scalar in scalars)


def map_filter_project(mfp: p.MapFilterProject, row: Row, types: Types) -> list[Row]:
    """The row that comes out, if any; a predicate that is not true hides all errors."""
    assert len(row) == mfp.arity
    extended = extend_types(tuple(types), mfp.scalars)
    errors: dict[int, RowError] = {}

    def value(scalar: Scalar) -> object:
        known = substitute(scalar, lambda at: LiteralError(str(errors[at])) if at in errors else ColumnRef(at))
        return evaluate(known, row, extended)

    for position, scalar in enumerate(mfp.scalars, start=mfp.arity):
        try:
            row = (*row, value(scalar))
        except RowError as error:
            errors[position] = error
            row = (*row, None)
    failed: RowError | None = None
    for predicate in mfp.predicates:
        try:
            if value(predicate) is not True:
                return []
        except RowError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    for column in mfp.projection:
        if column in errors:
            raise errors[column]
    return [tuple(row[column] for column in mfp.projection)]
