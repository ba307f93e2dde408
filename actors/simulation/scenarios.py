"""What a simulation may be given to do: a random workload, or a few requests that race each other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import UnknownChoice
from .workload.actions import Action, draw_actions


@dataclass(frozen=True, slots=True)
class Scenario:
    """A few requests that race each other.

    Attributes:
        summary: what it is about.
        setup: the kinds of actions before the race; each is settled before the next.
        race: the kinds of actions that are done without anything being delivered between them.
    """

    summary: str
    setup: tuple[str, ...]
    race: tuple[str, ...]

    def actions(self, seed: int) -> tuple[list[Action], list[Action]]:
        """The setup, and the race."""
        rng = random.Random(seed)
        setup = [Action(kind, rng.getrandbits(32)) for part in self.setup for kind in (part, "settle")]
        return setup, [Action(kind, rng.getrandbits(32)) for kind in self.race]


WORKLOAD = "workload"
_INDEXED = ("create table", "commit", "create index", "commit")

SCENARIOS = {
    "write-and-read": Scenario("reads beside transactions", _INDEXED, ("commit", "peek", "commit", "peek", "query")),
    "drop-and-create": Scenario(
        "an index is dropped and made again while it is read",
        _INDEXED,
        ("peek", "drop", "create index", "commit", "query"),
    ),
    "compact": Scenario(
        "collections compact while a read by a dataflow is on its way", _INDEXED, ("query", "commit", "elapse", "query")
    ),
    "reconnect": Scenario(
        "the connection breaks between requests", _INDEXED, ("commit", "peek", "disconnect", "query", "commit")
    ),
    "restart": Scenario("a replica starts anew", _INDEXED, ("peek", "restart", "commit", "query")),
    "cancel": Scenario(
        "reads are canceled, and what is created at once",
        _INDEXED,
        ("query", "cancel", "peek", "cancel", "create-and-cancel"),
    ),
    "subscribe": Scenario(
        "a subscription begins and ends beside transactions",
        _INDEXED,
        ("subscribe", "commit", "commit", "unsubscribe", "commit"),
    ),
}


def check_scenario(name: str) -> str:
    """
    Raises:
        UnknownChoice: there is no such scenario.
    """
    if name != WORKLOAD and name not in SCENARIOS:
        raise UnknownChoice("scenario", name, (WORKLOAD, *SCENARIOS))
    return name


def plan(name: str, seed: int, steps: int, faults: Sequence[str]) -> tuple[list[Action], list[Action]]:
    """The actions of a run: those in first-come order, and then those in the order of the schedule."""
    if name == WORKLOAD:
        return [], draw_actions(seed, steps, faults)
    return SCENARIOS[name].actions(seed)
