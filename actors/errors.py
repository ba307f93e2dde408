"""Errors of a running system. The root of all errors is in ``messages/errors.py``."""

from __future__ import annotations

import pykka

from ..messages.errors import PillionError
from ..messages.frontiers import Frontier, Timestamp, show_frontier
from ..messages.ids import GlobalId


class SystemFailed(PillionError, pykka.ActorDeadError):
    """The system failed earlier; ``__cause__`` is the exception that failed it."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(
            f"the system failed and answers nothing any more: {type(cause).__name__}: {cause}; start a new system"
        )
        self.__cause__ = cause


class SystemStopped(PillionError, pykka.ActorDeadError):
    """The system, or the actor asked, was stopped."""

    def __init__(self, what: str = "the system") -> None:
        super().__init__(f"{what} was stopped; start a new system to go on")


class LostInFork(PillionError):
    """The process was forked, and this is the child: the system's threads stayed behind in the parent."""

    def __init__(self) -> None:
        super().__init__("its threads stayed behind when the process was forked")


class WaitInHandler(PillionError):
    """A handler, or a function that it called, asked its own system for something and would wait for the answer."""

    def __init__(self) -> None:
        super().__init__(
            "nothing is waited for inside of a handler, which would wait for itself; give a user function what it "
            "needs as arguments, and ask the system on a thread of the application"
        )


class WrongArgument(PillionError, ValueError):
    """A value that an argument does not take: a negative timestamp, a timeout that is no number, ..."""


class UnknownName(PillionError, KeyError):
    """No table, view or index has this name."""

    def __init__(self, name: object, suggestion: str) -> None:
        super().__init__(f"there is no table, view or index {name!r}{suggestion}")
        self.name = name

    def __str__(self) -> str:
        return str(self.args[0])


class StoppedFromOutside(PillionError, pykka.ActorDeadError):
    """Somebody other than the system stopped one of its actors (as ``ActorRegistry.stop_all()`` does)."""

    def __init__(self, actor: str) -> None:
        super().__init__(f"{actor} was stopped from outside; stop a system as a whole")
        self.actor = actor


class Canceled(PillionError):
    """The request was withdrawn before it was answered."""

    def __init__(self) -> None:
        super().__init__("the request was canceled")


class ReadTimeout(PillionError, TimeoutError):
    """A read was not answered in time; it was canceled."""

    def __init__(self, seconds: float, waiting_for: str) -> None:
        super().__init__(f"not answered within {seconds:g} s ({waiting_for}); allow more time, or read serializable")
        self.seconds = seconds


class MemoryLimitReached(PillionError, MemoryError):
    """A write or a new index was refused, because a process has more memory than it may.

    Attributes:
        resident, limit: bytes.
        replica: whose process it is; None: this one.
    """

    def __init__(self, resident: int, limit: int, replica: str | None = None) -> None:
        whose = "this process" if replica is None else f"the process of replica {replica!r}"
        super().__init__(
            f"refused, because it takes memory, and {whose} has {resident / 2**20:,.0f} MiB of the "
            f"{limit / 2**20:,.0f} MiB that it may have: drop indexes or delete rows, or raise process_memory_limit "
            "(or process_memory_fraction, if that is 0)"
        )
        self.resident = resident
        self.limit = limit
        self.replica = replica


class UnknownReplica(PillionError, LookupError):
    """No replica has this name."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        there = f"there is {', '.join(repr(each) for each in known)}" if known else "there is none"
        super().__init__(f"there is no replica {name!r}; {there}")
        self.name = name


class NotForOneReplica(PillionError, ValueError):
    """A setting with one value for the whole system was set for one replica."""

    def __init__(self, setting: str) -> None:
        super().__init__(f"setting {setting!r} has one value for all replicas; configure it without naming one")
        self.setting = setting


class ReplicaDown(PillionError):
    """The replica, a process of its own, cannot be reached. Tables take writes meanwhile, and reads are answered again
    once it is back."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the replica cannot be reached, so nothing can be read: {reason}")
        self.reason = reason


class UnknownCollection(PillionError, LookupError):
    """No collection has this id: it never existed, or it was dropped."""

    def __init__(self, id: GlobalId) -> None:
        super().__init__(f"there is no collection {id}: it was dropped, or belongs to another system")
        self.id = id


class DuplicateName(PillionError):
    """Another collection has this name."""

    def __init__(self, name: str, id: GlobalId) -> None:
        super().__init__(
            f"the name {name!r} is taken by {id}: to use that, write system[{name!r}]; to make another, drop it first "
            "or choose another name"
        )
        self.name = name
        self.id = id


class WrongKind(PillionError):
    """A collection of one kind where one of another kind is needed."""

    def __init__(self, id: GlobalId, name: str, kind: str, expected: str) -> None:
        article = "an" if kind[0] in "aeiou" else "a"
        super().__init__(f"{name!r} ({id}) is {article} {kind}; this needs {expected}")
        self.id = id


class StillUsed(PillionError):
    """What others use cannot be dropped alone. ``users`` are the names of those that use it."""

    def __init__(self, name: str, users: tuple[str, ...]) -> None:
        super().__init__(
            f"{name!r} is used by {', '.join(repr(user) for user in users)}; drop them first, or drop with cascade"
        )
        self.name = name
        self.users = users


class NotYetReadable(PillionError):
    """An explicit ``as_of`` that lies in the future of the timeline."""

    def __init__(self, as_of: Timestamp, latest: Timestamp) -> None:
        super().__init__(f"cannot read as of {as_of}: the latest commit is {latest}; read as of {latest} or earlier")
        self.as_of = as_of
        self.latest = latest


class NoCommonTime(PillionError):
    """The collections that a read names have no time at which all are readable."""

    def __init__(self, since: Frontier, upper: Frontier) -> None:
        super().__init__(
            f"no time is readable in all collections: since {show_frontier(since)}, upper {show_frontier(upper)}"
        )
        self.since = since
        self.upper = upper


class RejectedData(PillionError, ValueError):
    """Rows that a table does not take: a wrong type, arity, or a NULL. ``table`` is its name or id."""

    def __init__(self, table: str, problem: str) -> None:
        super().__init__(f"{table}: {problem}")
        self.table = table
        self.problem = problem


class DuplicateKey(PillionError):
    """A row whose key exists in the table, or twice in the rows given. ``key`` is one example."""

    def __init__(self, table: str, columns: tuple[str, ...], key: tuple[object, ...], count: int) -> None:
        more = "" if count == 1 else f" (and {count - 1} more)"
        shown = ", ".join(f"{column}={value!r}" for column, value in zip(columns, key, strict=True))
        super().__init__(f"{table}: the key {shown} exists already{more}; upsert to replace rows")
        self.table = table
        self.key = key
        self.count = count


class NoSuchRow(PillionError):
    """A deletion of rows, or keys, that the table does not have. ``row`` is one example."""

    def __init__(self, table: str, row: tuple[object, ...], count: int) -> None:
        more = "" if count == 1 else f" (and {count - 1} more)"
        super().__init__(f"{table}: cannot delete {row!r}{more}: there is no such row, or not as many times")
        self.table = table
        self.row = row
        self.count = count


class ExpressionFailed(PillionError):
    """A predicate or assignment of a transaction failed on a row."""

    def __init__(self, table: str, message: str) -> None:
        super().__init__(f"{table}: {message} in an expression of the transaction; nothing was changed")
        self.table = table
        self.message = message
