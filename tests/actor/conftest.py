"""What the tests of actors share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.actor.two_runtimes import TwoRuntimes


@pytest.fixture
def two() -> Iterator[TwoRuntimes]:
    """A replica with two runtimes, of which either can be stalled."""
    made = TwoRuntimes()
    yield made
    made.check()
    made.close()
