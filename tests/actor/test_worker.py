"""One worker, with the storage and the multiplexer replaced by probes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.introspection.relations import (
    ACTIVE_PEEKS,
    ARRANGEMENT_SIZES,
    DATAFLOWS,
    FRONTIERS,
    HYDRATION,
    IntrospectionRelation,
)
from pillion.actors.peeks.blocks import rows_of
from pillion.actors.storage.messages import (
    Appended,
    CancelRead,
    CompareAndAppend,
    ReadShard,
    ShardChanges,
    ShardRead,
    ShardSnapshot,
    SnapshotRefused,
    SubscribeShard,
    UnsubscribeShard,
    UpperMismatch,
)
from pillion.actors.testing.probe import Probe
from pillion.actors.worker.messages import FromWorker, Joined, OpenPublication
from pillion.actors.worker.reconciliation import IncompatibleInstance
from pillion.actors.worker.worker import Worker
from pillion.dataflow.arrangements.updates import Chunk, Updates, concat_updates
from pillion.dataflow.columns.column import column_from_values
from pillion.messages.commands import (
    AllowCompaction,
    AllowWrites,
    CancelPeek,
    Command,
    CreateDataflow,
    CreateInstance,
    Finishing,
    Hello,
    IndexTarget,
    InitializationComplete,
    InstanceConfig,
    LoggingIndex,
    Peek,
    Schedule,
    ShardTarget,
    UpdateConfiguration,
)
from pillion.messages.dataflows import (
    IndexExport,
    IndexImport,
    MaterializedView,
    RenderDataflow,
    SinkExport,
    SourceImport,
    Subscribe,
)
from pillion.messages.errors import ProtocolError
from pillion.messages.frontiers import Frontier, Timestamp
from pillion.messages.ids import GlobalId
from pillion.messages.plans import MapFilterProject
from pillion.messages.relations import Order
from pillion.messages.responses import (
    Canceled,
    DroppedAt,
    Frontiers,
    PeekError,
    PeekResponse,
    PeekResult,
    Response,
    Rows,
    Status,
    SubscribeBatch,
    SubscribeResponse,
)
from pillion.messages.scalars import ColumnRef, Literal
from pillion.messages.types import Field, Schema, SqlType

SHARD = GlobalId("s", 1)
SOURCE = GlobalId("u", 1)
INDEX = GlobalId("u", 2)
SINK = GlobalId("u", 3)
OTHER = GlobalId("u", 4)
SCHEMA = Schema((Field("n", SqlType.BIGINT, False), Field("name", SqlType.TEXT, False)))
KEY = (ColumnRef(0),)
Row = tuple[int, str]


def updates(time: Timestamp, *rows: Row, diff: int = 1) -> Updates:
    columns = (
        column_from_values([row[0] for row in rows], SqlType.BIGINT),
        column_from_values([row[1] for row in rows], SqlType.TEXT),
    )
    return Updates.of(columns, time, diff, size=len(rows))


def described(*exports: IndexExport | SinkExport, as_of: Timestamp = 0, **changes: object) -> RenderDataflow:
    dataflow = RenderDataflow(
        debug_name="test",
        source_imports=(SourceImport(SOURCE, SHARD, SCHEMA),),
        index_imports=(),
        objects_to_build=(),
        index_exports=tuple(export for export in exports if isinstance(export, IndexExport)),
        sink_exports=tuple(export for export in exports if isinstance(export, SinkExport)),
        as_of=as_of,
    )
    return msgspec.structs.replace(dataflow, **changes)


def importing(*exports: IndexExport | SinkExport, as_of: Timestamp = 0) -> RenderDataflow:
    imports = (IndexImport(INDEX, SOURCE, KEY, SCHEMA),)
    return described(*exports, as_of=as_of, source_imports=(), index_imports=imports)


AN_INDEX = IndexExport(INDEX, SOURCE, KEY)


class Bench:
    """A worker with probes around it."""

    def __init__(self) -> None:
        self.dispatcher = SimulatedDispatcher()
        self.storage = Probe(self.dispatcher)
        self.multiplexer = Probe(self.dispatcher)
        self.worker = self.dispatcher.start(Worker, 0, self.storage.ref)
        self.worker.tell(Joined(self.multiplexer.ref, (self.worker,)))
        self.nonce = ""
        self.connect("a")

    def connect(self, nonce: str, *commands: Command) -> list[Response]:
        self.nonce = nonce
        return self.send(Hello(nonce), *commands, InitializationComplete())

    def send(self, *messages: object) -> list[Response]:
        """Send messages; what is answered to them."""
        for message in messages:
            self.worker.tell(message)
        self.dispatcher.run()
        responses: list[Response] = []
        for message in self.multiplexer.take_all():
            assert isinstance(message, FromWorker)
            assert message.nonce == self.nonce
            responses += [tagged.response for tagged in message.responses]
        return responses

    def running_index(self, *rows: Row, upper: Timestamp = 1, as_of: Timestamp = 0) -> None:
        """An index on these rows, sealed up to ``upper``."""
        self.send(CreateDataflow(described(AN_INDEX, as_of=as_of)), Schedule(INDEX))
        subscription = self.storage.expect(SubscribeShard, shard=SHARD).subscription
        self.send(ShardSnapshot(SHARD, subscription, Chunk(0, upper, updates(as_of, *rows) if rows else None)))

    def commit(
        self, lower: Timestamp, upper: Frontier, changes: Updates | None, subscription: int = 0
    ) -> list[Response]:
        return self.send(ShardChanges(((subscription, Chunk(lower, upper, changes)),)))


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.dispatcher.stop()


def peek(
    time: Timestamp,
    uuid: str = "p",
    id: GlobalId = INDEX,
    keys: tuple[int, ...] | None = None,
    finishing: Finishing = Finishing(),
) -> Peek:
    literals = None if keys is None else tuple((Literal.of(key, SqlType.BIGINT),) for key in keys)
    return Peek(uuid, IndexTarget(id), time, SCHEMA, literals, finishing=finishing)


def rows_in(result: PeekResult) -> list[object]:
    assert isinstance(result, Rows), result
    return sorted(row for row, _, diff in rows_of(result.block, SCHEMA).to_tuples() for _ in range(diff))  # type: ignore[type-var]


def answered(responses: list[Response], uuid: str = "p") -> PeekResult:
    (result,) = [r.result for r in responses if isinstance(r, PeekResponse) and r.uuid == uuid]
    return result


def refused(responses: list[Response]) -> str:
    (status,) = responses
    assert isinstance(status, Status)
    assert status.kind == "refused"
    return status.details["message"]


def frontiers(responses: list[Response], id: GlobalId = INDEX) -> list[tuple[object, object, object]]:
    return [(r.write, r.input, r.output) for r in responses if isinstance(r, Frontiers) and r.id == id]


# --- Dataflows and their frontiers ---


def test_a_dataflow_reads_nothing_before_it_is_scheduled(bench: Bench) -> None:
    assert bench.send(CreateDataflow(described(AN_INDEX, as_of=3))) == []
    bench.storage.expect_none()
    assert bench.send(Schedule(INDEX), Schedule(INDEX)) == [Frontiers(INDEX, (3,), None, (3,))]
    bench.storage.expect(SubscribeShard, shard=SHARD, as_of=3, worker=0, workers=1)
    bench.storage.expect_none()


def test_frontiers_are_told_when_they_move(bench: Bench) -> None:
    bench.running_index((1, "a"), upper=4)
    assert frontiers(bench.commit(4, 6, None)) == [((6,), (6,), (6,))]
    assert frontiers(bench.commit(6, None, None)) == [((None,), (None,), (None,))]


def test_a_drop_tells_the_empty_frontiers_once(bench: Bench) -> None:
    bench.running_index((1, "a"))
    assert frontiers(bench.send(AllowCompaction(INDEX, None))) == [((None,), (None,), (None,))]
    bench.storage.expect(UnsubscribeShard, shard=SHARD)
    assert "no dataflow exports" in refused(bench.send(AllowCompaction(INDEX, None)))


def test_what_ended_by_itself_is_dropped_without_a_word(bench: Bench) -> None:
    bench.running_index((1, "a"))
    bench.commit(1, None, None)
    assert bench.send(AllowCompaction(INDEX, None)) == []


def test_a_source_that_cannot_be_read_is_an_error_of_the_collection(bench: Bench) -> None:
    bench.send(CreateDataflow(described(AN_INDEX)), Schedule(INDEX))
    subscription = bench.storage.expect(SubscribeShard).subscription
    bench.send(SnapshotRefused(SHARD, subscription, "it is gone"))
    assert answered(bench.send(peek(9))) == PeekError("it is gone")


# --- Peeks ---


def test_a_peek_reads_at_exactly_its_time(bench: Bench) -> None:
    bench.running_index((1, "a"))
    bench.commit(1, 5, updates(4, (2, "b")))
    assert rows_in(answered(bench.send(peek(3)))) == [(1, "a")]
    assert rows_in(answered(bench.send(peek(4)))) == [(1, "a"), (2, "b")]


def test_a_peek_waits_for_its_time_to_be_sealed(bench: Bench) -> None:
    bench.running_index((1, "a"))
    assert bench.send(peek(1, "early"), peek(7, "late")) == []
    assert rows_in(answered(bench.commit(1, 2, None), "early")) == [(1, "a")]
    assert rows_in(answered(bench.commit(2, 8, updates(7, (2, "b"))), "late")) == [(1, "a"), (2, "b")]


def test_a_lookup_finds_the_rows_of_its_keys(bench: Bench) -> None:
    bench.running_index((1, "a"), (2, "b"), (2, "c"), (3, "d"))
    assert rows_in(answered(bench.send(peek(0, keys=(2, 9, 2))))) == [(2, "b"), (2, "c")]
    assert rows_in(answered(bench.send(peek(0, keys=())))) == []


def test_a_peek_below_since_is_an_error_naming_both(bench: Bench) -> None:
    bench.running_index((1, "a"), upper=9)
    bench.send(AllowCompaction(INDEX, 5))
    error = answered(bench.send(peek(4)))
    assert isinstance(error, PeekError)
    assert "u2 cannot be read at 4: it was compacted to [5]" in error.message
    assert rows_in(answered(bench.send(peek(5)))) == [(1, "a")]


def test_a_queued_peek_whose_time_is_compacted_is_an_error(bench: Bench) -> None:
    bench.running_index((1, "a"))
    assert bench.send(peek(3), AllowCompaction(INDEX, 5)) == []
    error = answered(bench.commit(1, 9, None))
    assert isinstance(error, PeekError)
    assert "compacted to [5]" in error.message


def test_a_peek_of_an_unknown_index_is_an_error(bench: Bench) -> None:
    assert answered(bench.send(peek(0))) == PeekError("u2: there is no index with this id to peek")


def test_a_queued_peek_of_an_index_that_is_dropped_is_an_error(bench: Bench) -> None:
    bench.running_index((1, "a"))
    error = answered(bench.send(peek(9), AllowCompaction(INDEX, None)))
    assert isinstance(error, PeekError)
    assert "u2: the index was dropped" in error.message


def test_a_canceled_peek_is_answered_once(bench: Bench) -> None:
    bench.running_index((1, "a"))
    assert answered(bench.send(peek(9), CancelPeek("p"))) == Canceled()
    assert bench.send(CancelPeek("p"), CancelPeek("unknown")) == []
    assert frontiers(bench.commit(1, 99, None)) == [((99,), (99,), (99,))]


def test_keys_that_do_not_fit_are_an_error(bench: Bench) -> None:
    bench.running_index((1, "a"))
    two = Peek("p", IndexTarget(INDEX), 0, SCHEMA, ((Literal.of(1, SqlType.BIGINT),) * 2,))
    error = answered(bench.send(two))
    assert isinstance(error, PeekError)
    assert "a key of this index has 1 columns, but 2 values were given" in error.message
    text = Peek("q", IndexTarget(INDEX), 0, SCHEMA, ((Literal.of("a", SqlType.TEXT),),))
    assert isinstance(answered(bench.send(text), "q"), PeekError)


def test_a_row_of_negative_multiplicity_is_an_error_that_names_it(bench: Bench) -> None:
    bench.running_index((1, "a"))
    bench.commit(1, 2, updates(1, (7, "x"), diff=-1))
    for error in (answered(bench.send(peek(1))), answered(bench.send(peek(1, keys=(7,))))):
        assert isinstance(error, PeekError)
        assert "(7, 'x')" in error.message
    assert rows_in(answered(bench.send(peek(0)))) == [(1, "a")]
    bench.commit(2, 3, updates(2, (7, "x")))
    assert rows_in(answered(bench.send(peek(2)))) == [(1, "a")]


def test_a_lookup_overtakes_a_scan(bench: Bench) -> None:
    bench.running_index(*[(n, "a") for n in range(100)])
    bench.send(UpdateConfiguration((("peek_scan_slice", 10),)))
    responses = bench.send(peek(0, "scan"), peek(0, "lookup", keys=(5,)))
    assert [r.uuid for r in responses if isinstance(r, PeekResponse)] == ["lookup", "scan"]
    assert len(rows_in(answered(responses, "scan"))) == 100


def test_a_scan_can_be_canceled(bench: Bench) -> None:
    bench.running_index(*[(n, "a") for n in range(100)])
    bench.send(UpdateConfiguration((("peek_scan_slice", 10),)))
    assert answered(bench.send(peek(0), CancelPeek("p"))) == Canceled()


def test_a_scan_reads_the_state_it_began_with(bench: Bench) -> None:
    bench.running_index(*[(n, "a") for n in range(30)])
    bench.send(UpdateConfiguration((("peek_scan_slice", 10),)))
    responses = bench.send(peek(0), AllowCompaction(INDEX, None))
    assert len(rows_in(answered(responses))) == 30


def test_a_limit_without_an_order_ends_a_scan_early(bench: Bench) -> None:
    bench.running_index(*[(n, "a") for n in range(100)])
    bench.send(UpdateConfiguration((("peek_scan_slice", 10),)))
    assert 3 <= len(rows_in(answered(bench.send(peek(0, finishing=Finishing(limit=3)))))) <= 10


def test_a_worker_keeps_no_more_rows_than_an_ordered_limit_needs(bench: Bench) -> None:
    bench.running_index(*[(n, "a") for n in range(100)])
    bench.send(UpdateConfiguration((("peek_scan_slice", 10),)))
    finishing = Finishing((Order(0),), limit=2, offset=1)
    assert rows_in(answered(bench.send(peek(0, finishing=finishing)))) == [(0, "a"), (1, "a"), (2, "a")]


def test_a_result_that_is_too_large_is_an_error(bench: Bench) -> None:
    bench.running_index(*[(n, "a") for n in range(100)])
    bench.send(UpdateConfiguration((("max_result_size", 100),)))
    error = answered(bench.send(peek(0)))
    assert isinstance(error, PeekError)
    assert "max_result_size = 100" in error.message


def test_a_shard_is_read_through_the_storage(bench: Bench) -> None:
    shard_peek = Peek("p", ShardTarget(SHARD), 4, SCHEMA)
    assert bench.send(shard_peek) == []
    bench.storage.expect(ReadShard, shard=SHARD, token="p", timestamp=4, worker=0, workers=1)
    assert rows_in(answered(bench.send(ShardRead("p", updates(4, (1, "a")))))) == [(1, "a")]
    assert bench.send(ShardRead("p", None)) == []


def test_a_shard_without_rows_is_read_with_any_program(bench: Bench) -> None:
    narrowed = MapFilterProject(2, projection=(1,))
    bench.send(Peek("p", ShardTarget(SHARD), 4, Schema(SCHEMA.fields[1:]), map_filter_project=narrowed))
    result = answered(bench.send(ShardRead("p", None)))
    assert isinstance(result, Rows) and result.block.columns.schema.names == ["name"]
    assert result.block.num_rows == 0


def test_a_shard_read_can_fail_or_be_canceled(bench: Bench) -> None:
    bench.send(Peek("p", ShardTarget(SHARD), 4, SCHEMA))
    assert answered(bench.send(ShardRead("p", None, "no"))) == PeekError("no")
    assert answered(bench.send(Peek("q", ShardTarget(SHARD), 4, SCHEMA), CancelPeek("q")), "q") == Canceled()
    bench.storage.find(CancelRead, token="q")


# --- Bad input ---


def test_an_export_id_that_is_taken_is_refused(bench: Bench) -> None:
    bench.running_index((1, "a"))
    assert "u2: an export with this id exists" in refused(bench.send(CreateDataflow(described(AN_INDEX))))
    twice = described(AN_INDEX, SinkExport(INDEX, SOURCE, Subscribe()))
    bench.send(AllowCompaction(INDEX, None))
    assert "exists already" in refused(bench.send(CreateDataflow(twice)))


def test_an_import_that_does_not_exist_is_refused(bench: Bench) -> None:
    message = refused(bench.send(CreateDataflow(importing(IndexExport(OTHER, SOURCE, KEY)))))
    assert message.startswith("u2: ")
    assert "does not exist" in message


def test_an_as_of_before_an_import_s_since_is_refused(bench: Bench) -> None:
    bench.running_index((1, "a"), upper=9)
    bench.send(AllowCompaction(INDEX, 5))
    message = refused(bench.send(CreateDataflow(importing(IndexExport(OTHER, SOURCE, KEY), as_of=4))))
    assert "starts at 4, before the since [5]" in message
    assert bench.send(CreateDataflow(importing(IndexExport(OTHER, SOURCE, KEY), as_of=5))) == []


def test_a_compaction_that_regresses_is_refused(bench: Bench) -> None:
    bench.running_index((1, "a"), upper=9, as_of=3)
    assert "u2: compaction to [2] regresses: [3]" in refused(bench.send(AllowCompaction(INDEX, 2)))
    bench.send(AllowCompaction(INDEX, 6))
    assert "regresses" in refused(bench.send(AllowCompaction(INDEX, 5)))
    assert bench.send(AllowCompaction(INDEX, 6)) == []


@pytest.mark.parametrize("command", [Schedule(INDEX), AllowWrites(INDEX), AllowCompaction(INDEX, 1)])
def test_an_unknown_id_is_refused(bench: Bench, command: Command) -> None:
    assert refused(bench.send(command)).startswith("u2: ")


def test_an_instance_is_created_once_per_connection(bench: Bench) -> None:
    assert bench.send(CreateInstance(InstanceConfig())) == []
    assert "created already" in refused(bench.send(CreateInstance(InstanceConfig())))


# --- Subscribes ---


def test_a_subscription_tells_contiguous_batches_until_it_is_dropped(bench: Bench) -> None:
    bench.send(CreateDataflow(described(SinkExport(SINK, SOURCE, Subscribe()), as_of=2)), Schedule(SINK))
    responses = bench.send(ShardSnapshot(SHARD, 0, Chunk(0, 5, updates(2, (1, "a")))))
    responses += bench.commit(5, 7, updates(6, (1, "a"), diff=-1))
    batches = [r.result for r in responses if isinstance(r, SubscribeResponse)]
    assert [(b.lower, b.upper, b.updates.num_rows) for b in batches if isinstance(b, SubscribeBatch)] == [
        (2, 5, 1),
        (5, 7, 1),
    ]
    assert bench.send(AllowCompaction(SINK, None)) == [SubscribeResponse(SINK, DroppedAt(7))]


def test_a_subscription_ends_at_up_to(bench: Bench) -> None:
    sink = SinkExport(SINK, SOURCE, Subscribe(), up_to=6)
    bench.send(CreateDataflow(described(sink)), Schedule(SINK))
    (response,) = bench.send(ShardSnapshot(SHARD, 0, Chunk(0, 9, updates(7, (1, "a")))))
    assert isinstance(response, SubscribeResponse)
    assert isinstance(response.result, SubscribeBatch)
    assert (response.result.upper, response.result.updates.num_rows) == (None, 0)
    assert bench.send(AllowCompaction(SINK, None)) == []


# --- Materialized views ---


class View(Bench):
    """A worker with a materialized view of the shard, kept in another shard."""

    TARGET = GlobalId("s", 2)

    def __init__(self) -> None:
        super().__init__()
        sink = SinkExport(SINK, SOURCE, MaterializedView(self.TARGET))
        self.send(CreateDataflow(described(sink)), Schedule(SINK))
        self.input = self.storage.expect(SubscribeShard, shard=SHARD).subscription
        self.output = self.storage.expect(SubscribeShard, shard=self.TARGET, worker=0, workers=1).subscription

    def appended(self) -> tuple[Timestamp, Frontier, list[object]]:
        """The next append, answered by the storage as if it had succeeded."""
        append = self.storage.expect(CompareAndAppend, shard=self.TARGET)
        changes = append.updates
        self.commit(append.lower, append.upper, changes, self.output)
        self.send(Appended(self.TARGET, append.upper))
        return append.lower, append.upper, [] if changes is None else sorted(changes.to_tuples())  # type: ignore[type-var]


@pytest.fixture
def view() -> Iterator[View]:
    made = View()
    yield made
    made.dispatcher.stop()


def test_a_sink_is_read_only_until_writes_are_allowed(view: View) -> None:
    view.send(ShardSnapshot(SHARD, view.input, Chunk(0, 1, updates(0, (1, "a")))))
    view.send(ShardSnapshot(view.TARGET, view.output, Chunk(0, 0)))
    view.storage.expect_none()
    view.send(AllowWrites(SINK))
    assert view.appended() == (0, 1, [((1, "a"), 0, 1)])


def test_a_sink_writes_what_changes_once_the_last_append_is_heard_of(view: View) -> None:
    view.send(AllowWrites(SINK))
    view.send(ShardSnapshot(SHARD, view.input, Chunk(0, 1, updates(0, (1, "a")))))
    view.storage.expect_none()
    view.send(ShardSnapshot(view.TARGET, view.output, Chunk(0, 0)))
    first = view.storage.expect(CompareAndAppend)
    view.commit(1, 2, updates(1, (2, "b")), view.input)
    view.send(Appended(view.TARGET, 1))
    view.storage.expect_none()
    view.commit(0, 1, first.updates, view.output)
    assert view.appended() == (1, 2, [((2, "b"), 1, 1)])


def test_a_sink_corrects_what_the_shard_should_not_have(view: View) -> None:
    view.send(AllowWrites(SINK))
    wrong = concat_updates([updates(0, (1, "a")), updates(0, (9, "wrong"))])
    view.send(ShardSnapshot(view.TARGET, view.output, Chunk(0, 4, wrong)))
    view.send(ShardSnapshot(SHARD, view.input, Chunk(0, 6, updates(0, (1, "a"), (2, "b")))))
    assert view.appended() == (4, 6, [((2, "b"), 4, 1), ((9, "wrong"), 4, -1)])


def test_a_sink_tries_again_where_another_writer_came_first(view: View) -> None:
    view.send(AllowWrites(SINK))
    view.send(ShardSnapshot(view.TARGET, view.output, Chunk(0, 0)))
    view.send(ShardSnapshot(SHARD, view.input, Chunk(0, 6, updates(0, (1, "a"), (2, "b")))))
    view.storage.expect(CompareAndAppend, lower=0)
    view.send(UpperMismatch(view.TARGET, 0, 3))
    view.storage.expect_none()
    view.commit(0, 3, updates(0, (1, "a")), view.output)
    assert view.appended() == (3, 6, [((2, "b"), 3, 1)])


def test_the_write_frontier_of_a_view_is_how_far_its_shard_is(view: View) -> None:
    view.send(ShardSnapshot(view.TARGET, view.output, Chunk(0, 3)))
    responses = view.send(ShardSnapshot(SHARD, view.input, Chunk(0, 6)))
    assert frontiers(responses, SINK) == [(None, (6,), (6,))]
    view.send(AllowWrites(SINK))
    append = view.storage.expect(CompareAndAppend, lower=3, upper=6)
    assert frontiers(view.commit(append.lower, append.upper, None, view.output), SINK) == [((6,), None, None)]


# --- Sharing and dropping ---


def test_an_index_that_shares_an_arrangement_outlives_the_one_it_imported(bench: Bench) -> None:
    bench.running_index((1, "a"))
    bench.send(CreateDataflow(importing(IndexExport(OTHER, SOURCE, KEY))), Schedule(OTHER))
    bench.send(AllowCompaction(INDEX, None))
    bench.storage.expect_none()
    bench.commit(1, 3, updates(2, (2, "b")))
    assert rows_in(answered(bench.send(peek(2, id=OTHER)))) == [(1, "a"), (2, "b")]
    bench.send(AllowCompaction(OTHER, None))
    bench.storage.expect(UnsubscribeShard, shard=SHARD)


# --- Reconnection ---


def test_an_index_can_be_read_by_others_until_it_is_dropped(bench: Bench) -> None:
    bench.running_index((1, "one"))
    opened = bench.dispatcher.reply()
    bench.worker.tell(OpenPublication(INDEX, opened))
    publication = opened.get()
    assert publication.snapshot.upper == 1
    bench.commit(1, 2, updates(1, (2, "two")))
    found = publication.snapshot.scan(1).rest()
    assert found is not None
    assert sorted(row for row, _, _ in found.to_tuples()) == [(1, "one"), (2, "two")]
    bench.send(AllowCompaction(INDEX, None))
    assert publication.closed


def test_what_is_no_index_of_the_worker_cannot_be_shared(bench: Bench) -> None:
    opened = bench.dispatcher.reply()
    bench.worker.tell(OpenPublication(INDEX, opened))
    with pytest.raises(ProtocolError, match="u2: this worker maintains no index"):
        opened.get()


def test_between_hello_and_the_end_of_the_replay_nothing_is_said(bench: Bench) -> None:
    bench.running_index((1, "a"))
    bench.nonce = "b"
    assert bench.send(Hello("b"), CreateDataflow(described(AN_INDEX)), peek(0)) == []
    assert bench.commit(1, 2, None) == []
    responses = bench.send(InitializationComplete())
    assert frontiers(responses) == [((2,), (2,), (2,))]
    assert rows_in(answered(responses)) == [(1, "a")]


def test_what_is_kept_goes_on_without_a_new_snapshot(bench: Bench) -> None:
    bench.running_index((1, "a"))
    bench.connect("b", CreateDataflow(described(AN_INDEX)), Schedule(INDEX))
    bench.storage.expect_none()
    assert rows_in(answered(bench.send(peek(0)))) == [(1, "a")]


def test_what_is_not_requested_any_more_is_dropped_silently(bench: Bench) -> None:
    bench.running_index((1, "a"))
    assert bench.connect("b") == []
    bench.storage.expect(UnsubscribeShard)
    assert isinstance(answered(bench.send(peek(0))), PeekError)


def test_what_is_recreated_starts_anew(bench: Bench) -> None:
    bench.running_index((1, "a"), upper=9)
    bench.send(AllowCompaction(INDEX, 5))
    responses = bench.connect("b", CreateDataflow(described(AN_INDEX, as_of=3)), Schedule(INDEX))
    assert frontiers(responses) == [((3,), None, (3,))]
    bench.storage.expect(UnsubscribeShard)
    bench.storage.expect(SubscribeShard, as_of=3)


def test_pending_peeks_of_an_older_connection_are_forgotten(bench: Bench) -> None:
    bench.running_index((1, "a"))
    bench.send(peek(5))
    bench.connect("b", CreateDataflow(described(AN_INDEX)))
    assert not [r for r in bench.commit(1, 9, None) if isinstance(r, PeekResponse)]


def test_a_subscription_of_an_older_connection_ends_without_a_word(bench: Bench) -> None:
    dataflow = described(SinkExport(SINK, SOURCE, Subscribe()))
    bench.send(CreateDataflow(dataflow), Schedule(SINK), ShardSnapshot(SHARD, 0, Chunk(0, 1)))
    assert bench.connect("b", CreateDataflow(dataflow)) == []


def test_another_configuration_stops_the_replica(bench: Bench) -> None:
    bench.send(CreateInstance(InstanceConfig()))
    with pytest.raises(IncompatibleInstance, match="expiration_offset is None, requested is 7"):
        bench.connect("b", CreateInstance(InstanceConfig(expiration_offset=7)))
    assert isinstance(bench.dispatcher.failure, IncompatibleInstance)


# --- Introspection ---

LOG = GlobalId("s", 70)


def introspect(bench: Bench, relation: IntrospectionRelation, time: Timestamp) -> list[dict[str, object]]:
    """The rows of the relation under LOG."""
    result = answered(bench.send(Peek("introspect", IndexTarget(LOG), time, relation.schema)), "introspect")
    assert isinstance(result, Rows), result
    names = relation.schema.names
    return [dict(zip(names, row, strict=True)) for row, _, _ in rows_of(result.block, relation.schema).to_tuples()]


def logging(bench: Bench, relation: IntrospectionRelation) -> None:
    bench.send(CreateInstance(InstanceConfig(logging=(LoggingIndex(relation.name, LOG),))))


def test_an_introspection_relation_that_was_dropped_is_an_error_and_the_others_go_on(bench: Bench) -> None:
    frontiers_log = GlobalId("s", 71)
    both = (LoggingIndex(DATAFLOWS.name, LOG), LoggingIndex(FRONTIERS.name, frontiers_log))
    bench.send(CreateInstance(InstanceConfig(logging=both)), Peek("p", IndexTarget(LOG), 0, DATAFLOWS.schema))
    gone = Peek("gone", IndexTarget(LOG), 3, DATAFLOWS.schema)
    left = Peek("left", IndexTarget(frontiers_log), 3, FRONTIERS.schema)
    responses = bench.send(AllowCompaction(LOG, None), gone, left)
    assert isinstance(answered(responses, "gone"), PeekError)
    assert isinstance(answered(responses, "left"), Rows)


def test_arrangement_sizes(bench: Bench) -> None:
    logging(bench, ARRANGEMENT_SIZES)
    bench.running_index((1, "a"), (2, "b"))
    (row,) = introspect(bench, ARRANGEMENT_SIZES, 0)
    assert (row["id"], row["worker"], row["records"], row["batches"]) == ("u2", 0, 2, 1)
    assert isinstance(row["bytes"], int)
    assert row["bytes"] > 0


def test_a_time_that_was_read_keeps_its_answer(bench: Bench) -> None:
    logging(bench, FRONTIERS)
    bench.running_index((1, "a"))
    (before,) = introspect(bench, FRONTIERS, 3)
    assert before == {"id": "u2", "worker": 0, "since": 0, "write": 1, "input": 1, "output": 1}
    bench.commit(1, None, None)
    bench.send(AllowCompaction(INDEX, 1))
    assert introspect(bench, FRONTIERS, 3) == [before]
    assert introspect(bench, FRONTIERS, 4) == [
        {"id": "u2", "worker": 0, "since": 1, "write": None, "input": None, "output": None}
    ]


def test_hydration_takes_from_the_schedule_until_as_of_is_sealed(bench: Bench) -> None:
    logging(bench, HYDRATION)
    bench.dispatcher.clock.advance_to(2.0)
    bench.send(CreateDataflow(described(AN_INDEX, as_of=3)))
    (unscheduled,) = introspect(bench, HYDRATION, 0)
    assert (unscheduled["hydrated"], unscheduled["scheduled_at"], unscheduled["seconds"]) == (False, None, None)
    bench.send(Schedule(INDEX))
    bench.dispatcher.clock.advance_to(5.0)
    bench.send(ShardSnapshot(SHARD, 0, Chunk(0, 4)))
    (hydrated,) = introspect(bench, HYDRATION, 1)
    assert (hydrated["hydrated"], hydrated["scheduled_at"], hydrated["seconds"]) == (True, 2.0, 3.0)


def test_dataflows_and_what_they_export(bench: Bench) -> None:
    logging(bench, DATAFLOWS)
    bench.send(CreateDataflow(described(AN_INDEX, SinkExport(SINK, SOURCE, Subscribe()), as_of=3)))
    (row,) = introspect(bench, DATAFLOWS, 0)
    assert (row["dataflow"], row["name"], row["exports"], row["as_of"], row["scheduled"]) == (
        0,
        "test",
        "u2 u3",
        3,
        False,
    )
    bench.send(AllowCompaction(INDEX, None), AllowCompaction(SINK, None))
    assert introspect(bench, DATAFLOWS, 1) == []


def test_active_peeks(bench: Bench) -> None:
    logging(bench, ACTIVE_PEEKS)
    bench.running_index((1, "a"))
    bench.send(peek(9, "waiting"))
    assert introspect(bench, ACTIVE_PEEKS, 0) == [
        {"uuid": "waiting", "worker": 0, "id": "u2", "time": 9, "state": "queued"}
    ]


def test_an_introspection_index_can_be_compacted_and_survives_a_reconnection(bench: Bench) -> None:
    logging(bench, DATAFLOWS)
    assert introspect(bench, DATAFLOWS, 5) == []
    assert bench.send(AllowCompaction(LOG, 4)) == []
    error = answered(bench.send(Peek("p", IndexTarget(LOG), 3, DATAFLOWS.schema)))
    assert isinstance(error, PeekError)
    config = InstanceConfig(logging=(LoggingIndex(DATAFLOWS.name, LOG),))
    responses = bench.connect("b", CreateInstance(config), AllowCompaction(LOG, 2))
    assert frontiers(responses, LOG) == [((6,), (6,), (6,))]
    assert introspect(bench, DATAFLOWS, 6) == []


def test_a_dataflow_may_import_an_introspection_index(bench: Bench) -> None:
    logging(bench, DATAFLOWS)
    imports = (IndexImport(LOG, DATAFLOWS.source, KEY, DATAFLOWS.schema),)
    export = IndexExport(OTHER, DATAFLOWS.source, (ColumnRef(1),))
    bench.send(CreateDataflow(described(export, as_of=7, source_imports=(), index_imports=imports)), Schedule(OTHER))
    result = answered(bench.send(Peek("p", IndexTarget(OTHER), 7, DATAFLOWS.schema)))
    assert isinstance(result, Rows)
    assert result.block.num_rows == 0


@pytest.mark.parametrize("relation", ["nothing", "dataflows"])
def test_an_instance_with_logging_that_cannot_be_is_refused(bench: Bench, relation: str) -> None:
    twice = (LoggingIndex(relation, LOG), LoggingIndex(relation, LOG))
    assert refused(bench.send(CreateInstance(InstanceConfig(logging=twice)))).startswith("s70: ")
