"""Writes ``docs/performance.md`` and its plots from the results of the last runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .figures import Figure, show
from .plots import plot
from .results import Run
from .targets import judged

DOCS = Path(__file__).parents[1] / "docs"

INTRODUCTION = """\
# Performance

Written by `python -m benchmarks report` from measurements; edit `benchmarks/report.py`, not this page.

A million orders join 50,000 customers and are grouped by the customer's region, with count and sum. Pillion is
measured beside systems that answer the same question, each in a process of its own, on the same input, in one run.
"""

RULES = """\
## How to read the figures

* Times are medians. The spread in parentheses goes from the least to the greatest median of a repetition; arms took
  turns, so a slow minute of the machine fell on all of them. A difference within the spread is no difference.
* A percentile is given where at least ten samples lie beyond it; the number of samples stands beside it.
* Every arm's result was compared with one computed by NumPy. An arm with a wrong result ends the run.
* A tick is timed from the moment an application holds the changed rows as Python tuples until it holds a result that
  includes them: making columns, committing, maintaining and reading are all inside. Ours is read at the commit's own
  timestamp. After a single order the region that it belongs to is looked up; after 1,000 orders all regions are read.
  Pathway has no reads: its output stream brings the regions that changed. DuckDB is shown twice, recomputing the whole
  result, which is what the others maintain, and for the one region alone.
* Loads are closed loops, one writer or one reader that waits for each answer, unless it says otherwise. The machine was
  not free of other work for every benchmark; run them on an idle one for figures of your own.

What the others do and do not do:

| system | keeps the result | keeps history | reads while it maintains |
| --- | --- | --- | --- |
| Pillion | yes, for changes of both inputs | as far as its read policy says | yes, at one timestamp |
| Pathway | yes, for changes of both inputs | no | none: a result is a stream that one follows |
| SQLite with a trigger | yes, for new orders alone | no | no: one thread does both |
| DuckDB | no: it computes anew | no | yes |
| stock pykka | – | – | – |

None of them was asked to be durable. DuckDB and SQLite are reached through their Python clients, as an application
would reach them.
"""

SINGLE_ROWS = """\
Processor time by actor and message, and the rest. A commit and the read after it run on the application's own thread,
handler after handler, because nobody else is at work; the rest is making columns of the row, passing messages on, and
the lookup. A row costs hundreds of calls in the worker's handler, where a native engine has machine code. None of it
grows with the data, so the distance to recomputing does.
"""

ISOLATION = """\
Point reads of a small index while indexes over a million orders are created, hydrated and dropped in a loop.
*Sealed*: nothing is written to what is read. *Fresh*: it is written to all the time, and a read waits until it
includes every write before it, so it waits for maintenance in any design. *Direct*: a lookup on the reader's own
thread, sealed. Sealed and fresh reads go through the actors. Reads come at fixed moments and are timed from the
moment at which they were due, at 30 % of what one after the other come to under the same churn.

What a second runtime does not buy: more processors (this machine has two, and a hydration wants one of them whole),
or reads at the write frontier before maintenance has got there.
"""

TITLES = {
    "hydration": ("Hydration", "From files, or from tables in memory, to the first complete result."),
    "freshness": ("Freshness", "From changed rows to a result that includes them, with a million orders loaded."),
    "growth": ("Growth", "The same as freshness, over the number of orders loaded before."),
    "point-read": (
        "Point read",
        "One order of a million by its id: asked for, through the actors, or looked up directly, on the reader's own "
        "thread. Nothing is written meanwhile.",
    ),
    "breakdown": ("Where a tick of one order goes", SINGLE_ROWS),
    "messages": ("Actor messages", "Tells from one thread until the last was handled, and one ask after another."),
    "isolation": ("Read isolation", ISOLATION),
    "introspection": (
        "Introspection under hydration",
        "The frontiers of all collections, read while views are hydrated: an open loop at 30 % of what a closed one "
        "manages. With two runtimes the answer is what was recorded last, and says how old it is.",
    ),
    "expensive-peeks": (
        "Reads behind expensive ones",
        "Point reads through the actors, while another thread reads all rows of an index of a million again and again.",
    ),
    "publication": (
        "The price of the second runtime",
        "Hydration of the same views, and the memory of the process, when nobody reads.",
    ),
    "durability": (
        "Durable writes",
        "Single rows, each in a transaction of its own that is durable when the write returns, beside SQLite in WAL "
        "mode with the same synchronization. SQLite keeps the table; Pillion keeps an index on it up to date as well.",
    ),
    "view-freshness": (
        "Freshness beside one-shot queries",
        "Ticks of one order with a read of the region, while another thread runs joins of the million orders that no "
        "index answers.",
    ),
}


def write(runs: Mapping[str, Run]) -> Path:
    """The page that was written. Benchmarks that never ran are left out."""
    parts = [INTRODUCTION, _targets(runs), RULES]
    parts += [_section(runs[name]) for name in TITLES if name in runs]
    path = DOCS / "performance.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def _targets(runs: Mapping[str, Run]) -> str:
    lines = ["## Targets", "", "| ratio | measured | target | |", "| --- | --- | --- | --- |"]
    for target, ratio in judged(runs):
        verdict = "met" if target.is_met(ratio) else "**missed**"
        lines.append(f"| {target.statement} | {ratio:.3g}× | {target.bound} | {verdict} |")
    return "\n".join([*lines, ""])


def _section(run: Run) -> str:
    title, what = TITLES[run.name]
    lines = [f"## {title}", "", what, ""]
    if run.name == "breakdown":
        return "\n".join([*lines, *_breakdown(run.figures), "", _measured_on(run), ""])
    plots = plot(DOCS / "figures", run)
    for quantity in dict.fromkeys(figure.quantity for figure in run.figures):
        figures = [figure for figure in run.figures if figure.quantity == quantity]
        lines += [f"### {quantity[0].upper() + quantity[1:]}", "", *_table(figures), ""]
        if quantity in plots:
            lines += [_image(quantity, plots[quantity]), ""]
    notes = dict.fromkeys(f"{figure.arm}: {figure.note}." for figure in run.figures if figure.note)
    lines += [note + "\n" for note in notes]
    if "growth" in plots:
        lines += [_image("growth", plots["growth"]), ""]
    return "\n".join([*lines, _measured_on(run), ""])


def _measured_on(run: Run) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    return f"Measured on {run.date}: {run.machine}; {versions}."


def _breakdown(figures: list[Figure]) -> list[str]:
    rows = [[figure.quantity, show(figure.value, figure.unit), f"{figure.samples:,}"] for figure in figures]
    return [_row(["what", "median", "samples"]), _row(["---"] * 3), *map(_row, rows)]


def _table(figures: list[Figure]) -> list[str]:
    names = list(dict.fromkeys(name for figure in figures for name in figure.percentiles))
    head = ["system", "median", "spread", *names, "maximum", "samples", "peak memory of the process"]
    rows = [
        [
            figure.arm,
            show(figure.value, figure.unit),
            f"({show(figure.low, figure.unit)} … {show(figure.high, figure.unit)})",
            *(show(figure.percentiles[name], figure.unit) if name in figure.percentiles else "–" for name in names),
            show(figure.maximum, figure.unit),
            f"{figure.samples:,}",
            show(figure.peak_rss_bytes, "bytes"),
        ]
        for figure in figures
    ]
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows)]


def _image(text: str, path: Path) -> str:
    return f"![{text}]({path.relative_to(DOCS)})"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
