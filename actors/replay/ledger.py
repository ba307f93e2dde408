"""Bringing together the answers that were recorded and those that come again.

Both sides come in pieces and in any order; whichever is first waits for the other. What was compared is forgotten, so
memory is needed for what is outstanding only.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ...messages.commands import (
    AllowCompaction,
    CancelPeek,
    Command,
    CreateDataflow,
    CreateInstance,
    Hello,
    Peek,
)
from ...messages.frontiers import MINIMUM, Frontier
from ...messages.ids import GlobalId, Nonce, PeekId
from ...messages.responses import (
    CopyToResponse,
    Frontiers,
    PeekResponse,
    PeekResult,
    Response,
    Status,
    SubscribeResponse,
)
from ..worker.refusals import REFUSED
from .dependents import Needs
from .exports import Export, ExportResponse, exports_of
from .peeks import compare_peek, show_peek, show_result
from .verdict import Answered, Difference, Outcome, Verdict


@dataclass(slots=True, eq=False)
class _Asked:
    """A peek, and its two answers as far as they came."""

    sequence: int
    peek: Peek
    volatile: bool
    cancelled: bool = False
    answered: int | None = None
    recorded: PeekResult | None = None
    replayed: PeekResult | None = None


class _Incarnations:
    """What an id meant, one after the other. An export's last words are its last, so what is told of an id is told of
    the first that has not told them."""

    __slots__ = ("_recorded", "_replayed", "latest")

    def __init__(self) -> None:
        self._recorded: deque[Export] = deque()
        self._replayed: deque[Export] = deque()
        self.latest: Export | None = None

    def add(self, export: Export) -> None:
        self._recorded.append(export)
        self._replayed.append(export)
        self.latest = export

    def record(self, response: ExportResponse) -> Export | None:
        """Take what was recorded; the export that told it."""
        if not self._recorded:
            return None
        export = self._recorded[0]
        export.record(response)
        if export.recorded.finished:
            self._recorded.popleft()
        return export

    def replay(self, response: ExportResponse) -> Export | None:
        """Take what was told this time; the export that told it."""
        if not self._replayed:
            return None
        export = self._replayed[0]
        export.replay(response)
        if export.replayed.finished:
            self._replayed.popleft()
        return export


@dataclass(slots=True)
class Ledger:
    """The answers of one replica.

    Attributes:
        found: told of every difference, as soon as it is known.
        counts: how many answers had which outcome.
        volatile: the indexes that tell of the replica itself.
    """

    found: Callable[[Difference], object]
    counts: Counter[tuple[Answered, Outcome]] = field(default_factory=Counter[tuple[Answered, Outcome]])
    written: Frontier = MINIMUM
    """No shard was written beyond it."""
    volatile: set[GlobalId] = field(default_factory=set[GlobalId])
    _nonce: Nonce = ""
    _asked: dict[PeekId, _Asked] = field(default_factory=dict[PeekId, _Asked])
    _owed: dict[GlobalId, set[PeekId]] = field(default_factory=dict[GlobalId, set[PeekId]])
    """Peeks whose answers were recorded and have not come this time, by target."""
    _exports: dict[GlobalId, _Incarnations] = field(default_factory=dict[GlobalId, _Incarnations])
    _all: dict[Export, None] = field(default_factory=dict[Export, None])
    """Those of this connection that are not compared yet, in order of creation."""
    _behind: dict[GlobalId, Export] = field(default_factory=dict[GlobalId, Export])
    """Those that have not told yet what was recorded, when last looked at."""
    _refusals: Counter[str] = field(default_factory=Counter[str])
    """Recorded minus replayed."""
    _refused_in: dict[str, int] = field(default_factory=dict[str, int])

    # --- What was sent -------------------------------------------------------------------------------------------

    def sent(self, sequence: int, command: Command) -> None:
        """The next command of the log."""
        match command:
            case Hello(nonce):
                self.close()
                self._nonce = nonce
            case CreateInstance(config):
                self.volatile.update(logging.index for logging in config.logging)
            case CreateDataflow(dataflow):
                volatile = not self.volatile.isdisjoint(index.id for index in dataflow.index_imports)
                for export in exports_of(sequence, dataflow, volatile=volatile):
                    self._create(export)
            case AllowCompaction(id, None):
                incarnations = self._exports.get(id)
                if incarnations is not None and incarnations.latest is not None:
                    incarnations.latest.dropped = True
            case Peek():
                if command.uuid not in self._asked:
                    self._asked[command.uuid] = _Asked(sequence, command, command.target.id in self.volatile)
            case CancelPeek(uuid):
                if uuid in self._asked:
                    self._asked[uuid].cancelled = True
            case _:
                pass

    def _create(self, export: Export) -> None:
        incarnations = self._exports.setdefault(export.id, _Incarnations())
        latest = incarnations.latest
        if latest is not None and not latest.dropped:
            return  # It is refused, and what is told of the id is told of what has it.
        if export.volatile:
            self.volatile.add(export.id)
        else:
            self.volatile.discard(export.id)
        incarnations.add(export)
        self._all[export] = None

    # --- What was answered ---------------------------------------------------------------------------------------

    def record(self, sequence: int, nonce: Nonce, responses: Iterable[Response]) -> None:
        """The next answers of the log. Those that belong to an older connection count for nothing."""
        if nonce != self._nonce:
            return
        for response in responses:
            match response:
                case PeekResponse():
                    self._record_peek(sequence, response)
                case Frontiers() | SubscribeResponse() | CopyToResponse():
                    incarnations = self._exports.get(response.id)
                    export = None if incarnations is None else incarnations.record(response)
                    if export is not None:
                        self._behind[response.id] = export
                        self._settle_export(export)
                case Status(kind=kind, details=details) if kind == REFUSED:
                    message = str(details.get("message"))
                    self._refused_in.setdefault(message, sequence)
                    self._refuse(message, 1)
                case Status():
                    pass

    def replay(self, nonce: Nonce, responses: Iterable[Response]) -> None:
        """What this run answers."""
        if nonce != self._nonce:
            return
        for response in responses:
            match response:
                case PeekResponse():
                    self._replay_peek(response)
                case Frontiers() | SubscribeResponse() | CopyToResponse():
                    incarnations = self._exports.get(response.id)
                    export = None if incarnations is None else incarnations.replay(response)
                    if export is not None:
                        self._settle_export(export)
                case Status(kind=kind, details=details) if kind == REFUSED:
                    self._refuse(str(details.get("message")), -1)
                case Status():
                    pass

    def _record_peek(self, sequence: int, response: PeekResponse) -> None:
        asked = self._asked.get(response.uuid)
        if asked is None:
            return
        asked.answered, asked.recorded = sequence, response.result
        if asked.replayed is None:
            self._owed.setdefault(asked.peek.target.id, set()).add(response.uuid)
        else:
            self._settle(asked)

    def _replay_peek(self, response: PeekResponse) -> None:
        asked = self._asked.get(response.uuid)
        if asked is None:
            return
        asked.replayed = response.result
        if asked.recorded is not None:
            self._settle(asked)

    def _settle(self, asked: _Asked) -> None:
        """Both answers are there."""
        peek = asked.peek
        del self._asked[peek.uuid]
        owed = self._owed.get(peek.target.id)
        if owed is not None:
            owed.discard(peek.uuid)
            if not owed:
                del self._owed[peek.target.id]
        assert asked.recorded is not None, "both are there"
        assert asked.replayed is not None, "both are there"
        if asked.volatile:
            verdict = Verdict(Outcome.NOT_COMPARED, note="tells of the replica itself")
        else:
            verdict = compare_peek(peek, asked.recorded, asked.replayed, cancelled=asked.cancelled)
        self._count(Answered.PEEKS, verdict, asked.sequence, asked.answered, show_peek(peek))

    def _settle_export(self, export: Export) -> None:
        """Compare an export when there is nothing to come on either side."""
        if not export.is_settled:
            return
        del self._all[export]
        if self._behind.get(export.id) is export:
            del self._behind[export.id]
        incarnations = self._exports[export.id]
        if incarnations.latest is export and export.dropped:
            del self._exports[export.id]
        self._compare(export)

    def _compare(self, export: Export) -> None:
        verdict = export.verdict(self.written)
        if verdict is not None:
            self._count(export.answers, verdict, export.sequence, None, export.show())

    def _refuse(self, message: str, sign: int) -> None:
        self._refusals[message] += sign

    @property
    def exports(self) -> tuple[Export, ...]:
        """Those that have something to tell still, in order of creation."""
        return tuple(self._all)

    # --- What is missing -----------------------------------------------------------------------------------------

    def missing(self, needs: Needs) -> str | None:
        """What was recorded and has not come yet, of what is needed; None: everything has come."""
        if needs.all:
            for id in [*self._behind]:
                if (behind := self._look(id)) is not None:
                    return behind
            for uuids in self._owed.values():
                return f"an answer to {self._show(uuids)}"
            return next((f"the refusal: {message}" for message, more in self._refusals.items() if more > 0), None)
        owed = None if needs.target is None else self._owed.get(needs.target)
        if owed is not None:
            return f"an answer to {self._show(owed)}"
        return next((behind for id in needs.exports if (behind := self._look(id)) is not None), None)

    def _look(self, id: GlobalId) -> str | None:
        export = self._behind.get(id)
        if export is None:
            return None
        if not export.is_behind:
            del self._behind[id]
            return None
        return f"what the {export.show()} had told"

    def _show(self, uuids: set[PeekId]) -> str:
        return show_peek(self._asked[min(uuids, key=lambda uuid: self._asked[uuid].sequence)].peek)

    # --- The end -------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Nothing more is told on this connection: compare what there is, and forget it."""
        for asked in self._asked.values():
            if asked.recorded is not None:
                cancelled = asked.cancelled or asked.volatile
                outcome = Outcome.NOT_COMPARED if cancelled else Outcome.MISSING
                verdict = Verdict(outcome, (show_result(asked.peek, asked.recorded),), (), "no answer this time")
                self._count(Answered.PEEKS, verdict, asked.sequence, asked.answered, show_peek(asked.peek))
        for export in self._all:
            self._compare(export)
        for message, more in self._refusals.items():
            self._count_refusals(message, more)
        for each in (self._asked, self._owed, self._exports, self._all, self._behind, self._refusals):
            each.clear()
        self._refused_in.clear()

    def _count_refusals(self, message: str, more: int) -> None:
        sequence = self._refused_in.get(message)
        if more == 0:
            self.counts[Answered.REFUSALS, Outcome.SAME] += 1
        elif more > 0:
            verdict = Verdict(Outcome.MISSING, (message,), (), "not refused this time")
            self._count(Answered.REFUSALS, verdict, 0, sequence, "a refusal")
        else:
            verdict = Verdict(Outcome.DIFFERENT, (), (message,), "refused this time only")
            self._count(Answered.REFUSALS, verdict, 0, sequence, "a refusal")

    def _count(self, answers: Answered, verdict: Verdict, sequence: int, answered: int | None, subject: str) -> None:
        self.counts[answers, verdict.outcome] += 1
        if verdict.outcome in (Outcome.DIFFERENT, Outcome.MISSING):
            self.found(Difference(answers, sequence, answered, subject, verdict))
