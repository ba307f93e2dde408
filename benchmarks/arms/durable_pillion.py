"""Rows written one by one into a table of a system with a path, which also keeps an index on it up to date."""

from __future__ import annotations

import tempfile
from typing import Literal

from pillion.actors import ActorSystem

from .. import inputs
from ..child import Measured
from ..writers import write_with


def durability(sync: Literal["full", "normal"] | None, threads: int, each: int) -> Measured:
    """``sync``: None keeps nothing."""
    inputs.DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=inputs.DATA) as directory:
        path = None if sync is None else directory + "/journal"
        with ActorSystem(path=path, sync=sync) as system:
            table = system.create_table("orders", {"id": int, "customer": int, "amount": float}, key="id")
            index = system.create_index(table)
            for n in range(20):
                table.insert((-1 - n, 0, 0.0))  # As the first writes of a system are slower.
            written = write_with(threads, each, lambda: table.insert)
            assert len(index.lookup(threads * each - 1)) == 1
        if path is not None:
            with ActorSystem(path=path) as system:
                assert len(system.query(system.table("orders"))) == threads * each + 20
    return Measured({f"writes, {threads} threads": [written.rate], f"a write, {threads} threads": written.seconds})
