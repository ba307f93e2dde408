"""Two runtimes in one process: what the interactive one reads of the other, whichever of the two is behind."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import msgspec
import pytest
from pykka import ActorRef

from pillion.actors.dispatch.schedule import Delivery
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.introspection.relations import DATAFLOWS
from pillion.actors.multiplexer import replica
from pillion.actors.peeks.blocks import rows_of as block_rows
from pillion.actors.registry.messages import Acquire, Bound, CountSlots, Publish, Release
from pillion.actors.registry.registry import SharingRegistry
from pillion.actors.storage.storage import Storage
from pillion.actors.worker.messages import FromWorker, Sealed
from pillion.actors.worker.publishing import Publishing
from pillion.actors.worker.state import ComputeState
from pillion.actors.worker.worker import Worker
from pillion.dataflow.arrangements.publication import Publication
from pillion.dataflow.arrangements.trace import Trace
from pillion.dataflow.plans.lower import lower
from pillion.messages.commands import (
    AllowCompaction,
    AllowWrites,
    CancelPeek,
    CreateDataflow,
    CreateInstance,
    IndexTarget,
    InstanceConfig,
    LoggingIndex,
    Peek,
    Schedule,
    UpdateConfiguration,
)
from pillion.messages.dataflows import BuildDesc, IndexExport, IndexImport, RelationDataflow
from pillion.messages.frontiers import Timestamp
from pillion.messages.ids import GlobalId
from pillion.messages.plans import MapFilterProject
from pillion.messages.relations import Get, Join, Project, Relation
from pillion.messages.responses import Canceled, Frontiers, PeekError, PeekResponse, Response, Rows, Status
from pillion.messages.scalars import CallUser, ColumnRef, UserFunction
from pillion.messages.types import ColumnType, Field, Schema, SqlType
from tests.actor.two_runtimes import (
    AGAIN,
    INDEX,
    KEY,
    OTHER_KEY,
    OTHER_SHARD,
    READ,
    SCHEMA,
    SHARED,
    SOURCE,
    TwoRuntimes,
    actor_of,
    answered,
    importing,
    maintained,
    one_shot,
    peek,
    rows_in,
    unanswered,
)


@pytest.fixture
def two() -> Iterator[TwoRuntimes]:
    made = TwoRuntimes()
    yield made
    made.check()
    made.close()


def refused(responses: list[Response]) -> str:
    (status,) = [response for response in responses if isinstance(response, Status)]
    return status.details["message"]


def deliveries(two: TwoRuntimes, kind: type) -> list[Delivery]:
    return [delivery for delivery in two.dispatcher.trace if isinstance(delivery.message, kind)]


# --- Peeks ---


def test_a_peek_is_answered_by_the_interactive_runtime_off_what_the_other_one_maintains(two: TwoRuntimes) -> None:
    two.write(0, (1, 10), (2, 20))
    two.start(maintained())
    two.stall(two.maintenance)
    assert two.read(0) == [(1, 10), (2, 20)]
    assert rows_in(answered(two.send(peek(0, keys=(2, 7))))) == [(2, 20)]


def test_a_peek_waits_until_its_index_is_published(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.stall(two.maintenance)
    assert unanswered(two.start(maintained()) + two.send(peek(0)))
    assert rows_in(answered(two.resume())) == [(1, 10)]


def test_a_peek_waits_until_its_time_is_sealed_and_is_woken_once(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    assert unanswered(two.send(peek(3)))
    before = len(deliveries(two, Sealed))
    assert unanswered(two.write(1, (2, 20)) + two.write(2, (3, 30)))
    assert len(deliveries(two, Sealed)) == before
    assert rows_in(answered(two.write(3, (4, 40)))) == [(1, 10), (2, 20), (3, 30), (4, 40)]
    assert len(deliveries(two, Sealed)) == before + 1


def test_peeks_that_wait_for_several_times_are_answered_as_each_is_sealed(two: TwoRuntimes) -> None:
    two.start(maintained())
    two.send(peek(2, "late"), peek(0, "early"), peek(2, "too"))
    assert rows_in(answered(two.write(0, (1, 10)), "early")) == [(1, 10)]
    assert unanswered(two.write(1, (2, 20)))
    responses = two.write(2, (3, 30))
    assert rows_in(answered(responses, "late")) == rows_in(answered(responses, "too")) == [(1, 10), (2, 20), (3, 30)]


def test_a_wake_up_that_is_lost_is_noticed(two: TwoRuntimes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Publication, "_wake", lambda self, upper: None)  # pyright: ignore
    two.start(maintained())
    assert unanswered(two.send(peek(0)) + two.write(0, (1, 10)))


def test_a_peek_at_a_time_that_was_compacted_is_an_error_naming_both(two: TwoRuntimes) -> None:
    two.write(6, (1, 10))
    two.start(maintained())
    result = answered(two.send(AllowCompaction(INDEX, 5), peek(3)))
    assert isinstance(result, PeekError)
    assert "cannot be read at 3" in result.message
    assert "[5]" in result.message


def test_a_peek_of_what_is_neither_hosted_nor_a_peer_is_an_error(two: TwoRuntimes) -> None:
    result = answered(two.send(peek(0, id=GlobalId("u", 99))))
    assert isinstance(result, PeekError)
    assert "u99" in result.message


@pytest.mark.parametrize("published", [True, False])
def test_a_peek_whose_index_is_dropped_while_it_waits_is_an_error(two: TwoRuntimes, published: bool) -> None:
    if not published:
        two.stall(two.maintenance)
    two.start(maintained())
    assert unanswered(two.send(peek(4)))
    result = answered(two.send(AllowCompaction(INDEX, None)))
    assert isinstance(result, PeekError)
    assert "dropped" in result.message


def test_a_peek_that_was_sent_before_the_drop_is_answered_though_the_other_runtime_is_ahead(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.stall(two.interactive)
    two.send(peek(0), AllowCompaction(INDEX, None))
    assert not two.maintenance.state.collections
    assert rows_in(answered(two.resume())) == [(1, 10)]


def test_a_peek_can_be_canceled_while_it_waits(two: TwoRuntimes) -> None:
    two.start(maintained())
    two.send(peek(0))
    assert isinstance(answered(two.send(CancelPeek("p"), CancelPeek("p"))), Canceled)
    assert unanswered(two.write(0, (1, 10)))


def test_a_lookup_overtakes_a_scan(two: TwoRuntimes) -> None:
    two.write(0, *[(key, key) for key in range(64)])
    two.start(maintained())
    two.send(UpdateConfiguration((("peek_scan_slice", 4),)))
    responses = two.send(peek(0, "scan"), peek(0, "lookup", keys=(5,)))
    uuids = [getattr(response, "uuid", None) for response in responses]
    assert uuids.index("lookup") < uuids.index("scan")
    assert len(rows_in(answered(responses, "scan"))) == 64


@pytest.mark.parametrize(
    ("routing", "time", "reader"),
    [
        ("interactive", 0, "worker-1"),
        ("interactive", 1, "worker-1"),
        ("maintenance", 0, "worker-0"),
        ("hinted", 0, "worker-1"),
        ("hinted", 1, "worker-0"),
    ],
)
def test_peeks_go_where_the_setting_says_and_have_one_answer(
    two: TwoRuntimes, routing: str, time: Timestamp, reader: str
) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.send(UpdateConfiguration((("peek_routing", routing),)))
    before = len(two.dispatcher.trace)
    responses = two.send(peek(time))
    received = [d.receiver for d in two.dispatcher.trace[before:] if d.message == peek(time)]
    assert [receiver for receiver in received if receiver.startswith("worker")] == [reader]
    assert rows_in(answered(responses + (two.write(1) if time else []))) == [(1, 10)]


@pytest.mark.parametrize("routing", ["interactive", "maintenance", "hinted"])
def test_the_index_of_a_one_shot_read_is_peeked_where_it_is(two: TwoRuntimes, routing: str) -> None:
    two.send(UpdateConfiguration((("peek_routing", routing),)))
    two.write(0, (1, 10))
    two.start(maintained(), one_shot(as_of=0))
    assert two.read(0, READ) == [(1, 10)]


# --- Peers ---


def test_only_the_runtime_that_renders_a_collection_reports_it(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained(), one_shot(as_of=0))
    two.send(AllowCompaction(READ, None), AllowCompaction(INDEX, None))
    reporters = {
        (tagged.response.id, delivery.sender)
        for delivery in deliveries(two, FromWorker)
        for tagged in delivery.message.responses
        if isinstance(tagged.response, Frontiers)
    }
    assert reporters == {(INDEX, "worker-0"), (READ, "worker-1")}


def test_schedule_and_allow_writes_do_nothing_on_a_peer(two: TwoRuntimes) -> None:
    two.stall(two.maintenance)
    assert two.send(maintained(), Schedule(INDEX), Schedule(INDEX), AllowWrites(INDEX)) == []
    assert not two.interactive.state.collections
    assert not two.interactive.state.dataflows


def test_the_empty_frontier_removes_a_peer_and_frees_its_id(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.send(AllowCompaction(INDEX, None))
    assert not two.interactive.state.peers
    assert not two.interactive.state.bundles
    assert not two.maintenance.state.published
    two.start(maintained())
    assert two.read(0) == [(1, 10)]


def test_what_is_refused_is_told_once(two: TwoRuntimes) -> None:
    two.start(maintained())
    assert refused(two.send(maintained())).startswith("u2: ")
    assert "regresses" in refused(two.send(AllowCompaction(INDEX, 4), AllowCompaction(INDEX, 3)))
    assert refused(two.send(Schedule(GlobalId("u", 99)))).startswith("u99: ")
    assert refused(two.send(one_shot(as_of=9, imported=GlobalId("u", 99)))).startswith("u99: ")
    assert "before the since" in refused(two.send(one_shot(as_of=3)))


def test_what_one_runtime_cannot_build_the_other_one_does_not_wait_for(two: TwoRuntimes) -> None:
    function = UserFunction("broken", ColumnType(SqlType.BIGINT), b"no pickle")
    broken = maintained(IndexExport(INDEX, SOURCE, (CallUser(function, (ColumnRef(0),)),)))
    two.stall(two.maintenance)
    assert two.send(broken) == []
    assert isinstance(answered(two.send(peek(0))), PeekError)
    two.write(0, (1, 10))
    two.send(maintained(), Schedule(INDEX))
    assert "broken" in refused(two.resume())
    assert two.read(0) == [(1, 10)]


def test_a_maintained_dataflow_cannot_read_a_one_shot(two: TwoRuntimes) -> None:
    two.start(maintained(), one_shot(as_of=0))
    assert "one-shot" in refused(two.send(importing(IndexExport(SHARED, SOURCE, KEY), imported=READ)))
    two.stall(two.maintenance)
    assert two.send(importing(IndexExport(SHARED, SOURCE, KEY), imported=READ)) == []
    assert SHARED not in two.interactive.state.peers


# --- One-shot reads ---


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


# --- Standing holds ---


def published_since(two: TwoRuntimes) -> Timestamp:
    (trace,) = two.maintenance.state.published.values()
    return trace.publish().snapshot.since


def test_compaction_goes_only_as_far_as_both_runtimes_have_heard_of_it(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.write(7, (2, 20))
    two.stall(two.interactive)
    two.send(AllowCompaction(INDEX, 5))
    two.write(8, (3, 30))
    assert published_since(two) == 0
    two.resume()
    two.write(9, (4, 40))
    assert published_since(two) == 5
    two.stall(two.maintenance)
    two.send(AllowCompaction(INDEX, 7))
    two.resume()
    two.write(10, (5, 50))
    assert published_since(two) == 7


def test_an_index_that_is_never_compacted_again_is_not_pinned_at_zero(two: TwoRuntimes) -> None:
    two.write(6, (1, 10))
    two.start(maintained(as_of=6))
    two.write(7, (2, 20))
    assert published_since(two) == 6


def create_read_and_compact(two: TwoRuntimes) -> list[Response]:
    """The five steps: a read at 0 is created, and queued on the interactive runtime; the controller drops it, and hence
    allows the index to compact to 1; the maintenance runtime does; only then the interactive one builds the read."""
    two.write(0, (1, 10))
    two.start(maintained())
    two.stall(two.interactive)
    two.send(one_shot(IndexExport(READ, SOURCE, OTHER_KEY), as_of=0), Schedule(READ), peek(0, id=READ))
    two.send(AllowCompaction(READ, None), AllowCompaction(INDEX, 1))
    two.write(1, (1, 10), diff=-1)
    two.write(2, (2, 20))
    while two.maintenance.state.traces[INDEX].maintain(1000):
        pass
    return two.resume()


def test_a_read_that_was_queued_before_the_compaction_finds_its_time(two: TwoRuntimes) -> None:
    result = answered(create_read_and_compact(two))
    # Rendered, then dropped, in command order: the read had not run, and its peek hears of the drop.
    assert isinstance(result, PeekError)
    assert "dropped" in result.message
    assert two.read(2) == [(2, 20)]


def test_broadcast_alone_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    publish = Publishing.publish

    def publish_without_hold(self: Publishing, trace: Trace) -> None:
        publish(self, trace)
        for hold in trace.arrangement.holds[1:]:
            hold.downgrade(2**62)

    monkeypatch.setattr(Publishing, "publish", publish_without_hold)
    two = TwoRuntimes()
    with pytest.raises(AssertionError, match="u2 was compacted to 1, though it is held at 0"):
        create_read_and_compact(two)
    two.close()


# --- Incarnations ---


def recreate(two: TwoRuntimes, reconnect: bool) -> list[Response]:
    """An index is dropped and created again under its id and ``as_of``, over another shard; a peek reads the new one
    while the maintenance runtime has heard of none of that."""
    two.write(0, (1, 10))
    two.write(0, (2, 20), shard=OTHER_SHARD)
    two.start(maintained())
    assert two.read(0) == [(1, 10)]
    two.stall(two.maintenance)
    again = maintained(shard=OTHER_SHARD)
    if reconnect:
        two.connect("b", again, Schedule(INDEX))
    else:
        two.send(AllowCompaction(INDEX, None), again, Schedule(INDEX))
    early = two.send(peek(0))
    return early + two.resume()


@pytest.mark.parametrize("reconnect", [False, True])
def test_a_recreated_index_is_never_read_off_its_old_incarnation(two: TwoRuntimes, reconnect: bool) -> None:
    assert rows_in(answered(recreate(two, reconnect))) == [(2, 20)]


class ById(SharingRegistry):
    """Goes by ids, as if no index was ever created again."""

    def __init__(self) -> None:
        super().__init__()
        self._published: dict[GlobalId, Publication] = {}
        self._readers: dict[GlobalId, ActorRef[Worker]] = {}

    def publish(self, message: Publish) -> None:
        publication = self._published[message.publication.id] = message.publication
        if publication.id in self._readers:
            self._readers.pop(publication.id).tell(Bound(publication))

    def acquire(self, message: Acquire) -> None:
        if message.id in self._published:
            message.reader.tell(Bound(self._published[message.id]))
        else:
            self._readers[message.id] = message.reader

    def reader_left(self, message: Release) -> None:
        pass


@pytest.mark.parametrize("reconnect", [False, True])
def test_ids_alone_are_not_enough(monkeypatch: pytest.MonkeyPatch, reconnect: bool) -> None:
    monkeypatch.setattr(replica, "SharingRegistry", ById)
    monkeypatch.setattr(ComputeState, "incarnation", lambda self, number: ("", 0))  # pyright: ignore
    two = TwoRuntimes()
    assert rows_in(answered(recreate(two, reconnect))) == [(1, 10)], "read off the old incarnation"
    two.close()


def test_no_runtime_waits_for_the_other_to_reconcile(two: TwoRuntimes) -> None:
    two.write(0, (1, 10))
    two.start(maintained())
    two.stall(two.maintenance)
    two.connect("b", maintained(), Schedule(INDEX))
    # Kept: the bundle is bound as it was, and answers at once.
    assert rows_in(answered(two.send(peek(0)))) == [(1, 10)]


@pytest.mark.parametrize("stalled", ["maintenance", "interactive", None])
def test_both_runtimes_keep_drop_and_create_the_same(two: TwoRuntimes, stalled: str | None) -> None:
    kept, recreated, dropped = (GlobalId("u", number) for number in (11, 12, 13))

    def index(id: GlobalId, **changes: Timestamp) -> tuple[object, ...]:
        creation = maintained(IndexExport(id, SOURCE, KEY), **changes)
        return creation, Schedule(id)

    two.write(5, (1, 10))
    two.send(*index(kept), *index(recreated), *index(dropped), AllowCompaction(recreated, 4))  # type: ignore[arg-type]
    before = {id: two.interactive.state.traces[id].incarnation for id in (kept, recreated)}
    if stalled is not None:
        two.stall(getattr(two, stalled))
    two.connect("b", *index(kept, as_of=2), *index(recreated, as_of=3))  # type: ignore[arg-type]
    two.resume()
    theirs, mine = two.maintenance.state, two.interactive.state
    assert set(mine.peers) == set(theirs.collections) == {kept, recreated}
    assert {id: mine.traces[id].incarnation for id in mine.peers} == {
        id: theirs.traces[id].incarnation for id in theirs.collections
    }
    assert mine.traces[kept].incarnation == before[kept]
    assert mine.traces[recreated].incarnation != before[recreated]
    assert mine.traces[kept].since == theirs.traces[kept].since == 2
    for id in (kept, recreated):
        assert two.read(5, id) == [(1, 10)]
    registry = next(
        ref
        for ref in two.dispatcher._actors
        if isinstance(ref, SharingRegistry)  # pyright: ignore
    ).actor_ref
    assert registry.ask(CountSlots()) == 2


def test_pending_peeks_of_an_older_connection_are_forgotten(two: TwoRuntimes) -> None:
    two.start(maintained())
    two.send(peek(0, "old"))
    two.connect("b", maintained(), Schedule(INDEX))
    assert unanswered(two.write(0, (1, 10)))
    assert not two.interactive.state.queued_peeks


# --- Introspection ---

LOG = GlobalId("s", 70)


@pytest.fixture
def logged() -> Iterator[TwoRuntimes]:
    made = TwoRuntimes()
    made.connect("a", CreateInstance(InstanceConfig(logging=(LoggingIndex(DATAFLOWS.name, LOG),))))
    yield made
    made.check()
    made.close()


def introspect(time: Timestamp, uuid: str = "p") -> Peek:
    return Peek(uuid, IndexTarget(LOG), time, DATAFLOWS.schema)


def exports_in(responses: list[Response], uuid: str = "p") -> list[object]:
    """The exports of every dataflow that is shown."""
    result = answered(responses, uuid)
    assert isinstance(result, Rows)
    return sorted(str(row[3]) for row, _, _ in block_rows(result.block, DATAFLOWS.schema).to_tuples())


def age_in(responses: list[Response], uuid: str = "p") -> float | None:
    (age,) = [r.age for r in responses if isinstance(r, PeekResponse) and r.uuid == uuid]
    return age


def test_introspection_is_read_off_a_peer_and_is_fresh_while_nobody_is_busy(logged: TwoRuntimes) -> None:
    responses = logged.send(introspect(0))
    assert (exports_in(responses), age_in(responses)) == ([], 0)
    responses = logged.start(maintained()) + logged.send(introspect(1))
    assert (exports_in(responses), age_in(responses)) == (["u2"], 0)
    # What was read once stays as it was.
    assert exports_in(logged.send(introspect(0))) == []


def test_introspection_does_not_wait_long_for_a_runtime_that_is_busy(logged: TwoRuntimes) -> None:
    logged.start(maintained())
    assert exports_in(logged.send(introspect(0))) == ["u2"]
    logged.stall(logged.maintenance)
    logged.start(maintained(IndexExport(SHARED, SOURCE, KEY)))
    assert unanswered(logged.send(introspect(1)))
    responses = logged.let_time_pass()
    assert exports_in(responses) == ["u2"]
    age = age_in(responses)
    assert age is not None
    assert age > 0
    # Whoever comes next knows that it is busy.
    assert exports_in(logged.send(introspect(1, "q")), "q") == ["u2"]
    assert exports_in(logged.send(introspect(2, "r")), "r") == ["u2"]
    logged.resume()
    responses = logged.send(introspect(3, "s"))
    assert (exports_in(responses, "s"), age_in(responses, "s")) == (["u2", "u3"], 0)


def test_queries_of_introspection_do_not_wait_long_either(logged: TwoRuntimes) -> None:
    """And one that lives on hears later of what has happened in the meantime."""
    logged.start(maintained())
    logged.send(introspect(0))
    logged.stall(logged.maintenance)
    export = IndexExport(READ, DATAFLOWS.source, OTHER_KEY)
    imported = IndexImport(LOG, DATAFLOWS.source, DATAFLOWS.key_expressions, DATAFLOWS.schema)
    create = importing(export, as_of=5, until=20)
    create = CreateDataflow(msgspec.structs.replace(create.dataflow, index_imports=(imported,)))
    logged.start(create)
    logged.start(maintained(IndexExport(SHARED, SOURCE, KEY)))
    ask = msgspec.structs.replace(introspect(5), target=IndexTarget(READ))
    assert unanswered(logged.send(ask))
    assert exports_in(logged.let_time_pass()) == ["u2"]
    logged.resume()
    logged.send(introspect(9, "other"))
    assert exports_in(logged.send(msgspec.structs.replace(ask, timestamp=9))) == ["u2", "u3"]
    assert exports_in(logged.send(msgspec.structs.replace(ask, timestamp=5))) == ["u2"]


def test_an_introspection_relation_that_was_dropped_is_an_error(logged: TwoRuntimes) -> None:
    logged.send(introspect(0))
    result = answered(logged.send(AllowCompaction(LOG, None), introspect(1)))
    assert isinstance(result, PeekError)
    assert "s70" in result.message


@pytest.mark.parametrize("routing", ["interactive", "hinted"])
def test_introspection_is_routed_where_nobody_waits(logged: TwoRuntimes, routing: str) -> None:
    logged.send(UpdateConfiguration((("peek_routing", routing),)))
    logged.stall(logged.maintenance)
    logged.send(introspect(0))
    assert exports_in(logged.let_time_pass()) == []


def test_a_worker_that_expects_long_work_says_before_how_things_are(logged: TwoRuntimes) -> None:
    logged.send(introspect(0))
    rows = [(number, number) for number in range(20_000)]
    logged.write(0, *rows)
    logged.start(maintained())
    logged.stall(logged.maintenance)
    # Recorded before the snapshot was worked on, for nobody in particular.
    assert exports_in(logged.send(introspect(1))) == ["u2"]


# --- One runtime ---


def test_solo_knows_no_registry_and_publishes_nothing() -> None:
    dispatcher = SimulatedDispatcher()
    solo = replica.Replica.start(dispatcher, dispatcher.start(Storage), 1)
    assert solo.interactive == ()
    assert not any(isinstance(actor, SharingRegistry) for actor in dispatcher._actors)  # pyright: ignore
    assert not actor_of(solo.workers[0]).state.published
    dispatcher.stop()
