"""A run by its seed, which also says how many workers and runtimes there are."""

from __future__ import annotations

from .run import Workload

STEPS = 100
SHOWN = 40
"""Lines of the journal that a failure shows."""


def run_seed(seed: int, steps: int = STEPS) -> Workload:
    """Run the workload: even seeds with one runtime, odd ones with two; on one worker, then on two.

    Raises:
        AssertionError: an answer is wrong, or a rule was broken; it says how to run the seed again.
    """
    workload = Workload(seed, workers=1 + seed // 2 % 2, interactive=bool(seed % 2))
    try:
        workload.run(steps)
    except Exception as error:
        journal = "\n".join(f"  {line}" for line in workload.journal[-SHOWN:])
        raise AssertionError(
            f"{type(error).__name__}: {error}\n"
            f"the last {SHOWN} actions:\n{journal}\n"
            f"again: python -m tests.property.workload --seed {seed} --steps {steps}"
        ) from error
    finally:
        workload.stop()
    return workload
