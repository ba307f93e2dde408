"""The ledger brings both sides together in whatever order they come."""

from __future__ import annotations

import pytest

from pillion.actors.replay.dependents import EVERYTHING, Needs
from pillion.actors.replay.ledger import Ledger
from pillion.actors.replay.verdict import Answered, Difference, Outcome
from pillion.actors.worker.refusals import refusal
from pillion.messages.commands import (
    AllowCompaction,
    CancelPeek,
    CreateDataflow,
    CreateInstance,
    Hello,
    InstanceConfig,
    LoggingIndex,
)
from pillion.messages.dataflows import (
    CopyTo,
    IndexExport,
    IndexImport,
    RenderDataflow,
    SinkConnection,
    SinkExport,
    SourceImport,
    Subscribe,
)
from pillion.messages.frontiers import Frontier
from pillion.messages.ids import GlobalId
from pillion.messages.responses import (
    Copied,
    CopyError,
    CopyToResponse,
    DroppedAt,
    Frontiers,
    PeekResponse,
    PeekResult,
    Response,
    SubscribeResponse,
)

from .build import INDEX, SCHEMA, batch, peek, rows

SOURCE = GlobalId("u", 1)
SINK = GlobalId("t", 3)


def index_of(id: GlobalId = INDEX, imports: tuple[IndexImport, ...] = ()) -> CreateDataflow:
    source = SourceImport(SOURCE, SOURCE, SCHEMA)
    return CreateDataflow(RenderDataflow("d", (source,), imports, (), (IndexExport(id, SOURCE, ()),), (), 0))


def sink(connection: SinkConnection) -> CreateDataflow:
    source = SourceImport(SOURCE, SOURCE, SCHEMA)
    return CreateDataflow(RenderDataflow("d", (source,), (), (), (), (SinkExport(SINK, SOURCE, connection),), 0))


def at(id: GlobalId, frontier: Frontier) -> Frontiers:
    return Frontiers(id, (frontier,), (frontier,), (frontier,))


class Book:
    """A ledger on a connection, and what it found."""

    def __init__(self) -> None:
        self.found: list[Difference] = []
        self.ledger = Ledger(self.found.append)
        self.ledger.written = 100
        self.sequence = 0
        self.send(Hello("n"))

    def send(self, *commands: object) -> None:
        for command in commands:
            self.sequence += 1
            self.ledger.sent(self.sequence, command)  # type: ignore[arg-type]

    def record(self, *responses: Response) -> None:
        self.sequence += 1
        self.ledger.record(self.sequence, "n", responses)

    def replay(self, *responses: Response) -> None:
        self.ledger.replay("n", responses)

    def outcomes(self, answers: Answered) -> dict[Outcome, int]:
        return {outcome: n for (kind, outcome), n in self.ledger.counts.items() if kind is answers and n}


@pytest.fixture
def book() -> Book:
    return Book()


def answer(result: PeekResult, uuid: str = "p") -> PeekResponse:
    return PeekResponse(uuid, result)


def test_whichever_side_is_first_waits_for_the_other(book: Book) -> None:
    book.send(peek("p"), peek("q"))
    book.record(answer(rows((1, "a"))))
    book.replay(answer(rows((2, "b")), "q"), answer(rows((1, "a"))))
    book.record(answer(rows((2, "b")), "q"))
    assert book.outcomes(Answered.PEEKS) == {Outcome.SAME: 2}


def test_a_difference_says_where_it_is(book: Book) -> None:
    book.send(peek("p"))
    book.record(answer(rows((1, "a"))))
    book.replay(answer(rows()))
    (found,) = book.found
    assert (found.sequence, found.answered) == (2, 3)
    assert "peek p of u2 at 5 (message 2, answered in 3): 1 row only recorded" in found.show()


def test_an_answer_that_never_comes_is_missing(book: Book) -> None:
    book.send(peek("p"), peek("q"))
    book.record(answer(rows()))
    assert book.ledger.missing(Needs(INDEX)) == "an answer to peek p of u2 at 5"
    assert book.ledger.missing(Needs(SOURCE)) is None
    book.ledger.close()
    assert book.outcomes(Answered.PEEKS) == {Outcome.MISSING: 1}


def test_a_cancelled_peek_is_not_missed(book: Book) -> None:
    book.send(peek("p"), CancelPeek("p"))
    book.record(answer(rows()))
    book.ledger.close()
    assert book.outcomes(Answered.PEEKS) == {Outcome.NOT_COMPARED: 1}


def test_answers_of_an_older_connection_count_for_nothing(book: Book) -> None:
    book.send(peek("p"))
    book.replay(answer(rows()))
    book.send(Hello("m"))
    book.record(answer(rows((1, "a"))))
    book.ledger.close()
    assert not book.found
    assert not book.ledger.counts


def test_what_reads_introspection_is_not_compared(book: Book) -> None:
    logging, query = GlobalId("s", 9), GlobalId("t", 8)
    book.send(CreateInstance(InstanceConfig((LoggingIndex("frontiers", logging),))))
    book.send(index_of(query, (IndexImport(logging, SOURCE, (), SCHEMA),)), peek("p", on=logging), peek("q", on=query))
    book.record(answer(rows()), answer(rows(), "q"))
    book.replay(answer(rows((1, "a"))), answer(rows((2, "b")), "q"))
    assert book.outcomes(Answered.PEEKS) == {Outcome.NOT_COMPARED: 2}


@pytest.mark.parametrize(
    ("recorded", "replayed", "outcome"),
    [
        (5, 5, Outcome.SAME),
        (5, 7, Outcome.SAME),
        (5, None, Outcome.SAME),
        (5, 4, Outcome.MISSING),
        (None, 9, Outcome.MISSING),
        (5, 101, Outcome.DIFFERENT),
    ],
)
def test_final_frontiers(book: Book, recorded: Frontier, replayed: Frontier, outcome: Outcome) -> None:
    book.send(index_of())
    book.record(at(INDEX, 3), at(INDEX, recorded))
    book.replay(at(INDEX, replayed))
    behind = book.ledger.missing(EVERYTHING)
    assert (behind is None) == (outcome is not Outcome.MISSING)
    book.ledger.close()
    assert book.outcomes(Answered.FRONTIERS) == {outcome: 1}


def test_how_far_a_dropped_collection_came_does_not_count(book: Book) -> None:
    book.send(index_of())
    book.record(at(INDEX, 9))
    book.replay(at(INDEX, 9))
    book.send(AllowCompaction(INDEX, None))
    book.record(at(INDEX, 11), at(INDEX, None))
    book.replay(at(INDEX, None))
    book.ledger.close()
    assert not book.found


def test_an_id_that_is_used_again_is_another_collection(book: Book) -> None:
    book.send(index_of(), AllowCompaction(INDEX, None), index_of())
    book.record(at(INDEX, 9), at(INDEX, None), at(INDEX, 4))
    book.replay(at(INDEX, None))
    assert book.ledger.missing(EVERYTHING) is not None
    book.replay(at(INDEX, 4))
    assert book.ledger.missing(EVERYTHING) is None
    book.ledger.close()
    assert book.outcomes(Answered.FRONTIERS) == {Outcome.SAME: 1}


def test_subscriptions_are_compared_when_they_end(book: Book) -> None:
    book.send(sink(Subscribe()))
    book.record(SubscribeResponse(SINK, batch(0, 4, (1, "a", 2, 1))))
    assert book.ledger.missing(Needs(exports=(SINK,))) == "what the subscription t3 had told"
    book.replay(SubscribeResponse(SINK, batch(0, 2)), SubscribeResponse(SINK, batch(2, 6, (1, "a", 2, 1))))
    assert book.ledger.missing(Needs(exports=(SINK,))) is None
    book.send(AllowCompaction(SINK, None))
    book.record(SubscribeResponse(SINK, DroppedAt(4)))
    assert not book.ledger.counts
    book.replay(SubscribeResponse(SINK, DroppedAt(6)))
    assert book.outcomes(Answered.SUBSCRIBES) == {Outcome.SAME: 1}
    assert book.ledger.exports == ()


def test_copies(book: Book) -> None:
    for recorded, replayed in (
        (Copied(3), Copied(3)),
        (Copied(3), Copied(4)),
        (CopyError("no such directory"), Copied(3)),
        (Copied(3), CopyError("x")),
    ):
        book.send(sink(CopyTo("/f.csv")), AllowCompaction(SINK, None))
        book.record(CopyToResponse(SINK, recorded))
        book.replay(CopyToResponse(SINK, replayed))
    book.ledger.close()
    assert book.outcomes(Answered.COPIES) == {Outcome.SAME: 1, Outcome.DIFFERENT: 2, Outcome.NOT_COMPARED: 1}


def test_refusals_are_answers_too(book: Book) -> None:
    book.record(refusal("Schedule", "u7: there is none"), refusal("Schedule", "u8: there is none"))
    book.replay(refusal("Schedule", "u7: there is none"), refusal("Schedule", "u9: there is none"))
    assert book.ledger.missing(EVERYTHING) == "the refusal: u8: there is none"
    book.ledger.close()
    assert book.outcomes(Answered.REFUSALS) == {Outcome.SAME: 1, Outcome.MISSING: 1, Outcome.DIFFERENT: 1}
