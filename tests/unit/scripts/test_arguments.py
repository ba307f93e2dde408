"""The words of a directive line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillion.actors.scripts.arguments import (
    Signature,
    quote,
    read_columns,
    read_frontier,
    read_id,
    read_list,
    read_number,
    read_seconds,
    read_text,
    split_words,
    unquote,
)
from pillion.messages.ids import GlobalId


def test_words_keep_what_is_quoted_or_in_brackets_whole() -> None:
    assert split_words('peek id=1 key=[0, [1, 2]] name="a b" flag') == [
        "peek",
        "id=1",
        "key=[0, [1, 2]]",
        'name="a b"',
        "flag",
    ]


@pytest.mark.parametrize(("text", "problem"), [('a "b', "quote"), ("a [b", "bracket"), ("a ]b", "without")])
def test_unbalanced_words_are_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        split_words(text)


@given(st.text())
def test_quoting_is_undone_by_unquoting(text: str) -> None:
    assert unquote(quote(text)) == text


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]))))
def test_quoted_words_are_split_apart_again(texts: list[str]) -> None:
    assert [unquote(word) for word in split_words(" ".join(quote(text) for text in texts))] == texts


@pytest.mark.parametrize(
    ("text", "elements"),
    [("[]", ()), ("[0]", ("0",)), ("[0, 1]", ("0", "1")), ('["a, b", [1, 2]]', ('"a, b"', "[1, 2]"))],
)
def test_lists(text: str, elements: tuple[str, ...]) -> None:
    assert read_list(text) == elements


def test_columns_may_have_a_hash() -> None:
    assert read_columns("[0, #2]") == (0, 2)


def test_ids_are_in_the_user_namespace_unless_they_say_otherwise() -> None:
    assert read_id("1001") == GlobalId("u", 1001)
    assert read_id("si3") == GlobalId("si", 3)


@pytest.mark.parametrize("text", ["empty", "[]", "{}", "none", ""])
def test_the_empty_frontier(text: str) -> None:
    assert read_frontier(text) is None


def test_frontiers_are_times() -> None:
    assert read_frontier("7") == 7
    with pytest.raises(ValueError, match="number"):
        read_frontier("-1")


@pytest.mark.parametrize(("text", "seconds"), [("5", 5.0), ("250ms", 0.25), ("2m", 120.0), ("1.5s", 1.5)])
def test_durations(text: str, seconds: float) -> None:
    assert read_seconds(text) == seconds


SIGNATURE = Signature({"id": read_id}, {"max": read_number}, frozenset({"defer"}), bare="name")


def test_a_signature_reads_arguments_in_any_order() -> None:
    read = SIGNATURE.read("metrics", ["defer", "id=3", "rows"])
    assert read == {"id": GlobalId("u", 3), "defer": True, "name": "rows"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["x"], "needs id="),
        (["id=1"], "needs NAME"),
        (["id=1", "id=2", "x"], "twice"),
        (["id=1", "x", "y"], "no argument 'y'"),
        (["id=1", "x", "other=2"], "no argument 'other=2'"),
        (["id=z", "x"], "id=z"),
        (["id=1", "x", "max=a"], "max=a: expected a number"),
    ],
)
def test_a_signature_says_what_is_wrong(words: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        SIGNATURE.read("metrics", words)


def test_an_argument_may_not_be_empty_text() -> None:
    with pytest.raises(ValueError, match="expected a word"):
        Signature({"name": read_text}).read("submit-dataflow", ["name="])
