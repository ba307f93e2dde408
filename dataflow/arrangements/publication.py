"""Publications: an index that other threads read where it lies.

Whoever maintains an arrangement replaces one reference whenever its state changes: at every seal, merge and
compaction. The reference leads to a :class:`~.snapshot.Snapshot`, which never changes; so a reader needs no lock and
copies nothing, and what it took stays valid for as long as it keeps it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...messages.frontiers import TIME_LIMIT, Frontier, Timestamp, is_sealed
from ...messages.ids import GlobalId
from ...messages.scalars import Scalar
from ...messages.types import SqlType
from .batch import Layout
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .arrangement import Hold

Incarnation = tuple[str, int]
"""Tells an index from an earlier one under the same id: the nonce of the connection that created it, and a counter."""

Notify = Callable[[], object]


class Publication:
    """What a worker shares of one index.

    The *publisher* is the thread on which the worker runs that maintains the index. Invariant: ``snapshot`` is one
    moment of the arrangement (oks, errs, since and upper belong together), and later ones have no lesser since or
    upper. There is no lock; every attribute is replaced by one assignment, which the interpreter does at once.

    What threads may do:

    * **Any thread** may read any attribute, and call :meth:`wait`. It takes ``snapshot`` once and reads only from what
      it took: a second look may find a later state. It reads at ``since <= time < upper`` of what it took, and needs a
      hold on the index (of the controller, or a standing hold) to find its time still readable.
    * **The publisher alone** calls :meth:`replace` and :meth:`close`, sets ``recorded_at``, and releases
      ``standing_hold``.
    * **The one thread** of the worker that reads for the other runtime moves ``standing_hold`` by ``downgrade``, and
      by nothing else: the publisher takes its time whenever it compacts, an older one at worst.
    * What :meth:`wait` was given is called on the publisher's thread, in the midst of its work: it must be brief, must
      not raise and must not call back; telling an actor or setting a future is what it is for.

    Attributes:
        id, incarnation: of which index.
        key: the key expressions over the visible columns.
        types: SQL types of the columns in the batches: the visible ones, then computed key columns.
        layout: which of these columns are the key.
        snapshot: the present state. Once closed, a state without rows that is readable at no time.
        closed: whether it was withdrawn; then it never changes again.
        recorded_at: when the rows were recorded, in seconds of a clock that publisher and readers share, where they
            tell of something outside of time: the state of a worker. Else None.
        standing_hold: what the other runtime of the process holds of the index, from before it is published until
            that runtime releases it; None when there is no other runtime. The arrangement compacts no further.
    """

    __slots__ = (
        "_waiting",
        "closed",
        "id",
        "incarnation",
        "key",
        "layout",
        "recorded_at",
        "snapshot",
        "standing_hold",
        "types",
    )

    def __init__(
        self,
        id: GlobalId,
        incarnation: Incarnation,
        key: tuple[Scalar, ...],
        types: tuple[SqlType, ...],
        layout: Layout,
        snapshot: Snapshot,
        standing_hold: Hold | None = None,
    ) -> None:
        self.id = id
        self.incarnation = incarnation
        self.key = key
        self.types = types
        self.layout = layout
        self.snapshot = snapshot
        self.standing_hold = standing_hold
        self.closed = False
        self.recorded_at: float | None = None
        self._waiting: deque[tuple[Timestamp, Notify]] = deque()

    @property
    def key_types(self) -> tuple[SqlType, ...]:
        return tuple([self.types[column] for column in self.layout.key])

    def wait(self, time: Timestamp, notify: Notify) -> bool:
        """Have ``notify`` called once, when the index is sealed at ``time`` or the publication is closed.

        Returns:
            Whether it is so already: then there is nothing to wait for, and ``notify`` is called or not.
        """
        # First in the queue, then the look: either the publisher finds it there, or the look finds what it replaced.
        self._waiting.append((time, notify))
        return self.closed or is_sealed(self.snapshot.upper, time)

    def replace(self, snapshot: Snapshot) -> None:
        """Publish the next state, and wake who waited for it."""
        self.snapshot = snapshot
        if self._waiting:
            self._wake(snapshot.upper)

    def close(self) -> None:
        """Withdraw it, and wake everybody who waits. What readers took stays valid; nobody takes more."""
        self.closed = True
        state = self.snapshot
        self.snapshot = Snapshot(state.layout, state.arity, (), (), TIME_LIMIT, None)
        self._wake(None)

    def _wake(self, upper: Frontier) -> None:
        waiting = self._waiting
        # Whoever comes in the meantime is at the end of the queue, and has looked or will look for itself.
        for _ in range(len(waiting)):
            entry = waiting.popleft()
            if is_sealed(upper, entry[0]):
                entry[1]()
            else:
                waiting.append(entry)
