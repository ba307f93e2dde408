"""Batches: built from a few updates or many, and where they have a key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pillion.dataflow.arrangements.batch import Batch, Layout
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import FixedColumn
from pillion.messages.types import SqlType

LAYOUT = Layout(2, (0,))
Update = tuple[int, int, int, int]
"""Key, value, time and multiplicity."""

updates = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(5, 7), st.integers(-1, 2)), max_size=9)


def batch_of(some: Sequence[Update]) -> Batch:
    keys, values, times, diffs = np.array(some, np.int64).reshape(-1, 4).T.copy()
    columns = FixedColumn(SqlType.BIGINT, keys), FixedColumn(SqlType.BIGINT, values)
    return Batch.build(LAYOUT, Updates(columns, times, diffs), 5, 8)


def sums(some: Sequence[Update]) -> Counter[tuple[int, int, int]]:
    total: Counter[tuple[int, int, int]] = Counter()
    for key, value, time, diff in some:
        total[key, value, time] += diff
    return Counter({update: diff for update, diff in total.items() if diff})


def rows(batch: Batch) -> list[Update]:
    return [(row[0], row[1], time, diff) for row, time, diff in batch.updates.to_tuples()]  # type: ignore[misc]


@given(updates)
def test_a_batch_is_sorted_and_consolidated(some: list[Update]) -> None:
    batch = batch_of(some)
    assert batch.order.tolist() == sorted(batch.order.tolist())
    assert batch.order.tolist() == LAYOUT.order_of(batch.updates.columns, len(batch)).tolist()
    assert len(rows(batch)) == len(sums(some))
    assert sums(rows(batch)) == sums(some)


@given(updates, updates)
def test_a_merge_is_what_all_updates_together_are(first: list[Update], second: list[Update]) -> None:
    merged = Batch.merge([batch_of(first), batch_of(second)], 6)
    advanced = [(key, value, max(time, 6), diff) for key, value, time, diff in first + second]
    assert merged.order.tolist() == sorted(merged.order.tolist())
    assert len(rows(merged)) == len(sums(advanced))
    assert sums(rows(merged)) == sums(advanced)


@given(updates)
def test_the_range_of_a_key_holds_all_its_rows(some: list[Update]) -> None:
    batch = batch_of(some)
    for key in range(5):
        (number,) = LAYOUT.key_of((FixedColumn(SqlType.BIGINT, np.array([key])),))[0].hash_numbers()
        begin, end = batch.range_of(number)
        inside = {row[0] for row in rows(batch)[begin:end]}
        outside = {row[0] for row in rows(batch)[:begin] + rows(batch)[end:]}
        assert inside <= {key}
        assert key not in outside
