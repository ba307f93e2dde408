"""Systems on threads, with one worker and with two, with one runtime and with two; each leaves no thread behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from pillion.actors import ActorSystem

PATIENT = {"introspection_patience_seconds": 20}
"""What introspection tells must not depend on how busy the machine is."""
MODES = [(1, False), (2, False), (1, True), (2, True)]


@pytest.fixture(params=MODES, ids=["1 worker", "2 workers", "1 worker, two runtimes", "2 workers, two runtimes"])
def system(request: pytest.FixtureRequest) -> Iterator[ActorSystem]:
    before = set(threading.enumerate())
    workers, interactive = request.param
    with ActorSystem(workers=workers, interactive=interactive, settings=PATIENT) as system:
        yield system
    assert set(threading.enumerate()) <= before
