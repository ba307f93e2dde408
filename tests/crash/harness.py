"""Rounds of a crash test: a process is started, killed at some moment, and the next one says what is there."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from tests.crash import child
from tests.crash.model import Mismatch, done


class Harness:
    """What is known of a directory: what was acknowledged, and what may be there besides.

    Attributes:
        seen: how often what happened.
    """

    def __init__(self, directory: Path, seed: int, *, writers: int = 3, sync: str = "full") -> None:
        self._directory = directory
        self._random = random.Random(seed)
        self._writers = writers
        self._sync = sync
        self._acknowledged = dict.fromkeys(range(writers), 0)
        self._begun = dict.fromkeys(range(writers), 0)
        self._latest = 0
        """The latest timestamp that a write was given; and what it was when the present process began."""
        self._timestamp = 0
        self._names: dict[str, str] = {}
        self._maybe: set[str] = set()
        """Collections that may be there or not: their creation or their drop was begun, and not acknowledged."""
        self._ids: dict[str, str] = {}
        """Every id that was ever given, and to what."""
        self.seen: Counter[str] = Counter()

    def round(self, longest: float) -> None:
        """Start a process and kill it within so many seconds.

        Raises:
            Mismatch: something acknowledged is lost, or something is there that nobody wrote.
        """
        self._run(self._random.uniform(0.0, longest), write=True)
        self.seen["rounds"] += 1
        names = [entry.name for entry in self._directory.iterdir()] if self._directory.exists() else []
        self.seen["killed during compaction"] += any(".new" in name for name in names)
        numbers = sorted(int(name[11:17]) for name in names if name.startswith("checkpoint") and ".new" not in name)
        self.seen["checkpoints"] = max([self.seen["checkpoints"], *numbers])
        if numbers:
            old = [name for name in names if name.startswith("journal") and int(name[8:14]) < numbers[-1]]
            self.seen["killed before old files were removed"] += bool(old) or len(numbers) > 1

    def finish(self) -> None:
        """Start a process that ends by itself, and check what is there."""
        self._run(None, write=False)

    def _run(self, seconds: float | None, *, write: bool) -> None:
        read, out = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(read)
            child.main(str(self._directory), self._writers, self._sync, out, write=write)
        os.close(out)
        try:
            data = _read(read, seconds)
            if seconds is not None:
                os.kill(process, signal.SIGKILL)
                data += _read(read, None)
        finally:
            os.close(read)
            _, status = os.waitpid(process, 0)
        if seconds is None and os.waitstatus_to_exitcode(status) != 0:
            raise Mismatch("the process failed")
        if seconds is not None and os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            raise Mismatch("the process ended before it was killed")
        lines = data.split(b"\n")
        if lines[:-1]:
            for line in lines[:-1]:
                self._hear(msgspec.json.decode(line))
        else:
            self.seen["killed while opening"] += 1

    def _hear(self, message: dict[str, Any]) -> None:
        kind, value = next(iter(message.items()))
        match kind:
            case "there":
                self.seen["unfinished writes found"] += any("not finished" in each for each in message["lost"])
                self._check(value)
            case "begin":
                writer, n = value
                self._begun[writer] = n
            case "done":
                writer, n, timestamp = value
                self._acknowledged[writer] = n
                self.seen["writes"] += 1
                self._latest = max(self._latest, timestamp)
                if timestamp <= self._timestamp:
                    raise Mismatch(f"timestamp {timestamp} comes after {self._timestamp}")
            case "creating" | "dropping":
                self._maybe.add(value)
            case "created":
                name, id = value
                self._maybe.discard(name)
                self._names[name] = id
                if id in self._ids:
                    raise Mismatch(f"{id} is given to {name}, and was {self._ids[id]}")
                self._ids[id] = name
                self.seen["definitions"] += 1
            case "dropped":
                self._maybe.discard(value)
                self._names.pop(value, None)
                self.seen["definitions"] += 1
            case _:
                raise AssertionError(kind)

    def _check(self, there: dict[str, Any]) -> None:
        self._timestamp = self._latest
        tables = {name: [tuple(row) for row in rows] for name, rows in there["tables"].items()}
        for writer in range(self._writers):
            found = done(writer, tables, self._acknowledged[writer], self._begun[writer])
            self.seen["writes kept that were not acknowledged"] += found - self._acknowledged[writer]
            self._acknowledged[writer] = self._begun[writer] = found
        if sorted(tables["slots"]) != [tuple(row) for row in there["by_index"]]:
            raise Mismatch(f"the index holds {there['by_index']}, the table {tables['slots']}")
        counts = Counter(row[0] for row in tables["entries"])
        if sorted(counts.items()) != [tuple(row) for row in there["counts"]]:
            raise Mismatch(f"the view holds {there['counts']}, of {counts}")
        self._check_names(there["names"])

    def _check_names(self, names: dict[str, str]) -> None:
        for name, id in self._names.items():
            if name not in self._maybe and names.get(name) != id:
                raise Mismatch(f"{name} is {id}, and {names.get(name)} is there")
        for name, id in names.items():
            if name not in self._names and name not in self._maybe and name.startswith("passing"):
                raise Mismatch(f"{name} ({id}) is there, and was dropped or never made")
            if self._ids.setdefault(id, name) != name:
                raise Mismatch(f"{id} is {name}, and was {self._ids[id]}")
        self._names = names
        self._maybe.clear()


def _read(pipe: int, seconds: float | None) -> bytes:
    """What comes out of a pipe within so many seconds; None: until it ends."""
    end = None if seconds is None else time.monotonic() + seconds
    data = b""
    while True:
        left = None if end is None else end - time.monotonic()
        if left is not None and left <= 0:
            return data
        ready, _, _ = select.select([pipe], [], [], left)
        if not ready:
            return data
        part = os.read(pipe, 1 << 16)
        if not part:
            return data
        data += part
