"""The demo's work: load, define views, let the last month arrive, and read everything once more to check it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from ..requests import Isolation
from ..system.index import Index
from ..system.system import ActorSystem
from ..system.table import Table
from .batch import REFERENCES, differences
from .flights import FlightData, Hour
from .readers import Readers, Target
from .timings import Timings, summarize
from .views import VIEWS, ViewDefinition

KEYS = {
    "airlines": ("carrier",),
    "airports": ("faa",),
    "planes": ("tailnum",),
    "weather": ("origin", "time_hour"),
    "flights": ("time_hour", "carrier", "flight", "origin"),
}
AIRCRAFT_INDEX = "flights_by_aircraft"
AIRCRAFT_KEY = "tailnum"
IDLE_LOOKUPS = 1000
PATIENCE = 60.0
"""Seconds. A second runtime does not wait for what is, when it can tell what was; here the first is worth a wait."""
HOURS_PER_SECOND = 40
"""How fast the live month arrives, as long as the machine keeps up."""

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class LoadedTable:
    name: str
    rows: int
    seconds: float


@dataclass(frozen=True)
class HydratedIndex:
    """``rows``: how many the view has; ``source_rows``: how many flights it was computed from."""

    name: str
    kind: str
    rows: int
    source_rows: int
    seconds: float


@dataclass(frozen=True)
class LiveMonth:
    """``commits``: until a write returned; ``fresh``: until every view was read with the hour in it; ``reads``: lookups
    meanwhile, from the time they were due; ``idle_reads``: lookups once nothing else was going on. ``kept_up``: hours
    and lookups came as fast as they were meant to; otherwise these are the figures of an overloaded system."""

    ticks: int
    rows: int
    seconds: float
    kept_up: bool
    commits: Timings
    fresh: Timings
    reads: Mapping[Isolation, Timings]
    idle_reads: Timings


@dataclass(frozen=True)
class IndexMemory:
    name: str
    records: int
    batches: int
    bytes: int


class Session:
    """One system with the flights in it."""

    def __init__(self, system: ActorSystem, data: FlightData, progress: Progress) -> None:
        self._system = system
        self._data = data
        self._progress = progress
        self._tables: dict[str, Table] = {}
        self._indexes: dict[str, Index] = {}

    def load(self) -> list[LoadedTable]:
        """Create the tables, with everything before the live month in them."""
        loaded: list[LoadedTable] = []
        initial = self._data.before_live_month()
        for number, (name, rows) in enumerate(initial.items()):
            self._progress("Loading tables", number, len(initial))
            start = time.perf_counter()
            self._tables[name] = self._system.create_table(name, rows, key=KEYS[name])
            loaded.append(LoadedTable(name, rows.num_rows, time.perf_counter() - start))
        self._progress("Loading tables", len(initial), len(initial))
        return loaded

    def define_views(self) -> list[HydratedIndex]:
        """Create the views and wait for the index of each."""
        hydrated: list[HydratedIndex] = []
        source_rows = self._data.before_live_month()["flights"].num_rows
        total = len(VIEWS) + 1
        for number, definition in enumerate(VIEWS):
            self._progress("Hydrating views", number, total)
            start = time.perf_counter()
            index = self._index(definition)
            seconds = time.perf_counter() - start
            rows = len(index.peek(select=list(definition.key)))
            hydrated.append(HydratedIndex(definition.name, definition.kind, rows, source_rows, seconds))
        self._progress("Hydrating views", len(VIEWS), total)
        start = time.perf_counter()
        flights = self._tables["flights"]
        self._indexes[AIRCRAFT_INDEX] = self._system.create_index(flights, AIRCRAFT_KEY, name=AIRCRAFT_INDEX, wait=True)
        seconds = time.perf_counter() - start
        hydrated.append(HydratedIndex(AIRCRAFT_INDEX, "the whole table", source_rows, source_rows, seconds))
        self._progress("Hydrating views", total, total)
        return hydrated

    def live_month(self, readers: int) -> LiveMonth:
        """Let the live month arrive, hour by hour, while readers look things up."""
        hours = self._data.live_hours()
        commits: list[float] = []
        fresh: list[float] = []
        rows = 0
        probes = self._probes()
        with Readers(readers, self._targets()) as reading:
            begin = time.perf_counter()
            arrival = threading.Event()
            previous: Hour | None = None
            for number, hour in enumerate([*hours, None]):
                self._progress("December arrives", number, len(hours) + 1)
                arrival.wait(max(begin + number / HOURS_PER_SECOND - time.perf_counter(), 0))
                start = time.perf_counter()
                rows += self._commit(hour, previous)
                commits.append(time.perf_counter() - start)
                for index, key in probes:
                    index.lookup(*key)
                fresh.append(time.perf_counter() - start)
                previous = hour
            seconds = time.perf_counter() - begin
        self._progress("December arrives", len(hours) + 1, len(hours) + 1)
        reads = {level: summarize(latencies) for level, latencies in reading.latencies.items() if latencies}
        return LiveMonth(
            ticks=len(commits),
            rows=rows,
            seconds=seconds,
            kept_up=reading.kept_up and seconds < 1.1 * len(commits) / HOURS_PER_SECOND,
            commits=summarize(commits),
            fresh=summarize(fresh),
            reads=reads,
            idle_reads=self._idle_reads(),
        )

    def _idle_reads(self) -> Timings:
        chooser = random.Random(IDLE_LOOKUPS)
        targets = self._targets()
        latencies: list[float] = []
        for number in range(IDLE_LOOKUPS):
            self._progress("Looking up, nothing else going on", number, IDLE_LOOKUPS)
            index, keys = chooser.choice(targets)
            key = chooser.choice(keys)
            start = time.perf_counter()
            index.lookup(*key)
            latencies.append(time.perf_counter() - start)
        self._progress("Looking up, nothing else going on", IDLE_LOOKUPS, IDLE_LOOKUPS)
        return summarize(latencies)

    def read_views(self) -> dict[str, pa.Table]:
        """All rows of every view, now."""
        return {definition.name: self._indexes[definition.name].peek().to_arrow() for definition in VIEWS}

    def check(self, views: Mapping[str, pa.Table]) -> dict[str, list[str]]:
        """How the views differ from a batch recomputation over the whole year, by view; empty lists when they agree."""
        found: dict[str, list[str]] = {}
        for number, (name, recompute) in enumerate(REFERENCES.items()):
            self._progress("Checking against a batch recomputation", number, len(REFERENCES))
            found[name] = differences(views[name], recompute(self._data))
        self._progress("Checking against a batch recomputation", len(REFERENCES), len(REFERENCES))
        return found

    def memory(self) -> list[IndexMemory]:
        """What each index takes, over all workers, with everything that was written in it."""
        for index in self._indexes.values():
            index.wait_until_ready()
        ready = time.perf_counter()
        self._system.configure(introspection_patience_seconds=PATIENCE)
        while True:
            asked = time.perf_counter()
            result = self._system.query(self._system.introspection.arrangement_sizes)
            # A second runtime may tell what was recorded earlier.
            if asked - (result.age or 0.0) >= ready:
                break
        sizes = result.dicts()
        memory: list[IndexMemory] = []
        for name, index in self._indexes.items():
            own = [row for row in sizes if row["id"] == str(index.id)]
            records, batches, size = (sum(row[what] for row in own) for what in ("records", "batches", "bytes"))
            memory.append(IndexMemory(name, records, batches, size))
        return memory

    def _index(self, definition: ViewDefinition) -> Index:
        view = self._system.view(definition.name, definition.define(self._tables))
        index = self._system.create_index(view, definition.key, name=f"{definition.name}_index", wait=True)
        self._indexes[definition.name] = index
        return index

    def _commit(self, hour: Hour | None, previous: Hour | None) -> int:
        """One hour: its weather and its schedule are new, and the previous hour's flights have been flown."""
        flights, weather = self._tables["flights"], self._tables["weather"]
        with self._system.transaction() as transaction:
            if previous is not None:
                transaction.upsert(flights, previous.flown)
            if hour is not None:
                transaction.insert(flights, hour.scheduled)
                transaction.insert(weather, hour.weather)
        assert transaction.written is not None, "the block ended without an exception"
        return transaction.written.rows

    def _probes(self) -> list[tuple[Index, tuple[object, ...]]]:
        """One lookup in every view."""
        return [
            (index, tuple(row[column] for column in definition.key))
            for definition in VIEWS
            for index in [self._indexes[definition.name]]
            for row in index.peek(limit=1).dicts()
        ]

    def _targets(self) -> list[Target]:
        """What readers look up: an airline's punctuality, a month's cancellations, all flights of an aircraft."""
        airlines = self._data.tables["airlines"]["name"].to_pylist()
        aircraft = self._data.tables["planes"]["tailnum"].to_pylist()
        return [
            (self._indexes["airline_delays"], [(name,) for name in airlines]),
            (self._indexes["missing_flights"], [(month,) for month in range(1, 13)]),
            (self._indexes[AIRCRAFT_INDEX], [(number,) for number in aircraft]),
        ]
