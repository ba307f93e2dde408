"""Joins of joins as one join of many inputs, so that the best order among all of them can be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...messages.plans import MapFilterProject
from ...messages.relations import ArrangeBy, Filter, Join, Map, Project, Relation
from ...messages.scalars import ColumnRef, Scalar
from .failing import may_fail
from .mfp import compose, from_expressions, inline, inlined, of_node
from .trees import substitute
from .type_table import TypeTable
from .typing import Types

Classes = tuple[tuple[Scalar, ...], ...]


@dataclass(frozen=True, slots=True)
class FlatJoin:
    """One join: ``classes`` are equal expressions over the inputs' columns side by side; ``mfp`` is on top of it."""

    inputs: tuple[Relation, ...]
    types: Types
    classes: Classes
    mfp: MapFilterProject


def flatten_join(join: Join, table: TypeTable, mfp: MapFilterProject) -> FlatJoin:
    """The join and the joins among its inputs, also those below Map, Filter and Project, which move above it.

    What moves up sees fewer rows than as written, so it adds no errors.
    """
    inputs: list[Relation] = []
    types: list[Types] = []
    classes: list[tuple[Scalar, ...]] = []
    predicates: list[Scalar] = []
    outputs: list[Scalar] = []
    offset = 0
    for input in join.inputs:
        inner = _inner_join(input, table)
        expressions = None if inner is None else _expressions(inner, offset)
        if inner is None or expressions is None:
            inputs.append(input)
            types.append(table.types(input))
            outputs += [ColumnRef(offset + column) for column in range(table.arity(input))]
            offset += table.arity(input)
            continue
        inner_predicates, inner_outputs = expressions
        inputs += inner.inputs
        types.append(inner.types)
        classes += [tuple([_shift(member, offset) for member in members]) for members in inner.classes]
        predicates += inner_predicates
        outputs += inner_outputs
        offset += len(inner.types)
    all_types = tuple([type for part in types for type in part])
    moved = None if len(inputs) == len(join.inputs) else _moved(join.equivalences, outputs, all_types)
    if moved is None:
        return FlatJoin(join.inputs, table.types(join), join.equivalences, mfp)
    above = compose(from_expressions(offset, predicates, outputs), mfp)
    return FlatJoin(tuple(inputs), all_types, (*classes, *moved), above)


def _moved(classes: Classes, outputs: Sequence[Scalar], types: Types) -> list[tuple[Scalar, ...]] | None:
    """The classes over the inputs of the joins below. An expression that can fail is not moved, because then it would
    be evaluated for rows that have no match there."""
    moved: list[tuple[Scalar, ...]] = []
    for members in classes:
        found = [inline(member, outputs) for member in members]
        if any(member is None or may_fail(member, types) for member in found):
            return None
        moved.append(tuple([member for member in found if member is not None]))
    return moved


def _inner_join(relation: Relation, table: TypeTable) -> FlatJoin | None:
    """The join that an input is, with what is done to it row by row."""
    nodes: list[Map | Filter | Project] = []
    while isinstance(relation, (Map, Filter, Project, ArrangeBy)):
        if not isinstance(relation, ArrangeBy):
            nodes.append(relation)
        relation = relation.input
    if not isinstance(relation, Join):
        return None
    mfp = MapFilterProject.identity(table.arity(relation))
    for node in reversed(nodes):
        mfp = compose(mfp, of_node(node, len(mfp.projection)))
    return flatten_join(relation, table, mfp)


def _expressions(inner: FlatJoin, offset: int) -> tuple[list[Scalar], list[Scalar]] | None:
    """The predicates and the outputs of what is on top of a join, over its columns from ``offset`` on; None when they
    would be too large."""
    extended = inlined(inner.mfp)
    predicates = [inline(predicate, extended) for predicate in inner.mfp.predicates]
    outputs = [extended[column] for column in inner.mfp.projection]
    if None in predicates or None in outputs:
        return None
    return (
        [_shift(scalar, offset) for scalar in predicates if scalar is not None],
        [_shift(scalar, offset) for scalar in outputs if scalar is not None],
    )


def _shift(scalar: Scalar, offset: int) -> Scalar:
    return substitute(scalar, lambda column: ColumnRef(column + offset))
