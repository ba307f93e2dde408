"""Arrangements against a plain multiset, over random histories, merges and compaction."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from pillion.dataflow.arrangements import spine
from pillion.dataflow.arrangements.arrangement import ERROR_LAYOUT, Arrangement
from pillion.dataflow.arrangements.batch import Batch, Layout
from pillion.dataflow.arrangements.snapshot import FEW_ROWS, NegativeMultiplicity
from pillion.dataflow.arrangements.trace import Trace
from pillion.dataflow.arrangements.updates import Updates, error_updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.ids import GlobalId
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import SqlType

Row = tuple[object, ...]
Update = tuple[Row, int, int]
TYPES = (SqlType.TEXT, SqlType.BIGINT)
LAYOUT = Layout(2, (0,))
ROWS: list[Row] = list(itertools.product(["a", "b", None, "ccc"], [0, 1, None, 2]))
END = 30


def updates_of(updates: Sequence[Update]) -> Updates:
    columns = tuple(column_from_values([row[i] for row, _, _ in updates], type) for i, type in enumerate(TYPES))
    times = np.array([time for _, time, _ in updates], np.int64)
    return Updates(columns, times, np.array([diff for _, _, diff in updates], np.int64))


def at(updates: Sequence[Update], time: int) -> Counter[Row]:
    rows: Counter[Row] = Counter()
    for row, t, diff in updates:
        if t <= time:
            rows[row] += diff
    return +rows


def valid_history(rng: random.Random, size: int) -> list[Update]:
    updates: list[Update] = []
    for time in sorted(rng.randrange(END) for _ in range(size)):
        present = list(at(updates, time))
        if present and rng.random() < 0.45:
            updates.append((rng.choice(present), time, -1))
        else:
            updates.append((rng.choice(ROWS), time, rng.choice((1, 2))))
    return updates


def arrange(rng: random.Random, history: Sequence[Update], arrangement: Arrangement) -> Trace:
    """Seal the history in random intervals, with compaction and merging in between."""
    trace = Trace(GlobalId("u", 1), ("", 0), (ColumnRef(0),), arrangement, 0)
    lower = 0
    while lower < END:
        upper = rng.randrange(lower, END) + 1
        piece = [u for u in history if lower <= u[1] < upper]
        batch = Batch.build(LAYOUT, updates_of(piece), lower, upper) if piece else None
        arrangement.seal(batch, None, upper)
        if rng.random() < 0.5:
            since = trace.since
            assert since is not None
            trace.allow_compaction(rng.randrange(since, upper))
        if rng.random() < 0.5:
            arrangement.maintain(rng.choice((1, 5, 1000)))
        lower = upper
    return trace


def read(updates: Updates | None) -> Counter[Row]:
    if updates is None:
        return Counter()
    listed = [(row, diff) for row, _, diff in updates.to_tuples()]
    assert len({row for row, _ in listed}) == len(listed)
    return Counter(dict(listed))


@pytest.fixture(params=[False, True], ids=["brisk", "starved"])
def starved(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Once with merges that are done at once, once with several under way all the time."""
    if request.param:
        monkeypatch.setattr(spine, "_LOOSE_ROWS", 1)
        monkeypatch.setattr(spine, "_LOOSE_BATCHES", 2)
        monkeypatch.setattr(spine, "_LEAST_FUEL", 1)
        work = spine.Merge.work
        monkeypatch.setattr(spine.Merge, "work", lambda merge, fuel: work(merge, min(fuel, 2)))
    return request.param


@pytest.mark.parametrize("seed", range(15))
def test_every_readable_time_reads_as_a_plain_multiset(collisions: bool, starved: bool, seed: int) -> None:
    rng = random.Random(seed)
    history = valid_history(rng, 60)
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    arrange(rng, history, arrangement)
    snapshot = arrangement.snapshot()
    assert snapshot.upper == END
    for time in range(snapshot.since, END):
        expected = at(history, time)
        assert read(snapshot.scan(time).rest()) == expected
        stepwise: Counter[Row] = Counter()
        scan = snapshot.scan(time)
        while not scan.done:
            part = read(scan.step(rng.randrange(1, 10)))
            assert not part.keys() & stepwise.keys()
            stepwise += part
        assert stepwise == expected
        for value in ("a", "zz", "ccc", None):
            key = (column_from_values([value], SqlType.TEXT),)
            rows = Counter({row: n for row, n in expected.items() if row[0] == value})
            assert read(snapshot.lookup(key, time)) == rows
            few = snapshot.few_rows(key, time)
            # More than are looked at one by one: with collisions every row may be meant, and history counts.
            assert few is None or Counter(few) == rows
            assert few is not None or len(history) > FEW_ROWS
        several = column_from_values(["b", "ccc", "zz"], SqlType.TEXT)
        assert read(snapshot.lookup((several,), time)) == Counter(
            {row: n for row, n in expected.items() if row[0] in ("b", "ccc")}
        )


@pytest.mark.parametrize("seed", range(10))
def test_a_snapshot_stays_as_it_was(seed: int) -> None:
    rng = random.Random(seed)
    history = valid_history(rng, 40)
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    hold = arrangement.hold(0)
    first = [u for u in history if u[1] < END // 2]
    arrangement.seal(Batch.build(LAYOUT, updates_of(first), 0, END // 2), None, END // 2)
    snapshot = arrangement.snapshot()
    rest = [u for u in history if u[1] >= END // 2]
    hold.release()
    arrangement.seal(Batch.build(LAYOUT, updates_of(rest), END // 2, END), None, END)
    arrangement.maintain(10_000)
    for time in range(END // 2):
        assert read(snapshot.scan(time).rest()) == at(first, time)


@pytest.mark.parametrize("seed", range(10))
def test_history_collapses_once_nobody_reads_it(seed: int) -> None:
    rng = random.Random(seed)
    history = valid_history(rng, 200)
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    trace = arrange(rng, history, arrangement)
    trace.allow_compaction(END - 1)
    while arrangement.maintain(7):
        pass
    batches = arrangement.oks.batches
    assert all(len(newer) * 2 < len(older) for older, newer in itertools.pairwise(batches))
    assert all(len(batch) <= len(ROWS) for batch in batches), "a row is at most once in a batch"
    assert read(arrangement.snapshot().scan(END - 1).rest()) == at(history, END - 1)


def test_small_batches_are_merged_so_that_few_remain() -> None:
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    for time in range(2000):
        row: Row = ("key", time)
        arrangement.seal(Batch.build(LAYOUT, updates_of([(row, time, 1)]), time, time + 1), None, time + 1)
        assert len(arrangement.oks.batches) <= (16 if time < 500 else 20)
    assert len(arrangement.oks) == 2000


def test_a_row_retracted_more_often_than_inserted_is_named() -> None:
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    updates = updates_of([(("a", 1), 0, 1), (("a", 1), 1, -2), (("b", 1), 0, 1)])
    arrangement.hold(0)
    arrangement.seal(Batch.build(LAYOUT, updates, 0, 2), None, 2)
    snapshot = arrangement.snapshot()
    assert read(snapshot.scan(0).rest()) == Counter({("a", 1): 1, ("b", 1): 1})
    with pytest.raises(NegativeMultiplicity, match=r"\('a', 1\)"):
        snapshot.scan(1).rest()
    for look in (snapshot.lookup, snapshot.few_rows):
        with pytest.raises(NegativeMultiplicity) as caught:
            look((column_from_values(["a"], SqlType.TEXT),), 1)
        assert caught.value.row == ("a", 1)
        assert caught.value.diff == -1


@pytest.mark.parametrize("key", [0.5, float("nan")])
def test_a_nan_in_a_row_or_in_the_key_is_left_to_vectors(key: float) -> None:
    arrangement = Arrangement((SqlType.DOUBLE, SqlType.DOUBLE), 2, LAYOUT, 0)
    values = column_from_values([key, key], SqlType.DOUBLE)
    rows = Updates.of((values, column_from_values([float("nan"), 1.0], SqlType.DOUBLE)), 0)
    arrangement.seal(Batch.build(LAYOUT, rows, 0, 1), None, 1)
    snapshot = arrangement.snapshot()
    wanted = (column_from_values([key], SqlType.DOUBLE),)
    found = snapshot.lookup(wanted, 0)
    assert found is not None
    assert len(found) == 2
    assert snapshot.few_rows(wanted, 0) is None


def test_few_rows_are_few() -> None:
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    updates = updates_of([(("a", number), 0, 1) for number in range(FEW_ROWS + 1)] + [(("b", 1), 0, 2)])
    arrangement.seal(Batch.build(LAYOUT, updates, 0, 1), None, 1)
    snapshot = arrangement.snapshot()
    assert snapshot.few_rows((column_from_values(["a"], SqlType.TEXT),), 0) is None
    assert snapshot.few_rows((column_from_values(["b"], SqlType.TEXT),), 0) == [("b", 1), ("b", 1)]
    assert snapshot.few_rows((column_from_values(["c"], SqlType.TEXT),), 0) == []


def test_errors_are_read_at_their_time() -> None:
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    arrangement.hold(0)
    errors = error_updates(["later", "division by zero", "division by zero"], np.array([2, 1, 3]), np.array([1, 1, -1]))
    arrangement.seal(None, Batch.build(ERROR_LAYOUT, errors, 0, 4), 4)
    snapshot = arrangement.snapshot()
    assert [snapshot.error_at(time) for time in range(4)] == [None, "division by zero", "division by zero", "later"]


def test_holds_keep_times_readable_and_the_least_counts() -> None:
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    first, second = arrangement.hold(0), arrangement.hold(0)
    arrangement.seal(None, None, 10)
    first.downgrade(7)
    assert arrangement.since == 0
    second.downgrade(5)
    assert arrangement.since == 5
    second.release()
    assert arrangement.since == 7
    with pytest.raises(ValueError, match="cannot hold 6"):
        arrangement.hold(6)
    first.release()
    assert arrangement.since == 10, "never past what is sealed"


def test_two_indexes_of_one_arrangement_compact_apart() -> None:
    arrangement = Arrangement(TYPES, 2, LAYOUT, 3)
    one = Trace(GlobalId("u", 1), ("", 0), (ColumnRef(0),), arrangement, 3)
    two = Trace(GlobalId("u", 2), ("", 0), (ColumnRef(0),), arrangement, 3)
    arrangement.seal(None, None, 10)
    one.allow_compaction(8)
    assert (one.since, two.since, arrangement.since) == (8, 3, 3)
    with pytest.raises(ValueError, match="cannot go back"):
        one.allow_compaction(7)
    two.allow_compaction(None)
    assert (two.since, arrangement.since) == (None, 8)


def test_a_reader_is_given_batches_and_nothing_for_intervals_without_changes() -> None:
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    arrangement.seal(Batch.build(LAYOUT, updates_of([(("a", 1), 0, 1)]), 0, 1), None, 1)
    reader = arrangement.follow(0)
    for time in range(1, 100):
        arrangement.seal(Batch.build(LAYOUT, updates_of([]), time, time + 1), None, time + 1)
    arrangement.seal(Batch.build(LAYOUT, updates_of([(("b", 1), 100, 1)]), 100, 101), None, 101)
    assert [batch.updates.to_tuples() for batch in reader.oks] == [[(("a", 1), 0, 1)], [(("b", 1), 100, 1)]]
    reader.close()
    assert not reader.oks
    assert not arrangement.holds


def test_a_snapshot_does_not_keep_batches_that_were_merged() -> None:
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    for time in range(4):
        errors = error_updates([f"error {time}"], np.array([time]), np.array([1]))
        arrangement.seal(None, Batch.build(ERROR_LAYOUT, errors, time, time + 1), time + 1)
    assert len(arrangement.snapshot().errs) == 4
    while arrangement.maintain(100):
        pass
    assert len(arrangement.snapshot().errs) == 1


def test_small_history_collapses_as_soon_as_nobody_reads_it() -> None:
    arrangement = Arrangement(TYPES, 2, LAYOUT, 0)
    hold = arrangement.hold(0)
    for time in range(100):
        changes = [(("key", 1), time, 1 if time % 2 == 0 else -1)]
        arrangement.seal(Batch.build(LAYOUT, updates_of(changes), time, time + 1), None, time + 1)
    assert len(arrangement.oks) == 100
    hold.downgrade(100)
    arrangement.seal(Batch.build(LAYOUT, updates_of([(("key", 2), 100, 1)]), 100, 101), None, 101)
    # At most what trails behind unmerged is left of it, and no idle moment was needed.
    assert len(arrangement.oks) <= 16
