"""The whole demo, from loading to the report."""

from __future__ import annotations

import importlib.util
import resource
import sys
import time
from pathlib import Path

from ..system.system import ActorSystem
from .answers import QUESTIONS
from .arms import compare
from .flights import DataNotInstalled, load_flight_data
from .plot import check_plot, write_plot
from .session import Session


def run_demo(
    *,
    workers: int,
    readers: int,
    interactive: bool,
    as_json: bool,
    plot: Path | None = None,
    record: Path | None = None,
) -> bool:
    """Run the demo and print its report.

    Args:
        interactive: with two runtimes, also where they are not compared.
        plot: where the plot of the comparison goes; None: nowhere.
        record: where the message log goes; None: nowhere. The comparison at the end is not in it.

    Returns:
        Whether every view is what the batch recomputation says.

    Raises:
        DataNotInstalled: the extra ``demo`` is not installed.
        PlotNotPossible: there will be no plot there.
        LogExists, LogMissing: nothing can be recorded there.
    """
    if importlib.util.find_spec("rich") is None:
        raise DataNotInstalled
    if plot is not None:
        check_plot(plot)
    from rich.console import Console

    from .progress import bars, no_bars
    from .report import Report, show, to_json

    console = Console()
    begin = time.perf_counter()
    with no_bars() if as_json else bars(console) as progress:
        progress("Reading files", 0, 1)
        data = load_flight_data()
        read_files_seconds = time.perf_counter() - begin
        progress("Reading files", 1, 1)
        with ActorSystem(workers=workers, interactive=interactive, record=record) as system:
            session = Session(system, data, progress)
            tables = session.load()
            indexes = session.define_views()
            live = session.live_month(readers)
            memory = session.memory()
            views = session.read_views()
        differences = session.check(views)
        comparison, courses = compare(data, workers, progress)
    report = Report(
        workers=workers,
        interactive=interactive,
        readers=readers,
        read_files_seconds=read_files_seconds,
        tables=tables,
        indexes=indexes,
        live=live,
        memory=memory,
        answers={question: answer(views) for question, answer in QUESTIONS.items()},
        differences=differences,
        comparison=comparison,
        seconds=time.perf_counter() - begin,
        peak_rss_bytes=_peak_rss(),
    )
    if as_json:
        print(to_json(report))
    else:
        show(report, console)
    if plot is not None:
        write_plot(plot, comparison, courses)
    return report.is_right


def _peak_rss() -> int:
    """The most memory that this process has had, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
