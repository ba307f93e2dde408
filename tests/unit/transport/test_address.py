"""Addresses: parsed, listened on, in use, left over."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from pillion.actors.transport.address import (
    Address,
    TcpAddress,
    UnixAddress,
    connect,
    forget,
    listen,
    parse_address,
)
from pillion.actors.transport.errors import AddressError, Unreachable


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("tcp://127.0.0.1:2101", TcpAddress("127.0.0.1", 2101)),
        ("127.0.0.1:2101", TcpAddress("127.0.0.1", 2101)),
        ("tcp://example.org:0", TcpAddress("example.org", 0)),
        ("tcp://[::1]:2101", TcpAddress("::1", 2101)),
        ("unix:///run/pillion socket", UnixAddress("/run/pillion socket")),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert parse_address(str(address)) == address


@pytest.mark.parametrize("text", ["", "2101", "localhost", "tcp://h:65536", "unix://relative", "http://h:1", "h:1/x"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(AddressError, match="is no address: expected tcp://HOST:PORT or unix:///PATH"):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "loopback"),
    [("127.0.0.1:1", True), ("localhost:1", True), ("[::1]:1", True), ("unix:///s", True), ("0.0.0.0:1", False)],
)
def test_which_addresses_only_this_machine_reaches(text: str, loopback: bool) -> None:
    assert parse_address(text).is_loopback is loopback


def test_port_0_becomes_one_that_is_free() -> None:
    listening, address = listen(TcpAddress("127.0.0.1", 0))
    with listening:
        assert isinstance(address, TcpAddress)
        assert address.port != 0
        connect(address, 5.0).close()


def test_a_port_in_use() -> None:
    listening, address = listen(TcpAddress("127.0.0.1", 0))
    with listening, pytest.raises(AddressError, match=f"cannot listen on {address}: it is in use"):
        listen(address)


def test_nobody_listens() -> None:
    listening, address = listen(TcpAddress("127.0.0.1", 0))
    listening.close()
    with pytest.raises(Unreachable, match=f"no replica answers at {address}: "):
        connect(address, 5.0)


def test_a_unix_socket_is_for_its_owner_and_goes_away(tmp_path: Path) -> None:
    address = UnixAddress(str(tmp_path / "socket"))
    listening, _ = listen(address)
    with listening:
        assert stat.S_IMODE(os.stat(address.path).st_mode) == 0o600
        connect(address, 5.0).close()
        with pytest.raises(AddressError, match="it is in use"):
            listen(address)
        connect(address, 5.0).close()
    forget(address)
    assert not Path(address.path).exists()
    forget(address)


def test_what_a_killed_process_left_behind_is_no_obstacle(tmp_path: Path) -> None:
    address = UnixAddress(str(tmp_path / "socket"))
    listening, _ = listen(address)
    listening.close()
    again, _ = listen(address)
    with again:
        connect(address, 5.0).close()


def test_a_file_is_not_taken_for_a_socket(tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("rows", encoding="utf-8")
    with pytest.raises(AddressError, match="cannot listen on"):
        listen(UnixAddress(str(path)))
    assert path.read_text(encoding="utf-8") == "rows"


@pytest.mark.parametrize("path", ["/nowhere/at/all", "/" + "x" * 200, "/nul\0inside"])
def test_paths_that_cannot_be(path: str) -> None:
    with pytest.raises(AddressError):
        listen(UnixAddress(path))


def test_nobody_resolves_such_a_name() -> None:
    with pytest.raises(AddressError, match="cannot listen on tcp://no host"):
        listen(TcpAddress("no host", 1))
    assert socket.getdefaulttimeout() is None
