"""Joins as chains of binary joins over arrangements.

The first input and each further one are arranged by the expressions that must be equal; what is read neither by the
result nor by a later step is projected away before. A :class:`Side` knows where in its rows the expressions over the
join's columns are found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...messages.ids import GlobalId
from ...messages.plans import Arrange, JoinNode, MapFilterProject
from ...messages.relations import ArrangeBy, Filter, Get, Map, Project, Relation
from ...messages.scalars import Call, ColumnRef, Literal, Scalar
from .available import Available
from .failing import may_fail
from .graph import PlanGraph
from .join_classes import JoinConditions
from .join_flatten import FlatJoin
from .join_order import InputTraits, join_keys, join_order
from .mfp import (
    compose,
    demand,
    from_expressions,
    inline,
    inlined,
    mfp_types,
    narrow,
    of_node,
    simplify,
)
from .trees import columns_of, rewrite_scalar, substitute
from .type_table import TypeTable
from .unique import unique_key

Build = Callable[[Relation, MapFilterProject], int]
"""Plans a relation with something row by row on top."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a binary join: ``node`` has rows of ``arity`` columns; ``layout`` says which expression over them is
    which expression over the join's columns; ``predicates`` over its rows are still to be checked."""

    node: int
    arity: int
    layout: Mapping[Scalar, Scalar]
    predicates: tuple[Scalar, ...] = ()

    def localize(self, scalar: Scalar) -> Scalar:
        """An expression over the join's columns as one over this side's rows."""

        def replace(part: Scalar) -> Scalar | None:
            local = self.layout.get(part)
            assert local is not None or not isinstance(part, ColumnRef), f"column {part} was projected away too early"
            return local

        return rewrite_scalar(scalar, replace)

    def beside(self, right: Side) -> Side:
        """Rows of both sides, this one's columns first."""

        def shift(scalar: Scalar) -> Scalar:
            return substitute(scalar, lambda column: ColumnRef(column + self.arity))

        layout = {**{key: shift(value) for key, value in right.layout.items()}, **self.layout}
        predicates = self.predicates + tuple([shift(predicate) for predicate in right.predicates])
        return Side(-1, self.arity + right.arity, layout, predicates)


@dataclass(frozen=True, slots=True)
class Step:
    """One binary join: the next input, the pairs that are equal, and what can be checked afterwards."""

    input: int
    keys: list[tuple[Scalar, Scalar]]
    predicates: list[Scalar]


class JoinPlanner:
    """Plans one join."""

    def __init__(
        self, join: FlatJoin, graph: PlanGraph, available: Available, types: TypeTable, build: Build, *, reorder: bool
    ) -> None:
        self._inputs = join.inputs
        self._mfp = join.mfp
        self._graph = graph
        self._available = available
        self._table = types
        self._build = build
        self._reorder = reorder
        arities = [types.arity(input) for input in join.inputs]
        self._offsets = [sum(arities[:position]) for position in range(len(arities))]
        self._conditions = JoinConditions(arities, join.types)
        for members in join.classes:
            self._conditions.add_class(members)

    def plan(self) -> int:
        """The node of the join with what is on top of it."""
        rest = self._take_predicates(self._mfp)
        self._conditions.restrict_inputs()
        order = self._order()
        steps = self._steps(order)
        if not steps:
            conditions = [*self._conditions.local[0], *self._conditions.across]
            first = MapFilterProject(rest.arity, (), tuple(conditions), tuple(range(rest.arity)))
            return self._build(self._inputs[0], compose(first, rest))
        side = self._arranged(order[0], [left for left, _ in steps[0].keys], self._needed(-1, steps, rest))
        for position, step in enumerate(steps):
            right = self._arranged(step.input, [key for _, key in step.keys], self._needed(position - 1, steps, rest))
            if position:
                key = tuple([side.localize(key) for key, _ in step.keys])
                node = self._graph.add(Arrange(self._graph.types(side.node), side.node, key))
                side = Side(node, side.arity, side.layout)
            following = steps[position + 1] if step is not steps[-1] else None
            side = self._joined(side, right, step, following, self._needed(position, steps, rest), rest)
        return side.node

    def _take_predicates(self, mfp: MapFilterProject) -> MapFilterProject:
        """Move the predicates that can be expressed over the join's columns into its conditions. One that can fail
        stays on top, lest it see rows that do not match."""
        expressions = inlined(mfp)
        kept: list[Scalar] = []
        for predicate in mfp.predicates:
            expression = inline(predicate, expressions)
            if expression is None or may_fail(expression, self._conditions.types):
                kept.append(predicate)
            else:
                self._conditions.add_predicate(expression)
        return simplify(MapFilterProject(mfp.arity, mfp.scalars, tuple(kept), mfp.projection))

    def _order(self) -> tuple[int, ...]:
        if not self._reorder:
            return tuple(range(len(self._inputs)))
        return join_order(self._conditions, [self._traits(input) for input in range(len(self._inputs))])

    def _traits(self, input: int) -> InputTraits:
        relation = self._inputs[input]
        key = unique_key(relation, self._table.arity)
        offset = self._offsets[input]

        def is_unique(scalars: Sequence[Scalar]) -> bool:
            found = {scalar.index - offset for scalar in scalars if isinstance(scalar, ColumnRef)}
            return key is not None and key <= found

        def is_arranged(scalars: Sequence[Scalar]) -> bool:
            return self._index_order(input, scalars) is not None

        filters = [*self._conditions.local[input], *_filters(relation)]
        smallness = 3 if key == frozenset() else max([_selectivity(predicate) for predicate in filters], default=0)
        return InputTraits(smallness, is_unique, is_arranged)

    def _steps(self, order: Sequence[int]) -> list[Step]:
        """What each further input is joined by. Every condition is checked in exactly one place: by a key, by the
        filter of an input, or by a predicate as soon as all that it reads is there."""
        conditions = self._conditions
        steps: list[Step] = []
        waiting = list(conditions.across)
        joined = frozenset(order[:1])
        for input in order[1:]:
            keys = self._in_index_order(order, joined, input)
            before, joined = joined, joined | {input}
            is_last = len(steps) == len(order) - 2
            ready = [p for p in waiting if is_last or self._can_check(p, joined)]
            waiting = [p for p in waiting if p not in ready]
            steps.append(Step(input, keys, ready + self._newly_equal(before, joined, input)))
        return steps

    def _in_index_order(self, order: Sequence[int], joined: frozenset[int], input: int) -> list[tuple[Scalar, Scalar]]:
        """The keys of a step, in the order in which an index has them that can serve it."""
        keys = join_keys(self._conditions, joined, input)
        places = self._index_order(input, [right for _, right in keys])
        if places is None and len(joined) == 1:
            places = self._index_order(order[0], [left for left, _ in keys])
        return keys if places is None else [keys[place] for place in places]

    def _can_check(self, predicate: Scalar, joined: frozenset[int]) -> bool:
        support = self._conditions.support(predicate)
        return bool(support) and support <= joined and not may_fail(predicate, self._conditions.types)

    def _newly_equal(self, before: frozenset[int], joined: frozenset[int], input: int) -> list[Scalar]:
        """Equalities with expressions that span several inputs and can be computed from now on."""
        predicates: list[Scalar] = []
        own = frozenset((input,))
        for members in self._conditions.classes:
            supports = [(member, self._conditions.support(member)) for member in members]
            known = [m for m, support in supports if support <= before or support == own]
            spanning = [m for m, support in supports if support <= joined and not support <= before and support != own]
            equal = known[:1] + spanning
            predicates.extend(Call("=", (equal[0], member)) for member in equal[1:])
        return predicates

    def _needed(self, position: int, steps: Sequence[Step], rest: MapFilterProject) -> set[int]:
        """The join's columns that are read after the step at ``position`` (-1: after the first input)."""
        needed = set(demand(rest))
        for later in steps[position + 1 :]:
            for scalar in (*later.predicates, *[left for left, _ in later.keys]):
                needed |= columns_of(scalar)
        return needed

    def _arranged(self, input: int, keys: Sequence[Scalar], needed: set[int]) -> Side:
        """One input, arranged by these expressions: an imported index that is, else its needed columns, arranged."""
        imported = self._imported(input, keys)
        if imported is not None:
            return imported
        offset, arity = self._offsets[input], self._conditions.arities[input]
        columns = needed.union([key.index for key in keys if isinstance(key, ColumnRef)])
        outputs: list[Scalar] = [ColumnRef(column) for column in range(offset, offset + arity) if column in columns]
        outputs += [key for key in dict.fromkeys(keys) if not isinstance(key, ColumnRef)]

        def own(scalar: Scalar) -> Scalar:
            return substitute(scalar, lambda column: ColumnRef(column - offset))

        predicates = [own(predicate) for predicate in self._conditions.local[input]]
        mfp = from_expressions(arity, predicates, [own(output) for output in outputs])
        node = self._build(self._inputs[input], mfp)
        layout: dict[Scalar, Scalar] = {output: ColumnRef(position) for position, output in enumerate(outputs)}
        arranged = self._graph.add(Arrange(self._graph.types(node), node, tuple([layout[key] for key in keys])))
        return Side(arranged, len(outputs), layout)

    def _joined(
        self, left: Side, right: Side, step: Step, following: Step | None, needed: set[int], rest: MapFilterProject
    ) -> Side:
        """The binary join of two arranged sides: what the following step and later ones need, or the result."""
        both = left.beside(right)
        outputs: list[Scalar] = [ColumnRef(column) for column in sorted(needed) if ColumnRef(column) in both.layout]
        if following is not None:
            outputs += dict.fromkeys(key for key, _ in following.keys if key not in outputs)
        predicates = [*both.predicates, *[both.localize(predicate) for predicate in step.predicates]]
        mfp = simplify(from_expressions(both.arity, predicates, [both.localize(output) for output in outputs]))
        if following is None:
            mfp = compose(mfp, narrow(rest, sorted(needed)))
        types = mfp_types(mfp, self._graph.types(left.node) + self._graph.types(right.node))
        node = self._graph.add(JoinNode(types, left.node, right.node, mfp))
        layout: dict[Scalar, Scalar] = {output: ColumnRef(position) for position, output in enumerate(outputs)}
        return Side(node, len(types), layout)

    def _imported(self, input: int, keys: Sequence[Scalar]) -> Side | None:
        """The input as an imported arrangement by exactly these keys, with what is to be done row by row on top."""
        base = self._base(self._inputs[input])
        if base is None:
            return None
        id, mfp = base
        offset = self._offsets[input]
        expressions = inlined(mfp)
        columns = {offset + position: expressions[column] for position, column in enumerate(mfp.projection)}
        key = [_over(key, columns) for key in keys]
        predicates = [inline(predicate, expressions) for predicate in mfp.predicates]
        predicates += [_over(predicate, columns) for predicate in self._conditions.local[input]]
        node = self._available.arranged(self._graph, id, [scalar for scalar in key if scalar is not None])
        if node is None or None in key or None in predicates or None in columns.values():
            return None
        layout: dict[Scalar, Scalar] = {ColumnRef(at): scalar for at, scalar in columns.items() if scalar is not None}
        return Side(node, mfp.arity, layout, tuple([predicate for predicate in predicates if predicate is not None]))

    def _base(self, relation: Relation) -> tuple[GlobalId, MapFilterProject] | None:
        """The collection with an index that the relation is, and what it does to it row by row."""
        nodes: list[Map | Filter | Project] = []
        while isinstance(relation, (Map, Filter, Project, ArrangeBy)):
            if not isinstance(relation, ArrangeBy):
                nodes.append(relation)
            relation = relation.input
        if not isinstance(relation, Get) or not self._available.index_keys(relation.id):
            return None
        mfp = MapFilterProject.identity(self._table.arity(relation))
        for node in reversed(nodes):
            mfp = compose(mfp, of_node(node, len(mfp.projection)))
        return relation.id, mfp

    def _index_order(self, input: int, keys: Sequence[Scalar]) -> list[int] | None:
        """The order of the keys in which an imported index of the input has them."""
        base = self._base(self._inputs[input])
        if base is None:
            return None
        id, mfp = base
        expressions = inlined(mfp)
        offset = self._offsets[input]
        columns = {offset + position: expressions[column] for position, column in enumerate(mfp.projection)}
        over = [_over(key, columns) for key in keys]
        for key in self._available.index_keys(id):
            if len(key) == len(over) and all(scalar in over for scalar in key):
                return [over.index(scalar) for scalar in key]
        return None


def _filters(relation: Relation) -> list[Scalar]:
    """The predicates of the filters at the top of a relation."""
    predicates: list[Scalar] = []
    while isinstance(relation, (Map, Filter, Project, ArrangeBy)):
        if isinstance(relation, Filter):
            predicates.extend(relation.predicates)
        relation = relation.input
    return predicates


def _selectivity(predicate: Scalar) -> int:
    """How few rows a predicate is likely to leave: those of one value, or some."""
    match predicate:
        case Call("=", (Literal(), _) | (_, Literal())):
            return 2
        case _:
            return 1


def _over(scalar: Scalar, columns: Mapping[int, Scalar | None]) -> Scalar | None:
    """The expression over what its columns stand for."""
    if any(columns.get(column) is None for column in columns_of(scalar)):
        return None
    return substitute(scalar, lambda column: columns[column] or ColumnRef(column))
