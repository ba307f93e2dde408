"""A replica's process that a system starts for itself, and starts again when it has ended."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from contextlib import suppress
from pathlib import Path

from ..dispatch.services import make_logger
from ..transport.address import Address, TcpAddress, UnixAddress, connect, parse_address
from ..transport.errors import TransportError, Unreachable
from ..transport.line import CONNECT_SECONDS
from ..transport.secret import SECRET_VARIABLE, Secret
from .config import TimelyConfig
from .process import STOP_SECONDS, ready_address

START_SECONDS = 60.0
"""That a process may take until it listens."""

COMMAND = ("-m", "pillion.actors.cli.main", "clusterd")

_LONGEST_PATH = 100
"""Of a Unix socket; some systems take no more than 104 bytes."""


class ReplicaProcess:
    """A ``pillion clusterd`` on this machine that belongs to one system.

    It hears of its secret through its environment, listens where nobody else finds it, and ends when this process
    does, however that ends. It loads the Python functions in plans, since they are the application's own.
    """

    def __init__(self, workers: int, *, interactive: bool = False) -> None:
        """``workers``: of each runtime. ``interactive``: with a second runtime, for reads."""
        self.secret = Secret(secrets.token_hex(32).encode())
        self._layout = TimelyConfig(workers, 0, ("127.0.0.1:0",))
        self._interactive = interactive
        self._folder = Path(tempfile.mkdtemp(prefix="pillion-"))
        self._remove_folder = weakref.finalize(self, shutil.rmtree, self._folder, True)
        self._lock = threading.Lock()
        """Of the attributes below."""
        self._process: subprocess.Popen[str] | None = None
        self._address: Address | None = None
        self._stopped = False
        self._log = make_logger("replica")

    @property
    def name(self) -> str:
        process = self._process
        return "a process of this system" if process is None else f"process {process.pid}"

    @property
    def pid(self) -> int | None:
        """The id of the process that runs; None when none does."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def reach(self) -> socket.socket:
        """A socket connected to the process, which is started unless it runs.

        Raises:
            Unreachable: it does not start.
        """
        address = self._running()
        if address is not None:
            try:
                return connect(address, CONNECT_SECONDS)
            except TransportError:
                # It runs and takes no connection: it is about to end, or of no use.
                self._end(signal.SIGTERM)
        return connect(self._start(), CONNECT_SECONDS)

    def provision(self, interactive: bool) -> None:
        """Whether the next process gets a second runtime; the one that runs keeps what it has."""
        self._interactive = interactive

    def stop(self) -> None:
        """End the process, and wait until it has ended. May be called again."""
        with self._lock:
            self._stopped = True
        self._end(signal.SIGTERM)
        self._remove_folder()

    def _running(self) -> Address | None:
        """Where the process listens, if it does; what is left of one that has ended is cleared away."""
        with self._lock:
            process = self._process
            if process is None:
                return None
            if process.poll() is None:
                return self._address
            self._process = None
        self._log.warning("the replica's process has ended", process=process.pid, status=_shown(process.returncode))
        _close(process)
        return None

    def _start(self) -> Address:
        with self._lock:
            if self._stopped:
                raise Unreachable(self.name, "it was stopped")
            process = self._process = self._spawn()
        assert process.stdout is not None, "it was asked for"
        timer = threading.Timer(START_SECONDS, process.kill)
        timer.daemon = True
        timer.start()
        try:
            address = next((found for found in map(ready_address, process.stdout) if found is not None), None)
        finally:
            timer.cancel()
            timer.join()  # It ends now, and no thread outlives what it was for.
        if address is None:
            status = _shown(process.wait())
            raise Unreachable(self.name, f"it ended before it listened, with {status}; its own output says why")
        self._address = parse_address(address)
        return self._address

    def _spawn(self) -> subprocess.Popen[str]:
        try:
            return subprocess.Popen(
                self._command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=self._environment(),
                # Ctrl-C is for the application, which ends its system in its own way.
                start_new_session=True,
            )
        except OSError as error:
            raise Unreachable(self.name, f"it cannot be started: {error.strerror or error}") from None

    def _command(self) -> list[str]:
        layout = self._layout.to_json()
        second = ["--interactive-compute-timely-config", layout] if self._interactive else []
        return [
            sys.executable,
            *COMMAND,
            "--controller-listen-addr",
            str(self._place()),
            "--compute-timely-config",
            layout,
            *second,
            "--trust",
            "--stop-at-end-of-input",
        ]

    def _place(self) -> Address:
        path = str(self._folder / "socket")
        if hasattr(socket, "AF_UNIX") and len(os.fsencode(path)) <= _LONGEST_PATH:
            return UnixAddress(path)
        return TcpAddress("127.0.0.1", 0)

    def _environment(self) -> dict[str, str]:
        # The functions in plans name modules, which are to be found where this process finds them.
        path = os.pathsep.join(entry for entry in sys.path if entry)
        return {**os.environ, SECRET_VARIABLE: self.secret.value.decode(), "PYTHONPATH": path}

    def _end(self, with_signal: int) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(with_signal)
        try:
            process.wait(STOP_SECONDS + 5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _close(process)


def _close(process: subprocess.Popen[str]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _shown(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"
