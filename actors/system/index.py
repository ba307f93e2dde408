"""Indexes: a relation kept in memory, up to date and arranged by a key, for reads that do not compute anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ...messages.commands import Finishing
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId
from ...messages.scalars import Literal, Scalar
from ...messages.types import Schema, SqlType
from ..relations.coercion import literal_of
from ..relations.errors import ExpressionTypeError, RelationError
from ..relations.expressions import ExpressionOrValue
from ..relations.other_names import OF_INDEXES, no_attribute
from ..relations.selection import ColumnLike
from ..requests import Isolation, PeekIndex, ReadResult, WaitUntilReadable
from .arguments import check_time
from .direct import DirectReader
from .peeking import Keys, row_program
from .reading import IsolationLike, ReadOptions, finishing, read_options
from .result import Result

if TYPE_CHECKING:
    from .connection import Connection


class Index:
    """An index of one system. Reads see a single moment, also while the index is brought up to date."""

    __slots__ = ("_connection", "_key", "_key_names", "_key_types", "_reader", "id", "name", "on", "schema")

    def __init__(
        self,
        connection: Connection,
        id: GlobalId,
        name: str,
        on: GlobalId,
        schema: Schema,
        key: tuple[tuple[Scalar, SqlType, str], ...],
    ) -> None:
        """``key``: for each part the scalar, its type, and how the user wrote it."""
        self._connection = connection
        self.id = id
        self.name = name
        self.on = on
        """What it is an index on."""
        self.schema = schema
        self._reader = DirectReader(connection, id, name, schema)
        self._key = tuple(scalar for scalar, _, _ in key)
        self._key_types = tuple(type for _, type, _ in key)
        self._key_names = tuple(shown for _, _, shown in key)

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, "an index", OF_INDEXES)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.schema.names

    @property
    def key(self) -> tuple[str, ...]:
        """What it is arranged by, as it was written."""
        return self._key_names

    def __repr__(self) -> str:
        return f"Index({self.name!r}, key=({', '.join(self._key_names)}))"

    def belongs_to(self, connection: Connection) -> bool:
        """Whether it is an index of the system with this connection."""
        return connection is self._connection

    def lookup(
        self,
        *key: Any,
        isolation: IsolationLike = Isolation.STRICT_SERIALIZABLE,
        as_of: Timestamp | None = None,
        timeout: float | None = None,
    ) -> Result:
        """The rows with this key: ``index.lookup(7)``, ``index.lookup("north", 2013)``.

        Raises:
            ExpressionTypeError: a value is not of its key column's type.
            ReadTimeout: not answered within ``timeout`` seconds.
        """
        literals = self._literals(key)
        options = _LATEST
        if isolation is not options.isolation or as_of is not None or timeout is not None:
            options = read_options(isolation, as_of, timeout)
        found = self._reader.lookup(literals, options)
        return self._ask((literals,), options) if found is None else found

    def lookup_many(
        self,
        keys: Iterable[Any],
        *,
        isolation: IsolationLike = Isolation.STRICT_SERIALIZABLE,
        as_of: Timestamp | None = None,
        timeout: float | None = None,
    ) -> Result:
        """The rows with any of these keys: tuples, or plain values when the key is a single column."""
        if not isinstance(keys, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RelationError(f"lookup_many takes many keys, and {keys!r} was given; for one key, use lookup")
        wanted = dict.fromkeys(self._literals(cast(Any, key) if isinstance(key, tuple) else (key,)) for key in keys)
        return self._ask(tuple(wanted), read_options(isolation, as_of, timeout))

    def peek(
        self,
        filter: ExpressionOrValue | Sequence[ExpressionOrValue] | None = None,
        *,
        select: ColumnLike | Sequence[ColumnLike] | None = None,
        order_by: str | Sequence[str] = (),
        descending: bool | Sequence[bool] = False,
        nulls_first: bool | Sequence[bool] = False,
        limit: int | None = None,
        offset: int = 0,
        isolation: IsolationLike = Isolation.STRICT_SERIALIZABLE,
        as_of: Timestamp | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Rows of the index: those that meet the conditions, these columns of them, in this order.

        A condition that says what the whole key is equal to makes it a lookup; anything else reads all rows, a slice
        at a time, without delaying lookups. ``order_by`` names columns of the result. What needs grouping or joining
        is for ``system.query``.
        """
        program = row_program(self.schema, self._key, filter, select)
        finish = finishing(program.schema, order_by, descending, nulls_first, limit, offset, "peek")
        options = read_options(isolation, as_of, timeout)
        result: ReadResult = self._connection.ask(
            lambda reply: PeekIndex(
                index=self.id,
                keys=program.keys,
                map_filter_project=program.mfp,
                finishing=finish,
                schema=program.schema,
                isolation=options.isolation,
                as_of=options.as_of,
                timeout=options.timeout,
                reply=reply,
            )
        )
        return Result(result.timestamp, result.schema, result.blocks, result.age)

    def wait_until_ready(self, timestamp: Timestamp | None = None) -> Frontier:
        """Wait until it can be read at a timestamp (None: the latest commit), and return its upper."""
        check_time(timestamp, "timestamp")
        return self._connection.ask(lambda reply: WaitUntilReadable(id=self.id, timestamp=timestamp, reply=reply))

    def _ask(self, keys: Keys, options: ReadOptions) -> Result:
        result: ReadResult = self._connection.ask(
            lambda reply: PeekIndex(
                index=self.id,
                keys=keys,
                finishing=_EVERYTHING,
                isolation=options.isolation,
                as_of=options.as_of,
                timeout=options.timeout,
                reply=reply,
            )
        )
        return Result(result.timestamp, result.schema, result.blocks, result.age)

    def _literals(self, key: tuple[Any, ...]) -> tuple[Literal, ...]:
        if len(key) != len(self._key):
            shown = ", ".join(self._key_names)
            raise RelationError(f"index {self.name!r} has the key ({shown}), and {len(key)} values were given: {key!r}")
        try:
            return tuple(map(literal_of, key, self._key_types))
        except ExpressionTypeError as error:
            raise ExpressionTypeError(f"index {self.name!r}, key ({', '.join(self._key_names)}): {error}") from None


_EVERYTHING = Finishing()
_LATEST = read_options(Isolation.STRICT_SERIALIZABLE, None, None)
