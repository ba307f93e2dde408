"""At which time a read happens."""

from __future__ import annotations

import pytest

from pillion.actors.controller.timestamps import Input, Oracle, select_timestamp
from pillion.actors.errors import NotYetReadable
from pillion.actors.requests import Isolation
from pillion.messages.errors import NotReadableError
from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId

STRICT, SERIALIZABLE = Isolation.STRICT_SERIALIZABLE, Isolation.SERIALIZABLE


def inputs(*frontiers: tuple[int, Frontier]) -> list[Input]:
    return [Input(GlobalId("u", number), since, upper) for number, (since, upper) in enumerate(frontiers, 1)]


def test_every_transaction_gets_a_later_time() -> None:
    oracle = Oracle()
    assert [oracle.advance(), oracle.advance(), oracle.advance(10), oracle.advance(3)] == [1, 2, 10, 11]
    assert oracle.latest == 11


def test_strict_serializable_reads_at_the_latest_commit_sealed_or_not() -> None:
    assert select_timestamp(STRICT, None, 7, inputs((0, 8), (3, 2))) == 7


def test_serializable_reads_what_is_sealed_everywhere() -> None:
    assert select_timestamp(SERIALIZABLE, None, 7, inputs((0, 8), (3, 6))) == 5
    assert select_timestamp(SERIALIZABLE, None, 7, inputs((0, None), (0, None))) == 7
    assert select_timestamp(SERIALIZABLE, None, 7, inputs((0, 9))) == 7


def test_serializable_waits_only_for_what_is_not_readable_at_all() -> None:
    assert select_timestamp(SERIALIZABLE, None, 7, inputs((4, 4), (0, 8))) == 4
    assert select_timestamp(SERIALIZABLE, None, 0, inputs((0, 0))) == 0


def test_a_read_of_nothing_happens_now() -> None:
    assert select_timestamp(SERIALIZABLE, None, 7, []) == 7
    assert select_timestamp(STRICT, None, 7, []) == 7


def test_an_explicit_time_is_taken_or_refused() -> None:
    assert select_timestamp(STRICT, 5, 7, inputs((5, 6), (0, 8))) == 5
    with pytest.raises(NotReadableError) as compacted:
        select_timestamp(STRICT, 4, 7, inputs((0, 6), (5, 8)))
    assert (compacted.value.id, compacted.value.time, compacted.value.since) == (GlobalId("u", 2), 4, 5)
    with pytest.raises(NotYetReadable, match="latest commit is 7"):
        select_timestamp(SERIALIZABLE, 8, 7, inputs((0, 6)))
