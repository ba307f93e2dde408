"""Hypothesis strategies for every message."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

from pillion.messages import commands, dataflows, plans, relations, responses, scalars
from pillion.messages.ids import GlobalId
from pillion.messages.rows import RowBlock, UpdateBlock
from pillion.messages.scalars import Literal, UserFunction
from pillion.messages.types import ColumnType, Field, Schema, SqlType

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
positions = st.integers(0, 5)
naturals = st.integers(0, 2**63 - 1)
signed = st.integers(-(2**63), 2**63 - 1)
timestamps = naturals
frontiers = st.none() | timestamps
global_ids = st.builds(GlobalId, st.sampled_from(["u", "s", "si", "t"]), naturals)
sql_types = st.sampled_from(SqlType)
column_types = st.builds(ColumnType, sql_types, st.booleans())
schemas = st.lists(st.builds(Field, names, sql_types, st.booleans()), max_size=4, unique_by=lambda f: f.name).map(
    lambda fields: Schema(tuple(fields))
)

VALUES: dict[SqlType, st.SearchStrategy] = {
    SqlType.BOOLEAN: st.booleans(),
    SqlType.SMALLINT: st.integers(-(2**15), 2**15 - 1),
    SqlType.INTEGER: st.integers(-(2**31), 2**31 - 1),
    SqlType.BIGINT: signed,
    SqlType.REAL: st.floats(width=32),
    SqlType.DOUBLE: st.floats(),
    SqlType.NUMERIC: st.decimals(Decimal("-" + "9" * 29), Decimal("9" * 29), places=9, allow_nan=False),
    SqlType.TEXT: names,
    SqlType.BYTEA: st.binary(max_size=8),
    SqlType.DATE: st.dates(),
    SqlType.TIMESTAMP: st.datetimes(),
}


def values(type: SqlType) -> st.SearchStrategy:
    return st.none() | VALUES[type]


literals = sql_types.flatmap(lambda type: st.builds(Literal.of, values(type), st.just(type)))
user_functions = st.builds(UserFunction, names, column_types, st.binary(max_size=10))


def tuples(elements: st.SearchStrategy, max_size: int = 3) -> st.SearchStrategy:
    return st.lists(elements, max_size=max_size).map(tuple)


scalar_expressions = st.recursive(
    st.builds(scalars.ColumnRef, positions) | literals | st.builds(scalars.LiteralError, names),
    lambda inner: st.one_of(
        st.builds(scalars.Call, names, tuples(inner)),
        st.builds(scalars.Cast, inner, sql_types),
        st.builds(scalars.If, inner, inner, inner),
        st.builds(scalars.CallUser, user_functions, tuples(inner)),
    ),
    max_leaves=6,
)

orders = st.builds(relations.Order, positions, st.booleans(), st.booleans())
table_functions = st.builds(relations.TableFunction, names, st.none() | user_functions)
aggregates = st.builds(
    relations.Aggregate,
    names,
    st.none() | scalar_expressions,
    st.booleans(),
    tuples(literals),
    st.none() | user_functions,
)
constant_rows = st.lists(sql_types, max_size=3).flatmap(
    lambda types: st.tuples(
        st.just(tuple(ColumnType(type) for type in types)),
        st.lists(
            st.tuples(st.tuples(*(st.builds(Literal.of, values(type), st.just(type)) for type in types)), signed),
            max_size=3,
        ),
    )
)
constants = constant_rows.map(
    lambda drawn: relations.Constant(drawn[0], tuple(row for row, _ in drawn[1]), tuple(diff for _, diff in drawn[1]))
)
limits = st.none() | naturals

relation_expressions = st.recursive(
    constants | st.builds(relations.Get, global_ids) | st.builds(relations.GetLocal, names),
    lambda inner: st.one_of(
        st.builds(relations.Let, tuples(st.builds(relations.Binding, names, inner)), inner),
        st.builds(
            relations.LetRec,
            tuples(st.builds(relations.RecursiveBinding, names, tuples(column_types), inner)),
            inner,
            limits,
            st.booleans(),
        ),
        st.builds(relations.Project, inner, tuples(positions)),
        st.builds(relations.Map, inner, tuples(scalar_expressions)),
        st.builds(relations.Filter, inner, tuples(scalar_expressions)),
        st.builds(relations.FlatMap, inner, table_functions, tuples(scalar_expressions)),
        st.builds(relations.Join, tuples(inner), tuples(tuples(scalar_expressions))),
        st.builds(relations.Reduce, inner, tuples(scalar_expressions), tuples(aggregates), st.booleans(), limits),
        st.builds(relations.TopK, inner, tuples(positions), tuples(orders), limits, naturals, st.booleans()),
        st.builds(relations.Distinct, inner, st.none() | tuples(scalar_expressions)),
        st.builds(relations.Negate, inner),
        st.builds(relations.Threshold, inner),
        st.builds(relations.Union, tuples(inner)),
        st.builds(relations.ArrangeBy, inner, tuples(tuples(scalar_expressions))),
    ),
    max_leaves=5,
)


@st.composite
def map_filter_projects(draw: st.DrawFn) -> plans.MapFilterProject:
    arity = draw(st.integers(0, 4))
    mapped = draw(tuples(scalar_expressions))
    extended = arity + len(mapped)
    projection = draw(tuples(st.integers(0, extended - 1))) if extended else ()
    return plans.MapFilterProject(arity, mapped, draw(tuples(scalar_expressions)), projection)


def plan_nodes(position: int) -> st.SearchStrategy:
    """Nodes that may stand at this position of a plan."""
    types = tuples(column_types)
    leaves = [
        constants.map(lambda constant: plans.ConstantNode(constant.types, constant.rows, constant.diffs)),
        st.builds(plans.GetNode, types, global_ids),
        st.builds(plans.ImportIndex, types, global_ids, tuples(scalar_expressions)),
        st.builds(plans.UnionNode, types, st.just(())),
    ]
    if position == 0:
        return st.one_of(leaves)
    earlier = st.integers(0, position - 1)
    planned = st.builds(plans.PlannedAggregate, aggregates, st.sampled_from(plans.AggregateKind))
    return st.one_of(
        *leaves,
        st.builds(plans.Mfp, types, earlier, map_filter_projects()),
        st.builds(plans.FlatMapNode, types, earlier, table_functions, tuples(scalar_expressions)),
        st.builds(plans.Arrange, types, earlier, tuples(scalar_expressions)),
        st.builds(plans.JoinNode, types, earlier, earlier, map_filter_projects()),
        st.builds(plans.ReduceNode, types, earlier, tuples(scalar_expressions), tuples(planned)),
        st.builds(plans.TopKNode, types, earlier, tuples(positions), tuples(orders), limits, naturals),
        st.builds(plans.NegateNode, types, earlier),
        st.builds(plans.ThresholdNode, types, earlier),
        st.builds(plans.UnionNode, types, tuples(earlier)),
    )


@st.composite
def render_plans(draw: st.DrawFn) -> plans.RenderPlan:
    return plans.RenderPlan(tuple(draw(plan_nodes(position)) for position in range(draw(st.integers(1, 4)))))


sink_connections = st.one_of(
    st.just(dataflows.Subscribe()),
    st.builds(dataflows.MaterializedView, global_ids),
    st.builds(dataflows.CopyTo, names),
)


def dataflow_descriptions(plan: st.SearchStrategy) -> st.SearchStrategy:
    return st.builds(
        dataflows.DataflowDescription,
        names,
        tuples(st.builds(dataflows.SourceImport, global_ids, global_ids, schemas, frontiers)),
        tuples(st.builds(dataflows.IndexImport, global_ids, global_ids, tuples(scalar_expressions), schemas)),
        tuples(st.builds(dataflows.BuildDesc, global_ids, plan, schemas), max_size=2),
        tuples(st.builds(dataflows.IndexExport, global_ids, global_ids, tuples(scalar_expressions))),
        tuples(st.builds(dataflows.SinkExport, global_ids, global_ids, sink_connections, st.booleans(), frontiers)),
        timestamps,
        frontiers,
        st.sampled_from(dataflows.DataflowClass),
    )


render_dataflows = dataflow_descriptions(render_plans())
relation_dataflows = dataflow_descriptions(relation_expressions)

settings = st.booleans() | signed | st.floats(allow_nan=False, allow_infinity=False) | names
command_messages = st.one_of(
    st.builds(commands.Hello, names),
    st.builds(
        commands.CreateInstance,
        st.builds(
            commands.InstanceConfig,
            tuples(st.builds(commands.LoggingIndex, names, global_ids)),
            limits,
            st.booleans(),
        ),
    ),
    st.just(commands.InitializationComplete()),
    st.builds(commands.UpdateConfiguration, tuples(st.tuples(names, settings))),
    st.builds(commands.CreateDataflow, render_dataflows),
    st.builds(commands.Schedule, global_ids),
    st.builds(commands.AllowWrites, global_ids),
    st.builds(commands.AllowCompaction, global_ids, frontiers),
    st.builds(
        commands.Peek,
        names,
        st.builds(commands.IndexTarget, global_ids) | st.builds(commands.ShardTarget, global_ids),
        timestamps,
        schemas,
        st.none() | tuples(tuples(literals)),
        st.none() | map_filter_projects(),
        st.builds(commands.Finishing, tuples(orders), limits, naturals),
    ),
    st.builds(commands.CancelPeek, names),
)


@st.composite
def batches(draw: st.DrawFn, size: int) -> pa.RecordBatch:
    types = draw(st.lists(sql_types, min_size=0, max_size=3))
    if not types:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * size, pa.struct([])))
    arrays = [pa.array(draw(st.lists(values(type), min_size=size, max_size=size)), type.arrow) for type in types]
    return pa.RecordBatch.from_arrays(arrays, names=[f"column_{position}" for position in range(len(types))])


def int64_arrays(size: int, elements: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(elements, min_size=size, max_size=size).map(lambda numbers: pa.array(numbers, pa.int64()))


sizes = st.integers(0, 3)
row_blocks = sizes.flatmap(lambda size: st.builds(RowBlock, batches(size), st.none() | int64_arrays(size, signed)))
update_blocks = sizes.flatmap(
    lambda size: st.builds(
        UpdateBlock,
        batches(size),
        timestamps | int64_arrays(size, timestamps),
        signed | int64_arrays(size, signed),
    )
)
moved = st.none() | st.tuples(frontiers)
response_messages = st.one_of(
    st.builds(responses.Frontiers, global_ids, moved, moved, moved),
    st.builds(
        responses.PeekResponse,
        names,
        st.one_of(
            st.builds(responses.Rows, row_blocks),
            st.builds(responses.Stashed, tuples(row_blocks)),
            st.builds(responses.PeekError, names),
            st.just(responses.Canceled()),
        ),
    ),
    st.builds(
        responses.SubscribeResponse,
        global_ids,
        st.builds(responses.SubscribeBatch, timestamps, frontiers, update_blocks, st.none() | names)
        | st.builds(responses.DroppedAt, frontiers),
    ),
    st.builds(
        responses.CopyToResponse,
        global_ids,
        st.builds(responses.Copied, naturals)
        | st.builds(responses.CopyError, names)
        | st.just(responses.CopyDropped()),
    ),
    st.builds(responses.Status, names, st.dictionaries(names, settings, max_size=2)),
)
