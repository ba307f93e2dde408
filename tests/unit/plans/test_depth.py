"""Deep and large expressions are planned up to a limit and refused beyond it; Python's stack is never the limit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pillion.dataflow.plans.errors import ParseError, PlanDepthError
from pillion.dataflow.plans.explain import explain_dataflow
from pillion.dataflow.plans.lower import lower
from pillion.dataflow.plans.parse_relation import parse_relation
from pillion.dataflow.plans.parse_scalar import parse_scalar
from pillion.dataflow.plans.print_relation import print_relation
from pillion.dataflow.plans.trees import MAX_DEPTH
from pillion.dataflow.plans.typing import relation_types
from pillion.messages.dataflows import BuildDesc, RelationDataflow, SourceImport
from pillion.messages.relations import (
    Aggregate,
    ArrangeBy,
    Binding,
    Distinct,
    Filter,
    GetLocal,
    Join,
    Let,
    Map,
    Negate,
    Order,
    Project,
    Reduce,
    Relation,
    Threshold,
    TopK,
    Union,
)
from pillion.messages.scalars import Scalar

from .build import NOT_NULL, anonymous, call, col, eq, get, gid, lit

ENV = {gid("u1"): (NOT_NULL,)}

WRAPPERS: dict[str, Callable[[Relation, int], Relation]] = {
    "map": lambda relation, _: Project(Map(relation, (call("+", col(0), lit(1)),)), (1,)),
    "filter": lambda relation, level: Filter(relation, (call(">", col(0), lit(level)),)),
    "reduce": lambda relation, _: Project(Reduce(relation, (col(0),), (Aggregate("max", col(0)),)), (1,)),
    "distinct": lambda relation, _: Distinct(Threshold(relation)),
    "top_k": lambda relation, level: TopK(relation, (), (Order(0),), limit=level + 1),
    "negate": lambda relation, _: Negate(relation),
    "arrange": lambda relation, _: ArrangeBy(relation, ((col(0),),)),
    "union": lambda relation, _: Union((relation, get("u1"))),
    "union of others": lambda relation, _: Union((Negate(relation), get("u1"))),
    "join": lambda relation, _: Project(Join((relation, get("u1")), ((col(0), col(1)),)), (1,)),
    "join of what can fail": lambda relation, _: Project(
        Join((Map(relation, (call("/", lit(1), col(0)),)), get("u1")), ((col(1), col(2)),)), (1,)
    ),
    "join of reductions": lambda relation, _: Project(
        Join((Distinct(relation), Negate(get("u1"))), ((col(0), call("neg", col(1))),)), (1,)
    ),
    "let": lambda relation, _: Let((Binding("l0", relation),), Union((GetLocal("l0"), GetLocal("l0")))),
    "let once": lambda relation, _: Let((Binding("l0", relation),), Distinct(GetLocal("l0"))),
    "let body": lambda relation, level: Let(
        (Binding(f"l{level}", get("u1")),), Union((relation, GetLocal(f"l{level}")))
    ),
}


def nested(wrap: Callable[[Relation, int], Relation], depth: int) -> Relation:
    """``get u1`` below so many nodes, at most."""
    relation: Relation = get("u1")
    level = 0
    while True:
        deeper = wrap(relation, level)
        if height(deeper) > depth:
            return relation
        relation, level = deeper, level + 1


def height(relation: Relation) -> int:
    from pillion.dataflow.plans.trees import height

    return height(relation)


def describe(relation: Relation) -> RelationDataflow:
    built = BuildDesc(gid("u2"), relation, anonymous(relation_types(relation, ENV)))
    source = SourceImport(gid("u1"), gid("u1"), anonymous((NOT_NULL,)))
    return RelationDataflow("deep", (source,), (), (built,), (), (), 0)


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS.keys())
def test_what_is_just_not_too_deep(wrap: Callable[[Relation, int], Relation]) -> None:
    relation = nested(wrap, MAX_DEPTH)
    assert parse_relation(print_relation(relation), env=ENV) == relation
    written = describe(relation)
    for optimize in (True, False):
        assert explain_dataflow(lower(written, optimize=optimize))


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS.keys())
def test_what_is_too_deep(wrap: Callable[[Relation, int], Relation]) -> None:
    relation = wrap(wrap(nested(wrap, MAX_DEPTH), 1), 2)
    with pytest.raises(PlanDepthError, match=f"nests deeper than {MAX_DEPTH} nodes; divide it into several views"):
        relation_types(relation, ENV)


def test_many_lines() -> None:
    text = "\n".join(f"{' ' * level}Negate" for level in range(2_000))
    with pytest.raises(ParseError, match="lines nest deeper"):
        parse_relation(text)


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("-(", ")"), ("NOT ", ""), ("upper(", ")"), ("- ", "")])
def test_deep_scalars(opening: str, closing: str) -> None:
    fits = MAX_DEPTH // 2 - 1 if opening == "-(" else MAX_DEPTH - 1
    parse_scalar(f"{opening * fits}#0{closing * fits}")
    with pytest.raises(ParseError, match=f"an expression that nests no deeper than {MAX_DEPTH}"):
        parse_scalar(f"{opening * 20_000}#0{closing * 20_000}")


def test_deep_cases() -> None:
    text = "case when #0 = 1 then 1 else " * 200 + "0" + " end" * 200
    with pytest.raises(ParseError, match="nests no deeper"):
        parse_scalar(text)
    flat = "case " + "when #0 = 1 then 1 " * 200 + "else 0 end"
    with pytest.raises(PlanDepthError):
        relation_types(Map(get("u1"), (parse_scalar(flat),)), ENV)


def chain(depth: int) -> Scalar:
    scalar: Scalar = col(0)
    for _ in range(depth):
        scalar = call("+", scalar, lit(1))
    return scalar


def test_a_deep_scalar_is_planned_up_to_the_limit() -> None:
    relation = Filter(Map(get("u1"), (chain(MAX_DEPTH - 1),)), (eq(col(1), lit(3)),))
    for optimize in (True, False):
        assert explain_dataflow(lower(describe(relation), optimize=optimize))
    with pytest.raises(PlanDepthError, match=f"the expression nests deeper than {MAX_DEPTH} calls"):
        relation_types(Map(get("u1"), (chain(MAX_DEPTH),)), ENV)


def test_expressions_that_double_are_not_written_out() -> None:
    doubling = tuple(call("+", col(at), col(at)) for at in range(60))
    relation = Filter(Map(get("u1"), doubling), (eq(col(60), lit(3)),))
    joined = Join((relation, get("u1")), ((col(60), col(61)),))
    assert explain_dataflow(lower(describe(joined)))


def test_a_relation_that_doubles_is_refused() -> None:
    relation: Relation = get("u1")
    for _ in range(60):
        relation = Union((relation, relation))
    with pytest.raises(PlanDepthError, match="has more than"):
        relation_types(relation, ENV)
