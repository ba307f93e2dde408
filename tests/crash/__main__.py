"""Kill a process that writes, again and again, and look at what is left.

python -m tests.crash --rounds 300 [--seed N] [--sync normal] [--directory DIR]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.crash.harness import Harness
from tests.crash.model import Mismatch


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sync", choices=["full", "normal"], default="full")
    parser.add_argument("--longest", type=float, default=0.4, help="seconds that a process has at most")
    parser.add_argument("--directory", type=Path, help="kept; without it, one that is removed when all is well")
    options = parser.parse_args()
    made = None if options.directory else tempfile.mkdtemp(prefix="pillion-crash-")
    directory = options.directory or Path(made or "") / "journal"
    harness = Harness(directory, options.seed, sync=options.sync)
    try:
        for number in range(1, options.rounds + 1):
            harness.round(options.longest)
            if number % 50 == 0:
                print(f"{number} rounds", dict(harness.seen), file=sys.stderr)
        harness.finish()
    except Mismatch as error:
        print(f"round {harness.seen['rounds'] + 1}, seed {options.seed}, {directory}: {error}")
        return 1
    for what, times in sorted(harness.seen.items()):
        print(f"{what}: {times}")
    if made is not None:
        import shutil

        shutil.rmtree(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
