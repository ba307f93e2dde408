"""Arrangements of one stream by one key that differ only in the columns they keep become one.

Two uses of a collection, each with its own columns projected away, would otherwise be arranged twice; together they
take little more than the wider of the two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ...messages.plans import Arrange, JoinNode, MapFilterProject, Mfp, PlanNode, RenderPlan, node_inputs
from ...messages.scalars import ColumnRef, Scalar
from .graph import PlanGraph, with_node_inputs
from .mfp import renumber
from .trees import substitute


@dataclass(frozen=True, slots=True)
class _Projected:
    """What an arrangement is: these columns of the node ``base``, by this key over the columns of ``base``."""

    base: int
    columns: tuple[int, ...]
    key: tuple[Scalar, ...]


def merge_arrangements(plan: RenderPlan) -> RenderPlan:
    """The same plan with such arrangements merged. All arrangements in it are read by joins."""
    nodes = plan.nodes
    projected = {at: _projected(nodes, node) for at, node in enumerate(nodes) if isinstance(node, Arrange)}
    wanted: defaultdict[tuple[int, tuple[Scalar, ...]], set[int]] = defaultdict(set)
    alike: defaultdict[tuple[int, tuple[Scalar, ...]], set[tuple[int, ...]]] = defaultdict(set)
    for arranged in projected.values():
        wanted[arranged.base, arranged.key].update(arranged.columns)
        alike[arranged.base, arranged.key].add(arranged.columns)
    if all(len(columns) == 1 for columns in alike.values()):
        return plan
    graph = PlanGraph()
    places: list[int] = []
    # For each node, where its columns stand in the node that takes its place; None when nothing moved.
    moved: list[tuple[int, ...] | None] = []
    for at, node in enumerate(nodes):
        arranged = projected.get(at)
        if arranged is not None and len(alike[arranged.base, arranged.key]) > 1:
            columns = sorted(wanted[arranged.base, arranged.key])
            places.append(_arrange(graph, places[arranged.base], columns, arranged.key))
            moved.append(tuple([columns.index(column) for column in arranged.columns]))
            continue
        if isinstance(node, JoinNode) and (moved[node.left] is not None or moved[node.right] is not None):
            node = _rejoin(graph, node, nodes, places, moved)
        places.append(graph.add(with_node_inputs(node, tuple([places[input] for input in node_inputs(node)]))))
        moved.append(None)
    return graph.plan(places[-1], {})


def _projected(nodes: Sequence[PlanNode], node: Arrange) -> _Projected:
    input = nodes[node.input]
    columns = tuple(range(len(node.types)))
    if not isinstance(input, Mfp) or input.mfp.scalars or input.mfp.predicates:
        return _Projected(node.input, columns, node.key)
    projection = input.mfp.projection
    key = tuple([substitute(scalar, lambda column: ColumnRef(projection[column])) for scalar in node.key])
    return _Projected(input.input, projection, key)


def _arrange(graph: PlanGraph, base: int, columns: Sequence[int], key: tuple[Scalar, ...]) -> int:
    arity = len(graph.types(base))
    node = graph.separate(base, MapFilterProject(arity, projection=tuple(columns)))
    over = tuple([substitute(scalar, lambda column: ColumnRef(columns.index(column))) for scalar in key])
    return graph.add(Arrange(graph.types(node), node, over))


def _rejoin(
    graph: PlanGraph,
    join: JoinNode,
    nodes: Sequence[PlanNode],
    places: Sequence[int],
    moved: Sequence[tuple[int, ...] | None],
) -> JoinNode:
    """The join over wider sides."""
    left_arity = len(graph.types(places[join.left]))
    right_arity = len(graph.types(places[join.right]))
    left = moved[join.left] or range(len(nodes[join.left].types))
    right = moved[join.right] or range(len(nodes[join.right].types))
    columns = [*left, *[left_arity + column for column in right]]
    scalars = range(len(join.mfp.scalars))
    to = dict(enumerate([*columns, *[left_arity + right_arity + position for position in scalars]]))
    return JoinNode(join.types, join.left, join.right, renumber(join.mfp, left_arity + right_arity, to))
