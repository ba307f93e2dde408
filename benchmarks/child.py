"""Runs one workload of one arm in this process and prints what it measured.

Every arm runs in a process of its own, so that no peer's threads, memory or garbage disturb another's figures. An arm
is a module in :mod:`benchmarks.arms`; a workload is a function of it that takes keyword options and returns
:class:`Measured`. The answer is the last line of standard output, as JSON:

    python -m benchmarks.child sqlite point_read '{"rows": 1000000, "reads": 5000}'
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .inputs import Regions

ROOT = Path(__file__).parents[1]
TIMEOUT_SECONDS = 900


class ArmFailed(Exception):
    """An arm's process ended without an answer, or its answer was wrong."""


@dataclass
class Measured:
    """What one run of a workload gives: samples by quantity, the result to check, and sizes in bytes."""

    samples: dict[str, list[float]]
    regions: Regions | None = None
    sizes: dict[str, float] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Answer:
    """:class:`Measured`, as it came back from the other process."""

    samples: dict[str, list[float]]
    regions: Regions | None
    sizes: dict[str, float]
    note: str
    peak_rss_bytes: int


def run_arm(arm: str, workload: str, options: Mapping[str, object], environment: Mapping[str, str]) -> Answer:
    """Run a workload in a new process.

    Raises:
        ArmFailed: it did not answer.
    """
    command = [sys.executable, "-m", "benchmarks.child", arm, workload, json.dumps(dict(options))]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "").strip().splitlines()
        raise ArmFailed(
            f"{arm} {workload} failed: {lines[-1] if lines else f'exit code {error.returncode}'}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ArmFailed(f"{arm} {workload} did not end within {TIMEOUT_SECONDS} s") from error
    answer = json.loads(done.stdout.splitlines()[-1])
    regions = answer.pop("regions")
    return Answer(regions=None if regions is None else {region: (n, total) for region, n, total in regions}, **answer)


def main(arguments: list[str]) -> int:
    arm, workload, options = arguments
    module = importlib.import_module(f"benchmarks.arms.{arm}")
    measured: Measured = getattr(module, workload)(**json.loads(options))
    regions = measured.regions
    answer = {
        "samples": measured.samples,
        "regions": None if regions is None else [(region, n, total) for region, (n, total) in sorted(regions.items())],
        "sizes": measured.sizes,
        "note": measured.note,
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
