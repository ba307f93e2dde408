"""Settings as an application sees them."""

from __future__ import annotations

import pytest

from pillion.actors import ActorSystem
from pillion.actors.errors import NotForOneReplica, UnknownReplica, WrongArgument


def test_present_values(system: ActorSystem) -> None:
    assert system.settings()["peek_scan_slice"] == 1 << 14
    system.configure(peek_scan_slice="10")
    system.configure(replica="r1", peek_scan_slice=20)
    assert (system.settings()["peek_scan_slice"], system.settings("r1")["peek_scan_slice"]) == (10, 20)
    system.configure({"peek_scan_slice": None}, replica="r1")
    assert system.settings("r1") == system.settings()


def test_settings_from_the_start_are_there_when_the_replica_is_provisioned(caplog: pytest.LogCaptureFixture) -> None:
    with ActorSystem(settings={"peek_scan_slice": 3, "peek_routing": "hinted"}) as system:
        assert system.settings("r1")["peek_scan_slice"] == 3
        assert system.settings()["peek_routing"] == "hinted"
    assert caplog.records == []


def test_mistakes_change_nothing(system: ActorSystem) -> None:
    before = system.settings()
    with pytest.raises(UnknownReplica, match="no replica 'r2'; there is 'r1'"):
        system.configure(replica="r2", peek_scan_slice=1)
    with pytest.raises(NotForOneReplica, match="max_result_size"):
        system.configure(replica="r1", max_result_size=1)
    with pytest.raises(WrongArgument, match="expected interactive or maintenance or hinted"):
        system.configure(peek_routing="fast")
    with pytest.raises(WrongArgument, match="did you mean 'peek_routing'"):
        system.configure(peek_ruting=None)
    assert system.settings() == system.settings("r1") == before
