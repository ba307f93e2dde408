"""The documents' code and commands run, and print what they say; the examples run."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pillion.actors.cli.main import main as run_command

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document: Path) -> list[tuple[int, str, str]]:
    """Line, language and body of every fenced block."""
    text = document.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start()) + 2, m["language"], m["body"]) for m in BLOCK.finditer(text)]


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_prints_what_the_document_says(page: Path) -> None:
    namespace: dict[str, object] = {"__name__": "document"}
    before = set(threading.enumerate())
    found = blocks(page)
    for position, (line, language, body) in enumerate(found):
        if language != "python":
            continue
        # Padding makes line numbers in tracebacks those of the document.
        code = compile("\n" * (line - 1) + body, str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        if position + 1 < len(found) and found[position + 1][1] == "text":
            assert printed.getvalue() == found[position + 1][2], f"{name_of(page)}, line {line}"
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_language_that_is_checked(page: Path) -> None:
    """Python and what it prints here; scripts without a language, and shell, by ``test_script_document`` and below."""
    for line, language, body in blocks(page):
        assert language in {"python", "text", "sh", "mermaid", ""}, f"{name_of(page)}, line {line}"
        if not language:
            is_drawing = body.lstrip().startswith("since")
            assert is_drawing or page.name == "protocol-scripts.md", f"{name_of(page)}, line {line}"


def test_commands_of_the_documents_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.spec").write_text("reconnect\n----\nok\n", encoding="utf-8")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    commands = [
        shlex.split(command, comments=True)[1:]
        for page in PAGES
        for _, language, body in blocks(page)
        if language == "sh"
        for command in body.splitlines()
        if command.startswith("pillion ")
    ]
    assert commands
    for command in commands:
        # All scripts at once are run by pytest already.
        arguments = ["a.spec" if "*" in argument else argument for argument in command]
        assert run_command(arguments) == 0, command


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example_runs(example: Path) -> None:
    finished = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout
