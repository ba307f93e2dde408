"""The line to a replica: whatever it takes to have a connection to it, again and again."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from ..dispatch.services import make_logger
from .address import Address, connect
from .connection import Limits
from .errors import ConnectionEnded, TransportError, Unreachable
from .opening import Link, open_connection
from .secret import Secret
from .wire import Opened

_log = make_logger("transport")

CONNECT_SECONDS = 10.0
"""That the other side may take to accept a connection."""


class Target(Protocol):
    """Where a replica is reached."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def secret(self) -> Secret:
        """What both sides know."""
        ...

    def reach(self) -> socket.socket:
        """A socket connected to it; waits as long as that takes, within a bound.

        Raises:
            TransportError: it cannot be reached.
        """
        ...

    def provision(self, interactive: bool) -> None:
        """Whenever it is started from now on: with a second runtime, or without."""
        ...

    def stop(self) -> None:
        """It is not needed any more. A ``reach`` on another thread ends soon."""
        ...


class ListeningReplica:
    """A replica that somebody else started and that listens at an address."""

    def __init__(self, address: Address, secret: Secret) -> None:
        self._address = address
        self.secret = secret

    @property
    def name(self) -> str:
        return str(self._address)

    def reach(self) -> socket.socket:
        return connect(self._address, CONNECT_SECONDS)

    def provision(self, interactive: bool) -> None:
        """Somebody else decides."""

    def stop(self) -> None:
        """It lives on: others may connect to it."""


class Line:
    """Makes connections to one replica, on the caller's thread or on its own, and ends them when it is stopped."""

    def __init__(self, target: Target, limits: Limits = Limits()) -> None:
        self._target = target
        self._limits = limits
        self._lock = threading.Lock()
        self._stopped = False
        self._socket: socket.socket | None = None
        """The one on which a handshake is under way."""
        self._links: list[Link] = []
        self._thread: threading.Thread | None = None
        self._replica: Opened | None = None

    @property
    def replica(self) -> Opened | None:
        """What the replica said of itself when it was reached last."""
        return self._replica

    @property
    def name(self) -> str:
        """What a person calls the replica."""
        return self._target.name

    def reach(self) -> Link:
        """A new connection to the replica, which forgets what it did for an older one.

        Raises:
            TransportError: it cannot be reached, or is not the one to talk to.
        """
        connected = self._target.reach()
        with self._lock:
            if self._stopped:
                connected.close()
                raise ConnectionEnded("the line was stopped")
            self._socket = connected
        try:
            link = open_connection(connected, self._target.secret, f"process {os.getpid()}", self._limits)
        finally:
            with self._lock:
                self._socket = None
        with self._lock:
            self._links = [each for each in self._links if each.connection.is_alive]
            self._links.append(link)
            self._replica = link.replica
            is_late = self._stopped
        if is_late:
            link.connection.end(ConnectionEnded("the line was stopped"))
        return link

    def dial(self, told: Callable[[Link | TransportError], None]) -> None:
        """Reach the replica on another thread, which tells what came of it. One at a time."""

        def run() -> None:
            try:
                outcome: Link | TransportError = self.reach()
            except TransportError as error:
                outcome = error
            except Exception as error:
                # A fault of this program: whoever waits for the replica must not wait for ever because of it.
                _log.error("connecting failed", exc_info=error)
                outcome = Unreachable(self.name, f"{type(error).__name__}: {error}")
            told(outcome)

        thread = threading.Thread(target=run, name="pillion-transport-dial", daemon=True)
        with self._lock:
            if self._stopped:
                return
            self._thread = thread
            thread.start()

    def provision(self, interactive: bool) -> None:
        """Whenever the replica is started from now on, if it is started here: with a second runtime, or without."""
        self._target.provision(interactive)

    def stop(self) -> None:
        """End every connection and wait for the threads. May be called again."""
        with self._lock:
            self._stopped = True
            connected, links, thread = self._socket, list(self._links), self._thread
        if connected is not None:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)
        for link in links:
            link.connection.end(ConnectionEnded("the system was stopped"))
        self._target.stop()
        if thread is not None:
            thread.join()
        with self._lock:
            links = list(self._links)
        for link in links:
            link.connection.join()
