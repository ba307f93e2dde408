"""The journal actor: writes what is logged, many entries with one synchronization."""

from __future__ import annotations

import sqlite3
from typing import Any, ClassVar

import pykka

from ...messages.errors import EncodeError, PillionError
from ..dispatch.base import SystemActor
from ..log.errors import LogError
from .errors import WritesRefused
from .messages import (
    Compact,
    Compacted,
    CompactionFailed,
    Defined,
    Dropped,
    Durable,
    Flush,
    JournalFailed,
    Log,
    Restored,
    Snapshot,
    TakeSnapshot,
)
from .opening import OpenedJournal
from .writing import JournalFile

COMPACT_BYTES = 16 << 20
"""A journal that is smaller is not compacted."""

COMPACT_FILES = 16
"""Each start begins another file; this many are compacted however small they are."""


class Journal(SystemActor):
    """Owns the last file of a journal. The only actor that waits for a disk, besides the compactor.

    Args:
        opened: the journal, of which nothing was written yet since it was opened.
        compactor: writes its checkpoints.
    """

    handlers: ClassVar = {
        Restored: "restored",
        Log: "log_entry",
        Flush: "flush",
        Snapshot: "compact",
        Compacted: "compacted",
        CompactionFailed: "compaction_failed",
    }

    def __init__(self, opened: OpenedJournal, compactor: pykka.ActorRef[Any]) -> None:
        super().__init__()
        self._opened = opened
        self._directory = opened.directory
        self._catalog = opened.state.catalog
        self._began = self.services.clock.now()
        self._group: list[Log] = []
        self._failure: PillionError | None = None
        self._storage: pykka.ActorRef[Any] | None = None
        self._compactor = compactor
        self._compacting = False
        files = self._directory.files()
        sizes = self._directory.sizes(files)
        self._older = sizes.journals
        """Bytes of journals before the present one."""
        self._compact_at = 0 if len(files.journals) > COMPACT_FILES else max(COMPACT_BYTES, sizes.checkpoint)

    def takes_little(self, message: Any) -> bool:
        # Two switches between threads cost as much as a synchronization of a fast disk. Of a slow one, which takes
        # longer than a thread that waits may, the dispatcher leaves the messages to the journal's own thread.
        return message.__class__ is Log or message.__class__ is Flush

    def restored(self, message: Restored) -> None:
        self._storage = message.storage
        self._compact_when_due()

    # --- Writing -------------------------------------------------------------------------------------------------

    def log_entry(self, message: Log) -> None:
        if self._failure is not None:
            message.sender.tell(JournalFailed(self._failure))
            return
        if not self._group:
            self.tell_self(Flush())
        self._group.append(message)

    def flush(self, message: Flush) -> None:
        group, self._group = self._group, []
        if not group or self._failure is not None:
            return
        try:
            self._opened.file.append([each.entry for each in group], self.services.clock.now() - self._began)
        except (sqlite3.Error, OSError, EncodeError) as error:
            self._fail(group, error)
            return
        for each in group:
            if isinstance(each.entry, Defined | Dropped):
                self._catalog.apply(each.entry)
        for sender, number in {each.sender: each.number for each in group}.items():
            sender.tell(Durable(number))
        self._compact_when_due()

    def _fail(self, group: list[Log], error: Exception) -> None:
        self._failure = WritesRefused(self._directory.path, str(error))
        self.log.error("the journal cannot be written any more", reason=str(error))
        for sender in {each.sender for each in group}:
            sender.tell(JournalFailed(self._failure))

    # --- Compaction ----------------------------------------------------------------------------------------------

    def _compact_when_due(self) -> None:
        if self._storage is None or self._compacting:
            return
        if self._older + self._opened.file.bytes > self._compact_at:
            self._compacting = True
            self._storage.tell(TakeSnapshot(self.actor_ref))

    def compact(self, message: Snapshot) -> None:
        self.flush(Flush())  # All that the storage logged before is in the snapshot.
        if self._failure is not None:
            return
        file = self._opened.file
        try:
            self._opened.file = JournalFile(self._directory, file.number + 1, file.last, self._opened.sync)
        except (sqlite3.Error, OSError, LogError) as error:
            self._give_up(str(error))
            return
        file.close()
        self._older += file.bytes
        self._compactor.tell(
            Compact(
                self._opened.file.number,
                file.last,
                message.latest,
                self._catalog.next_id,
                tuple(self._catalog.defined.values()),
                message.tables,
                self.actor_ref,
            )
        )

    def compacted(self, message: Compacted) -> None:
        self._compacting = False
        self._older = 0
        self._compact_at = max(COMPACT_BYTES, message.bytes)
        try:
            self._directory.remove(self._directory.files().obsolete)
        except OSError as error:
            # The next start removes them, or the next compaction.
            self.log.warning("old files of the journal cannot be removed", reason=str(error))

    def compaction_failed(self, message: CompactionFailed) -> None:
        self._give_up(message.reason)

    def _give_up(self, reason: str) -> None:
        """Go on without, and try again once it is larger by half."""
        self._compacting = False
        self._compact_at = max(COMPACT_BYTES, (self._older + self._opened.file.bytes) * 3 // 2)
        self.log.warning("the journal cannot be compacted now", reason=reason)
