"""Metrics over HTTP."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pillion.actors.metrics.endpoint import MetricsEndpoint
from pillion.actors.metrics.system import SystemMetrics
from pillion.actors.transport.address import TcpAddress
from pillion.actors.transport.errors import AddressError
from pillion.actors.worker.placement import Placement
from pillion.actors.worker.state import ComputeState

ANY_PORT = TcpAddress("127.0.0.1", 0)


class Served:
    """An endpoint, and what it shows."""

    def __init__(self) -> None:
        self.metrics: SystemMetrics | None = None
        self.endpoint = MetricsEndpoint(ANY_PORT, lambda: self.metrics)

    def get(self) -> str:
        url = f"http://127.0.0.1:{self.endpoint.address.port}/metrics"
        with urllib.request.urlopen(url, timeout=10) as response:
            assert response.headers["Content-Type"].startswith("text/plain")
            return response.read().decode()


@pytest.fixture
def served() -> Iterator[Served]:
    before = set(threading.enumerate())
    made = Served()
    yield made
    made.endpoint.stop()
    made.endpoint.stop()
    assert set(threading.enumerate()) <= before


def test_it_shows_what_is_there_at_the_moment(served: Served) -> None:
    assert served.get() == ""
    served.metrics = SystemMetrics()
    state = ComputeState(0, Placement.SOLO)
    served.metrics.add_worker(state)
    state.figures.steps.add(0.5)
    families = {family.name: family for family in text_string_to_metric_families(served.get())}
    assert [s.value for s in families["pillion_step_seconds"].samples if s.name.endswith("_count")] == [1]
    served.metrics = None
    assert served.get() == ""


def test_an_address_in_use_is_refused_in_one_sentence(served: Served) -> None:
    with pytest.raises(AddressError, match=r"cannot serve metrics on tcp://127.0.0.1:\d+: it is in use; stop what"):
        MetricsEndpoint(served.endpoint.address, lambda: None)
