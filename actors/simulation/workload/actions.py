"""The actions of a run: values that can be left out one by one, which is how a failing run is made small."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import UnknownChoice


class Action(NamedTuple):
    """Something to do. What is random about it depends on ``seed`` and on what there is, and on no other action."""

    kind: str
    seed: int


WEIGHTS = {
    "commit": 22,
    "peek": 10,
    "query": 10,
    "lookup": 10,
    "introspect": 3,
    "wait": 4,
    "create table": 2,
    "create view": 5,
    "create index": 8,
    "create materialized view": 3,
    "drop": 6,
    "subscribe": 3,
    "unsubscribe": 2,
    "hold": 3,
    "release": 2,
    "configure": 5,
    "elapse": 6,
    "deliver": 30,
    "settle": 3,
}
"""What a run does without faults, and how often."""

FAULTS = {
    "stall": 6,
    "disconnect": 3,
    "restart": 2,
    "cancel": 4,
    "create-and-cancel": 3,
    "die": 1,
}
"""What may go wrong, and how often: a worker falls behind for long; the connection to a replica breaks; a replica is
there again with nothing; an answer is canceled, perhaps twice; something is created and canceled at once; a worker
dies, with its process."""

ALL, NONE = "all", "none"


def parse_faults(text: str) -> tuple[str, ...]:
    """Read ``all``, ``none``, or names with commas between them.

    Raises:
        UnknownChoice: there is no such fault.
    """
    if text in (ALL, NONE):
        return tuple(FAULTS) if text == ALL else ()
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in FAULTS:
            raise UnknownChoice("fault", name, (*FAULTS, ALL, NONE))
    return tuple(name for name in FAULTS if name in names)


def draw_actions(seed: int, steps: int, faults: Sequence[str]) -> list[Action]:
    """So many actions at random; the first ones make something to work with."""
    rng = random.Random(seed)
    weights = WEIGHTS | {fault: FAULTS[fault] for fault in faults}
    kinds = ["create table", "create table", *rng.choices(list(weights), list(weights.values()), k=steps)]
    return [Action(kind, rng.getrandbits(32)) for kind in kinds]
