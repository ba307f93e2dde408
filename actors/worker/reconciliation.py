"""What a worker does when a controller connects again: keep what can be kept, drop the rest, create what is new."""

from __future__ import annotations

from collections.abc import Callable

from ...messages.commands import Command, CreateDataflow, CreateInstance, InstanceConfig
from ...messages.dataflows import RenderDataflow
from ...messages.errors import PillionError
from ...messages.frontiers import less_than
from ...messages.reconcile import InstalledDataflow, reconcile
from .counters import DATAFLOWS_KEPT
from .dataflows import Dataflows
from .peers import Peers
from .state import ComputeState, Peer, PeerDataflow, RunningDataflow
from .stepping import Stepping


class IncompatibleInstance(PillionError):
    """A controller connected that wants another replica than this one is; the process must start anew."""

    def __init__(self, installed: InstanceConfig, requested: InstanceConfig) -> None:
        names = [n for n in installed.__struct_fields__ if getattr(installed, n) != getattr(requested, n)]
        shown = "; ".join(f"{n} is {getattr(installed, n)!r}, requested is {getattr(requested, n)!r}" for n in names)
        super().__init__(f"the replica was created with another configuration: {shown}. Start a new replica")
        self.installed = installed
        self.requested = requested


class Reconciler:
    """Brings together what is installed and the commands that were replayed."""

    def __init__(self, state: ComputeState, dataflows: Dataflows, peers: Peers, stepping: Stepping) -> None:
        self._state = state
        self._dataflows = dataflows
        self._peers = peers
        self._stepping = stepping

    def begin(self, nonce: str) -> None:
        """A connection opened: remember its commands until they are complete. A replica that was not told anything yet
        has nothing to compare them with, and takes them as they come."""
        state = self._state
        for command in state.replay or ():
            # The connection before broke while it replayed. What it created has numbers that are not given again.
            if isinstance(command, CreateDataflow):
                self._dataflows.skip()
        state.nonce = nonce
        is_fresh = state.config is None and not state.collections and not state.peers
        state.replay = None if is_fresh else []

    def complete(self, handle: Callable[[Command], None]) -> None:
        """Reconcile, then handle every remembered command of which the effect is not there already.

        Raises:
            IncompatibleInstance: another configuration was requested, which cannot be changed.
        """
        state, replay = self._state, self._state.replay
        if replay is None:
            return
        for command in replay:
            if isinstance(command, CreateInstance) and state.config not in (None, command.config):
                assert state.config is not None
                raise IncompatibleInstance(state.config, command.config)
        kept = self._keep(replay)
        state.replay = None
        for command in replay:
            if isinstance(command, CreateDataflow) and command.dataflow.export_ids in kept:
                self._dataflows.skip()
            elif not isinstance(command, CreateInstance) or state.config is None:
                handle(command)

    def _keep(self, replay: list[Command]) -> dict[tuple[object, ...], RenderDataflow]:
        """Drop what is not kept, silently, since what would be said belongs to the earlier connection; have the
        rest report anew. Returns the kept descriptions by their exports."""
        state = self._state
        requested = [command.dataflow for command in replay if isinstance(command, CreateDataflow)]
        rendered = [running for running in state.dataflows.values() if running.exports and not running.is_logging]
        recorded = {peer.dataflow.number: peer.dataflow for peer in state.peers.values()}
        peers = [dataflow for dataflow in recorded.values() if not dataflow.is_logging]
        # In the order of the command stream, as the other runtime has them.
        installed = sorted([*rendered, *peers], key=lambda dataflow: dataflow.number)
        logging = [id for running in state.dataflows.values() if running.is_logging for id in running.exports]
        logging += [id for dataflow in recorded.values() if dataflow.is_logging for id in dataflow.exports]
        plan = reconcile(
            [InstalledDataflow(dataflow.description, dataflow.compactions) for dataflow in installed],
            requested,
            logging,
        )
        kept = {description.export_ids: description for description in plan.keep}
        for dataflow in installed:
            description = kept.get(dataflow.description.export_ids)
            if description is not None:
                dataflow.description = description
                self._restart(dataflow)
            elif isinstance(dataflow, PeerDataflow):
                for peer in list(dataflow.exports.values()):
                    self._peers.drop(peer)
            else:
                self._dataflows.drop(dataflow)
        state.counters[DATAFLOWS_KEPT] += sum(running.description.export_ids in kept for running in rendered)
        for dataflow in [*state.dataflows.values(), *recorded.values()]:
            if dataflow.is_logging:
                dataflow.compactions.clear()
                self._restart(dataflow)
        return {**kept}

    def _restart(self, dataflow: RunningDataflow | PeerDataflow) -> None:
        """Report a kept dataflow as if from scratch, and keep of it what is needed from the requested ``as_of`` on."""
        as_of = dataflow.description.as_of
        for export in dataflow.exports.values():
            if less_than(export.compaction, as_of):
                dataflow.compactions[export.id] = as_of
            if isinstance(export, Peer):
                self._peers.compact(export)
            else:
                export.reported.restart(as_of)
                self._dataflows.compact(export)
        if isinstance(dataflow, RunningDataflow):
            self._stepping.activate(dataflow)
