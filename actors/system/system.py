"""The system that an application embeds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa

from ...messages.commands import Setting
from ...messages.errors import PillionError
from ...messages.frontiers import Frontier, Timestamp
from ...messages.ids import GlobalId
from ...messages.types import Field, Schema
from ..dispatch.base import Dispatcher
from ..errors import UnknownName, WrongArgument, WrongKind
from ..log.writer import Sync
from ..multiplexer.replica import MOST_WORKERS
from ..recorder.recording import begin_recording
from ..relations.binding import RowScope, bind, position_of
from ..relations.errors import RelationError, kind_of, suggestion
from ..relations.expressions import as_column
from ..relations.other_names import OF_SYSTEMS, no_attribute
from ..relations.relation import Relation
from ..relations.selection import ColumnLike
from ..relations.types import TypeLike
from ..requests import (
    CollectionInfo,
    CollectionKind,
    Configure,
    CopyRelation,
    CreateIndex,
    CreateMaterializedView,
    CreateTable,
    CreateView,
    Drop,
    Explain,
    Explained,
    HoldRead,
    Insert,
    Isolation,
    ListCollections,
    Query,
    ReadResult,
    ReadSettings,
    Subscribed,
    SubscribeTo,
)
from ..settings import ENABLE_COMPUTE_INTERACTIVE_RUNTIME
from . import handles
from .arguments import check_name, check_no_repetition, check_time, checked_settings, read_policy, table_key
from .connection import Connection
from .distance import check_remote
from .durability import journal_at
from .explanation import show_explained
from .index import Index
from .ingest import Ingest
from .introspection import Introspection
from .moment import Moment
from .provisioning import provisioned
from .reading import IsolationLike, finishing, read_options
from .replicas import OWN_PROCESS, line_to
from .result import Result
from .subscription import Subscription
from .table import Table
from .table_schema import schema_and_data
from .transaction import Transaction, commit_one
from .view import IntrospectionRelation, MaterializedView, View
from .wiring import REPLICA, start

Handle = Table | View | Index


class ActorSystem:
    """Tables, views over them, and indexes that are kept up to date while rows change and readers read.

        with ActorSystem(workers=2) as system:
            orders = system.create_table("orders", {"id": int, "region": str, "amount": float}, key=["id"])
            totals = system.view("totals", orders.group_by("region").agg(total=sum("amount")))
            index = system.create_index(totals, key=["region"])
            orders.insert([(1, "north", 9.5)])
            index.lookup("north").rows()

    It starts when it is made, runs on threads of its own, and ends with its ``with`` block or with :meth:`stop`.
    Any number of threads may use it at once. When one of its actors fails, what is outstanding gets the original
    error, and later requests are refused with ``SystemFailed``; the application lives on.
    """

    def __init__(
        self,
        workers: int = 1,
        settings: Mapping[str, Setting] | None = None,
        *,
        interactive: bool | None = None,
        replica: str | None = None,
        secret_file: str | os.PathLike[str] | None = None,
        record: str | os.PathLike[str] | None = None,
        record_sync: Sync = "normal",
        path: str | os.PathLike[str] | None = None,
        sync: Sync | None = None,
        salvage: bool = False,
        trust: bool = False,
        dispatcher: Dispatcher | None = None,
    ) -> None:
        """Start ``workers`` worker threads and what belongs to them.

        Args:
            interactive: with as many workers again, which answer reads while the first ones keep indexes up to date;
                None: as the setting ``enable_compute_interactive_runtime`` says.
            replica: where the workers are: in this process (None), in one of their own (``"process"``), which is
                started again when it ends, or in the ``pillion clusterd`` that listens at ``"tcp://HOST:PORT"`` or
                ``"unix:///PATH"``. Tables stay in this process.
            secret_file: holds the secret of the replica at an address; without it, it is in the environment variable
                ``PILLION_SECRET``.
            record: a file that does not exist, such as ``"run.plog"``: a log of the commands, the answers and what is
                written into tables, which ``pillion replay`` plays again. When the process is killed, it lacks the
                last twentieth of a second.
            record_sync: ``"full"``: what is in the log survives a loss of power, too.
            path: a directory, made if it is not there, in which tables, views and indexes are kept: what returned is
                there again when a system is started with the same path, also after the process was killed.
            sync: with a path: ``"full"`` (as when it is left out), a write that returned survives a loss of power;
                ``"normal"``: the end of the process, which takes less time.
            salvage: open what is intact of a damaged directory; the damaged files are kept beside the new ones.
            trust: run the Python functions of views and indexes that are kept in the directory.
            dispatcher: what executes the actors instead of threads, such as a ``SimulatedDispatcher`` in a test.

        Raises:
            WrongArgument: ``workers`` is no number from 1 to ``MOST_WORKERS``, a setting is none, or there is no such
                replica.
            TransportError: the replica cannot be reached, or has another secret.
            LogExists, LogMissing: nothing can be recorded there.
            JournalError: the directory is in use, damaged, or has functions that need ``trust``.
        """
        if not isinstance(workers, int) or isinstance(workers, bool) or not 1 <= workers <= MOST_WORKERS:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WrongArgument(
                f"workers is the number of worker threads, from 1 to {MOST_WORKERS}, and {workers!r} was given"
            )
        # Before there is anything to stop.
        wanted, updates = provisioned(interactive, checked_settings({} if settings is None else settings))
        # Of what listens at an address, others have decided; only who asks for another kind is told.
        second = wanted if replica == OWN_PROCESS else interactive is True
        line = line_to(replica, workers, interactive=second, secret_file=secret_file)
        if line is not None and dispatcher is not None:
            raise WrongArgument("a replica in another process needs threads here: leave out dispatcher")
        journal = journal_at(path, sync, salvage=salvage, trust=trust, recorded=record is not None)
        recording = None
        if record is not None:
            try:
                recording = begin_recording(
                    record, record_sync, workers=workers, interactive=wanted, settings=dict(updates)
                )
            except BaseException:
                if journal is not None:
                    journal.close()
                raise
        self._running = start(
            workers, dispatcher, updates, interactive=wanted, line=line, recording=recording, journal=journal
        )
        self.lost: tuple[str, ...] = () if journal is None else journal.lost
        """With a path: what is not there of what was written, a sentence each."""
        self._connection = Connection(
            self._running.dispatcher, self._running.controller, self._running.metrics.lookups, recording
        )
        self.introspection = Introspection(self._introspection_relations)
        """What the system says about itself: ``system.introspection.frontiers`` is a relation."""

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, "a system", OF_SYSTEMS)

    # Its life

    def stop(self) -> None:
        """Stop everything and wait until no thread is left. Outstanding requests are refused with ``SystemStopped``,
        as are later ones. May be called again."""
        self._connection.close()
        self._running.stop()

    def __enter__(self) -> ActorSystem:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def configure(
        self,
        settings: Mapping[str, Setting | None] | None = None,
        *,
        replica: str | None = None,
        **named: Setting | None,
    ) -> None:
        """Change settings while the system runs; ``docs/settings.md`` describes them. None takes back what was stored.

        Args:
            replica: store the values as overrides of the replica of this name; they go before those of the system.

        Raises:
            WrongArgument: there is no such setting, or it does not take this value.
            UnknownReplica: there is no replica of this name.
            NotForOneReplica: a setting has one value for all replicas.
        """
        updates = checked_settings({} if settings is None else settings) + checked_settings(named)
        self._connection.ask(lambda reply: Configure(updates=updates, replica=replica, reply=reply))
        if self._running.line is not None:
            interactive = self.settings(REPLICA)[ENABLE_COMPUTE_INTERACTIVE_RUNTIME.name] is True
            self._running.line.provision(interactive)

    def settings(self, replica: str | None = None) -> dict[str, Setting]:
        """The present value of every setting, by name: of the system, or those that hold for one replica.

        Raises:
            UnknownReplica: there is no replica of this name.
        """
        return self._connection.ask(lambda reply: ReadSettings(replica=replica, reply=reply))

    def metrics(self) -> str:
        """What the system measures of itself, as text that Prometheus reads; ``docs/metrics.md`` lists the metrics.

        Never waits for the system, however busy it is, and works after it has failed or stopped.
        """
        # Here, because importing what writes this text takes longer than starting a system.
        from ..metrics.exposition import exposition

        return exposition(self._running.metrics)

    # Making collections

    def create_table(
        self,
        name: str,
        schema: Mapping[str, TypeLike] | pa.Schema | Schema | object,
        *,
        key: str | Sequence[str] | None = None,
        history: int | None = 0,
    ) -> Table:
        """A table, from a mapping of column name to type, an Arrow schema, or data (then with its rows in it).

        A type takes NULL when it says so: ``"bigint?"``, ``int | None``; an Arrow field says it itself.

        Args:
            key: columns that are different in every row; a row whose key exists is refused.
            history: how many timestamps before the latest one stay readable with ``as_of``; None: all.

        Raises:
            RelationError, ExpressionTypeError: no schema, or one that no table can have.
            RejectedData: data that does not fit.
            DuplicateName: another collection has this name.
        """
        check_name(name, "create_table")
        policy = read_policy(history)
        described, data = schema_and_data(name, schema)
        keys = table_key(key, f"create_table {name!r}")
        positions = tuple(position_of(column, described, f"create_table {name!r} key") for column in keys)
        fields = tuple(
            Field(field.name, field.type, field.nullable and position not in positions)
            for position, field in enumerate(described.fields)
        )
        described = Schema(fields)
        columns = None if data is None else Ingest(name, described).columns(data)
        id: GlobalId = self._connection.ask(
            lambda reply: CreateTable(name=name, schema=described, key=positions, policy=policy, reply=reply)
        )
        table = Table(self, self._connection, id, name, described, keys)
        if columns is not None and len(columns[0]):
            try:
                commit_one(self._connection, Insert(id, columns))
            except PillionError:
                self.drop(table)  # With its rows, or not at all.
                raise
        return table

    def view(self, name: str, relation: Relation) -> View:
        """A named relation. Nothing is computed until it is indexed or read."""
        check_name(name, "view")
        self._check(relation, "view")
        id: GlobalId = self._connection.ask(
            lambda reply: CreateView(name=name, relation=relation.algebra, schema=relation.schema, reply=reply)
        )
        return View(self, id, name, relation.schema, relation.unique_columns)

    def materialized_view(
        self, name: str, relation: Relation, *, history: int | None = 0, wait: bool = False
    ) -> MaterializedView:
        """A relation whose rows are kept in the system's storage, up to date. ``wait``: return when it is readable."""
        check_name(name, "materialized_view")
        self._check(relation, "materialized_view")
        policy = read_policy(history)
        id: GlobalId = self._connection.ask(
            lambda reply: CreateMaterializedView(
                name=name, relation=relation.algebra, schema=relation.schema, policy=policy, wait=wait, reply=reply
            )
        )
        return MaterializedView(self, id, name, relation.schema, relation.unique_columns)

    def create_index(
        self,
        on: Relation,
        key: ColumnLike | Sequence[ColumnLike] | None = None,
        *,
        name: str | None = None,
        history: int | None = 0,
        wait: bool = False,
    ) -> Index:
        """Keep a table or a view in memory, up to date and arranged by ``key``, for cheap reads.

        Args:
            on: a table or a view; any other relation becomes a view first, called like the index.
            key: columns or expressions; None: the table's key, else all columns.
            wait: return when it is readable; otherwise a read waits for that.
        """
        if name is not None:
            check_name(name, "create_index")
        self._check(on, "create_index")
        source = on if isinstance(on, Table | View) else self.view(f"{name or self._fresh_name('index')}_view", on)
        columns = self._index_key(source, key)
        called = name or f"{source.name}_by_{'_'.join(str(c) if isinstance(c, str) else 'expr' for c in columns)}"
        scope = RowScope(source.schema, f"create_index {called!r}")
        bound = [bind(as_column(column).node, scope) for column in columns]
        scalars = tuple(part.scalar for part in bound)
        check_no_repetition([part.shown for part in bound], f"create_index {called!r}")
        check_remote(self._running.line, scalars)
        policy = read_policy(history)
        id: GlobalId = self._connection.ask(
            lambda reply: CreateIndex(name=called, on=source.id, key=scalars, policy=policy, wait=wait, reply=reply)
        )
        parts = tuple((part.scalar, part.sql, part.shown) for part in bound)
        return Index(self._connection, id, called, source.id, source.schema, parts)

    def _index_key(self, on: Table | View, key: ColumnLike | Sequence[ColumnLike] | None) -> list[ColumnLike]:
        if key is None:
            return list(on.key) if isinstance(on, Table) and on.key else list(on.columns)
        columns = list(key) if isinstance(key, list | tuple) else [key]
        if not columns:
            raise RelationError("create_index: key is empty; leave it out for all columns")
        return columns  # type: ignore[return-value]

    def _fresh_name(self, prefix: str) -> str:
        taken = {info.name for info in self.collections()}
        number = 1
        while f"{prefix}{number}_view" in taken:
            number += 1
        return f"{prefix}{number}"

    def drop(self, handle: Handle | str, *, cascade: bool = False) -> None:
        """Drop a table, a view or an index (or the one of this name).

        Raises:
            StillUsed: others use it, and ``cascade`` does not say that they go too.
        """
        id = self._info(handle).id if isinstance(handle, str) else self._id_of(handle, "drop")
        self._connection.ask(lambda reply: Drop(id=id, cascade=cascade, reply=reply))

    # Finding collections

    def collections(self) -> tuple[CollectionInfo, ...]:
        """What there is: tables, views, indexes, introspection relations."""
        return self._connection.ask(lambda reply: ListCollections(reply=reply))

    def get(self, name: str) -> Handle:
        """The table, view or index of this name.

        Raises:
            UnknownName: there is none; a KeyError.
        """
        return handles.handle(self, self._connection, self._info(name), self.collections())

    def __getitem__(self, name: str) -> Handle:
        return self.get(name)

    def __contains__(self, name: object) -> bool:
        return any(info.name == name for info in self.collections())

    def table(self, name: str) -> Table:
        """The table of this name.

        Raises:
            UnknownName: nothing has this name.
            WrongKind: what has it is no table.
        """
        found = self.get(name)
        if not isinstance(found, Table):
            raise WrongKind(found.id, name, self._info(name).kind, "a table")
        return found

    def index(self, name: str) -> Index:
        """The index of this name.

        Raises:
            UnknownName: nothing has this name.
            WrongKind: what has it is no index.
        """
        found = self.get(name)
        if not isinstance(found, Index):
            raise WrongKind(found.id, name, self._info(name).kind, "an index")
        return found

    def _info(self, name: str) -> CollectionInfo:
        found = self.collections()
        for info in found:
            if info.name == name:
                return info
        names = [info.name for info in found if info.kind is not CollectionKind.INTROSPECTION]
        raise UnknownName(name, suggestion(name, names))

    def _introspection_relations(self) -> dict[str, IntrospectionRelation]:
        return {
            info.name: IntrospectionRelation(self, info.id, info.name, info.schema)
            for info in self.collections()
            if info.kind is CollectionKind.INTROSPECTION
        }

    # Writing

    def transaction(self) -> Transaction:
        """``with system.transaction() as tx: tx.insert(orders, …); tx.delete(…)``: all at one timestamp, or nothing."""
        return Transaction(self._connection)

    # Reading

    def query(
        self,
        relation: Relation,
        *,
        order_by: str | Sequence[str] = (),
        descending: bool | Sequence[bool] = False,
        nulls_first: bool | Sequence[bool] = False,
        limit: int | None = None,
        offset: int = 0,
        isolation: IsolationLike = Isolation.STRICT_SERIALIZABLE,
        as_of: Timestamp | None = None,
        timeout: float | None = None,
    ) -> Result:
        """The rows of a relation now (or ``as_of`` a timestamp): off an index when one has them, else computed.

        Args:
            isolation: ``"strict serializable"`` sees every write that returned before; ``"serializable"`` reads the
                latest time at which everything is complete, without waiting.
            timeout: seconds after which the read is given up with ``ReadTimeout``.
        """
        self._check(relation, "query")
        finish = finishing(relation.schema, order_by, descending, nulls_first, limit, offset, "query")
        options = read_options(isolation, as_of, timeout)
        result: ReadResult = self._connection.ask(
            lambda reply: Query(
                relation=relation.algebra,
                schema=relation.schema,
                finishing=finish,
                isolation=options.isolation,
                as_of=options.as_of,
                timeout=options.timeout,
                reply=reply,
            )
        )
        return Result(result.timestamp, result.schema, result.blocks, result.age)

    def hold(self, *handles: Handle, as_of: Timestamp | None = None) -> Moment:
        """Keep tables, views and indexes readable as they are now (or ``as_of`` a timestamp), for several reads of one
        state: ``with system.hold(a, b) as moment: a.peek(as_of=moment.timestamp)``."""
        if not handles:
            raise RelationError("hold takes the tables, views and indexes that will be read")
        ids = tuple(self._id_of(handle, "hold") for handle in handles)
        check_time(as_of, "as_of")
        return Moment(self._connection, self._connection.ask(lambda reply: HoldRead(ids=ids, as_of=as_of, reply=reply)))

    def subscribe(
        self,
        relation: Relation,
        *,
        with_snapshot: bool = True,
        up_to: Frontier = None,
        as_of: Timestamp | None = None,
        isolation: IsolationLike = Isolation.STRICT_SERIALIZABLE,
    ) -> Subscription:
        """Every change of a relation from now on (or from ``as_of`` on), after what is there (``with_snapshot``).

        ``up_to``: end before this timestamp.
        """
        self._check(relation, "subscribe")
        options = read_options(isolation, as_of, None)
        check_time(up_to, "up_to")
        stream = self._connection.stream()
        try:
            subscribed: Subscribed = self._connection.ask(
                lambda reply: SubscribeTo(
                    relation=relation.algebra,
                    schema=relation.schema,
                    stream=stream,
                    with_snapshot=with_snapshot,
                    up_to=up_to,
                    isolation=options.isolation,
                    as_of=options.as_of,
                    reply=reply,
                )
            )
        except BaseException:
            stream.close()
            raise
        return Subscription(self._connection, subscribed.id, subscribed.as_of, relation.schema, stream)

    def copy_to(
        self,
        relation: Relation,
        path: str,
        *,
        isolation: IsolationLike = Isolation.STRICT_SERIALIZABLE,
        as_of: Timestamp | None = None,
        timeout: float | None = None,
    ) -> int:
        """Write the rows of a relation to a file, ``.csv`` or ``.parquet``, and return how many there are."""
        self._check(relation, "copy_to")
        options = read_options(isolation, as_of, timeout)
        return self._connection.ask(
            lambda reply: CopyRelation(
                relation=relation.algebra,
                schema=relation.schema,
                path=str(path),
                isolation=options.isolation,
                as_of=options.as_of,
                timeout=options.timeout,
                reply=reply,
            )
        )

    def explain(self, relation: Relation) -> str:
        """How a relation would be computed now, with the indexes that there are."""
        self._check(relation, "explain")
        explained: Explained = self._connection.ask(
            lambda reply: Explain(relation=relation.algebra, schema=relation.schema, reply=reply)
        )
        return show_explained(explained, self.collections())

    def _id_of(self, handle: object, where: str) -> GlobalId:
        if not isinstance(handle, Table | View | Index):
            raise RelationError(f"{where} takes a table, a view or an index, and {kind_of(handle)} was given")
        mine = handle.belongs_to(self._connection) if isinstance(handle, Index) else handle.origin is self
        if not mine:
            raise RelationError(f"{where}: {handle.name!r} belongs to another system")
        return handle.id

    def _check(self, relation: object, where: str) -> None:
        if not isinstance(relation, Relation):
            hint = ""
            if isinstance(relation, Index):
                hint = "; an index is read with its lookup and peek; what it is on is a relation"
            elif isinstance(relation, str):
                hint = f"; system[{relation!r}] is the one of this name"
            raise RelationError(f"{where} takes a relation, and {kind_of(relation)} was given{hint}")
        if relation.origin is not None and relation.origin is not self:
            raise RelationError(f"{where}: the relation belongs to another system")
        check_remote(self._running.line, relation.algebra)
