"""Walking relational and scalar expressions. Nothing here recurses deeper than :data:`MAX_DEPTH`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ...messages.relations import (
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
    LetRec,
    Map,
    Negate,
    Project,
    RecursiveBinding,
    Reduce,
    Relation,
    Threshold,
    TopK,
    Union,
)
from ...messages.scalars import Call, CallUser, Cast, ColumnRef, If, Literal, LiteralError, Scalar
from .errors import PlanDepthError

MAX_DEPTH = 150
"""How deep relations may nest, and scalars within each: a bound that keeps every pass within Python's own limit."""

MAX_PARTS = 100_000
"""How many parts one relation or one scalar may have, a part that is shared counted wherever it occurs."""


def relation_inputs(relation: Relation) -> tuple[Relation, ...]:
    """The relations directly below; for local bindings their values in order, then the body."""
    return _INPUTS[type(relation)](relation)


def _no_input(_: Any) -> tuple[Relation, ...]:
    return ()


def _one_input(relation: Any) -> tuple[Relation, ...]:
    return (relation.input,)


def _all_inputs(relation: Any) -> tuple[Relation, ...]:
    return relation.inputs


def _bound_inputs(relation: Any) -> tuple[Relation, ...]:
    return (*[binding.value for binding in relation.bindings], relation.body)


_INPUTS: dict[type, Callable[[Any], tuple[Relation, ...]]] = {
    **dict.fromkeys((Constant, Get, GetLocal), _no_input),
    **dict.fromkeys((Let, LetRec), _bound_inputs),
    **dict.fromkeys((Join, Union), _all_inputs),
    **dict.fromkeys((Project, Map, Filter, FlatMap, Reduce), _one_input),
    **dict.fromkeys((TopK, Distinct, Negate, Threshold, ArrangeBy), _one_input),
}


def with_inputs(relation: Relation, inputs: tuple[Relation, ...]) -> Relation:
    """The same node over other inputs, in the order of :func:`relation_inputs`."""
    if inputs == () or all(new is old for new, old in zip(inputs, relation_inputs(relation), strict=True)):
        return relation
    match relation:
        case Constant() | Get() | GetLocal():
            return relation
        case Let(bindings):
            values = zip(bindings, inputs[:-1], strict=True)
            return Let(tuple(Binding(binding.name, value) for binding, value in values), inputs[-1])
        case LetRec(bindings):
            values = zip(bindings, inputs[:-1], strict=True)
            recursive = tuple(RecursiveBinding(binding.name, binding.types, value) for binding, value in values)
            return msgspec.structs.replace(relation, bindings=recursive, body=inputs[-1])
        case Join() | Union():
            return msgspec.structs.replace(relation, inputs=inputs)
        case _:
            return msgspec.structs.replace(relation, input=inputs[0])


def relation_scalars(relation: Relation) -> tuple[Scalar, ...]:
    """The scalar expressions that the node itself evaluates."""
    match relation:
        case Map(_, scalars) | Filter(_, scalars):
            return scalars
        case FlatMap(_, _, arguments):
            return arguments
        case Join(_, groups) | ArrangeBy(_, groups):
            return tuple(member for group in groups for member in group)
        case Reduce(_, group_by, aggregates):
            inputs = tuple(aggregate.input for aggregate in aggregates if aggregate.input is not None)
            return group_by + inputs
        case Distinct(_, project):
            return project or ()
        case Constant() | Get() | GetLocal() | Let() | LetRec() | Project() | TopK() | Negate() | Threshold() | Union():
            return ()


def scalar_inputs(scalar: Scalar) -> tuple[Scalar, ...]:
    """The expressions directly below."""
    match scalar:
        case Call(_, arguments) | CallUser(_, arguments):
            return arguments
        case Cast(input):
            return (input,)
        case If(condition, then, otherwise):
            return (condition, then, otherwise)
        case ColumnRef() | Literal() | LiteralError():
            return ()


def rewrite_scalar(scalar: Scalar, replace: Callable[[Scalar], Scalar | None]) -> Scalar:
    """The expression with every part for which ``replace`` gives another one replaced, outermost first."""
    replacement = replace(scalar)
    if replacement is not None:
        return replacement
    match scalar:
        case Call(function, arguments):
            return Call(function, tuple([rewrite_scalar(argument, replace) for argument in arguments]))
        case CallUser(function, arguments):
            return CallUser(function, tuple([rewrite_scalar(argument, replace) for argument in arguments]))
        case Cast(input, type):
            return Cast(rewrite_scalar(input, replace), type)
        case If(condition, then, otherwise):
            return If(*[rewrite_scalar(part, replace) for part in (condition, then, otherwise)])
        case ColumnRef() | Literal() | LiteralError():
            return scalar


def substitute(scalar: Scalar, columns: Callable[[int], Scalar]) -> Scalar:
    """The expression with every column reference replaced."""
    return rewrite_scalar(scalar, lambda part: columns(part.index) if isinstance(part, ColumnRef) else None)


def walk_scalar(scalar: Scalar) -> Iterator[Scalar]:
    """The expression and everything below it."""
    stack = [scalar]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(scalar_inputs(part))


def columns_of(scalar: Scalar) -> frozenset[int]:
    """The input columns that an expression reads."""
    if isinstance(scalar, ColumnRef):
        return frozenset((scalar.index,))
    return frozenset([part.index for part in walk_scalar(scalar) if isinstance(part, ColumnRef)])


def postorder(relation: Relation) -> list[Relation]:
    """The expression's nodes, inputs before what reads them, each object once.

    Raises:
        PlanDepthError: it, or a scalar in it, nests deeper than :data:`MAX_DEPTH` or has more than :data:`MAX_PARTS`
            parts.
    """
    order = in_order(relation)
    sizes: dict[int, tuple[int, int]] = {}
    for node in order:
        below = [sizes[id(input)] for input in relation_inputs(node)]
        depth = 1 + max((depth for depth, _ in below), default=0)
        parts = 1 + sum(parts for _, parts in below)
        if depth > MAX_DEPTH or parts > MAX_PARTS:
            limit = f"nests deeper than {MAX_DEPTH}" if depth > MAX_DEPTH else f"has more than {MAX_PARTS}"
            raise PlanDepthError(f"the relation {limit} nodes; divide it into several views")
        for scalar in relation_scalars(node):
            check_scalar_size(scalar)
        sizes[id(node)] = depth, parts
    return order


def free_locals(relation: Relation) -> set[str]:
    """The names that an expression uses and does not bind itself."""
    names: set[str] = set()
    stack: list[tuple[Relation, frozenset[str]]] = [(relation, frozenset())]
    while stack:
        node, bound = stack.pop()
        match node:
            case GetLocal(name):
                if name not in bound:
                    names.add(name)
            case Let(bindings, body):
                for binding in bindings:
                    stack.append((binding.value, bound))
                    bound |= {binding.name}
                stack.append((body, bound))
            case LetRec(bindings):
                bound |= {binding.name for binding in bindings}
                stack.extend((input, bound) for input in relation_inputs(node))
            case _:
                stack.extend((input, bound) for input in relation_inputs(node))
    return names


def height(relation: Relation) -> int:
    """How many nodes lie on the longest way down."""
    heights: dict[int, int] = {}
    for node in in_order(relation):
        heights[id(node)] = 1 + max((heights[id(input)] for input in relation_inputs(node)), default=0)
    return heights[id(relation)]


def in_order(relation: Relation) -> list[Relation]:
    """The expression's nodes as in :func:`postorder`, without checking anything."""
    order: list[Relation] = []
    done: set[int] = set()
    stack: list[tuple[Relation, bool]] = [(relation, False)]
    while stack:
        node, expanded = stack.pop()
        if id(node) in done:
            continue
        if expanded:
            done.add(id(node))
            order.append(node)
        else:
            stack.append((node, True))
            stack.extend((input, False) for input in reversed(relation_inputs(node)))
    return order


def check_scalar_size(scalar: Scalar) -> None:
    """Refuse an expression that nests deeper than :data:`MAX_DEPTH`, or has more than :data:`MAX_PARTS` parts.

    Raises:
        PlanDepthError: it does.
    """
    level = [scalar]
    depth = parts = 0
    while level:
        depth += 1
        parts += len(level)
        if depth > MAX_DEPTH or parts > MAX_PARTS:
            limit = f"nests deeper than {MAX_DEPTH} calls" if depth > MAX_DEPTH else f"has more than {MAX_PARTS} parts"
            raise PlanDepthError(
                f"the expression {limit}; divide it into several columns ('and' and 'or' take any number of arguments)"
            )
        level = [part for upper in level for part in scalar_inputs(upper)]
