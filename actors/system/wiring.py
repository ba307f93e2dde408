"""The actors of a system, started and connected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pykka

from ...messages.commands import Setting
from ..controller.controller import Controller
from ..controller.messages import AddReplica
from ..dispatch.base import Dispatcher
from ..dispatch.threaded import ThreadedDispatcher
from ..metrics.system import SystemMetrics
from ..multiplexer.replica import Replica
from ..recorder.recorder import Recorder
from ..recorder.recording import Recording
from ..recorder.tap import CONTROLLER, STORAGE, Tap
from ..recorder.tap import REPLICA as REPLICA_ACTOR
from ..requests import Configure
from ..storage.storage import Storage
from ..transport.line import Line
from ..transport.remote_replica import RemoteReplica
from ..transport.retry import Backoff, Retries

if TYPE_CHECKING:
    from ..journal.opening import OpenedJournal

BACKOFF = Backoff()
"""How a replica in another process is tried again."""

REPLICA = "r1"
"""The name of a system's replica."""

_CORE = "core"
"""The lane of the actors that decide and never work long, so that messages among them cost no thread switch."""


@dataclass(frozen=True, slots=True)
class Running:
    """A system that runs: what executes it, whom to ask, what its actors measure, and the line to its replica when that
    is in another process; the log that is recorded; the journal that it keeps."""

    dispatcher: Dispatcher
    controller: pykka.ActorRef[Any]
    metrics: SystemMetrics
    line: Line | None = None
    recording: Recording | None = None
    journal: OpenedJournal | None = None

    def stop(self) -> None:
        """Stop every actor, wait for the threads, and end the recording. May be called again."""
        self.dispatcher.stop()
        if self.line is not None:
            self.line.stop()
        if self.journal is not None:
            self.journal.close()
        if self.recording is not None:
            failure = self.dispatcher.failure
            self.recording.close("complete" if failure is None else f"the system failed: {failure}")


def start(
    workers: int,
    dispatcher: Dispatcher | None = None,
    settings: tuple[tuple[str, Setting | None], ...] = (),
    *,
    interactive: bool = False,
    line: Line | None = None,
    recording: Recording | None = None,
    journal: OpenedJournal | None = None,
) -> Running:
    """Start the storage, the controller and one replica with so many workers, or twice as many with an interactive
    runtime; on threads, unless told otherwise."""
    dispatcher = dispatcher or ThreadedDispatcher()
    metrics = SystemMetrics(dispatcher)
    try:
        # In one process everybody is the application, so functions in plans are its own.
        # The storage works long when it deletes by a condition: on a thread of its own it delays no read.
        storage = dispatcher.start(Storage, trust=True)
        if recording is not None:
            recording.start(dispatcher.start(Recorder, recording), dispatcher.services.clock)
        told = _tapped(storage, STORAGE, recording)
        controller = dispatcher.start(Controller, told, lane=_CORE)
        if journal is not None:
            # Here, because a system without one does without all of it.
            from ..journal.attaching import attach_journal

            attach_journal(dispatcher, journal, controller)
        if settings:
            # Before there is a replica: some are read when one is provisioned.
            controller.tell(Configure(updates=settings, reply=dispatcher.reply()))
        if line is None:
            replica = Replica.start(
                dispatcher, storage, workers, interactive=interactive, trust=True, lane=_CORE, metrics=metrics
            )
            endpoint = _tapped(replica.endpoint, REPLICA_ACTOR, recording)
            controller.tell(AddReplica(REPLICA, endpoint, workers=replica.workers, interactive=interactive))
        else:
            link = line.reach()
            remote = dispatcher.start(
                RemoteReplica,
                storage,
                line,
                link,
                Retries(dispatcher.services.random, BACKOFF),
                worker_lane=_CORE,
                lane=_CORE,
            )
            endpoint = _tapped(remote, REPLICA_ACTOR, recording)
            controller.tell(AddReplica(REPLICA, endpoint, interactive=link.replica.interactive))
    except BaseException:
        dispatcher.stop()
        if line is not None:
            line.stop()
        if journal is not None:
            journal.close()
        if recording is not None:
            recording.close("the system did not start")
        raise
    return Running(dispatcher, controller, metrics, line, recording, journal)


def _tapped(ref: pykka.ActorRef[Any], name: str, recording: Recording | None) -> pykka.ActorRef[Any]:
    """The controller's reference to an actor."""
    return ref if recording is None else Tap(ref, CONTROLLER, name, recording)
