"""Random plans over random histories: at every readable time the maintained index and the integrated stream of
changes are what the oracle computes, on one, two and three workers."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from hypothesis import assume, given
from hypothesis import strategies as st

from pillion.actors.simulation.oracle.relations import Collection, Oracle, Unspecified, canonical
from pillion.dataflow.plans.lower import lower
from pillion.dataflow.plans.typing import Types, relation_types
from pillion.messages.dataflows import BuildDesc, IndexExport, RelationDataflow, SinkExport, SourceImport, Subscribe
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Relation
from pillion.messages.scalars import ColumnRef
from tests.unit.dataflow.histories import END, play, random_history
from tests.unit.dataflow.plans import Update, Workers, at, schema

from .strategies.relations import relations, sources
from .strategies.values import rows
from .strategies.vocabulary import EXACT, FAILING, Vocabulary

BUILT, INDEX, SINK = GlobalId("t", 1), GlobalId("t", 2), GlobalId("t", 3)


@dataclass
class Case:
    relation: Relation
    types: dict[GlobalId, Types]
    histories: dict[GlobalId, list[Update]]
    peers: int
    as_of: int
    fuel: int | None
    rng: random.Random

    def expected(self, time: int) -> Collection:
        """What the relation is at a time."""
        found = {id: Counter[tuple[object, ...]]() for id in self.types}
        for id, history in self.histories.items():
            for row, diff in at(history, time).items():
                found[id][canonical(row)] += diff
        try:
            return Oracle({id: Collection(rows) for id, rows in found.items()}, self.types).evaluate(self.relation)
        except Unspecified:
            assume(False)
            raise

    def run(self, *, optimize: bool) -> Workers:
        """The dataflow, fed with its histories."""
        types = relation_types(self.relation, self.types)
        description = lower(
            RelationDataflow(
                "random",
                tuple(SourceImport(id, id, schema(t)) for id, t in self.types.items()),
                (),
                (BuildDesc(BUILT, self.relation, schema(types)),),
                (IndexExport(INDEX, BUILT, (ColumnRef(0),)),),
                (SinkExport(SINK, BUILT, Subscribe()),),
                self.as_of,
            ),
            optimize=optimize,
        )
        workers = Workers(description, self.peers, fuel=self.fuel)
        needed = {source.id for source in description.source_imports}
        play(self.rng, workers, [(id, self.types[id], h) for id, h in self.histories.items() if id in needed])
        return workers


@st.composite
def cases(draw: st.DrawFn, vocabulary: Vocabulary) -> Case:
    types = draw(sources(vocabulary))
    rng = random.Random(draw(st.integers(0, 2**32)))
    histories = {
        id: random_history(rng, draw(st.lists(rows(t), min_size=1, max_size=5)), draw(st.integers(0, 12)))
        for id, t in types.items()
    }
    relation = draw(relations(types, vocabulary, size=6))
    fuel = draw(st.sampled_from([None, 1, 7, 1000]))
    return Case(relation, types, histories, draw(st.integers(1, 3)), draw(st.integers(0, 4)), fuel, rng)


def tidy(rows: Counter[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for row, diff in rows.items():
        found[canonical(row)] += diff
    return Counter({row: diff for row, diff in found.items() if diff})


@given(cases(EXACT), st.booleans())
def test_indexes_and_streams_agree_with_the_oracle_at_every_time(case: Case, optimize: bool) -> None:
    workers = case.run(optimize=optimize)
    changes = workers.stream(SINK)
    for time in range(case.as_of, END):
        wanted = case.expected(time)
        assert not workers.errors(INDEX, time)
        assert tidy(workers.index(INDEX, time)) == wanted.rows
        assert tidy(at(changes, time)) == wanted.rows


@given(cases(FAILING))
def test_errors_come_and_go_with_their_rows(case: Case) -> None:
    workers = case.run(optimize=False)
    for time in range(case.as_of, END):
        wanted = case.expected(time)
        if wanted.errors:
            assert set(workers.errors(INDEX, time)) <= set(wanted.errors)
            assert workers.errors(INDEX, time)
        else:
            assert not workers.errors(INDEX, time)
            assert tidy(workers.index(INDEX, time)) == wanted.rows


@given(cases(FAILING))
def test_optimizing_adds_no_errors(case: Case) -> None:
    workers = case.run(optimize=True)
    for time in range(case.as_of, END):
        wanted = case.expected(time)
        if not wanted.errors:
            assert not workers.errors(INDEX, time)
            assert tidy(workers.index(INDEX, time)) == wanted.rows


@given(cases(EXACT))
def test_history_may_be_compacted_while_it_is_read(case: Case) -> None:
    workers = case.run(optimize=True)
    for time in range(case.as_of, END):
        for traces, dataflow in zip(workers.traces, workers.dataflows, strict=True):
            traces[INDEX].allow_compaction(time)
            while dataflow.maintain(3):
                pass
        assert tidy(workers.index(INDEX, time)) == case.expected(time).rows
