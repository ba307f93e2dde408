"""The two forms of a shard's contents."""

from __future__ import annotations

import random

import pytest

from pillion.actors.storage.contents import Arranged, Log
from pillion.actors.storage.shard import Shard, at, share
from pillion.dataflow.arrangements.batch import Layout
from pillion.dataflow.arrangements.updates import Updates, concat_updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.errors import NotReadableError
from pillion.messages.ids import GlobalId
from pillion.messages.types import Field, Schema, SqlType

SCHEMA = Schema((Field("n", SqlType.BIGINT, False),))
SHARD = GlobalId("u", 1)


def numbers(*values: int, time: int = 1, diff: int = 1) -> Updates:
    return Updates.of((column_from_values(list(values), SqlType.BIGINT),), time, diff)


def rows(updates: Updates | None) -> dict[int, int]:
    return {} if updates is None else {row[0]: diff for row, _, diff in updates.to_tuples()}  # type: ignore[misc]


@pytest.mark.parametrize("size", [1, 5, 70])
def test_many_small_appends_leave_few_parts(size: int) -> None:
    log = Log()
    for time in range(1, 1001):
        log.append(numbers(*range(time, time + size), time=time), time, time + 1)
    assert len(list(log.parts())) < 40
    everything = log.everything()
    assert everything is not None and len(everything) == 1000 * size
    assert len(list(log.parts())) == 1


def test_a_log_forgets_times_that_nobody_reads() -> None:
    log = Log()
    for time in range(1, 9):
        if time == 8:
            log.advance_since(20)
        log.append(numbers(time, time=time), time, time + 1)
    everything = log.everything()
    assert everything is not None
    assert everything.times.strides == (0,) and int(everything.times[0]) == 20


def test_a_shard_becomes_arranged_with_its_first_retraction_and_not_before() -> None:
    shard = Shard(SHARD, SCHEMA)
    shard.append(numbers(1, 2, 3, time=0), None, 1)
    shard.append(numbers(3, 4, time=1), None, 2)
    assert isinstance(shard.oks, Log)
    shard.append(numbers(2, time=2, diff=-1), None, 3)
    assert isinstance(shard.oks, Arranged)
    assert rows(shard.read(2)[0]) == {1: 1, 3: 2, 4: 1}
    assert rows(shard.read(1)[0]) == {1: 1, 2: 1, 3: 2, 4: 1}
    assert rows(shard.read(0)[0]) == {1: 1, 2: 1, 3: 1}


def test_history_before_since_collapses() -> None:
    shard = Shard(SHARD, SCHEMA)
    for time in range(500):
        changes = [numbers(7, time=time)] if time == 0 else [numbers(7, time=time), numbers(7, time=time, diff=-1)]
        shard.append(concat_updates(changes), None, time + 1)
        shard.append(numbers(time, time=time + 1), None, time + 2) if time == 499 else None
    shard.compact(500)
    while shard.maintain(1000):
        pass
    assert sum(len(part) for part in shard.oks.parts()) <= 2
    assert rows(shard.read(500)[0]) == {7: 1, 499: 1}
    with pytest.raises(NotReadableError, match="compacted to"):
        shard.read(499)
    with pytest.raises(NotReadableError):
        shard.snapshot(499, 0, 1)


def test_a_snapshot_advances_times_to_its_as_of_and_keeps_later_ones() -> None:
    shard = Shard(SHARD, SCHEMA)
    for time in range(4):
        shard.append(numbers(time, time=time), None, time + 1)
    chunk = shard.snapshot(2, 0, 1)
    assert (chunk.lower, chunk.upper) == (0, 4)
    assert chunk.oks is not None and sorted(chunk.oks.times.tolist()) == [2, 2, 2, 3]


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [1, 2, 10])
def test_shares_are_together_everything(workers: int, size: int) -> None:
    shares = [share(numbers(*range(size)), worker, workers) for worker in range(workers)]
    values = [row[0] for part in shares if part is not None for row, _, _ in part.to_tuples()]
    assert sorted(values) == list(range(size))


def test_a_rows_share_does_not_depend_on_the_rows_beside_it() -> None:
    together = [{row[0] for row, _, _ in share(numbers(*range(100)), w, 2).to_tuples()} for w in range(2)]
    alone = [{n for n in range(100) if share(numbers(n), w, 2) is not None} for w in range(2)]
    assert together == alone
    assert all(30 < len(part) < 70 for part in together)


def test_an_error_hides_the_rows_until_it_is_retracted() -> None:
    shard = Shard(SHARD, SCHEMA)
    message = column_from_values(["division by zero"], SqlType.TEXT)
    shard.append(numbers(1, time=0), Updates.of((message,), 0), 1)
    shard.append(None, Updates.of((message,), 1, -1), 2)
    assert shard.read(0) == (None, "division by zero")
    oks, error = shard.read(1)
    assert (rows(oks), error) == ({1: 1}, None)


@pytest.mark.parametrize("seed", range(5))
def test_both_forms_agree_with_counting(seed: int) -> None:
    random_ = random.Random(seed)
    arranged, log = Arranged(Layout(1, (0,))), Log()
    expected: dict[int, int] = {}
    for time in range(60):
        values = [random_.randrange(20) for _ in range(random_.randrange(1, 6))]
        diff = random_.choice([1, 1, -1])
        for contents in (arranged, log):
            contents.append(numbers(*values, time=time, diff=diff), time, time + 1)
        for value in values:
            expected[value] = expected.get(value, 0) + diff
        if random_.random() < 0.2:
            since = random_.randrange(time + 1)
            arranged.advance_since(since)
            log.advance_since(since)
            arranged.maintain(50)
    net = {value: count for value, count in expected.items() if count}
    assert rows(at(arranged, 59)) == net
    assert rows(at(log, 59)) == net
