"""All orders of a small simulation, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from .schedule import Channel


class ExhaustiveSchedule:
    """A walk, depth first, through the orders in which messages can be delivered: each run follows another path.

        paths = ExhaustiveSchedule(depth=12)
        while True:
            run(SimulatedDispatcher(schedule=paths))
            if not paths.advance():
                break

    The bound: in the first ``depth`` choices, the order departs at most ``departures`` times from delivering what has
    waited longest; after that it does not depart from it. (Emmi et al., "Delay-bounded scheduling", 2011: most faults
    show after few departures.)

    Attributes:
        active: whether choices count; while it is False, what has waited longest is delivered.
    """

    def __init__(self, depth: int, departures: int) -> None:
        self.active = True
        self._depth = depth
        self._departures = departures
        self._path: list[tuple[int, int]] = []
        """Of each choice so far that counts: what was picked, and among how many."""
        self._at = 0

    def reseed(self, seed: int) -> None:
        """Nothing is left to chance."""

    def choose(self, channels: Sequence[Channel]) -> int:
        if not self.active or self._at >= self._depth:
            return 0
        if self._at == len(self._path):
            self._path.append((0, len(channels)))
        picked, _ = self._path[self._at]
        self._at += 1
        return min(picked, len(channels) - 1)

    def advance(self) -> bool:
        """Go to the next path, for a run that begins anew. False when there is none."""
        path = self._path
        while path:
            picked, among = path.pop()
            departed = sum(1 for earlier, _ in path if earlier)
            if picked + 1 < among and departed < self._departures:
                path.append((picked + 1, among))
                self._at = 0
                return True
        return False
