"""Plots of a run, as SVG files."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "pillion"

from matplotlib import pyplot  # noqa: E402  (after the backend was chosen)

from .figures import Figure, show  # noqa: E402
from .results import Run  # noqa: E402

OURS, OTHERS = "#c2410c", "#94a3b8"
STYLES = {"tick of 1": "-", "tick of 1,000": "--"}


def plot(folder: Path, run: Run) -> dict[str, Path]:
    """Draw a run: one plot by quantity of time or rate, for growth one of them all, for a breakdown none. The files, by
    quantity."""
    if run.name == "breakdown":
        return {}
    timed = [figure for figure in run.figures if figure.unit != "bytes"]
    if run.name == "growth":
        return {"growth": _growth(folder, timed)}
    quantities = dict.fromkeys(figure.quantity for figure in timed)
    return {
        quantity: _bars(folder, run.name, quantity, [figure for figure in timed if figure.quantity == quantity])
        for quantity in quantities
    }


def _bars(folder: Path, benchmark: str, quantity: str, figures: list[Figure]) -> Path:
    """Bars of one quantity on a logarithmic axis, the spread as whiskers."""
    figure, axes = pyplot.subplots(figsize=(7, 0.6 + 0.35 * len(figures)), layout="constrained")
    arms, values = [item.arm for item in figures], [item.value for item in figures]
    spread = [
        [max(item.value - item.low, 0) for item in figures],
        [max(item.high - item.value, 0) for item in figures],
    ]
    colours = [OURS if arm.startswith("Pillion") else OTHERS for arm in arms]
    bars = axes.barh(arms, values, xerr=spread, color=colours, ecolor="#334155", capsize=3)
    axes.bar_label(bars, [show(item.value, item.unit) for item in figures], padding=8, fontsize=8)
    axes.set_xscale("log")
    axes.margins(x=0.2)
    axes.invert_yaxis()
    axes.set_xlabel("per second (more is better)" if figures[0].unit == "1/s" else "seconds (less is better)")
    axes.spines[["top", "right"]].set_visible(False)
    return _save(folder, f"{benchmark}-{_slug(quantity)}", figure)


def _growth(folder: Path, figures: list[Figure]) -> Path:
    """Time of a tick over the number of rows, one line per system and size of tick."""
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for item in figures:
        system = item.arm.split(",")[0]
        lines.setdefault((system, item.quantity), []).append((_rows(item.arm), item.value))
    for (system, quantity), points in lines.items():
        colour = OURS if system == "Pillion" else OTHERS
        style = STYLES.get(quantity, ":")
        axes.plot(*zip(*sorted(points), strict=True), style, color=colour, marker="o", label=f"{system}, {quantity}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("orders loaded before")
    axes.set_ylabel("seconds per tick")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return _save(folder, "growth", figure)


def _rows(arm: str) -> int:
    """``10000`` of ``Pillion, 1 worker, 10,000 rows``."""
    return int(arm.split(", ")[-1].removesuffix(" rows").replace(",", ""))


def _slug(text: str) -> str:
    return text.replace(",", "").replace(" ", "-").lower()


def _save(folder: Path, name: str, figure: pyplot.Figure) -> Path:
    path = folder / f"{name}.svg"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path
