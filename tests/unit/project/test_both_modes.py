"""What is tested is tested with one runtime and with two, with one worker and with more."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def collected(*arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_scripts_and_the_embedding_surface_run_with_one_runtime_and_with_two() -> None:
    found = collected("tests/spec", "tests/e2e/test_reading.py", "tests/e2e/test_introspection.py")
    for script in (ROOT / "tests" / "spec").glob("*.spec"):
        modes = set(re.findall(rf"{re.escape(script.name)}::workers=(\d)(, interactive)?$", found, re.MULTILINE))
        assert {("1", ""), ("2", ""), ("1", ", interactive"), ("2", ", interactive")} <= modes, script.name
    for mode in ("1 worker", "2 workers", "1 worker, two runtimes", "2 workers, two runtimes"):
        assert f"[{mode}]" in found, mode
