"""Work in pieces gives what NumPy gives at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.dataflow.columns import pieces
from pillion.dataflow.columns.pieces import add_at, repeat


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 4)


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 40)), max_size=60))
def test_repeat(counts: list[int]) -> None:
    values, times = np.arange(len(counts)) * 10, np.array(counts, np.int64)
    assert repeat(values, times).tolist() == values.repeat(times).tolist()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9)), max_size=60))
def test_add_at(changes: list[tuple[int, int]]) -> None:
    places, numbers = (np.array([c[i] for c in changes], np.int64) for i in (0, 1))
    totals, expected = np.arange(6), np.arange(6)
    add_at(totals, places, numbers)
    np.add.at(expected, places, numbers)
    assert totals.tolist() == expected.tolist()
