"""What a process does for one controller: runtimes of its own, from the first message to the last.

Every connection gets fresh runtimes. What an older controller had built is of no use to a newer one: the changes of its
shards that were on their way when its connection ended are lost, and the shards themselves live in its process. A
controller that says ``Hello`` again on the *same* connection finds everything in place, and reconciles.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

import pykka

from ..dispatch.base import SystemActor
from ..dispatch.threaded import ThreadedDispatcher
from ..metrics.system import SystemMetrics
from ..multiplexer.replica import Replica
from ..process.memory import Memory
from ..transport.connection import Connection
from ..transport.errors import ConnectionEnded, TransportError
from ..transport.remote_system import FromSystem, RemoteSystem, Serve
from ..transport.wire import Ended
from ..worker.counters import sum_counters
from ..worker.messages import ReadCounters
from .options import Options

_CORE = "core"
"""The lane of the actors that only pass things on."""

_COUNTERS_SECONDS = 30.0
"""That workers may take to say what they counted."""

_LAST_WORDS_SECONDS = 2.0
"""That the controller may take to read why the connection ends."""


class _WatchedDispatcher(ThreadedDispatcher):
    """Tells when its actors fail."""

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        super().__init__()
        self._failed = failed

    def fail(self, actor: SystemActor, error: BaseException) -> None:
        is_first = self.failure is None
        super().fail(actor, error)
        if is_first and self.failure is error:
            self._failed(error)


class Session:
    """The runtimes that one controller has, and the connection to it."""

    def __init__(self, options: Options, connection: Connection, failed: Callable[[BaseException], None]) -> None:
        """Start the runtimes, and begin to listen to the controller.

        Args:
            failed: hears, once, what failed the runtimes.
        """
        self._connection = connection
        self._ending = threading.Lock()
        self._dispatcher = _WatchedDispatcher(failed)
        self.metrics = SystemMetrics(self._dispatcher)
        """What its runtimes measure."""
        try:
            self._system = self._dispatcher.start(RemoteSystem, connection, self._read_counters, lane=_CORE)
            self._replica = Replica.start(
                self._dispatcher,
                self._system,
                options.maintenance.workers,
                interactive=options.interactive is not None,
                trust=options.trust,
                lane=_CORE,
                metrics=self.metrics,
                memory=Memory(),
            )
            self._system.tell(Serve(self._replica.endpoint))
        except BaseException:
            self._dispatcher.stop()
            raise

    def begin(self, ended: Callable[[TransportError], None]) -> None:
        """Listen to the controller. ``ended`` hears why the connection is no more."""
        system = self._system

        def received(message: Any) -> None:
            # After a failure nobody listens; whoever was told of it ends the connection, and says why.
            with suppress(pykka.ActorDeadError):
                system.tell(FromSystem(message))

        self._connection.start(received, ended)

    def end(self, last_words: Ended) -> None:
        """Tell the controller why, end the connection and stop the runtimes. May be called again, also by another
        thread, which then waits for the same, and after they failed."""
        with self._ending:
            if self._connection.is_open:
                self._connection.send(last_words)
                self._connection.finish(ConnectionEnded(last_words.reason), _LAST_WORDS_SECONDS)
            self._dispatcher.stop()
        # Not before: the reading thread ends the session, too, when there is nothing more to read.
        self._connection.join()

    def _read_counters(self, told: Callable[[dict[str, int]], None]) -> None:
        """Ask the workers what they counted, on a thread that may wait for them."""

        def run() -> None:
            try:
                told(sum_counters(_ask(self._replica.workers), _ask(self._replica.interactive)))
            except (pykka.ActorDeadError, pykka.Timeout):
                return  # Whoever asked hears why the connection ends, or has given up by then.

        threading.Thread(target=run, name="pillion-counters", daemon=True).start()


def _ask(workers: Sequence[pykka.ActorRef[Any]]) -> list[dict[str, int]]:
    return [cast(dict[str, int], worker.ask(ReadCounters(), timeout=_COUNTERS_SECONDS)) for worker in workers]
