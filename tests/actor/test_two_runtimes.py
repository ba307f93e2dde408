"""Two runtimes in one process: peeks and peers, whichever of the two runtimes is behind."""

from __future__ import annotations

import pytest

from pillion.actors.dispatch.schedule import Delivery
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.multiplexer import replica
from pillion.actors.registry.registry import SharingRegistry
from pillion.actors.storage.storage import Storage
from pillion.actors.worker.messages import FromWorker, Sealed
from pillion.dataflow.arrangements.publication import Publication
from pillion.messages.commands import (
    AllowCompaction,
    AllowWrites,
    CancelPeek,
    Schedule,
    UpdateConfiguration,
)
from pillion.messages.dataflows import IndexExport
from pillion.messages.frontiers import Timestamp
from pillion.messages.ids import GlobalId
from pillion.messages.responses import Canceled, Frontiers, PeekError, Response, Status
from pillion.messages.scalars import CallUser, ColumnRef, UserFunction
from pillion.messages.types import ColumnType, SqlType
from tests.actor.two_runtimes import (
    INDEX,
    KEY,
    READ,
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


# --- One runtime ---


def test_solo_knows_no_registry_and_publishes_nothing() -> None:
    dispatcher = SimulatedDispatcher()
    solo = replica.Replica.start(dispatcher, dispatcher.start(Storage), 1)
    assert solo.interactive == ()
    assert not any(isinstance(actor, SharingRegistry) for actor in dispatcher._actors)  # pyright: ignore
    assert not actor_of(solo.workers[0]).state.published
    dispatcher.stop()
