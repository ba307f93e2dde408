"""``pillion simulate``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .arguments import add_command, positive
from .exits import DIFFERENT, DONE, UnusableInput

if TYPE_CHECKING:
    from ..simulation.runs import Case
    from .arguments import Commands

DESCRIPTION = """\
Run whole systems in simulations: a random workload, or a small scenario, whose messages are delivered in an order that
the seed decides, while connections break, replicas restart and workers die. After every message the rules of the
protocol are checked, and every answer is compared with an oracle. The first run that fails is made small, and a command
is printed that runs it again. docs/testing.md tells more."""

EXAMPLES = """\
  pillion simulate
  pillion simulate --seeds 0..5000 --schedule priority
  pillion simulate --seeds 4711 --faults disconnect,die
  pillion simulate --scenario drop-and-create --schedule exhaustive --seeds 0..4"""

_MOST_ORDERS = 2000


def add_to(commands: Commands) -> None:
    """Define the subcommand."""
    parser = add_command(commands, "simulate", "look for faults in simulations", DESCRIPTION, EXAMPLES)
    parser.add_argument(
        "--seeds",
        default="0..100",
        metavar="A..B",
        help="the seeds from A up to, not including, B, or one seed (default: 0..100)",
    )
    parser.add_argument(
        "--schedule",
        default="uniform",
        metavar="NAME",
        help="uniform: any message may be next; priority: some are late for long; exhaustive: all orders of a scenario "
        "within a bound (default: uniform)",
    )
    parser.add_argument(
        "--scenario", default="workload", metavar="NAME", help="what is done; ? lists them (default: workload)"
    )
    parser.add_argument(
        "--faults",
        default="all",
        metavar="NAMES",
        help="all, none, or names with commas between them; ? lists them (default: all)",
    )
    parser.add_argument(
        "--steps", type=positive, default=100, metavar="N", help="actions of each run of the workload (default: 100)"
    )
    parser.add_argument(
        "--orders",
        type=positive,
        default=_MOST_ORDERS,
        metavar="N",
        help=f"with the exhaustive schedule: orders of each seed at most (default: {_MOST_ORDERS})",
    )
    parser.add_argument("--only", metavar="N,…", help="do only these actions; a shrunk run is given by them")
    parser.add_argument(
        "--departures",
        metavar="N:M,…",
        help="deliver what waits longest, except at these choices; a shrunk run is given by them",
    )
    parser.add_argument("--no-shrink", action="store_true", help="do not look for a smaller run that fails")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the simulations; :data:`~.exits.DIFFERENT` when one fails."""
    from ..simulation.explore import explore, parse_seeds, progress_of, tell_failure
    from ..simulation.runs import run_case
    from ..simulation.shrink import shrink

    seeds = parse_seeds(options.seeds)
    if "?" in (options.scenario, options.faults):
        print(_choices())
        return DONE
    case = _case(options, seeds)
    summary = explore(seeds, case, most_orders=options.orders, progress=progress_of())
    failed = summary.failed
    if failed is not None:
        smallest = run_case(failed.case, keep_trace=True) if options.no_shrink else shrink(failed)
        print(tell_failure(failed, smallest))
    print(summary.line())
    if summary.unfinished:
        print(f"of {summary.unfinished} seeds, not all orders within the bound were run: raise --orders")
    return DONE if failed is None else DIFFERENT


def _case(options: argparse.Namespace, seeds: range) -> Case:
    from ..simulation.errors import UnknownChoice
    from ..simulation.runs import EXHAUSTIVE, SCHEDULES, Case
    from ..simulation.scenarios import SCENARIOS, WORKLOAD, check_scenario
    from ..simulation.workload.actions import parse_faults

    if options.schedule not in SCHEDULES:
        raise UnknownChoice("schedule", options.schedule, SCHEDULES)
    scenario = check_scenario(options.scenario)
    only, departures = _only(options.only), _departures(options.departures)
    if options.schedule == EXHAUSTIVE and scenario == WORKLOAD and departures is None:
        raise UnusableInput(
            "the workload has too many orders for --schedule exhaustive: give a --scenario, such as "
            f"{', '.join(list(SCENARIOS)[:3])}"
        )
    if (only is not None or departures is not None) and len(seeds) > 1:
        raise UnusableInput("--only and --departures are of one run: give one seed, such as --seeds 4711")
    return Case(seeds[0], options.schedule, scenario, parse_faults(options.faults), options.steps, only, departures)


def _only(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise UnusableInput(f"--only {text!r} is not numbers of actions with commas between them, such as 0,3,17")
    return tuple(int(part) for part in parts)


def _departures(text: str | None) -> dict[int, int] | None:
    if text is None:
        return None
    departures: dict[int, int] = {}
    for part in () if text == "none" else text.split(","):
        at, _, picked = part.strip().partition(":")
        if not (at.isdecimal() and picked.isdecimal()):
            raise UnusableInput(f"--departures {text!r} is neither 'none' nor pairs of numbers, such as 12:1,40:2")
        departures[int(at)] = int(picked)
    return departures


def _choices() -> str:
    from ..simulation.scenarios import SCENARIOS
    from ..simulation.workload.actions import FAULTS

    width = max(map(len, SCENARIOS))
    scenarios = [f"  {'workload':<{width}}  everything that an application may ask, in a random order"]
    scenarios += [f"  {name:<{width}}  {scenario.summary}" for name, scenario in SCENARIOS.items()]
    return "scenarios:\n" + "\n".join(scenarios) + f"\nfaults: {', '.join(FAULTS)}"
