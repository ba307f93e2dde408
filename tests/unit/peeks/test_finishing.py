"""Order, limit and offset over rows with multiplicities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.peeks.finishing import finish, local_part
from pillion.dataflow.arrangements.updates import Updates, concat_updates, uniform
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import Finishing
from pillion.messages.relations import Order
from pillion.messages.types import SqlType

Row = tuple[int | None, str]


def updates(rows: list[tuple[Row, int]]) -> Updates:
    columns = (
        column_from_values([row[0] for row, _ in rows], SqlType.BIGINT),
        column_from_values([row[1] for row, _ in rows], SqlType.TEXT),
    )
    return Updates(columns, uniform(0, len(rows)), np.array([diff for _, diff in rows], np.int64))


def listed(result: Updates) -> list[object]:
    return [row for row, _, diff in result.to_tuples() for _ in range(diff)]


ROWS: list[tuple[Row, int]] = [((2, "b"), 1), ((None, "n"), 1), ((1, "a"), 2), ((2, "a"), 1)]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Order(0), [(1, "a"), (1, "a"), (2, "a"), (2, "b"), (None, "n")]),
        (Order(0, nulls_first=True), [(None, "n"), (1, "a"), (1, "a"), (2, "a"), (2, "b")]),
        (Order(0, descending=True), [(2, "a"), (2, "b"), (1, "a"), (1, "a"), (None, "n")]),
        (Order(0, descending=True, nulls_first=True), [(None, "n"), (2, "a"), (2, "b"), (1, "a"), (1, "a")]),
    ],
)
def test_order_by_one_column_with_ties_by_the_whole_row(order: Order, expected: list[Row]) -> None:
    assert listed(finish(updates(ROWS), Finishing((order,)))) == expected


def test_limit_and_offset_count_multiplicities() -> None:
    finishing = Finishing((Order(0),), limit=2, offset=1)
    assert listed(finish(updates(ROWS), finishing)) == [(1, "a"), (2, "a")]


def test_an_offset_beyond_the_rows_leaves_none() -> None:
    assert listed(finish(updates(ROWS), Finishing(offset=9))) == []
    assert listed(finish(updates(ROWS), Finishing(limit=0))) == []


COUNTED = st.lists(
    st.tuples(st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.sampled_from("ab")), st.integers(1, 3)), max_size=12
)
ORDERS = st.lists(
    st.builds(Order, st.integers(0, 1), st.booleans(), st.booleans()), max_size=2, unique_by=lambda order: order.column
).map(tuple)


@given(
    COUNTED, ORDERS, st.one_of(st.none(), st.integers(0, 6), st.just(2**63 - 1)), st.integers(0, 4), st.integers(1, 3)
)
def test_finishing_each_share_first_changes_no_ordered_result(
    rows: list[tuple[Row, int]], order_by: tuple[Order, ...], limit: int | None, offset: int, workers: int
) -> None:
    finishing = Finishing(order_by or (Order(0),), limit, offset)
    shares = [updates(rows[worker::workers]) for worker in range(workers)]
    together = concat_updates([finish(share, local_part(finishing)) for share in shares])
    assert listed(finish(together, finishing)) == listed(finish(updates(rows), finishing))


def test_multiplicities_that_add_up_to_more_than_64_bits() -> None:
    huge: list[tuple[Row, int]] = [((number, "a"), 2**62) for number in range(6)]
    found = finish(updates(huge), Finishing((Order(0),), limit=3, offset=2))
    assert found.to_tuples() == [((0, "a"), 0, 3)]


def test_an_offset_beyond_all_numbers_leaves_nothing() -> None:
    some: list[tuple[Row, int]] = [((number, "a"), 1) for number in range(3)]
    assert not len(finish(updates(some), Finishing(offset=10**30)))
    assert not len(finish(updates(some), Finishing((Order(0),), limit=10**30, offset=10**30)))
