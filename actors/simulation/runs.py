"""One run: what decides it, and what came of it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..dispatch.exhaustive import ExhaustiveSchedule
from ..dispatch.schedule import (
    Delivery,
    GivenSchedule,
    PrioritySchedule,
    RecordingSchedule,
    ReseededSchedule,
    UniformSchedule,
)
from .errors import UnknownChoice
from .rules import Rule, RuleBroken
from .scenarios import WORKLOAD, plan
from .simulation import Simulation
from .workload.actions import FAULTS, Action
from .workload.workload import Workload

STEPS = 100
UNIFORM, PRIORITY, EXHAUSTIVE = "uniform", "priority", "exhaustive"
SCHEDULES = (UNIFORM, PRIORITY, EXHAUSTIVE)
PLACES = (("here",), ("elsewhere",), ("here", "here"), ("here", "elsewhere"))
DEPTH, DEPARTURES = 40, 2
"""The bound of the exhaustive schedule."""


class Shape(NamedTuple):
    """What a system consists of: workers of each runtime, whether replicas have a second one, and where they are."""

    workers: int
    interactive: bool
    replicas: tuple[str, ...]

    @staticmethod
    def of(seed: int) -> Shape:
        """Even seeds have one runtime, odd ones two; on one worker, then on two; then other replicas."""
        return Shape(1 + seed // 2 % 2, bool(seed % 2), PLACES[seed // 4 % len(PLACES)])

    def __str__(self) -> str:
        runtimes = "two runtimes" if self.interactive else "one runtime"
        return f"{self.workers} worker{'s' * (self.workers > 1)}, {runtimes}, replicas: {', '.join(self.replicas)}"


@dataclass(frozen=True)
class Case:
    """Everything that decides a run.

    Attributes:
        kept: the numbers of the actions that are done; None: all.
        departures: by the number of a choice, what is delivered instead of what has waited longest; None: the schedule
            decides.
    """

    seed: int
    schedule: str = UNIFORM
    scenario: str = WORKLOAD
    faults: tuple[str, ...] = tuple(FAULTS)
    steps: int = STEPS
    kept: tuple[int, ...] | None = None
    departures: Mapping[int, int] | None = None

    @property
    def actions(self) -> tuple[list[Action], list[Action]]:
        """Those before the schedule begins to decide, and those after."""
        setup, race = plan(self.scenario, self.seed, self.steps, self.faults)
        return setup, race if self.kept is None else [race[at] for at in self.kept if at < len(race)]

    @property
    def command(self) -> str:
        """What runs it again."""
        parts = [f"pillion simulate --seeds {self.seed} --schedule {self.schedule}"]
        if self.scenario == WORKLOAD:
            faults = "all" if self.faults == tuple(FAULTS) else ",".join(self.faults) or "none"
            parts.append(f"--steps {self.steps} --faults {faults}")
        else:
            parts.append(f"--scenario {self.scenario}")
        if self.kept is not None:
            parts.append(f"--only {','.join(map(str, self.kept))}")
        if self.departures is not None:
            given = ",".join(f"{at}:{picked}" for at, picked in sorted(self.departures.items()))
            parts.append(f"--departures {given or 'none'}")
        return " ".join(parts)


@dataclass
class Outcome:
    """What came of a run.

    Attributes:
        broken: the rule that was broken, and how; None: everything holds.
        messages: how many there were.
        checked: how many answers of each kind were checked.
        journal: what was asked.
        trace: the messages, when they were kept.
        done: how many actions of the race were begun.
        departures: the choices of the schedule, as :class:`~..dispatch.schedule.GivenSchedule` takes them.
    """

    case: Case
    broken: RuleBroken | None = None
    messages: int = 0
    checked: Counter[str] = field(default_factory=Counter[str])
    journal: list[str] = field(default_factory=list[str])
    trace: list[Delivery] = field(default_factory=list[Delivery])
    departures: dict[int, int] = field(default_factory=dict[int, int])
    done: int = 0


def make_schedule(name: str, seed: int) -> ReseededSchedule:
    """A schedule that draws its choices.

    Raises:
        UnknownChoice: there is none of this name.
    """
    match name:
        case "uniform":
            return UniformSchedule(seed)
        case "priority":
            return PrioritySchedule(seed)
        case _:
            raise UnknownChoice("schedule", name, SCHEDULES)


def run_case(case: Case, *, paths: ExhaustiveSchedule | None = None, keep_trace: bool = False) -> Outcome:
    """Run it from the beginning to the end, or to where a rule is broken.

    Args:
        paths: the walk through all orders that this run is a step of.
        keep_trace: have every message in the outcome; then it is not checked whether memory is free.
    """
    chosen = paths or (
        make_schedule(case.schedule, case.seed) if case.departures is None else GivenSchedule(case.departures)
    )
    schedule = RecordingSchedule(chosen)
    shape = Shape.of(case.seed)
    setup, race = case.actions
    outcome = Outcome(case)
    simulation = Simulation(case.seed, **shape._asdict(), schedule=schedule, keep_trace=keep_trace)
    workload = Workload(simulation)
    try:
        with _quiet():
            if paths is not None:
                paths.active = False
            for action in setup:
                workload.act(action)
            if paths is not None:
                paths.active = True
            workload.run(race, case.seed)
    except RuleBroken as error:
        outcome.broken = error
    except Exception as error:
        outcome.broken = RuleBroken(Rule.NO_FAILURE, f"{type(error).__name__}: {error}")
        outcome.broken.__cause__ = error
    finally:
        simulation.stop()
    outcome.messages = simulation.dispatcher.steps
    outcome.checked, outcome.journal, outcome.trace = workload.checked, workload.journal, simulation.trace
    outcome.departures, outcome.done = schedule.departures, workload.done - len(setup)
    return outcome


def run_paths(case: Case, most: int) -> Iterator[Outcome]:
    """Run a case in all orders within the bound of the exhaustive schedule, at most so many; or until one fails."""
    paths = ExhaustiveSchedule(DEPTH, DEPARTURES)
    for _ in range(most):
        outcome = run_case(case, paths=paths)
        if outcome.broken is not None:
            outcome.case = replace(case, departures=outcome.departures)
        yield outcome
        if outcome.broken is not None or not paths.advance():
            return


@contextmanager
def _quiet() -> Generator[None]:
    """The actors warn of what a simulation does to them on purpose."""
    logger = logging.getLogger("pillion")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
