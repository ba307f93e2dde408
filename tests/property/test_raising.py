"""Raising a plan keeps its meaning, and what comes out can be written down."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings

from pillion.actors.simulation.oracle.relations import Collection
from pillion.dataflow.plans.parse_relation import parse_relation
from pillion.dataflow.plans.print_relation import print_relation
from pillion.dataflow.plans.raising import raise_plan
from pillion.dataflow.plans.typing import Types
from pillion.messages.ids import GlobalId
from pillion.messages.relations import Relation
from tests.property.rendering import render

from .strategies.vocabulary import EXACT
from .test_lowering import cases, expected, plan, with_indexes


def indexed(env: Mapping[GlobalId, Types]) -> dict[GlobalId, GlobalId]:
    """What the indexes of :func:`plan` are on."""
    return {GlobalId("s", id.number * 10 + at): id for id in env for at in range(10)}


@settings(max_examples=60)
@given(cases(EXACT))
def test_raised_plans_mean_the_same(
    case: tuple[Relation, dict[GlobalId, Types], dict[GlobalId, Collection]],
) -> None:
    relation, env, collections = case
    wanted = expected(relation, env, collections)
    for optimize, with_index in ((True, True), (False, False)):
        executed = plan(relation, env, optimize=optimize, indexed=with_index)
        raised = raise_plan(executed, indexed(env))
        text = print_relation(raised)
        assert parse_relation(text.splitlines(), env=env) == raised
        found = render(plan(raised, env, optimize=True, indexed=with_index), with_indexes(collections))
        assert found == wanted, text
