"""From names to plans: the catalog, expanding views, and queries that are answered by a peek."""

from __future__ import annotations

import pytest

from pillion.actors.controller.catalog import Catalog
from pillion.actors.controller.expansion import expand
from pillion.actors.controller.fast_path import PeekPlan, peek_plan
from pillion.actors.controller.planning import imports_of, index_dataflow, query_dataflow
from pillion.actors.errors import DuplicateName, StillUsed, UnknownCollection, WrongKind
from pillion.actors.requests import CollectionInfo, CollectionKind
from pillion.messages.commands import IndexTarget, ShardTarget
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Distinct, Filter, Get, GetLocal, Join, Let, Map, Project, Relation, Union
from pillion.messages.scalars import Call, ColumnRef, Literal, Scalar
from pillion.messages.types import Field, Schema, SqlType

SCHEMA = Schema((Field("id", SqlType.BIGINT, False), Field("name", SqlType.TEXT)))
ORDERS, VIEW, SECOND, INDEX, ROWS = (GlobalId("u", number) for number in range(1, 6))


def big(value: int) -> Literal:
    return Literal.of(value, SqlType.BIGINT)


def equals(column: int, literal: Literal) -> Scalar:
    return Call("=", (ColumnRef(column), literal))


@pytest.fixture
def catalog() -> Catalog:
    """A table, a view over it, a view over both."""
    made = Catalog()
    made.add(CollectionInfo(ORDERS, "orders", CollectionKind.TABLE, SCHEMA))
    view: Relation = Filter(Get(ORDERS), (equals(0, big(1)),))
    made.add(CollectionInfo(VIEW, "ones", CollectionKind.VIEW, SCHEMA, (ORDERS,), view))
    both: Relation = Union((Get(VIEW), Get(VIEW), Get(ORDERS)))
    made.add(CollectionInfo(SECOND, "both", CollectionKind.VIEW, SCHEMA, (VIEW, ORDERS), both))
    return made


def add_index(catalog: Catalog, on: GlobalId, id: GlobalId = INDEX, *key: Scalar) -> CollectionInfo:
    info = CollectionInfo(id, f"index {id}", CollectionKind.INDEX, SCHEMA, (on,), on=on, key=key or (ColumnRef(0),))
    catalog.add(info)
    return info


def test_names_are_unique_and_ids_are_known(catalog: Catalog) -> None:
    with pytest.raises(DuplicateName, match="'orders' is taken by u1"):
        catalog.check_name("orders")
    with pytest.raises(UnknownCollection, match="u9"):
        catalog.uses(Get(GlobalId("u", 9)))
    add_index(catalog, ORDERS)
    with pytest.raises(WrongKind, match="is an index; this needs the table or view"):
        catalog.uses(Get(INDEX))


def test_what_others_use_is_dropped_with_them_or_not_at_all(catalog: Catalog) -> None:
    add_index(catalog, SECOND)
    with pytest.raises(StillUsed) as used:
        catalog.to_drop(ORDERS, cascade=False)
    assert used.value.users == ("ones", "both")
    assert [info.id for info in catalog.to_drop(ORDERS, cascade=True)] == [INDEX, SECOND, VIEW, ORDERS]
    assert [info.id for info in catalog.to_drop(INDEX, cascade=False)] == [INDEX]


def test_views_are_expanded_once_however_often_they_are_used(catalog: Catalog) -> None:
    expanded = expand(Get(SECOND), catalog)
    assert [leaf.id for leaf in expanded.leaves] == [ORDERS]
    assert isinstance(expanded.relation, Let)
    assert [binding.name for binding in expanded.relation.bindings] == ["view u2", "view u3"]
    assert expanded.relation.bindings[1].value == Union((GetLocal("view u2"), GetLocal("view u2"), Get(ORDERS)))
    assert expanded.relation.body == GetLocal("view u3")


def test_an_indexed_view_is_read_where_it_is_indexed(catalog: Catalog) -> None:
    add_index(catalog, VIEW)
    expanded = expand(Get(SECOND), catalog)
    assert [leaf.id for leaf in expanded.leaves] == [VIEW, ORDERS]
    dataflow = query_dataflow(catalog, Get(SECOND), SCHEMA, object_id=GlobalId("t", 1), index=GlobalId("t", 2))
    assert set(imports_of(dataflow)) == {ORDERS, INDEX}


def test_an_index_with_an_existing_key_uses_that_arrangement(catalog: Catalog) -> None:
    first = add_index(catalog, VIEW)
    again = index_dataflow(catalog, ROWS, catalog.get(VIEW), first.key)
    assert (imports_of(again), again.objects_to_build) == ((INDEX,), ())
    on_table = index_dataflow(catalog, ROWS, catalog.get(ORDERS), (ColumnRef(1),))
    assert (imports_of(on_table), on_table.objects_to_build) == ((ORDERS,), ())


def test_rows_of_a_stored_collection_are_read_from_its_shard(catalog: Catalog) -> None:
    assert peek_plan(Get(ORDERS), catalog) == PeekPlan(ShardTarget(ORDERS), None, None)
    plan = peek_plan(Get(VIEW), catalog)
    assert plan is not None and plan.target == ShardTarget(ORDERS)
    assert plan.mfp is not None and plan.mfp.predicates == (equals(0, big(1)),)


def test_a_query_row_by_row_over_an_index_is_a_peek(catalog: Catalog) -> None:
    add_index(catalog, ORDERS)
    doubled = Map(Get(ORDERS), (Call("+", (ColumnRef(0), ColumnRef(0))),))
    plan = peek_plan(Project(Filter(doubled, (equals(2, big(4)), equals(0, big(2)))), (2, 1)), catalog)
    assert plan is not None
    assert plan.target == IndexTarget(INDEX)
    assert plan.keys == ((big(2),),)
    assert plan.mfp is not None and plan.mfp.projection == (2, 1)


def test_what_combines_rows_takes_a_dataflow(catalog: Catalog) -> None:
    assert peek_plan(Distinct(Get(ORDERS)), catalog) is None
    assert peek_plan(Join((Get(ORDERS), Get(ORDERS))), catalog) is None
    assert peek_plan(Get(SECOND), catalog) is None


def test_the_index_is_chosen_whose_keys_the_filter_fixes(catalog: Catalog) -> None:
    add_index(catalog, ORDERS, INDEX, ColumnRef(1))
    add_index(catalog, ORDERS, ROWS, ColumnRef(1), ColumnRef(0))
    name = Literal.of("a", SqlType.TEXT)
    both = peek_plan(Filter(Get(ORDERS), (equals(0, big(2)), Call("<", (ColumnRef(1), name)))), catalog)
    assert both is not None
    assert (both.target, both.keys) == (IndexTarget(INDEX), None)
    fixed = peek_plan(Filter(Get(ORDERS), (equals(0, big(2)), equals(1, name))), catalog)
    assert fixed is not None
    assert (fixed.target, fixed.keys) == (IndexTarget(INDEX), ((name,),))
    assert fixed.mfp is not None and fixed.mfp.predicates == (equals(0, big(2)),)


def test_a_query_that_no_row_can_meet_looks_up_no_key(catalog: Catalog) -> None:
    add_index(catalog, ORDERS)
    plan = peek_plan(Filter(Get(ORDERS), (equals(0, big(2)), equals(0, big(3)))), catalog)
    assert plan == PeekPlan(IndexTarget(INDEX), (), None)
