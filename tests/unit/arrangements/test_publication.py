"""Publications: what other threads see of an arrangement, and when they are told."""

from __future__ import annotations

import random
import threading
from collections import Counter

import pytest

from pillion.dataflow.arrangements.arrangement import Arrangement
from pillion.dataflow.arrangements.batch import Batch, Layout
from pillion.dataflow.arrangements.publication import Publication
from pillion.dataflow.arrangements.trace import Trace
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.frontiers import is_beyond, is_sealed
from pillion.messages.ids import GlobalId
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import SqlType

LAYOUT = Layout(2, (0,))
INDEX = GlobalId("u", 1)


def new_trace(since: int = 0) -> Trace:
    arrangement = Arrangement((SqlType.BIGINT, SqlType.BIGINT), 2, LAYOUT, since)
    return Trace(INDEX, ("nonce", 3), (ColumnRef(0),), arrangement, since)


def batch(rows: list[tuple[int, int]], time: int, diff: int = 1) -> Batch:
    columns = tuple(column_from_values([row[i] for row in rows], SqlType.BIGINT) for i in range(2))
    return Batch.build(LAYOUT, Updates.of(columns, time, diff), time, time + 1)


def rows(publication: Publication, time: int) -> Counter[tuple[object, ...]]:
    snapshot = publication.snapshot
    assert snapshot.since <= time
    assert is_sealed(snapshot.upper, time)
    found = snapshot.scan(time).rest()
    return Counter() if found is None else Counter({row: diff for row, _, diff in found.to_tuples()})


def test_it_says_what_it_is_of() -> None:
    trace = new_trace()
    publication = trace.publish()
    assert (publication.id, publication.incarnation, publication.key) == (INDEX, ("nonce", 3), trace.key)
    assert (publication.types, publication.layout) == (trace.arrangement.types, LAYOUT)
    assert publication.key_types == (SqlType.BIGINT,)
    assert trace.publish() is publication


def test_every_seal_compaction_and_merge_replaces_the_snapshot_and_what_was_taken_stays() -> None:
    trace = new_trace()
    publication = trace.publish()
    taken = publication.snapshot
    assert (taken.since, taken.upper) == (0, 0)
    for time in range(20):
        trace.arrangement.seal(batch([(time, time)], time), None, time + 1)
        assert publication.snapshot.upper == time + 1
        assert rows(publication, time) == Counter({(i, i): 1 for i in range(time + 1)})
    early = publication.snapshot
    trace.allow_compaction(15)
    assert trace.arrangement.since == 15
    assert publication.snapshot.since == 15
    before = publication.snapshot.oks
    while trace.arrangement.maintain(1000):
        pass
    assert len(publication.snapshot.oks) < len(before)
    assert rows(publication, 19) == Counter({(i, i): 1 for i in range(20)})
    assert early.since == 0
    assert not taken.oks
    found = early.scan(4).rest()
    assert found is not None
    assert len(found) == 5


def test_two_indexes_on_one_arrangement_are_published_apart() -> None:
    first = new_trace()
    second = Trace(GlobalId("u", 2), ("nonce", 4), first.key, first.arrangement, 0)
    one, other = first.publish(), second.publish()
    first.arrangement.seal(batch([(1, 1)], 0), None, 1)
    first.allow_compaction(None)
    assert one.closed
    first.arrangement.seal(batch([(2, 2)], 1), None, 2)
    assert not other.closed
    assert rows(other, 1) == Counter({(1, 1): 1, (2, 2): 1})


def test_whoever_waits_is_told_once_when_its_time_is_sealed() -> None:
    trace = new_trace()
    publication = trace.publish()
    told: list[int] = []
    for time in (3, 0, 1):
        assert not publication.wait(time, lambda time=time: told.append(time))
    trace.arrangement.seal(None, None, 1)
    assert told == [0]
    trace.arrangement.seal(None, None, 3)
    assert told == [0, 1]
    trace.arrangement.seal(None, None, None)
    assert told == [0, 1, 3]
    assert publication.wait(100, lambda: None)


def test_closing_wakes_everybody_and_leaves_nothing_to_read() -> None:
    trace = new_trace()
    trace.arrangement.seal(batch([(1, 1)], 0), None, 1)
    publication = trace.publish()
    taken = publication.snapshot
    told: list[bool] = []
    assert not publication.wait(7, lambda: told.append(publication.closed))
    trace.allow_compaction(None)
    assert told == [True]
    snapshot = publication.snapshot
    assert not snapshot.oks
    assert all(is_beyond(snapshot.since, time) for time in (0, 1, 7, 2**62))
    assert publication.wait(7, lambda: None)
    assert len(taken.oks) == 1


@pytest.mark.parametrize("seed", range(5))
def test_no_wake_up_is_lost_between_threads(seed: int) -> None:
    rng = random.Random(seed)
    trace = new_trace()
    publication = trace.publish()
    end = 3000
    missed: list[int] = []

    def reader() -> None:
        for time in sorted(rng.sample(range(end), 500)):
            sealed = threading.Event()
            if not publication.wait(time, sealed.set) and not sealed.wait(20):
                missed.append(time)
                return
            snapshot = publication.snapshot
            if not (snapshot.since <= time and is_sealed(snapshot.upper, time)):
                missed.append(time)

    thread = threading.Thread(target=reader)
    thread.start()
    for time in range(end):
        trace.arrangement.seal(batch([(time % 7, time)], time), None, time + 1)
    trace.arrangement.seal(None, None, None)
    thread.join()
    assert not missed
