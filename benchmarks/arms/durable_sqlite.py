"""Rows written one by one into a table of an SQLite file in WAL mode, each in a transaction of its own; every thread
has a connection of its own, as SQLite asks for."""

from __future__ import annotations

import sqlite3
import tempfile

from .. import inputs
from ..child import Measured
from ..writers import Order, Write, write_with


def durability(sync: str, threads: int, each: int) -> Measured:
    inputs.DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=inputs.DATA) as directory:
        path = f"{directory}/orders.sqlite"

        def open() -> Write:
            connection = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
            connection.execute("pragma journal_mode = wal")
            connection.execute(f"pragma synchronous = {sync}")

            def write(order: Order) -> None:
                connection.execute("insert into orders values (?, ?, ?)", order)

            return write

        first = sqlite3.connect(path)
        first.execute("pragma journal_mode = wal")
        first.execute("create table orders(id integer primary key, customer integer, amount real)")
        written = write_with(threads, each, open)
        assert first.execute("select count(*) from orders").fetchone() == (threads * each,)
        first.close()
    return Measured({f"writes, {threads} threads": [written.rate], f"a write, {threads} threads": written.seconds})
