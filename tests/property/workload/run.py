"""One run of the workload: random requests, whatever order the messages take, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pillion.actors.controller.messages import ReplicaLost
from pillion.actors.dispatch.oneshot import OneShot
from pillion.actors.errors import UnknownCollection
from pillion.actors.introspection.relations import RELATIONS
from pillion.actors.requests import (
    Cancel,
    CollectionKind,
    Configure,
    Held,
    HoldRead,
    Isolation,
    PeekIndex,
    Query,
    ReleaseRead,
    Subscribed,
    SubscribeTo,
    Unsubscribe,
    WaitUntilReadable,
)
from pillion.actors.settings import PEEK_ROUTING
from pillion.actors.system.index import Index
from pillion.messages.commands import Finishing
from pillion.messages.errors import PillionError
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Order
from pillion.messages.scalars import Literal
from pillion.messages.types import SqlType

from .answers import Followed, ReadCheck, dropped_in
from .changing import PATIENCE, READ_FROM, Changes
from .line import Break
from .model import Known
from .system import REPLICA

SETTINGS: dict[str, tuple[bool | int | str, ...]] = {
    "enable_compute_interactive_dataflows": (True, False),
    "enable_compute_interactive_runtime": (True, False),
    PEEK_ROUTING.name: ("interactive", "maintenance", "hinted"),
    "peek_scan_slice": (1, 3, 16384),
    "worker_turn_steps": (1, 1024),
    "interactive_step_rows": (1, 4, 65536),
    "peek_stash_threshold": (1, 1 << 24),
}


class Workload(Changes):
    """The requests of a run, in a random order; then everything is dropped."""

    def __init__(self, seed: int, *, workers: int, interactive: bool) -> None:
        super().__init__(seed, workers=workers, interactive=interactive)
        self._actions: list[tuple[int, Callable[[], None]]] = [
            (22, self._commit),
            (10, self._peek),
            (10, self._query),
            (10, self._lookup),
            (3, self._introspect),
            (4, self._wait),
            (2, self._create_table),
            (5, self._create_view),
            (8, self._create_index),
            (3, self._create_materialized_view),
            (6, self._drop),
            (3, self._subscribe),
            (2, self._unsubscribe),
            (3, self._hold),
            (2, self._release),
            (4, self._cancel),
            (5, self._configure),
            (3, self._reconnect),
            (2, self._break),
            (6, self._elapse),
            (6, self._lag),
            (30, self._deliver),
            (3, self._settle),
        ]

    def run(self, steps: int) -> None:
        """So many actions, then everything is dropped.

        Raises:
            AssertionError: an answer is wrong, or a rule was broken.
        """
        self._create_table()
        self._create_table()
        weights, actions = zip(*self._actions, strict=True)
        for action in self.rng.choices(actions, weights, k=steps):
            action()
            self.system.check_step()
            self.system.check()
            self._take_answers()
        self._end()

    def stop(self) -> None:
        """Stop the system."""
        self.system.dispatcher.stop()

    # --- Reading -------------------------------------------------------------------------------------------------

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
        assert known.relation is not None or known.kind is CollectionKind.TABLE
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
            dropped=dropped_in(known),
            floors=self._floors,
            floor=self._floors.setdefault(known.id, 0) if known.kind is CollectionKind.INDEX and known.id else 0,
        )
        return read, {"isolation": isolation, "as_of": as_of, "timeout": timeout}

    def _peek(self) -> None:
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
        self._send(shown, PeekIndex, read.check, index=index.id, **fields)

    def _query(self) -> None:
        known = self._any(*READ_FROM)
        if known is not None and self.rng.random() < 0.5:
            algebra, schema = known.get, known.schema
        else:
            known = self._relation(failing=True)
            if known is None:
                return
            assert known.relation is not None
            algebra, schema = known.relation, known.schema
        read, fields = self._when(known)
        # An index that was made after a hold may be what the plan reads, and it does not begin as early.
        read.kept = False
        if self.rng.random() < 0.2:
            read.finishing = Finishing((Order(self.rng.randrange(2)),), self.rng.choice([None, 1, 3]))
            fields["finishing"] = read.finishing
        shown = f"query {known.name or algebra} ({fields['isolation']}, as of {read.as_of}, {read.timeout})"
        self._send(shown, Query, read.check, relation=algebra, schema=schema, **fields)

    def _lookup(self) -> None:
        """As an application's thread does: it waits for the answer, while everything goes on."""
        index = self._any(CollectionKind.INDEX)
        if index is None or index.id is None or index.on is None or index.on.id is None:
            return
        handle = self._indexes.get(index.id)
        if handle is None:
            key = tuple((part, SqlType.BIGINT, "ab"[part.index]) for part in index.key)
            handle = Index(self.system.connection, index.id, index.name, index.on.id, index.schema, key)
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
        except PillionError as error:
            answer = error
        read.check_direct(answer, self.model.latest)
        self.checked["direct"] += 1

    def _introspect(self) -> None:
        def check(answer: Any) -> None:
            assert answer.schema is not None and answer.blocks is not None

        index = GlobalId("s", self.rng.randint(1, len(RELATIONS)))
        self._send(f"introspect {index}", PeekIndex, check, index=index)

    def _wait(self) -> None:
        known = self._any(CollectionKind.INDEX, CollectionKind.TABLE, CollectionKind.MATERIALIZED_VIEW)
        if known is None:
            return
        time = self.model.latest

        def readable(answer: Any) -> None:
            if isinstance(answer, UnknownCollection):
                assert known.dropped, answer
            else:
                assert answer is None or answer > time, answer

        self._send(f"wait for {known.name} at {time}", WaitUntilReadable, readable, id=known.id)

    def _cancel(self) -> None:
        if self._asked:
            asked = self.rng.choice(self._asked)
            if asked.what.split()[1] in {"peek", "query", "introspect", "wait"}:
                self.journal.append(f"cancel {asked.what}")
                asked.canceled = True
                for _ in range(self.rng.randint(1, 2)):
                    self.system.controller.tell(Cancel(asked.reply))

    # --- Holding and following -----------------------------------------------------------------------------------

    def _hold(self) -> None:
        there = self.model.there(CollectionKind.INDEX)
        if not there:
            return
        chosen = self.rng.sample(there, self.rng.randint(1, min(2, len(there))))
        ids = frozenset(known.id for known in chosen if known.id is not None)
        time = self.model.latest

        def held(answer: Any) -> None:
            assert isinstance(answer, Held) and answer.timestamp == time, answer
            self._held.append((answer, ids))

        names = ", ".join(known.name for known in chosen)
        self._send(f"hold {names} at {time}", HoldRead, held, ids=tuple(sorted(ids)))

    def _release(self) -> None:
        if self._held:
            self._release_one(self._held.pop(self.rng.randrange(len(self._held)))[0])

    def _release_one(self, held: Held) -> None:
        self._send(f"release {held.hold}", ReleaseRead, self._none, hold=held.hold)

    def _none(self, answer: Any) -> None:
        assert answer is None, answer

    def _subscribe(self) -> None:
        known = self._relation(failing=False)
        if known is None or known.relation is None or len(self._followed) >= 6:
            return
        with_snapshot = self.rng.random() < 0.7
        up_to = self.model.latest + self.rng.randint(1, 4) if self.rng.random() < 0.3 else None
        stream = self.system.connection.stream()
        followed = Followed(self.model, known.relation, stream, with_snapshot, up_to)
        self._subscribed.append(followed)
        time = self.model.latest

        def subscribed(answer: Any) -> None:
            assert isinstance(answer, Subscribed) and answer.as_of == time, answer
            followed.started(answer.as_of)
            self._followed.append((followed, asked.reply))

        fields = {"with_snapshot": with_snapshot, "up_to": up_to, "schema": known.schema, "stream": stream}
        shown = f"subscribe to {known.relation} from {time} up to {up_to}, snapshot {with_snapshot}"
        asked = self._send(shown, SubscribeTo, subscribed, relation=known.relation, **fields)

    def _unsubscribe(self) -> None:
        if self._followed:
            self._unsubscribe_one(*self.rng.choice(self._followed))

    def _unsubscribe_one(self, followed: Followed, reply: OneShot[Any]) -> None:
        followed.may_end = True
        id = reply.get().id
        self._send(f"unsubscribe {id}", Unsubscribe, self._none, id=id)

    # --- The machinery -------------------------------------------------------------------------------------------

    def _configure(self) -> None:
        name = self.rng.choice(list(SETTINGS))
        value = self.rng.choice([*SETTINGS[name], None])
        replica = REPLICA if name not in SYSTEM_WIDE and self.rng.random() < 0.5 else None
        self._send(
            f"configure {name} = {value} of {replica}",
            Configure,
            self._none,
            updates=((name, value),),
            replica=replica,
        )

    def _reconnect(self) -> None:
        self.journal.append("reconnect")
        self._doubt()
        self.system.controller.tell(ReplicaLost(REPLICA))

    def _break(self) -> None:
        self.journal.append("break the connection")
        self._doubt()
        self.system.line.tell(Break())

    def _doubt(self) -> None:
        for followed in self._subscribed:
            followed.resumed = True

    def _elapse(self) -> None:
        seconds = self.rng.choice([0.02, 0.1, 1.0])
        self.journal.append(f"let {seconds} s pass")
        self.system.dispatcher.elapse(seconds)

    def _lag(self) -> None:
        self.system.lag(self.rng)

    def _deliver(self) -> None:
        self.system.deliver(self.rng.randrange(80))

    def _settle(self) -> None:
        """Let everything happen that can happen: then nobody waits."""
        self.system.settle()
        self._take_answers()
        while self._asked and all("introspect" in asked.what for asked in self._asked) and self._patience:
            # A worker that did not know of it yet when it was asked is asked again after a while.
            self._patience -= 1
            self.system.dispatcher.elapse(1.0)
            self.system.settle()
            self._take_answers()
        self._patience = PATIENCE
        assert not self._asked, f"never answered: {[asked.what for asked in self._asked]}"
        self.system.check_nothing_waits()

    def _end(self) -> None:
        """End what is followed, release what is held, drop everything: then nothing is left."""
        self.system.schedule.lagging = set()
        self._settle()
        for followed, _ in self._followed:
            assert followed.closed or followed.upper is None or followed.upper == self.model.latest + 1, followed.upper
        self.journal.append("drop everything")
        for known in list(self.model.collections):
            if not known.dropped:
                self._drop_one(known, cascade=True)
        if self.rng.random() < 0.5:
            self._settle()
            self.system.dispatcher.elapse(10.0)
            self._settle()
        # Whoever still reads is the last that needs it.
        for each in self._followed:
            self._unsubscribe_one(*each)
        while self._held:
            self._release()
        self._settle()
        assert all(followed.closed for followed, _ in self._followed)
        self.system.dispatcher.elapse(10.0)
        self._settle()
        self.system.check_nothing_left()


SYSTEM_WIDE = {"enable_compute_interactive_dataflows", "peek_stash_threshold"}
