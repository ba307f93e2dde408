"""Steps of bounded work: operators that stop in the middle of an interval, and go on."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter

import pytest

from pillion.dataflow.arrangements.updates import Chunk, Updates
from pillion.dataflow.operators.agenda import Agenda
from pillion.dataflow.operators.closure import JoinOutput
from pillion.dataflow.operators.exchange import Exchange, by_columns
from pillion.dataflow.operators.join import Join
from pillion.dataflow.operators.operator import UnaryLogic
from pillion.dataflow.operators.parts import divisions
from pillion.dataflow.operators.reduce.logic import ReduceLogic
from pillion.dataflow.operators.rowwise import FlatMap
from pillion.dataflow.operators.threshold import ThresholdLogic
from pillion.dataflow.operators.topk import TopKLogic
from pillion.messages.dataflows import IndexExport
from pillion.messages.plans import (
    AggregateKind,
    Arrange,
    FlatMapNode,
    GetNode,
    ImportIndex,
    JoinNode,
    MapFilterProject,
    Mfp,
    PlannedAggregate,
    ReduceNode,
    ThresholdNode,
    TopKNode,
)
from pillion.messages.relations import Aggregate, Order, TableFunction
from pillion.messages.scalars import Call, ColumnRef, Literal
from pillion.messages.types import ColumnType, SqlType

from .plans import BIGINT, Row, Workers, at, build, describe, index_import, key, source, subscribe, updates_of, user

LEFT, RIGHT, VIEW, VIEW_2, INDEX, INDEX_2, SINK = (user(n) for n in range(1, 8))
TYPES = (BIGINT, BIGINT)
COUNT = PlannedAggregate(Aggregate("count"), AggregateKind.ACCUMULABLE)
SUM = PlannedAggregate(Aggregate("sum", ColumnRef(1)), AggregateKind.ACCUMULABLE)


def skewed(fuel: int | None, size: int) -> Workers:
    """A join of two sources with one key, grouped; fed with so many rows on both sides."""
    plan = (
        GetNode(TYPES, LEFT),
        Arrange(TYPES, 0, key(0)),
        GetNode(TYPES, RIGHT),
        Arrange(TYPES, 2, key(0)),
        JoinNode(TYPES, 1, 3, MapFilterProject(4, projection=(1, 3))),
        ReduceNode((BIGINT, BIGINT, ColumnType(SqlType.BIGINT)), 4, key(0), (COUNT, SUM)),
    )
    description = describe(
        sources=[source(LEFT, TYPES), source(RIGHT, TYPES)],
        objects=[build(VIEW, *plan)],
        indexes=[IndexExport(INDEX, VIEW, key(0))],
    )
    workers = Workers(description, fuel=fuel)
    for input in (LEFT, RIGHT):
        workers.feed(input, TYPES, 0, 1, [((1, n), 0, 1) for n in range(size)])
    return workers


def test_a_step_of_a_skewed_join_makes_a_bounded_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [0]
    emit = JoinOutput._emit

    def counted(self: JoinOutput, left: Updates, left_rows, right: Updates, right_rows) -> None:
        made[-1] += len(right if right_rows is None else right_rows)
        emit(self, left, left_rows, right, right_rows)

    monkeypatch.setattr(JoinOutput, "_emit", counted)
    workers = skewed(1000, 300)
    (dataflow,) = workers.dataflows
    while dataflow.step(1000):
        if sum(made) < 300 * 300:
            assert dataflow.upper(INDEX) == 0
        made.append(0)
    assert sum(made) == 300 * 300
    assert max(made) <= 2000
    assert dataflow.upper(INDEX) == 1
    assert workers.index(INDEX, 0) == Counter({(n, 300, sum(range(300))): 1 for n in range(300)})


def test_a_skewed_join_is_not_kept_as_a_whole() -> None:
    size = 2000
    workers = skewed(50_000, size)
    tracemalloc.start()
    try:
        workers.run()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert workers.index(INDEX, 0) == Counter({(n, size, sum(range(size))): 1 for n in range(size)})
    assert most < size * size * 16, "two columns of every pair"


@pytest.mark.parametrize("peers", [1, 2])
def test_what_is_begun_goes_on_after_the_inputs_moved_on(peers: int) -> None:
    plan = (
        GetNode(TYPES, LEFT),
        Arrange(TYPES, 0, key(0)),
        GetNode(TYPES, RIGHT),
        Arrange(TYPES, 2, key(0)),
        JoinNode(TYPES, 1, 3, MapFilterProject(4, projection=(1, 3))),
    )
    description = describe(
        sources=[source(LEFT, TYPES), source(RIGHT, TYPES)],
        objects=[build(VIEW, *plan)],
        sinks=[subscribe(SINK, VIEW)],
    )
    workers = Workers(description, peers, fuel=10)
    for time in range(5):
        for input in (LEFT, RIGHT):
            workers.feed(input, TYPES, time, time + 1, [((n % 2, 10 * time + n), time, 1) for n in range(8)])
        workers.advance(3)
    workers.run()
    assert workers.upper(SINK) == 5
    for time in range(5):
        values = [(10 * t + n, n % 2) for t in range(time + 1) for n in range(8)]
        expected: Counter[Row] = Counter((a, b) for a, x in values for b, y in values if x == y)
        assert at(workers.stream(SINK), time) == expected


@pytest.mark.parametrize("peers", [1, 2])
@pytest.mark.parametrize("fuel", [1, 7, 1000, None])
def test_an_imported_arrangement_is_read_in_parts(peers: int, fuel: int | None) -> None:
    base = Workers(
        describe(
            sources=[source(LEFT, TYPES)],
            objects=[build(VIEW, GetNode(TYPES, LEFT))],
            indexes=[IndexExport(INDEX, VIEW, key(0))],
        ),
        peers,
    )
    rows = [((n, n % 5), n % 3, 1) for n in range(50)]
    for time in range(3):
        base.feed(LEFT, TYPES, time, time + 1, [u for u in rows if u[1] == time])
    base.run()
    plan = (
        ImportIndex(TYPES, INDEX, key(0)),
        Mfp(TYPES, 0, MapFilterProject(2, (Call("+", (ColumnRef(0), ColumnRef(1))),), (), (1, 2))),
        ReduceNode((BIGINT, BIGINT), 1, key(0), (COUNT,)),
    )
    description = describe(
        imports=[index_import(INDEX, VIEW, key(0), TYPES)],
        objects=[build(VIEW_2, *plan)],
        indexes=[IndexExport(INDEX_2, VIEW_2, key(0))],
    )
    workers = Workers(description, peers, traces=base.traces, fuel=fuel)
    workers.run()
    for time in range(3):
        present = at(rows, time)
        expected = Counter((value, n) for value, n in Counter(value for _, value in present).items())
        assert workers.index(INDEX_2, time) == expected


def logics() -> list[UnaryLogic]:
    series = TableFunction("generate_series")
    arguments = (Literal.of(1, SqlType.BIGINT), ColumnRef(1))
    return [
        ReduceLogic(ReduceNode(TYPES, 0, (Call("%", (ColumnRef(0), Literal.of(9, SqlType.BIGINT))),), (COUNT,)), TYPES),
        TopKLogic(TopKNode(TYPES, 0, (0,), (Order(1),), 2), TYPES),
        ThresholdLogic(ThresholdNode(TYPES, 0)),
        FlatMap(FlatMapNode((*TYPES, BIGINT), 0, series, arguments), TYPES, trust=False),
    ]


def read(chunks: list[Chunk]) -> tuple[Counter[object], Counter[object]]:
    oks: Counter[object] = Counter()
    errs: Counter[object] = Counter()
    for chunk in chunks:
        for updates, counted in ((chunk.oks, oks), (chunk.errs, errs)):
            for row, time, diff in updates.to_tuples() if updates is not None else []:
                counted[row, time] += diff
    return Counter({u: n for u, n in oks.items() if n}), Counter({u: n for u, n in errs.items() if n})


@pytest.mark.parametrize("fuel", [1, 7, 60])
@pytest.mark.parametrize("which", range(4))
def test_parts_are_together_what_the_whole_is(which: int, fuel: int) -> None:
    updates = [((n % 20, n % 6), n % 2, -1 if n % 13 == 0 else 1) for n in range(100)]
    errors = updates_of((ColumnType(SqlType.TEXT),), [(("went wrong",), 0, 1)])
    chunk = Chunk(0, 2, updates_of(TYPES, updates), errors)
    parts = list(logics()[which].process_in_parts(chunk, fuel))
    assert read(parts) == read([logics()[which].process(chunk)])
    assert len(parts) > 1
    if which == 3:
        assert max(part.size for part in parts) <= 2 * max(fuel, 6)


def test_rows_of_a_group_stay_together_and_groups_do_not() -> None:
    oks = updates_of(TYPES, [((n % 50, n), 0, 1) for n in range(1000)])
    assert oks is not None
    parts = [part.oks for part in divisions(Chunk(0, 1, oks), oks.columns[:1], 100)]
    groups = [{row[0] for row, _, _ in part.to_tuples()} for part in parts if part is not None]
    assert sum(len(some) for some in groups) == len(set.union(*groups)) == 50
    assert sorted(u for part in parts if part is not None for u in part.to_tuples()) == sorted(oks.to_tuples())
    assert len(groups) > 5


def test_an_exchange_sends_a_large_chunk_in_parts() -> None:
    agenda = Agenda()
    sent: list[tuple[int, int, Chunk]] = []
    exchange = Exchange(agenda, 0, by_columns((0,), 2), 0, 0, 2, sent)
    exchange.input.push(Chunk(0, 0, updates_of(TYPES, [((n, n), 0, 1) for n in range(100)])))
    exchange.input.push(Chunk(0, 3, updates_of(TYPES, [((n, n), 2, 1) for n in range(100)])))
    while agenda.step(10):
        assert sum(chunk.size for _, _, chunk in sent) <= 20
        assert all(chunk.size for _, _, chunk in sent if chunk.upper == 0)
        if sent and sent[-1][2].upper == 3:
            break
        sent.clear()
    assert (sent[-1][2].lower, sent[-1][2].upper) == (0, 3)


def joins() -> int:
    return sum(isinstance(thing, Join) for thing in gc.get_objects())


def test_what_was_begun_is_freed_with_the_dataflow() -> None:
    gc.collect()
    gc.disable()
    try:
        before = joins()  # What other tests left, in a process that ran several.
        workers = skewed(100, 300)
        (dataflow,) = workers.dataflows
        for _ in range(20):
            dataflow.step(100)
        assert dataflow.upper(INDEX) == 0
        assert joins() == before + 1
        dataflow.close()
        assert joins() == before
    finally:
        gc.enable()
