"""Types for constants that are NULL and were written without one.

In a text, ``null`` alone is a text. Where that does not fit and another type does, it takes that type: the one of the
arguments beside it, or of the other branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ...messages.errors import ExpressionError
from ...messages.ids import GlobalId
from ...messages.relations import (
    Distinct,
    Filter,
    FlatMap,
    GetLocal,
    Join,
    Let,
    LetRec,
    Map,
    Reduce,
    Relation,
)
from ...messages.scalars import Call, CallUser, Cast, ColumnRef, If, Literal, LiteralError, Scalar
from ...messages.types import ColumnType, SqlType
from ..scalars.functions import result_type
from ..scalars.promotion import promote
from ..scalars.typing import scalar_type
from .trees import relation_inputs, with_inputs
from .typing import Locals, Types, Typing, relation_types


def resolve_nulls(relation: Relation, env: Mapping[GlobalId, Types]) -> Relation:
    """The relation with a fitting type for every NULL that was written without one.

    Raises:
        RelationTypeError: a node is ill-formed in any case.
    """
    try:
        relation_types(relation, env)
        return relation
    except ExpressionError as error:
        first = error
    try:
        return _Resolver(env).relation(relation, {})[0]
    except ExpressionError:
        raise first from None


class _Resolver:
    def __init__(self, env: Mapping[GlobalId, Types]) -> None:
        self._typing = Typing(env)

    def relation(self, node: Relation, scope: Locals) -> tuple[Relation, Types]:
        match node:
            case Let(bindings, body):
                inner = dict(scope)
                values: list[Relation] = []
                for binding in bindings:
                    value, inner[binding.name] = self.relation(binding.value, inner)
                    values.append(value)
                result, types = self.relation(body, inner)
                return with_inputs(node, (*values, result)), types
            case LetRec() | GetLocal():
                return node, self._typing.types(node, scope)
            case _:
                inputs = [self.relation(input, scope) for input in relation_inputs(node)]
                types = [types for _, types in inputs]
                resolved = _resolve_node(with_inputs(node, tuple([input for input, _ in inputs])), types)
                return resolved, self._typing.node(resolved, types)


def _resolve_node(node: Relation, inputs: Sequence[Types]) -> Relation:
    types = tuple([type for input in inputs for type in input])
    match node:
        case Map(input, scalars):
            extended = list(types)
            resolved: list[Scalar] = []
            for scalar in scalars:
                resolved.append(_resolve(scalar, extended))
                extended.append(scalar_type(resolved[-1], extended))
            return Map(input, tuple(resolved))
        case Filter(input, predicates):
            return Filter(input, tuple([_as(_resolve(scalar, types), SqlType.BOOLEAN) for scalar in predicates]))
        case FlatMap(input, function, arguments):
            return FlatMap(input, function, _all(arguments, types))
        case Join(joined, classes):
            return Join(joined, tuple([_all(members, types) for members in classes]))
        case Distinct(input, project):
            return Distinct(input, None if project is None else _all(project, types))
        case Reduce(_, group_by, aggregates):
            resolved_aggregates = tuple(
                [
                    aggregate
                    if aggregate.input is None
                    else msgspec.structs.replace(aggregate, input=_resolve(aggregate.input, types))
                    for aggregate in aggregates
                ]
            )
            return msgspec.structs.replace(node, group_by=_all(group_by, types), aggregates=resolved_aggregates)
        case _:
            return node


def _all(scalars: Sequence[Scalar], types: Sequence[ColumnType]) -> tuple[Scalar, ...]:
    return tuple([_resolve(scalar, types) for scalar in scalars])


def _resolve(scalar: Scalar, types: Sequence[ColumnType]) -> Scalar:
    match scalar:
        case ColumnRef() | Literal() | LiteralError():
            return scalar
        case Cast(input, type):
            return Cast(_resolve(input, types), type)
        case CallUser(function, arguments):
            return CallUser(function, _all(arguments, types))
        case If(condition, then, otherwise):
            condition = _as(_resolve(condition, types), SqlType.BOOLEAN)
            then, otherwise = _resolve(then, types), _resolve(otherwise, types)
            pair = [scalar_type(branch, types).type for branch in (then, otherwise)]
            if promote(*pair) is None:
                then, otherwise = _as(then, pair[1]), _as(otherwise, pair[0])
            return If(condition, then, otherwise)
        case Call(function, arguments):
            return _resolve_call(Call(function, _all(arguments, types)), types)


def _resolve_call(call: Call, types: Sequence[ColumnType]) -> Call:
    given = [scalar_type(argument, types) for argument in call.arguments]
    others = [type.type for type, argument in zip(given, call.arguments, strict=True) if not _is_bare(argument)]
    for candidate in (SqlType.TEXT, *others, SqlType.BOOLEAN, SqlType.BIGINT, SqlType.TIMESTAMP):
        attempt = Call(call.function, tuple([_as(argument, candidate) for argument in call.arguments]))
        try:
            result_type(call.function, [scalar_type(argument, types) for argument in attempt.arguments])
        except ExpressionError:
            continue
        return attempt
    return call


def _is_bare(scalar: Scalar) -> bool:
    return isinstance(scalar, Literal) and scalar.raw is None and scalar.type is SqlType.TEXT


def _as(scalar: Scalar, type: SqlType) -> Scalar:
    return Literal(None, type) if _is_bare(scalar) else scalar
