"""What is read and which rows are wanted moves down; what may fail and what depends on all rows does not."""

from __future__ import annotations

import pytest

from .texts import lines, plan

CASES = {
    "row by row is one node": (
        """
        Project (#3)
          Filter #3 > 1
            Map (#0 + 1)
              Filter #1 IS NOT NULL
                Get u1
        """,
        """
        MapFilterProject map=(#0 + 1) filter=(#1 IS NOT NULL AND #3 > 1) project=(#3)
          Get u1
        """,
    ),
    "an expression that nobody reads is dropped": (
        """
        Project (#0)
          Map (1 / #1)
            Get u1
        """,
        """
        MapFilterProject project=(#0)
          Get u1
        """,
    ),
    "an expression that occurs twice is computed once": (
        """
        Map (#0 + 1, #0 + 1)
          Get u2
        """,
        """
        MapFilterProject map=(#0 + 1) project=(#0, #1, #2, #2)
          Get u2
        """,
    ),
    "a reduction reads its keys and inputs": (
        """
        Reduce group_by=[#2] aggregates=[sum(#0), max(#0 * 2)]
          Get u1
        """,
        """
        Reduce group_by=[#0] aggregates=[sum(#1) accumulable, max(#2) hierarchical]
          MapFilterProject map=(#0 * 2) project=(#2, #0, #3)
            Get u1
        """,
    ),
    "an aggregate that nobody reads is dropped": (
        """
        Project (#0)
          Reduce group_by=[#2] aggregates=[string_agg(#2, ",")]
            Get u1
        """,
        """
        Distinct project=[#0]
          MapFilterProject project=(#2)
            Get u1
        """,
    ),
    "a filter on group keys is one on the input": (
        """
        Filter #0 = "a" AND #1 > 10
          Reduce group_by=[#2] aggregates=[count(*)]
            Get u1
        """,
        """
        MapFilterProject filter=(#1 > 10)
          Reduce group_by=[#0] aggregates=[count(*) accumulable]
            MapFilterProject filter=(#2 = "a") project=(#2)
              Get u1
        """,
    ),
    "a filter that can fail stays where it is": (
        """
        Filter 1 / #0 = 1
          Reduce group_by=[#0] aggregates=[]
            Get u2
        """,
        """
        MapFilterProject filter=(1 / #0 = 1)
          Distinct project=[#0]
            MapFilterProject project=(#0)
              Get u2
        """,
    ),
    "a count of what is never NULL counts rows": (
        """
        Reduce group_by=[] aggregates=[count(#0), count(#1)]
          Get u1
        """,
        """
        Reduce group_by=[] aggregates=[count(*) accumulable, count(#0) accumulable]
          MapFilterProject project=(#1)
            Get u1
        """,
    ),
    "top-k reads whole rows, because ties are ordered by them": (
        """
        Project (#0)
          Filter #1 = 3 AND #0 > 5
            TopK group_by=[#1] order_by=[#0 asc nulls_last] limit=2
              Get u1
        """,
        """
        MapFilterProject filter=(#0 > 5) project=(#0)
          TopK group_by=[#1] order_by=[#0 asc nulls_last] limit=2
            MapFilterProject filter=(#1 = 3)
              Get u1
        """,
    ),
    "top-k without bounds is nothing": (
        """
        TopK group_by=[] order_by=[#0 asc nulls_last]
          Get u2
        """,
        "Get u2",
    ),
    "filters go below unions, and unions of unions are one": (
        """
        Filter #0 = 1
          Union
            Get u2
            Union
              Get u2
              Negate
                Get u2
        """,
        """
        With
          cte l0 =
            MapFilterProject filter=(#0 = 1)
              Get u2
        Return
          Union
            Get l0
            Get l0
            Negate
              Get l0
        """,
    ),
    "what can fail stays above a negation": (
        """
        Map (1 / #0)
          Negate
            Get u2
        """,
        """
        MapFilterProject map=(1 / #0)
          Negate
            Get u2
        """,
    ),
    "a table function gets the columns that are read": (
        """
        Project (#3, #0)
          Filter #0 > 1 AND #3 < 5
            FlatMap generate_series(0, #1)
              Get u1
        """,
        """
        MapFilterProject filter=(#2 < 5) project=(#2, #0)
          FlatMap generate_series(0, #1)
            MapFilterProject filter=(#0 > 1) project=(#0, #1)
              Get u1
        """,
    ),
    "distinct rows of what is distinct": (
        """
        Distinct
          Filter #1 > 1
            Reduce group_by=[#0] aggregates=[count(*)]
              Get u2
        """,
        """
        MapFilterProject filter=(#1 > 1)
          Reduce group_by=[#0] aggregates=[count(*) accumulable]
            MapFilterProject project=(#0)
              Get u2
        """,
    ),
    "no row passes a filter that is false": (
        """
        Filter false
          Get u2
        """,
        'Constant <empty> // { types: "(bigint, text)" }',
    ),
    "distinct values of a minimum are its values": (
        """
        Reduce group_by=[] aggregates=[min(distinct #0), sum(distinct #0)]
          Get u2
        """,
        """
        Reduce group_by=[] aggregates=[min(#0) hierarchical, sum(distinct #0) accumulable]
          MapFilterProject project=(#0)
            Get u2
        """,
    ),
}


@pytest.mark.parametrize(("written", "planned"), CASES.values(), ids=CASES.keys())
def test_pushdown(written: str, planned: str) -> None:
    assert plan(written) == lines(planned)


def test_without_optimizing_every_operator_is_a_node() -> None:
    written = """
        Distinct
          Filter #1 IS NULL
            Filter #0 > 1
              Map (1)
                ArrangeBy keys=[[#0]]
                  Get u1
        """
    assert plan(written, optimize=False) == lines(
        """
        Distinct project=[#0, #1, #2, #3]
          MapFilterProject filter=(#1 IS NULL)
            MapFilterProject filter=(#0 > 1)
              MapFilterProject map=(1)
                Arrange key=[#0]
                  Get u1
        """
    )
