"""The garbage collector on behalf of the systems in a process.

A full collection looks at every container object there is and stops all threads meanwhile: what an application keeps
in memory delays every read. Frozen objects are not looked at.
"""

from __future__ import annotations

import gc
import threading


def young_threshold() -> int:
    """How many more containers than were freed are allocated between collections of the youngest generation."""
    return gc.get_threshold()[0]


def set_young_threshold(count: int) -> None:
    """Set :func:`young_threshold`, and leave those of the older generations as they are."""
    gc.set_threshold(count, *gc.get_threshold()[1:])


class Freezing:
    """Keeps what there is when the first owner comes out of collections, until the last one is gone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owners: set[str] = set()
        self._frozen = False

    def want(self, owner: str, freeze: bool) -> None:
        """Whether ``owner`` wants what there is to stay frozen from now on.

        An application that has frozen objects itself goes on to decide what is frozen: nothing happens here then.
        """
        with self._lock:
            if freeze and not self._owners and not gc.get_freeze_count():
                # What is garbage now stays for as long as it is frozen; looking for old garbage takes too long for it.
                gc.collect(1)
                gc.freeze()
                self._frozen = True
            if freeze:
                self._owners.add(owner)
            else:
                self._owners.discard(owner)
            if self._frozen and not self._owners:
                gc.unfreeze()
                self._frozen = False
