"""Relations: what to compute, from tables and views, with names that a Polars user would guess."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar

from ...messages.relations import Distinct, Filter, Map, Project, TopK
from ...messages.relations import Relation as Algebra
from ...messages.scalars import ColumnRef, Scalar
from ...messages.types import Field, Schema
from . import sets
from .binding import RowScope, bind_condition, position_of
from .errors import RelationError, kind_of
from .expressions import Expression, ExpressionOrValue, as_expression
from .grouping import aggregate
from .joining import join_relations
from .joins import JoinKind, LocalNames
from .nodes import Call, ColumnName, Node, has_aggregation
from .ordering import OrderLike, order_columns
from .other_names import OF_GROUPS, OF_RELATIONS, no_attribute
from .selection import ColumnLike, Named, bind_columns, named_columns, project, replace_columns
from .table_functions import TableFunctionCall, apply_table_function

if TYPE_CHECKING:
    from .origin import Origin


_NOTHING: frozenset[str] = frozenset()


class Relation:
    """A multiset of rows that is computed from tables and views, and changes when they do.

    Immutable: every method returns a new one. Nothing runs until the relation is queried, subscribed or made a view.
    Every mistake (unknown columns, wrong types) is raised by the method that is given it.
    """

    __slots__ = ("_algebra", "_locals", "_origin", "_schema", "_unique")

    def __init__(
        self,
        algebra: Algebra,
        schema: Schema,
        origin: Origin | None = None,
        locals: int = 0,
        unique: frozenset[str] = _NOTHING,
    ) -> None:
        self._algebra = algebra
        self._schema = schema
        self._origin = origin
        self._locals = locals
        self._unique = unique

    # What it is

    @property
    def schema(self) -> Schema:
        """Names, types and nullability of the columns."""
        return self._schema

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._schema.names

    @property
    def algebra(self) -> Algebra:
        """The relational expression that is sent to the system."""
        return self._algebra

    @property
    def origin(self) -> Origin | None:
        """The system whose tables it reads; None when it reads none."""
        return self._origin

    @property
    def locals(self) -> int:
        """Local bindings in the expression are called ``l0`` … below this number."""
        return self._locals

    @property
    def unique_columns(self) -> frozenset[str]:
        """Columns that are known to be together different in every row; none: nothing is known."""
        return self._unique

    def __repr__(self) -> str:
        return f"Relation({', '.join(f'{f.name}: {f.column_type}' for f in self._schema.fields)})"

    def __bool__(self) -> bool:
        raise RelationError("a relation has no truth value; query it first: system.query(relation)")

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, "a relation", OF_RELATIONS)

    def _made(
        self, algebra: Algebra, schema: Schema, locals: int | None = None, unique: frozenset[str] = _NOTHING
    ) -> Relation:
        return Relation(algebra, schema, self._origin, self._locals if locals is None else locals, unique)

    def _projected(self, outputs: list[tuple[Field, Scalar]]) -> Relation:
        """Exactly these columns of it."""
        algebra, schema = project(self._algebra, self._schema.arity, outputs)
        names = self._schema.names
        passed = {names[scalar.index]: field.name for field, scalar in outputs if isinstance(scalar, ColumnRef)}
        kept = frozenset(passed[name] for name in self._unique) if self._unique <= passed.keys() else _NOTHING
        return self._made(algebra, schema, unique=kept)

    # Columns

    def select(self, *columns: ColumnLike | Sequence[ColumnLike], **named: ExpressionOrValue) -> Relation:
        """Exactly these columns: names, expressions, or ``new_name=`` one of them. A constant text is ``lit("…")``.

        With an aggregate among them, one row over everything: ``orders.select(count(), sum("amount"))``.
        """
        outputs = named_columns(columns, named, "select")
        if outputs and all(is_aggregate(output.expression) for output in outputs):
            return self._aggregate([], outputs)
        return self._projected(bind_columns(outputs, self._schema, "select"))

    def with_columns(self, *columns: ColumnLike | Sequence[ColumnLike], **named: ExpressionOrValue) -> Relation:
        """All columns, with these replaced (same name) or appended. Each sees the columns as they were before."""
        outputs = bind_columns(named_columns(columns, named, "with_columns"), self._schema, "with_columns")
        return self._projected(replace_columns(self._schema, outputs))

    def drop(self, *columns: str) -> Relation:
        """All columns but these."""
        gone = {position_of(name, self._schema, "drop") for name in columns}
        kept = [(f, ColumnRef(i)) for i, f in enumerate(self._schema.fields) if i not in gone]
        if not kept:
            raise RelationError("drop would leave no column")
        return self._projected(list(kept))

    def rename(self, mapping: dict[str, str] | None = None, **named: str) -> Relation:
        """New names for columns, old to new: ``rename({"a": "b"})`` or ``rename(a="b")``."""
        renamed = {**(mapping or {}), **named}
        for name in renamed:
            position_of(name, self._schema, "rename")
        outputs: list[tuple[Field, Scalar]] = [
            (Field(renamed.get(f.name, f.name), f.type, f.nullable), ColumnRef(i))
            for i, f in enumerate(self._schema.fields)
        ]
        return self._projected(outputs)

    # Rows

    def filter(self, *conditions: ExpressionOrValue, **equal: ExpressionOrValue) -> Relation:
        """The rows for which every condition is true; ``filter(region="north")`` is ``col("region") == "north"``."""
        given = [as_expression(condition) for condition in conditions]
        given.extend(Expression(ColumnName(name)) == value for name, value in equal.items())
        if not given:
            raise RelationError("filter takes at least one condition")
        scope = RowScope(self._schema, "filter")
        predicates = [bind_condition(node, scope, "filter") for one in given for node in conjuncts(one.node)]
        return self._made(Filter(self._algebra, tuple(predicates)), self._schema, unique=self._unique)

    def distinct(self, *columns: ColumnLike, **named: ExpressionOrValue) -> Relation:
        """Each different row once; with columns, each different combination of them."""
        chosen = self.select(*columns, **named) if columns or named else self
        return chosen._made(Distinct(chosen._algebra), chosen._schema, unique=frozenset(chosen.columns))

    def unique(self, subset: str | Sequence[str] | None = None) -> Relation:
        """Each different row once; with a subset, for each combination of those columns one whole row (the least)."""
        if subset is None:
            return self.distinct()
        return self.top(1, per=subset)

    def top(
        self,
        n: int | None,
        *,
        by: OrderLike | Sequence[OrderLike] = (),
        per: str | Sequence[str] = (),
        descending: bool | Sequence[bool] = False,
        nulls_first: bool | Sequence[bool] = False,
        offset: int = 0,
    ) -> Relation:
        """The first ``n`` rows in an order (all from ``offset`` on when None), of everything or in each group.

        ``by``: names or expressions. ``per``: the columns that make a group. Rows that ``by`` leaves equal are ordered
        by all their columns, so the result is always determined. NULLs come last unless ``nulls_first``.
        """
        n = checked_count("top", "n", n)
        offset = checked_count("top", "offset", offset)
        groups = [per] if isinstance(per, str) else list(per)
        group_by = tuple(position_of(name, self._schema, "top per") for name in groups)
        orders, scalars = order_columns(self._schema, by, descending, nulls_first, "top")
        source = Map(self._algebra, scalars) if scalars else self._algebra
        limited: Algebra = TopK(source, group_by, orders, n, offset)
        if scalars:
            limited = Project(limited, tuple(range(self._schema.arity)))
        one_each = n == 1 and bool(groups)
        return self._made(limited, self._schema, unique=frozenset(groups) if one_each else self._unique)

    def limit(self, n: int, offset: int = 0) -> Relation:
        """At most ``n`` rows: the first in the order of all columns."""
        return self.top(n, offset=offset)

    def explode(self, **columns: TableFunctionCall) -> Relation:
        """For each row one row per element of a table function: ``explode(word=split(col("text"), " "))``."""
        relation = self
        for name, call in columns.items():
            relation = relation._made(*apply_table_function(relation._algebra, relation._schema, name, call))
        return relation

    # Groups

    def group_by(self, *keys: ColumnLike | Sequence[ColumnLike], **named: ExpressionOrValue) -> GroupBy:
        """Groups of rows with equal keys (NULL equals NULL); goes on with ``.agg(…)``."""
        found = named_columns(keys, named, "group_by")
        if not found:
            raise RelationError("group_by takes at least one key; to aggregate everything use relation.agg(…)")
        return GroupBy(self, found)

    def agg(self, *aggregates: Expression | Sequence[Expression], **named: Expression) -> Relation:
        """Aggregates over all rows, as one row; over no rows a count is 0 and every other aggregate NULL."""
        return self._aggregate([], named_columns(aggregates, named, "agg"))

    def _aggregate(self, keys: list[Named], outputs: list[Named]) -> Relation:
        if not outputs:
            raise RelationError("agg takes at least one aggregate, such as count() or sum('amount')")
        names = LocalNames(self._locals)
        algebra, schema = aggregate(self._algebra, self._schema, keys, outputs, names)
        return self._made(algebra, schema, names.next, frozenset(key.name for key in keys))

    # Several relations

    def join(
        self,
        other: Relation,
        on: ColumnLike | Sequence[ColumnLike] | None = None,
        *,
        left_on: ColumnLike | Sequence[ColumnLike] | None = None,
        right_on: ColumnLike | Sequence[ColumnLike] | None = None,
        how: JoinKind = "inner",
        suffix: str = "_right",
    ) -> Relation:
        """Rows of both side by side whose keys are equal; a key with NULL in it equals nothing.

        ``on``: columns that both have; or ``left_on`` and ``right_on``, names or expressions. The right side's key
        columns are left out, because they repeat the left side's; its other columns get ``suffix`` where the name is
        taken. ``how``: ``inner``; ``left``, ``right``, ``full`` keep rows without a partner, padded with NULL;
        ``semi`` and ``anti`` keep the left rows with or without one; ``cross`` pairs all and takes no key.
        """
        algebra, schema, names = join_relations(self, other, on, left_on, right_on, how, suffix)
        return Relation(algebra, schema, self._together(other, "join"), names.next)

    def union(self, other: Relation, *, distinct: bool = False) -> Relation:
        """The rows of both. Columns go by name. A row may be there several times, unless ``distinct``."""
        one, two, schema = self._aligned(other, "union")
        algebra = sets.union(one, two, distinct=distinct)
        return Relation(algebra, schema, self._together(other, "union"), max(self._locals, other._locals))

    def except_(self, other: Relation, *, distinct: bool = False) -> Relation:
        """The rows of this without those of the other, each taken away once; with ``distinct`` as sets."""
        one, two, schema = self._aligned(other, "except_")
        algebra = sets.difference(one, two, distinct=distinct)
        return Relation(algebra, schema, self._together(other, "except_"), max(self._locals, other._locals))

    def intersect(self, other: Relation, *, distinct: bool = False) -> Relation:
        """The rows that both have, as often as both have them; with ``distinct`` once."""
        one, two, schema = self._aligned(other, "intersect")
        names = LocalNames(max(self._locals, other._locals))
        algebra = sets.intersection(one, two, names, distinct=distinct)
        return Relation(algebra, schema, self._together(other, "intersect"), names.next)

    def _aligned(self, other: Relation, where: str) -> tuple[Algebra, Algebra, Schema]:
        from .alignment import align

        if not isinstance(other, Relation):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RelationError(f"{where} takes another relation, and {kind_of(other)} was given")
        return align(self, other, where)

    def _together(self, other: Relation, where: str) -> Origin | None:
        if self._origin is not None and other._origin is not None and self._origin is not other._origin:
            raise RelationError(f"{where}: the relations belong to two different systems")
        return self._origin or other._origin

    # Looking at it

    def explain(self) -> str:
        """The expression, and the plan that would compute it now, as text."""
        from .explanation import explain_relation

        return explain_relation(self)


class GroupBy:
    """Groups that wait for their aggregates."""

    __slots__ = ("_keys", "_relation")

    def __init__(self, relation: Relation, keys: list[Named]) -> None:
        self._relation = relation
        self._keys = keys

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, "group_by(…)", OF_GROUPS)

    def agg(self, *aggregates: Expression | Sequence[Expression], **named: Expression) -> Relation:
        """One row per group: the keys, then these. They may compute with aggregates and with the keys."""
        outputs = named_columns(aggregates, named, "agg")
        return self._relation._aggregate(self._keys, outputs)  # pyright: ignore[reportPrivateUsage]

    def count(self) -> Relation:
        """One row per group: the keys, and ``count``, how many rows it has."""
        from .aggregates import count

        return self.agg(count())


def is_aggregate(expression: Expression) -> bool:
    """Whether the expression aggregates rows."""
    return has_aggregation(expression.node)


def conjuncts(node: Node) -> Iterable[Node]:
    """The conditions that ``&`` combines."""
    if isinstance(node, Call) and node.function == "and":
        for argument in node.arguments:
            yield from conjuncts(argument)
    else:
        yield node


_MOST_ROWS = 2**63 - 1
"""No collection has more, and messages carry no larger number."""

C = TypeVar("C", int, int | None)


def checked_count(where: str, parameter: str, given: C) -> C:
    """A number of rows; one that is larger than any collection stands for that of the largest.

    Raises:
        RelationError: it is no whole number from 0 on.
    """
    if given is None:
        return given
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RelationError(f"{where}: {parameter} is a whole number from 0 on, and {given!r} was given")
    return min(given, _MOST_ROWS)
