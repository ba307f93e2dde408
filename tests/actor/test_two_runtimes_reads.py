"""Two runtimes in one process: one-shot reads on the interactive one, over indexes of the other."""

from __future__ import annotations

import gc
import weakref

import msgspec
import pytest

from pillion.dataflow.plans.lower import lower
from pillion.messages.commands import (
    AllowCompaction,
    CreateDataflow,
    IndexTarget,
    Peek,
    Schedule,
    UpdateConfiguration,
)
from pillion.messages.dataflows import BuildDesc, IndexExport, IndexImport, RelationDataflow
from pillion.messages.frontiers import Timestamp
from pillion.messages.ids import GlobalId
from pillion.messages.plans import MapFilterProject
from pillion.messages.relations import Get, Join, Project, Relation
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import Field, Schema, SqlType
from tests.actor.two_runtimes import (
    AGAIN,
    INDEX,
    KEY,
    OTHER_KEY,
    READ,
    SCHEMA,
    SHARED,
    SOURCE,
    TwoRuntimes,
    answered,
    importing,
    maintained,
    one_shot,
    peek,
    rows_in,
    unanswered,
)


def test_a_one_shot_read_runs_beside_a_maintenance_runtime_that_is_busy(two: TwoRuntimes) -> None:
    two.write(0, (1, 10), (2, 20))
    two.start(maintained())
    two.stall(two.maintenance)
    two.start(one_shot(IndexExport(READ, SOURCE, OTHER_KEY), as_of=0))
    assert two.read(0, READ) == [(1, 10), (2, 20)]


def test_a_read_is_built_over_an_index_that_is_not_published_yet(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.stall(two.maintenance)
    two.start(maintained(), one_shot(IndexExport(READ, SOURCE, OTHER_KEY), as_of=0))
    assert len(two.interactive.state.dataflows) == 1
    assert unanswered(two.send(peek(0, id=READ)))
    assert rows_in(answered(two.resume())) == [(1, 10)]


def test_a_read_at_a_time_that_is_not_sealed_waits_for_it(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.start(one_shot(IndexExport(READ, SOURCE, OTHER_KEY), as_of=2))
    assert unanswered(two.send(peek(2, id=READ)) + two.write(1, (2, 20)))
    assert rows_in(answered(two.write(2, (3, 30)))) == [(1, 10), (2, 20), (3, 30)]


def test_a_read_that_lives_for_several_times_follows_each_of_them(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.start(importing(IndexExport(READ, SOURCE, OTHER_KEY), as_of=0, until=4))
    contents = [(1, 10)]
    for time in range(1, 4):
        assert rows_in(answered(two.send(peek(time - 1, id=READ)))) == contents
        two.write(time, (time, time))
        two.send(AllowCompaction(INDEX, time))
        contents = sorted([*contents, (time, time)])
    assert two.read(3, READ) == contents


def test_a_read_of_its_key_uses_the_arrangement_itself(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained(), one_shot(as_of=0))
    assert two.read(0, READ) == [(1, 10)]
    theirs = two.maintenance.state.traces[INDEX].snapshot()
    mine = two.interactive.state.traces[READ].snapshot()
    assert [id(batch) for batch in mine.oks] == [id(batch) for batch in theirs.oks]


@pytest.mark.parametrize("reader_first", [True, False])
@pytest.mark.parametrize("published", [True, False])
def test_an_index_of_an_index_whichever_comes_first(two: TwoRuntimes, reader_first: bool, published: bool) -> None:
    """On either runtime: a second index on the arrangement of the first, and reads of both."""
    two.write(0, (1, 10))
    if not published:
        two.stall(two.maintenance)
    two.start(maintained())
    reader = one_shot(IndexExport(READ, SOURCE, OTHER_KEY), as_of=1)
    export = importing(IndexExport(SHARED, SOURCE, KEY))
    two.start(*([reader, export] if reader_first else [export, reader]))
    two.start(one_shot(IndexExport(AGAIN, SOURCE, KEY), as_of=1, imported=SHARED))
    two.resume()
    two.write(1, (2, 20))
    for id in (INDEX, SHARED, READ, AGAIN):
        assert two.read(1, id) == [(1, 10), (2, 20)]
    theirs = two.maintenance.state
    assert theirs.traces[SHARED].arrangement is theirs.traces[INDEX].arrangement
    assert two.interactive.state.traces[AGAIN].snapshot().oks == two.interactive.state.traces[SHARED].snapshot().oks


def test_a_reader_of_a_re_export_goes_on_when_that_is_dropped(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.start(importing(IndexExport(READ, SOURCE, KEY), as_of=0, until=9))
    two.start(importing(IndexExport(AGAIN, SOURCE, OTHER_KEY), as_of=0, until=9, imported=READ))
    two.send(AllowCompaction(READ, None))
    two.write(1, (2, 20))
    assert two.read(1, AGAIN) == [(1, 10), (2, 20)]


def test_readers_go_on_when_the_index_is_dropped_and_its_memory_goes_with_them(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.start(importing(IndexExport(READ, SOURCE, OTHER_KEY), as_of=0, until=9))
    rows = weakref.ref(two.maintenance.state.traces[INDEX].snapshot().oks[0].order)
    two.send(AllowCompaction(INDEX, None))
    two.write(1, (2, 20))
    assert two.read(1, READ) == [(1, 10), (2, 20)]
    two.send(AllowCompaction(READ, None))
    two.dispatcher.trace.clear()
    gc.collect()
    assert rows() is None
    for state in (two.maintenance.state, two.interactive.state):
        assert not state.dataflows
        assert not state.bundles
        assert not state.published


def self_join(as_of: Timestamp) -> CreateDataflow:
    """Every pair of rows with equal values."""
    index = IndexImport(SHARED, SOURCE, OTHER_KEY, SCHEMA)
    relation: Relation = Join((Get(SOURCE), Get(SOURCE)), ((ColumnRef(1), ColumnRef(3)),))
    schema = Schema(tuple(Field(name, SqlType.BIGINT, False) for name in "abcd"))
    description = RelationDataflow(
        debug_name="pairs",
        source_imports=(),
        index_imports=(),
        objects_to_build=(BuildDesc(GlobalId("t", 90), Project(relation, (0, 1, 2, 3)), schema),),
        index_exports=(IndexExport(READ, GlobalId("t", 90), KEY),),
        sink_exports=(),
        as_of=as_of,
        until=as_of + 1,
    )
    return CreateDataflow(lower(description.classified(), (index,)))


def test_a_lookup_overtakes_a_dataflow_that_has_much_to_do(two: TwoRuntimes) -> None:
    """Sixteen thousand pairs, a thousand at a time."""
    two.write(0, *[(key, 0) for key in range(128)])
    two.start(maintained(), maintained(IndexExport(SHARED, SOURCE, OTHER_KEY)))
    two.send(UpdateConfiguration((("interactive_step_rows", 1000), ("worker_turn_steps", 1))))
    two.send(self_join(0))
    count = Peek("pairs", IndexTarget(READ), 0, SCHEMA, map_filter_project=MapFilterProject(4, projection=(0, 1)))
    responses = two.send(Schedule(READ), count, peek(0, "lookup", keys=(5,)))
    uuids = [getattr(response, "uuid", None) for response in responses]
    assert uuids.index("lookup") < uuids.index("pairs")
    assert len(rows_in(answered(responses, "pairs"))) == 128 * 128


def test_an_index_is_dropped_after_its_reader_is_done_and_before_that_is_dropped(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained(), one_shot(IndexExport(READ, SOURCE, OTHER_KEY), as_of=0))
    two.send(AllowCompaction(INDEX, None))
    assert not two.interactive.state.bundles
    assert two.read(0, READ) == [(1, 10)]
    two.send(AllowCompaction(READ, None))
    assert not two.interactive.state.dataflows


def test_a_reader_of_an_index_and_of_its_re_export_leaves_it_once(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.start(importing(IndexExport(READ, SOURCE, KEY), as_of=0, until=9))
    both = importing(IndexExport(AGAIN, SOURCE, OTHER_KEY), as_of=0, until=9).dataflow
    again = msgspec.structs.replace(both.index_imports[0], id=READ)
    two.start(CreateDataflow(msgspec.structs.replace(both, index_imports=(*both.index_imports, again))))
    two.send(AllowCompaction(READ, None), AllowCompaction(INDEX, None))
    two.write(1, (2, 20))
    assert two.read(1, AGAIN) == [(1, 10), (2, 20)]
    two.send(AllowCompaction(AGAIN, None))
    for state in (two.maintenance.state, two.interactive.state):
        assert not state.dataflows
        assert not state.bundles
