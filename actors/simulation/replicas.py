"""The replicas of a simulated system: in the system's process, or elsewhere."""

from __future__ import annotations

import abc
from typing import Any, ClassVar, cast

import pykka

from ..controller.messages import AddReplica, ReplicaLost
from ..dispatch.simulated import SimulatedDispatcher
from ..multiplexer.replica import Replica
from ..transport.remote_replica import RemoteReplica
from ..transport.retry import Retries
from ..worker.worker import Worker
from .elsewhere import LineElsewhere
from .line import Break, Line

PLACES = ("here", "elsewhere")
"""Where a replica is: in the process of the system, or in another one."""


class SimulatedReplica(abc.ABC):
    """One replica, and the faults that it may have.

    Attributes:
        name: what the controller calls it.
        is_elsewhere: whether it is in another process.
    """

    name: str
    is_elsewhere: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def running(self) -> Replica | None:
        """Its actors; None while there are none."""

    @property
    @abc.abstractmethod
    def endpoint(self) -> pykka.ActorRef[Any]:
        """To whom the controller speaks."""

    @abc.abstractmethod
    def drop(self) -> None:
        """The connection breaks. A replica of the same process keeps what it has; another process does not."""

    @abc.abstractmethod
    def restart(self) -> None:
        """The connection breaks, and the replica loses everything that it has."""

    @property
    def publishers(self) -> tuple[Worker, ...]:
        """The workers of its only runtime, or of the maintenance runtime."""
        return () if self.running is None else tuple(actor_of(ref) for ref in self.running.workers)

    @property
    def readers(self) -> tuple[Worker, ...]:
        """The workers of the interactive runtime."""
        return () if self.running is None else tuple(actor_of(ref) for ref in self.running.interactive)

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The workers of both runtimes."""
        return self.publishers + self.readers


class ReplicaHere(SimulatedReplica):
    """A replica in the process of its system, behind a line that can break."""

    def __init__(
        self,
        name: str,
        dispatcher: SimulatedDispatcher,
        controller: pykka.ActorRef[Any],
        storage: pykka.ActorRef[Any],
        workers: int,
        *,
        interactive: bool,
    ) -> None:
        self.name = name
        self._controller = controller
        self._running = Replica.start(dispatcher, storage, workers, interactive=interactive)
        self.line = dispatcher.start(Line, self._running.endpoint, name)
        controller.tell(
            AddReplica(name, self.line, workers=self._running.workers, interactive=interactive or None),
        )

    @property
    def running(self) -> Replica:
        return self._running

    @property
    def endpoint(self) -> pykka.ActorRef[Any]:
        return self.line

    def drop(self) -> None:
        self.line.tell(Break(restart=False))

    def restart(self) -> None:
        self.line.tell(Break(restart=True))

    def reconnect(self) -> None:
        """The controller says everything again, though nothing broke."""
        self._controller.tell(ReplicaLost(self.name))


class ReplicaElsewhere(SimulatedReplica):
    """A replica in another process: everything goes through the codecs of the transport."""

    is_elsewhere = True

    def __init__(
        self,
        name: str,
        dispatcher: SimulatedDispatcher,
        controller: pykka.ActorRef[Any],
        storage: pykka.ActorRef[Any],
        seed: int,
        workers: int,
        *,
        interactive: bool,
    ) -> None:
        self.name = name
        self._line = LineElsewhere(dispatcher, seed, workers, interactive=interactive)
        retries = Retries(dispatcher.services.random)
        self._remote = dispatcher.start(RemoteReplica, storage, cast(Any, self._line), self._line.reach(), retries)
        controller.tell(AddReplica(name, self._remote, interactive=interactive))

    @property
    def running(self) -> Replica | None:
        return self._line.running

    @property
    def endpoint(self) -> pykka.ActorRef[Any]:
        return self._remote

    def drop(self) -> None:
        self._line.break_off()

    def restart(self) -> None:
        self._line.break_off()


def actor_of(ref: pykka.ActorRef[Any]) -> Worker:
    """The worker that a reference leads to. In a simulation everything is on one thread."""
    actor = getattr(ref, "_actor", None)
    assert isinstance(actor, Worker), "a simulation's reference leads to its actor"
    return actor
