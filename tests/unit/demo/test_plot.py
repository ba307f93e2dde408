"""The plot as a file."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from pillion.actors.demo.plot import PlotNotPossible, check_plot, write_plot

from .compared import READS, UNANSWERED, comparison, courses

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "lookups.HTML"
    arms = courses()
    write_plot(path, comparison(arms), arms)
    return path.read_text(encoding="utf-8")


@pytest.fixture
def drawing(page: str) -> ElementTree.Element:
    begin, end = page.index("<svg"), page.index("</svg>") + len("</svg>")
    return ElementTree.fromstring(page[begin:end])


def test_a_page_loads_nothing(page: str) -> None:
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?:|<script|<link|<img|@import|url\(|src=|href=", page)


def test_a_page_has_the_table_and_the_sentence(page: str) -> None:
    assert "<td>one runtime</td><td>40</td><td>500 ms</td><td>≥ 2.00 s</td><td>2</td>" in page
    assert "With one runtime the slowest lookup took ≥ 2.00 s" in page
    assert "of one runtime, 5 lookups had no answer yet" in page


def test_every_lookup_is_drawn_within_its_panel(drawing: ElementTree.Element) -> None:
    paths = [path.attrib["d"] for path in drawing.iter("path")]
    assert [path.count("M") for path in paths] == [READS - UNANSWERED, UNANSWERED, READS]
    frames = [frame.attrib for frame in drawing.iter("rect") if frame.attrib["class"] == "frame"]
    for path, frame in zip(paths, [frames[0], *frames], strict=True):
        left, top = float(frame["x"]), float(frame["y"])
        for x, y in re.findall(r"M([\d.]+) ([\d.]+)", path):
            assert left <= float(x) <= left + float(frame["width"])
            assert top <= float(y) <= top + float(frame["height"])


def test_hydrations_are_shaded_and_named(drawing: ElementTree.Element) -> None:
    titles = [title.text for title in drawing.iter("title")]
    assert titles == ["long_lasting: 1.50 s", "<short>: 0.50 s", "long_lasting: 1.25 s"]
    names = [text.text for text in drawing.iter("text") if text.attrib.get("class") == "view"]
    assert names == ["long_lasting", "<short>", "long_lasting"]


def test_a_png(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "lookups.png"
    arms = courses()
    write_plot(path, comparison(arms), arms)
    with Image.open(path) as image:
        assert image.format == "PNG"
        colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 24) or []}
    assert len(colours) > 50, "an empty picture has few colours"


def test_what_can_be_written_passes(tmp_path: Path) -> None:
    for name in ("lookups.png", "lookups.html", "lookups.PNG"):
        check_plot(tmp_path / name)
    (tmp_path / "there.html").write_text("the last one")
    check_plot(tmp_path / "there.html")
    assert (tmp_path / "there.html").read_text() == "the last one"


@pytest.mark.parametrize("name", ["lookups", "lookups.pdf", "", "png"])
def test_another_kind_of_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PlotNotPossible, match=r"ends in \.png or \.html"):
        check_plot(tmp_path / name)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlotNotPossible, match="a folder that exists"):
        check_plot(tmp_path / "missing" / "lookups.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(PlotNotPossible, match="a folder that exists"):
        check_plot(tmp_path / "folder.html")


def test_without_matplotlib_a_png_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PlotNotPossible, match=r"pillion\[plot\].*ends in \.html"):
        check_plot(tmp_path / "lookups.png")
    check_plot(tmp_path / "lookups.html")
