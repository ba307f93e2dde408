"""The workload can fail: it finds what goes wrong when a rule that reads depend on is taken away."""

from __future__ import annotations

import pytest

from pillion.actors.multiplexer import replica
from pillion.actors.registry.messages import Acquire, Bound, Publish, Release
from pillion.actors.registry.registry import SharingRegistry
from pillion.actors.simulation.rules import Rule
from pillion.actors.simulation.runs import Case, run_case
from pillion.actors.system import direct
from pillion.actors.worker.state import ComputeState
from pillion.dataflow.arrangements.arrangement import Hold
from pillion.dataflow.arrangements.peer import PeerArrangement
from pillion.messages.frontiers import Timestamp

SEEDS = 200


def finds(*rules: Rule) -> bool:
    """Whether a seed breaks one of these rules."""
    for seed in range(SEEDS):
        broken = run_case(Case(seed)).broken
        if broken is not None and broken.rule in rules:
            return True
    return False


def test_a_runtime_that_holds_nothing_of_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    def hold_nothing(self: PeerArrangement, time: Timestamp) -> None:
        assert self.publication is not None and isinstance(self.publication.standing_hold, Hold)
        self.publication.standing_hold.downgrade(None)

    monkeypatch.setattr(PeerArrangement, "_hold_back", hold_nothing)
    assert finds(Rule.STANDING_HOLD, Rule.READABLE, Rule.NO_FAILURE)


class ById(SharingRegistry):
    """Goes by ids, as if no index was ever created again."""

    def __init__(self) -> None:
        super().__init__()
        self._published: dict[object, Publish] = {}
        self._readers: dict[object, Acquire] = {}

    def publish(self, message: Publish) -> None:
        slot = (message.publication.id, message.worker)
        self._published[slot] = message
        if slot in self._readers:
            self._readers.pop(slot).reader.tell(Bound(message.publication))

    def acquire(self, message: Acquire) -> None:
        slot = (message.id, message.worker)
        if slot in self._published:
            message.reader.tell(Bound(self._published[slot].publication))
        else:
            self._readers[slot] = message

    def reader_left(self, message: Release) -> None:
        pass


def test_a_bundle_that_binds_to_any_incarnation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "SharingRegistry", ById)
    monkeypatch.setattr(ComputeState, "incarnation", lambda self, number: ("", 0))  # pyright: ignore
    assert finds(Rule.READABLE, Rule.STANDING_HOLD)


def test_a_thread_that_reads_what_is_not_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "is_sealed", lambda upper, time: True)  # pyright: ignore
    assert finds(Rule.ANSWER)
