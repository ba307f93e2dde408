"""A recorded system gives the same answers on other replicas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pillion.actors import ActorSystem, PillionError, col, count, sum, udf
from pillion.actors.cli.main import main
from pillion.actors.log.file import LogFile
from pillion.actors.log.script import script_of
from pillion.actors.replay.recording import LogRecording
from pillion.actors.scripts.parse import parse_script
from pillion.actors.scripts.runner import differences, run_script

OTHERS = [["--workers", "1", "--no-interactive"], ["--workers", "2", "--interactive"], ["--workers", "3"]]


def live(system: ActorSystem, copied: Path) -> None:
    """Transactions, deletes, views, queries, subscriptions, drops, and a read that fails."""
    orders = system.create_table("orders", {"id": int, "customer": int, "amount": float, "note": "text?"}, key="id")
    customers = system.create_table("customers", {"customer": int, "region": str})
    customers.insert([(n, "north" if n % 2 else "south") for n in range(6)])
    joined = orders.join(customers, on="customer")
    totals = system.view("totals", joined.group_by("region").agg(orders=count(), total=sum("amount")))
    regions = system.create_index(totals, key="region")
    large = system.materialized_view("large", orders.filter(col("amount") > 50).select("id", "amount"))
    by_id = system.create_index(large, key="id", name="large_by_id")
    shares = system.create_index(orders.select("id", share=100 / col("amount")), key="id", name="shares")
    with system.subscribe(totals) as changes:
        for batch in range(6):
            with system.transaction() as tx:
                tx.insert(orders, [(batch * 10 + n, n % 6, float(n * 7 + batch), None) for n in range(1, 10)])
                tx.update(orders, amount=col("amount") * 2, where=col("customer") == batch)
                tx.delete(orders, where=col("amount") > 100)
            regions.peek(order_by="region")
            by_id.peek(col("amount") > 60)
            system.query(joined.filter(col("region") == "north").select("id", "amount"), order_by="amount", limit=3)
            system.query(large.agg(count(), sum("amount")))
            system.query(customers, limit=2)
        written = orders.upsert([(11, 3, 0.0, "nothing")])
        with pytest.raises(PillionError, match="division by zero"):
            shares.peek()
        with pytest.raises(PillionError):
            orders.insert([(11, 1, 1.0, "again")])
        for _ in changes.until(written.timestamp):
            pass
    assert system.copy_to(totals, copied) == 2
    system.drop(by_id)
    system.drop(large)
    orders.delete(where=True)
    assert regions.peek().rows() == []


@pytest.mark.parametrize("mode", [(1, False), (2, True)], ids=["1 worker", "2 workers, two runtimes"])
def test_a_system_recorded_and_replayed(
    mode: tuple[int, bool], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, copied = tmp_path / "run.plog", tmp_path / "copied.csv"
    workers, interactive = mode
    with ActorSystem(workers=workers, interactive=interactive, record=log) as system:
        live(system, copied)
    copied.unlink()
    for options in OTHERS:
        assert main(["replay", str(log), "--json", *options]) == 0
        answers = json.loads(capsys.readouterr().out)["answers"]
        for kind, number in (("peeks", 31), ("subscribes", 1), ("copies", 1), ("writes", 10), ("final frontiers", 2)):
            assert answers[kind]["same"] >= number, (kind, answers)
            assert answers[kind]["not compared"] == 0
    assert not copied.exists(), "a replay writes nothing where the recorded system did"
    with LogFile.open(log) as reader:
        script = parse_script(script_of(LogRecording(reader).events(), "run.plog"))
    found = differences(script, run_script(script, 2, 20.0, interactive=True))
    assert not found, found[0].show(log)


def test_a_system_whose_functions_are_trusted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    @udf("text")
    def shout(text: str) -> str:
        return text.upper() + "!"

    log = tmp_path / "functions.plog"
    with ActorSystem(record=log) as system:
        words = system.create_table("words", {"word": str})
        index = system.create_index(words.select(loud=shout("word")), key="loud", name="loud")
        words.insert([("a",), ("b",)])
        index.peek()
    assert main(["replay", str(log)]) == 2
    assert "has the Python function shout" in capsys.readouterr().err
    assert main(["replay", str(log), "--trust", "--workers", "2"]) == 0
    assert "runs the Python functions of the log: shout" in capsys.readouterr().err
