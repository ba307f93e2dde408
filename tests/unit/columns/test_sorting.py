"""Sorting rows by several keys."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from pillion.dataflow.columns.column import column_from_values
from pillion.dataflow.columns.sorting import SortKey, sort_rows
from pillion.messages.types import SqlType


@pytest.mark.parametrize("size", [0, 1, 5, 63, 64, 3000])
@pytest.mark.parametrize("seed", range(5))
def test_rows_are_sorted_by_group_then_keys_then_the_rest(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    spread = int(random.choice([3, 1000, 2**40]))
    groups = random.integers(-spread, spread, size)
    texts = [None if v == 0 else f"{v:03}" for v in random.integers(0, 200, size).tolist()]
    # Doubles with few different leading bits: they are told apart by the last ones.
    doubles = [None if v == 0 else 1.0 + v * 2**-52 for v in random.integers(0, 50, size).tolist()]
    numbers = random.integers(-(2**63), 2**63 - 1, size).tolist()
    few = [None if v == 0 else v for v in random.integers(0, 3, size).tolist()]
    names = [None if v == 0 else f"name {v}" for v in random.integers(0, 3, size).tolist()]
    columns = [
        column_from_values(few, SqlType.INTEGER),
        column_from_values(doubles, SqlType.DOUBLE),
        column_from_values(texts, SqlType.TEXT),
        column_from_values(names, SqlType.TEXT),
        column_from_values(numbers, SqlType.BIGINT),
    ]
    keys = [SortKey(1, descending=True, nulls_first=True), SortKey(2, nulls_first=False)]

    def key(row: int) -> tuple:
        double, text = doubles[row], texts[row]
        return (
            groups[row],
            (0, 0.0) if double is None else (1, -double),
            (1, "") if text is None else (0, text),
            (1, 0) if few[row] is None else (0, few[row]),
            (1, "") if names[row] is None else (0, names[row]),
            numbers[row],
        )

    assert sort_rows(groups, columns, keys).tolist() == sorted(range(size), key=key)


@pytest.mark.parametrize("unit", ["1", "1e20"])
def test_numerics_are_sorted_whether_they_fit_in_64_bits_or_not(unit: str) -> None:
    random = np.random.default_rng(1)
    values = [Decimal(v) * Decimal(unit) / 1000 for v in random.integers(-5000, 5000, 400).tolist()]
    column = column_from_values(values, SqlType.NUMERIC)
    order = sort_rows(np.zeros(400, np.int64), [column], [SortKey(0)])
    assert [values[i] for i in order] == sorted(values)
