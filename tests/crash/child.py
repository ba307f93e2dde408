"""The process that is killed: opens the directory, says what is there, and writes until it is no more."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable
from typing import Any

import msgspec

from pillion.actors import ActorSystem, count
from pillion.actors.journal import journal as journal_module
from tests.crash.model import SLOTS, WINDOW, text

COMPACT_BYTES = 96 << 10


def run(directory: str, writers: int, sync: Any, say: Callable[[Any], None], *, write: bool) -> None:
    """Tell what there is, then each operation before it is begun and once it is done."""
    journal_module.COMPACT_BYTES = COMPACT_BYTES
    with ActorSystem(path=directory, sync=sync) as system:
        if "slots_by_writer" not in system:
            _define(system)
        report = _report(system)
        say({"there": report, "lost": system.lost})
        if not write:
            return
        begun = {w: max([r[1] for r in report["tables"]["entries"] if r[0] == w], default=0) for w in range(writers)}
        threads = [threading.Thread(target=_write, args=(system, w, begun[w], say)) for w in range(writers)]
        threads.append(threading.Thread(target=_change_definitions, args=(system, say)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _define(system: ActorSystem) -> None:
    """Whatever of it is there already, because a kill came between."""
    if "slots" not in system:
        system.create_table("slots", {"writer": int, "slot": int, "n": int}, key=["writer", "slot"])
    if "entries" not in system:
        system.create_table("entries", {"writer": int, "n": int, "text": str})
    if "counts" not in system:
        system.materialized_view("counts", system.table("entries").group_by("writer").agg(n=count()))
    system.create_index(system.table("slots"), key=["writer"])


def _report(system: ActorSystem) -> dict[str, Any]:
    tables = {name: system.query(system.table(name)).rows() for name in ("slots", "entries")}
    by_index = sorted(row for row in system.index("slots_by_writer").peek().rows())
    counts = sorted(system.query(system["counts"]).rows())  # type: ignore[arg-type]
    names = {info.name: str(info.id) for info in system.collections() if info.id.namespace == "u"}
    return {"tables": tables, "by_index": by_index, "counts": counts, "names": names}


def _write(system: ActorSystem, writer: int, begun: int, say: Callable[[Any], None]) -> None:
    slots, entries = system.table("slots"), system.table("entries")
    n = begun
    while True:
        n += 1
        say({"begin": [writer, n]})
        with system.transaction() as transaction:
            transaction.upsert(slots, (writer, n % SLOTS, n))
            transaction.insert(entries, (writer, n, text(n)))
            if n > WINDOW:
                transaction.delete(entries, (writer, n - WINDOW, text(n - WINDOW)))
        assert transaction.written is not None
        say({"done": [writer, n, transaction.written.timestamp]})


def _change_definitions(system: ActorSystem, say: Callable[[Any], None]) -> None:
    number = 0
    while True:
        number += 1
        name = f"passing_{os.getpid()}_{number}"
        say({"creating": name})
        id = system.create_table(name, {"a": int}).id
        say({"created": [name, str(id)]})
        old = next((i.name for i in system.collections() if i.name.startswith("passing") and i.name != name), None)
        if old is not None:
            say({"dropping": old})
            system.drop(old)
            say({"dropped": old})


def main(directory: str, writers: int, sync: Any, out: int, *, write: bool) -> None:
    """Run in a process of its own. Says messages into ``out``, one in a line."""

    def say(message: Any) -> None:
        os.write(out, msgspec.json.encode(message) + b"\n")  # Short ones are written as a whole.

    try:
        run(directory, writers, sync, say, write=write)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
