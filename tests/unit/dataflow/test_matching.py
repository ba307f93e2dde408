"""Matching of batches, narrowing of closures, and cutting of chunks."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.dataflow.arrangements.batch import Batch, Layout
from pillion.dataflow.arrangements.updates import Chunk
from pillion.dataflow.operators import queue as queue_module
from pillion.dataflow.operators.agenda import Agenda
from pillion.dataflow.operators.demand import narrow
from pillion.dataflow.operators.match import match
from pillion.dataflow.operators.queue import InputQueue
from pillion.dataflow.scalars.mfp import MfpProgram
from pillion.messages.plans import MapFilterProject
from pillion.messages.scalars import Call, ColumnRef, Literal
from pillion.messages.types import SqlType
from tests.unit.collisions import collide

from .plans import BIGINT, TEXT, Row, updates_of

KEYS = st.one_of(st.none(), st.integers(0, 3))
SIDE = st.lists(st.tuples(KEYS, st.sampled_from(["x", "y", None])), max_size=12)


def batch_of(rows: list[Row]) -> Batch:
    layout = Layout(2, (0,))
    updates = updates_of((BIGINT, TEXT), [(row, 0, 1) for row in dict.fromkeys(rows)])
    assert updates is not None
    return Batch.build(layout, updates, 0, 1)


@given(SIDE.filter(bool), SIDE.filter(bool), st.integers(1, 9), st.booleans())
def test_every_pair_with_equal_keys_is_found_once_in_slices_of_any_size(
    left: list[Row], right: list[Row], limit: int, colliding: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if colliding:
            collide(patch)
        a, b = batch_of(left), batch_of(right)
        left_rows, right_rows = (batch.updates.to_tuples() for batch in (a, b))
        found: list[tuple[Row, Row]] = []
        for left_at, right_at in match(a, b, limit):
            size = len(a) if left_at is None else len(left_at)
            one = range(size) if left_at is None else left_at.tolist()
            other = range(size) if right_at is None else right_at.tolist()
            assert size <= max(limit, min(len(a), len(b))), "a match for each row needs no more than the rows"
            found += [(left_rows[i][0], right_rows[j][0]) for i, j in zip(one, other, strict=True)]
    expected = [(x, y) for x, y in itertools.product(set(left), set(right)) if x[0] is not None and x[0] == y[0]]
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_a_closure_reads_only_the_columns_it_needs() -> None:
    types = (BIGINT, TEXT, BIGINT, TEXT)
    one = Literal.of(1, SqlType.BIGINT)
    mfp = MapFilterProject(
        4,
        (Call("+", (ColumnRef(2), one)), Call("*", (ColumnRef(4), ColumnRef(4)))),
        (Call(">", (ColumnRef(5), one)),),
        (5, 3, 4),
    )
    columns, narrowed = narrow(mfp)
    assert columns == (2, 3)
    updates = updates_of(types, [((n, "unread", n, f"text {n}"), 0, 1) for n in range(4)])
    assert updates is not None
    whole, _ = MfpProgram(mfp, types).apply(updates)
    few, _ = MfpProgram(narrowed, [types[c] for c in columns]).apply(updates.project(columns))
    assert whole is not None
    assert few is not None
    assert whole.to_tuples() == few.to_tuples()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), max_size=12),
    st.sets(st.integers(1, 9)),
    st.sets(st.integers(1, 9)),
)
def test_a_queue_gives_out_any_interval_of_what_came_in(
    changes: list[tuple[int, int]], pushed: set[int], taken: set[int]
) -> None:
    queue = InputQueue(Agenda(), 1, 0)
    bounds = [0, *sorted(pushed), 10]
    for lower, upper in itertools.pairwise(bounds):
        piece = [((time,), time, diff) for time, diff in changes if lower <= time < upper]
        half = len(piece) // 2
        for until, some in ((lower, piece[:half]), (upper, piece[half:])):
            queue.push(Chunk(lower, until, updates_of((BIGINT,), some), updates_of((BIGINT,), some)))
    for lower, upper in itertools.pairwise([0, *sorted(taken), 10]):
        chunk = queue.take(upper)
        assert (chunk.lower, chunk.upper) == (lower, upper)
        expected = sorted((time, diff) for time, diff in changes if lower <= time < upper)
        for part in (chunk.oks, chunk.errs):
            assert sorted((t, d) for _, t, d in (part.to_tuples() if part is not None else [])) == expected


def test_parts_that_wait_are_consolidated_once_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "MANY", 50)
    queue = InputQueue(Agenda(), 1, 0)
    queue.push(Chunk(0, 4, updates_of((BIGINT,), [((-1,), 3, 1)])))
    for _ in range(100):
        queue.push(Chunk(4, 4, updates_of((BIGINT,), [((n,), 5, 1) for n in range(10)])))
    queue.push(Chunk(4, 6))
    chunk = queue.take(6)
    assert chunk.oks is not None
    assert len(chunk.oks) <= 70
    total: Counter[object] = Counter()
    for row, time, diff in chunk.oks.to_tuples():
        total[row, time] += diff
    assert total == Counter({((-1,), 3): 1} | {((n,), 5): 100 for n in range(10)})
