"""Hashes that are all equal."""

from __future__ import annotations

import numpy as np
import pytest

from pillion.dataflow.columns import hashing


def collide(patch: pytest.MonkeyPatch) -> None:
    """From now on every row has the hash 0."""
    patch.setattr(hashing, "mix", lambda bits: np.zeros_like(bits))
    patch.setattr(hashing, "combine", lambda accumulated, hashes: np.zeros_like(accumulated))
    patch.setattr(hashing, "mix_number", lambda number: 0)
    patch.setattr(hashing, "combine_numbers", lambda accumulated, number: 0)
