"""Local bindings before lowering: one flat list with unique names, in dependency order.

Every binding that remains is used more than once (or is too deep to stand elsewhere), so it is planned as one shared
piece of work; repeated subexpressions become bindings too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...messages.relations import (
    Constant,
    Distinct,
    FlatMap,
    Get,
    GetLocal,
    Join,
    Let,
    LetRec,
    Reduce,
    Relation,
    Threshold,
    TopK,
)
from .errors import UnsupportedPlanError
from .mfp import is_row_by_row
from .trees import MAX_DEPTH, height, postorder, relation_inputs, with_inputs


@dataclass(frozen=True, slots=True)
class Bindings:
    """Values by name, each referring to earlier ones only, and the body."""

    values: dict[str, Relation]
    body: Relation

    def expressions(self) -> list[Relation]:
        """The values in order, then the body."""
        return [*self.values.values(), self.body]


def flatten(relation: Relation) -> Bindings:
    """All bindings of an expression, renamed apart.

    Raises:
        UnsupportedPlanError: it has recursive bindings.
        PlanDepthError: it is nested too deep.
    """
    nodes = postorder(relation)
    if not any(isinstance(node, (Let, LetRec)) for node in nodes):
        return Bindings({}, relation)
    if any(isinstance(node, LetRec) for node in nodes):
        raise UnsupportedPlanError(
            "With Mutually Recursive cannot be executed yet: express it without recursion, or keep it as text"
        )
    values: dict[str, Relation] = {}
    return Bindings(values, _flatten(relation, {}, values))


def _flatten(node: Relation, scope: Mapping[str, str], values: dict[str, Relation]) -> Relation:
    match node:
        case GetLocal(name):
            return GetLocal(scope.get(name, name))
        case Let(bindings, body):
            inner = dict(scope)
            for binding in bindings:
                value = _flatten(binding.value, inner, values)
                inner[binding.name] = _fresh(binding.name, values)
                values[inner[binding.name]] = value
            return _flatten(body, inner, values)
        case _:
            return with_inputs(node, tuple([_flatten(input, scope, values) for input in relation_inputs(node)]))


def _fresh(name: str, taken: Iterable[str]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate


def share(bindings: Bindings) -> Bindings:
    """Work that is written several times becomes a binding: what keeps state, not what is done row by row."""
    counts: Counter[Relation] = Counter()
    for expression in bindings.expressions():
        counts.update(node for node in _walk(expression) if _keeps_state(node))
    if not any(count > 1 for count in counts.values()):
        return bindings
    values: dict[str, Relation] = {}
    names: dict[Relation, str] = {}

    def visit(node: Relation) -> Relation:
        inputs = tuple([visit(input) for input in relation_inputs(node)])
        rewritten = with_inputs(node, inputs)
        if not _keeps_state(node) or counts[node] < 2:
            return rewritten
        if node not in names:
            names[node] = _fresh(f"l{len(values)}", {*bindings.values, *values})
            values[names[node]] = rewritten
        return GetLocal(names[node])

    for name, value in bindings.values.items():
        values[name] = visit(value)
    return Bindings(values, visit(bindings.body))


def _keeps_state(node: Relation) -> bool:
    return isinstance(node, (Join, Reduce, TopK, Distinct, Threshold, FlatMap))


def _walk(relation: Relation) -> Iterable[Relation]:
    stack = [relation]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(relation_inputs(node))


def inline(bindings: Bindings) -> Bindings:
    """Without the bindings that are not used, used once, or only pick rows and columns of something else."""
    if not bindings.values:
        return bindings
    uses = _uses(bindings.body)
    for name, value in reversed(bindings.values.items()):
        if uses[name]:
            uses.update(_uses(value))
    kept: dict[str, Relation] = {}
    replaced: dict[str, Relation] = {}

    def expand(expression: Relation) -> Relation:
        expanded = _replace(expression, replaced)
        if height(expanded) <= MAX_DEPTH:
            return expanded
        kept.update({name: replaced.pop(name) for name in _uses(expression) if name in replaced})
        return expression

    for name, value in bindings.values.items():
        if not uses[name]:
            continue
        expanded = expand(value)
        (replaced if uses[name] == 1 or _is_cheap(expanded) else kept)[name] = expanded
    return Bindings(kept, expand(bindings.body))


def _uses(expression: Relation) -> Counter[str]:
    return Counter(node.name for node in _walk(expression) if isinstance(node, GetLocal))


def _replace(node: Relation, values: Mapping[str, Relation]) -> Relation:
    if isinstance(node, GetLocal):
        return values.get(node.name, node)
    return with_inputs(node, tuple([_replace(input, values) for input in relation_inputs(node)]))


def _is_cheap(value: Relation) -> bool:
    while is_row_by_row(value):
        (value,) = relation_inputs(value)
    return isinstance(value, (Constant, Get, GetLocal))
