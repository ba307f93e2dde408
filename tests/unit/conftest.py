"""Shared by the tests of the engine."""

from __future__ import annotations

import numpy as np
import pytest

from pillion.dataflow.columns import hashing


@pytest.fixture(params=[False, True], ids=["hashed", "colliding"])
def collisions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Once with hashes as they are, once with all hashes equal."""
    if request.param:
        monkeypatch.setattr(hashing, "mix", lambda bits: np.zeros_like(bits))
        monkeypatch.setattr(hashing, "combine", lambda accumulated, hashes: np.zeros_like(accumulated))
    return request.param
