"""Random well-typed relational expressions of bounded size over given collections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from pillion.dataflow.plans.aggregates import AGGREGATES
from pillion.dataflow.plans.typing import relation_types
from pillion.messages.ids import GlobalId
from pillion.messages.relations import (
    Aggregate,
    ArrangeBy,
    Binding,
    Constant,
    Distinct,
    Filter,
    FlatMap,
    Get,
    GetLocal,
    Join,
    Let,
    Map,
    Negate,
    Order,
    Project,
    Reduce,
    Relation,
    TableFunction,
    Threshold,
    TopK,
    Union,
)
from pillion.messages.scalars import Call, ColumnRef, Literal, Scalar
from pillion.messages.types import ColumnType, SqlType

from .scalars import predicates, scalars
from .values import column_types, literals
from .vocabulary import EXACT, Vocabulary

Types = tuple[ColumnType, ...]
MAX_ARITY = 5
"""Wider results are projected down, so that joins of joins stay readable when they fail."""


def sources(vocabulary: Vocabulary = EXACT, most: int = 3) -> st.SearchStrategy[dict[GlobalId, Types]]:
    """Collections ``u1``, ``u2``, … and the types of their columns."""
    types = st.lists(column_types(vocabulary.types), min_size=1, max_size=3).map(tuple)
    collections = st.lists(types, min_size=1, max_size=most)
    return collections.map(lambda found: {GlobalId("u", at): columns for at, columns in enumerate(found, start=1)})


@st.composite
def relations(
    draw: st.DrawFn, env: Mapping[GlobalId, Types], vocabulary: Vocabulary = EXACT, size: int = 6
) -> Relation:
    """A relation over these collections; ``size`` bounds how many operators it has."""
    return _Builder(draw, env, vocabulary).relation(size, {})


class _Builder:
    def __init__(self, draw: st.DrawFn, env: Mapping[GlobalId, Types], vocabulary: Vocabulary) -> None:
        self._draw = draw
        self._env = env
        self._vocabulary = vocabulary

    def relation(self, size: int, scope: Mapping[str, Types]) -> Relation:
        if size <= 1:
            return self._leaf(scope)
        common = [self._row_by_row, self._join, self._row_by_row, self._join]
        relation = self._draw(st.sampled_from([*common, self._grouped, self._combined, self._let]))(size, scope)
        arity = len(self._types(relation, scope))
        if arity <= MAX_ARITY:
            return relation
        kept = self._draw(st.lists(st.integers(0, arity - 1), min_size=1, max_size=MAX_ARITY))
        return Project(relation, tuple(kept))

    def _types(self, relation: Relation, scope: Mapping[str, Types]) -> Types:
        return relation_types(relation, self._env, scope)

    def _leaf(self, scope: Mapping[str, Types]) -> Relation:
        choice = self._draw(st.integers(0, 9))
        if choice == 9 or not self._env:
            return self._draw(self._constants())
        if choice > 4 and scope:
            return self._draw(st.sampled_from([GetLocal(name) for name in scope]))
        return self._draw(st.sampled_from([Get(id) for id in self._env]))

    @st.composite
    @staticmethod
    def _constant(draw: st.DrawFn, types: Sequence[SqlType], negative: bool) -> Relation:
        columns = tuple(draw(st.lists(column_types(types), min_size=1, max_size=3)))
        rows = tuple(draw(st.lists(st.tuples(*[literals(column) for column in columns]), max_size=3)))
        counts = st.sampled_from([1, 2, -1] if negative else [1, 2])
        diffs = draw(st.one_of(st.just(()), st.tuples(*[counts for _ in rows])))
        return Constant(columns, rows, () if set(diffs) == {1} else diffs)

    def _constants(self) -> st.SearchStrategy[Relation]:
        return self._constant(self._vocabulary.types, self._vocabulary.negative)

    def _scalars(self, types: Types, least: int, most: int) -> tuple[Scalar, ...]:
        return tuple(self._draw(st.lists(scalars(types, self._vocabulary), min_size=least, max_size=most)))

    def _row_by_row(self, size: int, scope: Mapping[str, Types]) -> Relation:
        input = self.relation(size - 1, scope)
        types = self._types(input, scope)
        match self._draw(st.sampled_from(["project", "map", "filter", "filter", "flat_map", "arrange"])):
            case "project":
                columns = st.lists(st.integers(0, len(types) - 1), min_size=1, max_size=MAX_ARITY)
                return Project(input, tuple(self._draw(columns)))
            case "map":
                return Map(input, self._scalars(types, 1, 2))
            case "filter":
                found = st.one_of(self._lookups(types), predicates(types, self._vocabulary))
                return Filter(input, tuple(self._draw(st.lists(found, min_size=1, max_size=2))))
            case "flat_map":
                stop = self._draw(scalars(types, self._vocabulary, SqlType.BIGINT, 1))
                return FlatMap(input, TableFunction("generate_series"), (Literal.of(0, SqlType.BIGINT), stop))
            case _:
                return ArrangeBy(input, ((ColumnRef(0),),))

    @st.composite
    @staticmethod
    def _lookup(draw: st.DrawFn, types: Types) -> Scalar:
        """A column that equals one of few constants, as filters of users mostly are."""
        column = draw(st.integers(0, len(types) - 1))
        constants = draw(st.lists(literals(ColumnType(types[column].type, nullable=False)), min_size=1, max_size=3))
        choices = [Call("=", (ColumnRef(column), constant)) for constant in constants]
        return choices[0] if len(choices) == 1 else Call("or", tuple(choices))

    def _lookups(self, types: Types) -> st.SearchStrategy[Scalar]:
        return self._lookup(types)

    def _grouped(self, size: int, scope: Mapping[str, Types]) -> Relation:
        input = self.relation(size - 1, scope)
        types = self._types(input, scope)
        column = st.integers(0, len(types) - 1)
        match self._draw(st.sampled_from(["reduce", "reduce", "distinct", "top_k", "threshold"])):
            case "reduce":
                keys = self._draw(st.lists(column, max_size=2, unique=True))
                aggregates = self._draw(st.lists(self._aggregates(types), min_size=0 if keys else 1, max_size=2))
                return Reduce(input, tuple(ColumnRef(key) for key in keys), tuple(aggregates))
            case "distinct":
                return Distinct(input, self._draw(st.sampled_from([None, (ColumnRef(0),)])))
            case "top_k":
                group_by = tuple(self._draw(st.lists(column, max_size=1)))
                orders = st.builds(Order, column, st.booleans(), st.booleans())
                order_by = tuple(self._draw(st.lists(orders, max_size=2)))
                limit = self._draw(st.one_of(st.none(), st.integers(0, 3)))
                return TopK(input, group_by, order_by, limit, self._draw(st.integers(0, 1)))
            case _:
                return Threshold(input)

    @st.composite
    @staticmethod
    def _aggregate(draw: st.DrawFn, types: Types, vocabulary: Vocabulary) -> Aggregate:
        function = draw(st.sampled_from(["*", *vocabulary.aggregates]))
        entry = AGGREGATES["count" if function == "*" else function]
        fitting = [ColumnRef(at) for at, type in enumerate(types) if entry.result(type.type) is not None]
        if function == "*" or not fitting:
            return Aggregate("count")
        parameters = {"string_agg": (Literal.of(",", SqlType.TEXT),), "percentile": (Literal.of(0.5, SqlType.DOUBLE),)}
        return Aggregate(function, draw(st.sampled_from(fitting)), draw(st.booleans()), parameters.get(function, ()))

    def _aggregates(self, types: Types) -> st.SearchStrategy[Aggregate]:
        return self._aggregate(types, self._vocabulary)

    def _join(self, size: int, scope: Mapping[str, Types]) -> Relation:
        count = self._draw(st.integers(2, 3 if size > 3 else 2))
        inputs = [self.relation((size - 1) // count, scope) for _ in range(count)]
        by_type: dict[SqlType, list[ColumnRef]] = {}
        position = 0
        for input in inputs:
            for type in self._types(input, scope):
                by_type.setdefault(type.type, []).append(ColumnRef(position))
                position += 1
        candidates = [columns for columns in by_type.values() if len(columns) > 1]
        classes: list[tuple[Scalar, ...]] = []
        if candidates:
            members = st.sampled_from(candidates).flatmap(
                lambda columns: st.lists(st.sampled_from(columns), min_size=2, max_size=3, unique=True)
            )
            classes = [tuple(found) for found in self._draw(st.lists(members, max_size=2))]
        if by_type and not self._vocabulary.failing and not self._draw(st.integers(0, 3)):
            types = [type for input in inputs for type in self._types(input, scope)]
            classes.append(self._computed_class(by_type, types))
        return Join(tuple(inputs), tuple(classes))

    def _computed_class(
        self, columns: Mapping[SqlType, list[ColumnRef]], types: Sequence[ColumnType]
    ) -> tuple[Scalar, ...]:
        """A column that equals an expression. One that can fail would: for which rows is not promised."""
        type = self._draw(st.sampled_from(list(columns)))
        computed = self._draw(scalars(types, self._vocabulary, type))
        return (self._draw(st.sampled_from(columns[type])), computed)

    def _combined(self, size: int, scope: Mapping[str, Types]) -> Relation:
        """Relations of equal types: their union, or one without the other."""
        first = self.relation((size - 1) // 2, scope)
        second = self._conform(self.relation((size - 1) // 2, scope), scope, self._types(first, scope))
        if self._draw(st.booleans()):
            return Union((first, second))
        difference = Union((first, Negate(second)))
        return difference if self._vocabulary.negative and self._draw(st.booleans()) else Threshold(difference)

    def _conform(self, relation: Relation, scope: Mapping[str, Types], wanted: Types) -> Relation:
        """The relation with columns of these types: its own where it has them, constants where it has not."""
        types = self._types(relation, scope)
        constants: list[Literal] = []
        columns: list[int] = []
        for type in wanted:
            fitting = [at for at, own in enumerate(types) if own.type is type.type]
            if fitting:
                columns.append(self._draw(st.sampled_from(fitting)))
            else:
                columns.append(len(types) + len(constants))
                constants.append(self._draw(literals(type)))
        return Project(Map(relation, tuple(constants)) if constants else relation, tuple(columns))

    def _let(self, size: int, scope: Mapping[str, Types]) -> Relation:
        # Sometimes the name of a binding around, which is then out of reach.
        name = self._draw(st.sampled_from([f"l{len(scope)}", "l0"]))
        value = self.relation(size // 2, scope)
        inner = {**scope, name: self._types(value, scope)}
        body = self.relation(size - size // 2, inner)
        return Let((Binding(name, value),), body)
