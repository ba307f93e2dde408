"""The render plan while it is built: equal nodes are one node, and local bindings are filled in at the end.

A binding that is used several times is planned after all its uses, when it is known which of its columns they read.
Until then a use is a :class:`LocalUse`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

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
    PlannedAggregate,
    PlanNode,
    ReduceNode,
    RenderPlan,
    ThresholdNode,
    TopKNode,
    UnionNode,
    node_inputs,
)
from ...messages.scalars import Scalar
from ...messages.types import ColumnType
from ..scalars.typing import scalar_type
from .aggregates import aggregate_type
from .mfp import compose, demand, mfp_types, narrow, never
from .typing import Types


class LocalUse(msgspec.Struct, frozen=True):
    """What one use reads of the binding ``name``."""

    types: Types
    name: str
    mfp: MapFilterProject


@dataclass(frozen=True, slots=True)
class Bound:
    """A planned binding: the node that has these of its columns."""

    node: int
    columns: tuple[int, ...]


class PlanGraph:
    """Nodes by position; a node's inputs are added before it."""

    def __init__(self) -> None:
        self._nodes: list[PlanNode | LocalUse] = []
        self._positions: dict[PlanNode | LocalUse, int] = {}

    def add(self, node: PlanNode | LocalUse) -> int:
        """The position of this node, or of an equal one added before."""
        position = self._positions.get(node)
        if position is None:
            position = self._positions[node] = len(self._nodes)
            self._nodes.append(node)
        return position

    def types(self, position: int) -> Types:
        """The types of a node's columns."""
        return self._nodes[position].types

    def apply(self, position: int, mfp: MapFilterProject) -> int:
        """The node with something row by row on top."""
        if mfp.is_identity:
            return position
        node = self._nodes[position]
        types = mfp_types(mfp, node.types)
        if never(mfp):
            return self.add(ConstantNode(types, ()))
        if isinstance(node, Mfp):
            return self.add(Mfp(types, node.input, compose(node.mfp, mfp)))
        return self.add(Mfp(types, position, mfp))

    def separate(self, position: int, mfp: MapFilterProject) -> int:
        """The node with something row by row on top, as a node of its own."""
        if mfp.is_identity:
            return position
        return self.add(Mfp(mfp_types(mfp, self._nodes[position].types), position, mfp))

    def reduce(self, input: int, key: tuple[Scalar, ...], aggregates: tuple[PlannedAggregate, ...]) -> int:
        """A reduction, typed."""
        given = self._nodes[input].types
        types = [scalar_type(scalar, given) for scalar in key]
        types += [aggregate_type(planned.aggregate, given) for planned in aggregates]
        return self.add(ReduceNode(tuple(types), input, key, aggregates))

    def union(self, inputs: Sequence[int]) -> int:
        """A union, typed; of one input, the input itself."""
        if len(inputs) == 1:
            return inputs[0]
        columns = zip(*[self._nodes[input].types for input in inputs], strict=True)
        types = tuple([ColumnType(column[0].type, any(type.nullable for type in column)) for column in columns])
        return self.add(UnionNode(types, tuple(inputs)))

    def demand(self, name: str) -> tuple[int, ...] | None:
        """The columns of a binding that all its uses together read, ascending; None when it is not used."""
        uses = [node for node in self._nodes if isinstance(node, LocalUse) and node.name == name]
        if not uses:
            return None
        return tuple(sorted({column for use in uses for column in demand(use.mfp)}))

    def plan(self, root: int, bindings: Mapping[str, Bound]) -> RenderPlan:
        """What the root needs, in topological order, with uses of bindings replaced by the bindings' nodes."""
        final = PlanGraph()
        places: dict[int, int] = {}
        stack = [root]
        while stack:
            position = stack[-1]
            if position in places:
                stack.pop()
                continue
            node = self._nodes[position]
            needed = (bindings[node.name].node,) if isinstance(node, LocalUse) else node_inputs(node)
            missing = [input for input in needed if input not in places]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if isinstance(node, LocalUse):
                bound = bindings[node.name]
                mfp = narrow(node.mfp, bound.columns)
                input = places[bound.node]
                places[position] = input if mfp.is_identity else final.add(Mfp(node.types, input, mfp))
            else:
                places[position] = final.add(with_node_inputs(node, tuple([places[input] for input in needed])))
        # Everything else is needed by the root, so the root is last.
        return RenderPlan(tuple([node for node in final._nodes if not isinstance(node, LocalUse)]))


def with_node_inputs(node: PlanNode, inputs: tuple[int, ...]) -> PlanNode:
    """The same node over inputs at other positions."""
    match node:
        case ConstantNode() | GetNode() | ImportIndex():
            return node
        case JoinNode():
            return msgspec.structs.replace(node, left=inputs[0], right=inputs[1])
        case UnionNode():
            return msgspec.structs.replace(node, inputs=inputs)
        case Mfp() | FlatMapNode() | Arrange() | ReduceNode() | TopKNode() | NegateNode() | ThresholdNode():
            return msgspec.structs.replace(node, input=inputs[0])
