"""Values of the process that several owners want set."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.process.shared_value import SharedValue

BEFORE = 100


class Process:
    """Has one value."""

    def __init__(self) -> None:
        self.value = BEFORE
        self.shared = SharedValue(lambda: self.value, self.write, min)

    def write(self, value: int) -> None:
        self.value = value


@given(st.permutations("abc"), st.permutations("abc"))
def test_owners_come_and_go_in_any_order(coming: list[str], going: list[str]) -> None:
    process = Process()
    wants = {"a": 3, "b": 2, "c": 5}
    for at, owner in enumerate(coming, 1):
        process.shared.want(owner, wants[owner])
        assert process.value == min(wants[there] for there in coming[:at])
    for at, owner in enumerate(going, 1):
        process.shared.want(owner, None)
        assert process.value == min((wants[there] for there in going[at:]), default=BEFORE)


def test_an_owner_may_change_its_mind() -> None:
    process = Process()
    process.shared.want("a", 3)
    process.shared.want("a", 7)
    assert process.value == 7
    process.shared.want("a", None)
    assert process.value == BEFORE


def test_who_wants_nothing_changes_nothing() -> None:
    process = Process()
    process.shared.want("a", None)
    process.value = 50
    process.shared.want("a", None)
    assert process.value == 50


def test_what_the_application_set_in_the_meantime_stays() -> None:
    process = Process()
    process.shared.want("a", 3)
    process.value = 50
    process.shared.want("a", None)
    assert process.value == 50
    process.shared.want("b", 4)
    process.shared.want("b", None)
    assert process.value == 50


def test_a_value_that_the_platform_rounds_is_restored() -> None:
    process = Process()
    process.shared = SharedValue(lambda: process.value // 10 * 10, process.write, min)
    process.shared.want("a", 37)
    process.shared.want("a", None)
    assert process.value == BEFORE


def test_a_value_that_the_platform_refuses_is_the_owner_s_to_hear_of() -> None:
    def refuse(value: int) -> None:
        raise ValueError(value)

    with pytest.raises(ValueError, match="3"):
        SharedValue(lambda: 1, refuse, min).want("a", 3)
