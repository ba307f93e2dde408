"""``pillion clusterd`` as a process: what it says, how it ends, and that nobody disturbs the controller it has."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pillion.actors import ActorSystem, CollectionError, ReplicaDown, WrongArgument, count, sum, udf, values
from pillion.actors.clusterd.process import ready_address
from pillion.actors.scripts.parse import parse_script
from pillion.actors.scripts.runner import run_script
from pillion.actors.transport.address import Address, connect, parse_address
from pillion.actors.transport.errors import TransportError, Unreachable, WrongSecret
from pillion.actors.transport.frames import frame
from pillion.actors.transport.handshake import greet_server
from pillion.actors.transport.line import ListeningReplica
from pillion.actors.transport.opening import open_connection
from pillion.actors.transport.retry import Backoff
from pillion.actors.transport.secret import SECRET_VARIABLE, Secret
from pillion.actors.transport.wire import Open
from pillion.messages.encoding import encode
from pillion.messages.errors import UntrustedFunctionError

WAIT = 60.0
"""Seconds; long before they pass, something is wrong."""

SECRET = "the secret of these tests, and of no others"
LAYOUT = '{"workers":%d,"process":0,"addresses":["127.0.0.1:2103"]}'


class Clusterd:
    """A process that listens."""

    def __init__(self, listen: str, *options: str, workers: int = 1) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--controller-listen-addr", listen, "--compute-timely-config", LAYOUT % workers, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, SECRET_VARIABLE: SECRET},
        )
        assert self.process.stdout is not None
        address = ready_address(self.process.stdout.readline())
        assert address is not None, self.process.communicate(timeout=WAIT)[1]
        self.address = address

    @property
    def target(self) -> ListeningReplica:
        return ListeningReplica(parse_address(self.address), Secret(SECRET.encode()))

    def system(self) -> ActorSystem:
        return ActorSystem(replica=self.address)

    def ended(self) -> tuple[int, str]:
        """The exit code, and what stands on its standard error."""
        _, errors = self.process.communicate(timeout=WAIT)
        return self.process.returncode, errors


QUICK = Backoff(first=0.01, longest=0.05, many=3)
COMMAND = (sys.executable, "-m", "pillion.actors.cli.main", "clusterd")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


@pytest.fixture
def start() -> Iterator[Callable[..., Clusterd]]:
    started: list[Clusterd] = []

    def starter(listen: str = "tcp://127.0.0.1:0", *options: str, workers: int = 1) -> Clusterd:
        process = Clusterd(listen, *options, workers=workers)
        started.append(process)
        return process

    yield starter
    for each in started:
        each.process.kill()
        each.process.communicate(timeout=WAIT)


@pytest.fixture
def clusterd(start: Callable[..., Clusterd]) -> Clusterd:
    return start()


@pytest.fixture(params=["tcp", "unix"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path, start: Callable[..., Clusterd]) -> Clusterd:
    """A process that listens in one of the two ways."""
    return start("127.0.0.1:0" if request.param == "tcp" else f"unix://{tmp_path}/socket")


def fill(system: ActorSystem) -> None:
    """A table, and an index on a view of it."""
    orders = system.create_table("orders", {"id": int, "region": "text?", "amount": float}, key=["id"])
    totals = system.view("totals", orders.group_by("region").agg(total=sum("amount"), n=count()))
    system.create_index(totals, key=["region"], name="index")
    orders.insert([(1, "north", 9.5), (2, "south", 1.0), (3, "north", 0.5), (4, None, 2.0)])


def north(system: ActorSystem) -> list[tuple[object, ...]]:
    return system["index"].lookup("north").rows()  # type: ignore[union-attr]


# --- A system on it -------------------------------------------------------------------------------------------------


def test_a_system_reads_writes_and_leaves(anywhere: Clusterd, tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with anywhere.system() as system:
        fill(system)
        assert north(system) == [("north", 10.0, 2)]
        orders = system["orders"]
        assert sorted(system.query(orders.select("id")).rows()) == [(1,), (2,), (3,), (4,)]  # type: ignore[union-attr]
        view = system.materialized_view("view", orders.group_by("region").agg(n=count()), wait=True)  # type: ignore[union-attr]
        assert set(system.query(view).rows()) == {("north", 2), ("south", 1), (None, 1)}
        with system.subscribe(view) as changes:
            assert {change.row for change in next(iter(changes))} == {("north", 2), ("south", 1), (None, 1)}
        orders.delete(keys=[4])  # type: ignore[union-attr]
        assert set(system.query(view).rows()) == {("north", 2), ("south", 1)}
        assert system.copy_to(view, str(tmp_path / "view.csv")) == 2
    assert set(threading.enumerate()) <= before
    # The next one finds nothing of it.
    with anywhere.system() as system:
        assert system.collections() == tuple(info for info in system.collections() if info.kind.value != "table")
        fill(system)
        assert north(system) == [("north", 10.0, 2)]


def test_a_system_needs_the_secret(clusterd: Clusterd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "not the secret of these tests")
    with pytest.raises(WrongSecret, match="has another secret"):
        clusterd.system()
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    with ActorSystem(replica=clusterd.address, secret_file=file) as system:
        fill(system)
        assert north(system) == [("north", 10.0, 2)]


def test_nobody_listens() -> None:
    before = set(threading.enumerate())
    with pytest.raises(Unreachable, match=r"no replica answers at unix:///nowhere: No such file"):
        ActorSystem(replica="unix:///nowhere")
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"replica": "elsewhere"}, "replica is 'process', tcp://HOST:PORT or unix:///PATH, and 'elsewhere' was given"),
        ({"replica": 2101}, "and 2101 was given"),
        ({"replica": "tcp://127.0.0.1:1", "workers": 2}, "has the workers that it was started with"),
        ({"replica": "process", "secret_file": "secret"}, "secret_file is for a replica at an address"),
        ({"secret_file": "secret"}, "secret_file is for a replica at an address"),
    ],
)
def test_arguments_that_do_not_go_together(arguments: dict[str, object], problem: str) -> None:
    with pytest.raises(WrongArgument, match=problem):
        ActorSystem(**arguments)  # type: ignore[arg-type]


def test_a_second_system_takes_the_replica_over(clusterd: Clusterd) -> None:
    with clusterd.system() as first, clusterd.system() as second:
        fill(first)
        fill(second)
        assert north(second) == [("north", 10.0, 2)]
        with pytest.raises(ReplicaDown, match=r"process \d+ has taken the replica over"):
            # It comes to know of that while it waits, or knows already.
            north(first)
        # Its tables are its own, and it does not take the replica back.
        first["orders"].insert([(9, "east", 1.0)])  # type: ignore[union-attr]
        with pytest.raises(ReplicaDown):
            north(first)
        assert north(second) == [("north", 10.0, 2)]


def test_python_functions_need_trust(start: Callable[..., Clusterd]) -> None:
    with start().system() as system:
        fill(system)
        orders = system["orders"]
        twice = udf(float)(lambda amount: 2 * amount)
        with pytest.raises(UntrustedFunctionError, match="refused"):
            system.query(orders.select(twice=twice("amount")))  # type: ignore[union-attr]
        assert north(system) == [("north", 10.0, 2)]
    with start("127.0.0.1:0", "--trust").system() as system:
        fill(system)
        orders = system["orders"]
        rows = system.query(orders.select(twice=twice("amount"))).rows()  # type: ignore[union-attr]
        assert sorted(rows) == [(1.0,), (2.0,), (4.0,), (19.0,)]


def test_messages_that_are_too_large_are_errors(start: Callable[..., Clusterd]) -> None:
    with start("127.0.0.1:0", "--max-message-size", "65536").system() as system:
        fill(system)
        large = system.create_table("large", {"text": str})
        large.insert([(f"{number}" * 500,) for number in range(100)])
        with pytest.raises(CollectionError, match="do not fit into a message between processes, which has 65536"):
            system.query(large)
        with pytest.raises(CollectionError, match="do not fit into a message"):
            system.query(large.distinct())
        with pytest.raises(TransportError, match="do not fit into a message"):
            system.query(values({"text": str}, [("x" * 1000,) for _ in range(100)]))
        # What is larger than any table is nothing to be refused.
        assert len(system.query(system["orders"], limit=10**30).rows()) == 4  # type: ignore[arg-type]
        assert len(system.query(system["orders"].top(10**30, by="id")).rows()) == 4  # type: ignore[union-attr]
        assert north(system) == [("north", 10.0, 2)]


# --- Those who have no business there -------------------------------------------------------------------------------


def intruders(address: Address) -> list[Callable[[socket.socket], None]]:
    """What comes to a listening process, besides controllers."""

    def garbage(peer: socket.socket) -> None:
        peer.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def too_short(peer: socket.socket) -> None:
        peer.sendall(b"pill")
        peer.shutdown(socket.SHUT_WR)

    def wrong_secret(peer: socket.socket) -> None:
        with pytest.raises(WrongSecret):
            greet_server(peer, Secret(b"some other secret than theirs"))

    def wrong_version(peer: socket.socket) -> None:
        with pytest.raises(Exception, match="the peer speaks version 1 of the transport, this process version 99"):
            greet_server(peer, Secret(SECRET.encode()), version=99)

    def too_large(peer: socket.socket) -> None:
        greet_server(peer, Secret(SECRET.encode()))
        peer.sendall(b"\xff\xff\xff\xff")

    def no_message(peer: socket.socket) -> None:
        greet_server(peer, Secret(SECRET.encode()))
        peer.sendall(frame(b"\x93\x01\x02\x03"))

    def truncated(peer: socket.socket) -> None:
        greet_server(peer, Secret(SECRET.encode()))
        peer.sendall(frame(encode(Open("a test", 1000)))[:-1])
        peer.shutdown(socket.SHUT_WR)

    def silent(peer: socket.socket) -> None:
        """It says nothing for as long as the others are there."""

    return [silent, garbage, too_short, wrong_secret, wrong_version, too_large, no_message, truncated]


def test_nobody_else_disturbs_the_controller(clusterd: Clusterd) -> None:
    address = parse_address(clusterd.address)
    with clusterd.system() as system:
        fill(system)
        peers: list[socket.socket] = []
        for number, intrude in enumerate(intruders(address)):
            peer = connect(address, WAIT)
            peers.append(peer)
            peer.settimeout(WAIT)
            intrude(peer)
            if number:
                while True:  # Until the process has hung up.
                    try:
                        if not peer.recv(1000):
                            break
                    except ConnectionResetError:
                        break
            assert north(system) == [("north", 10.0, 2)]
        for peer in peers:
            peer.close()
    clusterd.process.send_signal(signal.SIGTERM)
    code, errors = clusterd.ended()
    assert code == 0
    for problem in ("began with b'GET / HT'", "in the middle of the handshake", "another secret", "version 99"):
        assert problem in errors
    assert SECRET not in errors


@pytest.mark.parametrize(
    "said", [b"\xff\xff\xff\xff", frame(b"garbage"), frame(b"\x81\xa3tag\xa4wave")], ids=["large", "garbage", "tag"]
)
def test_a_controller_that_breaks_the_rules_is_left_and_the_next_one_served(clusterd: Clusterd, said: bytes) -> None:
    peer = connect(parse_address(clusterd.address), WAIT)
    duplicate = peer.dup()
    link = open_connection(peer, Secret(SECRET.encode()), "a test")
    with duplicate:
        duplicate.settimeout(WAIT)
        duplicate.sendall(said)
        while duplicate.recv(1000):
            continue
    link.connection.end(Unreachable("", "over"))
    with clusterd.system() as system:
        fill(system)
        assert north(system) == [("north", 10.0, 2)]


# --- How it ends ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it(anywhere: Clusterd, signal_number: int) -> None:
    with anywhere.system() as system:
        fill(system)
        assert north(system) == [("north", 10.0, 2)]
        anywhere.process.send_signal(signal_number)
        code, errors = anywhere.ended()
        assert code == 0
        assert "Traceback" not in errors
    if anywhere.address.startswith("unix://"):
        assert not Path(anywhere.address.removeprefix("unix://")).exists()


def test_the_end_of_its_input_stops_it(start: Callable[..., Clusterd]) -> None:
    process = start("127.0.0.1:0", "--stop-at-end-of-input")
    assert process.ended() == (0, "")


def test_a_runtime_that_fails_ends_it(clusterd: Clusterd) -> None:
    script = parse_script(
        "create-instance\n----\n\ninitialization-complete\n----\n\nreconnect\n----\n\n"
        "create-instance expiration-offset=5s\n----\n\ninitialization-complete\n----\n"
    )
    outputs = run_script(script, target=clusterd.target)
    assert "created with another configuration" in outputs[-1][0]
    code, errors = clusterd.ended()
    assert code == 3
    assert "pillion: a runtime failed: IncompatibleInstance: the replica was created with another" in errors


def test_a_process_that_is_gone_for_good(start: Callable[..., Clusterd], monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads end with an error; they neither wait for ever nor end the system."""
    monkeypatch.setattr("pillion.actors.system.wiring.BACKOFF", QUICK)
    process = start()
    with process.system() as system:
        fill(system)
        assert north(system) == [("north", 10.0, 2)]
        process.process.kill()
        with pytest.raises(ReplicaDown, match=f"nothing can be read: {process.address}"):
            north(system)
        with pytest.raises(ReplicaDown):
            system.query(system["orders"])  # type: ignore[arg-type]
        system["orders"].insert([(5, "north", 1.0)])  # type: ignore[union-attr]


def test_a_process_that_comes_back(start: Callable[..., Clusterd], tmp_path: Path) -> None:
    address = f"unix://{tmp_path}/socket"
    first = start(address)
    with first.system() as system:
        fill(system)
        assert north(system) == [("north", 10.0, 2)]
        first.process.kill()
        first.process.wait(WAIT)
        system["orders"].insert([(5, "north", 1.0)])  # type: ignore[union-attr]
        answers: queue.SimpleQueue[object] = queue.SimpleQueue()
        reader = threading.Thread(target=lambda: answers.put(eventually(lambda: north(system))))
        reader.start()
        start(address)
        assert answers.get(timeout=WAIT) == [("north", 11.0, 3)]
        reader.join()


def eventually(read: Callable[[], object]) -> object:
    """What a read answers once the replica is there."""
    while True:
        try:
            return read()
        except ReplicaDown:
            continue


# --- Where it cannot listen -----------------------------------------------------------------------------------------


def test_an_address_in_use(anywhere: Clusterd) -> None:
    arguments = [*COMMAND, "--compute-timely-config", LAYOUT % 1, "--controller-listen-addr", anywhere.address]
    ended = subprocess.run(arguments, capture_output=True, text=True, timeout=WAIT, check=False)
    assert ended.returncode == 2
    assert ended.stderr == (
        f"pillion: cannot listen on {anywhere.address}: it is in use; stop what listens there, or choose another\n"
    )
    with anywhere.system() as system:
        fill(system)
        assert north(system) == [("north", 10.0, 2)]
