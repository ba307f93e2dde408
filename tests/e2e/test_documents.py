"""The documents' code runs, and prints what they say; the examples run."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document: Path) -> list[tuple[int, str, str]]:
    """Line, language and body of every fenced block."""
    text = document.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start()) + 2, m["language"], m["body"]) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md"])
def test_code_prints_what_the_document_says(name: str) -> None:
    document = ROOT / name
    namespace: dict[str, object] = {"__name__": "document"}
    before = set(threading.enumerate())
    found = blocks(document)
    for position, (line, language, body) in enumerate(found):
        if language != "python":
            continue
        # Padding makes line numbers in tracebacks those of the document.
        code = compile("\n" * (line - 1) + body, str(document), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        if position + 1 < len(found) and found[position + 1][1] == "text":
            assert printed.getvalue() == found[position + 1][2], f"{name}, line {line}"
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example_runs(example: Path) -> None:
    finished = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout
