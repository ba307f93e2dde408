"""Ordered rows against a sorted list, while runs are merged in pieces and cleaned."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pillion.dataflow.arrangements import ordered as module
from pillion.dataflow.arrangements.ordered import OrderedRows
from pillion.dataflow.columns.column import FixedColumn, column_from_values
from pillion.dataflow.columns.sorting import SortKey
from pillion.messages.types import SqlType

GROUPS = 5


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("type", [SqlType.BIGINT, SqlType.TEXT])
def test_reads_agree_with_a_sorted_list(seed: int, type: SqlType, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_AT_ONCE", 20), ("_LEAST_FUEL", 7), ("_CLEAN_FROM", 4), ("_LOOSE_ROWS", 16)):
        monkeypatch.setattr(module, name, value)
    random = np.random.default_rng(seed)
    rows = OrderedRows((type,), (SortKey(0),))
    rows.reserve(GROUPS)
    present: Counter[tuple[int, int]] = Counter()
    for step in range(150):
        # By turns mostly insertions and mostly deletions, so that merges meet rows that die and come back.
        chance = 0.2 if step // 30 % 2 else 0.9
        changes: list[tuple[int, int, int]] = []
        for _ in range(int(random.integers(1, 12))):
            group, value = int(random.integers(GROUPS)), int(random.integers(60))
            if random.random() < chance:
                diff = int(random.integers(1, 3))
            elif present:
                group, value = sorted(present)[int(random.integers(len(present)))]
                diff = -1
            else:
                continue
            present[group, value] += diff
            if not present[group, value]:
                del present[group, value]
            changes.append((group, value, diff))
        if changes:
            groups, values, diffs = (np.array(c) for c in zip(*changes, strict=True))
            rows.apply(groups, (column(values.tolist(), type),), diffs)
        wanted = random.permutation(GROUPS)[: int(random.integers(1, GROUPS + 1))]
        need = None if random.random() < 0.2 else int(random.integers(1, 6))
        reverse = bool(random.random() < 0.5)
        listing = rows.first(wanted, need, reverse=reverse)
        read = rows.rows.take(listing.entries)
        assert isinstance(read[0], FixedColumn)
        assert read[0].values.tolist() == wanted[listing.which].tolist()
        for i, group in enumerate(wanted.tolist()):
            inside = listing.which == i
            got = list(zip(read[1].filter(inside).to_values(), listing.counts[inside].tolist(), strict=True))
            all_values = sorted([v for g, v in present if g == group], reverse=reverse)
            expected = [(column([v], type).to_values()[0], present[group, v]) for v in all_values]
            assert first(got, need) == first(expected, need)
    assert len(rows) < 4 * len(present) + 40


def first(rows: list[tuple[object, int]], need: int | None) -> list[tuple[object, int]]:
    """As many of the rows as it takes to have so many, counted with their multiplicities."""
    taken: list[tuple[object, int]] = []
    for row in rows:
        if need is not None and sum(count for _, count in taken) >= need:
            break
        taken.append(row)
    return taken


def column(values: list[int], type: SqlType):
    return column_from_values(values if type is SqlType.BIGINT else [f"{v:03}" for v in values], type)


def test_a_negative_row_is_known_by_its_group() -> None:
    rows = OrderedRows((SqlType.BIGINT,), (SortKey(0),))
    rows.reserve(2)
    groups = np.array([0, 1])
    rows.apply(groups, (column([7, 8], SqlType.BIGINT),), np.array([-1, 1]))
    assert rows.is_negative(groups).tolist() == [True, False]
    assert not rows.is_empty(groups).any()
    rows.apply(groups, (column([7, 8], SqlType.BIGINT),), np.array([1, -1]))
    assert not rows.is_negative(groups).any()
    assert rows.is_empty(groups).all()
