"""The copy-to sink: one file, one answer, whatever the number of workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from pillion.actors.controller.messages import Connect, FromReplica
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.multiplexer.replica import Replica
from pillion.actors.storage.messages import AppendRows, CreateShard
from pillion.actors.storage.storage import Storage
from pillion.actors.testing.probe import Probe
from pillion.dataflow.arrangements.updates import Updates
from pillion.dataflow.columns.column import column_from_values
from pillion.dataflow.plans.lower import lower
from pillion.messages.commands import AllowCompaction, Command, CreateDataflow, Hello, InitializationComplete, Schedule
from pillion.messages.dataflows import BuildDesc, CopyTo, RelationDataflow, RenderDataflow, SinkExport, SourceImport
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Get, Map
from pillion.messages.responses import Copied, CopyDropped, CopyError, CopyToResponse, Response
from pillion.messages.scalars import Call, ColumnRef, If, Literal, LiteralError
from pillion.messages.types import Field, Schema, SqlType

SHARD, SOURCE, SINK = GlobalId("s", 1), GlobalId("u", 1), GlobalId("u", 2)
SCHEMA = Schema((Field("n", SqlType.BIGINT, False), Field("name", SqlType.TEXT)))
ROWS = [(1, "a"), (2, None), (3, "c")]


class World:
    """A replica whose shard has ``ROWS`` at time 0, the first twice, and another row at time 5."""

    def __init__(self, workers: int) -> None:
        self.dispatcher = SimulatedDispatcher()
        self.storage = self.dispatcher.start(Storage)
        self.storage.tell(CreateShard(SHARD, SCHEMA))
        self.write(0, ROWS)
        self.write(1, ROWS[:1])
        self.endpoint = Replica.start(self.dispatcher, self.storage, workers).endpoint
        self.controller = Probe(self.dispatcher)
        self.endpoint.tell(Connect("replica", self.controller.ref))
        self.send(Hello("a"), InitializationComplete())

    def write(self, time: int, rows: list[tuple[int, str | None]], diff: int = 1) -> None:
        columns = (
            column_from_values([n for n, _ in rows], SqlType.BIGINT),
            column_from_values([name for _, name in rows], SqlType.TEXT),
        )
        updates = Updates.of(columns, time, diff, size=len(rows))
        self.storage.tell(AppendRows(SHARD, SCHEMA, updates, time + 1, self.dispatcher.reply()))
        self.dispatcher.run()

    def send(self, *commands: Command) -> list[Response]:
        for command in commands:
            self.endpoint.tell(command)
        self.dispatcher.run()
        heard = self.controller.take_all()
        return [response for message in heard if isinstance(message, FromReplica) for response in message.responses]

    def copy(self, path: Path, as_of: int) -> list[Response]:
        dataflow = RenderDataflow(
            debug_name="copy",
            source_imports=(SourceImport(SOURCE, SHARD, SCHEMA),),
            index_imports=(),
            objects_to_build=(),
            index_exports=(),
            sink_exports=(SinkExport(SINK, SOURCE, CopyTo(str(path))),),
            as_of=as_of,
        )
        return self.send(CreateDataflow(dataflow), Schedule(SINK))


@pytest.fixture(params=[1, 2, 3])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    made = World(request.param)
    yield made
    made.dispatcher.stop()


def test_an_error_on_any_worker_is_the_answer(world: World, tmp_path: Path) -> None:
    built = GlobalId("u", 3)
    one, two = Literal.of(1, SqlType.BIGINT), Literal.of(2, SqlType.BIGINT)
    for number in range(6):
        # Where an error is depends on its message.
        failing = If(Call("=", (ColumnRef(0), two)), LiteralError(f"failure {number}"), one)
        described = RelationDataflow(
            debug_name="copy",
            source_imports=(SourceImport(SOURCE, SHARD, SCHEMA),),
            index_imports=(),
            objects_to_build=(
                BuildDesc(built, Map(Get(SOURCE), (failing,)), Schema((*SCHEMA.fields, Field("x", SqlType.BIGINT)))),
            ),
            index_exports=(),
            sink_exports=(SinkExport(SINK, built, CopyTo(str(tmp_path / "rows.csv"))),),
            as_of=0,
        )
        responses = world.send(CreateDataflow(lower(described)), Schedule(SINK))
        assert responses == [CopyToResponse(SINK, CopyError(f"failure {number}"))]
        assert world.send(AllowCompaction(SINK, None)) == []


def listed(table: pa.Table) -> list[tuple[object, object]]:
    return sorted(zip(*table.to_pydict().values(), strict=True))


def test_rows_at_as_of_are_written_as_often_as_they_are_there(world: World, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    assert world.copy(path, 1) == [CopyToResponse(SINK, Copied(4))]
    assert listed(parquet.read_table(path)) == [(1, "a"), (1, "a"), (2, None), (3, "c")]
    assert world.send(AllowCompaction(SINK, None)) == []


def test_a_csv_file_has_a_header(world: World, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    assert world.copy(path, 0) == [CopyToResponse(SINK, Copied(3))]
    assert path.read_text().splitlines()[0] == '"n","name"'
    assert csv.read_csv(path).num_rows == 3


def test_no_rows_are_a_file_without_rows(world: World, tmp_path: Path) -> None:
    world.write(2, [*ROWS, ROWS[0]], diff=-1)
    path = tmp_path / "rows.parquet"
    assert world.copy(path, 2) == [CopyToResponse(SINK, Copied(0))]
    assert parquet.read_table(path).schema.names == ["n", "name"]


@pytest.mark.parametrize(
    ("name", "problem"), [("rows.txt", "the format .txt is unknown"), ("no/rows.csv", "cannot write")]
)
def test_a_file_that_cannot_be_written_is_an_error(world: World, tmp_path: Path, name: str, problem: str) -> None:
    (response,) = world.copy(tmp_path / name, 1)
    assert isinstance(response, CopyToResponse)
    assert isinstance(response.result, CopyError)
    assert problem in response.result.message


def test_a_copy_that_is_dropped_before_its_time_has_come_says_so(world: World, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    assert world.copy(path, 9) == []
    assert world.send(AllowCompaction(SINK, None)) == [CopyToResponse(SINK, CopyDropped())]
    assert not path.exists()


def test_a_negative_multiplicity_is_an_error(world: World, tmp_path: Path) -> None:
    world.write(2, [(9, "x")], diff=-1)
    (response,) = world.copy(tmp_path / "rows.csv", 2)
    assert isinstance(response, CopyToResponse)
    assert isinstance(response.result, CopyError)
    assert "negative multiplicity" in response.result.message
