"""Lowering from the top down: every relation is planned together with the ``MapFilterProject`` on top of it, which
carries down what is read and which rows are wanted.

An expression that can fail is not moved to where it would see rows that it does not see as written; one that nobody
reads is dropped. So an optimized plan has no errors that the expression has not, and may have fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from ...messages.ids import GlobalId
from ...messages.plans import (
    Arrange,
    ConstantNode,
    FlatMapNode,
    JoinNode,
    MapFilterProject,
    NegateNode,
    PlannedAggregate,
    ThresholdNode,
    TopKNode,
)
from ...messages.relations import (
    Aggregate,
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
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import ColumnType
from ..scalars.typing import scalar_type
from .aggregates import aggregate_kind, is_idempotent
from .available import Available
from .constraints import extract_literal_constraints
from .failing import may_fail
from .graph import LocalUse, PlanGraph
from .join_flatten import flatten_join
from .joins import JoinPlanner
from .mfp import compose, demand, from_expressions, inline, inlined, mfp_types, narrow, of_node, renumber, simplify
from .trees import columns_of, substitute
from .type_table import TypeTable
from .typing import Types, extend_types
from .unique import unique_key


class OptimizedLowering:
    """Plans the expressions of one object."""

    def __init__(self, graph: PlanGraph, available: Available, types: TypeTable) -> None:
        self._graph = graph
        self._available = available
        self._table = types

    def build(self, relation: Relation, mfp: MapFilterProject) -> int:
        """The node of a relation with ``mfp`` on top."""
        while True:
            # Chains are followed here, not by recursion: they are long when each column was added by itself.
            match relation:
                case Map(input) | Filter(input) | Project(input):
                    mfp = compose(of_node(relation, self._table.arity(input)), mfp)
                case ArrangeBy(input):
                    pass
                case Union((input,)):
                    pass
                case _:
                    return self._build(relation, mfp)
            relation = input

    def _build(self, relation: Relation, mfp: MapFilterProject) -> int:
        graph = self._graph
        types = self._table.types(relation)
        match relation:
            case Constant(_, rows, diffs):
                return graph.apply(graph.add(ConstantNode(types, rows, diffs)), mfp)
            case Get(id):
                return self._get(id, types, mfp)
            case GetLocal(name):
                return graph.add(LocalUse(mfp_types(mfp, types), name, mfp))
            case FlatMap():
                return self._flat_map(relation, types, mfp)
            case Join():
                flat = flatten_join(relation, self._table, mfp)
                return JoinPlanner(flat, graph, self._available, self._table, self.build, reorder=True).plan()
            case Reduce(input, group_by, aggregates):
                return self._reduce(input, group_by, aggregates, mfp)
            case Distinct(input, project):
                return self._distinct(input, project, mfp)
            case TopK():
                return self._top_k(relation, types, mfp)
            case Negate(input):
                below, above = self._split_failing(mfp, types)
                node = self.build(input, below)
                return graph.apply(graph.add(NegateNode(graph.types(node), node)), above)
            case Threshold(input):
                below, above = self._split(mfp, types, range(len(types)))
                node = self.build(input, below)
                return graph.apply(graph.add(ThresholdNode(graph.types(node), node)), above)
            case Union():
                return self._union(relation, mfp)
            case Map() | Filter() | Project() | ArrangeBy() | Let() | LetRec():
                raise AssertionError("handled before")

    def _get(self, id: GlobalId, types: Types, mfp: MapFilterProject) -> int:
        """A collection. When a filter leaves few keys of one of its indexes, those are looked up: joined with it."""
        graph = self._graph
        for key in self._available.index_keys(id) if mfp.predicates else ():
            found = extract_literal_constraints(mfp, key, types)
            arranged = self._available.arranged(graph, id, key)
            if found is None or arranged is None:
                continue
            keys, rest = found
            if not keys:
                return graph.add(ConstantNode(mfp_types(mfp, types), ()))
            sought = tuple([ColumnType(literal.type, nullable=False) for literal in keys[0]])
            columns = tuple([ColumnRef(column) for column in range(len(sought))])
            wanted = graph.add(Arrange(sought, graph.add(ConstantNode(sought, keys)), columns))
            places = {column: len(sought) + column for column in range(rest.arity + len(rest.scalars))}
            moved = renumber(rest, len(sought) + len(types), places)
            return graph.add(JoinNode(mfp_types(rest, types), wanted, arranged, moved))
        return graph.apply(self._available.get(graph, id), mfp)

    def _split(
        self, mfp: MapFilterProject, types: Types, columns: Iterable[int]
    ) -> tuple[MapFilterProject, MapFilterProject]:
        """The predicates that read nothing but these columns and cannot fail, as a filter; and the rest."""
        movable = frozenset(columns)
        expressions = inlined(mfp)
        moved: list[Scalar] = []
        kept: list[Scalar] = []
        for predicate in mfp.predicates:
            expression = inline(predicate, expressions)
            if expression is not None and columns_of(expression) <= movable and not may_fail(expression, types):
                moved.append(expression)
            else:
                kept.append(predicate)
        below = MapFilterProject(mfp.arity, predicates=tuple(moved), projection=tuple(range(mfp.arity)))
        above = MapFilterProject(mfp.arity, mfp.scalars, tuple(kept), mfp.projection)
        return below, simplify(above) if moved else mfp

    def _split_failing(self, mfp: MapFilterProject, types: Types) -> tuple[MapFilterProject, MapFilterProject]:
        """What cannot fail; and the rest. The errors of negated rows cancel those of the rows, the errors of rows
        that are negated later do not."""
        extended = extend_types(types, mfp.scalars)
        if not any(may_fail(scalar, extended) for scalar in (*mfp.scalars, *mfp.predicates)):
            return mfp, MapFilterProject.identity(len(mfp.projection))
        below, above = self._split(mfp, types, range(len(types)))
        columns = demand(above)
        return MapFilterProject(mfp.arity, predicates=below.predicates, projection=columns), narrow(above, columns)

    def _flat_map(self, relation: FlatMap, types: Types, mfp: MapFilterProject) -> int:
        arity = self._table.arity(relation.input)
        below, above = self._split(mfp, types, range(arity))
        read = set(demand(above)).union(*[columns_of(argument) for argument in relation.arguments])
        columns = [column for column in range(arity) if column in read]
        narrowed = MapFilterProject(arity, predicates=below.predicates, projection=tuple(columns))
        node = self.build(relation.input, narrowed)
        arguments = tuple([_relocate(argument, columns) for argument in relation.arguments])
        output = types[arity:]
        flat = self._graph.add(FlatMapNode(self._graph.types(node) + output, node, relation.function, arguments))
        return self._graph.apply(flat, narrow(above, [*columns, *range(arity, len(types))]))

    def _reduce(
        self, input: Relation, group_by: Sequence[Scalar], aggregates: Sequence[Aggregate], mfp: MapFilterProject
    ) -> int:
        types = self._table.types(input)
        outputs = tuple([scalar_type(key, types) for key in group_by])
        keys = range(len(group_by))
        below, above = self._split(mfp, outputs, keys)
        predicates = [substitute(predicate, group_by.__getitem__) for predicate in below.predicates]
        read = demand(above)
        wanted = [position for position in range(len(aggregates)) if len(group_by) + position in read]
        planned = [_simpler(aggregates[position], types) for position in wanted]
        inputs = dict.fromkeys([*group_by, *[spec.input for spec in planned if spec.input is not None]])
        places = {scalar: ColumnRef(position) for position, scalar in enumerate(inputs)}
        node = self.build(input, from_expressions(len(types), predicates, list(inputs)))
        reduced = self._graph.reduce(
            node,
            tuple([places[key] for key in group_by]),
            tuple([_relocated(spec, places.__getitem__) for spec in planned]),
        )
        return self._graph.apply(reduced, narrow(above, [*keys, *[len(group_by) + position for position in wanted]]))

    def _distinct(self, input: Relation, project: Sequence[Scalar] | None, mfp: MapFilterProject) -> int:
        arity = self._table.arity(input)
        keys = [ColumnRef(column) for column in range(arity)] if project is None else list(project)
        unique = unique_key(input, self._table.arity)
        if unique is not None and unique <= {key.index for key in keys if isinstance(key, ColumnRef)}:
            return self.build(input, compose(from_expressions(arity, (), keys), mfp))
        return self._reduce(input, keys, (), mfp)

    def _top_k(self, relation: TopK, types: Types, mfp: MapFilterProject) -> int:
        if relation.limit is None and relation.offset == 0:
            return self.build(relation.input, mfp)
        if relation.limit == 0:
            return self._graph.add(ConstantNode(mfp_types(mfp, types), ()))
        # Ties are ordered by the whole row, so all columns are read.
        below, above = self._split(mfp, types, relation.group_by)
        node = self.build(relation.input, below)
        top = TopKNode(types, node, relation.group_by, relation.order_by, relation.limit, relation.offset)
        return self._graph.apply(self._graph.add(top), above)

    def _union(self, relation: Union, mfp: MapFilterProject) -> int:
        nodes: list[int] = []
        pending = list(reversed(relation.inputs))
        while pending:
            input = pending.pop()
            if isinstance(input, Union):
                pending.extend(reversed(input.inputs))
            else:
                nodes.append(self.build(input, mfp))
        return self._graph.union(nodes)


def _relocate(scalar: Scalar, columns: Sequence[int]) -> Scalar:
    return substitute(scalar, lambda column: ColumnRef(columns.index(column)))


def _relocated(aggregate: Aggregate, place: Callable[[Scalar], Scalar]) -> PlannedAggregate:
    if aggregate.input is not None:
        aggregate = msgspec.structs.replace(aggregate, input=place(aggregate.input))
    return PlannedAggregate(aggregate, aggregate_kind(aggregate))


def _simpler(aggregate: Aggregate, types: Types) -> Aggregate:
    """The same value from less work: a count of what is never NULL counts rows, and so on."""
    if aggregate.user is not None or aggregate.input is None:
        return aggregate
    if aggregate.distinct and is_idempotent(aggregate):
        aggregate = msgspec.structs.replace(aggregate, distinct=False)
    if aggregate.function == "count" and not aggregate.distinct and aggregate.input is not None:
        nullable = scalar_type(aggregate.input, types).nullable
        return aggregate if nullable or may_fail(aggregate.input, types) else Aggregate("count")
    return aggregate
