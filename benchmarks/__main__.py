"""``python -m benchmarks``: run benchmarks, or write docs/performance.md from the last run of each."""

from __future__ import annotations

import argparse
import json
import sys

from . import results
from .child import ArmFailed
from .figures import Figure, show
from .plots import plot
from .report import write
from .run import run
from .suite import BENCHMARKS

EPILOG = """\
examples:
  python -m benchmarks hydration
  python -m benchmarks freshness growth --json
  python -m benchmarks all --repetitions 5
  python -m benchmarks report

The peers come with `pip install -e '.[bench]'`. Inputs are written to benchmarks/data and results to
benchmarks/results; git ignores both. Exit status: 0 done, 1 an arm failed or had a wrong result, 2 usage.
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure Pillion side by side with other systems, each in a process of its own.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="+", choices=[*BENCHMARKS, "all", "report"], help="what to run")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="runs of every arm (default: 3)")
    parser.add_argument("--json", action="store_true", help="print a JSON line per figure instead of a table")
    arguments = parser.parse_args()
    if arguments.repetitions < 1:
        parser.error("--repetitions must be at least 1")

    names = list(BENCHMARKS) if "all" in arguments.name else [name for name in arguments.name if name != "report"]
    for name in names:
        try:
            figures = run(BENCHMARKS[name](), arguments.repetitions, _progress)
        except ArmFailed as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            return 1
        plot(results.RESULTS, results.save(name, figures))
        if arguments.json:
            for figure in figures:
                print(json.dumps(figure.json()))
        else:
            _print_table(figures)
    if "all" in arguments.name or "report" in arguments.name:
        print(f"written: {write(results.load_all())}")
    return 0


def _progress(line: str) -> None:
    print(line, file=sys.stderr)


def _print_table(figures: list[Figure]) -> None:
    for quantity in dict.fromkeys(figure.quantity for figure in figures):
        print(f"\n{quantity}")
        for figure in figures:
            if figure.quantity == quantity:
                value, low, high = (show(number, figure.unit) for number in (figure.value, figure.low, figure.high))
                tail = "  ".join(f"{name} {show(number, figure.unit)}" for name, number in figure.percentiles.items())
                print(f"  {figure.arm:32} {value:>10}  ({low} … {high}, {figure.samples} samples)  {tail}")


if __name__ == "__main__":
    sys.exit(main())
