"""Scripts as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.scripts.errors import ScriptSyntaxError
from pillion.actors.scripts.language import read_steps
from pillion.actors.scripts.parse import parse_script

TEXT = """\
# A comment.
write-rows shard=a ts=0
  1 one

  # An indented hash is no comment but part of the body.
# This is one.
  2 two
----
wrote 2


peek id=1 ts=0
----
----
first

last
----
----

# The end.
"""


def test_stanzas_have_a_directive_a_body_and_an_expected_output() -> None:
    first, second = parse_script(TEXT).stanzas
    assert (first.directive, first.words, first.line) == ("write-rows", ("shard=a", "ts=0"), 2)
    assert first.body == ("  1 one", "", "  # An indented hash is no comment but part of the body.", "", "  2 two")
    assert first.expected == ("wrote 2",)
    assert (second.directive, second.body, second.expected) == ("peek", (), ("first", "", "last"))


def test_a_rewrite_with_the_expected_output_changes_nothing() -> None:
    script = parse_script(TEXT)
    assert script.rewrite([stanza.expected for stanza in script.stanzas]) == TEXT


def test_a_rewrite_keeps_comments_and_blank_lines() -> None:
    script = parse_script(TEXT)
    rewritten = script.rewrite([("a", "", "b"), ()])
    assert rewritten == TEXT.replace("----\nwrote 2\n", "----\n----\na\n\nb\n----\n----\n").replace(
        "----\n----\nfirst\n\nlast\n----\n----\n", "----\n"
    )


OUTPUTS = st.lists(st.text(st.characters(codec="ascii", exclude_categories=["Cc"])).map(str.rstrip), max_size=4).map(
    tuple
)


@given(st.tuples(OUTPUTS, OUTPUTS))
def test_what_is_rewritten_is_read_back(outputs: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    if any("----" in output for output in outputs):
        return
    rewritten = parse_script(parse_script(TEXT).rewrite(list(outputs)))
    assert tuple(stanza.expected for stanza in rewritten.stanzas) == outputs


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("peek id=1 ts=0\n", 1, "no line ----"),
        ("# c\n\npeek id=1 ts=0\n\npeek id=2 ts=0\n----\n", 3, "no line ----"),
        ("  indented\n----\n", 1, "belongs to no directive"),
        ("----\nok\n", 1, "without a directive"),
        ("peek id=[1 ts=0\n----\n", 1, "not closed"),
        ("Peek id=1\n----\n", 1, "expected a directive"),
        ("peek id=1 ts=0\n----\n----\nx\n", 2, "not closed"),
    ],
)
def test_what_is_no_script_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(ScriptSyntaxError, match=problem) as caught:
        parse_script(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("look id=1\n----\n", 1, "no directive 'look'"),
        ("\npeek id=1\n----\n", 2, "needs ts="),
        ("peek id=1 ts=0 where=x\n----\n", 1, "no argument 'where=x'"),
        ("peek id=1 ts=0\n  1 one\n----\n", 2, "has no body"),
        ("write-rows shard=a ts=0\n1 one\n----\n", 2, "must be indented"),
        ("schedule id=z1\n----\n", 1, "is not an id"),
    ],
)
def test_a_stanza_that_is_no_directive_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(ScriptSyntaxError, match=problem) as caught:
        read_steps(parse_script(text))
    assert caught.value.line == line


def test_settings_may_stand_at_column_0() -> None:
    steps = read_steps(parse_script("update-configuration\nmax_result_size usize 10\n----\nok\n"))
    assert steps[0].body.content == ["max_result_size usize 10"]
