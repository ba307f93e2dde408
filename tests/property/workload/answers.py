"""Whether an answer is right: for its time, and for what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pillion.actors.dispatch.oneshot import OneShot, Stream
from pillion.actors.errors import Canceled, NotYetReadable, ReadTimeout, UnknownCollection
from pillion.actors.requests import Isolation, ReadResult
from pillion.actors.system.result import Result
from pillion.messages.commands import Finishing
from pillion.messages.errors import CollectionError, NotReadableError, PillionError
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Relation
from pillion.messages.responses import SubscribeBatch

from .model import Known, Model, Row, Rows

Keys = tuple[Row, ...]
EVERYTHING = Finishing()


@dataclass(eq=False)
class Asked:
    """A request without an answer yet. ``check`` gets the answer, or the error that it was refused with."""

    what: str
    reply: OneShot[Any]
    check: Callable[[Any], None]
    canceled: bool = False

    def answered(self) -> bool:
        """Check the answer, if it is there."""
        if not self.reply.is_set:
            return False
        try:
            answer = self.reply.get()
        except PillionError as error:
            answer = error
        if isinstance(answer, Canceled):
            assert self.canceled, f"{self.what}: nobody canceled it"
        else:
            self.check(answer)
        return True


@dataclass(eq=False)
class ReadCheck:
    """What a read may be answered with.

    Attributes:
        relation: the rows that are read; ``key`` and ``keys``: those among them that are asked for.
        isolation, as_of: at which time. ``latest``: the time of the last transaction that was sent before it,
            ``seen``: of the last one that was answered before it.
        kept: whether ``as_of`` is held, so that it must be readable.
        must_fail: no plan can do without an expression that fails.
        dropped: whether it was sent after what it reads was dropped.
        floors: of each collection, the latest time that a serializable read has seen; ``floor``: of this one, when this
            read was sent.
    """

    model: Model
    known: Known
    relation: Relation
    isolation: Isolation
    latest: int
    seen: int
    as_of: int | None = None
    kept: bool = False
    timeout: float | None = None
    key: tuple[int, ...] = ()
    keys: Keys | None = None
    finishing: Finishing = EVERYTHING
    must_fail: bool = False
    dropped: bool = False
    floors: dict[GlobalId, int] = field(default_factory=dict[GlobalId, int])
    floor: int = 0

    def check(self, answer: ReadResult | PillionError) -> None:
        """Compare an answer by the actors."""
        match answer:
            case UnknownCollection():
                assert self.dropped, answer
            case _ if self.dropped:
                raise AssertionError(f"answered though it was dropped before: {answer}")
            case NotYetReadable():
                assert self.as_of is not None and self.as_of > self.latest, answer
            case NotReadableError():
                assert self.as_of is not None and self.as_of < (answer.since or 0) and not self.kept, answer
            case ReadTimeout():
                assert self.timeout is not None, answer
            case CollectionError():
                self._check_error(answer)
            case PillionError():
                raise answer
            case _:
                self._check_time(answer.timestamp)
                rows = [row for block in answer.blocks for row in rows_of(block)]
                self._check_rows(answer.timestamp, rows)

    def check_direct(self, answer: Result | PillionError, sent: int) -> None:
        """Compare an answer that the application's thread found itself, or had found: ``latest`` may have moved while
        it waited, up to ``sent``."""
        if isinstance(answer, Result):
            assert answer.timestamp is not None
            earliest = self.seen if self.isolation is Isolation.STRICT_SERIALIZABLE else 0
            assert earliest <= answer.timestamp <= sent, (earliest, answer.timestamp, sent)
            self._check_floor(answer.timestamp)
            self._check_rows(answer.timestamp, answer.rows())
        elif isinstance(answer, CollectionError):
            self._check_error(answer)
        else:
            assert isinstance(answer, UnknownCollection) and self.dropped, answer

    def _check_floor(self, time: int) -> None:
        """Serializable reads of one collection, one after the other, never go back in time."""
        id = self.known.id
        if self.isolation is not Isolation.SERIALIZABLE or self.as_of is not None or id not in self.floors:
            return
        assert time >= self.floor, f"read at {time}, after a read at {self.floor} was answered"
        self.floors[id] = max(self.floors[id], time)

    def _check_time(self, time: int) -> None:
        self._check_floor(time)
        if self.as_of is not None:
            assert time == self.as_of, f"read at {time} instead of {self.as_of}"
        elif self.isolation is Isolation.STRICT_SERIALIZABLE:
            assert time == self.latest, f"read at {time}, though {self.latest} was sent before"
        else:
            assert time <= self.latest, f"read at {time}, though {self.latest} is the latest"

    def _check_error(self, error: CollectionError) -> None:
        if "it was dropped" in error.message:
            # A read of a table that was dropped before the workers could ask the storage for it.
            assert self.known.dropped or self.model.lost(self.relation), error
            return
        errors = self.model.rows(self.relation, error.time).errors
        assert any(message in error.message for message in errors), f"{error}: the oracle has {dict(errors)}"

    def _check_rows(self, time: int, found: list[Row]) -> None:
        expected = self.model.rows(self.relation, time)
        if expected.errors:
            # Optimized, an expression that nobody needs is not computed: then there is an answer.
            assert not self.must_fail, f"at {time}: rows, where the oracle has {dict(expected.errors)}"
            return
        rows = expected.rows
        if self.keys is not None:
            wanted = set(self.keys)
            rows = Counter({row: n for row, n in rows.items() if tuple(row[part] for part in self.key) in wanted})
        if self.finishing.order_by:
            (order,) = self.finishing.order_by
            in_order = sorted(rows.elements(), key=lambda row: (row[order.column], row))
            limited = in_order[: self.finishing.limit]
            assert found == limited, f"at {time}: {found}, where the oracle has {limited}"
        assert self.finishing.order_by or Counter(found) == rows, f"at {time}: {found}, where the oracle has {rows}"


@dataclass(eq=False)
class Followed:
    """A subscription: the changes that came so far, integrated.

    Attributes:
        at_start: what it starts with when it has no snapshot of its own.
        upper: how far its batches went; None: to the end.
        ended: whether it is allowed to end.
    """

    model: Model
    relation: Relation
    stream: Stream[SubscribeBatch]
    with_snapshot: bool
    up_to: int | None
    as_of: int | None = None
    upper: int | None = None
    rows: Rows | None = None
    resumed: bool = False
    closed: bool = False
    may_end: bool = False

    def started(self, as_of: int) -> None:
        """It begins at this time."""
        self.as_of = self.upper = as_of
        self.rows = Counter() if self.with_snapshot else Counter(self.model.rows(self.relation, as_of).rows)

    def check(self) -> None:
        """Take every batch that came, and compare the rows at every time in it."""
        while not self.closed and self.stream.ready:
            try:
                batch = self.stream.get()
            except StopIteration:
                self.closed = True
                ended = self.up_to is not None and self.upper is not None and self.upper >= self.up_to
                gone = self.upper is None or self.model.lost(self.relation)
                assert self.may_end or ended or gone, "a subscription ended by itself"
                return
            except UnknownCollection as error:
                # Its table was dropped, and the replica lost what it had of it.
                assert self.model.lost(self.relation), error
                self.closed = True
                return
            if batch.error is not None:
                assert "it was dropped" in batch.error and self.model.lost(self.relation), batch.error
                self.closed = True
                return
            assert batch.lower == self.upper, f"a batch from {batch.lower} on, after one up to {self.upper}"
            self._integrate(batch)

    def _integrate(self, batch: SubscribeBatch) -> None:
        assert self.rows is not None
        if (self.resumed or not self.with_snapshot) and self.model.lost(self.relation):
            # Its table was dropped before it was read (again): without a snapshot, the error is not shown either.
            self.upper = batch.upper
            return
        updates = batch.updates
        size = updates.num_rows
        times = [updates.times] * size if isinstance(updates.times, int) else updates.times.to_pylist()
        diffs = [updates.diffs] * size if isinstance(updates.diffs, int) else updates.diffs.to_pylist()
        changes = list(zip(times, diffs, (tuple(row.values()) for row in updates.columns.to_pylist()), strict=True))
        last = self.model.latest if batch.upper is None else batch.upper - 1
        if self.up_to is not None:
            last = min(last, self.up_to - 1)
        for time in range(batch.lower, last + 1):
            for at, diff, row in changes:
                if at == time:
                    self.rows[row] += diff
            expected = self.model.rows(self.relation, time).rows
            assert +self.rows == expected, f"a subscription at {time}: {+self.rows}, the oracle has {expected}"
        assert all(batch.lower <= at <= last for at in times), f"changes outside of [{batch.lower}, {batch.upper})"
        self.upper = batch.upper


def rows_of(block: Any) -> list[Row]:
    """The rows of a block, each as often as it is there."""
    diffs = [1] * block.num_rows if block.diffs is None else block.diffs.to_pylist()
    columns = [column.to_pylist() for column in block.columns.columns]
    return [row for row, diff in zip(zip(*columns, strict=True), diffs, strict=True) for _ in range(diff)]


def dropped_in(known: Known) -> bool:
    """Whether a collection, or what an index is on, is dropped."""
    return known.dropped or (known.on is not None and known.on.dropped)
