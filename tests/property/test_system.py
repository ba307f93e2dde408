"""A whole system in a simulation: the index, the materialized view, the subscription and the one-shot query of a
random relation agree with the oracle after every transaction, on one, two and three workers, with and without an
interactive runtime."""

from __future__ import annotations

import contextlib
import random
from collections import Counter

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pillion.actors import ActorSystem, CollectionError, Relation
from pillion.actors.dispatch.simulated import SimulatedDispatcher
from pillion.actors.simulation.oracle.relations import Collection, Oracle, Unspecified, canonical
from pillion.dataflow.plans.typing import Types, relation_types
from pillion.messages.frontiers import Frontier
from pillion.messages.types import Field, Schema

from .strategies.relations import relations
from .strategies.values import column_types, rows
from .strategies.vocabulary import EXACT, FAILING, Vocabulary

Rows = Counter[tuple[object, ...]]


def schema(types: Types) -> Schema:
    return Schema(tuple(Field(f"c{at}", type.type, type.nullable) for at, type in enumerate(types)))


def multiset(found: list[tuple[object, ...]]) -> Rows:
    return Counter(canonical(row) for row in found)


def check(data: st.DataObject, vocabulary: Vocabulary) -> None:
    types_of_tables = st.lists(column_types(vocabulary.types), min_size=1, max_size=3).map(tuple)
    rng = random.Random(data.draw(st.integers(0, 2**32), label="seed"))
    workers = data.draw(st.integers(1, 3), label="workers")
    interactive = data.draw(st.booleans(), label="interactive")
    dispatcher = SimulatedDispatcher(rng.randrange(2**32), keep_trace=False)
    with ActorSystem(workers, interactive=interactive, dispatcher=dispatcher) as system:
        tables = [
            system.create_table(f"table{at}", schema(types))
            for at, types in enumerate(data.draw(st.lists(types_of_tables, min_size=1, max_size=2)))
        ]
        env = {table.id: table.schema.types for table in tables}
        algebra = data.draw(relations(env, vocabulary, size=5), label="relation")
        relation = Relation(algebra, schema(relation_types(algebra, env)), system)
        contents: dict[object, Rows] = {table.id: Counter() for table in tables}
        index = system.create_index(system.view("view", relation), key=["c0"])
        materialized = system.materialized_view("materialized", relation)
        subscription = None if vocabulary.failing else system.subscribe(relation)
        integrated: Rows = Counter()
        upper: Frontier = 0
        for _ in range(data.draw(st.integers(1, 4), label="transactions")):
            with system.transaction() as transaction:
                for table in tables:
                    new = data.draw(st.lists(rows(table.schema.types), max_size=4))
                    present = sorted(contents[table.id].elements(), key=repr)
                    gone = rng.sample(present, rng.randrange(len(present) + 1))
                    transaction.insert(table, new)
                    transaction.delete(table, gone)
                    contents[table.id].update(canonical(row) for row in new)
                    contents[table.id] -= multiset(gone)
            try:
                wanted = Oracle({id: Collection(found) for id, found in contents.items()}, env).evaluate(algebra)
            except Unspecified:
                assume(False)
            readers = [index.peek, lambda: system.query(materialized), lambda: system.query(relation)]
            if wanted.errors:
                # Optimized, an expression that nobody needs is not computed: then there is an answer.
                for read in readers:
                    with contextlib.suppress(CollectionError):
                        read()
                continue
            for read in readers:
                assert multiset(read().rows()) == wanted.rows
            if subscription is not None:
                now = index.peek().timestamp
                for batch in subscription.until(now) if upper is not None and upper <= now else ():
                    upper = batch.upper
                    for change in batch:
                        integrated[canonical(change.row)] += change.diff
                assert Counter({row: n for row, n in integrated.items() if n}) == wanted.rows


@given(st.data())
@settings(max_examples=60)
def test_every_way_to_read_agrees_with_the_oracle(data: st.DataObject) -> None:
    check(data, EXACT)


@given(st.data())
@settings(max_examples=30)
def test_errors_pass_with_their_rows(data: st.DataObject) -> None:
    check(data, FAILING)
