"""Creating, starting, compacting and dropping dataflows, by the rules of the protocol.

Every worker hears the same commands and judges them by what earlier commands said, never by how far its own rendering
has come; so all workers refuse the same commands.
"""

from __future__ import annotations

from ...dataflow.plans.validate import validate
from ...dataflow.render import Dataflow
from ...messages.commands import AllowCompaction, AllowWrites, CreateDataflow, Schedule
from ...messages.dataflows import (
    CopyTo,
    DataflowClass,
    IndexImport,
    MaterializedView,
    RenderDataflow,
    SinkExport,
    Subscribe,
)
from ...messages.errors import ProtocolError
from ...messages.frontiers import Frontier, is_beyond, less_than, show_frontier
from ...messages.ids import GlobalId
from .appends import Appends
from .copy_to import CopyToSink
from .counters import DATAFLOWS_CREATED, DATAFLOWS_DROPPED
from .feeds import Feeds
from .link import Link
from .materialized_view import MaterializedViewSink
from .messages import DataflowNumber, Exchanged, SinkPart
from .peers import Peers
from .publishing import Publishing
from .sinks import Sink
from .state import Collection, ComputeState, Peer, PeerBundle, RunningDataflow
from .stepping import Stepping
from .subscribe import SubscribeSink


class Dataflows:
    """The commands about dataflows and collections."""

    def __init__(
        self,
        state: ComputeState,
        link: Link,
        feeds: Feeds,
        appends: Appends,
        stepping: Stepping,
        peers: Peers,
        publishing: Publishing,
        trust: bool,
    ) -> None:
        """``trust``: load the Python functions in plans (which runs code of whoever sent them)."""
        self._state = state
        self._link = link
        self._feeds = feeds
        self._stepping = stepping
        self._peers = peers
        self._publishing = publishing
        self._trust = trust
        self._appends = appends

    def create(self, command: CreateDataflow) -> None:
        """Render a dataflow, suspended; or record its exports as peers, when the other runtime renders its class.

        Raises:
            ProtocolError: an export exists, an import does not, or ``as_of`` is before an import's since.
            PillionError: the description breaks a rule of its own, or a plan cannot be rendered.
        """
        state, description = self._state, command.dataflow
        number = state.next_dataflow
        state.next_dataflow += 1
        self._check_exports(description)
        validate(description)
        for index in description.index_imports:
            self._check_import(description, index)
        if not state.placement.renders(description.dataflow_class):
            self._peers.record(number, description)
            return
        self.render(number, description)
        state.counters[DATAFLOWS_CREATED] += 1

    def render(self, number: DataflowNumber, description: RenderDataflow) -> RunningDataflow:
        """Build a dataflow whose imports are there, record its exports, and take what fellow workers sent for it."""
        state = self._state
        traces = {index.id: state.traces[index.id] for index in description.index_imports}
        for id in traces:
            self._peers.refresh(id)
        dataflow = Dataflow(
            description,
            traces=traces,
            worker=state.worker,
            peers=len(self._link.fellows),
            incarnation=state.incarnation(number),
            trust=self._trust,
        )
        running = RunningDataflow(number, description, dataflow)
        state.dataflows[number] = running
        for index in description.index_exports:
            state.traces[index.id] = trace = dataflow.indexes[index.id]
            self._record(Collection(index.id, running, None))
            self._publishing.publish(trace)
        for sink in description.sink_exports:
            self._record(Collection(sink.id, running, self._sink(running, sink)))
        for id in traces:
            self._follow(running, self._exporter(id))
        for message in state.early.pop(number, ()):
            self._deliver(running, message)
        return running

    def _exporter(self, id: GlobalId) -> RunningDataflow | PeerBundle:
        """Who moves an index."""
        peer = self._state.peers.get(id)
        if peer is None:
            return self._state.collections[id].running
        assert peer.bundle is not None, "only what this runtime reads is imported"
        return peer.bundle

    def _follow(self, importer: RunningDataflow, exporter: RunningDataflow | PeerBundle) -> None:
        importer.exporters.append(exporter)
        if isinstance(exporter, PeerBundle):
            self._peers.imported(exporter, importer)
        else:
            exporter.importers.append(importer)

    def schedule(self, command: Schedule) -> None:
        """Start the dataflow that exports an id; once started, nothing changes.

        Raises:
            ProtocolError: nothing exports it.
        """
        if command.id in self._state.peers:
            return
        self.start(self._collection(command.id, "schedule").running)

    def start(self, running: RunningDataflow) -> None:
        """Let a dataflow run, and feed its sources."""
        if running.scheduled_at is not None:
            return
        running.scheduled_at = self._stepping.now()
        for source in running.description.source_imports:
            self._feeds.follow(running, source)
        for collection in running.exports.values():
            if collection.sink is not None:
                collection.sink.start()
        self._stepping.activate(running)

    def allow_writes(self, command: AllowWrites) -> None:
        """Let a materialized view's sink write.

        Raises:
            ProtocolError: nothing exports it.
        """
        if command.id in self._state.peers:
            return
        sink = self._collection(command.id, "allow writes of").sink
        if sink is not None:
            sink.allow_writes()

    def allow_compaction(self, command: AllowCompaction) -> None:
        """Readers of a collection need times from a frontier on; with the empty one, drop it.

        Raises:
            ProtocolError: nothing exports it, or more was allowed before.
        """
        id, frontier = command.id, command.frontier
        target = self._state.peers.get(id) or self._collection(id, "compact")
        if less_than(frontier, target.compaction):
            raise ProtocolError(
                f"compaction to {show_frontier(frontier)} regresses: "
                f"{show_frontier(target.compaction)} was allowed before",
                id,
            )
        if isinstance(target, Peer):
            target.dataflow.compactions[id] = frontier
            self._peers.compact(target)
            return
        target.running.compactions[id] = frontier
        if frontier is None:
            self._drop_collection(target)
        else:
            self.compact(target)

    def compact(self, collection: Collection) -> None:
        """Compact an index as far as was allowed."""
        trace = self._state.traces.get(collection.id)
        # What introspects was perhaps allowed more by an earlier connection.
        if trace is not None and less_than(trace.since, collection.compaction):
            trace.allow_compaction(collection.compaction)

    def skip(self) -> None:
        """Count a creation of which the dataflow is there already."""
        self._state.next_dataflow += 1

    def drop(self, running: RunningDataflow) -> None:
        """Drop what is left of a dataflow without a last report: it belonged to an earlier connection."""
        for collection in list(running.exports.values()):
            self._forget(collection)
        self.release_unused()

    def exchanged(self, message: Exchanged | SinkPart) -> None:
        """Take what a fellow worker sent. It may come before the command that creates the dataflow here, and after
        the one that dropped it."""
        running = self._state.dataflows.get(message.dataflow)
        if running is not None:
            self._deliver(running, message)
        elif message.dataflow >= self._state.next_dataflow or (message.dataflow < 0 and self._state.config is None):
            self._state.early.setdefault(message.dataflow, []).append(message)

    def _deliver(self, running: RunningDataflow, message: Exchanged | SinkPart) -> None:
        if isinstance(message, Exchanged):
            running.dataflow.receive(message.channel, message.sender, message.chunk)
            self._stepping.activate(running)
            return
        collection = running.exports.get(message.sink)
        if collection is not None and collection.sink is not None:
            collection.sink.receive(message.sender, message.chunk)
            # What the sink wrote is reported when its dataflow settles.
            self._stepping.activate(running)

    def _check_exports(self, description: RenderDataflow) -> None:
        state = self._state
        seen: set[GlobalId] = set()
        for id in description.export_ids:
            if id in state.collections or id in state.peers or id in seen:
                raise ProtocolError("an export with this id exists already: drop it first, or choose another id", id)
            seen.add(id)
        if not seen:
            raise ProtocolError(f"the dataflow {description.debug_name} exports nothing")

    def _check_import(self, description: RenderDataflow, index: IndexImport) -> None:
        found = self._index(index.id)
        if found is None:
            raise ProtocolError(
                f"the dataflow {description.debug_name} imports this index, which does not exist", index.id
            )
        exporter, since = found
        if (
            description.dataflow_class is DataflowClass.MAINTAINED
            and exporter.dataflow_class is DataflowClass.ONE_SHOT_READ
        ):
            raise ProtocolError(
                f"the dataflow {description.debug_name} is maintained and imports this index of a one-shot read",
                index.id,
            )
        if is_beyond(since, description.as_of):
            raise ProtocolError(
                f"the dataflow {description.debug_name} starts at {description.as_of}, "
                f"before the since {show_frontier(since)} of this import",
                index.id,
            )

    def _index(self, id: GlobalId) -> tuple[RenderDataflow, Frontier] | None:
        """The dataflow that exports an index, and from when on it is readable."""
        peer, trace = self._state.peers.get(id), self._state.traces.get(id)
        if trace is not None:
            exporter = self._state.collections[id].running if peer is None else peer.dataflow
            return exporter.description, trace.since
        if peer is not None and any(export.id == id for export in peer.dataflow.description.index_exports):
            return peer.dataflow.description, peer.compaction
        return None

    def _collection(self, id: GlobalId, purpose: str) -> Collection:
        collection = self._state.collections.get(id)
        if collection is None:
            raise ProtocolError(f"cannot {purpose} an id that no dataflow exports", id)
        return collection

    def _record(self, collection: Collection) -> None:
        assert collection.id not in self._state.peers, f"{collection.id} is rendered by both runtimes"
        self._state.collections[collection.id] = collection
        collection.running.exports[collection.id] = collection

    def _sink(self, running: RunningDataflow, sink: SinkExport) -> Sink:
        description, number, link = running.description, running.number, self._link
        match sink.connection:
            case Subscribe():
                return SubscribeSink(link, number, sink.id, description.schema_of(sink.on), description.as_of)
            case MaterializedView(shard):
                return MaterializedViewSink(
                    link,
                    self._appends,
                    lambda take: self._feeds.follow_whole(running, shard, take),
                    number,
                    sink.id,
                    shard,
                    description.as_of,
                )
            case CopyTo(path):
                return CopyToSink(link, number, sink.id, path, description.schema_of(sink.on), description.as_of)

    def _drop_collection(self, collection: Collection) -> None:
        if collection.sink is None or collection.sink.reports_frontiers:
            last = collection.reported.finish()
            if last is not None:
                self._link.respond(last, collection.running.number)
        self._forget(collection)
        self.release_unused()

    def _forget(self, collection: Collection) -> None:
        """Remove a collection."""
        state, id, running = self._state, collection.id, collection.running
        del state.collections[id]
        del running.exports[id]
        if collection.sink is not None:
            collection.sink.drop()
        trace = state.traces.pop(id, None)
        if trace is not None:
            trace.allow_compaction(None)
            self._stepping.index_dropped(id)

    def release_unused(self) -> None:
        """Let go of every dataflow without exports of which no other one needs an arrangement. Letting go of one may
        be what another one waited for."""
        while True:
            unused = [r for r in self._state.dataflows.values() if not r.exports and not r.dataflow.in_use]
            if not unused:
                return
            for running in unused:
                self._release(running)

    def _release(self, running: RunningDataflow) -> None:
        del self._state.dataflows[running.number]
        self._state.counters[DATAFLOWS_DROPPED] += 1
        self._feeds.leave(running)
        running.dataflow.close()
        self._stepping.deactivate(running)
        for importer in running.importers:
            # What they read is not of this dataflow, else it would be in use.
            importer.exporters.remove(running)
            for exporter in running.exporters:
                self._follow(importer, exporter)
        for exporter in running.exporters:
            if isinstance(exporter, PeerBundle):
                self._peers.left(exporter, running)
            else:
                exporter.importers.remove(running)
