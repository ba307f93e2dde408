"""Systems on threads, with one worker and with two; each leaves no thread behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from pillion.actors import ActorSystem


@pytest.fixture(params=[1, 2], ids=["1 worker", "2 workers"])
def system(request: pytest.FixtureRequest) -> Iterator[ActorSystem]:
    before = set(threading.enumerate())
    with ActorSystem(workers=request.param) as system:
        yield system
    assert set(threading.enumerate()) <= before
