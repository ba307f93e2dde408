"""``messages`` <- ``dataflow`` <- ``actors``: no import against the arrows, and the engine knows no thread or clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = ("messages", "dataflow", "actors")
ALLOWED = {"messages": {"messages"}, "dataflow": {"messages", "dataflow"}, "actors": set(PACKAGES)}
FORBIDDEN_OUTSIDE_ACTORS = {"pykka", "threading", "_thread", "queue", "concurrent", "asyncio", "time", "random"}


def source_files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imported_modules(path: Path) -> Iterator[str]:
    """Absolute names of what a file imports; relative imports as the package that they resolve to."""
    package = ("pillion", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            yield ".".join((*base, *(node.module.split(".") if node.module else ())))


@pytest.mark.parametrize("path", source_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_arrows(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    for name in imported_modules(path):
        parts = name.split(".")
        assert parts[0] not in PACKAGES, f"import {name} works only from the repository's root"
        if parts[0] == "pillion" and len(parts) > 1:
            assert parts[1] in ALLOWED[package], f"{package} must not import {name}"
        if package != "actors":
            assert parts[0] not in FORBIDDEN_OUTSIDE_ACTORS, f"{package} must not import {name}"


def test_the_check_sees_relative_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    module = tmp_path / "messages" / "inner" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text("from ...dataflow.columns import Column\nfrom ..ids import GlobalId\nimport time\n")
    assert list(imported_modules(module)) == ["pillion.dataflow.columns", "pillion.messages.ids", "time"]
