"""Reading the introspection relations that the other runtime of the process keeps.

They tell the state of workers that may be busy for long, and an old answer is better than a late one. So a reader waits
for a fresh record only for a moment; then it gets the state that was recorded last, with its age. A worker that is
known to be busy, because it has not answered an earlier reader yet, is not waited for at all.
"""

from __future__ import annotations

from collections.abc import Callable

from ...messages.frontiers import Timestamp, is_sealed, less_equal
from ...messages.ids import GlobalId
from ..dispatch.base import Timer
from ..settings import INTROSPECTION_PATIENCE
from ..worker.link import Link
from ..worker.messages import Impatient, Introspect
from ..worker.peers import Peers
from ..worker.state import ComputeState, PeerBundle


class DistantIntrospection:
    """The readers of one worker of the interactive runtime.

    Args:
        after: sends the worker a message later.
    """

    def __init__(self, state: ComputeState, peers: Peers, link: Link, after: Callable[[float, object], Timer]) -> None:
        self._state = state
        self._peers = peers
        self._link = link
        self._after = after
        self._unanswered: Timestamp | None = None
        """The last time for which a record was asked in vain."""

    def read(self, id: GlobalId, time: Timestamp) -> None:
        """Somebody is about to read a relation at a time."""
        peer = self._state.peers.get(id)
        if peer is None:
            return  # It was dropped: the reader hears that.
        bundle = peer.bundle
        assert bundle is not None, "the interactive runtime reads every introspection relation"
        bundle.arrangement.refresh()
        if is_sealed(bundle.arrangement.upper, time):
            return
        assert self._link.sibling is not None, "the interactive runtime has a sibling"
        self._link.sibling.tell(Introspect(time))
        if self._is_busy(bundle):
            self._peers.claim(bundle, time)
        else:
            self._after(self._state.settings.get(INTROSPECTION_PATIENCE), Impatient(*bundle.slot, time))

    def impatient(self, message: Impatient) -> None:
        """A reader has waited long enough."""
        bundle = self._state.bundles.get((message.id, message.incarnation))
        if bundle is None:
            return
        bundle.arrangement.refresh()
        if bundle.arrangement.publication is None:
            # There is no record yet that could be read.
            self._after(self._state.settings.get(INTROSPECTION_PATIENCE), message)
        elif not is_sealed(bundle.arrangement.upper, message.time):
            self._unanswered = message.time
            self._peers.claim(bundle, message.time)

    def _is_busy(self, bundle: PeerBundle) -> bool:
        publication = bundle.arrangement.publication
        return (
            publication is not None
            and self._unanswered is not None
            and less_equal(publication.snapshot.upper, self._unanswered)
        )
