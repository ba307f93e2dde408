"""What a stored value may look like."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.settings import CONFIGS, parsing
from pillion.messages.commands import Setting

ANYTHING = st.booleans() | st.integers() | st.floats() | st.text(max_size=8)


@pytest.mark.parametrize(
    ("parse", "stored", "value"),
    [
        (parsing.flag, "Yes ", True),
        (parsing.flag, 0, False),
        (parsing.size, "0", 0),
        (parsing.size, 5.0, 5),
        (parsing.count, "7", 7),
        (parsing.seconds, "0.25", 0.25),
        (parsing.fraction, 1, 1.0),
        (parsing.up_to(19), 19, 19),
    ],
)
def test_values(parse: Callable[[Setting], object], stored: Setting, value: object) -> None:
    assert parse(stored) == value
    assert type(parse(stored)) is type(value)


@pytest.mark.parametrize(
    ("parse", "stored", "says"),
    [
        (parsing.flag, "2", "on or off"),
        (parsing.flag, 1.5, "on or off"),
        (parsing.size, True, "0 or more"),
        (parsing.size, "1e3", "0 or more"),
        (parsing.size, 1 << 63, "less than 2"),
        (parsing.size, "9" * 400, "less than 2"),
        (parsing.count, 0, "1 or more"),
        (parsing.count, "many", "1 or more"),
        (parsing.seconds, -1, "0 or more"),
        (parsing.seconds, float("inf"), "0 or more"),
        (parsing.seconds, float("nan"), "0 or more"),
        (parsing.seconds, 1e9, "less than 10"),
        (parsing.fraction, 1.01, "from 0 to 1"),
        (parsing.fraction, False, "from 0 to 1"),
        (parsing.up_to(19), 20, "from 0 to 19"),
        (parsing.up_to(19), -1, "from 0 to 19"),
    ],
)
def test_refusals(parse: Callable[[Setting], object], stored: Setting, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse(stored)


@given(ANYTHING)
def test_whatever_was_stored_is_a_value_or_refused(stored: Setting) -> None:
    for config in CONFIGS:
        try:
            value = config.parse(stored)
        except (ValueError, OverflowError):
            continue
        assert type(value) is type(config.default)
        assert config.parse(value) == value
