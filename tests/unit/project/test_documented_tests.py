"""The documents name tests; each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_test_that_a_document_names_exists() -> None:
    defined = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    named = {
        name
        for path in (ROOT / "docs").glob("*.md")
        for name in re.findall(r"`(test_\w+)`", path.read_text(encoding="utf-8"))
    }
    assert named
    assert not named - defined


def test_every_test_that_the_checklist_names_is_in_the_file_that_it_names() -> None:
    text = (ROOT / "docs" / "interactive-runtime-checklist.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| ---", "| point"))]
    assert len(rows) > 40
    for row in rows:
        tests = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
        assert tests, f"no test shows: {row}"
        for file, name in tests:
            source = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^def {name}\(", source, re.MULTILINE), f"{file} has no {name}"
        for path in re.findall(r"`((?:actors|dataflow|messages)/[\w/.]+)`", row):
            assert (ROOT / path).exists(), f"there is no {path}"
