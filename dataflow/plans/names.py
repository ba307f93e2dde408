"""What columns are called, as far as the names of the collections that an expression reads reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...messages.ids import GlobalId
from ...messages.plans import (
    Arrange,
    ConstantNode,
    FlatMapNode,
    GetNode,
    ImportIndex,
    JoinNode,
    MapFilterProject,
    Mfp,
    NegateNode,
    PlanNode,
    ReduceNode,
    ThresholdNode,
    TopKNode,
    UnionNode,
)
from ...messages.relations import (
    Aggregate,
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
from ...messages.scalars import Cast, ColumnRef, Scalar
from ...messages.types import ColumnType, Field, Schema
from .print_scalar import Names
from .trees import relation_inputs

Schemas = Mapping[GlobalId, Schema]


def scalar_name(scalar: Scalar, names: Names) -> str | None:
    """A column keeps its name, also when it is cast."""
    match scalar:
        case ColumnRef(index):
            return names[index] if index < len(names) else None
        case Cast(input):
            return scalar_name(input, names)
        case _:
            return None


def aggregate_name(aggregate: Aggregate, names: Names) -> str:
    """``count``, ``sum_amount``."""
    function = aggregate.function if aggregate.user is None else aggregate.user.name
    input = None if aggregate.input is None else scalar_name(aggregate.input, names)
    return function if input is None else f"{function}_{input}"


def mfp_names(mfp: MapFilterProject, names: Names) -> Names:
    """The names of what a row-by-row program puts out."""
    extended = extend_names(names, mfp.scalars)
    return tuple([extended[column] for column in mfp.projection])


def extend_names(names: Names, scalars: Sequence[Scalar]) -> Names:
    """The names of columns with expressions appended."""
    extended = list(names)
    for scalar in scalars:
        extended.append(scalar_name(scalar, extended))
    return tuple(extended)


def fit_names(names: Names, arity: int) -> Names:
    """So many names, the rest unknown."""
    return (*names[:arity], *[None] * (arity - len(names)))


def schema_from_names(names: Names, types: Sequence[ColumnType]) -> Schema:
    """A schema with these names, made unique; ``c0``, ``c1``, … where a name is unknown."""
    fields = zip(_unique(names), types, strict=True)
    return Schema(tuple([Field(name, type.type, type.nullable) for name, type in fields]))


def _unique(names: Names) -> list[str]:
    chosen: list[str] = []
    for position, name in enumerate(names):
        candidate = base = name or f"c{position}"
        number = 1
        while candidate in chosen:
            candidate, number = f"{base}_{number}", number + 1
        chosen.append(candidate)
    return chosen


class RelationNames:
    """The names of the columns of the nodes of one expression, and of what their scalars refer to."""

    def __init__(self, relation: Relation, schemas: Schemas) -> None:
        self._schemas = schemas
        self._names: dict[int, Names] = {}
        self._visit(relation, {})

    def columns(self, node: Relation) -> Names:
        """The names of a node's columns."""
        return self._names[id(node)]

    def referred(self, node: Relation) -> Names:
        """The names of the columns that the node's own expressions refer to."""
        inputs = tuple([name for input in relation_inputs(node) for name in self._names[id(input)]])
        return extend_names(inputs, node.scalars) if isinstance(node, Map) else inputs

    def _visit(self, node: Relation, scope: Mapping[str, Names]) -> Names:
        names = self._node(node, scope)
        self._names[id(node)] = names
        return names

    def _node(self, node: Relation, scope: Mapping[str, Names]) -> Names:
        match node:
            case Constant(types):
                return (None,) * len(types)
            case Get(id):
                return self._schemas[id].names if id in self._schemas else ()
            case GetLocal(name):
                return scope.get(name, ())
            case Let(bindings, body):
                inner = dict(scope)
                for binding in bindings:
                    inner[binding.name] = self._visit(binding.value, inner)
                return self._visit(body, inner)
            case LetRec(bindings, body):
                inner = {**scope, **{binding.name: (None,) * len(binding.types) for binding in bindings}}
                for binding in bindings:
                    inner[binding.name] = self._visit(binding.value, inner)
                return self._visit(body, inner)
            case Join(inputs):
                return tuple([name for input in inputs for name in self._visit(input, scope)])
            case Union(inputs):
                columns = [self._visit(input, scope) for input in inputs]
                return columns[0] if columns else ()
            case _:
                return _over(node, self._visit(node.input, scope))


def _over(
    node: Project | Map | Filter | FlatMap | Reduce | TopK | Distinct | Negate | Threshold | ArrangeBy, names: Names
) -> Names:
    match node:
        case Project(_, columns):
            return tuple([names[column] if column < len(names) else None for column in columns])
        case Map(_, scalars):
            return extend_names(names, scalars)
        case FlatMap(_, function):
            return (*names, function.name)
        case Reduce(_, group_by, aggregates):
            keys = [scalar_name(key, names) for key in group_by]
            return (*keys, *[aggregate_name(aggregate, names) for aggregate in aggregates])
        case Distinct(_, project):
            return names if project is None else tuple([scalar_name(scalar, names) for scalar in project])
        case Filter() | TopK() | Negate() | Threshold() | ArrangeBy():
            return names


def node_names(node: PlanNode, inputs: Sequence[Names], collection: Callable[[GlobalId], Names]) -> Names:
    """The names of a plan node's columns, given those of its inputs. ``collection``: of an imported or built id."""
    match node:
        case ConstantNode(types):
            return (None,) * len(types)
        case GetNode(_, id) | ImportIndex(_, id):
            return fit_names(collection(id), len(node.types))
        case Mfp():
            return mfp_names(node.mfp, inputs[0])
        case JoinNode():
            return mfp_names(node.mfp, (*inputs[0], *inputs[1]))
        case FlatMapNode():
            return fit_names((*inputs[0], node.function.name), len(node.types))
        case ReduceNode(_, _, key, aggregates):
            keys = [scalar_name(scalar, inputs[0]) for scalar in key]
            return (*keys, *[aggregate_name(planned.aggregate, inputs[0]) for planned in aggregates])
        case UnionNode():
            return inputs[0]
        case Arrange() | TopKNode() | NegateNode() | ThresholdNode():
            return inputs[0]
