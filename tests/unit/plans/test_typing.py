"""Types of relations, and the errors of ill-formed ones: which node, what was given, what was expected."""

from __future__ import annotations

import re

import pytest

from pillion.dataflow.plans.aggregates import aggregate_kind, aggregate_type
from pillion.dataflow.plans.errors import RelationTypeError
from pillion.dataflow.plans.parse_relation import parse_relation
from pillion.dataflow.plans.print_relation import print_types
from pillion.dataflow.plans.typing import relation_types
from pillion.messages.errors import ExpressionError
from pillion.messages.plans import AggregateKind
from pillion.messages.relations import Aggregate, Constant, Get, Join, TopK, Union
from pillion.messages.scalars import Literal, UserFunction
from pillion.messages.types import ColumnType, SqlType

from .build import BIGINT, DOUBLE, NOT_NULL, TEXT, col, get, gid, lit
from .texts import ENV, lines

TYPES = {
    "Map (#0 + 1, #3 * 2.5, #2)\n  Get u1": "(bigint, bigint?, text?, bigint, double, text?)",
    "Map (coalesce(#1, 0), #1 IS NULL)\n  Get u1": "(bigint, bigint?, text?, bigint, boolean)",
    "FlatMap generate_series(0, #1)\n  Get u1": "(bigint, bigint?, text?, bigint)",
    "CrossJoin\n  Get u1\n  Get u2": "(bigint, bigint?, text?, bigint, text)",
    "Reduce group_by=[#2] aggregates=[count(*), count(#1), sum(#1), min(#0), avg(#0)]\n  Get u1": (
        "(text?, bigint, bigint, bigint?, bigint, double)"
    ),
    "Distinct project=[#1]\n  Get u1": "(bigint?)",
    "Union\n  Project (#0)\n    Get u1\n  Project (#1)\n    Get u1": "(bigint?)",
    "TopK group_by=[] order_by=[] limit=1\n  Get u2": "(bigint, text)",
    "With\n  cte l0 =\n    Get u2\nReturn\n  Project (#1)\n    Get l0": "(text)",
    'Constant\n  - (1, null, "x")\n  - (2, "y", null)': "(bigint, text?, text?)",
}


@pytest.mark.parametrize("text", TYPES)
def test_types(text: str) -> None:
    assert print_types(relation_types(parse_relation(text), ENV)) == TYPES[text]


ERRORS = {
    "Get u9": "Get u9: neither imported nor built; known: u1, u2, u3",
    "Get l0": "Get l0: no enclosing With binds it; no cte is known",
    "Project (#3)\n  Get u1": "Project (#3): there is no column #3: the input has 3 columns, (bigint, bigint?, text?)",
    "Map (#5)\n  Get u1": "Map (#5): there is no column #5",
    "Filter #0\n  Get u1": "Filter #0: a predicate is boolean; given bigint",
    "Filter #0 = #2\n  Get u1": "Filter #0 = #2: =(bigint, text) is not possible",
    "FlatMap generate_series(#2, 1)\n  Get u1": "expected generate_series(bigint, bigint[, bigint])",
    "FlatMap generate_serie(1, 1)\n  Get u1": "did you mean generate_series?",
    "Join on=(#0 = #4)\n  Get u1\n  Get u2": "values of types bigint, text are never equal; cast them to one type",
    "Reduce group_by=[] aggregates=[sum(#2)]\n  Get u1": "sum(text) is not possible: expected a number",
    "Reduce group_by=[] aggregates=[total(#0)]\n  Get u1": "there is no aggregate 'total'",
    "Reduce group_by=[] aggregates=[sum(*)]\n  Get u1": "sum(*) is not possible: only count takes whole rows",
    "Reduce group_by=[] aggregates=[string_agg(#2)]\n  Get u1": "takes these parameters after its input: text",
    "Reduce group_by=[] aggregates=[percentile(#0, 1.5)]\n  Get u1": "a fraction from 0 to 1; given 1.5",
    "TopK group_by=[#7] order_by=[]\n  Get u1": "there is no column #7",
    "TopK group_by=[] order_by=[#7]\n  Get u1": "there is no column #7",
    "Union\n  Get u1\n  Get u2": "all inputs have the same types: input 1 has (bigint, text), input 0 has (bigint,",
    "ArrangeBy keys=[[#9]]\n  Get u1": "there is no column #9",
    "Distinct project=[nope(#0)]\n  Get u1": "there is no function 'nope'",
    "With\n  cte l0 =\n    Get u1\n  cte l0 =\n    Get u2\nReturn\n  Get l0": "With: cte l0 is bound twice",
}


@pytest.mark.parametrize("text", ERRORS)
def test_ill_formed(text: str) -> None:
    with pytest.raises(RelationTypeError, match=re.escape(ERRORS[text])):
        relation_types(parse_relation(text), ENV)


def test_nodes_that_no_text_shows() -> None:
    for relation, problem in (
        (Join(()), "a join needs an input"),
        (Union(()), "a union needs an input"),
        (TopK(get("u1"), (), (), limit=None, offset=0), None),
    ):
        if problem is None:
            assert relation_types(relation, ENV) == ENV[gid("u1")]
        else:
            with pytest.raises(RelationTypeError, match=problem):
                relation_types(relation, ENV)


def test_constants_have_no_null_where_none_may_be() -> None:
    with pytest.raises((RelationTypeError, ValueError)):
        relation_types(Constant((NOT_NULL,), ((Literal(None, BIGINT),),)), {})


RECURSIVE = """
With Mutually Recursive
  cte l0 ={annotation}
    Distinct
      Union
        Project (#0, #1)
          Get u3
        Project (#0, #3)
          Join on=(#1 = #2)
            Get l0
            Get l0
Return
  Get l0
"""


@pytest.mark.parametrize("annotation", ["", ' // { types: "(bigint, bigint)" }', ' // { types: "(bigint?, bigint)" }'])
def test_recursive_bindings(annotation: str) -> None:
    relation = parse_relation(lines(RECURSIVE.format(annotation=annotation)))
    expected = "(bigint?, bigint)" if "?" in annotation else "(bigint, bigint)"
    assert print_types(relation_types(relation, ENV)) == expected


def test_recursive_bindings_have_the_types_they_declare() -> None:
    text = lines(RECURSIVE.format(annotation=' // { types: "(bigint, text)" }'))
    with pytest.raises(RelationTypeError, match="values of types text, bigint are never equal"):
        relation_types(parse_relation(text), ENV)


def test_recursive_bindings_without_a_start_need_an_annotation() -> None:
    text = "With Mutually Recursive\n  cte l0 =\n    Get l1\n  cte l1 =\n    Get l0\nReturn\n  Get l0"
    with pytest.raises(RelationTypeError, match="cte l0 needs an annotation of its types"):
        relation_types(parse_relation(text), ENV)


@pytest.mark.parametrize(
    ("function", "input", "result", "kind"),
    [
        ("sum", SqlType.SMALLINT, SqlType.BIGINT, AggregateKind.ACCUMULABLE),
        ("sum", SqlType.REAL, SqlType.DOUBLE, AggregateKind.ACCUMULABLE),
        ("sum", SqlType.NUMERIC, SqlType.NUMERIC, AggregateKind.ACCUMULABLE),
        ("avg", SqlType.INTEGER, SqlType.DOUBLE, AggregateKind.ACCUMULABLE),
        ("avg", SqlType.NUMERIC, SqlType.NUMERIC, AggregateKind.ACCUMULABLE),
        ("any", SqlType.BOOLEAN, SqlType.BOOLEAN, AggregateKind.ACCUMULABLE),
        ("min", SqlType.BYTEA, SqlType.BYTEA, AggregateKind.HIERARCHICAL),
        ("max", SqlType.DATE, SqlType.DATE, AggregateKind.HIERARCHICAL),
        ("median", SqlType.BIGINT, SqlType.DOUBLE, AggregateKind.BASIC),
        ("stddev", SqlType.DOUBLE, SqlType.DOUBLE, AggregateKind.BASIC),
    ],
)
def test_aggregates(function: str, input: SqlType, result: SqlType, kind: AggregateKind) -> None:
    aggregate = Aggregate(function, col(0))
    # A sample's spread is NULL for a single value.
    vanishes = function == "stddev"
    assert aggregate_type(aggregate, [ColumnType(input, nullable=False)]) == ColumnType(result, nullable=vanishes)
    assert aggregate_type(aggregate, [ColumnType(input)]) == ColumnType(result)
    assert aggregate_kind(aggregate) is kind


def test_user_aggregates_are_recomputed_from_their_group() -> None:
    result = ColumnType(TEXT, nullable=False)
    aggregate = Aggregate("mine", col(0), user=UserFunction("mine", result, b""))
    assert aggregate_type(aggregate, [NOT_NULL]) == result
    assert aggregate_kind(aggregate) is AggregateKind.BASIC


def test_parameters_of_aggregates_are_constants_of_their_types() -> None:
    aggregate_type(Aggregate("percentile", col(0), parameters=(lit(1),)), [NOT_NULL])
    for parameter in (Literal(None, DOUBLE), lit("a", TEXT)):
        with pytest.raises(ExpressionError, match="percentile takes these parameters"):
            aggregate_type(Aggregate("percentile", col(0), parameters=(parameter,)), [NOT_NULL])


def test_types_of_bindings_around() -> None:
    assert relation_types(parse_relation("Get l0"), {}, {"l0": (NOT_NULL,)}) == (NOT_NULL,)
    assert relation_types(Get(gid("u1")), {gid("u1"): (NOT_NULL,)}) == (NOT_NULL,)
