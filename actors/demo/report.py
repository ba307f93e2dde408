"""What the demo found out, and its two forms: a JSON object, and tables for a person."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

from ..requests import Isolation
from .comparison import Comparison, shown, verdict
from .session import HOURS_PER_SECOND, HydratedIndex, IndexMemory, LiveMonth, LoadedTable
from .timings import Timings, duration


@dataclass(frozen=True)
class Report:
    """``read_files_seconds``: parsing the data's files. ``differences``: by view, empty when it is right.
    ``comparison``: lookups beside hydration, whatever ``interactive`` is."""

    workers: int
    interactive: bool
    readers: int
    read_files_seconds: float
    tables: list[LoadedTable]
    indexes: list[HydratedIndex]
    live: LiveMonth
    memory: list[IndexMemory]
    answers: Mapping[str, str]
    differences: Mapping[str, list[str]]
    comparison: Comparison
    seconds: float
    peak_rss_bytes: int

    @property
    def is_right(self) -> bool:
        """Whether every view agrees with the batch recomputation."""
        return not any(self.differences.values())


def to_json(report: Report) -> str:
    """The report as a JSON object; times are in seconds, sizes in bytes."""
    return json.dumps({**asdict(report), "is_right": report.is_right}, indent=2, ensure_ascii=False)


def show(report: Report, console: Console) -> None:
    """Print the report as tables."""
    console.print(_loaded(report))
    console.print(_hydrated(report))
    console.print(_fresh(report))
    if not report.live.kept_up:
        console.print(
            f"[yellow]This machine did not keep up with {HOURS_PER_SECOND} hours a second: "
            f"these are the figures of an overloaded system.[/yellow]"
        )
    console.print(_memory(report))
    console.print(_answers(report))
    for name, sentences in report.differences.items():
        for sentence in sentences:
            console.print(f"[red]{name}: {sentence}[/red]")
    checked = len(report.differences)
    if report.is_right:
        console.print(f"[green]All {checked} views agree with a batch recomputation of the whole year.[/green]")
    console.print(_compared(report.comparison))
    console.print(verdict(report.comparison))
    runtimes = " in each of two runtimes" if report.interactive else ""
    console.print(
        f"{report.seconds:.1f} s in all, with {_counted(report.workers, 'worker')}{runtimes} and "
        f"{_counted(report.readers, 'reader')}; the process took {report.peak_rss_bytes / 2**20:,.0f} MiB at most."
    )


def _loaded(report: Report) -> Table:
    table = _table("Loaded: January to November", "table", rows=_NUMBER, seconds=_NUMBER, **{"rows/s": _NUMBER})
    for loaded in report.tables:
        table.add_row(loaded.name, f"{loaded.rows:,}", *_speed(loaded.rows, loaded.seconds))
    return table


def _hydrated(report: Report) -> Table:
    title = f"Hydrated from {report.indexes[0].source_rows:,} flights"
    table = _table(title, "index", what=_TEXT, rows=_NUMBER, seconds=_NUMBER, **{"flights/s": _NUMBER})
    for index in report.indexes:
        table.add_row(index.name, index.kind, f"{index.rows:,}", *_speed(index.source_rows, index.seconds))
    return table


def _fresh(report: Report) -> Table:
    live = report.live
    rows: list[tuple[str, Timings]] = [
        ("a write", live.commits),
        ("a write, seen in views", live.fresh),
        *((f"a {_READS[level]}", timings) for level, timings in live.reads.items()),
        ("a lookup when idle", live.idle_reads),
    ]
    names = list(dict.fromkeys(name for _, timings in rows for name in timings.percentiles))
    title = f"December, live: {live.rows:,} changes in {live.ticks:,} ticks, {live.seconds:.1f} s"
    table = _table(title, "time of", samples=_NUMBER, **dict.fromkeys(names, _NUMBER), max=_NUMBER)
    for what, timings in rows:
        cells = (duration(timings.percentiles.get(name)) for name in names)
        table.add_row(what, f"{timings.samples:,}", *cells, duration(timings.maximum))
    if any(name not in timings.percentiles for name in names for _, timings in rows):
        table.caption, table.caption_justify = "–: there are too few samples to say", "left"
    return table


def compared_columns(comparison: Comparison) -> list[str]:
    """The columns of the comparison; a percentile is one when there are samples enough in any arm."""
    return ["arm", "lookups", *_compared_figures(comparison), "hydrations"]


def compared_rows(comparison: Comparison) -> Iterable[list[str]]:
    """The comparison's cells, arm by arm."""
    for arm in comparison.arms:
        figures = [shown(arm, name) for name in _compared_figures(comparison).values()]
        yield [arm.name, f"{arm.reads.samples:,}", *figures, f"{arm.hydrations:,}"]


def compared_notes(comparison: Comparison) -> list[str]:
    """What its signs mean."""
    notes: list[str] = []
    if any("–" in row for row in compared_rows(comparison)):
        notes.append("–: there are too few samples to say")
    notes += [
        f"≥: of {arm.name}, {arm.unanswered:,} lookups had no answer yet when their round was over"
        for arm in comparison.arms
        if arm.unanswered
    ]
    return notes


def _compared_figures(comparison: Comparison) -> dict[str, str]:
    """The names of figures by their columns' titles."""
    names = {"p50": "p50", "p99": "p99", "max": "maximum"}
    return {title: name for title, name in names.items() if any(name in arm.figures for arm in comparison.arms)}


def _compared(comparison: Comparison) -> Table:
    title = (
        f"One runtime or two: {comparison.rate:.0f} lookups/s of an airline by {comparison.clients} clients\n"
        f"while views of {comparison.source_rows:,} flights hydrate again and again"
    )
    first, *others = compared_columns(comparison)
    table = _table(title, first, **dict.fromkeys(others, _NUMBER))
    for row in compared_rows(comparison):
        table.add_row(*row)
    table.caption, table.caption_justify = "\n".join(compared_notes(comparison)) or None, "left"
    return table


def _memory(report: Report) -> Table:
    table = _table("Memory by index", "index", records=_NUMBER, batches=_NUMBER, KiB=_NUMBER)
    for index in sorted(report.memory, key=lambda index: -index.bytes):
        table.add_row(index.name, f"{index.records:,}", f"{index.batches:,}", f"{index.bytes / 2**10:,.0f}")
    return table


def _answers(report: Report) -> Table:
    table = Table(title="What the views say", title_justify="left", show_header=False, show_lines=True)
    table.add_column(style="bold", ratio=1)
    table.add_column(ratio=2)
    for question, answer in report.answers.items():
        table.add_row(question, answer)
    return table


_TEXT, _NUMBER = "left", "right"
_READS = {Isolation.STRICT_SERIALIZABLE: "strict lookup", Isolation.SERIALIZABLE: "serializable lookup"}


def _table(title: str, first: str, **columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first, no_wrap=True)
    for name, justify in columns.items():
        table.add_column(name, justify="right" if justify == _NUMBER else "left")
    return table


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _speed(rows: int, seconds: float) -> Iterable[str]:
    return f"{seconds:.3f}", f"{rows / seconds:,.0f}"
