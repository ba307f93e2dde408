"""Tables: the rows that an application writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...messages.ids import GlobalId
from ...messages.relations import Get
from ...messages.types import Schema
from ..relations.errors import RelationError
from ..relations.expressions import ExpressionOrValue
from ..relations.relation import Relation
from . import changes
from .ingest import Ingest
from .transaction import Written, commit_one

if TYPE_CHECKING:
    from .connection import Connection
    from .system import ActorSystem


class Table(Relation):
    """A table of one system; a relation like any other, and what its rows are written through.

    Each write is a transaction of its own, with a timestamp of its own: to change several tables or many rows at
    once, pass many rows at a time or use ``system.transaction()``.
    """

    __slots__ = ("_connection", "id", "ingest", "key", "key_ingest", "name")

    def __init__(
        self,
        system: ActorSystem,
        connection: Connection,
        id: GlobalId,
        name: str,
        schema: Schema,
        key: tuple[str, ...],
    ) -> None:
        super().__init__(Get(id), schema, system, unique=frozenset(key))
        self._connection = connection
        self.id = id
        self.name = name
        self.key = key
        """The columns that are different in every row; empty: rows may repeat."""
        self.ingest = Ingest(name, schema)
        keyed = Schema(tuple(field for name in key for field in schema.fields if field.name == name))
        self.key_ingest = Ingest(name, keyed) if key else None

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {', '.join(f'{f.name}: {f.column_type}' for f in self.schema.fields)})"

    def insert(self, data: object) -> Written:
        """Add rows: a tuple, a list of tuples or mappings, a mapping of columns, a frame, Arrow data.

        Raises:
            RejectedData: they do not fit the table; names row, column and value.
            DuplicateKey: the table has a key, and a row with it already.
        """
        return commit_one(self._connection, changes.insertion(self, data))

    def upsert(self, data: object) -> Written:
        """Add rows in place of the ones with equal keys."""
        return commit_one(self._connection, changes.replacement(self, data))

    def delete(self, rows: object = None, *, keys: object = None, where: ExpressionOrValue | None = None) -> Written:
        """Remove rows: given whole (each once), by their keys, or all that meet a condition (``where=True``: all).

        Raises:
            NoSuchRow: a row or key that is not there; nothing was removed.
        """
        return commit_one(self._connection, changes.deletion(self, rows, keys, where))

    def update(
        self,
        set: Mapping[str, ExpressionOrValue] | None = None,
        *,
        where: ExpressionOrValue | None = None,
        **named: ExpressionOrValue,
    ) -> Written:
        """Set columns to values or to expressions over the old row, in the rows that meet a condition (None: all)."""
        return commit_one(self._connection, changes.modification(self, changes.assignments(set, named), where))

    def check_belongs_to(self, connection: Connection) -> None:
        """Check that a transaction is of the same system.

        Raises:
            RelationError: it is not.
        """
        if connection is not self._connection:
            raise RelationError(f"table {self.name!r} belongs to another system than the transaction")
