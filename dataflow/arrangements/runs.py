"""Runs: entries of ordered rows, sorted; and merging them in pieces (see :mod:`.ordered`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .hash_index import Entries

Groups = npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Run:
    """Entries sorted by group, then order; ``charge`` counts the dead ones that reads passed over."""

    groups: Groups
    entries: Entries
    charge: int = 0

    def __len__(self) -> int:
        return len(self.entries)


class RunMerge:
    """A merge of neighbouring runs in progress, whole groups at a time; until it is done its inputs are read.

    Attributes:
        inputs: the runs.
        parts: what is merged so far, in order.
        dropped: entries that were dead when it was their turn.
        done: everything was taken.
    """

    __slots__ = ("_positions", "done", "dropped", "inputs", "parts")

    def __init__(self, inputs: tuple[Run, ...]) -> None:
        self.inputs = inputs
        self.parts: list[Run] = []
        self.dropped: list[Entries] = []
        self.done = False
        self._positions = [0] * len(inputs)

    def take(self, fuel: int) -> Entries:
        """The entries of the next groups, about ``fuel`` of them, in no particular order."""
        left = [len(r) - p for r, p in zip(self.inputs, self._positions, strict=True)]
        total = sum(left)
        if total <= fuel:
            ends = [len(r) for r in self.inputs]
        else:
            largest = max(range(len(left)), key=left.__getitem__)
            run = self.inputs[largest]
            share = max(1, fuel * left[largest] // total)
            bound = int(run.groups[self._positions[largest] + share - 1])
            ends = [int(np.searchsorted(r.groups, bound, "right")) for r in self.inputs]
        taken = [r.entries[p:e] for r, p, e in zip(self.inputs, self._positions, ends, strict=True)]
        self._positions = ends
        self.done = all(e == len(r) for r, e in zip(self.inputs, ends, strict=True))
        return np.concatenate(taken)

    def result(self) -> Run:
        """The merged run, once all is taken."""
        groups = np.concatenate([p.groups for p in self.parts])
        return Run(groups, np.concatenate([p.entries for p in self.parts]))
