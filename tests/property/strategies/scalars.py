"""Random well-typed scalar expressions."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from pillion.messages.scalars import Call, Cast, ColumnRef, If, LiteralError, Scalar
from pillion.messages.types import ColumnType, SqlType

from .values import literals
from .vocabulary import Vocabulary

_NARROWER = {
    SqlType.INTEGER: (SqlType.SMALLINT,),
    SqlType.BIGINT: (SqlType.INTEGER, SqlType.SMALLINT),
    SqlType.DOUBLE: (SqlType.BIGINT, SqlType.INTEGER),
    SqlType.NUMERIC: (SqlType.BIGINT,),
    SqlType.TEXT: (SqlType.BIGINT,),
}
_COMPARISONS = ("=", "!=", "<", ">=")


@st.composite
def scalars(
    draw: st.DrawFn, types: Sequence[ColumnType], vocabulary: Vocabulary, type: SqlType | None = None, depth: int = 2
) -> Scalar:
    """An expression over columns of these types; of ``type`` when given. ``depth`` bounds how far it nests."""
    builder = ScalarBuilder(draw, types, vocabulary)
    return builder.scalar(builder.any_type() if type is None else type, depth)


def predicates(types: Sequence[ColumnType], vocabulary: Vocabulary, depth: int = 2) -> st.SearchStrategy[Scalar]:
    """A boolean expression."""
    return scalars(types, vocabulary, SqlType.BOOLEAN, depth)


class ScalarBuilder:
    """Draws expressions part by part, which is much faster than composing strategies for all that could be drawn."""

    def __init__(self, draw: st.DrawFn, types: Sequence[ColumnType], vocabulary: Vocabulary) -> None:
        self._draw = draw
        self._types = types
        self._vocabulary = vocabulary

    def any_type(self) -> SqlType:
        return self._draw(st.sampled_from(self._vocabulary.types))

    def scalar(self, wanted: SqlType, depth: int) -> Scalar:
        if depth <= 0 or self._draw(st.booleans()):
            return self._leaf(wanted)
        choice = self._draw(st.sampled_from(self._choices(wanted)))
        part = depth - 1
        match choice:
            case "case":
                condition = self.scalar(SqlType.BOOLEAN, part)
                return If(condition, self.scalar(wanted, part), self.scalar(wanted, part))
            case "cast":
                narrower = [type for type in _NARROWER[wanted] if type in self._vocabulary.types]
                return Cast(self.scalar(self._draw(st.sampled_from(narrower)), part), wanted)
            case "error":
                return Cast(LiteralError(self._draw(st.sampled_from(["no", 'say "no"']))), wanted)
            case "is_null":
                return Call(choice, (self.scalar(self.any_type(), part),))
            case "=" | "!=" | "<" | ">=":
                compared = self.any_type()
                return Call(choice, (self.scalar(compared, part), self.scalar(compared, part)))
            case "not" | "neg" | "upper" | "lower" | "trim":
                return Call(choice, (self.scalar(wanted, part),))
            case _:
                return Call(choice, (self.scalar(wanted, part), self.scalar(wanted, part)))

    def _leaf(self, wanted: SqlType) -> Scalar:
        columns = [ColumnRef(position) for position, type in enumerate(self._types) if type.type is wanted]
        if columns and self._draw(st.integers(0, 2)):
            return self._draw(st.sampled_from(columns))
        return self._draw(literals(ColumnType(wanted)))

    def _choices(self, wanted: SqlType) -> list[str]:
        choices = ["coalesce", "case"]
        if any(type in self._vocabulary.types for type in _NARROWER.get(wanted, ())):
            choices.append("cast")
        if self._vocabulary.failing:
            choices.append("error")
        if wanted is SqlType.BOOLEAN:
            return [*choices, "and", "or", "not", "is_null", *_COMPARISONS]
        if wanted.is_integer or (wanted.is_number and self._vocabulary.failing):
            choices += ["+", "-", "*", "neg", *(("/", "%") if self._vocabulary.failing else ())]
        if wanted is SqlType.TEXT:
            choices += self._vocabulary.text_functions
        return choices
