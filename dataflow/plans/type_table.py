"""The types of every node of an expression with bindings, computed once."""

from __future__ import annotations

from collections.abc import Mapping

from ...messages.ids import GlobalId
from ...messages.relations import GetLocal, Relation
from .bindings import Bindings
from .trees import in_order, relation_inputs
from .typing import Types, Typing


class TypeTable:
    """Types by node. It knows the nodes of the expressions that it was made of, and no others."""

    def __init__(self, bindings: Bindings, env: Mapping[GlobalId, Types]) -> None:
        """Types everything.

        Raises:
            RelationTypeError: a node is ill-formed.
        """
        self._typing = Typing(env)
        # Nodes are told apart by identity, so they are kept alive as long as the table.
        self._nodes: list[Relation] = []
        self._types: dict[int, Types] = {}
        self._scope: dict[str, Types] = {}
        for name, value in bindings.values.items():
            self._scope[name] = self._add(value)
        self._add(bindings.body)

    def types(self, node: Relation) -> Types:
        """The types of a node's columns."""
        return self._types[id(node)]

    def arity(self, node: Relation) -> int:
        """How many columns a node has."""
        return len(self._types[id(node)])

    def local(self, name: str) -> Types:
        """The types of a binding's columns."""
        return self._scope[name]

    def _add(self, expression: Relation) -> Types:
        for node in in_order(expression):
            if isinstance(node, GetLocal):
                types = self._typing.types(node, self._scope)
            else:
                types = self._typing.node(node, [self._types[id(input)] for input in relation_inputs(node)])
            self._nodes.append(node)
            self._types[id(node)] = types
        return self._types[id(expression)]
