"""Lowering keeps the meaning of an expression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import assume, given
from hypothesis import strategies as st

from pillion.actors.simulation.oracle.relations import Collection, Oracle, Unspecified
from pillion.dataflow.plans.lower import lower
from pillion.dataflow.plans.typing import Types, relation_types
from pillion.messages.dataflows import BuildDesc, IndexImport, RelationDataflow, SourceImport
from pillion.messages.ids import GlobalId
from pillion.messages.plans import RenderPlan
from pillion.messages.relations import Relation
from pillion.messages.scalars import ColumnRef
from pillion.messages.types import Field, Schema
from tests.property.rendering import render

from .strategies.relations import relations, sources
from .strategies.values import rows
from .strategies.vocabulary import EXACT, FAILING, Vocabulary


def schema(types: Types) -> Schema:
    return Schema(tuple(Field(f"c{at}", type.type, type.nullable) for at, type in enumerate(types)))


@st.composite
def cases(
    draw: st.DrawFn, vocabulary: Vocabulary
) -> tuple[Relation, dict[GlobalId, Types], dict[GlobalId, Collection]]:
    env = draw(sources(vocabulary))
    collections = {id: Collection() for id in env}
    for id, types in env.items():
        for row in draw(st.lists(rows(types), min_size=2, max_size=8)):
            collections[id].add(row, 1)
    return draw(relations(env, vocabulary, size=8)), env, collections


def plan(relation: Relation, env: Mapping[GlobalId, Types], *, optimize: bool, indexed: bool = False) -> RenderPlan:
    """The plan; ``indexed``: every collection has indexes by its first and by its last column."""
    indexes: list[IndexImport] = []
    for id, types in env.items() if indexed else ():
        for at in (0, len(types) - 1):
            name = GlobalId("s", id.number * 10 + at)
            indexes.append(IndexImport(name, id, (ColumnRef(at),), schema(types)))
    built = BuildDesc(GlobalId("t", 1), relation, schema(relation_types(relation, env)))
    imports = tuple(SourceImport(id, id, schema(types)) for id, types in env.items())
    dataflow = RelationDataflow("", imports, (), (built,), (), (), 0)
    return lower(dataflow, indexes, optimize=optimize).objects_to_build[0].plan


def expected(relation: Relation, env: dict[GlobalId, Types], collections: dict[GlobalId, Collection]) -> Collection:
    try:
        return Oracle(collections, env).evaluate(relation)
    except Unspecified:
        assume(False)
        raise


def with_indexes(collections: Mapping[GlobalId, Collection]) -> dict[GlobalId, Collection]:
    indexes = {GlobalId("s", id.number * 10 + at): found for id, found in collections.items() for at in range(10)}
    return {**collections, **indexes}


@given(cases(EXACT))
def test_plans_mean_what_was_written(
    case: tuple[Relation, dict[GlobalId, Types], dict[GlobalId, Collection]],
) -> None:
    relation, env, collections = case
    wanted = expected(relation, env, collections)
    for optimize, indexed in ((False, False), (True, False), (True, True), (False, True)):
        found = render(plan(relation, env, optimize=optimize, indexed=indexed), with_indexes(collections))
        assert found == wanted


@given(cases(FAILING))
def test_optimizing_adds_no_errors(
    case: tuple[Relation, dict[GlobalId, Types], dict[GlobalId, Collection]],
) -> None:
    relation, env, collections = case
    wanted = expected(relation, env, collections)
    literal = render(plan(relation, env, optimize=False), collections)
    assert literal == wanted
    optimized = render(plan(relation, env, optimize=True, indexed=True), with_indexes(collections))
    if not wanted.errors:
        assert optimized == Collection(wanted.rows, Counter())
