"""The text form of plans: parsing is the inverse of printing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pillion.dataflow.plans.parse_relation import parse_relation
from pillion.dataflow.plans.parse_scalar import parse_scalar
from pillion.dataflow.plans.print_relation import print_relation
from pillion.dataflow.plans.print_scalar import print_scalar
from pillion.messages.relations import Relation
from pillion.messages.scalars import ColumnRef, Literal, LiteralError, Scalar
from pillion.messages.types import ColumnType, SqlType

from .strategies.relations import relations, sources
from .strategies.scalars import scalars
from .strategies.vocabulary import EVERYTHING

TYPES = tuple(ColumnType(type) for type in SqlType)


@given(sources(EVERYTHING).flatmap(lambda env: relations(env, EVERYTHING, size=12)))
def test_relations_are_read_as_printed(relation: Relation) -> None:
    assert parse_relation(print_relation(relation)) == relation


@given(scalars(TYPES, EVERYTHING, depth=4))
def test_scalars_are_read_as_printed(scalar: Scalar) -> None:
    assert parse_scalar(print_scalar(scalar)) == scalar


@given(st.text(), st.text())
def test_texts_and_names_are_read_as_printed(text: str, name: str) -> None:
    for scalar in (Literal.of(text, SqlType.TEXT), LiteralError(text), ColumnRef(0)):
        printed = print_scalar(scalar, [name])
        assert "\n" not in printed
        assert parse_scalar(printed) == scalar


@given(st.floats(), st.integers(-(2**63), 2**63 - 1))
def test_numbers_are_read_as_printed(number: float, integer: int) -> None:
    for literal in (Literal.of(number, SqlType.DOUBLE), Literal.of(integer, SqlType.BIGINT)):
        assert parse_scalar(print_scalar(literal)) == literal
