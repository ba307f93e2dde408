"""A replica in a process of its own: killed at any moment, it is started again and answers as if nothing had been."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pillion.actors import ActorSystem, ReplicaDown, Table, count, sum
from pillion.actors.clusterd.child import ReplicaProcess
from pillion.actors.scripts.parse import parse_script
from pillion.actors.scripts.runner import differences, run_script
from pillion.actors.transport.errors import Unreachable
from pillion.actors.transport.retry import Backoff

WAIT = 60.0
"""Seconds; long before they pass, something is wrong."""

SCRIPTS = sorted((Path(__file__).parents[1] / "spec").glob("*.spec"))
MODES = [(1, False), (2, True)]


@pytest.fixture(params=MODES, ids=["1 worker", "2 workers, two runtimes"])
def either(request: pytest.FixtureRequest) -> Iterator[ActorSystem]:
    """A system with one runtime, and one with two."""
    before = set(threading.enumerate())
    workers, interactive = request.param
    with ActorSystem(workers=workers, interactive=interactive, replica="process") as system:
        yield system
    assert set(threading.enumerate()) <= before


@pytest.fixture
def system() -> Iterator[ActorSystem]:
    before = set(threading.enumerate())
    with ActorSystem(workers=2, interactive=True, replica="process") as system:
        yield system
    assert set(threading.enumerate()) <= before


def process_of(system: ActorSystem) -> int:
    """The id of its replica's process."""
    line = system._running.line
    assert line is not None
    assert line.replica is not None
    return line.replica.process


def kill(system: ActorSystem) -> int:
    """Kill its replica's process. Returns its id."""
    process = process_of(system)
    os.kill(process, signal.SIGKILL)
    return process


def fill(system: ActorSystem) -> Table:
    """A table of ten orders, an index and a materialized view of them by region."""
    orders = system.create_table("orders", {"id": int, "region": str, "amount": int}, key=["id"])
    orders.insert([(number, f"r{number % 3}", number) for number in range(10)])
    totals = orders.group_by("region").agg(total=sum("amount"), n=count())
    system.create_index(system.view("totals", totals), key=["region"], name="index")
    system.materialized_view("stored", totals)
    return orders


def lookup(system: ActorSystem, region: str) -> list[tuple[object, ...]]:
    return system["index"].lookup(region).rows()  # type: ignore[union-attr]


def test_reads_in_flight_are_answered_by_the_next_process(either: ActorSystem) -> None:
    system = either
    fill(system)
    assert lookup(system, "r0") == [("r0", 18, 4)]
    stopped = process_of(system)
    # From here on it answers nothing, so that all of these are under way, or about to be, when it is killed.
    os.kill(stopped, signal.SIGSTOP)
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    reads: list[Callable[[], Any]] = [
        lambda: lookup(system, "r0"),
        lambda: system["index"].peek().rows(),  # type: ignore[union-attr]
        lambda: system.query(system["orders"].group_by("region").agg(n=count())).rows(),  # type: ignore[union-attr]
        lambda: system.query(system["stored"]).rows(),  # type: ignore[arg-type]
    ]
    threads = [threading.Thread(target=lambda read=read: answers.put(sorted(read()))) for read in reads]
    for thread in threads:
        thread.start()
    system["orders"].insert([(10, "r0", 100)])  # type: ignore[union-attr]
    os.kill(stopped, signal.SIGKILL)
    for thread in threads:
        thread.join(WAIT)
    found = [answers.get(timeout=WAIT) for _ in reads]
    # Each sees the new order or not, as it began before or after it.
    others = [("r1", 12, 3), ("r2", 15, 3)]
    seen = [("r0", 18, 4)], [("r0", 118, 5)]
    right = [*seen, *(sorted(rows + others) for rows in seen), *([("r0", n), ("r1", 3), ("r2", 3)] for n in (4, 5))]
    assert all(answer in right for answer in found), found
    assert lookup(system, "r0") == [("r0", 118, 5)]
    assert process_of(system) != stopped


def test_everything_is_there_again(system: ActorSystem) -> None:
    orders = fill(system)
    assert lookup(system, "r1") == [("r1", 12, 3)]
    for round in range(2):
        kill(system)
        # Written while there is no replica, or hardly.
        orders.insert([(100 + round, "r1", 1)])
        assert lookup(system, "r1") == [("r1", 13 + round, 4 + round)]
        assert ("r1", 13 + round, 4 + round) in system.query(system["stored"]).rows()  # type: ignore[arg-type]
    orders.delete(keys=[100, 101])
    assert lookup(system, "r1") == [("r1", 12, 3)]
    assert len(system.query(system["stored"]).rows()) == 3  # type: ignore[arg-type]
    system.drop("index")
    system.drop("stored")


def test_a_subscription_goes_on_without_a_gap_and_without_repeating_itself(system: ActorSystem) -> None:
    orders = fill(system)
    with system.subscribe(orders.group_by("region").agg(n=count())) as subscription:
        collected: dict[tuple[object, ...], int] = {}

        def until(time: int) -> None:
            for batch in subscription.until(time):
                for change in batch:
                    collected[change.row] = collected.get(change.row, 0) + change.diff

        until(orders.insert([(50, "r2", 1)]).timestamp)
        assert {row: diff for row, diff in collected.items() if diff} == {("r0", 4): 1, ("r1", 3): 1, ("r2", 4): 1}
        kill(system)
        until(orders.insert([(51, "r2", 1)]).timestamp)
        assert {row: diff for row, diff in collected.items() if diff} == {("r0", 4): 1, ("r1", 3): 1, ("r2", 5): 1}


def test_many_readers_see_right_answers_while_it_is_killed_again_and_again(system: ActorSystem) -> None:
    fill(system)
    assert lookup(system, "r0") == [("r0", 18, 4)]
    going_on = threading.Event()
    wrong: queue.SimpleQueue[object] = queue.SimpleQueue()
    counts = [0, 0]

    def read(number: int) -> None:
        try:
            while not going_on.is_set():
                for region, expected in (("r0", 18), ("r1", 12), ("r2", 15)):
                    rows = lookup(system, region)
                    if [row[1] for row in rows] != [expected]:
                        wrong.put(rows)
                    counts[number] += 1
        except BaseException as error:
            wrong.put(error)

    readers = [threading.Thread(target=read, args=(number,)) for number in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(2):
        kill(system)
        assert lookup(system, "r0") == [("r0", 18, 4)]
    going_on.set()
    for reader in readers:
        reader.join(WAIT)
    assert wrong.empty(), wrong.get()
    assert all(counts)


def test_nobody_waits_for_a_process_that_does_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("pillion.actors.system.wiring.BACKOFF", Backoff(first=0.01, longest=0.05, many=3))
    with ActorSystem(replica="process") as system:
        orders = fill(system)
        assert lookup(system, "r0") == [("r0", 18, 4)]
        with monkeypatch.context() as broken:
            broken.setattr(sys, "executable", str(tmp_path / "missing"))
            kill(system)
            with pytest.raises(ReplicaDown, match="it cannot be started: No such file"):
                lookup(system, "r0")
            orders.insert([(10, "r0", 100)])
        assert eventually(lambda: lookup(system, "r0")) == [("r0", 118, 5)]


def eventually(read: Callable[[], object]) -> object:
    """What a read answers once the replica is there."""
    while True:
        try:
            return read()
        except ReplicaDown:
            continue


def test_a_process_that_ends_before_it_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pillion.actors.clusterd.child.COMMAND", ("-c", "raise SystemExit(7)"))
    before = set(threading.enumerate())
    with pytest.raises(Unreachable, match="it ended before it listened, with exit code 7"):
        ActorSystem(replica="process")
    assert set(threading.enumerate()) <= before


# --- Its end --------------------------------------------------------------------------------------------------------


def has_ended(process: int) -> bool:
    """Whether a child of this process has ended, and was waited for."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_it_ends_with_its_system() -> None:
    with ActorSystem(replica="process") as system:
        process = process_of(system)
    assert has_ended(process)


def test_a_system_that_failed_ends_it_when_it_is_stopped() -> None:
    system = ActorSystem(replica="process")
    process = process_of(system)
    system._running.dispatcher.fail(next(iter(system._running.dispatcher._actors)), ZeroDivisionError())  # type: ignore[attr-defined]
    system.stop()
    assert has_ended(process)


def test_it_ends_when_its_system_is_killed() -> None:
    program = (
        "import sys; from pillion.actors import ActorSystem; system = ActorSystem(replica='process');"
        "print(system._running.line.replica.process, flush=True); sys.stdin.read()"
    )
    application = subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1, stderr=-1, text=True)
    assert application.stdout is not None
    process = int(application.stdout.readline())
    os.kill(process, 0)
    application.kill()
    # The standard error is at its end when nobody has it any more: the process has it, too.
    application.communicate(timeout=WAIT)


# --- Scripts --------------------------------------------------------------------------------------------------------


class Kept:
    """A process that outlives the scripts that run on it."""

    def __init__(self, process: ReplicaProcess) -> None:
        self.name = process.name
        self.secret = process.secret
        self.reach = process.reach
        self.provision = process.provision

    def stop(self) -> None:
        """Another script comes."""


@pytest.mark.parametrize(("workers", "interactive"), MODES, ids=["1 worker", "2 workers, two runtimes"])
def test_protocol_scripts_print_the_same(workers: int, interactive: bool) -> None:
    process = ReplicaProcess(workers, interactive=interactive)
    try:
        for path in SCRIPTS:
            script = parse_script(path.read_text(encoding="utf-8"))
            found = differences(script, run_script(script, timeout=20.0, target=Kept(process)))
            assert not found, "\n".join(difference.show(path) for difference in found)
    finally:
        process.stop()
