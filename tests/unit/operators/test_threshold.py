"""Threshold at every time, with multiplicities of either sign."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillion.dataflow.operators.threshold import ThresholdLogic
from pillion.messages.plans import ThresholdNode
from pillion.messages.types import ColumnType, SqlType
from tests.unit.collisions import collide

from .histories import Change, Expected, Rows, check, cuts, histories

TYPES = (SqlType.DOUBLE, SqlType.TEXT)
ROWS = st.tuples(st.sampled_from((None, math.nan, -0.0, 0.0, 1.0)), st.sampled_from((None, "", "a", "long" * 9)))


def positive(rows: Rows) -> Expected:
    return Counter({row: count for row, count in rows.items() if count > 0}), set()


def new_logic() -> ThresholdLogic:
    types = tuple([ColumnType(t) for t in TYPES])
    return ThresholdLogic(ThresholdNode(types=types, input=0))


@settings(deadline=None)
@given(histories(ROWS, valid=False), cuts())
def test_threshold_keeps_positive_multiplicities(changes: list[Change], bounds: list[int]) -> None:
    check(new_logic(), TYPES, changes, bounds, positive)


@settings(deadline=None)
@given(histories(ROWS, valid=False), cuts())
def test_threshold_when_all_hashes_collide(changes: list[Change], bounds: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        collide(patch)
        check(new_logic(), TYPES, changes, bounds, positive)
