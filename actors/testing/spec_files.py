"""A pytest plugin that collects protocol scripts (``*.spec``): one test for each file, number of workers and of
runtimes.

In a ``conftest.py``:

    pytest_plugins = ("pillion.actors.testing.spec_files",)

What runs scripts is imported when there is one to run, so that the plugin costs other test runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

WORKERS = (1, 2, 3)
TIMEOUT = 20.0
"""Seconds that a directive may wait, unless it says otherwise."""


class DifferentOutput(AssertionError):
    """A script printed something else than it expects; the message has the differences."""


class SpecItem(pytest.Item):
    """One run of a script."""

    def __init__(self, *, workers: int, interactive: bool, **fields: Any) -> None:
        cast(Any, super()).__init__(**fields)
        self._workers = workers
        self._interactive = interactive

    def runtest(self) -> None:
        """Run the script on a fresh replica.

        Raises:
            DifferentOutput: it printed something else than it expects.
            ScriptSyntaxError: the file is no script.
        """
        from ..scripts.parse import parse_script
        from ..scripts.runner import differences, run_script

        script = parse_script(self.path.read_text(encoding="utf-8"))
        found = differences(script, run_script(script, self._workers, TIMEOUT, interactive=self._interactive))
        if found:
            raise DifferentOutput("\n".join(difference.show(self.path) for difference in found))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        if isinstance(excinfo.value, DifferentOutput):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}, {self.name}"


class SpecFile(pytest.File):
    """A file with a script."""

    def collect(self) -> Iterable[SpecItem]:
        """A run for each number of workers, with one runtime and with two."""
        for workers in WORKERS:
            for interactive in (False, True):
                name = f"workers={workers}{', interactive' if interactive else ''}"
                yield cast(Any, SpecItem).from_parent(self, name=name, workers=workers, interactive=interactive)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SpecFile | None:
    """Have pytest take a protocol script for what it is."""
    return cast(Any, SpecFile).from_parent(parent, path=file_path) if file_path.suffix == ".spec" else None
