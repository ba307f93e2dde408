"""What one export of a dataflow has told: recorded, and this time."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...messages.dataflows import CopyTo, MaterializedView, RenderDataflow, Subscribe
from ...messages.frontiers import Frontier, less_than, show_frontier
from ...messages.ids import GlobalId
from ...messages.responses import (
    Copied,
    CopyDropped,
    CopyError,
    CopyToResponse,
    DroppedAt,
    Frontiers,
    SubscribeResponse,
)
from .subscribes import SubscribeComparison
from .verdict import SAME, Answered, Outcome, Verdict

CopyResult = Copied | CopyError | CopyDropped
ExportResponse = Frontiers | SubscribeResponse | CopyToResponse

_Kinds = dict[str, Frontier]
_KINDS = ("write", "input", "output")


@dataclass(slots=True)
class Side:
    """What one of the two runs has told of an export; of a subscription see :class:`SubscribeComparison`."""

    frontiers: _Kinds = field(default_factory=dict[str, Frontier])
    copy: CopyResult | None = None
    finished: bool = False
    """Whether it told the last thing that there is to tell."""

    def take(self, response: ExportResponse) -> None:
        match response:
            case Frontiers():
                moved = {kind: getattr(response, kind) for kind in _KINDS}
                self.frontiers.update({kind: frontier[0] for kind, frontier in moved.items() if frontier is not None})
                self.finished = len(self.frontiers) == len(_KINDS) and set(self.frontiers.values()) == {None}
            case SubscribeResponse(result=result):
                self.finished = isinstance(result, DroppedAt) or result.upper is None
            case CopyToResponse(result=result):
                self.copy = result
                self.finished = True

    def is_behind(self, other: Side) -> bool:
        """Whether it has told less than the other side."""
        return (self.copy is None and other.copy is not None) or bool(_behind(self.frontiers, other.frontiers))


class Export:
    """One export, from the command that created it on.

    Attributes:
        sequence: of that command.
        answers: what it tells; frontiers for indexes and materialized views.
        volatile: it tells of the replica itself (introspection, or what is computed from it), so nothing is compared.
        dropped: nobody needs it any more, so that how far it came does not matter.
        subscribe: for a subscription, what was told.
    """

    __slots__ = ("answers", "dropped", "id", "recorded", "replayed", "sequence", "subscribe", "volatile")

    def __init__(self, sequence: int, id: GlobalId, answers: Answered, *, volatile: bool = False) -> None:
        self.sequence = sequence
        self.id = id
        self.answers = answers
        self.volatile = volatile
        self.dropped = False
        self.recorded = Side()
        self.replayed = Side()
        self.subscribe: SubscribeComparison | None = None

    def record(self, response: ExportResponse) -> None:
        self.recorded.take(response)
        if self.subscribe is not None and isinstance(response, SubscribeResponse):
            self.subscribe.record(response.result)

    def replay(self, response: ExportResponse) -> None:
        self.replayed.take(response)
        if self.subscribe is not None and isinstance(response, SubscribeResponse):
            self.subscribe.replay(response.result)

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to come on either side."""
        return self.recorded.finished and self.replayed.finished

    @property
    def is_behind(self) -> bool:
        """Whether this run has not told yet what was recorded."""
        if self.volatile or (self.dropped and self.replayed.finished):
            # What came between the drop and its being heard of depends on how busy everybody was.
            return False
        if self.subscribe is not None:
            return self.subscribe.is_behind
        return self.replayed.is_behind(self.recorded)

    def verdict(self, written: Frontier) -> Verdict | None:
        """Compare; None when nothing was recorded that could be. ``written``: no shard was written beyond it."""
        if self.volatile:
            return Verdict(Outcome.NOT_COMPARED, note="tells of the replica itself")
        if self.subscribe is not None:
            return self.subscribe.verdict(dropped=self.dropped and self.replayed.finished)
        if self.dropped and self.answers is Answered.COPIES and isinstance(self.replayed.copy, CopyDropped):
            return Verdict(Outcome.NOT_COMPARED, note="dropped")
        if self.answers is Answered.COPIES:
            return None if self.recorded.copy is None else compare_copies(self.recorded.copy, self.replayed.copy)
        if self.dropped or not self.recorded.frontiers:
            return None
        return compare_frontiers(self.recorded.frontiers, self.replayed.frontiers, written)

    def uppers(self) -> tuple[Frontier | str, Frontier | str]:
        """How far it had come, and has come; ``-`` where nothing was told."""
        if self.subscribe is not None:
            return self.subscribe.recorded, self.subscribe.replayed
        recorded, replayed = (side.frontiers.get("write", "-") for side in (self.recorded, self.replayed))
        return recorded, replayed

    def show(self) -> str:
        """What it is, in a few words."""
        match self.answers:
            case Answered.SUBSCRIBES:
                return f"subscription {self.id}"
            case Answered.COPIES:
                return f"copy {self.id}"
            case _:
                return f"frontiers of {self.id}"


def exports_of(sequence: int, dataflow: RenderDataflow, *, volatile: bool) -> list[Export]:
    """What a dataflow exports."""
    exports = [Export(sequence, index.id, Answered.FRONTIERS, volatile=volatile) for index in dataflow.index_exports]
    for sink in dataflow.sink_exports:
        match sink.connection:
            case Subscribe():
                export = Export(sequence, sink.id, Answered.SUBSCRIBES, volatile=volatile)
                export.subscribe = SubscribeComparison(dataflow.schema_of(sink.on), dataflow.as_of)
            case CopyTo():
                export = Export(sequence, sink.id, Answered.COPIES, volatile=volatile)
            case MaterializedView():
                export = Export(sequence, sink.id, Answered.FRONTIERS, volatile=volatile)
        exports.append(export)
    return exports


def compare_copies(recorded: CopyResult, replayed: CopyResult | None) -> Verdict:
    """A copy is written elsewhere this time, so what became of its file is not compared, only its rows."""
    match recorded, replayed:
        case _, None:
            return Verdict(Outcome.MISSING, (show_copy(recorded),))
        case Copied(), Copied():
            if recorded == replayed:
                return SAME
        case CopyError(), CopyError():
            return SAME
        case CopyError(), Copied():
            return Verdict(Outcome.NOT_COMPARED, note="failed when it was recorded, perhaps over its file")
        case CopyDropped(), _:
            return Verdict(Outcome.NOT_COMPARED, note="dropped")
        case _:
            pass
    return Verdict(Outcome.DIFFERENT, (show_copy(recorded),), (show_copy(replayed),))


def compare_frontiers(recorded: _Kinds, replayed: _Kinds, written: Frontier) -> Verdict:
    """Frontiers of this run may be further than those recorded, because the recording may have stopped before all work
    was done; not further than anything that was ever written, unless the collection has ended."""
    behind = _behind(replayed, recorded)
    if behind:
        return Verdict(Outcome.MISSING, _show(recorded, behind), _show(replayed, behind), "not as far as recorded")
    beyond = [
        kind for kind, at in recorded.items() if less_than(written, replayed[kind]) and less_than(at, replayed[kind])
    ]
    ahead = [kind for kind in beyond if replayed[kind] is not None]
    if ahead:
        return Verdict(
            Outcome.DIFFERENT, _show(recorded, ahead), _show(replayed, ahead), "further than what was ever written"
        )
    return SAME


def _behind(frontiers: _Kinds, others: _Kinds) -> list[str]:
    """The kinds that others have told further."""
    return [kind for kind, at in others.items() if kind not in frontiers or less_than(frontiers[kind], at)]


def _show(frontiers: _Kinds, kinds: list[str]) -> tuple[str, ...]:
    told = [f"{kind} {show_frontier(frontiers[kind])}" for kind in kinds if kind in frontiers]
    return (", ".join(told) or "nothing",)


def show_copy(result: CopyResult) -> str:
    """What became of a copy, in a few words."""
    match result:
        case Copied(rows):
            return f"{rows} rows"
        case CopyError(message):
            return f"error: {message}"
        case CopyDropped():
            return "dropped"
