"""One controller at a time: who connects, and whom that replaces."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable

from ..dispatch.services import make_logger
from ..metrics.system import SystemMetrics
from ..transport.address import prepare
from ..transport.errors import ConnectionEnded, PeerClosed, TransportError
from ..transport.opening import accept_connection, confirm_connection
from ..transport.wire import Ended, Open, Opened
from .options import Options
from .session import Session

ACCEPT_AGAIN_SECONDS = 0.5
"""After a connection could not be taken."""

MOST_HANDSHAKES = 16
"""Under way at once; more are turned away, so that strangers cost no more threads than that."""


class Host:
    """Takes connections, and runs what the controller that connected last asks for.

    Args:
        failed: hears what failed the runtimes of the present controller.
    """

    def __init__(self, options: Options, failed: Callable[[BaseException], None]) -> None:
        self._options = options
        self._failed = failed
        self._handshakes = threading.BoundedSemaphore(MOST_HANDSHAKES)
        self._turn = threading.Lock()
        """Held by whoever replaces the session, for as long as that takes."""
        self._lock = threading.Lock()
        """Of the attributes below."""
        self._session: Session | None = None
        self._latest: Session | None = None
        """The present session, or the one before: it may be about to end."""
        self._stopping = threading.Event()
        self._log = make_logger("clusterd")

    def listen(self, listening: socket.socket) -> None:
        """Take connections until the host is stopped, or the socket is closed."""
        while not self._stopping.is_set():
            try:
                connected, _ = listening.accept()
            except OSError as error:
                if listening.fileno() < 0:
                    return
                # It has too many files open, say: that may pass, but not at once.
                self._log.error("cannot take a connection", reason=error.strerror or str(error))
                self._stopping.wait(ACCEPT_AGAIN_SECONDS)
                continue
            if not self._handshakes.acquire(blocking=False):
                self._log.warning("turned a connection away", handshakes=MOST_HANDSHAKES)
                connected.close()
                continue
            threading.Thread(
                target=self._greet, args=(connected,), name="pillion-clusterd-handshake", daemon=True
            ).start()

    @property
    def metrics(self) -> SystemMetrics | None:
        """What is measured for the present controller; None when there is none."""
        session = self._session
        return None if session is None else session.metrics

    def _greet(self, connected: socket.socket) -> None:
        """Find out who has connected. The present controller does not notice those who are turned away."""
        try:
            prepare(connected)
            opened = accept_connection(connected, self._options.secret)
        except (TransportError, OSError) as error:
            self._log.warning("refused a connection", reason=str(error))
            connected.close()
            return
        finally:
            self._handshakes.release()
        self._take_over(connected, opened)

    def _take_over(self, connected: socket.socket, controller: Open) -> None:
        with self._turn:
            before, is_stopped = self._end_turn_of(None)
            if before is not None:
                before.end(Ended(f"{controller.name} has taken the replica over", again=False))
            if is_stopped:
                connected.close()
                return
            self._begin(connected, controller)

    def _begin(self, connected: socket.socket, controller: Open) -> None:
        options = self._options
        opened = Opened(
            workers=options.maintenance.workers,
            interactive=options.interactive is not None,
            trust=options.trust,
            process=os.getpid(),
            message_limit=options.limits.frame,
        )
        try:
            connection = confirm_connection(connected, controller, opened, options.limits)
        except TransportError as error:
            self._log.warning("a controller has gone again", controller=controller.name, reason=str(error))
            return
        try:
            session = Session(options, connection, self._failed)
        except BaseException as error:
            connection.end(ConnectionEnded(f"the runtimes cannot be started: {error}"))
            raise
        with self._lock:
            self._session = self._latest = session
        self._log.info("connected", controller=controller.name)

        def ended(reason: TransportError) -> None:
            # Free what the controller had, unless somebody else is at it.
            found, _ = self._end_turn_of(session)
            log = self._log.info if found is None or isinstance(reason, PeerClosed) else self._log.warning
            log("the connection ended", controller=controller.name, reason=str(reason))
            if found is not None:
                found.end(Ended("the connection ended", again=True))

        session.begin(ended)

    def _end_turn_of(self, session: Session | None) -> tuple[Session | None, bool]:
        """Take the present session away, if it is this one (None: whichever it is), so that one thread ends it; and
        whether the host was stopped."""
        with self._lock:
            found = self._session
            if found is None or (session is not None and found is not session):
                return None, self._stopping.is_set()
            self._session = None
            return found, self._stopping.is_set()

    def stop(self, last_words: Ended) -> None:
        """Take no more controllers, and end what the present one has."""
        with self._lock:
            self._stopping.set()
        with self._turn:
            self._end_turn_of(None)
            # Also one that its own thread is ending at this moment: the process must not end before.
            if self._latest is not None:
                self._latest.end(last_words)
