"""The compactor actor: writes checkpoints, beside a journal that is being written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import ClassVar

from ...messages.errors import EncodeError
from ..dispatch.base import SystemActor
from ..log.errors import LogError
from .checkpoint import checkpoint_records
from .directory import Directory, size_of
from .messages import Compact, Compacted, CompactFurther, CompactionFailed
from .writing import write_checkpoint


class Compactor(SystemActor):
    """Writes one checkpoint at a time, on a thread of its own, so that writes do not wait for it."""

    handlers: ClassVar = {Compact: "compact", CompactFurther: "compact_further"}

    def __init__(self, directory: Directory) -> None:
        super().__init__()
        self._directory = directory
        self._steps: Iterator[None] = iter(())
        self._order: Compact | None = None

    def compact(self, message: Compact) -> None:
        records = checkpoint_records(message.latest, message.next_id, message.defined, message.tables, message.last)
        self._order = message
        self._steps = write_checkpoint(self._directory, message.number, records)
        self.tell_self(CompactFurther())

    def compact_further(self, message: CompactFurther) -> None:
        order = self._order
        assert order is not None, "there is a checkpoint to write"
        try:
            try:
                next(self._steps)
            except StopIteration:
                size = size_of(self._directory.checkpoint(order.number))
                self._order = None
                order.journal.tell(Compacted(order.number, size))
                return
        except (sqlite3.Error, OSError, LogError, EncodeError) as error:
            self._order = None
            order.journal.tell(CompactionFailed(order.number, str(error)))
            return
        self.tell_self(message)
