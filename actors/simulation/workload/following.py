"""What lasts under the workload: reads that are held, and subscriptions."""

from __future__ import annotations

from typing import Any

from ...dispatch.oneshot import OneShot
from ...requests import CollectionKind, Held, HoldRead, ReleaseRead, Subscribed, SubscribeTo, Unsubscribe
from ..answers import expect
from ..followed import Followed
from .reading import Reads


class Follows(Reads):
    """Holds and subscriptions."""

    def hold(self) -> None:
        """A time of some indexes stays readable."""
        there = self.model.there(CollectionKind.INDEX)
        if not there:
            return
        chosen = self.rng.sample(there, self.rng.randint(1, min(2, len(there))))
        ids = frozenset(known.id for known in chosen if known.id is not None)
        time = self.model.latest

        def held(answer: Any) -> None:
            expect(isinstance(answer, Held) and answer.timestamp == time, answer)
            self._held.append((answer, ids))

        names = ", ".join(known.name for known in chosen)
        self.send("hold", f"hold {names} at {time}", HoldRead, held, ids=tuple(sorted(ids)))

    def release(self) -> None:
        """What was held is held no more."""
        if self._held:
            self._release_one(self._held.pop(self.rng.randrange(len(self._held)))[0])

    def _release_one(self, held: Held) -> None:
        self.send("release", f"release {held.hold}", ReleaseRead, self._none, hold=held.hold)

    def _none(self, answer: Any) -> None:
        expect(answer is None, answer)

    def subscribe(self) -> None:
        """Somebody follows a relation."""
        known = self._relation(failing=False)
        if known is None or known.relation is None or len(self._followed) >= 6:
            return
        with_snapshot = self.rng.random() < 0.7
        up_to = self.model.latest + self.rng.randint(1, 4) if self.rng.random() < 0.3 else None
        stream = self.simulation.connection.stream()
        followed = Followed(self.model, known.relation, stream, with_snapshot, up_to)
        self._subscribed.append(followed)
        time = self.model.latest

        def subscribed(answer: Any) -> None:
            expect(isinstance(answer, Subscribed) and answer.as_of == time, answer)
            followed.started(answer.as_of)
            self._followed.append((followed, asked.reply))

        fields = {"with_snapshot": with_snapshot, "up_to": up_to, "schema": known.schema, "stream": stream}
        shown = f"subscribe to {known.relation} from {time} up to {up_to}, snapshot {with_snapshot}"
        asked = self.send("subscribe", shown, SubscribeTo, subscribed, relation=known.relation, **fields)

    def unsubscribe(self) -> None:
        """Somebody follows no longer."""
        if self._followed:
            self._unsubscribe_one(*self.rng.choice(self._followed))

    def _unsubscribe_one(self, followed: Followed, reply: OneShot[Any]) -> None:
        followed.may_end = True
        id = reply.get().id
        self.send("unsubscribe", f"unsubscribe {id}", Unsubscribe, self._none, id=id)
