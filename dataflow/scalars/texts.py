"""Functions of texts and byteas, by Arrow compute.

Characters are Unicode code points; positions count from 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.types import SqlType
from . import dates
from .nodes import Node, derived
from .parameters import Operation, ParameterError, by_parameters
from .vectors import Slots, Vector, arrow_validity, from_arrow, merge_errors, with_nulls

_STRING = pa.large_string()


def _trim(trim: Callable[..., Any]) -> Operation:
    def operation(array: Any, characters: str = " ") -> Any:
        return trim(array, characters) if characters else array

    return operation


def _substr(array: Any, start: int, length: int | None = None) -> Any:
    """From position ``start``, counted from 1; positions before the text count towards the length, as in PostgreSQL."""
    if length is not None and length < 0:
        raise ParameterError("negative substring length not allowed")
    first = max(start - 1, 0)
    if length is None:
        return pc.utf8_slice_codeunits(array, min(first, 2**31))
    stop = min(max(start - 1 + length, 0), 2**31)
    return pc.utf8_slice_codeunits(array, min(first, stop), stop)


def _replace(array: Any, pattern: str, replacement: str) -> Any:
    # Arrow never returns from replacing the empty text; SQL replaces nothing then.
    return pc.replace_substring(array, pattern, replacement) if pattern else array


def _split_part(array: Any, separator: str, part: int) -> Any:
    """The part, counted from 1, or from the end when negative; the empty text when there are not so many."""
    if part == 0:
        raise ParameterError("field position must not be zero")
    if not separator:
        empty = pc.if_else(array.is_valid(), pa.scalar("", _STRING), pa.scalar(None, _STRING))
        return array if part in (1, -1) else empty
    parts = pc.split_pattern(array, separator)
    offsets = np.frombuffer(parts.buffers()[1], np.int32)[parts.offset : parts.offset + len(array) + 1]
    positions = offsets[:-1] + part - 1 if part > 0 else offsets[1:] + part
    inside = (positions >= offsets[:-1]) & (positions < offsets[1:])
    taken = parts.values.take(pa.array(positions, pa.int64(), mask=~inside))
    return with_nulls(pc.fill_null(taken, ""), arrow_validity(array))


def _like(array: Any, pattern: str) -> Any:
    """``%`` stands for any text, ``_`` for any character, and a backslash before a character for itself."""
    pieces = _like_pieces(pattern)
    wild = [position for position, piece in enumerate(pieces) if piece is None]
    literal = "".join(piece for piece in pieces if piece)
    if "" not in pieces:
        # No single-character wildcard: the common forms have kernels of their own.
        if not wild:
            return pc.equal(array, pa.scalar(literal, _STRING))
        if wild == [len(pieces) - 1]:
            return pc.starts_with(array, literal)
        if wild == [0]:
            return pc.ends_with(array, literal)
        if wild == [0, len(pieces) - 1]:
            return pc.match_substring(array, literal)
    body = "".join(".*" if piece is None else re.escape(piece) if piece else "." for piece in pieces)
    return pc.match_substring_regex(array, rf"(?s)\A{body}\z")


def _like_pieces(pattern: str) -> list[str | None]:
    """Literal texts, None for ``%`` and the empty text for ``_``."""
    pieces: list[str | None] = []
    characters = iter(pattern)
    for character in characters:
        if character == "%":
            if not pieces or pieces[-1] is not None:
                pieces.append(None)
        elif character == "_":
            pieces.append("")
        else:
            if character == "\\":
                escaped = next(characters, None)
                if escaped is None:
                    raise ParameterError("LIKE pattern must not end with escape character")
                character = escaped
            if pieces and pieces[-1]:
                pieces[-1] += character
            else:
                pieces.append(character)
    return pieces


_OPERATIONS: dict[str, tuple[Operation, SqlType]] = {
    "upper": (pc.utf8_upper, SqlType.TEXT),
    "lower": (pc.utf8_lower, SqlType.TEXT),
    "trim": (_trim(pc.utf8_trim), SqlType.TEXT),
    "ltrim": (_trim(pc.utf8_ltrim), SqlType.TEXT),
    "rtrim": (_trim(pc.utf8_rtrim), SqlType.TEXT),
    "substr": (_substr, SqlType.TEXT),
    "replace": (_replace, SqlType.TEXT),
    "split_part": (_split_part, SqlType.TEXT),
    "like": (_like, SqlType.BOOLEAN),
    "starts_with": (pc.starts_with, SqlType.BOOLEAN),
    "ends_with": (pc.ends_with, SqlType.BOOLEAN),
    "contains": (pc.match_substring, SqlType.BOOLEAN),
}
_FALLIBLE = frozenset(("substr", "split_part", "like"))

TEXT_FUNCTIONS = frozenset(_OPERATIONS)


def text_function(function: str, arguments: Sequence[Node]) -> Node:
    """One of ``TEXT_FUNCTIONS``."""
    operation, type = _OPERATIONS[function]
    return by_parameters(operation, type, arguments[0], arguments[1:], fallible=function in _FALLIBLE)


def date_trunc(unit: Node, moment: Node) -> Node:
    """A date or timestamp without what is finer than the unit."""

    def operation(values: Any, name: str) -> Any:
        truncated = dates.truncate(values, name, moment.type)
        if truncated is None:
            raise ParameterError(f'unit "{name}" not recognized for type {moment.type}')
        return truncated

    return by_parameters(operation, moment.type, moment, (unit,), fallible=True)


def length(argument: Node) -> Node:
    """Characters of a text, bytes of a bytea."""
    inner = argument.run
    count: Callable[[Any], Any] = pc.utf8_length if argument.type is SqlType.TEXT else pc.binary_length

    def run(slots: Slots, size: int) -> Vector:
        values, _, errors = inner(slots, size)
        counts, valid = from_arrow(count(values))
        return counts.astype(np.int32), valid, errors

    return derived(SqlType.INTEGER, run, (argument,))


def concatenation(arguments: Sequence[Node], *, skip_nulls: bool) -> Node:
    """``||`` (NULL when an argument is) or ``concat`` (NULLs count as empty)."""
    type = arguments[0].type
    runs = [argument.run for argument in arguments]
    separator = pa.scalar("" if type is SqlType.TEXT else b"", type.arrow)
    nulls = "replace" if skip_nulls else "emit_null"

    def run(slots: Slots, size: int) -> Vector:
        errors = None
        parts: list[Any] = []
        for one in runs:
            values, _, own = one(slots, size)
            parts.append(values)
            errors = merge_errors(errors, own)
        joined = pc.binary_join_element_wise(*parts, separator, null_handling=nulls, null_replacement="")
        return joined, None, errors

    return derived(type, run, arguments)
