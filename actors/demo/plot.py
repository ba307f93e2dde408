"""The plot of the comparison, in a file whose suffix says what kind it is."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from ...messages.errors import PillionError
from .comparison import Comparison, Course
from .picture import picture_of

PNG, HTML = ".png", ".html"


class PlotNotPossible(PillionError):
    """The plot cannot be drawn, or not where it was asked for."""


def check_plot(path: Path) -> None:
    """Notice before anything is measured that the plot cannot be written.

    Raises:
        PlotNotPossible: another suffix, no such folder, or matplotlib is not installed.
    """
    if path.suffix.lower() not in (PNG, HTML):
        raise PlotNotPossible(f"the plot's file ends in {PNG} or {HTML}, and {str(path)!r} was given")
    if path.suffix.lower() == PNG and importlib.util.find_spec("matplotlib") is None:
        raise PlotNotPossible(
            f"a {PNG} needs matplotlib: run `pip install 'pillion[plot]'`, or give a file that ends in {HTML}"
        )
    if path.is_dir() or not path.parent.is_dir():
        raise PlotNotPossible(f"the plot cannot be written to {str(path)!r}: give a file in a folder that exists")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PlotNotPossible(f"the plot cannot be written to {str(path)!r}: permission denied; give another file")


def write_plot(path: Path, comparison: Comparison, courses: Sequence[Course]) -> None:
    """Draw the comparison, as ``path`` says.

    Raises:
        OSError: the file cannot be written.
    """
    picture = picture_of(comparison, courses)
    if path.suffix.lower() == PNG:
        from .drawing_png import draw

        draw(path, picture)
    else:
        from .drawing_html import page

        path.write_text(page(comparison, picture), encoding="utf-8")
