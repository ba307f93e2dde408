"""Whether an answer is right: for its time, and for what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...messages.commands import Finishing
from ...messages.errors import CollectionError, NotReadableError, PillionError
from ...messages.ids import GlobalId
from ...messages.relations import Relation
from ..dispatch.oneshot import OneShot
from ..errors import Canceled, NotYetReadable, ReadTimeout, ReplicaDown, UnknownCollection
from ..requests import Isolation, ReadResult
from ..system.result import Result
from .model import Known, Model, Row
from .rules import Rule, RuleBroken

Keys = tuple[Row, ...]
EVERYTHING = Finishing()


def expect(holds: bool, message: object) -> None:
    """
    Raises:
        RuleBroken: an answer is not what it must be.
    """
    if not holds:
        raise RuleBroken(Rule.ANSWER, str(message))


@dataclass(eq=False)
class Asked:
    """A request without an answer yet.

    Attributes:
        kind: what was asked, in a word.
        what: what was asked, in a line.
        check: gets the answer, or the error that it was refused with.
        canceled: whether its asker does not want it any more.
        may_be_down: whether no replica may be there to answer.
    """

    kind: str
    what: str
    reply: OneShot[Any]
    check: Callable[[Any], None]
    canceled: bool = False
    may_be_down: bool = False

    def answered(self) -> bool:
        """Check the answer, if it is there.

        Raises:
            RuleBroken: it is not right.
        """
        if not self.reply.is_set:
            return False
        try:
            answer = self.reply.get()
        except PillionError as error:
            answer = error.with_traceback(None)  # Its frames hold what was read, and would be garbage in circles.
        try:
            if isinstance(answer, Canceled):
                expect(self.canceled, "nobody canceled it")
            elif isinstance(answer, ReplicaDown):
                expect(self.may_be_down, "every replica is there")
            else:
                self.check(answer)
        except RuleBroken as error:
            message = str(error).removeprefix(f"{error.rule}: ")
            raise RuleBroken(error.rule, f"{self.what}: {message}") from error
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
        """Compare an answer by the actors.

        Raises:
            RuleBroken: it is not right.
        """
        match answer:
            case UnknownCollection():
                expect(self.dropped, answer)
            case _ if self.dropped:
                expect(False, f"answered though it was dropped before: {answer}")
            case NotYetReadable():
                expect(self.as_of is not None and self.as_of > self.latest, answer)
            case NotReadableError():
                too_early = self.as_of is not None and self.as_of < (answer.since or 0) and not self.kept
                expect(too_early, answer)
            case ReadTimeout():
                expect(self.timeout is not None, answer)
            case CollectionError():
                self._check_error(answer)
            case PillionError():
                expect(False, f"{type(answer).__name__}: {answer}")
            case _:
                self._check_time(answer.timestamp)
                rows = [row for block in answer.blocks for row in rows_of(block)]
                self._check_rows(answer.timestamp, rows)

    def check_direct(self, answer: Result | PillionError, sent: int) -> None:
        """Compare an answer that the application's thread found itself, or had found: ``latest`` may have moved while
        it waited, up to ``sent``.

        Raises:
            RuleBroken: it is not right.
        """
        if isinstance(answer, Result):
            time = answer.timestamp
            assert time is not None, "a lookup is at one time"
            earliest = self.seen if self.isolation is Isolation.STRICT_SERIALIZABLE else 0
            expect(earliest <= time <= sent, f"read at {time}, not between {earliest} and {sent}")
            self._check_floor(time)
            self._check_rows(time, answer.rows())
        elif isinstance(answer, CollectionError):
            self._check_error(answer)
        else:
            expect(isinstance(answer, UnknownCollection) and self.dropped, answer)

    def _check_floor(self, time: int) -> None:
        """Serializable reads of one collection, one after the other, never go back in time."""
        id = self.known.id
        if (
            self.isolation is not Isolation.SERIALIZABLE
            or self.as_of is not None
            or id is None
            or id not in self.floors
        ):
            return
        expect(time >= self.floor, f"read at {time}, after a read at {self.floor} was answered")
        self.floors[id] = max(self.floors[id], time)

    def _check_time(self, time: int) -> None:
        self._check_floor(time)
        if self.as_of is not None:
            expect(time == self.as_of, f"read at {time} instead of {self.as_of}")
        elif self.isolation is Isolation.STRICT_SERIALIZABLE:
            expect(time == self.latest, f"read at {time}, though {self.latest} was sent before")
        else:
            expect(time <= self.latest, f"read at {time}, though {self.latest} is the latest")

    def _check_error(self, error: CollectionError) -> None:
        if "it was dropped" in error.message:
            # A read of a table that was dropped before the workers could ask the storage for it.
            expect(self.known.dropped or self.model.lost(self.relation), error)
            return
        errors = self.model.rows(self.relation, error.time).errors
        is_known = any(message in error.message for message in errors)
        expect(is_known, f"{error}: the oracle has {dict(errors)}")

    def _check_rows(self, time: int, found: list[Row]) -> None:
        expected = self.model.rows(self.relation, time)
        if expected.errors:
            # Optimized, an expression that nobody needs is not computed: then there is an answer.
            expect(not self.must_fail, f"at {time}: rows, where the oracle has {dict(expected.errors)}")
            return
        rows = expected.rows
        if self.keys is not None:
            wanted = set(self.keys)
            rows = Counter({row: n for row, n in rows.items() if tuple(row[part] for part in self.key) in wanted})
        if self.finishing.order_by:
            (order,) = self.finishing.order_by
            in_order = sorted(rows.elements(), key=lambda row: (row[order.column], row))
            limited = in_order[: self.finishing.limit]
            if found != limited:
                expect(False, f"at {time}: {found}, where the oracle has {limited}")
        elif Counter(found) != rows:
            expect(False, f"at {time}: {sorted(found)}, where the oracle has {sorted(rows.elements())}")


def rows_of(block: Any) -> list[Row]:
    """The rows of a block, each as often as it is there."""
    diffs: list[int] = [1] * block.num_rows if block.diffs is None else block.diffs.to_pylist()
    columns: list[list[Any]] = [column.to_pylist() for column in block.columns.columns]
    return [row for row, diff in zip(zip(*columns, strict=True), diffs, strict=True) for _ in range(diff)]
