"""Both levels of a dataflow as text, with the names of columns."""

from __future__ import annotations

from pillion.dataflow.plans.explain import explain, explain_relation
from pillion.dataflow.plans.lower import lower
from pillion.dataflow.plans.names import RelationNames, schema_from_names
from pillion.dataflow.plans.parse_relation import parse_relation
from pillion.dataflow.plans.typing import relation_types
from pillion.messages.dataflows import BuildDesc, IndexExport, RelationDataflow, SinkExport, SourceImport, Subscribe

from .build import col, gid, schema
from .texts import index, lines

ORDERS = schema("order_id bigint", "customer bigint", "amount bigint")
CUSTOMERS = schema("id bigint", "region text")
SCHEMAS = {gid("u1"): ORDERS, gid("u2"): CUSTOMERS}
WRITTEN = """
    Reduce group_by=[#4{region}] aggregates=[count(*), sum(#2{amount})]
      Join on=(#1{customer} = #3{id})
        Get u1 // orders
        Get u2
"""


def test_both_levels() -> None:
    relation = parse_relation(lines(WRITTEN))
    types = relation_types(relation, {id: columns.types for id, columns in SCHEMAS.items()})
    out = schema_from_names(RelationNames(relation, SCHEMAS).columns(relation), types)
    assert out.names == ("region", "count", "sum_amount")
    written = RelationDataflow(
        debug_name="by region",
        source_imports=tuple(SourceImport(id, id, columns) for id, columns in SCHEMAS.items()),
        index_imports=(),
        objects_to_build=(BuildDesc(gid("u3"), relation, out),),
        index_exports=(IndexExport(gid("u4"), gid("u3"), (col(0),)),),
        sink_exports=(SinkExport(gid("u5"), gid("u3"), Subscribe(), up_to=7),),
        as_of=0,
    )
    indexes = [index("u6", "u2", 0)]
    lowered = lower(written, [indexes[0].__class__(gid("u6"), gid("u2"), (col(0),), CUSTOMERS)])
    assert explain(written, lowered, {gid("u1"): "orders", gid("u3"): "by_region"}) == lines(
        """
        Written
          import source=u1 // orders
          import source=u2
          build id=u3 // by_region
            Reduce group_by=[#4{region}] aggregates=[count(*), sum(#2{amount})]
              Join on=(#1{customer} = #3{id})
                Get u1 // orders
                Get u2
          export index=u4 on=u3 key=[#0{region}]
          export sink=u5 on=u3 kind=subscribe up-to=[7]
        Executed
          import source=u1 // orders
          import index=u6 on=u2 key=[#0{id}]
          build id=u3 // by_region
            Reduce group_by=[#0{region}] aggregates=[count(*) accumulable, sum(#1{amount}) accumulable]
              Join on=(#0{customer} = #2{id}) project=(#3{region}, #1{amount})
                Arrange key=[#0{customer}]
                  MapFilterProject project=(#1{customer}, #2{amount})
                    Get u1 // orders
                ImportIndex u6 key=[#0{id}]
          export index=u4 on=u3 key=[#0{region}]
          export sink=u5 on=u3 kind=subscribe up-to=[7]
        """
    )


def test_an_explained_expression_can_be_read_back() -> None:
    text = lines(
        """
        With
          cte l0 =
            Map (cast(#0{order_id} as double), #3{order_id} + 1.5)
              Get u1 // orders
        Return
          TopK group_by=[#1{customer}] order_by=[#3{order_id} desc nulls_first] limit=1
            Union
              Get l0
              Filter #4 > 2.5 AND #1{customer} = 3
                Get l0
        """
    )
    relation = parse_relation(text)
    assert explain_relation(relation, SCHEMAS, {gid("u1"): "orders"}) == text


def test_names_in_a_schema_are_unique() -> None:
    relation = parse_relation("CrossJoin\n  Get u2\n  Get u2")
    types = relation_types(relation, {id: columns.types for id, columns in SCHEMAS.items()})
    names = RelationNames(relation, SCHEMAS).columns(relation)
    assert schema_from_names(names, types).names == ("id", "region", "id_1", "region_1")
