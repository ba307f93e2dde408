"""Comparing the answers of two logs, without executing anything.

Two logs of one program have other uuids of peeks and other nonces, so what is compared is found by its order: the first
peek of one with the first of the other, unless they have uuids in common, as a log and an edited copy of it have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from ...messages.commands import Command, Hello, Peek
from ...messages.frontiers import TIME_LIMIT
from ...messages.ids import Nonce, PeekId
from ...messages.responses import PeekResponse, Response
from .events import Acknowledged, Heard, Recording, Sent
from .ledger import Ledger
from .peeks import show_peek
from .report import Report, in_order
from .verdict import SAME, Answered, Difference, Outcome, Verdict

_Counts = Counter[tuple[Answered, Outcome]]


@dataclass(slots=True)
class _Connection:
    """What was said to a replica and by it from one ``Hello`` to the next."""

    nonce: Nonce = ""
    events: list[Sent | Heard] = field(default_factory=list[Sent | Heard])

    @property
    def peeks(self) -> dict[PeekId, Sent]:
        return {e.command.uuid: e for e in self.events if isinstance(e, Sent) and isinstance(e.command, Peek)}


@dataclass(slots=True)
class _Log:
    """A log, sorted by what is compared with what."""

    connections: dict[str, list[_Connection]] = field(default_factory=dict[str, list[_Connection]])
    writes: list[Acknowledged] = field(default_factory=list[Acknowledged])
    messages: int = 0
    seconds: float = 0.0


def diff(recording: Recording, other: Recording) -> Report:
    """Compare the answers of two logs: those of the first are what is expected.

    Raises:
        PillionError: one of them cannot be read.
    """
    first, second = _read(recording), _read(other)
    counts: _Counts = Counter()
    differences: list[Difference] = []
    # Replicas are called after what they are, which may be another thing in the other log.
    others = list(second.connections.values())
    for position, connections in enumerate(first.connections.values()):
        ledger = Ledger(differences.append, counts, written=TIME_LIMIT)
        against = others[position] if position < len(others) else []
        for at, connection in enumerate(connections):
            compared = against[at] if at < len(against) else _Connection()
            _compare(ledger, connection, compared, differences, counts)
        ledger.close()
    _compare_writes(first.writes, second.writes, differences, counts)
    return Report(
        what=f"compared {recording.name} with {other.name}",
        counts=counts,
        differences=in_order(differences),
        messages=first.messages,
        recorded_seconds=first.seconds,
        facts={"log": recording.name, "other": other.name, "other_messages": second.messages},
    )


def _read(recording: Recording) -> _Log:
    log = _Log()
    for event in recording.events():
        log.messages += 1
        log.seconds = event.time
        match event:
            case Sent(replica=replica) | Heard(replica=replica):
                connections = log.connections.setdefault(replica, [_Connection()])
                if isinstance(event, Sent) and isinstance(event.command, Hello):
                    connections.append(_Connection(event.command.nonce))
                connections[-1].events.append(event)
            case Acknowledged():
                log.writes.append(event)
            case _:
                pass
    return log


def _compare(
    ledger: Ledger, first: _Connection, second: _Connection, differences: list[Difference], counts: _Counts
) -> None:
    uuids = _pairs(first, second, differences, counts)
    for event in first.events:
        if isinstance(event, Sent):
            ledger.sent(event.sequence, event.command)
        else:
            ledger.record(event.sequence, event.nonce, event.responses)
    for event in second.events:
        if isinstance(event, Heard) and event.nonce == second.nonce:
            ledger.replay(first.nonce, tuple(_renamed(response, uuids) for response in event.responses))


def _pairs(
    first: _Connection, second: _Connection, differences: list[Difference], counts: _Counts
) -> Mapping[PeekId, PeekId]:
    """The peek of the first log that is meant by each of the second."""
    ours, theirs = first.peeks, second.peeks
    if not ours.keys().isdisjoint(theirs):
        return {uuid: uuid for uuid in theirs}
    pairs: dict[PeekId, PeekId] = {}
    for mine, their in zip(ours.values(), theirs.values(), strict=False):
        if _question(mine.command) != _question(their.command):
            verdict = Verdict(Outcome.DIFFERENT, (_show(mine),), (_show(their),), "another question")
            counts[Answered.PEEKS, Outcome.DIFFERENT] += 1
            differences.append(Difference(Answered.PEEKS, mine.sequence, None, _show(mine), verdict))
            break  # What follows would be compared with what it has nothing to do with.
        pairs[_uuid(their.command)] = _uuid(mine.command)
    for extra in list(theirs.values())[len(ours) :]:
        verdict = Verdict(Outcome.DIFFERENT, (), (_show(extra),), "asked in the other log only")
        counts[Answered.PEEKS, Outcome.DIFFERENT] += 1
        differences.append(Difference(Answered.PEEKS, extra.sequence, None, _show(extra), verdict))
    return pairs


def _uuid(command: Command) -> PeekId:
    assert isinstance(command, Peek), "they are peeks"
    return command.uuid


def _question(command: Command) -> Peek:
    assert isinstance(command, Peek), "they are peeks"
    return msgspec.structs.replace(command, uuid="")


def _show(event: Sent) -> str:
    assert isinstance(event.command, Peek), "they are peeks"
    return show_peek(event.command)


def _renamed(response: Response, uuids: Mapping[PeekId, PeekId]) -> Response:
    if isinstance(response, PeekResponse) and response.uuid in uuids:
        return msgspec.structs.replace(response, uuid=uuids[response.uuid])
    return response


def _compare_writes(
    first: list[Acknowledged], second: list[Acknowledged], differences: list[Difference], counts: _Counts
) -> None:
    for at, event in enumerate(first):
        other = second[at] if at < len(second) else None
        now = None if other is None else _outcome(other)
        if now == _outcome(event):
            verdict = SAME
        else:
            outcome = Outcome.MISSING if now is None else Outcome.DIFFERENT
            verdict = Verdict(outcome, (_outcome(event),), () if now is None else (now,))
        counts[Answered.WRITES, verdict.outcome] += 1
        if verdict is not SAME:
            differences.append(Difference(Answered.WRITES, event.of, event.sequence, "write", verdict))


def _outcome(event: Acknowledged) -> str:
    return str(event.value) if event.refused is None else f"refused: {event.refused}"
