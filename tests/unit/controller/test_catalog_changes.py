"""What is created and dropped takes effect once it is durable, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from pillion.actors.controller.catalog_changes import CatalogChanges, Prepared
from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.errors import DuplicateName
from pillion.actors.journal.errors import WritesRefused
from pillion.actors.journal.messages import Dropped, Log
from pillion.messages.errors import PillionError
from pillion.messages.ids import GlobalId


class Journal:
    """Stands for the reference to one."""

    def __init__(self) -> None:
        self.logged: list[Any] = []

    def tell(self, message: Log) -> None:
        self.logged.append(message.entry)


class Bench:
    def __init__(self, *, journal: bool = True) -> None:
        self.changes = CatalogChanges()
        self.journal = Journal()
        self.done: list[int] = []
        if journal:
            self.changes.use_journal(cast(Any, self.journal), cast(Any, "controller"))

    def submit(self, number: int, *, refused: bool = False) -> OneShot[Any]:
        reply: OneShot[Any] = OneShot()

        def prepare() -> Prepared:
            if refused:
                raise DuplicateName("x", entry(number).ids[0])
            return Prepared(entry(number), effect)

        def effect() -> None:
            self.done.append(number)
            reply.resolve(number)

        self.changes.submit(reply, prepare)
        return reply


def entry(number: int) -> Dropped:
    return Dropped((GlobalId("u", number),))


def test_without_a_journal_a_change_is_made_at_once() -> None:
    bench = Bench(journal=False)
    assert bench.submit(1).get() == 1
    with pytest.raises(DuplicateName):
        bench.submit(2, refused=True)


def test_changes_wait_for_the_journal_and_for_each_other() -> None:
    bench = Bench()
    first, second = bench.submit(1), bench.submit(2)
    assert (bench.journal.logged, bench.done) == ([entry(1)], [])
    bench.changes.durable()
    assert (bench.journal.logged, bench.done) == ([entry(1), entry(2)], [1])
    assert first.is_set and not second.is_set
    bench.changes.durable()
    assert bench.done == [1, 2]


def test_what_is_refused_when_its_turn_comes_lets_the_next_one_go_on() -> None:
    bench = Bench()
    bench.submit(1)
    refused, last = bench.submit(2, refused=True), bench.submit(3)
    bench.changes.durable()
    with pytest.raises(DuplicateName):
        refused.get(timeout=0)
    assert bench.journal.logged == [entry(1), entry(3)]
    bench.changes.durable()
    assert last.get(timeout=0) == 3


def test_after_a_failure_nothing_changes_any_more() -> None:
    bench = Bench()
    replies = [bench.submit(1), bench.submit(2)]
    error = WritesRefused(Path("somewhere"), "database or disk is full")
    bench.changes.fail(error)
    attempts: list[Callable[[], object]] = [*[lambda r=r: r.get(timeout=0) for r in replies], lambda: bench.submit(3)]
    for attempt in attempts:
        with pytest.raises(PillionError, match="disk is full"):
            attempt()
    assert bench.done == []
