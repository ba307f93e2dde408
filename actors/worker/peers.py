"""Peers: what the other runtime of the process renders.

Both runtimes hear every command. A dataflow that this one does not render it only records, so that it judges later
commands as the other one does. On the interactive runtime every exported index also gets a *bundle*, which peeks and
dataflows read as they would read an index of this runtime, from the moment of its creation on: as long as it is not
published, it looks like one that has sealed nothing.

Invariant (I1c): a bundle holds its index at the last ``AllowCompaction`` that *this* runtime has applied. The other one
may be ahead in the command stream; it compacts no further, so no command that is still to come here finds its input
compacted away.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pykka

from ...dataflow.arrangements.peer import PeerArrangement
from ...dataflow.arrangements.trace import Trace
from ...dataflow.render import Dataflow
from ...messages.dataflows import RenderDataflow
from ...messages.frontiers import Timestamp, is_sealed, less_than
from ...messages.ids import GlobalId
from ..registry.messages import Acquire, Bound, Release
from .link import Link
from .messages import DataflowNumber, Sealed
from .placement import Placement
from .state import ComputeState, Peer, PeerBundle, PeerDataflow, RunningDataflow
from .stepping import Stepping


class Peers:
    """The peers of a worker.

    Args:
        registry: where publications are found; needed on the interactive runtime.
        trust: load the Python functions in plans.
    """

    def __init__(
        self, state: ComputeState, link: Link, stepping: Stepping, registry: pykka.ActorRef[Any] | None, trust: bool
    ) -> None:
        self._state = state
        self._link = link
        self._stepping = stepping
        self._registry = registry
        self._trust = trust

    def record(self, number: DataflowNumber, description: RenderDataflow) -> None:
        """Record the exports of a dataflow that the other runtime renders.

        Raises:
            PillionError: a plan cannot be rendered; the other runtime refuses it as well.
        """
        state = self._state
        dataflow = PeerDataflow(number, description)
        bundles = self._bundles(number, description) if state.placement is Placement.INTERACTIVE else {}
        for id in description.export_ids:
            assert id not in state.collections, f"{id} is rendered by both runtimes"
            peer = Peer(id, dataflow, bundles.get(id))
            state.peers[id] = dataflow.exports[id] = peer
            if peer.bundle is not None:
                self._adopt(peer.bundle)

    def compact(self, peer: Peer) -> None:
        """Move what this runtime holds of a peer to what was allowed; once nothing is needed, drop it."""
        frontier, bundle = peer.compaction, peer.bundle
        if frontier is None:
            self.drop(peer)
        elif bundle is not None and less_than(bundle.trace.since, frontier):
            bundle.trace.allow_compaction(frontier)
            self._pass_on(bundle)

    def drop(self, peer: Peer) -> None:
        """Forget a peer. Dataflows that read it go on."""
        state, id = self._state, peer.id
        del state.peers[id]
        del peer.dataflow.exports[id]
        if peer.bundle is not None:
            del state.traces[id]
            peer.bundle.trace.allow_compaction(None)
            self._stepping.index_dropped(id)
            self._pass_on(peer.bundle)

    def imported(self, bundle: PeerBundle, importer: RunningDataflow) -> None:
        """A dataflow reads a bundle from now on."""
        bundle.importers.append(importer)
        self.await_sealed(bundle)

    def left(self, bundle: PeerBundle, importer: RunningDataflow) -> None:
        """A dataflow reads a bundle no longer."""
        bundle.importers.remove(importer)
        self._pass_on(bundle)

    def sources(self, id: GlobalId) -> Iterator[PeerBundle]:
        """The bundles that are read by who reads an index: its own, or of those that it re-exports."""
        peer = self._state.peers.get(id)
        if peer is not None:
            if peer.bundle is not None:
                yield peer.bundle
            return
        collection = self._state.collections.get(id)
        if collection is not None:
            yield from _sources(collection.running)

    def refresh(self, id: GlobalId) -> None:
        """Have those who read this index from now on read its present state."""
        for bundle in self.sources(id):
            bundle.arrangement.refresh()

    def awaited(self, id: GlobalId) -> None:
        """A peek waits for this index."""
        for bundle in self.sources(id):
            self.await_sealed(bundle)

    def bound(self, message: Bound) -> None:
        """The publication is there. A bundle that is gone by now has told so, and the registry tells the publisher."""
        publication = message.publication
        bundle = self._state.bundles.get((publication.id, publication.incarnation))
        if bundle is not None:
            bundle.arrangement.bind(publication)
            self._look(bundle)

    def sealed(self, message: Sealed) -> None:
        """A time that was waited for is sealed."""
        bundle = self._state.bundles.get((message.id, message.incarnation))
        if bundle is not None:
            bundle.awaited = None
            self._look(bundle)

    def claim(self, bundle: PeerBundle, time: Timestamp) -> None:
        """Read the present state at a time that the publisher has not sealed, and does not seal soon."""
        bundle.arrangement.claim(time)
        self._look(bundle)

    def await_sealed(self, bundle: PeerBundle) -> None:
        """Have the publisher wake this worker when it seals what somebody here waits for."""
        publication = bundle.arrangement.publication
        time = self._wanted(bundle)
        if publication is None or time is None or (bundle.awaited is not None and bundle.awaited <= time):
            return
        bundle.awaited = time
        wake = partial(self._link.own.tell, Sealed(*bundle.slot))
        if publication.wait(time, wake):
            wake()

    def _bundles(self, number: DataflowNumber, description: RenderDataflow) -> dict[GlobalId, PeerBundle]:
        """A bundle for each index export. Building the dataflow once says how its arrangements are laid out, and
        whether it can be built at all, exactly as the runtime does that renders it."""
        state = self._state
        traces = {index.id: state.traces[index.id] for index in description.index_imports}
        incarnation = state.incarnation(number)
        dataflow = Dataflow(
            description,
            traces=traces,
            worker=state.worker,
            peers=len(self._link.fellows),
            incarnation=incarnation,
            trust=self._trust,
        )
        bundles: dict[GlobalId, PeerBundle] = {}
        for id, built in dataflow.indexes.items():
            model = built.arrangement
            arrangement = PeerArrangement(model.types, model.arity, model.layout, description.as_of)
            bundles[id] = PeerBundle(Trace(id, incarnation, built.key, arrangement, description.as_of), arrangement)
            built.allow_compaction(None)
        dataflow.close()
        return bundles

    def _adopt(self, bundle: PeerBundle) -> None:
        state = self._state
        id, incarnation = bundle.slot
        state.bundles[bundle.slot] = bundle
        state.traces[id] = bundle.trace
        assert self._registry is not None, "a runtime with bundles has a registry"
        self._registry.tell(Acquire(state.worker, id, incarnation, self._link.own))

    def _look(self, bundle: PeerBundle) -> None:
        """Take the present state of a bundle, and serve those who waited for it."""
        bundle.arrangement.refresh()
        id = bundle.trace.id
        if id in self._state.queued_peeks and self._state.traces[id] is bundle.trace:
            self._stepping.index_sealed(id)
        for importer in bundle.importers:
            self._stepping.activate(importer)
        self._pass_on(bundle)
        self.await_sealed(bundle)

    def _pass_on(self, bundle: PeerBundle) -> None:
        """Tell the publisher how far it may compact, and when it need not publish any more."""
        arrangement = bundle.arrangement
        # A dataflow that is done reads it no more, and leaves it later.
        if (
            arrangement.held is None
            and not arrangement.holds
            and self._state.bundles.pop(bundle.slot, None) is not None
        ):
            assert self._registry is not None, "a runtime with bundles has a registry"
            id, incarnation = bundle.slot
            self._registry.tell(Release(self._state.worker, id, incarnation))

    def _wanted(self, bundle: PeerBundle) -> Timestamp | None:
        """The earliest time that somebody waits for."""
        upper, queued = bundle.arrangement.upper, self._state.queued_peeks
        wanted = [queued[bundle.trace.id][0].peek.timestamp] if bundle.trace.id in queued else []
        for importer in bundle.importers:
            description = importer.description
            wanted += [queued[id][0].peek.timestamp for id in importer.exports if id in queued]
            if not is_sealed(upper, description.as_of):
                wanted.append(description.as_of)
            elif upper is not None and less_than(upper, description.until):
                wanted.append(upper)
        return min([time for time in wanted if not is_sealed(upper, time)], default=None)


def _sources(running: RunningDataflow) -> Iterator[PeerBundle]:
    for exporter in running.exporters:
        if isinstance(exporter, PeerBundle):
            yield exporter
        else:
            yield from _sources(exporter)
