"""Which types go together: promotion of numbers, the common type of several expressions, and possible casts."""

from __future__ import annotations

from collections.abc import Iterable

from ...messages.types import SqlType

_EXACT = (SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT, SqlType.NUMERIC)
_RANK = {type: rank for rank, type in enumerate(_EXACT)}


def promote(left: SqlType, right: SqlType) -> SqlType | None:
    """The type in which values of both types are computed and compared; None when there is none.

    Numbers: smallint < integer < bigint < numeric < double; a real with any other number is a double. A date with a
    timestamp is a timestamp (midnight).
    """
    if left is right:
        return left
    if left.is_number and right.is_number:
        if left.is_float or right.is_float:
            return SqlType.DOUBLE
        return _EXACT[max(_RANK[left], _RANK[right])]
    if {left, right} == {SqlType.DATE, SqlType.TIMESTAMP}:
        return SqlType.TIMESTAMP
    return None


def common_type(types: Iterable[SqlType]) -> SqlType | None:
    """The type in which all of these go together; None when there is none, or no type at all."""
    result: SqlType | None = None
    for type in types:
        result = type if result is None else promote(result, type)
        if result is None:
            return None
    return result


def can_cast(source: SqlType, target: SqlType) -> bool:
    """Whether values of one type have counterparts in the other. Single ones may still fail (text ``x`` to bigint)."""
    if source is target or source is SqlType.TEXT or target is SqlType.TEXT:
        return True
    if source.is_number and target.is_number:
        return True
    pair = {source, target}
    if SqlType.BOOLEAN in pair:
        return any(type.is_integer for type in pair)
    return pair == {SqlType.DATE, SqlType.TIMESTAMP}
