"""Relational expressions: what users and text write. Immutable trees; lowered to render plans in ``dataflow``.

A relation is a multiset of rows that varies with time. Columns are positional (``#0``, ``#1``, …).
"""

from __future__ import annotations

from .ids import GlobalId
from .scalars import Literal, Scalar, UserFunction
from .structs import Message, Natural, Signed
from .types import ColumnType


def check_constant_rows(
    types: tuple[ColumnType, ...], rows: tuple[tuple[Literal, ...], ...], diffs: tuple[int, ...]
) -> None:
    """Refuse rows that do not have these types, and multiplicities that are not one per row (or none).

    Raises:
        ValueError: the first that does not fit.
    """
    expected = tuple(column.type for column in types)
    for position, row in enumerate(rows):
        given = tuple(literal.type for literal in row)
        if given != expected:
            raise ValueError(f"row {position} of a constant is ({', '.join(given)}), expected ({', '.join(expected)})")
    if diffs and len(diffs) != len(rows):
        raise ValueError(f"a constant of {len(rows)} rows has {len(diffs)} multiplicities")


class RelationStruct(Message, frozen=True, tag=True, tag_field="tag", omit_defaults=True):
    """Base of every relational expression: immutable, hashable, tagged on the wire."""


class Constant(RelationStruct, frozen=True, tag="constant", tag_field="tag"):
    """These rows, from the beginning of time and forever. ``diffs`` are their multiplicities (all 1 when empty)."""

    types: tuple[ColumnType, ...]
    rows: tuple[tuple[Literal, ...], ...]
    diffs: tuple[Signed, ...] = ()

    def __post_init__(self) -> None:
        check_constant_rows(self.types, self.rows, self.diffs)


class Get(RelationStruct, frozen=True, tag="get", tag_field="tag"):
    """A collection that the dataflow imports or builds."""

    id: GlobalId


class GetLocal(RelationStruct, frozen=True, tag="get_local", tag_field="tag"):
    """A binding of an enclosing ``Let`` or ``LetRec``. Printed ``Get l0``."""

    name: str


class Binding(Message, frozen=True):
    name: str
    value: Relation


class Let(RelationStruct, frozen=True, tag="let", tag_field="tag"):
    """``With cte name = value … Return body``; each binding sees the earlier ones."""

    bindings: tuple[Binding, ...]
    body: Relation


class RecursiveBinding(Message, frozen=True):
    name: str
    types: tuple[ColumnType, ...]
    value: Relation


class LetRec(RelationStruct, frozen=True, tag="let_rec", tag_field="tag"):
    """Mutually recursive bindings, to a fixpoint at every time."""

    bindings: tuple[RecursiveBinding, ...]
    body: Relation
    recursion_limit: Natural | None = None
    return_at_limit: bool = False


class Project(RelationStruct, frozen=True, tag="project", tag_field="tag"):
    input: Relation
    columns: tuple[Natural, ...]


class Map(RelationStruct, frozen=True, tag="map", tag_field="tag"):
    """Append columns; each expression may refer to the input's columns and to the ones appended before it."""

    input: Relation
    scalars: tuple[Scalar, ...]


class Filter(RelationStruct, frozen=True, tag="filter", tag_field="tag"):
    """Keep the rows for which every predicate is true (not false, not NULL)."""

    input: Relation
    predicates: tuple[Scalar, ...]


class TableFunction(Message, frozen=True):
    """``generate_series``, ``unnest_text`` (split), … or a user function, from one row to several."""

    name: str
    user: UserFunction | None = None


class FlatMap(RelationStruct, frozen=True, tag="flat_map", tag_field="tag"):
    """For each row, itself followed by the columns of each row that the table function yields."""

    input: Relation
    function: TableFunction
    arguments: tuple[Scalar, ...]


class Join(RelationStruct, frozen=True, tag="join", tag_field="tag"):
    """The product of the inputs, columns side by side, where in each equivalence class all expressions are equal.

    Expressions refer to the concatenated columns. NULL equals nothing. No equivalences: a cross join.
    """

    inputs: tuple[Relation, ...]
    equivalences: tuple[tuple[Scalar, ...], ...] = ()


class Aggregate(Message, frozen=True, omit_defaults=True):
    """One aggregate: ``count``, ``sum``, ``avg``, ``min``, ``max``, ``any``, ``all``, ``string_agg``, ``median``,
    ``percentile``, … of an expression; ``input`` is None for ``count(*)``.

    ``parameters`` are constants that some take (``string_agg``'s separator, ``percentile``'s fraction).
    """

    function: str
    input: Scalar | None = None
    distinct: bool = False
    parameters: tuple[Literal, ...] = ()
    user: UserFunction | None = None


class Reduce(RelationStruct, frozen=True, tag="reduce", tag_field="tag"):
    """Group by expressions; output the group's values, then the aggregates. A group without rows has no output row,
    also when there is nothing to group by."""

    input: Relation
    group_by: tuple[Scalar, ...]
    aggregates: tuple[Aggregate, ...]
    monotonic: bool = False
    expected_group_size: Natural | None = None


class Order(Message, frozen=True, array_like=True):
    """Order by one column. By default ascending with NULLs last, descending with NULLs first."""

    column: Natural
    descending: bool = False
    nulls_first: bool = False


class TopK(RelationStruct, frozen=True, tag="top_k", tag_field="tag"):
    """In each group, the rows from ``offset`` to ``offset + limit`` in this order; ties are ordered by whole row."""

    input: Relation
    group_by: tuple[Natural, ...]
    order_by: tuple[Order, ...]
    limit: Natural | None = None
    offset: Natural = 0
    monotonic: bool = False


class Distinct(RelationStruct, frozen=True, tag="distinct", tag_field="tag"):
    """Each different row once; ``project`` keeps only these expressions (all columns when None)."""

    input: Relation
    project: tuple[Scalar, ...] | None = None


class Negate(RelationStruct, frozen=True, tag="negate", tag_field="tag"):
    input: Relation


class Threshold(RelationStruct, frozen=True, tag="threshold", tag_field="tag"):
    """Only the rows whose multiplicity is positive."""

    input: Relation


class Union(RelationStruct, frozen=True, tag="union", tag_field="tag"):
    inputs: tuple[Relation, ...]


class ArrangeBy(RelationStruct, frozen=True, tag="arrange_by", tag_field="tag"):
    """The same rows; a hint that arrangements by these keys pay off."""

    input: Relation
    keys: tuple[tuple[Scalar, ...], ...]


Relation = (
    Constant
    | Get
    | GetLocal
    | Let
    | LetRec
    | Project
    | Map
    | Filter
    | FlatMap
    | Join
    | Reduce
    | TopK
    | Distinct
    | Negate
    | Threshold
    | Union
    | ArrangeBy
)
