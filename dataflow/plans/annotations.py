"""What stands behind ``//`` on a line: ``// { types: "(bigint, text?)", keys: "([0])" }``. Only the types are read."""

from __future__ import annotations

from ...messages.types import ColumnType
from .literals import column_type_named
from .tokens import Tokens
from .typing import Types


def annotated_types(tokens: Tokens) -> Types | None:
    """The types in the annotation of a line, or None when it has none.

    Raises:
        ParseError: it names a type that does not exist.
    """
    _, found, rest = tokens.annotation.partition("types:")
    if not found:
        return None
    inside = rest.partition("(")[2].partition(")")[0]
    types: list[ColumnType] = []
    for name in inside.split(",") if inside.strip() else []:
        type = column_type_named(name)
        if type is None:
            raise tokens.error(f"expected types such as (bigint, text?) in the annotation; given {name.strip()!r}")
        types.append(type)
    return tuple(types)
