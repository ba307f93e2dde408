"""Lowering: from a dataflow as written to one that workers execute. Pure.

Optimized, Map, Filter and Project are fused, filters and column demand move down, joins are ordered by what is known
of their inputs, imported indexes serve instead of new arrangements, and equal work is done once. Otherwise every
operator is a node of its own and joins keep their order.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...messages.dataflows import BuildDesc, IndexImport, RelationDataflow, RenderDataflow
from ...messages.ids import GlobalId
from ...messages.plans import GetNode, ImportIndex, MapFilterProject, RenderPlan
from ...messages.relations import Relation
from .available import Available
from .bindings import Bindings, flatten, inline, share
from .errors import DescriptionError
from .graph import Bound, PlanGraph
from .lower_literal import LiteralLowering
from .lower_optimized import OptimizedLowering
from .merge_arrangements import merge_arrangements
from .print_relation import print_types
from .type_table import TypeTable
from .typing import Types


def lower(
    dataflow: RelationDataflow, available: Iterable[IndexImport] = (), *, optimize: bool = True
) -> RenderDataflow:
    """The render plan of every object of a dataflow.

    ``available`` are indexes that it may import beyond those it does; the ones that a plan uses become imports. When
    optimizing, imports that nothing uses are left out.

    Raises:
        RelationTypeError: an expression is ill-formed.
        PlanDepthError: an expression is nested too deep.
        UnsupportedPlanError: an expression uses what cannot be executed yet.
        DescriptionError: an object's expression has other types than its schema.
    """
    offered = tuple(available)
    access = Available(dataflow, offered)
    objects: list[BuildDesc[RenderPlan]] = []
    for build in dataflow.objects_to_build:
        plan, types = (_optimized if optimize else _literal)(build.plan, access)
        _check_schema(build, types)
        access.build(build.id, types)
        objects.append(BuildDesc(build.id, plan, build.schema))
    indexes = _used_indexes(objects)
    imports = dataflow.index_imports
    sources = dataflow.source_imports
    if optimize:
        exported = {export.on for export in (*dataflow.index_exports, *dataflow.sink_exports)}
        needed = exported | _used_streams(objects)
        sources = tuple([source for source in sources if source.id in needed])
        imports = tuple([index for index in imports if index.id in indexes or index.on in exported])
    present = {index.id for index in imports}
    imports += tuple([index for index in offered if index.id in indexes and index.id not in present])
    return RenderDataflow(
        debug_name=dataflow.debug_name,
        source_imports=sources,
        index_imports=imports,
        objects_to_build=tuple(objects),
        index_exports=dataflow.index_exports,
        sink_exports=dataflow.sink_exports,
        as_of=dataflow.as_of,
        until=dataflow.until,
        dataflow_class=dataflow.dataflow_class,
    )


def _optimized(relation: Relation, available: Available) -> tuple[RenderPlan, Types]:
    bindings = inline(share(flatten(relation)))
    types = TypeTable(bindings, available.env)
    graph = PlanGraph()
    lowering = OptimizedLowering(graph, available, types)
    root = lowering.build(bindings.body, MapFilterProject.identity(types.arity(bindings.body)))
    bound: dict[str, Bound] = {}
    # Last binding first: by then all its uses are planned, and with them what they read of it.
    for name, value in reversed(bindings.values.items()):
        columns = graph.demand(name)
        if columns is not None:
            node = lowering.build(value, MapFilterProject(types.arity(value), projection=columns))
            bound[name] = Bound(node, columns)
    return merge_arrangements(graph.plan(root, bound)), types.types(bindings.body)


def _literal(relation: Relation, available: Available) -> tuple[RenderPlan, Types]:
    bindings: Bindings = flatten(relation)
    types = TypeTable(bindings, available.env)
    graph = PlanGraph()
    lowering = LiteralLowering(graph, available, types)
    for name, value in bindings.values.items():
        lowering.bind(name, lowering.build(value))
    return graph.plan(lowering.build(bindings.body), {}), types.types(bindings.body)


def _check_schema(build: BuildDesc[Relation], types: Types) -> None:
    if [type.type for type in types] != [field.type for field in build.schema.fields]:
        given, expected = print_types(types), print_types(build.schema.types)
        raise DescriptionError(build.id, f"its expression has types {given}, its schema {expected}")


def _used_indexes(objects: Iterable[BuildDesc[RenderPlan]]) -> set[GlobalId]:
    return {node.index for build in objects for node in build.plan.nodes if isinstance(node, ImportIndex)}


def _used_streams(objects: Iterable[BuildDesc[RenderPlan]]) -> set[GlobalId]:
    return {node.id for build in objects for node in build.plan.nodes if isinstance(node, GetNode)}
