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
