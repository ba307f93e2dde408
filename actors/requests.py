"""What an application asks of a system's controller.

Every request carries a ``reply`` future (``dispatcher.reply()``): the actor that has the answer resolves it with the
type named in the request's docstring, or refuses it with a :class:`~pillion.messages.errors.PillionError`. Exactly
one of the two happens, also when the system fails or stops. To withdraw a request, send :class:`Cancel` with its
reply.

    reply = dispatcher.reply()
    controller.tell(CreateTable("orders", schema, key=("id",), reply=reply))
    orders = reply.get()          # GlobalId
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import msgspec
import pykka

from ..dataflow.columns.column import Column
from ..messages.commands import Finishing, Setting
from ..messages.dataflows import RenderDataflow
from ..messages.frontiers import Frontier, Timestamp
from ..messages.ids import GlobalId
from ..messages.plans import MapFilterProject
from ..messages.relations import Relation
from ..messages.responses import SubscribeBatch
from ..messages.rows import RowBlock
from ..messages.scalars import Literal, Scalar
from ..messages.types import Schema
from .dispatch.oneshot import OneShot, Stream

if TYPE_CHECKING:
    from .controller.compaction import Readable
    from .controller.timestamps import Oracle


class Request(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Base of every request."""

    reply: OneShot[Any]


# --- Collections -------------------------------------------------------------------------------------------------


class CollectionKind(enum.StrEnum):
    TABLE = "table"
    VIEW = "view"
    MATERIALIZED_VIEW = "materialized view"
    INDEX = "index"
    INTROSPECTION = "introspection"


class CollectionInfo(msgspec.Struct, frozen=True):
    """What the catalog knows of one collection. ``on`` and ``key``: of an index; ``relation``: of a view."""

    id: GlobalId
    name: str
    kind: CollectionKind
    schema: Schema
    depends_on: tuple[GlobalId, ...] = ()
    relation: Relation | None = None
    on: GlobalId | None = None
    key: tuple[Scalar, ...] = ()
    table_key: tuple[int, ...] = ()


class ReadPolicy(msgspec.Struct, frozen=True):
    """How much history a collection keeps readable: the last ``lag`` timestamps before the latest one; None: all."""

    lag: int | None = 0


class CreateTable(Request, frozen=True, eq=False, kw_only=True):
    """An empty table. Reply: ``GlobalId``. ``key``: positions of columns that together are unique (none: no rule)."""

    name: str
    schema: Schema
    key: tuple[int, ...] = ()
    policy: ReadPolicy = ReadPolicy()


class CreateView(Request, frozen=True, eq=False, kw_only=True):
    """A named relation. Reply: ``GlobalId``. Nothing is computed: it is expanded where it is used."""

    name: str
    relation: Relation
    schema: Schema


class CreateIndex(Request, frozen=True, eq=False, kw_only=True):
    """Keep a table, a view or a materialized view in memory, arranged by ``key``. Reply: ``GlobalId`` of the index.

    ``wait``: reply only when it is hydrated (readable at its ``as_of``).
    """

    name: str
    on: GlobalId
    key: tuple[Scalar, ...]
    policy: ReadPolicy = ReadPolicy()
    wait: bool = False


class CreateMaterializedView(Request, frozen=True, eq=False, kw_only=True):
    """A view whose rows are kept in a shard of the storage. Reply: ``GlobalId``."""

    name: str
    relation: Relation
    schema: Schema
    policy: ReadPolicy = ReadPolicy()
    wait: bool = False


class Drop(Request, frozen=True, eq=False, kw_only=True):
    """Drop a collection. Reply: the ids dropped. Refused when others use it, unless ``cascade`` drops them too."""

    id: GlobalId
    cascade: bool = False


class SetReadPolicy(Request, frozen=True, eq=False, kw_only=True):
    """Reply: None."""

    id: GlobalId
    policy: ReadPolicy


class ListCollections(Request, frozen=True, eq=False, kw_only=True):
    """Reply: ``tuple[CollectionInfo, ...]``, in the order they were created; introspection relations first."""


class WaitUntilReadable(Request, frozen=True, eq=False, kw_only=True):
    """Reply: the collection's upper, as soon as it is readable at ``timestamp`` (None: at the latest commit)."""

    id: GlobalId
    timestamp: Timestamp | None = None


class ReaderOpened(msgspec.Struct, frozen=True, eq=False):
    """What a thread of the application needs to read an index where it lies.

    Attributes:
        oracle: it may read ``latest``, the time of the latest transaction.
        readable: it may read ``dropped``.
        workers: those that maintain the index, when they are in this process; each shares its publication.
    """

    oracle: Oracle
    readable: Readable
    workers: tuple[pykka.ActorRef[Any], ...]


class OpenReader(Request, frozen=True, eq=False, kw_only=True):
    """Reply: :class:`ReaderOpened`."""

    index: GlobalId


# --- Writing -----------------------------------------------------------------------------------------------------


class Insert(msgspec.Struct, frozen=True, eq=False, tag=True):
    """New rows. In a table with a key, a row whose key exists is refused."""

    table: GlobalId
    columns: tuple[Column, ...]


class Upsert(msgspec.Struct, frozen=True, eq=False, tag=True):
    """New rows that replace the ones with equal keys. Only for a table with a key."""

    table: GlobalId
    columns: tuple[Column, ...]


class Delete(msgspec.Struct, frozen=True, eq=False, tag=True):
    """Remove each of these rows once. Refused when one does not exist."""

    table: GlobalId
    columns: tuple[Column, ...]


class DeleteKeys(msgspec.Struct, frozen=True, eq=False, tag=True):
    """Remove the rows with these keys (columns of the table's key). Refused when one does not exist."""

    table: GlobalId
    keys: tuple[Column, ...]


class DeleteWhere(msgspec.Struct, frozen=True, eq=False, tag=True):
    """Remove the rows for which ``predicate`` is true; None: all rows."""

    table: GlobalId
    predicate: Scalar | None


class UpdateWhere(msgspec.Struct, frozen=True, eq=False, tag=True):
    """In the rows for which ``predicate`` is true (None: all), set columns to expressions over the old row."""

    table: GlobalId
    predicate: Scalar | None
    assignments: tuple[tuple[int, Scalar], ...]


Change = Insert | Upsert | Delete | DeleteKeys | DeleteWhere | UpdateWhere
"""Columns in the order of the table's schema and exactly of its types; make them with ``storage.checks``."""


class Committed(msgspec.Struct, frozen=True):
    """``timestamp``: from it on, reads see the transaction. ``counts``: rows that each change affected."""

    timestamp: Timestamp
    counts: tuple[int, ...]


class Commit(Request, frozen=True, eq=False, kw_only=True):
    """Apply changes in order, each seeing the ones before it, at one timestamp, all or none. Reply: ``Committed``."""

    changes: tuple[Change, ...]


# --- Reading -----------------------------------------------------------------------------------------------------


class Isolation(enum.StrEnum):
    STRICT_SERIALIZABLE = "strict serializable"
    """Sees every write that returned before the read was made."""
    SERIALIZABLE = "serializable"
    """The latest time at which everything read is complete: never waits for maintenance."""


class Read(Request, frozen=True, eq=False, kw_only=True):
    """What all reads have in common. ``as_of``: read at exactly this timestamp, instead of one that ``isolation``
    chooses. ``timeout``: refuse after so many seconds."""

    isolation: Isolation = Isolation.STRICT_SERIALIZABLE
    as_of: Timestamp | None = None
    timeout: float | None = None


class ReadResult(msgspec.Struct, frozen=True, eq=False):
    """Rows as of ``timestamp``; ordered across the blocks if the read asked for an order. ``age``: of introspection
    that another runtime keeps, how many seconds ago its state was recorded."""

    timestamp: Timestamp
    schema: Schema
    blocks: tuple[RowBlock, ...]
    age: float | None = None


class PeekIndex(Read, frozen=True, eq=False, kw_only=True):
    """Read an index. Reply: ``ReadResult``. ``keys``: only rows with these keys; None: all rows.

    ``schema`` describes the rows after ``map_filter_project``; None: those of the indexed collection.
    """

    index: GlobalId
    keys: tuple[tuple[Literal, ...], ...] | None = None
    map_filter_project: MapFilterProject | None = None
    finishing: Finishing = Finishing()
    schema: Schema | None = None


class Query(Read, frozen=True, eq=False, kw_only=True):
    """The rows of a relation, once. Reply: ``ReadResult``. Answered from an index that has the answer when there is
    one, else by a dataflow that lives for this query. ``schema`` names the relation's columns."""

    relation: Relation
    schema: Schema
    finishing: Finishing = Finishing()


class Subscribed(msgspec.Struct, frozen=True):
    """The first batch starts at ``as_of``."""

    id: GlobalId
    as_of: Timestamp


class SubscribeTo(Read, frozen=True, eq=False, kw_only=True):
    """Every change of a relation, from now on. Reply: ``Subscribed``. The batches go to ``stream`` (from
    ``dispatcher.stream()``), which is closed at ``up_to``, when the collection ends, or after :class:`Unsubscribe`."""

    relation: Relation
    schema: Schema
    stream: Stream[SubscribeBatch]
    with_snapshot: bool = True
    up_to: Frontier = None


class Unsubscribe(Request, frozen=True, eq=False, kw_only=True):
    """End a subscription. Reply: None; an id that is no subscription any more is ignored."""

    id: GlobalId


class CopyRelation(Read, frozen=True, eq=False, kw_only=True):
    """Write the rows of a relation to a file on this machine (.csv, .parquet). Reply: the number of rows."""

    relation: Relation
    schema: Schema
    path: str


class Cancel(msgspec.Struct, frozen=True, eq=False):
    """Withdraw the request with this reply, if it is still unanswered: it is refused with ``Canceled``.
    Has no reply of its own. A commit cannot be withdrawn."""

    request: OneShot[Any]


class HoldRead(Request, frozen=True, eq=False, kw_only=True):
    """Keep collections readable at one timestamp until the hold is released, for several reads of one state.
    Reply: ``Held``."""

    ids: tuple[GlobalId, ...]
    as_of: Timestamp | None = None


class Held(msgspec.Struct, frozen=True):
    hold: str
    timestamp: Timestamp


class ReleaseRead(Request, frozen=True, eq=False, kw_only=True):
    """Reply: None."""

    hold: str


# --- The rest ----------------------------------------------------------------------------------------------------


class Explain(Request, frozen=True, eq=False, kw_only=True):
    """How a relation would be computed now, with the indexes there are. Reply: ``Explained``."""

    relation: Relation
    schema: Schema
    finishing: Finishing = Finishing()


class Explained(msgspec.Struct, frozen=True, eq=False):
    """``relation``: with its views expanded. ``dataflow``: what would be created, or None when the rows of an index
    (``peek_index``) or of a stored table or materialized view (``peek_shard``) are the answer."""

    relation: Relation
    dataflow: RenderDataflow | None
    peek_index: GlobalId | None = None
    peek_shard: GlobalId | None = None
    keys: tuple[tuple[Literal, ...], ...] | None = None
    map_filter_project: MapFilterProject | None = None


class Configure(Request, frozen=True, eq=False, kw_only=True):
    """Store settings, by name; None takes back what was stored. Reply: None. ``replica``: only for the replica of this
    name, as its overrides; None: for all, as the environment's values."""

    updates: tuple[tuple[str, Setting | None], ...]
    replica: str | None = None


class ReadSettings(Request, frozen=True, eq=False, kw_only=True):
    """Reply: ``dict[str, Setting]``, every setting's value. ``replica``: those that hold for this one."""

    replica: str | None = None
