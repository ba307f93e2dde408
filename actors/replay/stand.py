"""Where a recording is replayed: a fresh storage, and a replica for each that was recorded."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any, ClassVar

import pykka

from ...messages.commands import Command
from ..controller.messages import Connect, FromReplica
from ..dispatch.base import Dispatcher, SystemActor
from ..dispatch.oneshot import OneShot, Stream
from ..multiplexer.replica import Replica
from ..storage.storage import Storage
from ..transport.line import Line, Target
from ..transport.remote_replica import RemoteReplica
from ..worker.messages import Barrier


class Ear(SystemActor):
    """Stands in the controller's place and passes on what it hears."""

    handlers: ClassVar = {FromReplica: "heard"}

    def __init__(self, heard: Stream[FromReplica]) -> None:
        super().__init__()
        self._heard = heard

    def heard(self, message: FromReplica) -> None:
        self._heard.put(message)


class Stand:
    """A context manager: leaving it stops every actor.

    Attributes:
        heard: what the replicas say.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        replicas: Iterable[str],
        *,
        workers: int = 1,
        interactive: bool = False,
        trust: bool = False,
        target: Target | None = None,
    ) -> None:
        """
        Args:
            replicas: how the replicas are called in the recording.
            workers: of each runtime of each replica.
            interactive: with a second runtime, which answers reads.
            trust: run the Python functions in plans and predicates.
            target: the only replica, in another process, which has runtimes of its own.

        Raises:
            TransportError: the replica cannot be reached.
        """
        self.dispatcher = dispatcher
        self._line = None if target is None else Line(target)
        self.storage: pykka.ActorRef[Any] = dispatcher.start(Storage, trust=trust)
        self.heard: Stream[FromReplica] = dispatcher.stream()
        self._endpoints: dict[str, pykka.ActorRef[Any]] = {}
        self.replicas: dict[str, Replica] = {}
        """Those in this process."""
        try:
            ear = dispatcher.start(Ear, self.heard)
            for name in replicas:
                self._endpoints[name] = self._start(name, workers, interactive, trust)
                self._endpoints[name].tell(Connect(name, ear))
        except BaseException:
            self.stop()
            raise

    def _start(self, name: str, workers: int, interactive: bool, trust: bool) -> pykka.ActorRef[Any]:
        if self._line is not None:
            return self.dispatcher.start(RemoteReplica, self.storage, self._line, self._line.reach())
        replica = Replica.start(self.dispatcher, self.storage, workers, interactive=interactive, trust=trust)
        self.replicas[name] = replica
        return replica.endpoint

    def __enter__(self) -> Stand:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End every actor and every connection."""
        self.dispatcher.stop()
        if self._line is not None:
            self._line.stop()

    def send(self, replica: str, command: Command) -> None:
        self._endpoints[replica].tell(command)

    def barriers(self) -> list[OneShot[Any]]:
        """Replies that come when everything that was sent to the replicas so far is handled."""
        replies: list[OneShot[Any]] = []
        for endpoint in self._endpoints.values():
            replies.append(self.dispatcher.reply())
            endpoint.tell(Barrier(replies[-1]))
        return replies

    @property
    def failure(self) -> BaseException | None:
        """What made the replica fail, if it failed."""
        return self.dispatcher.failure
