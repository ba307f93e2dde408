"""What changes a system under the workload: transactions, collections that are made and dropped."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ....dataflow.columns.column import Column, column_from_values
from ....messages.errors import PillionError
from ....messages.ids import GlobalId
from ....messages.scalars import ColumnRef
from ....messages.types import SqlType
from ...dispatch.oneshot import OneShot
from ...errors import NoSuchRow, StillUsed, UnknownCollection
from ...requests import (
    CollectionKind,
    Commit,
    CreateIndex,
    CreateMaterializedView,
    CreateTable,
    CreateView,
    Delete,
    Drop,
    Held,
    Insert,
    ReadPolicy,
)
from ...system.index import Index
from ..answers import Asked, expect
from ..followed import Followed
from ..model import TABLE, Known, Model, Row
from ..relations import relation
from ..simulation import Simulation

READ_FROM = (CollectionKind.TABLE, CollectionKind.VIEW, CollectionKind.MATERIALIZED_VIEW)
MOST_COLLECTIONS = 14
MOST_ROWS = 12
DEEPEST = 2
"""A relation over relations over tables; deeper ones grow, and find nothing more."""


class Changes:
    """A system, what it was asked, and what there should be; and whatever changes it.

    Attributes:
        journal: what was asked, line by line.
        checked: how many answers there were, by what was asked.
        may_be_down: whether it may be that no replica can be reached.
    """

    def __init__(self, simulation: Simulation) -> None:
        self.rng = random.Random(0)
        self.simulation = simulation
        self.model = Model()
        self.journal: list[str] = []
        self.checked: Counter[str] = Counter()
        self.may_be_down = False
        self._elsewhere = any(replica.is_elsewhere for replica in simulation.replicas)
        self._asked: list[Asked] = []
        self._subscribed: list[Followed] = []
        self._followed: list[tuple[Followed, OneShot[Any]]] = []
        self._held: list[tuple[Held, frozenset[GlobalId]]] = []
        self._indexes: dict[GlobalId, Index] = {}
        self._floors: dict[GlobalId, int] = {}
        self._names = 0
        self._seen = 0
        """The time of the last transaction that was answered."""

    # --- Asking --------------------------------------------------------------------------------------------------

    def send(self, kind: str, what: str, request: Any, check: Callable[[Any], None], **fields: Any) -> Asked:
        """Ask for something; ``check`` gets what is answered."""
        self.journal.append(what)
        reply = self.simulation.connection.send(lambda reply: request(reply=reply, **fields))
        asked = Asked(kind, f"{len(self.journal)}: {what}", reply, check, may_be_down=self.may_be_down)
        self._asked.append(asked)
        return asked

    def take_answers(self) -> None:
        """Check what was answered since.

        Raises:
            RuleBroken: an answer is not right.
        """
        waiting: list[Asked] = []
        for asked in self._asked:
            if asked.answered():
                self.checked[asked.kind] += 1
            else:
                waiting.append(asked)
        self._asked = waiting
        for followed, _ in self._followed:
            followed.check()

    # --- Writing -------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """A transaction on a table or two; some are refused."""
        tables = self.model.there(CollectionKind.TABLE)
        if not tables:
            return
        changes: list[Any] = []
        after: dict[Known, Counter[Row]] = {}
        for table in self.rng.sample(tables, self.rng.randint(1, min(2, len(tables)))):
            present = sorted(table.latest.elements())
            gone = self.rng.sample(present, self.rng.randint(0, min(3, len(present))))
            room = max(0, MOST_ROWS - len(present))
            new = [(self.rng.randrange(4), self.rng.randrange(4)) for _ in range(self.rng.randint(0, min(4, room)))]
            if self.rng.random() < 0.6:
                new = [(a, b + 1) for a, b in new]
            rows = Counter(table.latest)
            rows.subtract(gone)
            rows.update(new)
            after[table] = +rows
            assert table.id is not None, "it is there"
            changes += [Delete(table.id, columns(gone)), Insert(table.id, columns(new))]
        self.model.latest += 1
        time = self.model.latest
        if self.rng.random() < 0.05:
            # Of a transaction that is refused nothing is seen.
            changes.append(Delete(changes[0].table, columns([(99, 99)])))
            self.send("refused", f"refused commit at {time}", Commit, self._refused(NoSuchRow), changes=tuple(changes))
            return
        for table, rows in after.items():
            table.contents.append((time, rows))
        shown = ", ".join(f"{table.name}={sorted(rows.elements())}" for table, rows in after.items())

        def committed(answer: Any) -> None:
            expect(getattr(answer, "timestamp", None) == time, answer)
            self._seen = max(self._seen, time)

        self.send("commit", f"commit at {time}: {shown}", Commit, committed, changes=tuple(changes))

    def _refused(self, *kinds: type[PillionError]) -> Callable[[Any], None]:
        def check(answer: Any) -> None:
            expect(isinstance(answer, kinds), answer)

        return check

    # --- Creating and dropping -----------------------------------------------------------------------------------

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}{self._names}"

    def _policy(self) -> ReadPolicy:
        return ReadPolicy(self.rng.choice([0, 0, 0, 2, 5, None]))

    def _create(self, known: Known, kind: Any, **fields: Any) -> None:
        self.model.collections.append(known)

        def created(answer: Any) -> None:
            if isinstance(answer, UnknownCollection):
                expect(known.dropped and bool(fields.get("wait")), answer)
                return
            expect(isinstance(answer, GlobalId), answer)
            known.id = answer

        shown = f"create {known.name}: {fields}"
        self.send("create", shown, kind, created, name=known.name, **fields)

    def create_table(self) -> None:
        """One more table, up to four."""
        if len(self.model.there(CollectionKind.TABLE)) < 4:
            known = Known(self._name("table"), CollectionKind.TABLE, TABLE)
            self._create(known, CreateTable, schema=TABLE, policy=self._policy())

    def _sources(self, *, failing: bool) -> list[Known]:
        there = [known for known in self.model.there(*READ_FROM) if depth(known) < DEEPEST]
        return [known for known in there if failing or not known.may_fail]

    def _relation(self, *, failing: bool) -> Known | None:
        """A relation that has no name yet."""
        over = self._sources(failing=failing)
        if not over:
            return None
        algebra, uses, fails = relation(self.rng, over, failing=failing)
        may_fail = fails or any(used.may_fail for used in uses)
        must_fail = fails and not any(used.may_fail for used in uses)
        return Known("", CollectionKind.VIEW, self.model.schema(algebra), algebra, None, (), uses, may_fail, must_fail)

    def create_view(self) -> None:
        """A view over something."""
        known = self._relation(failing=True)
        if known is None or self._too_many():
            return
        known.name = self._name("view")
        self._create(known, CreateView, relation=known.relation, schema=known.schema)

    def create_materialized_view(self) -> None:
        """A materialized view over something."""
        known = self._relation(failing=True)
        if known is None or self._too_many():
            return
        known.name, known.kind = self._name("materialized"), CollectionKind.MATERIALIZED_VIEW
        wait = self._waits()
        fields = {"relation": known.relation, "schema": known.schema, "policy": self._policy(), "wait": wait}
        self._create(known, CreateMaterializedView, **fields)

    def create_index(self) -> None:
        """An index on something."""
        there = self.model.there(*READ_FROM)
        if not there or self._too_many():
            return
        on = self.rng.choice(there)
        key = tuple(ColumnRef(at) for at in self.rng.choice([(0,), (0,), (1,), (0, 1)]))
        known = Known(self._name("index"), CollectionKind.INDEX, on.schema, on.get, on, key, (on,))
        known.may_fail, known.must_fail = on.may_fail, on.must_fail
        self._create(known, CreateIndex, on=on.id, key=key, policy=self._policy(), wait=self._waits())

    def _waits(self) -> bool:
        # When every replica is lost, whoever waits is refused, though the collection was made.
        return not self._elsewhere and self.rng.random() < 0.3

    def _too_many(self) -> bool:
        return sum(not known.dropped for known in self.model.collections) >= MOST_COLLECTIONS

    def drop(self) -> None:
        """Something goes, with those that use it or not."""
        there = self.model.there(*READ_FROM, CollectionKind.INDEX)
        if self.rng.random() < 0.7:
            # More often what is used little: an index that is dropped and made again is what this is about.
            there = [known for known in there if known.kind is CollectionKind.INDEX] or there
        elif self.rng.random() < 0.7:
            there = [known for known in there if known.kind is not CollectionKind.TABLE]
        if there:
            self._drop_one(self.rng.choice(there), cascade=self.rng.random() < 0.4)

    def _drop_one(self, known: Known, *, cascade: bool) -> None:
        users = self.model.users(known)
        if users and not cascade:
            self.send("drop", f"drop {known.name}, which is used", Drop, self._refused(StillUsed), id=known.id)
            return
        gone = [known, *users]
        for each in gone:
            each.dropped = True

        def dropped(answer: Any) -> None:
            ids = {each.id for each in gone if each.id is not None}
            expect(isinstance(answer, tuple), answer)
            expect(len(answer) == len(gone) and ids <= set(answer), answer)

        shown = ", ".join(each.name for each in gone)
        self.send("drop", f"drop {shown}", Drop, dropped, id=known.id, cascade=cascade)


def depth(known: Known) -> int:
    """How many relations are between a collection and tables."""
    return 1 + max(depth(used) for used in known.uses) if known.uses else 0


def columns(rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns of rows of two numbers."""
    return tuple(column_from_values([row[at] for row in rows], SqlType.BIGINT) for at in range(2))
