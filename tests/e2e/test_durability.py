"""A system with a path: what returned is there again, under the same names and ids, and is used as before."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pillion.actors import ActorSystem, avg, col, count, udf
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.errors import DuplicateName, UnknownName, WrongArgument, WrongKind
from pillion.actors.journal import journal as journal_module
from pillion.actors.journal.errors import JournalDamaged, JournalInUse, UntrustedFunctions, WritesRefused
from pillion.messages.errors import NotReadableError

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    before = set(threading.enumerate())
    yield tmp_path / "shop"
    assert set(threading.enumerate()) <= before


def make_shop(system: ActorSystem) -> None:
    orders = system.create_table("orders", {"id": int, "region": str, "amount": float}, key=["id"])
    visits = system.create_table("visits", {"page": str, "at": "timestamp?"})
    totals = system.view("totals", orders.group_by("region").agg(n=count(), mean=avg("amount")))
    system.create_index(totals, key="region", name="totals_index")
    system.create_index(orders, key=col("amount").cast("bigint"), name="by_amount")
    system.materialized_view("large", orders.filter(col("amount") > 10))
    orders.insert([(1, "north", 5.0), (2, "north", 15.0), (3, "south", 20.0)])
    visits.insert([("home", None), ("home", None)])
    orders.update({"amount": col("amount") * 2}, where=col("id") == 1)
    visits.delete(("home", None))


def check_shop(system: ActorSystem) -> None:
    orders, totals = system.table("orders"), system.index("totals_index")
    assert sorted(system.query(orders).rows()) == [(1, "north", 10.0), (2, "north", 15.0), (3, "south", 20.0)]
    assert totals.lookup("north").rows() == [("north", 2, 12.5)]
    assert system.index("by_amount").lookup(15).rows() == [(2, "north", 15.0)]
    assert sorted(system.query(system["large"]).rows()) == [(2, "north", 15.0), (3, "south", 20.0)]  # type: ignore[arg-type]
    assert system.query(system.table("visits")).rows() == [("home", None)]
    orders.insert((4, "south", 40.0))
    assert totals.lookup("south").rows() == [("south", 2, 30.0)]
    assert len(system.query(system["large"])) == 3  # type: ignore[arg-type]
    orders.delete(keys=[4])


def ids_of(system: ActorSystem) -> dict[str, str]:
    return {info.name: str(info.id) for info in system.collections() if info.id.namespace == "u"}


@pytest.mark.parametrize(("workers", "interactive"), [(1, False), (2, True)])
def test_everything_is_there_again(path: Path, workers: int, interactive: bool) -> None:
    with ActorSystem(workers, interactive=interactive, path=path) as system:
        make_shop(system)
        ids = ids_of(system)
    for _ in range(2):
        with ActorSystem(workers, interactive=interactive, path=path) as system:
            assert (ids_of(system), system.lost) == (ids, ())
            check_shop(system)


def test_a_copy_of_the_directory_of_a_system_that_runs_is_as_good(path: Path, tmp_path: Path) -> None:
    with ActorSystem(path=path) as system:
        make_shop(system)
        shutil.copytree(path, tmp_path / "copy")
    with ActorSystem(path=tmp_path / "copy") as system:
        check_shop(system)


def test_timestamps_go_on_and_ids_are_given_once(path: Path) -> None:
    with ActorSystem(path=path) as system:
        first = system.create_table("first", {"a": int})
        last = first.insert([(1,)]).timestamp
        system.drop(first)
        with pytest.raises(DuplicateName):
            system.create_table("second", {"a": int})
            system.create_table("second", {"a": int})
    with ActorSystem(path=path) as system:
        third = system.create_table("third", {"a": int})
        assert third.id.number > system.table("second").id.number > first.id.number
        assert third.insert([(1,)]).timestamp > last


def test_a_refused_write_takes_its_timestamp_with_it(path: Path) -> None:
    with ActorSystem(path=path) as system:
        table = system.create_table("t", {"a": int}, key="a")
        table.insert([(1,)])
        with pytest.raises(Exception, match="exists already"):
            table.insert([(1,)])
        seen = system.query(table).timestamp
    with ActorSystem(path=path) as system:
        assert system.table("t").insert([(2,)]).timestamp > seen


def test_history_that_is_kept_is_read_after_a_start(path: Path) -> None:
    with ActorSystem(path=path) as system:
        kept = system.create_table("kept", {"a": int}, history=None)
        recent = system.create_table("recent", {"a": int}, history=2)
        times = [(kept.insert([(n,)]), recent.insert([(n,)]).timestamp)[1] for n in range(5)]
    with ActorSystem(path=path) as system:
        assert len(system.query(system.table("kept"), as_of=times[1])) == 2
        assert len(system.query(system.table("recent"), as_of=times[-1] - 2)) == 4
        with pytest.raises(NotReadableError):
            system.query(system.table("recent"), as_of=times[1])


def test_many_threads_write_and_each_sees_its_own_writes(path: Path) -> None:
    failures: list[BaseException] = []

    def write(system: ActorSystem, thread: int) -> None:
        try:
            table, index = system.table("t"), system.index("t_by_id")
            for n in range(30):
                written = table.insert((thread * 1000 + n, n))
                result = index.lookup(thread * 1000 + n)
                assert result.rows() == [(thread * 1000 + n, n)]
                assert result.timestamp >= written.timestamp
        except BaseException as error:
            failures.append(error)

    with ActorSystem(path=path, sync="normal") as system:
        system.create_index(system.create_table("t", {"id": int, "n": int}, key="id"), name="t_by_id")
        threads = [threading.Thread(target=write, args=(system, number)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    with ActorSystem(path=path) as system:
        assert len(system.query(system.table("t"))) == 180


# --- Names ---------------------------------------------------------------------------------------------------------


def test_handles_are_found_by_name(path: Path) -> None:
    with ActorSystem(path=path) as system:
        make_shop(system)
        assert "orders" in system and "nothing" not in system
        assert system.table("orders").key == ("id",)
        assert system.index("totals_index").key == ("region",)
        with pytest.raises(UnknownName, match="did you mean 'orders'"):
            system.table("order")
        with pytest.raises(WrongKind, match=r"'large' \(u\d+\) is a materialized view; this needs a table"):
            system.table("large")
        with pytest.raises(WrongKind, match=r"'orders' .* this needs an index"):
            system.index("orders")
        with pytest.raises(DuplicateName, match=r"write system\['orders'\]"):
            system.create_table("orders", {"a": int})


# --- Compaction ----------------------------------------------------------------------------------------------------


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.iterdir())


def wait_for_compaction(path: Path, number: int) -> None:
    """Until a checkpoint of this number or a later one counts, and the files before it are gone."""
    for _ in range(10_000):
        names = sorted(file.name for file in path.iterdir())
        if names[0] >= f"checkpoint-{number:06}" and "journal-000001.plog" not in names and "new" not in names[0]:
            return
        threading.Event().wait(0.001)
    raise AssertionError(f"there are {names}")


def test_a_journal_is_as_large_as_what_it_holds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "COMPACT_BYTES", 1 << 18)
    with ActorSystem(path=path, sync="normal") as system:
        make_shop(system)
        table = system.create_table("t", {"id": int, "text": str}, key="id")
        for n in range(120):
            table.upsert([(id, f"{n}" * 1000) for id in range(20)])
        wait_for_compaction(path, 2)
        assert size_of(path) < 4 << 20, "a tenth of what was written"
    with ActorSystem(path=path) as system:
        check_shop(system)
        assert sorted(system.query(system.table("t")).rows()) == [(id, "119" * 1000) for id in range(20)]


def test_many_starts_leave_few_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "COMPACT_FILES", 3)
    with ActorSystem(path=path) as system:
        system.create_table("t", {"a": int})
    for n in range(4):
        with ActorSystem(path=path) as system:
            system.table("t").insert([(n,)])
    with ActorSystem(path=path) as system:
        wait_for_compaction(path, 4)
        assert len(system.query(system.table("t"))) == 4
    with ActorSystem(path=path) as system:
        assert len(system.query(system.table("t"))) == 4


def test_a_compaction_that_cannot_be_written_is_left_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "COMPACT_BYTES", 1 << 16)
    with ActorSystem(path=path, sync="normal") as system:
        table = system.create_table("t", {"id": int, "text": str}, key="id")
        for number in range(2, 40):  # Where checkpoints would be.
            (path / f"checkpoint-{number:06}.plog.new").mkdir()
        for n in range(40):
            table.upsert((1, f"{n}" * 3000))
        assert (path / "journal-000002.plog").exists() and (path / "journal-000001.plog").exists()
    for number in range(2, 40):
        (path / f"checkpoint-{number:06}.plog.new").rmdir()
    with ActorSystem(path=path) as system:
        assert system.query(system.table("t")).rows() == [(1, "39" * 3000)]


# --- What goes wrong -------------------------------------------------------------------------------------------------


def fill_disk(system: ActorSystem) -> None:
    """SQLite refuses every further page of the journal's file, as it does on a full disk."""
    connection: Any = system._running.journal.file._writer._connection  # type: ignore[union-attr]
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def test_on_a_full_disk_writes_fail_and_reads_go_on(path: Path) -> None:
    with ActorSystem(path=path) as system:
        make_shop(system)
        orders = system.table("orders")
        fill_disk(system)
        before = system.query(orders).rows()
        with pytest.raises(WritesRefused, match=r"database or disk is full.*reads? go on|can be read"):
            orders.insert([(id, "x" * 1000, 1.0) for id in range(10, 60)])
        for attempt in (
            lambda: orders.insert((5, "east", 1.0)),
            lambda: orders.delete(keys=[1]),
            lambda: system.create_table("more", {"a": int}),
            lambda: system.drop("large"),
        ):
            with pytest.raises(WritesRefused):
                attempt()
        assert system.query(orders).rows() == before
        assert system.index("totals_index").lookup("north").rows() == [("north", 2, 12.5)]
        assert "more" not in system and "large" in system
        # A read that takes a timestamp of its own.
        assert len(system.query(orders.join(system.introspection.frontiers, how="cross").limit(1))) == 1
    with ActorSystem(path=path) as system:
        check_shop(system)


def test_a_disk_that_fails_takes_nothing_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ActorSystem(path=path) as system:
        make_shop(system)
        writer = system._running.journal.file._writer  # type: ignore[union-attr]

        def fail(*_: object) -> None:
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(writer, "write", fail)
        with pytest.raises(WritesRefused, match="disk I/O error"):
            system.table("orders").insert((5, "east", 1.0))
    with ActorSystem(path=path) as system:
        check_shop(system)


def test_a_directory_in_use_is_refused(path: Path, tmp_path: Path) -> None:
    with ActorSystem(path=path):
        with pytest.raises(JournalInUse, match=f"process {os.getpid()} has it open"):
            ActorSystem(path=path)
        program = "import sys; from pillion.actors import ActorSystem; ActorSystem(path=sys.argv[1])"
        run = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, text=True, cwd=REPOSITORY, check=False
        )
        assert run.returncode == 1
        assert f"JournalInUse: {path}: process {os.getpid()} has it open; stop the system there first" in run.stderr
    with ActorSystem(path=path):
        pass


def test_a_damaged_journal_is_refused_and_salvaged(path: Path) -> None:
    with ActorSystem(path=path) as system:
        make_shop(system)
    file = path / "journal-000001.plog"
    data = file.read_bytes()
    at = data.rindex(b"south")
    file.write_bytes(data[:at] + b"S" + data[at + 1 :])
    with pytest.raises(JournalDamaged, match=r"row 7 is not as it was written.* salvage=True"):
        ActorSystem(path=path)
    with ActorSystem(path=path, salvage=True) as system:
        assert len(system.lost) == 2 and "damaged-1" in system.lost[1]
        assert "large" in system and len(system.query(system.table("orders"))) == 0
        system.table("orders").insert((1, "north", 5.0))
    with ActorSystem(path=path) as system:
        assert system.lost == ()
        assert len(system.index("by_amount").lookup(5)) == 1


def test_functions_are_loaded_with_trust_alone(path: Path) -> None:
    @udf(returns=int)
    def doubled(a: Any) -> Any:
        import pyarrow.compute as pc

        return pc.multiply(a, 2)

    with ActorSystem(path=path) as system:
        table = system.create_table("t", {"a": int})
        system.create_index(system.view("twice", table.select(b=doubled(col("a")))), name="twice_index")
        table.insert([(21,)])
        table.delete(where=doubled(col("a")) == 0)
    with pytest.raises(UntrustedFunctions, match=r"'twice' uses the Python function 'doubled'.*trust=True") as refused:
        ActorSystem(path=path)
    assert (refused.value.functions, refused.value.users) == (("doubled",), ("twice",))
    with ActorSystem(path=path, trust=True) as system:
        assert system.index("twice_index").lookup(42).rows() == [(42,)]
        system.drop("twice", cascade=True)
    with ActorSystem(path=path) as system:
        assert len(system.query(system.table("t"))) == 1, "a deletion by a function is kept as what it deleted"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sync": "full"}, "sync is for a system with a path"),
        ({"salvage": True}, "salvage is for a system with a path"),
        ({"path": ""}, "path is the name of a directory, and '' was given"),
        ({"path": 7}, "path is the name of a directory, and 7 was given"),
        ({"path": "x", "sync": "often"}, "sync is 'full' or 'normal', and 'often' was given"),
    ],
)
def test_arguments_that_are_none(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongArgument, match=message):
        ActorSystem(**arguments)


def test_a_recording_begins_with_nothing(path: Path, tmp_path: Path) -> None:
    with ActorSystem(path=path, record=tmp_path / "run.plog") as system:
        make_shop(system)
    with pytest.raises(WrongArgument, match="record= begins with a system that holds nothing"):
        ActorSystem(path=path, record=tmp_path / "again.plog")
    with ActorSystem(path=path) as system:
        check_shop(system)


def test_in_a_simulation(path: Path) -> None:
    for seed in range(3):
        with ActorSystem(path=path / str(seed), dispatcher=SimulatedDispatcher(seed)) as system:
            make_shop(system)
            check_shop(system)
        with ActorSystem(path=path / str(seed), dispatcher=SimulatedDispatcher(seed)) as system:
            check_shop(system)


# --- Kills -----------------------------------------------------------------------------------------------------------


def test_a_process_that_is_killed_loses_nothing_acknowledged() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.crash", "--rounds", "25", "--longest", "0.25", "--seed", "7"],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    seen = dict(line.split(": ") for line in run.stdout.splitlines())
    assert int(seen["rounds"]) == 25
    assert int(seen["writes"]) > 0 and int(seen["checkpoints"]) > 0
