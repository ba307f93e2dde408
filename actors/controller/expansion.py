"""From a relation over named collections to one over what is stored or indexed.

A view that has an index is read there; one that has none is expanded to its relation, once however often it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dataflow.plans.trees import relation_inputs, with_inputs
from ...messages.ids import GlobalId
from ...messages.relations import Binding, Get, GetLocal, Let, Relation
from ..requests import CollectionInfo, CollectionKind
from .catalog import Catalog


@dataclass(slots=True)
class Expanded:
    """``leaves`` are the collections that the relation reads: stored, or having an index."""

    relation: Relation
    leaves: list[CollectionInfo]


def expand(relation: Relation, catalog: Catalog) -> Expanded:
    """The relation with its views expanded."""
    expansion = _Expansion(catalog)
    body = expansion.visit(relation)
    bindings = tuple(expansion.bindings.values())
    return Expanded(Let(bindings, body) if bindings else body, list(expansion.leaves.values()))


@dataclass(slots=True)
class _Expansion:
    catalog: Catalog
    bindings: dict[GlobalId, Binding] = field(default_factory=dict[GlobalId, Binding])
    leaves: dict[GlobalId, CollectionInfo] = field(default_factory=dict[GlobalId, CollectionInfo])
    seen: dict[int, tuple[Relation, Relation]] = field(default_factory=dict[int, tuple[Relation, Relation]])
    """By the identity of a node: the node (kept alive) and what became of it; a shared node stays shared."""

    def visit(self, node: Relation) -> Relation:
        known = self.seen.get(id(node))
        if known is not None:
            return known[1]
        if isinstance(node, Get):
            result = self._get(node)
        else:
            result = with_inputs(node, tuple([self.visit(input) for input in relation_inputs(node)]))
        self.seen[id(node)] = node, result
        return result

    def _get(self, get: Get) -> Relation:
        info = self.catalog.get(get.id)
        if info.kind is not CollectionKind.VIEW or self.catalog.indexes(get.id):
            self.leaves[info.id] = info
            return get
        # No name that a user gives to a binding has a blank in it.
        name = f"view {info.id}"
        if info.id not in self.bindings:
            assert info.relation is not None, "a view has a relation"
            value = self.visit(info.relation)
            self.bindings[info.id] = Binding(name, value)
        return GetLocal(name)
