"""Where a replica listens: ``tcp://host:port`` or ``unix:///path``."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import AddressError, Unreachable

_TCP = re.compile(r"(?:tcp://)?(?:\[(?P<v6>[0-9a-fA-F:.%\w]+)\]|(?P<host>[^\s/:\[\]]+)):(?P<port>\d{1,5})")
_UNIX = re.compile(r"unix://(?P<path>/.+)", re.DOTALL)

_BACKLOG = 16
_KEEPALIVE = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
"""A machine that vanished without a word is noticed after 25 seconds."""


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """A host and a port; port 0 lets the system choose one that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"tcp://[{self.host}]:{self.port}" if ":" in self.host else f"tcp://{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host == "localhost" or self.host == "::1" or self.host.startswith("127.")


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """The path of a Unix socket."""

    path: str

    def __str__(self) -> str:
        return f"unix://{self.path}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return True


Address = TcpAddress | UnixAddress


def parse_address(text: str) -> Address:
    """Read ``tcp://127.0.0.1:2101``, the same without ``tcp://``, ``tcp://[::1]:2101`` or ``unix:///run/pillion``.

    Raises:
        AddressError: it is none of these.
    """
    found = _UNIX.fullmatch(text)
    if found is not None:
        return UnixAddress(found["path"])
    found = _TCP.fullmatch(text)
    if found is None or int(found["port"]) > 65535:
        raise AddressError(f"{text!r} is no address: expected tcp://HOST:PORT or unix:///PATH")
    return TcpAddress(found["v6"] or found["host"], int(found["port"]))


def connect(address: Address, seconds: float) -> socket.socket:
    """A connected socket.

    Raises:
        Unreachable: nobody listens there, or not within so many seconds.
    """
    try:
        if isinstance(address, UnixAddress):
            connected = _unix_socket(address)
            try:
                connected.settimeout(seconds)
                connected.connect(address.path)
            except BaseException:
                connected.close()
                raise
        else:
            connected = socket.create_connection((address.host, address.port), timeout=seconds)
    except OSError as error:
        raise Unreachable(str(address), error.strerror or str(error)) from None
    prepare(connected)
    return connected


def prepare(connected: socket.socket) -> None:
    """Have a connected socket send small messages at once, and notice a machine that vanished."""
    if connected.family in (socket.AF_INET, socket.AF_INET6):
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE:
            option = getattr(socket, name, None)
            if option is not None:
                connected.setsockopt(socket.IPPROTO_TCP, option, value)


def listen(address: Address) -> tuple[socket.socket, Address]:
    """A listening socket, and where it listens (the port that the system chose, if it did).

    Raises:
        AddressError: somebody listens there already, or nobody may.
    """
    try:
        return _listen_on_path(address) if isinstance(address, UnixAddress) else _listen_on_port(address)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        problem = "it is in use; stop what listens there, or choose another" if taken else error.strerror or str(error)
        raise AddressError(f"cannot listen on {address}: {problem}") from None


def forget(address: Address) -> None:
    """Remove what listening left in the file system. No effect on what is not there."""
    if isinstance(address, UnixAddress):
        Path(address.path).unlink(missing_ok=True)


def _listen_on_port(address: TcpAddress) -> tuple[socket.socket, Address]:
    family, kind, protocol, _, place = _resolve(address)
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            # Else the port of a process that has just ended could not be taken for a minute.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(_BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening, TcpAddress(address.host, listening.getsockname()[1])


def _resolve(address: TcpAddress) -> tuple[Any, Any, int, str, Any]:
    return socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]


def _listen_on_path(address: UnixAddress) -> tuple[socket.socket, Address]:
    listening = _unix_socket(address)
    try:
        _remove_left_over(address)
        # For its owner alone. The mask is the process' own, but the process has only just begun.
        mask = os.umask(0o177)
        try:
            listening.bind(address.path)
        finally:
            os.umask(mask)
        listening.listen(_BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening, address


def _remove_left_over(address: UnixAddress) -> None:
    """Remove the socket of a process that was killed: one on which nobody listens."""
    path = Path(address.path)
    try:
        if not stat.S_ISSOCK(path.stat().st_mode):
            return
    except FileNotFoundError:
        return
    with _unix_socket(address) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(address.path)
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)


def _unix_socket(address: UnixAddress) -> socket.socket:
    family = getattr(socket, "AF_UNIX", None)
    if family is None:
        raise AddressError(f"{address}: this system has no Unix sockets; use tcp://127.0.0.1:PORT")
    try:
        os.fsencode(address.path).index(b"\0")
    except ValueError:
        return socket.socket(family, socket.SOCK_STREAM)
    raise AddressError(f"{str(address)!r}: a path has no NUL in it")
