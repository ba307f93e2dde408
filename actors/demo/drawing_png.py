"""The picture as a PNG, by matplotlib."""

# matplotlib leaves the types of most keyword arguments open.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .picture import Panel, Picture

SHADES = ("#f1f5f9", "#e2e8f0")
INK, FAINT = "#1e293b", "#64748b"
INCHES_PER_CHARACTER = 0.06
WIDTH = 10.0


def draw(path: Path, picture: Picture) -> None:
    """Write the file.

    Raises:
        OSError: it cannot be written.
    """
    figure = Figure(figsize=(WIDTH, 1.6 + 2.1 * len(picture.panels)), layout="constrained")
    FigureCanvasAgg(figure)
    every = figure.subplots(len(picture.panels), sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, panel in zip(every, picture.panels, strict=True):
        _draw_panel(axes, panel, picture)
    every[-1].set_xlabel("\n".join(["seconds", *picture.legend]), color=FAINT, fontsize=9)
    figure.suptitle(picture.heading, fontsize=13, fontweight="bold", color=INK)
    figure.savefig(path, format="png", dpi=120)


def _draw_panel(axes: Axes, panel: Panel, picture: Picture) -> None:
    axes.set_title(panel.title, loc="left", fontsize=10, color=INK, pad=8)
    axes.set_yscale("log")
    axes.set_xlim(0, picture.seconds)
    axes.set_ylim(10.0**picture.bottom, 10.0**picture.highest)
    axes.set_yticks(*zip(*picture.decades, strict=True))
    axes.tick_params(colors=FAINT, labelsize=8)
    axes.minorticks_off()
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="#cbd5e1", linewidth=0.6)
    axes.spines[:].set_color("#cbd5e1")
    for band in panel.bands:
        axes.axvspan(band.begin, band.end, color=SHADES[band.shade], linewidth=0, zorder=0)
        if (band.end - band.begin) / picture.seconds * WIDTH > INCHES_PER_CHARACTER * len(band.view):
            middle = (band.begin + band.end) / 2
            place = axes.get_xaxis_transform()
            axes.text(middle, 0.02, band.view, transform=place, ha="center", fontsize=7, color=FAINT)
    for moment in picture.rounds:
        axes.axvline(moment, color=FAINT, linestyle="--", linewidth=0.8)
    for points, marker, opacity in ((panel.answered, ".", 0.6), (panel.waiting, "^", 0.35)):
        if points:
            due, latencies = zip(*points, strict=True)
            axes.plot(due, latencies, marker, color=panel.colour, alpha=opacity, markersize=4, markeredgewidth=0)
