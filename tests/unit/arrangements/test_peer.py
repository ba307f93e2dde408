"""Peer arrangements: readers on the other side see what readers of the arrangement itself see, whatever the publisher
merges and compacts in the meantime and however seldom they look."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pillion.dataflow.arrangements.arrangement import Arrangement
from pillion.dataflow.arrangements.batch import Batch, Layout
from pillion.dataflow.arrangements.peer import PeerArrangement
from pillion.dataflow.arrangements.trace import Trace
from pillion.dataflow.arrangements.updates import Updates, concat_updates
from pillion.dataflow.columns.column import column_from_values
from pillion.dataflow.operators.intake import Intake
from pillion.messages.frontiers import Timestamp, is_sealed
from pillion.messages.ids import GlobalId
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import SqlType

LAYOUT = Layout(1, (0,))
INDEX = GlobalId("u", 1)
TYPES = (SqlType.BIGINT,)
Rows = Counter[int]


def batch(changes: list[tuple[int, int]], lower: Timestamp, upper: Timestamp, rng: random.Random) -> Batch | None:
    if not changes:
        return None
    times = [rng.randrange(lower, upper) for _ in changes]
    parts = [
        Updates.of((column_from_values([row], SqlType.BIGINT),), time, diff)
        for (row, diff), time in zip(changes, times, strict=True)
    ]
    return Batch.build(LAYOUT, concat_updates(parts), lower, upper)


class Sides:
    """An arrangement, and the peer through which the other runtime reads it."""

    def __init__(self, as_of: Timestamp = 0) -> None:
        self.arrangement = Arrangement(TYPES, 1, LAYOUT, as_of)
        self.trace = Trace(INDEX, ("", 0), (ColumnRef(0),), self.arrangement, as_of)
        self.publication = self.trace.publish(standing=True)
        self.peer = PeerArrangement(TYPES, 1, LAYOUT, as_of)
        self.mine = Trace(INDEX, ("", 0), (ColumnRef(0),), self.peer, as_of)
        self.truth: list[tuple[int, Timestamp, int]] = []

    def bind(self) -> None:
        self.peer.bind(self.publication)

    def seal(self, upper: Timestamp, *changes: tuple[int, int], rng: random.Random | None = None) -> None:
        lower = self.arrangement.upper
        assert lower is not None
        made = batch(list(changes), lower, upper, rng or random.Random(0))
        if made is not None:
            self.truth += [(int(row[0]), time, diff) for row, time, diff in made.updates.to_tuples()]  # type: ignore[call-overload]
        self.arrangement.seal(made, None, upper)

    def at(self, time: Timestamp) -> Rows:
        rows: Rows = Counter()
        for row, when, diff in self.truth:
            rows[row] += diff if when <= time else 0
        return Counter({row: count for row, count in rows.items() if count})


class Follower:
    """Integrates what an operator would take."""

    def __init__(self, sides: Sides, as_of: Timestamp) -> None:
        self.sides = sides
        self.as_of = as_of
        self.intake = Intake(sides.peer, as_of, None)
        self.taken: list[tuple[int, Timestamp, int]] = []
        self.upper = as_of

    def run(self) -> None:
        upper = self.intake.upper
        assert upper is not None
        if upper <= self.upper:
            return
        oks, _ = self.intake.take(upper)
        for taken in oks:
            for row, time, diff in taken.updates.to_tuples():
                assert self.upper <= time < upper
                self.taken.append((int(row[0]), time, diff))  # type: ignore[call-overload]
        self.intake.done(upper)
        self.upper = upper

    def check(self) -> None:
        for time in range(self.as_of, self.upper):
            rows: Rows = Counter()
            for row, when, diff in self.taken:
                rows[row] += diff if when <= time else 0
            assert Counter({row: count for row, count in rows.items() if count}) == self.sides.at(time), time


@pytest.mark.parametrize("seed", range(60))
def test_readers_see_every_change_once_whenever_they_look(seed: int) -> None:
    rng = random.Random(seed)
    sides = Sides(rng.choice((0, 3)))
    followers: list[Follower] = []
    allowed = sides.peer.since
    bound = False
    for _ in range(120):
        action = rng.random()
        upper = sides.arrangement.upper
        assert upper is not None
        if action < 0.35:
            present = list(sides.at(upper).elements())
            changes = [(rng.randrange(5), 1) for _ in range(rng.randrange(4))]
            # What is there in the end may be retracted; a sum that is negative on the way is none of our business.
            changes += [(row, -1) for row in rng.sample(present, rng.randrange(min(2, len(present)) + 1))]
            sides.seal(upper + rng.randrange(1, 4), *changes, rng=rng)
        elif action < 0.5:
            while sides.arrangement.maintain(1000):
                pass
        elif action < 0.6:
            allowed = rng.randrange(allowed, upper + 3)
            sides.trace.allow_compaction(allowed)
            if rng.random() < 0.7:
                sides.mine.allow_compaction(allowed)
                assert sides.peer.held is not None
        elif action < 0.75:
            if not bound:
                sides.bind()
                bound = True
            sides.peer.refresh()
            assert sides.peer.since <= (sides.peer.held or 0)
        elif action < 0.85:
            since = sides.mine.since
            assert since is not None
            followers.append(Follower(sides, rng.randrange(since, max(upper, since) + 3)))
        elif followers:
            follower = rng.choice(followers)
            if follower.upper > follower.as_of and rng.random() < 0.2:
                # Only what comes later is needed, as when the other side of a join has ended.
                follower.intake.release()
            follower.run()
    if not bound:
        sides.bind()
    sides.peer.refresh()
    assert sides.peer.upper == sides.arrangement.upper
    for follower in followers:
        follower.run()
        follower.check()
    since, upper = sides.mine.since, sides.peer.upper
    assert since is not None and upper is not None
    for time in range(since, upper):
        assert is_sealed(upper, time)
        found = sides.mine.snapshot().scan(time)
        rows: Rows = Counter()
        while not found.done:
            updates = found.step(2)
            for row, _, diff in () if updates is None else updates.to_tuples():
                rows[int(row[0])] += diff  # type: ignore[call-overload]
        assert rows == sides.at(time)


def test_before_it_is_bound_it_is_as_one_that_was_just_made() -> None:
    sides = Sides(as_of=4)
    assert (sides.peer.since, sides.peer.upper, sides.mine.since) == (4, 4, 4)
    assert not sides.peer.refresh()
    assert not sides.mine.snapshot().oks


def test_it_moves_only_when_it_is_told_to_look() -> None:
    sides = Sides()
    sides.bind()
    sides.seal(3, (1, 1))
    assert sides.peer.upper == 0
    assert sides.peer.refresh()
    assert sides.peer.upper == 3
    assert not sides.peer.refresh()
    assert sides.mine.snapshot().oks == sides.trace.snapshot().oks


def test_the_publisher_compacts_no_further_than_the_other_side_has_heard() -> None:
    sides = Sides()
    sides.bind()
    sides.seal(9, (1, 1))
    sides.trace.allow_compaction(6)
    sides.seal(10)
    assert sides.arrangement.since == 0
    sides.mine.allow_compaction(4)
    assert sides.peer.held == 4
    sides.seal(11)
    assert sides.arrangement.since == 4
    with pytest.raises(ValueError, match="cannot hold 3: the peer is held at"):
        sides.peer.hold(3)


def test_once_nobody_holds_it_the_publisher_is_free() -> None:
    sides = Sides()
    sides.bind()
    sides.seal(9, (1, 1))
    reader = Intake(sides.peer, 5, 6)
    sides.mine.allow_compaction(None)
    assert sides.peer.held == 5
    reader.close()
    assert sides.peer.held is None
    sides.trace.allow_compaction(8)
    sides.seal(10)
    assert sides.arrangement.since == 8


def test_a_state_that_is_claimed_stays_and_what_is_told_later_happens_later() -> None:
    sides = Sides()
    sides.bind()
    sides.seal(1, (1, 1))
    sides.peer.refresh()
    follower = Follower(sides, 5)
    sides.peer.claim(7)
    follower.run()
    assert follower.taken == [(1, 5, 1)]
    sides.seal(4, (2, 1))
    sides.peer.refresh()
    assert sides.peer.upper == 8
    sides.seal(12, (3, 1))
    sides.peer.refresh()
    follower.run()
    assert sides.peer.upper == 12
    late = {row: time for row, time, _ in follower.taken if row != 1}
    assert set(late) == {2, 3}
    assert late[2] == 8
    assert late[3] >= 8


def test_a_reader_that_let_go_of_the_past_is_not_given_it_again() -> None:
    """Compaction must not move what was given out to times that are still to come."""
    sides = Sides()
    sides.bind()
    sides.seal(3, (1, 1), (2, 1))
    sides.peer.refresh()
    follower = Follower(sides, 0)
    follower.run()
    follower.intake.release()
    sides.seal(9, (3, 1))
    sides.trace.allow_compaction(8)
    sides.mine.allow_compaction(8)
    assert sides.peer.held == 2
    sides.seal(10)
    while sides.arrangement.maintain(1000):
        pass
    sides.peer.refresh()
    follower.run()
    assert sorted(row for row, _, _ in follower.taken) == [1, 2, 3]
