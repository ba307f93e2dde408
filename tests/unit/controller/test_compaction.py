"""How far collections may compact, and which dropped ones may go."""

from __future__ import annotations

from pillion.actors.controller.compaction import Readable, allowed_since, compactions, removable
from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId

TABLE, INDEX, OTHER = GlobalId("u", 1), GlobalId("u", 2), GlobalId("u", 3)


def system(table_lag: int | None = 0, index_lag: int | None = 0, **holds: int) -> tuple[Readable, Readable, Readable]:
    """A table, an index on it, and an index that imports that one; each readable since 2."""
    return (
        Readable(TABLE, 2, table_lag),
        Readable(INDEX, 2, index_lag, (TABLE,), dict(holds)),
        Readable(OTHER, 2, index_lag, (INDEX,)),
    )


def run(readables: tuple[Readable, ...], **uppers: Frontier) -> dict[GlobalId, int]:
    by_name = {TABLE: uppers["table"], INDEX: uppers["index"], OTHER: uppers["other"]}
    return dict(compactions(readables, by_name.__getitem__))


def test_a_policy_keeps_so_many_times_before_the_last_sealed_one() -> None:
    assert allowed_since(Readable(TABLE, 2, 0), 10) == 9
    assert allowed_since(Readable(TABLE, 2, 3), 10) == 6
    assert allowed_since(Readable(TABLE, 2, None), 10) == 2
    assert allowed_since(Readable(TABLE, 2, 0), 0) == 2
    assert allowed_since(Readable(TABLE, 2, 0), None) == 2


def test_a_hold_keeps_its_time_readable() -> None:
    assert allowed_since(Readable(TABLE, 2, 0, (), {"a": 7, "b": 5}), 10) == 5


def test_everything_follows_the_slowest_that_is_computed_from_it() -> None:
    assert run(system(), table=10, index=10, other=10) == {TABLE: 9, INDEX: 9, OTHER: 9}
    assert run(system(), table=10, index=8, other=5) == {TABLE: 4, INDEX: 4, OTHER: 4}
    assert run(system(hold=3), table=10, index=8, other=8) == {TABLE: 3, INDEX: 3, OTHER: 7}
    assert run(system(), table=10, index=0, other=0) == {}


def test_users_compact_before_what_they_use() -> None:
    uppers: dict[GlobalId, Frontier] = {TABLE: 10, INDEX: 10, OTHER: 10}
    assert [id for id, _ in compactions(system(), uppers.__getitem__)] == [OTHER, INDEX, TABLE]


def test_what_is_dropped_stays_as_long_as_others_need_it() -> None:
    table, index, other = system()
    index.dropped = True
    assert removable((table, index, other)) == []
    other.dropped = True
    assert removable((table, index, other)) == [OTHER, INDEX]
    other.holds["peek"] = 3
    assert removable((table, index, other)) == []
    other.holds.clear()
    table.dropped = True
    assert removable((table, index, other)) == [OTHER, INDEX, TABLE]
