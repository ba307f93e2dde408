"""Settings: typed values by name."""

from __future__ import annotations

import pytest

from pillion.actors.settings import CONFIGS, MAX_RESULT_SIZE, SCAN_SLICE, TURN_SECONDS, Settings
from pillion.messages.commands import Setting


def test_a_setting_has_its_default_until_it_is_updated() -> None:
    settings = Settings()
    assert settings.get(MAX_RESULT_SIZE) == MAX_RESULT_SIZE.default
    assert settings.update([("max_result_size", 10)]) == []
    assert settings.get(MAX_RESULT_SIZE) == 10


def test_an_unknown_name_changes_nothing() -> None:
    settings = Settings()
    assert settings.update([("max_rezult_size", 10), ("max_result_size", 11)]) == ["unknown setting max_rezult_size"]
    assert settings.get(MAX_RESULT_SIZE) == 11


@pytest.mark.parametrize("value", ["many", -1, 1.5, True, float("nan"), float("inf")])
def test_a_value_that_does_not_parse_keeps_the_previous(value: Setting) -> None:
    settings = Settings()
    settings.update([("max_result_size", 10)])
    (problem,) = settings.update([("max_result_size", value)])
    assert "it stays 10" in problem
    assert settings.get(MAX_RESULT_SIZE) == 10


def test_text_that_shows_a_number_is_one() -> None:
    settings = Settings()
    assert settings.update([("max_result_size", "12"), ("worker_turn_seconds", "0.5")]) == []
    assert settings.get(MAX_RESULT_SIZE) == 12
    assert settings.get(TURN_SECONDS) == 0.5


def test_a_slice_has_at_least_one_row() -> None:
    settings = Settings()
    assert len(settings.update([("peek_scan_slice", 0)])) == 1
    assert settings.get(SCAN_SLICE) == SCAN_SLICE.default


def test_every_setting_says_what_it_is_for_and_accepts_its_default() -> None:
    assert len({config.name for config in CONFIGS}) == len(CONFIGS)
    for config in CONFIGS:
        assert config.description
        assert config.parse(config.default) == config.default
