"""Metrics over HTTP, for a process that nobody embeds."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.registry import Collector

from ..transport.address import TcpAddress
from ..transport.errors import AddressError
from .exposition import SystemCollector
from .system import SystemMetrics


class MetricsEndpoint:
    """Answers every ``GET`` with the metrics of the present moment, on threads of its own, until it is stopped.

    There is no secret: whoever can reach the address can read the metrics, which tell the ids of collections and how
    much is done with them, and nothing of the data.

    Args:
        address: where to listen; port 0 lets the system choose one that is free.
        metrics: those to show now; None when there are none.

    Raises:
        AddressError: somebody listens there already, or nobody may.
    """

    def __init__(self, address: TcpAddress, metrics: Callable[[], SystemMetrics | None]) -> None:
        registry = CollectorRegistry()
        registry.register(_Present(metrics))
        try:
            self._server, self._thread = start_http_server(address.port, address.host, registry)
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            problem = "it is in use; stop what listens there, or choose another" if taken else error.strerror or error
            raise AddressError(f"cannot serve metrics on {address}: {problem}") from None
        self.address = TcpAddress(address.host, self._server.server_port)
        """Where it listens."""

    def stop(self) -> None:
        """Listen no longer. May be called again."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Present(Collector):
    """What is there to measure at the moment of each look."""

    def __init__(self, metrics: Callable[[], SystemMetrics | None]) -> None:
        self._metrics = metrics

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        metrics = self._metrics()
        if metrics is not None:
            yield from SystemCollector(metrics).collect()
