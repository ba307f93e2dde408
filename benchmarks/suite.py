"""Which arms each benchmark runs, with what options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from . import inputs

Options = Mapping[str, object]


@dataclass(frozen=True)
class Arm:
    """One system in one configuration."""

    name: str
    module: str
    options: Options = field(default_factory=dict[str, object])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Benchmark:
    """A workload, the arms that run it, and the result to expect of an arm that ran with these options (None: the arm
    itself checks every answer)."""

    name: str
    workload: str
    arms: tuple[Arm, ...]
    units: Mapping[str, str] = field(default_factory=dict[str, str])
    expected: Callable[[Options], inputs.Regions] | None = None


PATHWAY = (
    Arm("Pathway, 1 thread", "pathway", environment={"PATHWAY_THREADS": "1"}),
    Arm("Pathway, 2 threads", "pathway", environment={"PATHWAY_THREADS": "2"}),
)
PILLION = (
    Arm("Pillion, 1 worker", "pillion", {"workers": 1}),
    Arm("Pillion, 2 workers", "pillion", {"workers": 2}),
)
DUCKDB = Arm("DuckDB, 1 thread", "duckdb", {"threads": 1})
SQLITE = Arm("SQLite, triggers", "sqlite")
TICK_SIZES = [1000, 1]


def hydration() -> Benchmark:
    return Benchmark(
        "hydration",
        "hydration",
        (*PILLION, *PATHWAY, DUCKDB, SQLITE),
        expected=lambda _: inputs.expected([inputs.orders(inputs.ORDERS)]),
    )


def freshness() -> Benchmark:
    many, few = {"ticks": [60, 1000]}, {"ticks": [30, 100]}
    arms = (*PILLION, *PATHWAY, SQLITE)
    return Benchmark(
        "freshness",
        "freshness",
        (*(_with(arm, _sizes(inputs.ORDERS) | many) for arm in arms), _with(DUCKDB, _sizes(inputs.ORDERS) | few)),
        expected=_expected_after_ticks,
    )


def growth() -> Benchmark:
    """Freshness over the number of rows that the result stands on."""
    return Benchmark(
        "growth",
        "freshness",
        tuple(
            _with(arm, _sizes(rows) | {"ticks": ticks}, f"{arm.name}, {rows:,} rows")
            for rows in (10_000, 100_000, 1_000_000, 10_000_000)
            for arm, ticks in ((PILLION[0], [30, 200]), (DUCKDB, [5, 15]))
        ),
        expected=_expected_after_ticks,
    )


def point_read() -> Benchmark:
    arms = (PILLION[0], Arm("DuckDB, 1 thread", "duckdb"), Arm("SQLite", "sqlite"))
    options = {"rows": inputs.ORDERS, "reads": 5000}
    return Benchmark("point-read", "point_read", tuple(_with(arm, options) for arm in arms))


def messages() -> Benchmark:
    options = {"tells": 100_000, "asks": 5000, "bursts": 5}
    arms = (Arm("Pillion", "pillion_messages", options), Arm("stock pykka", "stock_pykka", options))
    return Benchmark("messages", "messages", arms, units={"tell": "1/s"})


def breakdown() -> Benchmark:
    """Where the time of a tick of one order goes."""
    options = {"rows": inputs.ORDERS, "ticks": 1000}
    return Benchmark(
        "breakdown", "breakdown", (Arm("Pillion, 1 worker", "pillion_breakdown", options | {"workers": 1}),)
    )


def isolation() -> Benchmark:
    return _both_modes("isolation", {"seconds": 60, "idle_reads": 5000})


def introspection() -> Benchmark:
    return _both_modes("introspection", {"seconds": 40})


def expensive_peeks() -> Benchmark:
    return _both_modes("expensive_peeks", {"reads": 3000})


def publication() -> Benchmark:
    return _both_modes("publication", {}, expected=lambda _: inputs.expected([inputs.orders(inputs.ORDERS)]))


def view_freshness() -> Benchmark:
    return _both_modes("view_freshness", {"ticks": 1500})


def durability() -> Benchmark:
    """Single rows that are durable when the write returns, from one thread and from eight."""
    systems = (("Pillion", "durable_pillion"), ("SQLite", "durable_sqlite"))
    arms = [
        Arm(f"{name}, sync={sync}", module, {"sync": sync, "threads": threads, "each": 2400 // threads})
        for threads in (1, 8)
        for sync in ("full", "normal")
        for name, module in systems
    ]
    for threads in (1, 8):
        options = {"sync": None, "threads": threads, "each": 2400 // threads}
        arms.append(Arm("Pillion, nothing kept", "durable_pillion", options))
    units = {f"writes, {threads} threads": "1/s" for threads in (1, 8)}
    return Benchmark("durability", "durability", tuple(_named(arm) for arm in arms), units=units)


def _named(arm: Arm) -> Arm:
    return _with(arm, {}, f"{arm.name}, {arm.options['threads']} threads")


BENCHMARKS: Mapping[str, Callable[[], Benchmark]] = {
    "hydration": hydration,
    "freshness": freshness,
    "growth": growth,
    "point-read": point_read,
    "messages": messages,
    "breakdown": breakdown,
    "isolation": isolation,
    "introspection": introspection,
    "expensive-peeks": expensive_peeks,
    "publication": publication,
    "view-freshness": view_freshness,
    "durability": durability,
}


def _both_modes(
    workload: str, options: Options, expected: Callable[[Options], inputs.Regions] | None = None
) -> Benchmark:
    """A workload of one system with one runtime, and with two."""
    arms = tuple(
        Arm(name, "pillion_runtimes", options | {"interactive": interactive})
        for name, interactive in (("Pillion, solo", False), ("Pillion, two runtimes", True))
    )
    return Benchmark(workload.replace("_", "-"), workload, arms, expected=expected)


def _sizes(rows: int) -> dict[str, object]:
    return {"rows": rows, "sizes": TICK_SIZES}


def _with(arm: Arm, options: Options, name: str | None = None) -> Arm:
    return Arm(name or arm.name, arm.module, {**arm.options, **options}, arm.environment)


def _expected_after_ticks(options: Options) -> inputs.Regions:
    rows, sizes, ticks = options["rows"], options["sizes"], options["ticks"]
    assert isinstance(rows, int) and isinstance(sizes, list) and isinstance(ticks, list)
    parts, loaded = [inputs.orders(rows)], rows
    for size, count in zip(sizes, ticks, strict=True):
        parts += [inputs.tick(number, size, loaded) for number in range(count)]
        loaded += size * count
    return inputs.expected(parts)
