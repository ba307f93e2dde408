"""What reads a system under the workload."""

from __future__ import annotations

from typing import Any

from ....messages.commands import Finishing
from ....messages.errors import PillionError
from ....messages.ids import GlobalId
from ....messages.relations import Order
from ....messages.scalars import Literal
from ....messages.types import SqlType
from ...errors import ReplicaDown, UnknownCollection
from ...introspection.relations import RELATIONS
from ...requests import Cancel, CollectionKind, Isolation, PeekIndex, Query, WaitUntilReadable
from ...system.index import Index
from ..answers import Asked, ReadCheck, expect
from ..model import Known
from .changing import READ_FROM, Changes

CANCELABLE = {"peek", "query", "introspect", "wait"}


class Reads(Changes):
    """Reads at every isolation level, by the actors and by the application's thread."""

    def _any(self, *kinds: CollectionKind) -> Known | None:
        """One of these kinds that is there; at times one that is not any more."""
        if self.rng.random() < 0.05:
            gone = [known for known in self.model.collections if known.dropped and known.id and known.kind in kinds]
            if gone:
                return self.rng.choice(gone)
        there = self.model.there(*kinds)
        return self.rng.choice(there) if there else None

    def _when(self, known: Known) -> tuple[ReadCheck, dict[str, Any]]:
        """How a read chooses its time, and what may come of it."""
        isolation = self.rng.choice(list(Isolation))
        as_of, kept = None, False
        held = [each for each, ids in self._held if known.id in ids]
        if held and self.rng.random() < 0.5:
            as_of, kept = self.rng.choice(held).timestamp, True
        elif self.rng.random() < 0.15:
            as_of = max(0, self.model.latest + self.rng.randint(-4, 1))
        timeout = self.rng.choice([None, None, None, 0.05, 5.0])
        read = ReadCheck(
            self.model,
            known,
            known.relation if known.relation is not None else known.get,
            isolation,
            self.model.latest,
            self._seen,
            as_of,
            kept,
            timeout,
            must_fail=known.must_fail,
            dropped=_is_dropped(known),
            floors=self._floors,
            floor=self._floors.setdefault(known.id, 0) if known.kind is CollectionKind.INDEX and known.id else 0,
        )
        return read, {"isolation": isolation, "as_of": as_of, "timeout": timeout}

    def peek(self) -> None:
        """Rows of an index, all or some."""
        index = self._any(CollectionKind.INDEX)
        if index is None:
            return
        read, fields = self._when(index)
        if self.rng.random() < 0.4:
            read.key = tuple(part.index for part in index.key)
            count = self.rng.randint(1, 3)
            read.keys = tuple(tuple(self.rng.randrange(5) for _ in read.key) for _ in range(count))
            literals = tuple(
                tuple(Literal.of(part, SqlType.BIGINT) for part in key) for key in dict.fromkeys(read.keys)
            )
            fields["keys"] = literals
        if self.rng.random() < 0.3:
            read.finishing = Finishing((Order(self.rng.randrange(2)),), self.rng.choice([None, 1, 3]))
            fields["finishing"] = read.finishing
        shown = f"peek {index.name} ({fields['isolation']}, as of {read.as_of}, {read.timeout}) keys {read.keys}"
        self.send("peek", shown, PeekIndex, read.check, index=index.id, **fields)

    def query(self) -> None:
        """A relation that has no index, or may have one."""
        known = self._any(*READ_FROM)
        if known is not None and self.rng.random() < 0.5:
            algebra, schema = known.get, known.schema
        else:
            known = self._relation(failing=True)
            if known is None:
                return
            assert known.relation is not None, "it is one"
            algebra, schema = known.relation, known.schema
        read, fields = self._when(known)
        # An index that was made after a hold may be what the plan reads, and it does not begin as early.
        read.kept = False
        if self.rng.random() < 0.2:
            read.finishing = Finishing((Order(self.rng.randrange(2)),), self.rng.choice([None, 1, 3]))
            fields["finishing"] = read.finishing
        shown = f"query {known.name or algebra} ({fields['isolation']}, as of {read.as_of}, {read.timeout})"
        self.send("query", shown, Query, read.check, relation=algebra, schema=schema, **fields)

    def lookup(self) -> None:
        """As an application's thread does: it waits for the answer, while everything goes on."""
        index = self._any(CollectionKind.INDEX)
        if index is None or index.id is None or index.on is None or index.on.id is None:
            return
        handle = self._indexes.get(index.id)
        if handle is None:
            key = tuple((part, SqlType.BIGINT, "ab"[part.index]) for part in index.key)
            handle = Index(self.simulation.connection, index.id, index.name, index.on.id, index.schema, key)
            self._indexes[index.id] = handle
        read, fields = self._when(index)
        # One that was dropped may still be there while the message is on its way.
        read.dropped = index.dropped
        read.as_of, read.kept, read.timeout = None, False, None
        # Whichever worker has the row: an error of any row is one of the whole collection.
        read.key = tuple(part.index for part in index.key)
        key = tuple(self.rng.randrange(5) for _ in index.key)
        read.keys = (key,)
        self.journal.append(f"lookup {index.name} {key} ({fields['isolation']})")
        try:
            answer = handle.lookup(*key, isolation=fields["isolation"])
        except ReplicaDown as error:
            expect(self.may_be_down, error)
            return
        except PillionError as error:
            answer = error.with_traceback(None)  # Its frames hold what was read, and would be garbage in circles.
        read.check_direct(answer, self.model.latest)
        self.checked["direct"] += 1

    def introspect(self) -> None:
        """What a replica tells of itself."""

        def check(answer: Any) -> None:
            expect(getattr(answer, "blocks", None) is not None, answer)

        index = GlobalId("s", self.rng.randint(1, len(RELATIONS)))
        self.send("introspect", f"introspect {index}", PeekIndex, check, index=index)

    def wait(self) -> None:
        """Until something is readable as of now."""
        known = self._any(CollectionKind.INDEX, CollectionKind.TABLE, CollectionKind.MATERIALIZED_VIEW)
        if known is None:
            return
        time = self.model.latest

        def readable(answer: Any) -> None:
            if isinstance(answer, UnknownCollection):
                expect(known.dropped, answer)
            else:
                expect(answer is None or answer > time, answer)

        self.send("wait", f"wait for {known.name} at {time}", WaitUntilReadable, readable, id=known.id)

    def cancel(self) -> None:
        """Somebody does not want an answer any more, and may say so twice."""
        cancelable = [asked for asked in self._asked if asked.kind in CANCELABLE]
        if cancelable:
            self._cancel_one(self.rng.choice(cancelable))

    def _cancel_one(self, asked: Asked) -> None:
        self.journal.append(f"cancel {asked.what}")
        asked.canceled = True
        for _ in range(self.rng.randint(1, 2)):
            self.simulation.controller.tell(Cancel(asked.reply))


def _is_dropped(known: Known) -> bool:
    """Whether a collection, or what an index is on, is dropped."""
    return known.dropped or (known.on is not None and known.on.dropped)
