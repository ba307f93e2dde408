"""Queries that need no dataflow: row by row over one collection that is indexed or stored."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...dataflow.plans.constraints import Keys, extract_literal_constraints
from ...dataflow.plans.mfp import compose, of_node
from ...messages.commands import IndexTarget, ShardTarget
from ...messages.ids import GlobalId
from ...messages.plans import MapFilterProject
from ...messages.relations import ArrangeBy, Filter, Get, Map, Project, Relation
from ..requests import CollectionInfo, CollectionKind
from .catalog import Catalog


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
    for index in indexes:
        found = extract_literal_constraints(mfp, index.key, info.schema.types)
        if found is not None:
            keys, rest = found
            return PeekPlan(IndexTarget(index.id), keys, None if rest.is_identity else rest)
    return PeekPlan(IndexTarget(indexes[0].id), None, None if mfp.is_identity else mfp)
