"""Queries that need no dataflow: row by row over one collection that is indexed or stored."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...dataflow.plans.mfp import compose, of_node
from ...dataflow.plans.typing import extend_types
from ...messages.commands import IndexTarget, ShardTarget
from ...messages.ids import GlobalId
from ...messages.plans import MapFilterProject
from ...messages.relations import ArrangeBy, Filter, Get, Map, Project, Relation
from ...messages.scalars import Call, Literal, Scalar
from ..requests import CollectionInfo, CollectionKind
from .catalog import Catalog

Keys = tuple[tuple[Literal, ...], ...]


class PeekPlan(msgspec.Struct, frozen=True):
    """What to read, which keys of it (None: all), and what to do to each row."""

    target: IndexTarget | ShardTarget
    keys: Keys | None
    mfp: MapFilterProject | None

    @property
    def reads(self) -> GlobalId:
        return self.target.id


def peek_plan(relation: Relation, catalog: Catalog) -> PeekPlan | None:
    """How to answer a query by a peek alone; None when it takes a dataflow."""
    nodes: list[Map | Filter | Project] = []
    while True:
        match relation:
            case Map() | Filter() | Project():
                nodes.append(relation)
                relation = relation.input
            case ArrangeBy(input):
                relation = input
            case Get(id):
                info = catalog.get(id)
                if catalog.indexes(id):
                    return _index_plan(info, catalog.indexes(id), _program(info, nodes))
                if info.kind in (CollectionKind.TABLE, CollectionKind.MATERIALIZED_VIEW):
                    mfp = _program(info, nodes)
                    return PeekPlan(ShardTarget(id), None, None if mfp.is_identity else mfp)
                if info.relation is None:
                    return None
                relation = info.relation
            case _:
                return None


def _program(info: CollectionInfo, nodes: Sequence[Map | Filter | Project]) -> MapFilterProject:
    mfp = MapFilterProject.identity(info.schema.arity)
    for node in reversed(nodes):
        mfp = compose(mfp, of_node(node, len(mfp.projection)))
    return mfp


def _index_plan(info: CollectionInfo, indexes: Sequence[CollectionInfo], mfp: MapFilterProject) -> PeekPlan:
    program = None if mfp.is_identity else mfp
    for index in indexes:
        keys = literal_keys(mfp.predicates, index)
        if keys is not None:
            return PeekPlan(IndexTarget(index.id), keys, program)
    return PeekPlan(IndexTarget(indexes[0].id), None, program)


def literal_keys(predicates: Sequence[Scalar], index: CollectionInfo) -> Keys | None:
    """The keys that rows must have for all predicates to be true; None when the predicates leave them open.

    They do not when for every part of the key one says that it equals a literal of its type, or, for a key of one part,
    that it equals one of several literals.
    """
    if not index.key:
        return None
    types = extend_types(index.schema.types, index.key)[index.schema.arity :]
    allowed: dict[Scalar, list[Literal]] = {}
    for predicate in predicates:
        for part, type in zip(index.key, types, strict=True):
            literals = _literals(predicate, part)
            if literals is not None and all(literal.type is type.type for literal in literals):
                allowed.setdefault(part, literals)
    if any(part not in allowed for part in index.key):
        return None
    if len(index.key) == 1:
        return tuple((literal,) for literal in dict.fromkeys(allowed[index.key[0]]))
    if any(len(allowed[part]) != 1 for part in index.key):
        return None
    return (tuple(allowed[part][0] for part in index.key),)


def _literals(predicate: Scalar, part: Scalar) -> list[Literal] | None:
    """The literals one of which ``part`` must equal for the predicate to be true."""
    match predicate:
        case Call("=", (left, Literal() as literal)) if left == part and literal.raw is not None:
            return [literal]
        case Call("=", (Literal() as literal, right)) if right == part and literal.raw is not None:
            return [literal]
        case Call("or", arguments):
            found: list[Literal] = []
            for argument in arguments:
                literals = _literals(argument, part)
                if literals is None:
                    return None
                found += literals
            return found
        case _:
            return None
