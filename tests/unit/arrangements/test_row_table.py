"""Row tables against a dictionary, while rows come and go."""

from __future__ import annotations

import numpy as np
import pytest

from pillion.dataflow.arrangements.row_table import RowTable, different_entries
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.types import SqlType
from tests.unit.collisions import collide

TYPES = (SqlType.TEXT, SqlType.DOUBLE, SqlType.NUMERIC)


@pytest.mark.parametrize(("colliding", "rows", "steps"), [(False, 400, 60), (True, 12, 25)])
def test_rows_keep_their_entries_until_they_are_released(
    colliding: bool, rows: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if colliding:
        collide(monkeypatch)
    random = np.random.default_rng(1)
    table = RowTable(TYPES)
    known: dict[int, int] = {}
    for _ in range(steps):
        numbers = random.integers(0, 10 * rows, rows)
        columns = (
            column_from_values([None if v % 7 == 0 else f"text {v // 7}" for v in numbers.tolist()], SqlType.TEXT),
            column_from_values([float(v) if v % 5 else float("nan") for v in numbers.tolist()], SqlType.DOUBLE),
            column_from_values([int(v) for v in numbers.tolist()], SqlType.NUMERIC),
        )
        entries = table.locate(columns, rows)
        for number, entry in zip(numbers.tolist(), entries.tolist(), strict=True):
            assert known.setdefault(number, entry) == entry
        assert len(set(known.values())) == len(known) == len(table)
        assert all(a.equal(b).all() for a, b in zip(table.take(entries), columns, strict=True))
        leaving = [number for number in known if random.random() < 0.5]
        table.release(np.array([known.pop(number) for number in leaving], np.int64))
    assert table.capacity < 8 * rows


def test_different_entries_are_the_same_array_when_all_differ() -> None:
    entries = np.array([5, 3, 9])
    assert different_entries(entries, 10) is entries
    assert different_entries(entries, 10_000) is entries
    assert different_entries(np.array([5, 3, 5]), 10).tolist() == [3, 5]
    assert different_entries(np.array([5, 3, 5]), 10_000).tolist() == [3, 5]
