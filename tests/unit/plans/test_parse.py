"""The text form: what is read, and what is said of what is not."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from pillion.dataflow.plans.errors import ParseError
from pillion.dataflow.plans.parse_relation import parse_relation
from pillion.dataflow.plans.parse_scalar import parse_scalar
from pillion.dataflow.plans.print_relation import print_relation
from pillion.dataflow.plans.print_scalar import print_scalar
from pillion.messages.relations import (
    Aggregate,
    Binding,
    Constant,
    Filter,
    FlatMap,
    Get,
    GetLocal,
    Join,
    Let,
    LetRec,
    Map,
    Order,
    RecursiveBinding,
    Reduce,
    Relation,
    TableFunction,
    TopK,
    Union,
)
from pillion.messages.scalars import CallUser, Cast, If, Literal, LiteralError, Scalar, UserFunction
from pillion.messages.types import ColumnType, SqlType

from .build import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    NOT_NULL,
    NULLABLE,
    NUMERIC,
    TEXT,
    call,
    col,
    eq,
    get,
    gid,
    lit,
)
from .texts import ENV, lines

AND = call("and", col(0), col(1))
MINE = UserFunction("mine", ColumnType(TEXT), b"")
NULL = Literal(None, TEXT)

SCALARS: dict[str, Scalar] = {
    "#0 + 1 * 2 - 3": call("-", call("+", col(0), call("*", lit(1), lit(2))), lit(3)),
    "(#0 + 1) * 2": call("*", call("+", col(0), lit(1)), lit(2)),
    "#0 - (1 - 2)": call("-", col(0), call("-", lit(1), lit(2))),
    "#0 - -1": call("-", col(0), lit(-1)),
    "-#0": call("neg", col(0)),
    "-(5)": call("neg", lit(5)),
    "-9223372036854775808": lit(-(2**63)),
    "#0 AND #1": AND,
    "#0 AND #1 OR #2": call("or", AND, col(2)),
    "(#0 OR #1) AND #2": call("and", call("or", col(0), col(1)), col(2)),
    "(#0 AND #1) AND #2": call("and", AND, col(2)),
    "NOT #0 = #1": call("not", eq(col(0), col(1))),
    "(NOT #0) = #1": eq(call("not", col(0)), col(1)),
    "#0 IS NULL": call("is_null", col(0)),
    "#0 + 1 IS NOT NULL": call("not", call("is_null", call("+", col(0), lit(1)))),
    "(#0 = #1) = #2": eq(eq(col(0), col(1)), col(2)),
    '#0 || "a"': call("||", col(0), lit("a", TEXT)),
    'error("division by zero")': LiteralError("division by zero"),
    "cast(#0 as numeric)": Cast(col(0), NUMERIC),
    "coalesce(#0, 1)": call("coalesce", col(0), lit(1)),
    "case when #0 then 1 when #1 then 2 else 3 end": If(col(0), lit(1), If(col(1), lit(2), lit(3))),
    "case when #0 then bigint null else 3 end": If(col(0), Literal(None, BIGINT), lit(3)),
    "true": lit(True, BOOLEAN),
    "null": NULL,
    "boolean null": Literal(None, BOOLEAN),
    "-2.5": lit(-2.5, DOUBLE),
    "1e+300": lit(1e300, DOUBLE),
    'double "nan"': lit(float("nan"), DOUBLE),
    "integer -5": lit(-5, INTEGER),
    "numeric 1.5": lit(Decimal("1.5"), NUMERIC),
    'date "2013-01-31"': lit(datetime.date(2013, 1, 31), DATE),
    'timestamp "2013-01-31T12:30:00"': lit(datetime.datetime(2013, 1, 31, 12, 30), SqlType.TIMESTAMP),
    'bytea "00ff"': lit(b"\x00\xff", SqlType.BYTEA),
    '"say \\"a\\\\b\\"\\n // no comment"': lit('say "a\\b"\n // no comment', TEXT),
}


@pytest.mark.parametrize("text", SCALARS)
def test_scalars(text: str) -> None:
    assert parse_scalar(text) == SCALARS[text]
    assert print_scalar(SCALARS[text]) == text


READ: dict[str, Scalar] = {
    "#0 <> 1": call("!=", col(0), lit(1)),
    "#0{customer id}": col(0),
    '#0{"a}b"}': col(0),
    "bigint(#0)": Cast(col(0), BIGINT),
    "int(#0)": Cast(col(0), INTEGER),
    "#0::bigint": Cast(col(0), BIGINT),
    "cast(#0 as double precision)": Cast(col(0), DOUBLE),
    "integer_to_bigint(#0)": Cast(col(0), BIGINT),
    "Case When #0 Then 1 End": If(col(0), lit(1), NULL),
    "NOT(#0)": call("not", col(0)),
    "UPPER(#0)": call("upper", col(0)),
    '#0 and #1 // { types: "(boolean)" }': AND,
}


@pytest.mark.parametrize("text", READ)
def test_other_ways_to_write_scalars(text: str) -> None:
    assert parse_scalar(text) == READ[text]


RELATIONS: dict[str, Relation] = {
    "Get 1000": Get(gid("u1000")),
    "Get si3": Get(gid("si3")),
    'Filter #0 AND #1 // { keys: "([0])" }\n  Get u1': Filter(get("u1"), (col(0), col(1))),
    "Filter (#0 AND #1)\n  Get u1": Filter(get("u1"), (AND,)),
    "Filter #0 AND #1 OR #2\n  Get u1": Filter(get("u1"), (call("or", AND, col(2)),)),
    "Filter\n  Get u1": Filter(get("u1"), ()),
    "FlatMap generate_series(#0, #1, 1)\n  Get u1": FlatMap(
        get("u1"), TableFunction("generate_series"), (col(0), col(1), lit(1))
    ),
    "CrossJoin\n  Get u1\n  Get u2": Join((get("u1"), get("u2"))),
    "Join on=(#0 = #2 AND eq(#1, #3, #5)) type=differential\n  Get u1\n  Get u2": Join(
        (get("u1"), get("u2")), ((col(0), col(2)), (col(1), col(3), col(5)))
    ),
    "Reduce aggregates=[count(distinct #0)] exp_group_size=4 group_by=[] monotonic\n  Get u1": Reduce(
        get("u1"), (), (Aggregate("count", col(0), distinct=True),), monotonic=True, expected_group_size=4
    ),
    "TopK order_by=[#1 desc, #0 desc nulls_last, #2 asc nulls_first, #0] limit=3 offset=1\n  Get u1": TopK(
        get("u1"),
        (),
        (Order(1, True, True), Order(0, True, False), Order(2, False, True), Order(0, False, False)),
        limit=3,
        offset=1,
    ),
    'Constant // { types: "(bigint, text?)" }\n  - (1, "a")\n  - ((2, null) x -3)': Constant(
        (NOT_NULL, ColumnType(TEXT)), ((lit(1), lit("a", TEXT)), (lit(2), NULL)), (1, -3)
    ),
    'Constant // { types: "(date?, numeric)" }\n  ("2013-01-31", 2.50)': Constant(
        (ColumnType(DATE), ColumnType(NUMERIC, False)),
        ((lit(datetime.date(2013, 1, 31), DATE), lit(Decimal("2.50"), NUMERIC)),),
    ),
    'Constant <empty> // { types: "(bigint?)" }': Constant((NULLABLE,), ()),
    "With\n  cte l0 =\n    Get u1\n  cte l1 =\n    Get l0\nReturn\n  Get l1": Let(
        (Binding("l0", get("u1")), Binding("l1", GetLocal("l0"))), GetLocal("l1")
    ),
    "Return\n  Get l1\nWith\n  cte l1 =\n    Get l0\n  cte l0 =\n    Get u1": Let(
        (Binding("l0", get("u1")), Binding("l1", GetLocal("l0"))), GetLocal("l1")
    ),
    "With\n  cte l0 =\n    Get u1\nWith\n  cte l1 =\n    Get l0\nReturn\n  Get l1": Let(
        (Binding("l0", get("u1")),), Let((Binding("l1", GetLocal("l0")),), GetLocal("l1"))
    ),
}


@pytest.mark.parametrize("text", RELATIONS)
def test_relations(text: str) -> None:
    assert parse_relation(text) == RELATIONS[text]
    assert parse_relation(print_relation(RELATIONS[text])) == RELATIONS[text]


def test_several_blocks_side_by_side() -> None:
    first, second = (Let((Binding("l0", get(id)),), GetLocal("l0")) for id in ("u1", "u2"))
    text = """
        Union
          With
            cte l0 =
              Get u1
          Return
            Get l0
          Return
            Get l0
          With
            cte l0 =
              Get u2
    """
    assert parse_relation(text) == Union((first, second))


@pytest.mark.parametrize("limits", ["[recursion_limit=5, return_at_limit]", "recursion_limit=5, return_at_limit"])
def test_recursive_bindings(limits: str) -> None:
    binding = RecursiveBinding("l0", (NOT_NULL,), GetLocal("l0"))
    relation = LetRec((binding,), GetLocal("l0"), recursion_limit=5, return_at_limit=True)
    text = f"""
        With Mutually Recursive {limits}
          cte l0 = // {{ types: "(bigint)" }}
            Get l0
        Return
          Get l0
    """
    assert parse_relation(text) == relation
    assert parse_relation(print_relation(relation)) == relation


def test_user_functions_come_from_outside() -> None:
    relation = Map(get("u1"), (CallUser(MINE, (col(0),)),))
    text = print_relation(relation)
    assert text == "Map (@mine(#0))\n  Get u1"
    assert parse_relation(text, functions={"mine": MINE}) == relation
    with pytest.raises(ParseError, match="there is no user function 'mine'; known: none"):
        parse_relation(text)
    for other in (
        FlatMap(get("u1"), TableFunction("mine", MINE), (col(0),)),
        Reduce(get("u1"), (), (Aggregate("mine", col(0), user=MINE),)),
    ):
        assert parse_relation(print_relation(other), functions={"mine": MINE}) == other


def test_null_takes_the_type_of_its_place() -> None:
    text = "Map (coalesce(#1, null), case when #0 = 1 then null else 2 end, #2 = null, null AND #0 = 1)\n  Get u1"
    bigint = Literal(None, BIGINT)
    assert parse_relation(text, env=ENV) == Map(
        get("u1"),
        (
            call("coalesce", col(1), bigint),
            If(eq(col(0), lit(1)), bigint, lit(2)),
            eq(col(2), NULL),
            call("and", Literal(None, BOOLEAN), eq(col(0), lit(1))),
        ),
    )


ERRORS = {
    "": "line 1, column 1: expected an operator such as Get; the text ends",
    "Get u1\nGet u2": "line 2, column 1: expected one relation; several stand side by side",
    "Get": "line 1, column 4: expected an id such as u1000, or the name of a cte; the line ends",
    "Fliter #0\n  Get u1": "line 1, column 1: expected an operator (did you mean Filter?); found 'Fliter'",
    "Negate\n  Get u1\n  Get u2": "line 1, column 1: Negate takes 1 input below it; found 2",
    "Union": "line 1, column 1: Union takes at least 1 input below it; found 0",
    "Filter #0 =\n  Get u1": "line 1, column 12: expected an expression; the line ends",
    "Filter #0 #1\n  Get u1": "line 1, column 11: expected the end of the line; found '1'",
    "Filter #0 = 1 = 2\n  Get u1": "column 15: expected parentheses, because comparisons do not chain; found '='",
    "Filter #0 = 'a'\n  Get u1": 'unexpected "\'": texts stand in double quotes, as in "text"',
    "Filter (#0\n  Get u1": "line 1, column 11: expected ')'; the line ends",
    "Map (#0\n  Get u1": "line 1, column 8: expected ',' or ')'; the line ends",
    "Map (cast(#0 as foo))\n  Get u1": "line 1, column 17: expected a type (boolean, smallint,",
    "Map (bigint(#0, 1))\n  Get u1": "line 1, column 6: expected one argument of bigint; found 2",
    "Map (case when #0 then 1)\n  Get u1": "line 1, column 25: expected 'when', 'else' or 'end'; found ')'",
    "Map (case 1 end)\n  Get u1": "line 1, column 11: expected 'when'; found '1'",
    'Map (date "2013-02-30")\n  Get u1': "column 11: '2013-02-30' is no date: expected a date such as 2013-01-31",
    "Map (99999999999999999999)\n  Get u1": "is no bigint: expected a whole number from -2^63 to 2^63 - 1",
    'Map ("a)\n  Get u1': "line 1, column 6: unexpected '\"': the text has no closing quote",
    'Map ("\\q")\n  Get u1': "line 1, column 7: unknown escape '\\\\q' in a text",
    "Map (#0; #1)\n  Get u1": "line 1, column 8: unexpected ';'",
    "Map (foo)\n  Get u1": "line 1, column 6: expected an expression; found 'foo'",
    "Reduce by=[#0]\n  Get u1": "expected group_by=[…], aggregates=[…], monotonic or exp_group_size=…; found 'by'",
    "Reduce aggregates=[sum]\n  Get u1": "line 1, column 23: expected '('; found ']'",
    "TopK limit=-1\n  Get u1": "line 1, column 12: expected a whole number; found '-'",
    "TopK order_by=[#0 up]\n  Get u1": "line 1, column 19: expected ',' or ']'; found 'up'",
    "Project (0)\n  Get u1": "line 1, column 10: expected a column; found '0'",
    "Join on=(#0)\n  Get u1": "line 1, column 12: expected '='; found ')'",
    'Constant // { types: "(int, bar)" }': "expected types such as (bigint, text?) in the annotation; given 'bar'",
    'Constant // { types: "(int)" }\n  - (1, 2)': "line 2, column 3: expected 1 values; found 2",
    "Constant\n  - (#0)": "line 2, column 6: expected a constant; found '0'",
    "Constant\n  Get u1": "line 2, column 3: expected '('; found 'Get'",
    "Filter #0\n    Get u1\n  Get u2": "line 3, column 3: this line is indented like none of the lines above it",
    "Filter #0\n\tGet u1": "line 2, column 1: lines are indented by blanks, not by tabs",
    "With\n  cte l0 =\n    Get u1": "line 1, column 1: expected a Return block beside this one",
    "Return\n  Get u1": "line 1, column 1: expected a With block beside this one",
    "With\nReturn\n  Get u1": "line 1, column 1: expected 'cte name =' below With",
    "With\n  cte u5 =\n    Get u1\nReturn\n  Get u5": "column 7: expected a name such as l0; 'u5' is an id",
    "With\n  cte l0 =\nReturn\n  Get l0": "line 2, column 3: expected one relation below this line; found 0",
    "With\n  Get u1\nReturn\n  Get u1": "line 2, column 3: expected 'cte name ='; found 'Get u1'",
    "Return\n  Get a\nWith\n  cte a =\n    Get b\n  cte b =\n    Get a": (
        "line 3, column 1: these ctes refer to one another; use With Mutually Recursive"
    ),
    "With Mutually Recursive [limit=1]\n  cte a =\n    Get a\nReturn\n  Get a": (
        "line 1, column 26: expected recursion_limit=… or return_at_limit; found 'limit'"
    ),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_say_where_and_what_was_expected(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_relation(text)
    assert ERRORS[text] in str(caught.value)


def test_a_cte_may_shadow_one_around() -> None:
    inner = Let((Binding("l0", GetLocal("l1")), Binding("l1", GetLocal("l1"))), GetLocal("l0"))
    relation = Let((Binding("l1", get("u1")),), inner)
    assert parse_relation(print_relation(relation)) == relation


def test_lines_are_counted_from_the_given_one() -> None:
    with pytest.raises(ParseError, match="line 12, column 7"):
        parse_relation(["    Filter #0", "      Gett u1"], first_line=11)
    assert lines("Get u1") == "Get u1"
