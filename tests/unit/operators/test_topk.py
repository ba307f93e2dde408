"""Top-k against sorting, at every time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillion.dataflow.arrangements.updates import Chunk, Updates
from pillion.dataflow.columns.column import FixedColumn
from pillion.dataflow.operators.topk import TopKLogic
from pillion.messages.plans import TopKNode
from pillion.messages.relations import Order
from pillion.messages.types import ColumnType, SqlType
from tests.unit.collisions import collide

from .histories import Change, Expected, Row, Rows, canonical, check, cuts, histories

TYPES = (SqlType.INTEGER, SqlType.DOUBLE, SqlType.TEXT)
FLOATS = st.sampled_from((None, math.nan, -0.0, 0.0, 1.5, -2.0, math.inf))
ROWS = st.tuples(st.sampled_from((None, 1, 2)), FLOATS, st.sampled_from((None, "", "a", "ab", "b", "z" * 20)))
ORDERS = st.lists(
    st.builds(Order, st.integers(1, 2), st.booleans(), st.booleans()), max_size=2, unique_by=lambda o: o.column
).map(tuple)
NODES = st.builds(
    lambda group_by, order_by, limit, offset: TopKNode(
        types=tuple([ColumnType(t) for t in TYPES]),
        input=0,
        group_by=group_by,
        order_by=order_by,
        limit=limit,
        offset=offset,
    ),
    st.sampled_from(((), (0,), (0, 2))),
    ORDERS,
    st.one_of(st.none(), st.integers(0, 4), st.sampled_from((2**62, 2**63 - 1))),
    st.one_of(st.integers(0, 3), st.sampled_from((2**62, 2**63 - 1))),
)


def sort_key(order_by: tuple[Order, ...]) -> Callable[[Row], object]:
    """NaN is the greatest value; ties by the whole row, NULL last."""

    def value(v: object, descending: bool, nulls_first: bool) -> tuple[object, ...]:
        if v is None:
            return (0 if nulls_first else 2, 0)
        if isinstance(v, str):
            return (1, [-ord(c) for c in v] + [1] if descending else [ord(c) for c in v])
        number = (1, 0.0) if isinstance(v, float) and math.isnan(v) else (0, v)
        return (1, (-number[0], -number[1]) if descending else number)

    def key(row: Row) -> object:
        ordered = [value(row[o.column], o.descending, o.nulls_first) for o in order_by]
        return ordered + [value(v, False, False) for v in row]

    return key


def top(node: TopKNode) -> Callable[[Rows], Expected]:
    def evaluate(rows: Rows) -> Expected:
        groups: dict[Row, list[Row]] = {}
        negative: dict[Row, Row] = {}
        for row, count in rows.items():
            group = tuple([row[g] for g in node.group_by])
            if count < 0:
                negative[canonical(group)] = group
            groups.setdefault(canonical(group), []).extend([row] * count)
        result: Rows = Counter()
        stop = None if node.limit is None else node.offset + node.limit
        for members in groups.values():
            for row in sorted(members, key=sort_key(node.order_by))[node.offset : stop]:
                result[row] += 1
        shown = [", ".join("NULL" if v is None else repr(v) for v in group) for group in negative.values()]
        return result, {f"in the group ({s}) a row was deleted more often than inserted" for s in shown}

    return evaluate


def run(node: TopKNode, changes: list[Change], bounds: list[int]) -> None:
    check(TopKLogic(node, [ColumnType(t) for t in TYPES]), TYPES, changes, bounds, top(node))


@settings(deadline=None)
@given(NODES, histories(ROWS), cuts())
def test_the_top_rows_are_right_at_every_time(node: TopKNode, changes: list[Change], bounds: list[int]) -> None:
    run(node, changes, bounds)


@settings(deadline=None)
@given(NODES, histories(ROWS), cuts())
def test_the_top_rows_are_right_when_all_hashes_collide(
    node: TopKNode, changes: list[Change], bounds: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        collide(patch)
        run(node, changes, bounds)


@settings(deadline=None)
@given(NODES, histories(ROWS, valid=False), cuts())
def test_negative_multiplicities_are_errors_until_they_recover(
    node: TopKNode, changes: list[Change], bounds: list[int]
) -> None:
    run(node, changes, bounds)


def test_rows_of_huge_multiplicity_do_not_push_others_to_the_top() -> None:
    node = TopKNode((ColumnType(SqlType.BIGINT),), 0, (), (Order(0),), 5)
    logic = TopKLogic(node, node.types)
    rows = Updates.of((FixedColumn(SqlType.BIGINT, np.arange(6)),), 0, 2**62)
    shown = logic.process(Chunk(0, 1, rows)).oks
    assert shown is not None and shown.to_tuples() == [((0,), 0, 5)]


def test_a_group_is_not_empty_because_its_multiplicities_add_up_to_nothing_in_64_bits() -> None:
    types = (ColumnType(SqlType.BIGINT), ColumnType(SqlType.BIGINT))
    logic = TopKLogic(TopKNode(types, 0, (0,), (Order(1),), 2), types)

    def change(group: int, values: list[int], time: int, diff: int) -> list[object]:
        columns = [FixedColumn(SqlType.BIGINT, np.array(c)) for c in ([group] * len(values), values)]
        shown = logic.process(Chunk(time, time + 1, Updates.of(tuple(columns), time, diff))).oks
        return [] if shown is None else sorted(shown.to_tuples())

    assert change(1, [5, 6, 7, 8], 0, 2**62) == [((1, 5), 0, 2)]
    assert change(2, [9], 1, 1) == [((2, 9), 1, 1)]
    assert change(1, [5], 2, -(2**62)) == [((1, 5), 2, -2), ((1, 6), 2, 2)]
