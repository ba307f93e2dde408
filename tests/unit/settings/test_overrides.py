"""A value for one replica: its override, else the environment's, else the default."""

from __future__ import annotations

import pytest

from pillion.actors.settings import (
    ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS,
    ENABLE_COMPUTE_INTERACTIVE_RUNTIME,
    MAX_RESULT_SIZE,
    PEEK_ROUTING,
    Config,
    Overrides,
    PeekRouting,
    Settings,
)
from pillion.messages.commands import Setting

FLAG = ENABLE_COMPUTE_INTERACTIVE_RUNTIME


class Stored:
    """An environment and the overrides of a replica, and what was said about these."""

    def __init__(self, environment: dict[str, Setting], overrides: dict[str, Setting]) -> None:
        self.log: list[str] = []
        self.config_set = Settings()
        assert self.config_set.update(environment.items()) == []
        self.overrides = Overrides(overrides, self.log.append)


def test_without_anything_stored_a_replica_has_the_default() -> None:
    stored = Stored({}, {})
    assert FLAG.get_with_overrides(stored.config_set, stored.overrides) is False
    assert ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS.get_with_overrides(stored.config_set, stored.overrides) is True


@pytest.mark.parametrize("environment", [{}, {FLAG.name: "off"}, {FLAG.name: "on"}])
@pytest.mark.parametrize("on", ["on", "ON", True, 1, "true"])
def test_a_stored_on_is_on(environment: dict[str, Setting], on: Setting) -> None:
    stored = Stored(environment, {FLAG.name: on})
    assert FLAG.get_with_overrides(stored.config_set, stored.overrides) is True
    assert stored.log == []


def test_a_stored_off_goes_before_an_environment_that_says_on() -> None:
    stored = Stored({FLAG.name: "on"}, {FLAG.name: "off"})
    assert FLAG.get_with_overrides(stored.config_set, stored.overrides) is False


@pytest.mark.parametrize("unparsable", ["maybe", "", 2, 0.5, float("nan")])
def test_an_override_that_does_not_parse_falls_back_to_the_environment_not_to_the_default(unparsable: Setting) -> None:
    stored = Stored({FLAG.name: "on"}, {FLAG.name: unparsable})
    assert FLAG.default is False
    assert FLAG.get_with_overrides(stored.config_set, stored.overrides) is True


def test_it_is_said_once_each_time_that_it_is_stored() -> None:
    stored = Stored({FLAG.name: "on"}, {FLAG.name: "maybe"})
    for _ in range(3):
        FLAG.get_with_overrides(stored.config_set, stored.overrides)
    assert stored.log == [f"override {FLAG.name} = 'maybe': expected on or off; the environment's value True counts"]
    stored.overrides.store(FLAG.name, "perhaps")
    FLAG.get_with_overrides(stored.config_set, stored.overrides)
    assert len(stored.log) == 2


def test_what_was_removed_overrides_nothing() -> None:
    stored = Stored({FLAG.name: "on"}, {FLAG.name: "off"})
    stored.overrides.remove(FLAG.name)
    stored.overrides.remove(FLAG.name)
    assert FLAG.get_with_overrides(stored.config_set, stored.overrides) is True


@pytest.mark.parametrize("flag", [FLAG, ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS])
def test_an_environment_s_value_that_does_not_parse_leaves_what_there_was(flag: Config[bool]) -> None:
    for before in ({}, {flag.name: not flag.default}):
        stored = Stored(before, {})
        value = flag.get_with_overrides(stored.config_set, stored.overrides)
        (problem,) = stored.config_set.update([(flag.name, "maybe")])
        assert f"it stays {value}" in problem
        assert flag.get_with_overrides(stored.config_set, stored.overrides) is value


@pytest.mark.parametrize("override", ["off", "unparsable"])
def test_a_setting_of_the_system_takes_no_override(override: str) -> None:
    for config in (ENABLE_COMPUTE_INTERACTIVE_DATAFLOWS, MAX_RESULT_SIZE):
        stored = Stored({}, {config.name: override})
        assert config.get_with_overrides(stored.config_set, stored.overrides) == config.default
        assert stored.log == []


def test_a_choice_is_stored_by_its_name() -> None:
    stored = Stored({PEEK_ROUTING.name: "hinted"}, {})
    assert PEEK_ROUTING.get_with_overrides(stored.config_set, stored.overrides) is PeekRouting.HINTED
    stored.overrides.store(PEEK_ROUTING.name, "maintenance")
    assert PEEK_ROUTING.get_with_overrides(stored.config_set, stored.overrides) is PeekRouting.MAINTENANCE
    stored.overrides.store(PEEK_ROUTING.name, "fast")
    assert PEEK_ROUTING.get_with_overrides(stored.config_set, stored.overrides) is PeekRouting.HINTED
    assert "expected interactive or maintenance or hinted" in stored.log[0]
