"""The garbage collector on behalf of systems."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from pillion.actors.process.garbage import Freezing, set_young_threshold, young_threshold


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_only_the_threshold_of_the_youngest_generation_changes() -> None:
    gc.set_threshold(700, 11, 12)
    set_young_threshold(5000)
    assert gc.get_threshold() == (5000, 11, 12)
    assert young_threshold() == 5000


def test_what_there_is_stays_frozen_until_the_last_owner_is_gone() -> None:
    freezing = Freezing()
    freezing.want("a", True)
    frozen = gc.get_freeze_count()
    assert frozen > 0
    freezing.want("b", True)
    freezing.want("a", False)
    assert gc.get_freeze_count() > 0
    freezing.want("b", False)
    freezing.want("b", False)
    assert gc.get_freeze_count() == 0


def test_what_the_application_froze_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    freezing = Freezing()
    freezing.want("a", True)
    freezing.want("a", False)
    assert gc.get_freeze_count() == frozen
