"""One run of a script: a fresh replica, here or in another process, what the script has defined, and how a directive
becomes output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import pykka

from ...messages.commands import UpdateConfiguration
from ...messages.ids import GlobalId
from ..dispatch.oneshot import OneShot
from ..dispatch.threaded import ThreadedDispatcher
from ..multiplexer.replica import Replica
from ..recorder.recorder import Recorder
from ..recorder.recording import begin_recording
from ..recorder.tap import CONTROLLER, REPLICA, STORAGE, Tap
from ..settings import INTROSPECTION_PATIENCE
from ..storage.messages import CreateShard
from ..storage.storage import Storage
from ..transport.line import Line, Target
from ..transport.remote_replica import AskCounters, RemoteReplica
from ..worker.counters import sum_counters
from ..worker.messages import ReadCounters
from .catalog import Catalog, Shard
from .client import Client

_FIRST_EPHEMERAL = 900_000_000
"""Transient ids from here on are the runner's own."""


class Session:
    """A replica, driven by one script; its shards are in this process. A context manager: leaving it stops every actor.

    Attributes:
        timeout: seconds that a directive may wait, unless it says otherwise.
    """

    def __init__(
        self,
        workers: int,
        timeout: float,
        target: Target | None = None,
        *,
        interactive: bool = False,
        record: Path | None = None,
    ) -> None:
        """
        Args:
            target: a replica in another process, which has runtimes of its own, instead of a fresh one here.
            interactive: the fresh one has a second runtime.
            record: the file of a message log that is to be written.

        Raises:
            LogExists, LogMissing: nothing can be recorded there.
        """
        self.timeout = timeout
        self._recording = (
            None
            if record is None
            else begin_recording(record, "normal", workers=workers, interactive=interactive, settings={})
        )
        self.catalog = Catalog()
        self._dispatcher = ThreadedDispatcher()
        self.storage: pykka.ActorRef[Any] = self._dispatcher.start(Storage)
        self._line = None if target is None else Line(target)
        try:
            self._replica, self._endpoint = self._start(workers, self._line, interactive)
            if self._recording is not None:
                self._recording.start(
                    self._dispatcher.start(Recorder, self._recording), self._dispatcher.services.clock
                )
                self.storage = Tap(self.storage, CONTROLLER, STORAGE, self._recording)
                self._endpoint = Tap(self._endpoint, CONTROLLER, REPLICA, self._recording)
            self.client = Client(self._dispatcher, self._endpoint, timeout)
            self.client.connect()
            there = None if self._line is None else self._line.replica
            if interactive or (there is not None and there.interactive):
                # What a script prints must not depend on how busy the machine is.
                self._endpoint.tell(UpdateConfiguration(((INTROSPECTION_PATIENCE.name, timeout),)))
        except BaseException:
            self._stop()
            raise
        self._ephemeral = _FIRST_EPHEMERAL
        self._created: set[str] = set()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _start(self, workers: int, line: Line | None, interactive: bool) -> tuple[Replica | None, pykka.ActorRef[Any]]:
        """The replica, if it is in this process, and where commands go."""
        if line is None:
            replica = Replica.start(self._dispatcher, self.storage, workers, interactive=interactive, trust=True)
            return replica, replica.endpoint
        return None, self._dispatcher.start(RemoteReplica, self.storage, line, line.reach())

    def _stop(self) -> None:
        self._dispatcher.stop()
        if self._line is not None:
            self._line.stop()
        if self._recording is not None:
            self._recording.close("complete" if self.failure is None else f"the replica failed: {self.failure}")

    def ask_storage(self, make: Callable[[OneShot[Any]], object]) -> Any:
        """Send the storage a request made with a fresh reply; its answer.

        Raises:
            PillionError: the storage refuses it.
        """
        reply = self._dispatcher.reply()
        self.storage.tell(make(reply))
        return reply.get(timeout=self.timeout)

    def ensure_shard(self, shard: Shard) -> None:
        """Have the storage know a shard, so that what reads or writes it can wait for its first write."""
        if shard.name not in self._created:
            self._created.add(shard.name)
            self.ask_storage(lambda reply: CreateShard(shard.id, shard.schema, reply=reply))

    def ephemeral_id(self) -> GlobalId:
        """A transient id that no script uses."""
        self._ephemeral += 1
        return GlobalId("t", self._ephemeral)

    def fresh_uuid(self) -> str:
        return self._dispatcher.services.ids.fresh()

    def counters(self) -> dict[str, int]:
        """The counters of the replica."""
        if self._replica is None:
            reply = self._dispatcher.reply()
            self._endpoint.tell(AskCounters(reply))
            return reply.get(timeout=self.timeout)

        def ask(workers: Sequence[pykka.ActorRef[Any]]) -> list[dict[str, int]]:
            return [cast(dict[str, int], worker.ask(ReadCounters(), timeout=self.timeout)) for worker in workers]

        return sum_counters(ask(self._replica.workers), ask(self._replica.interactive))

    @property
    def failure(self) -> BaseException | None:
        """What made the replica fail, if it failed."""
        return self._dispatcher.failure
