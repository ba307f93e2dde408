"""Types of relational expressions: what a plan accepts and which columns it yields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...messages.errors import ExpressionError
from ...messages.ids import GlobalId
from ...messages.relations import (
    ArrangeBy,
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
    Reduce,
    Relation,
    Threshold,
    TopK,
    Union,
)
from ...messages.scalars import Call, Scalar
from ...messages.types import ColumnType, SqlType
from ..scalars.promotion import common_type
from ..scalars.typing import scalar_type as scalar_type
from .aggregates import aggregate_type
from .errors import RelationTypeError
from .print_relation import header, print_types
from .table_functions import table_function_types
from .trees import postorder

Types = tuple[ColumnType, ...]
Locals = Mapping[str, Types]


class UnknownTypesError(RelationTypeError):
    """A recursive binding whose types are neither declared nor known yet."""


def relation_types(relation: Relation, env: Mapping[GlobalId, Types], scope: Locals | None = None) -> Types:
    """The types of a relation's columns, given those of the collections that it may ``Get`` and of bindings around it.

    Raises:
        RelationTypeError: a node is ill-formed; the message names it, what was given and what was expected.
        PlanDepthError: the expression is nested too deep.
    """
    postorder(relation)
    return Typing(env).types(relation, scope or {})


class Typing:
    """Types of relations over collections of known types. Keeps nothing of what it types."""

    def __init__(self, env: Mapping[GlobalId, Types]) -> None:
        self.env = env

    def types(self, relation: Relation, scope: Locals) -> Types:
        """The types of a relation below bindings of these types."""
        match relation:
            case Let():
                return self._let(relation, scope)
            case LetRec():
                return self.types(relation.body, {**scope, **self._recursive(relation, scope)})
            case Union(inputs):
                return self._union(relation, inputs, scope)
            case Join(inputs):
                return self.node(relation, [self.types(input, scope) for input in inputs])
            case Constant() | Get():
                return self.node(relation, [])
            case GetLocal(name):
                if name not in scope:
                    raise RelationTypeError(header(relation), f"no enclosing With binds it; {_known('cte', scope)}")
                return scope[name]
            case _:
                return self.node(relation, [self.types(relation.input, scope)])

    def node(self, node: Relation, inputs: Sequence[Types]) -> Types:
        """The types of one node (no binding) over inputs of these types.

        Raises:
            RelationTypeError: it is ill-formed.
        """
        try:
            return _node_types(node, inputs, self.env)
        except RelationTypeError:
            raise
        except ExpressionError as error:
            raise RelationTypeError(header(node), str(error)) from error

    def _let(self, relation: Let, scope: Locals) -> Types:
        inner = dict(scope)
        _check_distinct(relation, [binding.name for binding in relation.bindings])
        for binding in relation.bindings:
            inner[binding.name] = self.types(binding.value, inner)
        return self.types(relation.body, inner)

    def _union(self, relation: Relation, inputs: Sequence[Relation], scope: Locals) -> Types:
        """A union types although some of its inputs are recursive bindings of yet unknown types."""
        known: list[Types] = []
        unknown: UnknownTypesError | None = None
        for input in inputs:
            try:
                known.append(self.types(input, scope))
            except UnknownTypesError as error:
                unknown = error
        if unknown is not None and not known:
            raise unknown
        return self.node(relation, known)

    def _recursive(self, relation: LetRec, scope: Locals) -> Locals:
        """The bindings' types: as declared, else the least that their values have."""
        names = [binding.name for binding in relation.bindings]
        _check_distinct(relation, names)
        declared = {binding.name: binding.types for binding in relation.bindings if binding.types}
        inner: dict[str, Types] = {**scope, **declared}
        undeclared = [binding for binding in relation.bindings if binding.name not in declared]
        for binding in undeclared:
            inner.pop(binding.name, None)
        waiting = {binding.name for binding in undeclared}
        while True:
            before = dict(inner)
            for binding in undeclared:
                try:
                    found = self.types(binding.value, _Waiting(inner, waiting - inner.keys()))
                except UnknownTypesError:
                    continue
                inner[binding.name] = _widen(inner.get(binding.name), found)
            if inner == before:
                break
        missing = sorted(waiting - inner.keys())
        if missing:
            raise RelationTypeError(header(relation), f"cte {missing[0]} needs an annotation of its types")
        for binding in relation.bindings:
            given = self.types(binding.value, inner)
            if not _fits(given, inner[binding.name]):
                expected = print_types(inner[binding.name])
                raise RelationTypeError(f"cte {binding.name}", f"expected types {expected}; given {print_types(given)}")
        return {name: inner[name] for name in names}


class _Waiting(dict[str, Types]):
    """A scope in which some names are bound but their types unknown."""

    def __init__(self, scope: Locals, waiting: Iterable[str]) -> None:
        super().__init__(scope)
        self._waiting = frozenset(waiting)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._waiting

    def __missing__(self, name: str) -> Types:
        raise UnknownTypesError(f"Get {name}", "its types are not known yet")


def _node_types(node: Relation, inputs: Sequence[Types], env: Mapping[GlobalId, Types]) -> Types:
    match node:
        case Constant():
            return _constant(node)
        case Get(id):
            if id not in env:
                raise ExpressionError(f"neither imported nor built; {_known('collection', map(str, env))}")
            return env[id]
        case Project(_, columns):
            return tuple(inputs[0][_column(column, inputs[0])] for column in columns)
        case Map(_, scalars):
            return extend_types(inputs[0], scalars)
        case Filter(_, predicates):
            for predicate in predicates:
                check_predicate(predicate, inputs[0])
            return inputs[0]
        case FlatMap(_, function, arguments):
            given = [scalar_type(argument, inputs[0]) for argument in arguments]
            return inputs[0] + table_function_types(function, given)
        case Join(_, equivalences):
            return _join(inputs, equivalences)
        case Reduce(_, group_by, aggregates):
            keys = tuple(scalar_type(key, inputs[0]) for key in group_by)
            return keys + tuple(aggregate_type(aggregate, inputs[0]) for aggregate in aggregates)
        case TopK():
            return _top_k(node, inputs[0])
        case Distinct(_, project):
            return inputs[0] if project is None else tuple(scalar_type(scalar, inputs[0]) for scalar in project)
        case Negate() | Threshold():
            return inputs[0]
        case Union():
            return _union_types(inputs)
        case ArrangeBy(_, keys):
            for key in keys:
                for scalar in key:
                    scalar_type(scalar, inputs[0])
            return inputs[0]
        case GetLocal() | Let() | LetRec():
            raise AssertionError("bindings are typed by their scope")


def extend_types(types: Types, scalars: Iterable[Scalar]) -> Types:
    """Columns of these types with expressions appended, each of which may refer to the ones before it.

    Raises:
        ExpressionError: an expression is ill-formed.
    """
    extended = list(types)
    for scalar in scalars:
        extended.append(scalar_type(scalar, extended))
    return tuple(extended)


def check_predicate(predicate: Scalar, types: Types) -> None:
    """Refuse a predicate that is not boolean.

    Raises:
        ExpressionError: it is not.
    """
    type = scalar_type(predicate, types)
    if type.type is not SqlType.BOOLEAN:
        try:
            # An expression that always fails fits in wherever a boolean is expected.
            scalar_type(Call("not", (predicate,)), types)
        except ExpressionError as error:
            raise ExpressionError(f"a predicate is boolean; given {type.type}") from error


def _constant(node: Constant) -> Types:
    if node.diffs and len(node.diffs) != len(node.rows):
        raise ExpressionError(f"{len(node.rows)} rows have {len(node.diffs)} multiplicities; give one each, or none")
    for row in node.rows:
        if len(row) != len(node.types):
            raise ExpressionError(f"a row of {len(row)} values: expected {len(node.types)}, {print_types(node.types)}")
        for literal, type in zip(row, node.types, strict=True):
            if literal.raw is None and not type.nullable:
                raise ExpressionError(f"NULL in a column of type {type}, which takes none")
            if literal.type is not type.type:
                raise ExpressionError(f"a value of type {literal.type} in a column of type {type}")
    return node.types


def _column(column: int, types: Types) -> int:
    if not 0 <= column < len(types):
        raise ExpressionError(f"there is no column #{column}: the input has {len(types)} columns, {print_types(types)}")
    return column


def _join(inputs: Sequence[Types], equivalences: Iterable[Sequence[Scalar]]) -> Types:
    if not inputs:
        raise ExpressionError("a join needs an input")
    types = tuple(type for input in inputs for type in input)
    for members in equivalences:
        given = [scalar_type(member, types) for member in members]
        if given and common_type(type.type for type in given) is None:
            shown = ", ".join(str(type.type) for type in given)
            raise ExpressionError(f"values of types {shown} are never equal; cast them to one type")
    return types


def _top_k(node: TopK, types: Types) -> Types:
    for column in node.group_by:
        _column(column, types)
    for order in node.order_by:
        _column(order.column, types)
    if node.limit is not None and node.limit < 0:
        raise ExpressionError(f"limit is at least 0; given {node.limit}")
    if node.offset < 0:
        raise ExpressionError(f"offset is at least 0; given {node.offset}")
    return types


def _union_types(inputs: Sequence[Types]) -> Types:
    if not inputs:
        raise ExpressionError("a union needs an input; an empty collection is a Constant without rows")
    result = inputs[0]
    for position, types in enumerate(inputs[1:], start=1):
        if [type.type for type in types] != [type.type for type in result]:
            shown = f"input {position} has {print_types(types)}, input 0 has {print_types(result)}"
            raise ExpressionError(f"all inputs have the same types: {shown}")
        result = _widen(result, types)
    return result


def _widen(left: Types | None, right: Types) -> Types:
    if left is None:
        return right
    return tuple(ColumnType(a.type, a.nullable or b.nullable) for a, b in zip(left, right, strict=False))


def _fits(given: Types, expected: Types) -> bool:
    return len(given) == len(expected) and all(
        a.type is b.type and (b.nullable or not a.nullable) for a, b in zip(given, expected, strict=True)
    )


def _check_distinct(relation: Relation, names: Sequence[str]) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise RelationTypeError(header(relation), f"cte {name} is bound twice")


def _known(kind: str, names: Iterable[str]) -> str:
    shown = ", ".join(names)
    return f"known: {shown}" if shown else f"no {kind} is known"
