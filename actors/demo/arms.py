"""The same reads during the same hydration, with one runtime and with two.

Each arm has a system of its own, and they take turns, so that what else the machine does meets all of them. A lookup
without a deadline reads what is published on the caller's own thread; that needs no second runtime, and is an arm too.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ..system.index import Index
from ..system.system import ActorSystem
from .churn import Churn
from .comparison import DIRECT, SOLO, TWO_RUNTIMES, Comparison, Course, joined, summarized
from .crew import Crew
from .flights import FlightData
from .open_loop import OpenLoop, Read

RATE = 300
"""Lookups per second: a small part of what a system at rest manages."""
CLIENTS = 64
"""Threads that look up. So many that one is free when a lookup is due, though others wait for theirs."""
ROUNDS = 2
SECONDS = 2.0
"""How long lookups are due in each round; with this rate, two rounds are enough for p99."""
GRACE = 1.0
"""Seconds after which lookups that were due are no longer waited for."""
DEADLINE = 60.0
"""Of a lookup: one that has any goes through the actors."""

Progress = Callable[[str, int, int], None]


def compare(data: FlightData, workers: int, progress: Progress) -> tuple[Comparison, list[Course]]:
    """Measure all arms: what they come to, and how each went.

    It takes little longer than the rounds of all arms, however slow lookups are.
    """
    rounds: dict[str, list[Course]] = {SOLO: [], TWO_RUNTIMES: [], DIRECT: []}
    for number in range(ROUNDS):
        for place, (arm, parts) in enumerate(rounds.items()):
            progress("Looking up while views hydrate", number * len(rounds) + place, ROUNDS * len(rounds))
            parts.append(_round(data, workers, arm))
    progress("Looking up while views hydrate", ROUNDS * len(rounds), ROUNDS * len(rounds))
    courses = [joined(arm, parts, SECONDS) for arm, parts in rounds.items()]
    source_rows = data.tables["flights"].num_rows
    arms = [summarized(course) for course in courses]
    return Comparison(RATE, CLIENTS, ROUNDS, SECONDS, source_rows, arms), courses


def _round(data: FlightData, workers: int, arm: str) -> Course:
    """One round of one arm, from an empty system."""
    with Crew() as crew, ActorSystem(workers=workers, interactive=arm == TWO_RUNTIMES) as system:
        tables = {name: system.create_table(name, rows) for name, rows in data.tables.items()}
        index = system.create_index(tables["airlines"], "carrier", wait=True)
        read = _read(index, data, deadline=None if arm == DIRECT else DEADLINE)
        read(0)
        begin = time.perf_counter()
        churn = Churn(system, tables, begin, crew.over)
        loop = OpenLoop(read, RATE, SECONDS, begin, crew.over)
        crew.start("hydrating", churn.run)
        clients = [crew.start(f"client-{number}", loop.client) for number in range(CLIENTS)]
        crew.wait_for(clients, SECONDS + GRACE)
        end = time.perf_counter()
    return Course(arm, loop.reads(given_up=end), churn.hydrations)


def _read(index: Index, data: FlightData, deadline: float | None) -> Read:
    """Reads of one airline each, checked."""
    airlines = [(row["carrier"], row["name"]) for row in data.tables["airlines"].to_pylist()]

    def read(number: int) -> None:
        carrier, name = airlines[number % len(airlines)]
        assert index.lookup(carrier, timeout=deadline).one() == (carrier, name)

    return read
