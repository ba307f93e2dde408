"""The picture as an HTML page that needs nothing but a browser: no network, no script."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

from .comparison import Comparison
from .picture import Band, Panel, Picture, Point
from .report import compared_columns, compared_notes, compared_rows

WIDTH, LEFT, RIGHT = 1000, 64, 12
PANEL, TOP, GAP, BOTTOM = 168, 22, 16, 22
"""Heights: of a panel, of the title above it, between two, and of what is below the last one."""
CHARACTER = 5.4
"""Width of a character in a band, on average."""

STYLE = """
:root { color-scheme: light dark; --ink: #1e293b; --faint: #64748b; --paper: #fff; --line: #cbd5e1;
  --band-0: #f1f5f9; --band-1: #e2e8f0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e2e8f0; --faint: #94a3b8; --paper: #0f172a; --line: #475569;
  --band-0: #1e293b; --band-1: #293548; } .dots { filter: brightness(1.8); } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1000px;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.35rem; } p { max-width: 46rem; } svg { width: 100%; height: auto; margin-top: 1.5rem; }
div { overflow-x: auto; } table { border-collapse: collapse; }
th, td { padding: .25rem .9rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line);
  font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; padding-left: 0; } .note { color: var(--faint); }
svg text { font: 11px system-ui, sans-serif; fill: var(--faint); }
svg .title { font-size: 13px; font-weight: 600; fill: var(--ink); } svg .view { font-size: 9.5px; }
.band-0 { fill: var(--band-0); } .band-1 { fill: var(--band-1); }
.grid { stroke: var(--line); stroke-width: 0.6; } .frame { fill: none; stroke: var(--line); }
.round { stroke: var(--faint); stroke-dasharray: 4 3; }
"""


def page(comparison: Comparison, picture: Picture) -> str:
    """The whole page."""
    head = "".join(f"<th>{escape(name)}</th>" for name in compared_columns(comparison))
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in compared_rows(comparison)
    )
    notes = "\n".join(f'<p class="note">{escape(note)}</p>' for note in compared_notes(comparison))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Pillion: one runtime or two</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(picture.heading)}</h1>
<p>{escape(picture.sentence)}</p>
<div>
<table>
<tr>{head}</tr>
{rows}
</table>
</div>
{notes}
{_drawing(picture)}
<p class="note">{escape(" ".join(picture.legend))}</p>
</body>
</html>
"""


def _drawing(picture: Picture) -> str:
    step = TOP + PANEL + GAP
    height = len(picture.panels) * step - GAP + BOTTOM
    lines = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(picture.heading)}">']
    for number, panel in enumerate(picture.panels):
        lines += _PanelDrawing(picture, panel, number * step + TOP).elements()
    bottom = height - BOTTOM
    for second in range(math.floor(picture.seconds) + 1):
        x = LEFT + second / picture.seconds * (WIDTH - LEFT - RIGHT)
        lines.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{second} s</text>')
    lines.append("</svg>")
    return "\n".join(lines)


class _PanelDrawing:
    """One panel, whose plot begins ``top`` below the upper edge."""

    def __init__(self, picture: Picture, panel: Panel, top: int) -> None:
        self._picture = picture
        self._panel = panel
        self._top = top

    def elements(self) -> Iterator[str]:
        """In the order in which they are drawn."""
        panel, top, right, bottom = self._panel, self._top, WIDTH - RIGHT, self._top + PANEL
        yield f'<text class="title" x="{LEFT}" y="{top - 7}">{escape(panel.title)}</text>'
        yield from map(self._band, panel.bands)
        for latency, text in self._picture.decades:
            y = self._y(latency)
            yield f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
        for moment in self._picture.rounds:
            x = self._x(moment)
            yield f'<line class="round" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>'
        dots, triangles = self._path(panel.answered, "h0"), self._path(panel.waiting, "m-3 3h6l-3-6z")
        yield (
            f'<path class="dots" d="{dots}" fill="none" stroke="{panel.colour}" stroke-width="3.4" '
            f'stroke-linecap="round" stroke-opacity="0.7"/>'
        )
        if triangles:
            yield f'<path class="dots" d="{triangles}" fill="{panel.colour}" fill-opacity="0.35"/>'
        yield f'<rect class="frame" x="{LEFT}" y="{top}" width="{right - LEFT}" height="{PANEL}"/>'

    def _band(self, band: Band) -> str:
        begin, end = self._x(band.begin), self._x(band.end)
        shape = (
            f'<rect class="band-{band.shade}" x="{begin:.1f}" y="{self._top}" width="{end - begin:.1f}" '
            f'height="{PANEL}"><title>{escape(band.view)}: {band.end - band.begin:.2f} s</title></rect>'
        )
        if end - begin < CHARACTER * len(band.view):
            return shape
        place = f'x="{(begin + end) / 2:.1f}" y="{self._top + PANEL - 5}" text-anchor="middle"'
        return f'{shape}<text class="view" {place}>{escape(band.view)}</text>'

    def _path(self, points: list[Point], mark: str) -> str:
        return "".join(f"M{self._x(due):.1f} {self._y(latency):.1f}{mark}" for due, latency in points)

    def _x(self, moment: float) -> float:
        return LEFT + moment / self._picture.seconds * (WIDTH - LEFT - RIGHT)

    def _y(self, latency: float) -> float:
        bottom, highest = self._picture.bottom, self._picture.highest
        return self._top + PANEL * (highest - math.log10(latency)) / (highest - bottom)
