"""Shared by the tests of the engine."""

from __future__ import annotations

import pytest

from tests.unit.collisions import collide


@pytest.fixture(params=[False, True], ids=["hashed", "colliding"])
def collisions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Once with hashes as they are, once with all hashes equal."""
    if request.param:
        collide(monkeypatch)
    return request.param
