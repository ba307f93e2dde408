"""``python -m tests.property.workload``: the workload under many seeds, or again under one that failed."""

from __future__ import annotations

import argparse
from collections import Counter

from .seeds import STEPS, run_seed


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.property.workload", description=__doc__)
    parser.add_argument("--seed", type=int, help="one seed, with its journal")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 100), metavar=("FIRST", "END"))
    parser.add_argument("--steps", type=int, default=STEPS, help="actions in each run (default: %(default)s)")
    given = parser.parse_args()
    if given.seed is not None:
        workload = run_seed(given.seed, given.steps)
        print("\n".join(workload.journal))
        print(dict(workload.checked))
        return
    checked: Counter[str] = Counter()
    for seed in range(*given.seeds):
        checked += run_seed(seed, given.steps).checked
        print(f"\rseed {seed}: {checked.total()} answers", end="", flush=True)
    print(f"\n{dict(checked)}")


if __name__ == "__main__":
    main()
