"""Composing and simplifying ``MapFilterProject``: the form in which everything row by row is planned and executed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...messages.plans import MapFilterProject
from ...messages.relations import Filter, Map, Project, Relation
from ...messages.scalars import ColumnRef, Literal, Scalar
from ...messages.types import ColumnType
from .trees import columns_of, substitute, walk_scalar
from .typing import extend_types

MAX_INLINED = 50
"""How many parts an expression may have that stands for a column elsewhere."""


def of_node(node: Map | Filter | Project, arity: int) -> MapFilterProject:
    """One row-by-row node over an input of this arity."""
    match node:
        case Map(_, scalars):
            return MapFilterProject(arity, scalars, projection=tuple(range(arity + len(scalars))))
        case Filter(_, predicates):
            return MapFilterProject(arity, predicates=predicates, projection=tuple(range(arity)))
        case Project(_, columns):
            return MapFilterProject(arity, projection=columns)


def is_row_by_row(node: Relation) -> bool:
    """Whether the node is one that :func:`of_node` takes."""
    return isinstance(node, (Map, Filter, Project))


def mfp_types(mfp: MapFilterProject, types: Sequence[ColumnType]) -> tuple[ColumnType, ...]:
    """The types of its output over columns of these types."""
    if not mfp.scalars:
        return tuple([types[column] for column in mfp.projection])
    extended = extend_types(tuple(types), mfp.scalars)
    return tuple([extended[column] for column in mfp.projection])


def compose(first: MapFilterProject, second: MapFilterProject) -> MapFilterProject:
    """The two, one after the other, as one."""
    if first.is_identity:
        return simplify(second)
    if second.is_identity:
        return simplify(first)
    base = first.arity + len(first.scalars)

    def place(column: int) -> int:
        return first.projection[column] if column < second.arity else base + column - second.arity

    def move(scalar: Scalar) -> Scalar:
        return substitute(scalar, lambda column: ColumnRef(place(column)))

    return simplify(
        MapFilterProject(
            first.arity,
            first.scalars + tuple([move(scalar) for scalar in second.scalars]),
            first.predicates + tuple([move(predicate) for predicate in second.predicates]),
            tuple([place(column) for column in second.projection]),
        )
    )


def with_predicates(mfp: MapFilterProject, predicates: Iterable[Scalar]) -> MapFilterProject:
    """The same with further predicates over the extended row."""
    added = tuple(predicates)
    if not added:
        return mfp
    return MapFilterProject(mfp.arity, mfp.scalars, mfp.predicates + added, mfp.projection)


def simplify(mfp: MapFilterProject) -> MapFilterProject:
    """The same function of a row, without expressions that nobody reads, that repeat one another or that only name
    another column. An expression that nobody reads is not evaluated, so it raises no error either."""
    if not mfp.scalars:
        predicates = _distinct_predicates(mfp.predicates)
        return mfp if predicates == mfp.predicates else MapFilterProject(mfp.arity, (), predicates, mfp.projection)
    place: list[Scalar] = [ColumnRef(column) for column in range(mfp.arity)]
    scalars: list[Scalar] = []
    positions: dict[Scalar, Scalar] = {}
    for scalar in mfp.scalars:
        moved = substitute(scalar, place.__getitem__)
        if not isinstance(moved, ColumnRef) and moved not in positions:
            positions[moved] = ColumnRef(mfp.arity + len(scalars))
            scalars.append(moved)
        place.append(moved if isinstance(moved, ColumnRef) else positions[moved])
    predicates = tuple([substitute(predicate, place.__getitem__) for predicate in mfp.predicates])
    projection = tuple([_index(place[column]) for column in mfp.projection])
    return _without_unread(mfp.arity, scalars, _distinct_predicates(predicates), projection)


def demand(mfp: MapFilterProject) -> tuple[int, ...]:
    """The input columns that it reads, ascending. It has no unread expressions."""
    read = {column for column in mfp.projection if column < mfp.arity}
    for scalar in (*mfp.scalars, *mfp.predicates):
        read.update([column for column in columns_of(scalar) if column < mfp.arity])
    return tuple(sorted(read))


def narrow(mfp: MapFilterProject, columns: Sequence[int]) -> MapFilterProject:
    """The same over a row of only these input columns, among which are all that it reads."""
    if tuple(columns) == tuple(range(mfp.arity)):
        return mfp
    places = {column: position for position, column in enumerate(columns)}
    places.update({mfp.arity + position: len(columns) + position for position in range(len(mfp.scalars))})
    return renumber(mfp, len(columns), places)


def renumber(mfp: MapFilterProject, arity: int, places: Mapping[int, int]) -> MapFilterProject:
    """The same over a row of another arity, in which the columns stand at other places."""

    def move(scalar: Scalar) -> Scalar:
        return substitute(scalar, lambda column: ColumnRef(places[column]))

    return MapFilterProject(
        arity,
        tuple([move(scalar) for scalar in mfp.scalars]),
        tuple([move(predicate) for predicate in mfp.predicates]),
        tuple([places[column] for column in mfp.projection]),
    )


def inlined(mfp: MapFilterProject) -> list[Scalar | None]:
    """For each column of the extended row, the expression over input columns that it stands for; None where that would
    be too large, because expressions that repeat one another can double in size at every step."""
    expressions: list[Scalar | None] = [ColumnRef(column) for column in range(mfp.arity)]
    for scalar in mfp.scalars:
        expressions.append(inline(scalar, expressions))
    return expressions


def inline(scalar: Scalar, expressions: Sequence[Scalar | None]) -> Scalar | None:
    """The expression with columns replaced by expressions; None when one is missing or it would be too large."""
    read = columns_of(scalar)
    if all(isinstance(expressions[column], ColumnRef) for column in read):
        return substitute(scalar, lambda column: expressions[column] or ColumnRef(column))
    parts = 0
    for part in walk_scalar(scalar):
        replacement = expressions[part.index] if isinstance(part, ColumnRef) else part
        if replacement is None:
            return None
        parts += sum(1 for _ in walk_scalar(replacement)) if isinstance(part, ColumnRef) else 1
        if parts > MAX_INLINED:
            return None
    return substitute(scalar, lambda column: expressions[column] or ColumnRef(column))


def from_expressions(arity: int, predicates: Iterable[Scalar], outputs: Sequence[Scalar]) -> MapFilterProject:
    """Keep rows of this arity for which the predicates hold, and output these expressions over its columns."""
    scalars: list[Scalar] = []
    projection: list[int] = []
    for output in outputs:
        if isinstance(output, ColumnRef):
            projection.append(output.index)
            continue
        if output not in scalars:
            scalars.append(output)
        projection.append(arity + scalars.index(output))
    return MapFilterProject(arity, tuple(scalars), _distinct_predicates(predicates), tuple(projection))


def never(mfp: MapFilterProject) -> bool:
    """Whether no row can pass, which is seen from a predicate that is constantly false or NULL."""
    return any(isinstance(predicate, Literal) and not predicate.raw for predicate in mfp.predicates)


def _index(scalar: Scalar) -> int:
    assert isinstance(scalar, ColumnRef)
    return scalar.index


def _distinct_predicates(predicates: Iterable[Scalar]) -> tuple[Scalar, ...]:
    kept = dict.fromkeys(predicates)
    return tuple([scalar for scalar in kept if not (isinstance(scalar, Literal) and scalar.raw is True)])


def _without_unread(
    arity: int, scalars: Sequence[Scalar], predicates: tuple[Scalar, ...], projection: tuple[int, ...]
) -> MapFilterProject:
    read = set(projection).union(*[columns_of(predicate) for predicate in predicates])
    for position in range(arity + len(scalars) - 1, arity - 1, -1):
        if position in read:
            read |= columns_of(scalars[position - arity])
    kept = [position for position in range(arity, arity + len(scalars)) if position in read]
    if len(kept) == len(scalars):
        return MapFilterProject(arity, tuple(scalars), predicates, projection)
    places = {column: column for column in range(arity)}
    places.update({position: arity + new for new, position in enumerate(kept)})

    def move(scalar: Scalar) -> Scalar:
        return substitute(scalar, lambda column: ColumnRef(places[column]))

    return MapFilterProject(
        arity,
        tuple([move(scalars[position - arity]) for position in kept]),
        tuple([move(predicate) for predicate in predicates]),
        tuple([places[column] for column in projection]),
    )
