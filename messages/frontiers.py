"""Times and frontiers.

Invariant: a frontier only ever advances. ``None`` is the *empty* frontier, "nothing will ever change again"; it is
greater than every timestamp. What is unknown or unpublished has the *minimum* frontier 0, never the empty one:
reading "no information" as the empty frontier would make every wait vacuously true.
"""

from __future__ import annotations

from collections.abc import Iterable

from .structs import Natural

Timestamp = Natural
"""0 <= t < 2**63, totally ordered."""

Frontier = Timestamp | None
"""Everything before it is final; ``None`` is the empty frontier."""

MINIMUM: Timestamp = 0
TIME_LIMIT: Timestamp = 2**63 - 1
"""Greater than every timestamp that a user may write; stands for the empty frontier where an int64 is needed."""


def is_sealed(upper: Frontier, time: Timestamp) -> bool:
    """Whether a collection with this upper is final at ``time``."""
    return upper is None or time < upper


def is_beyond(since: Frontier, time: Timestamp) -> bool:
    """Whether a collection with this since was compacted past ``time``, so that ``time`` is no longer readable."""
    return since is None or time < since


def less_equal(left: Frontier, right: Frontier) -> bool:
    """``left <= right``; the empty frontier is the greatest."""
    if right is None:
        return True
    return left is not None and left <= right


def less_than(left: Frontier, right: Frontier) -> bool:
    """``left < right``; the empty frontier is the greatest."""
    return left is not None and (right is None or left < right)


def minimum(frontiers: Iterable[Frontier]) -> Frontier:
    """The least of some frontiers; of none at all, the empty frontier."""
    least: Frontier = None
    for frontier in frontiers:
        if frontier is not None and (least is None or frontier < least):
            least = frontier
    return least


def maximum(frontiers: Iterable[Frontier]) -> Frontier:
    """The greatest of some frontiers; of none at all, the minimum frontier."""
    greatest: Timestamp = MINIMUM
    for frontier in frontiers:
        if frontier is None:
            return None
        greatest = max(greatest, frontier)
    return greatest


def show_frontier(frontier: Frontier) -> str:
    """``[5]`` or ``[]``, as messages and errors print it."""
    return "[]" if frontier is None else f"[{frontier}]"
