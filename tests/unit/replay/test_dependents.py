"""What must not be overtaken."""

from __future__ import annotations

from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.replay.dependents import EVERYTHING, NOTHING, Dependents, Needs
from pillion.actors.storage.messages import AppendRows, CommitTables, CompactShard, DropShard
from pillion.messages.commands import AllowCompaction, AllowWrites, Hello, Schedule, UpdateConfiguration
from pillion.messages.dataflows import IndexExport, MaterializedView, RenderDataflow, SinkExport, SourceImport
from pillion.messages.ids import GlobalId

from .build import INDEX, SCHEMA, peek, updates

TABLE, VIEW = GlobalId("u", 1), GlobalId("u", 5)


def dependents() -> Dependents:
    """An index and a materialized view, both of one table."""
    known = Dependents()
    source = SourceImport(TABLE, TABLE, SCHEMA)
    view = SinkExport(VIEW, TABLE, MaterializedView(VIEW))
    known.created(RenderDataflow("i", (source,), (), (), (IndexExport(INDEX, TABLE, ()),), (), 0))
    known.created(RenderDataflow("v", (source,), (), (), (), (view,), 0))
    return known


def test_a_compaction_waits_for_the_collection_itself() -> None:
    assert dependents().needs(AllowCompaction(INDEX, 4)) == Needs(INDEX, (INDEX,))
    assert dependents().needs(AllowCompaction(INDEX, None)) == Needs(INDEX, (INDEX,))


def test_a_shard_waits_for_whatever_reads_or_writes_it() -> None:
    assert dependents().needs(CompactShard(TABLE, 4)) == Needs(TABLE, (INDEX, VIEW))
    assert dependents().needs(DropShard(VIEW)) == Needs(VIEW, (VIEW,))


def test_what_was_dropped_reads_nothing() -> None:
    known = dependents()
    known.dropped(INDEX)
    assert known.needs(CompactShard(TABLE, 4)) == Needs(TABLE, (VIEW,))


def test_an_append_waits_for_the_view_that_writes_the_same_shard() -> None:
    append = AppendRows(VIEW, SCHEMA, updates(), 9, OneShot())
    assert dependents().needs(append) == Needs(None, (VIEW,))


def test_a_view_waits_for_those_that_write_the_same_shard() -> None:
    known, second = dependents(), GlobalId("u", 6)
    source = SourceImport(TABLE, TABLE, SCHEMA)
    sink = SinkExport(second, TABLE, MaterializedView(VIEW))
    known.created(RenderDataflow("w", (source,), (), (), (), (sink,), 4))
    assert known.needs(AllowWrites(second)) == Needs(VIEW, (VIEW, second))
    assert known.needs(AllowWrites(INDEX)) == NOTHING


def test_settings_and_connections_wait_for_everything() -> None:
    assert dependents().needs(Hello("n")) == EVERYTHING
    assert dependents().needs(UpdateConfiguration((("max_result_size", 1),))) == EVERYTHING


def test_reads_and_writes_wait_for_nothing() -> None:
    known = dependents()
    assert known.needs(peek()) == NOTHING
    assert known.needs(CommitTables(4, (), OneShot())) == NOTHING
    assert known.needs(Schedule(INDEX)) == NOTHING
