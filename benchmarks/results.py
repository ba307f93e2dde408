"""Results of the last run of each benchmark, as JSON lines: one for the machine and the date, then one per figure."""

from __future__ import annotations

import datetime
import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from .figures import Figure

RESULTS = Path(__file__).parent / "results"
PEERS = ("pillion", "pathway", "duckdb", "pykka", "numpy", "pyarrow")


@dataclass(frozen=True)
class Run:
    """When and where a benchmark ran, and what came out."""

    name: str
    date: str
    machine: str
    versions: dict[str, str]
    figures: list[Figure]


def save(name: str, figures: list[Figure]) -> Run:
    """Replace the results of this benchmark."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    run = Run(name, datetime.date.today().isoformat(), machine(), versions(), figures)
    head = {key: value for key, value in asdict(run).items() if key != "figures"}
    lines = [head, *(figure.json() for figure in figures)]
    (RESULTS / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return run


def load_all() -> dict[str, Run]:
    """The last run of every benchmark that has run, by name."""
    return {run.name: run for path in sorted(RESULTS.glob("*.jsonl")) for run in [_load(path)]}


def _load(path: Path) -> Run:
    head, *figures = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return Run(**head, figures=[Figure(**figure) for figure in figures])


def machine() -> str:
    """Cores, processor and memory, as far as the system tells."""
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores of {processor}, {memory:.0f} GiB, {platform.system()}"


def versions() -> dict[str, str]:
    """Python's version and those of the systems measured."""
    import sqlite3

    found = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for package in PEERS:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
