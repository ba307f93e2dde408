from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from pillion.messages.dataflows import IndexExport
from pillion.messages.plans import Arrange, GetNode, ImportIndex, JoinNode, MapFilterProject
from pillion.messages.types import ColumnType

from .histories import END, play, random_history
from .plans import BIGINT, TEXT, Row, Workers, at, build, describe, index_import, joined, key, source, subscribe, user

LEFT, RIGHT, JOINED, INDEX, SINK = (user(n) for n in range(5))
LEFT_INDEX, RIGHT_INDEX = user(7), user(8)
TYPES = (TEXT, BIGINT)
ROWS: list[Row] = list(itertools.product(["a", "b", None, "c"], [0, 1, None]))


def join_of(
    left: int, right: int, on: tuple[tuple[int, ...], tuple[int, ...]], projection: tuple[int, ...] | None = None
) -> JoinNode:
    mfp = MapFilterProject(4, projection=projection) if projection is not None else MapFilterProject.identity(4)
    types: tuple[ColumnType, ...] = TYPES + TYPES
    return JoinNode(tuple(types[p] for p in mfp.projection), left, right, mfp)


def two_sources(on: tuple[tuple[int, ...], tuple[int, ...]], as_of: int = 0):
    plan = (
        GetNode(TYPES, LEFT),
        Arrange(TYPES, 0, key(*on[0])),
        GetNode(TYPES, RIGHT),
        Arrange(TYPES, 2, key(*on[1])),
        join_of(1, 3, on),
    )
    return describe(
        sources=[source(LEFT, TYPES), source(RIGHT, TYPES)],
        objects=[build(JOINED, *plan)],
        indexes=[IndexExport(INDEX, JOINED, key(1))],
        sinks=[subscribe(SINK, JOINED)],
        as_of=as_of,
    )


@pytest.mark.parametrize("peers", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("on", [((0,), (0,)), ((0, 1), (0, 1)), ((1, 0), (1, 0)), ((), ())])
def test_a_join_is_right_at_every_time(collisions: bool, seed: int, peers: int, on) -> None:
    rng = random.Random(f"{seed} {peers} {on}")
    left, right = random_history(rng, ROWS, 25), random_history(rng, ROWS, 15)
    as_of = rng.randrange(END)
    workers = Workers(two_sources(on, as_of), peers, fuel=rng.choice((None, 1, 5)))
    play(rng, workers, [(LEFT, TYPES, left), (RIGHT, TYPES, right)])
    pairs = list(zip(*on, strict=True))
    for time in range(as_of, END):
        expected = joined(at(left, time), at(right, time), pairs)
        assert workers.index(INDEX, time) == expected
        assert at(workers.stream(SINK), time) == expected
    assert workers.upper(INDEX) == workers.upper(SINK)
    assert workers.upper(INDEX) in (END, None)


@pytest.mark.parametrize("seed", range(6))
def test_multiplicities_multiply_negative_ones_too(collisions: bool, seed: int) -> None:
    rng = random.Random(seed)
    left, right = (random_history(rng, ROWS, 20, negative=True) for _ in range(2))
    workers = Workers(two_sources(((0,), (0,))))
    play(rng, workers, [(LEFT, TYPES, left), (RIGHT, TYPES, right)])
    for time in range(END):
        assert at(workers.stream(SINK), time) == joined(at(left, time), at(right, time), [(0, 0)])


@pytest.mark.parametrize("peers", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_a_collection_joined_with_itself(collisions: bool, seed: int, peers: int) -> None:
    rng = random.Random(seed)
    history = random_history(rng, ROWS, 25, negative=True)
    plan = (GetNode(TYPES, LEFT), Arrange(TYPES, 0, key(0)), join_of(1, 1, ((0,), (0,))))
    description = describe(
        sources=[source(LEFT, TYPES)], objects=[build(JOINED, *plan)], sinks=[subscribe(SINK, JOINED)]
    )
    workers = Workers(description, peers)
    play(rng, workers, [(LEFT, TYPES, history)])
    for time in range(END):
        rows = at(history, time)
        assert at(workers.stream(SINK), time) == joined(rows, rows, [(0, 0)])


def indexed_sources(*, peers: int) -> Workers:
    return Workers(
        describe(
            sources=[source(LEFT, TYPES), source(RIGHT, TYPES)],
            indexes=[IndexExport(LEFT_INDEX, LEFT, key(0)), IndexExport(RIGHT_INDEX, RIGHT, key(0))],
        ),
        peers,
    )


@pytest.mark.parametrize("peers", [1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_a_join_of_imported_indexes_that_are_compacted_and_merged_meanwhile(
    collisions: bool, seed: int, peers: int
) -> None:
    rng = random.Random(f"{seed} {peers}")
    left, right = random_history(rng, ROWS, 25), random_history(rng, ROWS, 15)
    base = indexed_sources(peers=peers)
    begin = rng.randrange(1, END)
    play(
        rng,
        base,
        [
            (LEFT, TYPES, [u for u in left if u[1] < begin]),
            (RIGHT, TYPES, [u for u in right if u[1] < begin]),
        ],
        end=begin,
    ) if begin > 1 else None
    lower = begin if begin > 1 else 0
    as_of = rng.randrange(END)
    for traces in base.traces:
        traces[LEFT_INDEX].allow_compaction(rng.randrange(as_of + 1))
        traces[RIGHT_INDEX].allow_compaction(rng.randrange(as_of + 1))
    plan = (
        ImportIndex(TYPES, LEFT_INDEX, key(0)),
        ImportIndex(TYPES, RIGHT_INDEX, key(0)),
        join_of(0, 1, ((0,), (0,))),
    )
    description = describe(
        imports=[index_import(LEFT_INDEX, LEFT, key(0), TYPES), index_import(RIGHT_INDEX, RIGHT, key(0), TYPES)],
        objects=[build(JOINED, *plan)],
        indexes=[IndexExport(INDEX, JOINED, key(0))],
        sinks=[subscribe(SINK, JOINED)],
        as_of=as_of,
    )
    workers = Workers(description, peers, traces=base.traces, fuel=rng.choice((None, 1, 5)))
    times = {LEFT: lower, RIGHT: lower}
    while any(time < END for time in times.values()):
        turn = rng.choice([s for s, time in times.items() if time < END])
        upper = rng.randrange(times[turn], END) + 1
        history = left if turn == LEFT else right
        base.feed(turn, TYPES, times[turn], upper, [u for u in history if times[turn] <= u[1] < upper])
        times[turn] = upper
        base.run()
        for traces in base.traces:
            for id in (LEFT_INDEX, RIGHT_INDEX):
                since = traces[id].since
                assert since is not None
                if rng.random() < 0.5:
                    traces[id].allow_compaction(min(END - 1, since + rng.randrange(3)))
                traces[id].maintain(1000)
        if rng.random() < 0.6:
            workers.run()
        else:
            workers.advance(rng.randrange(4))
    workers.run()
    for time in range(as_of, END):
        expected = joined(at(left, time), at(right, time), [(0, 0)])
        assert workers.index(INDEX, time) == expected
        assert at(workers.stream(SINK), time) == expected


def test_a_skewed_key_is_joined_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pillion.dataflow.operators.closure.SLICE", 7)
    monkeypatch.setattr("pillion.dataflow.operators.closure.MANY", 20)
    left = [(("a", n), 0, 1) for n in range(23)] + [(("b", n), 0, 1) for n in range(5)]
    right = [(("a", n), 0, 1) for n in range(11)] + [(("b", n), 1, 2) for n in range(3)]
    plan = (
        GetNode(TYPES, LEFT),
        Arrange(TYPES, 0, key(0)),
        GetNode(TYPES, RIGHT),
        Arrange(TYPES, 2, key(0)),
        join_of(1, 3, ((0,), (0,)), projection=(0, 3)),
    )
    description = describe(
        sources=[source(LEFT, TYPES), source(RIGHT, TYPES)],
        objects=[build(JOINED, *plan)],
        sinks=[subscribe(SINK, JOINED)],
    )
    workers = Workers(description)
    workers.feed(LEFT, TYPES, 0, 2, left)
    workers.feed(RIGHT, TYPES, 0, 2, right)
    workers.run()
    for time in range(2):
        expected: Counter[Row] = Counter()
        for row, n in joined(at(left, time), at(right, time), [(0, 0)]).items():
            expected[row[0], row[3]] += n
        assert at(workers.stream(SINK), time) == expected
