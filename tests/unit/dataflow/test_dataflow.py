"""Dataflows as a worker sees them: sources, constants, row-by-row operators, sharing, sinks, frontiers."""

from __future__ import annotations

import gc
import random
import weakref
from collections import Counter

import pytest

from pillion.dataflow.arrangements.updates import error_messages
from pillion.messages.dataflows import CopyTo, IndexExport
from pillion.messages.plans import (
    AggregateKind,
    Arrange,
    ConstantNode,
    FlatMapNode,
    GetNode,
    ImportIndex,
    JoinNode,
    MapFilterProject,
    Mfp,
    NegateNode,
    PlannedAggregate,
    ReduceNode,
    ThresholdNode,
    UnionNode,
)
from pillion.messages.relations import Aggregate, TableFunction
from pillion.messages.scalars import Call, ColumnRef, Literal
from pillion.messages.types import SqlType

from .histories import END, play, random_history
from .plans import BIGINT, TEXT, Row, Workers, at, build, describe, index_import, key, source, subscribe, user

SOURCE, OTHER, VIEW, VIEW_2, INDEX, INDEX_2, SINK = (user(n) for n in range(1, 8))
TYPES = (TEXT, BIGINT)
ROWS: list[Row] = [(t, n) for t in ("a", "b", None) for n in (0, 1, 2, None)]


def number(value: int) -> Literal:
    return Literal.of(value, SqlType.BIGINT)


@pytest.mark.parametrize("peers", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_union_negate_threshold_and_map(seed: int, peers: int) -> None:
    rng = random.Random(f"{seed} {peers}")
    one, two = random_history(rng, ROWS, 25), random_history(rng, ROWS, 25)
    less = Call("<", (ColumnRef(1), number(2)))
    plan = (
        GetNode(TYPES, SOURCE),
        Mfp(
            (TEXT, BIGINT, BIGINT), 0, MapFilterProject(2, (Call("+", (ColumnRef(1), number(1))),), (less,), (0, 1, 2))
        ),
        Mfp(TYPES, 1, MapFilterProject(3, projection=(0, 2))),
        GetNode(TYPES, OTHER),
        NegateNode(TYPES, 3),
        UnionNode(TYPES, (2, 4)),
        ThresholdNode(TYPES, 5),
    )
    description = describe(
        sources=[source(SOURCE, TYPES), source(OTHER, TYPES)],
        objects=[build(VIEW, *plan)],
        indexes=[IndexExport(INDEX, VIEW, key(1))],
        sinks=[subscribe(SINK, VIEW)],
    )
    workers = Workers(description, peers)
    play(rng, workers, [(SOURCE, TYPES, one), (OTHER, TYPES, two)])
    for time in range(END):
        mapped = {(t, n + 1): m for (t, n), m in at(one, time).items() if isinstance(n, int) and n < 2}
        expected = Counter(mapped) - at(two, time)
        assert workers.index(INDEX, time) == expected
        assert at(workers.stream(SINK), time) == expected


@pytest.mark.parametrize("peers", [1, 3])
def test_a_failing_row_is_an_error_until_it_is_retracted(peers: int) -> None:
    divide = MapFilterProject(2, (Call("/", (number(6), ColumnRef(1))),), projection=(0, 2))
    plan = (GetNode(TYPES, SOURCE), Mfp(TYPES, 0, divide))
    description = describe(
        sources=[source(SOURCE, TYPES)],
        objects=[build(VIEW, *plan)],
        indexes=[IndexExport(INDEX, VIEW, key(0))],
        sinks=[subscribe(SINK, VIEW)],
    )
    workers = Workers(description, peers)
    # The retraction comes in by way of another worker than the insertion.
    workers.feed(SOURCE, TYPES, 0, 2, [(("a", 0), 1, 1), (("b", 2), 0, 1), (("c", None), 0, 1)])
    workers.feed(SOURCE, TYPES, 2, 5, [(("d", 1), 2, 1), (("d", 1), 3, -1), (("a", 0), 4, -1)])
    workers.run()
    assert [len(workers.errors(INDEX, time)) for time in range(5)] == [0, 1, 1, 1, 0]
    assert "division by zero" in workers.errors(INDEX, 1)[0]
    assert workers.index(INDEX, 4) == Counter({("b", 3): 1, ("c", None): 1})
    shown = [
        (message, diff)
        for dataflow in workers.dataflows
        for chunk in dataflow.sinks[SINK].chunks
        if chunk.errs is not None
        for message, diff in zip(error_messages(chunk.errs), chunk.errs.diffs.tolist(), strict=True)
    ]
    assert sum(diff for _, diff in shown) == 0
    assert len(shown) == 2


@pytest.mark.parametrize("peers", [1, 2])
def test_an_index_by_an_expression(peers: int) -> None:
    by = (Call("/", (number(6), ColumnRef(1))), ColumnRef(0))
    description = describe(sources=[source(SOURCE, TYPES)], indexes=[IndexExport(INDEX, SOURCE, by)])
    workers = Workers(description, peers)
    rows: list[Row] = [("a", 3), ("b", 2), ("b", 3), ("c", None)]
    workers.feed(SOURCE, TYPES, 0, 1, [(row, 0, 1) for row in rows])
    workers.run()
    assert workers.index(INDEX, 0) == Counter(rows)
    assert workers.traces[0][INDEX].types == (SqlType.TEXT, SqlType.BIGINT)
    assert workers.traces[0][INDEX].key_types == (SqlType.BIGINT, SqlType.TEXT)
    workers.feed(SOURCE, TYPES, 1, 2, [(("z", 0), 1, 1)])
    workers.run()
    assert len(workers.errors(INDEX, 1)) == 1


def test_the_snapshot_collapses_to_as_of() -> None:
    workers = Workers(describe(sources=[source(SOURCE, TYPES)], indexes=[IndexExport(INDEX, SOURCE, key(0))], as_of=5))
    workers.feed(SOURCE, TYPES, 0, 3, [(("a", 1), 0, 1), (("b", 1), 1, 1)])
    workers.run()
    assert workers.upper(INDEX) == 5, "nothing is final before as_of"
    workers.feed(SOURCE, TYPES, 3, 7, [(("a", 1), 4, -1), (("c", 1), 6, 1)])
    workers.run()
    assert workers.upper(INDEX) == 7
    snapshot = workers.traces[0][INDEX].snapshot()
    assert snapshot.since == 5
    assert workers.index(INDEX, 5) == Counter({("b", 1): 1})
    assert workers.index(INDEX, 6) == Counter({("b", 1): 1, ("c", 1): 1})


@pytest.mark.parametrize("peers", [1, 2])
def test_until_ends_the_dataflow(peers: int) -> None:
    description = describe(
        sources=[source(SOURCE, TYPES)],
        indexes=[IndexExport(INDEX, SOURCE, key(0))],
        sinks=[subscribe(SINK, SOURCE)],
        as_of=1,
        until=4,
    )
    workers = Workers(description, peers)
    workers.feed(SOURCE, TYPES, 0, 3, [(("a", 1), 0, 1), (("a", 1), 2, 1)])
    workers.run()
    assert workers.upper(INDEX) == 3
    workers.feed(SOURCE, TYPES, 3, 9, [(("a", 1), 3, 1), (("a", 1), 4, 1), (("a", 1), 8, 1)])
    workers.run()
    assert workers.upper(INDEX) is None
    assert workers.upper(SINK) is None
    assert sorted(workers.stream(SINK)) == [(("a", 1), 1, 1), (("a", 1), 2, 1), (("a", 1), 3, 1)]
    workers.feed(SOURCE, TYPES, 9, 10, [(("a", 1), 9, 1)])
    workers.run()
    assert len(workers.stream(SINK)) == 3


def test_until_applies_to_imported_indexes() -> None:
    base = Workers(describe(sources=[source(SOURCE, TYPES)], indexes=[IndexExport(INDEX, SOURCE, key(0))]))
    history = [(("a", n), n, 1) for n in range(8)]
    base.feed(SOURCE, TYPES, 0, 8, history)
    base.run()
    count = ReduceNode(TYPES[:1], 0, key(0), ())
    description = describe(
        imports=[index_import(INDEX, SOURCE, key(0), TYPES)],
        objects=[build(VIEW, ImportIndex(TYPES, INDEX, key(0))), build(VIEW_2, GetNode(TYPES, SOURCE), count)],
        sinks=[subscribe(SINK, VIEW), subscribe(user(99), VIEW_2)],
        as_of=2,
        until=5,
    )
    workers = Workers(description, traces=base.traces)
    workers.run()
    assert sorted(workers.stream(SINK)) == [
        (("a", 0), 2, 1),
        (("a", 1), 2, 1),
        (("a", 2), 2, 1),
        (("a", 3), 3, 1),
        (("a", 4), 4, 1),
    ]
    assert workers.upper(SINK) is None
    assert workers.stream(user(99)) == [(("a",), 2, 1)]
    assert base.traces[0][INDEX].arrangement.readers == [], "what is finished holds nothing"


@pytest.mark.parametrize("peers", [1, 3])
def test_a_constant_is_there_once_and_forever(peers: int) -> None:
    rows = ((Literal.of("a", SqlType.TEXT), number(1)), (Literal.of(None, SqlType.TEXT), number(2)))
    plan = (ConstantNode(TYPES, rows, (2, 1)), Arrange(TYPES, 0, key(0)))
    description = describe(
        objects=[build(VIEW, *plan)],
        indexes=[IndexExport(INDEX, VIEW, key(0))],
        sinks=[subscribe(SINK, VIEW), subscribe(user(99), VIEW, connection=CopyTo("/dev/null"))],
        as_of=3,
    )
    workers = Workers(description, peers)
    workers.run()
    assert workers.upper(INDEX) is None
    assert workers.index(INDEX, 3) == workers.index(INDEX, 1000) == Counter({("a", 1): 2, (None, 2): 1})
    assert sum(1 for d in workers.dataflows if any(c.oks for c in d.sinks[user(99)].chunks)) == 1, "one writes the file"
    assert at(workers.stream(user(99)), 3) == at(workers.stream(SINK), 3) == workers.index(INDEX, 3)


def test_empty_constants_and_unions() -> None:
    plan = (ConstantNode(TYPES, ()), UnionNode(TYPES, ()), UnionNode(TYPES, (0, 1)))
    workers = Workers(describe(objects=[build(VIEW, *plan)], indexes=[IndexExport(INDEX, VIEW, key())]))
    workers.run()
    assert workers.upper(INDEX) is None
    assert workers.index(INDEX, 7) == Counter()


def test_an_arrangement_is_built_once_and_reused_under_every_id() -> None:
    plan = (GetNode(TYPES, SOURCE), Arrange(TYPES, 0, key(0)))
    base = Workers(
        describe(
            sources=[source(SOURCE, TYPES)],
            objects=[build(VIEW, *plan)],
            indexes=[
                IndexExport(INDEX, SOURCE, key(0)),
                IndexExport(INDEX_2, VIEW, key(0)),
                IndexExport(user(50), VIEW, key(1)),
            ],
        )
    )
    traces = base.traces[0]
    assert traces[INDEX].arrangement is traces[INDEX_2].arrangement
    assert traces[user(50)].arrangement is not traces[INDEX].arrangement
    base.feed(SOURCE, TYPES, 0, 2, [(("a", 1), 0, 1)])
    base.run()
    again = Workers(
        describe(
            imports=[index_import(INDEX, SOURCE, key(0), TYPES)],
            indexes=[IndexExport(user(60), SOURCE, key(0)), IndexExport(user(61), SOURCE, key(1))],
            as_of=1,
        ),
        traces=base.traces,
    )
    again.run()
    assert again.traces[0][user(60)].arrangement is traces[INDEX].arrangement
    for id in (INDEX, INDEX_2, user(50)):
        traces[id].allow_compaction(None)
    assert base.dataflows[0].in_use, "another dataflow goes on with its arrangement"
    base.feed(SOURCE, TYPES, 2, 3, [(("b", 1), 2, 1)])
    base.run()
    again.run()
    assert again.index(user(60), 2) == again.index(user(61), 2) == Counter({("a", 1): 1, ("b", 1): 1})
    again.dataflows[0].indexes[user(60)].allow_compaction(None)
    assert base.dataflows[0].in_use, "the other dataflow still reads it"
    again.dataflows[0].close()
    assert not base.dataflows[0].in_use


def test_an_import_is_refused_behind_its_since() -> None:
    base = Workers(describe(sources=[source(SOURCE, TYPES)], indexes=[IndexExport(INDEX, SOURCE, key(0))]))
    base.feed(SOURCE, TYPES, 0, 9, [])
    base.run()
    base.traces[0][INDEX].allow_compaction(5)
    description = describe(
        imports=[index_import(INDEX, SOURCE, key(0), TYPES)],
        objects=[build(VIEW, ImportIndex(TYPES, INDEX, key(0)))],
        sinks=[subscribe(SINK, VIEW)],
        as_of=4,
    )
    with pytest.raises(ValueError, match="cannot hold 4"):
        Workers(description, traces=base.traces)


@pytest.mark.parametrize("peers", [1, 2])
def test_a_sink_without_snapshot_and_up_to_a_time(peers: int) -> None:
    description = describe(
        sources=[source(SOURCE, TYPES)], sinks=[subscribe(SINK, SOURCE, with_snapshot=False, up_to=6)], as_of=2
    )
    workers = Workers(description, peers)
    workers.feed(SOURCE, TYPES, 0, 4, [(("a", 1), 1, 1), (("b", 1), 2, 1), (("c", 1), 3, 1), (("c", 1), 3, 1)])
    workers.run()
    assert workers.upper(SINK) == 4
    assert workers.stream(SINK) == [(("c", 1), 3, 2)]
    workers.feed(SOURCE, TYPES, 4, 9, [(("d", 1), 5, 1), (("d", 1), 5, -1), (("e", 1), 6, 1), (("a", 1), 5, -1)])
    workers.run()
    assert workers.upper(SINK) is None
    assert workers.stream(SINK)[1:] == [(("a", 1), 5, -1)]


@pytest.mark.parametrize("peers", [1, 2, 3])
def test_workers_that_cut_time_differently(peers: int) -> None:
    rng = random.Random(peers)
    history = random_history(rng, ROWS, 40)
    description = describe(
        sources=[source(SOURCE, TYPES)], indexes=[IndexExport(INDEX, SOURCE, key(0))], sinks=[subscribe(SINK, SOURCE)]
    )
    workers = Workers(description, peers)
    for worker, dataflow in enumerate(workers.dataflows):
        share = history[worker::peers]
        lower = 0
        while lower < END:
            upper = rng.randrange(lower, END) + 1
            workers.feed_worker(worker, SOURCE, TYPES, lower, upper, [u for u in share if lower <= u[1] < upper])
            lower = upper
            if rng.random() < 0.5:
                dataflow.step()
    workers.run()
    for time in range(END):
        assert workers.index(INDEX, time) == at(history, time) == at(workers.stream(SINK), time)


@pytest.mark.parametrize("peers", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_reduction_by_an_expression_and_a_grouping_of_it(seed: int, peers: int) -> None:
    rng = random.Random(f"{seed} {peers}")
    history = random_history(rng, ROWS, 30)
    plan = (
        GetNode(TYPES, SOURCE),
        ReduceNode((BIGINT, TEXT), 0, (Call("%", (ColumnRef(1), number(2))), ColumnRef(0)), ()),
        ReduceNode((TEXT,), 1, key(1), ()),
    )
    description = describe(
        sources=[source(SOURCE, TYPES)],
        objects=[build(VIEW, *plan[:2]), build(VIEW_2, *plan)],
        indexes=[IndexExport(INDEX, VIEW, key(0, 1)), IndexExport(INDEX_2, VIEW_2, key(0))],
    )
    workers = Workers(description, peers)
    play(rng, workers, [(SOURCE, TYPES, history)])
    for time in range(END):
        rows = at(history, time)
        assert workers.index(INDEX, time) == Counter({(n if n is None else n % 2, t) for t, n in rows})
        assert workers.index(INDEX_2, time) == Counter({(t,) for t, _ in rows})


def test_input_upper_is_the_least_of_what_is_read() -> None:
    base = Workers(describe(sources=[source(SOURCE, TYPES)], indexes=[IndexExport(INDEX, SOURCE, key(0))]))
    plan = (ImportIndex(TYPES, INDEX, key(0)), GetNode(TYPES, OTHER), UnionNode(TYPES, (0, 1)))
    description = describe(
        sources=[source(OTHER, TYPES)],
        imports=[index_import(INDEX, SOURCE, key(0), TYPES)],
        objects=[build(VIEW, *plan)],
        sinks=[subscribe(SINK, VIEW)],
    )
    workers = Workers(description, traces=base.traces)
    dataflow = workers.dataflows[0]
    assert dataflow.input_upper() == 0
    base.feed(SOURCE, TYPES, 0, 7, [])
    base.run()
    workers.feed(OTHER, TYPES, 0, 3, [])
    assert dataflow.input_upper() == 3
    workers.feed(OTHER, TYPES, 3, None, [])
    assert dataflow.input_upper() == 7
    assert workers.upper(SINK) == 0
    workers.run()
    assert workers.upper(SINK) == 7
    with pytest.raises(KeyError):
        dataflow.upper(user(1234))


def test_an_interval_without_changes_reaches_every_export() -> None:
    plan = (GetNode(TYPES, SOURCE), ReduceNode((TEXT,), 0, key(0), ()), Arrange((TEXT,), 1, key(0)))
    description = describe(
        sources=[source(SOURCE, TYPES)],
        objects=[build(VIEW, *plan)],
        indexes=[IndexExport(INDEX, VIEW, key(0))],
        sinks=[subscribe(SINK, VIEW)],
    )
    workers = Workers(description, 2)
    for time in range(5):
        workers.feed(SOURCE, TYPES, time, time + 1, [])
        workers.run()
        assert workers.upper(INDEX) == workers.upper(SINK) == time + 1
    assert workers.stream(SINK) == []


@pytest.mark.parametrize("peers", [1, 2])
def test_a_table_function_yields_rows_beside_its_own(peers: int) -> None:
    series = TableFunction("generate_series")
    arguments = (number(1), number(3), ColumnRef(1))
    plan = (GetNode(TYPES, SOURCE), FlatMapNode((*TYPES, BIGINT), 0, series, arguments))
    description = describe(
        sources=[source(SOURCE, TYPES)],
        objects=[build(VIEW, *plan)],
        indexes=[IndexExport(INDEX, VIEW, key(0))],
    )
    workers = Workers(description, peers)
    workers.feed(SOURCE, TYPES, 0, 1, [(("a", 1), 0, 2), (("b", 2), 0, 1), (("c", None), 0, 1)])
    workers.feed(SOURCE, TYPES, 1, 3, [(("a", 1), 1, -1), (("d", 0), 1, 1), (("d", 0), 2, -1)])
    workers.run()
    series_of: Counter[Row] = Counter({("a", 1, 1): 2, ("a", 1, 2): 2, ("a", 1, 3): 2, ("b", 2, 1): 1, ("b", 2, 3): 1})
    assert workers.index(INDEX, 0) == series_of
    assert ["step size" in message for message in workers.errors(INDEX, 1)] == [True]
    series_of.subtract({("a", 1, n): 1 for n in (1, 2, 3)})
    assert workers.errors(INDEX, 2) == []
    assert workers.index(INDEX, 2) == series_of


@pytest.mark.parametrize("peers", [1, 2])
def test_what_a_dataflow_kept_is_freed_with_it_and_not_by_a_garbage_collection(peers: int) -> None:
    plan = (
        GetNode(TYPES, SOURCE),
        Arrange(TYPES, 0, key(0)),
        GetNode(TYPES, OTHER),
        Arrange(TYPES, 2, key(0)),
        JoinNode(TYPES, 1, 3, MapFilterProject(4, projection=(0, 3))),
        ReduceNode(TYPES, 4, key(0), (PlannedAggregate(Aggregate("max", ColumnRef(1)), AggregateKind.HIERARCHICAL),)),
    )
    description = describe(
        sources=[source(SOURCE, TYPES), source(OTHER, TYPES)],
        objects=[build(VIEW, *plan)],
        indexes=[IndexExport(INDEX, VIEW, key(1)), IndexExport(INDEX_2, VIEW, key(0))],
    )
    gc.collect()
    gc.disable()
    try:
        workers = Workers(description, peers)
        for input in (SOURCE, OTHER):
            workers.feed(input, TYPES, 0, 5, [(row, 1, 1) for row in ROWS])
        workers.run()
        batches = [t.arrangement.oks.batches for traces in workers.traces for t in traces.values()]
        arrays = [weakref.ref(batch.order) for some in batches for batch in some]
        assert len(arrays) >= 2
        del batches
        for dataflow in workers.dataflows:
            for trace in dataflow.indexes.values():
                trace.allow_compaction(None)
            assert not dataflow.in_use
            dataflow.close()
        del workers, dataflow, trace
        assert [array() for array in arrays] == [None] * len(arrays)
    finally:
        gc.enable()
