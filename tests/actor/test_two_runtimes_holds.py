"""Two runtimes in one process: standing holds and incarnations, and what fails without them."""

from __future__ import annotations

import pytest
from pykka import ActorRef

from pillion.actors.multiplexer import replica
from pillion.actors.registry.messages import Acquire, Bound, CountSlots, Publish, Release
from pillion.actors.registry.registry import SharingRegistry
from pillion.actors.worker.publishing import Publishing
from pillion.actors.worker.state import ComputeState
from pillion.actors.worker.worker import Worker
from pillion.dataflow.arrangements.publication import Publication
from pillion.dataflow.arrangements.trace import Trace
from pillion.messages.commands import (
    AllowCompaction,
    Schedule,
)
from pillion.messages.dataflows import IndexExport
from pillion.messages.frontiers import Timestamp
from pillion.messages.ids import GlobalId
from pillion.messages.responses import PeekError, Response
from tests.actor.two_runtimes import (
    INDEX,
    KEY,
    OTHER_KEY,
    OTHER_SHARD,
    READ,
    SOURCE,
    TwoRuntimes,
    answered,
    maintained,
    one_shot,
    peek,
    rows_in,
    unanswered,
)

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
