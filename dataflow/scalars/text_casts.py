"""Conversions from and to text: every type has a text form, which reads back as the same value.

Texts are converted by one Arrow call. Only when it refuses one of them are the texts looked at: spaces and signs that
SQL allows are removed, those that are no value fail their rows, and the rest is converted.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...messages.types import SqlType
from ..columns.column import ArrowColumn, FixedColumn, Mask, column_from_arrow
from . import units
from .dates import FIRST_DAY, FIRST_MICROSECOND, LAST_DAY, LAST_MICROSECOND
from .nodes import Failure, Node, derived, failed
from .vectors import Slots, Vector, arrow_validity, is_arrow, spread, to_column

_INTEGER = r"^[+-]?\d+$"
_DECIMAL = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_FLOAT = r"(?i)^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)$"
_FORMS: dict[SqlType, str] = {
    SqlType.SMALLINT: _INTEGER,
    SqlType.INTEGER: _INTEGER,
    SqlType.BIGINT: _INTEGER,
    SqlType.REAL: _FLOAT,
    SqlType.DOUBLE: _FLOAT,
    SqlType.NUMERIC: _DECIMAL,
    SqlType.DATE: r"^\d{4}-\d{2}-\d{2}$",
    SqlType.TIMESTAMP: r"^\d{4}-\d{2}-\d{2}([ T]\d{2}(:\d{2}(:\d{2}(\.\d{1,6})?)?)?)?$",
}
"""What a text must look like; one that does may still be out of range."""

_TRUE = pa.array(["t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"], pa.large_string())
_FALSE = pa.array(["f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0"], pa.large_string())
_HEX = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), np.uint8).reshape(256, 2)
_HEX_PREFIX = "\\x"

Parsed = tuple[Any, list[Failure]]


def from_text(node: Node, type: SqlType) -> Node:
    """``node``, a text, in another type."""
    inner = node.run
    parse = _PARSERS.get(type, lambda texts: _parse(texts, type))

    def run(slots: Slots, size: int) -> Vector:
        vector = inner(slots, size)
        texts, _ = spread(vector, SqlType.TEXT, size)
        array, failures = parse(texts)
        valid = arrow_validity(texts)
        errors = failed(vector[2], failures, valid, size) if failures else vector[2]
        if is_arrow(type):
            return array, None, errors
        if type is SqlType.NUMERIC:
            return array, valid, errors
        column = column_from_arrow(array, type)
        assert isinstance(column, FixedColumn)
        return column.values, valid, errors

    return derived(type, run, (node,), fallible=True)


def _parse(texts: Any, type: SqlType) -> Parsed:
    try:
        array = texts.cast(type.arrow)
        failures: list[Failure] = []
    except pa.ArrowInvalid:
        array, failures = _parse_carefully(texts, type)
    return array, failures + _beyond(array, texts, type)


def _parse_carefully(texts: Any, type: SqlType) -> Parsed:
    """Parse texts of which some are no value, or have spaces or a sign that Arrow does not take."""
    trimmed = pc.utf8_trim_whitespace(texts)
    formed = _mask(pc.match_substring_regex(trimmed, _FORMS[type]))
    failures: list[Failure] = []
    wrong = ~formed
    if np.count_nonzero(wrong):
        failures.append((wrong, _messages(texts, wrong, f"invalid input syntax for type {type}: {{}}")))
    cleaned = pc.if_else(pa.array(formed), pc.utf8_ltrim(trimmed, "+"), _text(None))
    array, bad = _convert(cleaned, type.arrow)
    if np.count_nonzero(bad):
        what = "{} is out of range for type " + type if type.is_number else "date/time field value out of range: {}"
        failures.append((bad, _messages(texts, bad, what)))
    return array, failures


def _convert(texts: Any, arrow: pa.DataType) -> tuple[Any, Mask]:
    """Convert texts that nearly all can be; halves the interval around the others until they stand alone."""
    bad = np.zeros(len(texts), np.bool_)
    pieces: list[Any] = []
    intervals = [(0, len(texts))]
    while intervals:
        start, stop = intervals.pop()
        try:
            pieces.append(texts.slice(start, stop - start).cast(arrow))
        except pa.ArrowInvalid:
            if stop - start == 1:
                bad[start] = True
                pieces.append(pa.nulls(1, arrow))
                continue
            middle = (start + stop) // 2
            intervals += [(middle, stop), (start, middle)]
    return pa.concat_arrays(pieces), bad


def _beyond(array: Any, texts: Any, type: SqlType) -> list[Failure]:
    """Values that Arrow reads and the type does not have."""
    if type.is_float:
        infinite = _mask(pc.is_inf(array)) & _mask(pc.match_substring_regex(texts, r"\d"))
        bad, message = infinite, f"{{}} is out of range for type {type}"
    elif type is SqlType.DATE:
        days = array.cast(pa.int32())
        bad, message = _outside(days, FIRST_DAY, LAST_DAY), "date out of range: {}"
    elif type is SqlType.TIMESTAMP:
        moments = array.cast(pa.int64())
        bad, message = _outside(moments, FIRST_MICROSECOND, LAST_MICROSECOND), "timestamp out of range: {}"
    else:
        return []
    return [(bad, _messages(texts, bad, message))] if np.count_nonzero(bad) else []


def _outside(array: Any, least: int, greatest: int) -> Mask:
    return _mask(pc.or_(pc.less(array, least), pc.greater(array, greatest)))


def _text(value: str | None) -> Any:
    """A constant; Arrow's kernels do not mix the two widths of strings."""
    return pa.scalar(value, pa.large_string())


def _mask(array: Any) -> Mask:
    """Where an array of booleans is true."""
    return pc.fill_null(array, False).to_numpy(zero_copy_only=False)


def _messages(texts: Any, rows: Mask, form: str) -> Any:
    messages = np.empty(len(rows), np.object_)
    positions = np.flatnonzero(rows)
    shown = texts.take(pa.array(positions)).to_pylist()
    messages[positions] = [form.format(f'"{text}"') for text in shown]
    return messages


def _parse_boolean(texts: Any) -> Parsed:
    lowered = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    true = pc.is_in(lowered, _TRUE)
    unknown = ~_mask(pc.or_(true, pc.is_in(lowered, _FALSE)))
    if not np.count_nonzero(unknown):
        return true, []
    return true, [(unknown, _messages(texts, unknown, "invalid input syntax for type boolean: {}"))]


def _parse_numeric(texts: Any) -> Parsed:
    """Numerics, as units; digits beyond the scale are rounded."""
    try:
        array = texts.cast(SqlType.NUMERIC.arrow)
    except pa.ArrowInvalid:
        trimmed = pc.utf8_trim_whitespace(texts)
        wrong = ~_mask(pc.match_substring_regex(trimmed, _DECIMAL))
        units_of_rows = np.zeros(len(texts), np.object_)
        overflow = np.zeros(len(texts), np.bool_)
        for position, text in enumerate(trimmed.to_pylist()):
            if text is not None and not wrong[position]:
                number = _numeric_units(text)
                overflow[position] = number is None
                units_of_rows[position] = number or 0
        failures: list[Failure] = []
        if np.count_nonzero(wrong):
            failures.append((wrong, _messages(texts, wrong, "invalid input syntax for type numeric: {}")))
        if np.count_nonzero(overflow):
            failures.append((overflow, _messages(texts, overflow, "{} is out of range for type numeric")))
        return units.normalized(units_of_rows), failures
    return units.from_array(array), []


def _numeric_units(text: str) -> int | None:
    try:
        return int(np.asarray(units.of_value(Decimal(text))).item())
    except (OverflowError, InvalidOperation):
        return None


def _parse_bytea(texts: Any) -> Parsed:
    """``\\x`` and hexadecimal digits; any other text stands for its UTF-8 bytes."""
    array = texts.cast(pa.large_binary())
    hexadecimal = _mask(pc.starts_with(texts, _HEX_PREFIX))
    if not np.count_nonzero(hexadecimal):
        return array, []
    values = array.to_pylist()
    bad = np.zeros(len(texts), np.bool_)
    for position in np.flatnonzero(hexadecimal).tolist():
        try:
            values[position] = bytes.fromhex(values[position].decode()[len(_HEX_PREFIX) :])
        except ValueError:
            bad[position] = True
    failures = [(bad, _messages(texts, bad, "invalid hexadecimal data: {}"))] if np.count_nonzero(bad) else []
    return pa.array(values, pa.large_binary()), failures


_PARSERS: dict[SqlType, Callable[[Any], Parsed]] = {
    SqlType.BOOLEAN: _parse_boolean,
    SqlType.NUMERIC: _parse_numeric,
    SqlType.BYTEA: _parse_bytea,
}


def to_text(node: Node) -> Node:
    """``node`` as text, which reads back as the same value."""
    inner, type = node.run, node.type
    write = _WRITERS.get(type, lambda array: array.cast(pa.large_string()))

    def run(slots: Slots, size: int) -> Vector:
        vector = inner(slots, size)
        return write(to_column(vector, type, size).to_arrow()), None, vector[2]

    return derived(SqlType.TEXT, run, (node,))


def _write_float(array: Any) -> Any:
    """The shortest digits that read back as the same number; with an exponent below 1e-4 and from 1e16."""
    texts = array.cast(pa.large_string())
    numbers = column_from_arrow(array, SqlType.DOUBLE if array.type == pa.float64() else SqlType.REAL)
    assert isinstance(numbers, FixedColumn)
    magnitude = abs(numbers.values)
    # Arrow writes exponents from 1e10 on, and none for small numbers.
    unusual = ~((magnitude >= 1e-4) & (magnitude < 1e10) | (magnitude == 0))
    if not np.count_nonzero(unusual):
        return texts
    written = pa.array(numbers.values[unusual].astype(np.str_), pa.large_string())
    for pattern, replacement in ((r"\.0$", ""), ("nan", "NaN"), ("inf", "Infinity")):
        written = pc.replace_substring_regex(written, pattern, replacement)
    return pc.if_else(texts.is_valid(), pc.replace_with_mask(texts, pa.array(unusual), written), texts)


def _write_timestamp(array: Any) -> Any:
    return pc.utf8_rtrim(pc.utf8_rtrim(array.cast(pa.large_string()), "0"), ".")


def _write_numeric(array: Any) -> Any:
    values, valid = units.from_array(array), arrow_validity(array)
    if values.dtype == np.object_:
        texts = pa.array([_numeric_text(number) for number in values.tolist()], pa.large_string())
    else:
        magnitude = abs(values)
        sign = pc.if_else(pa.array(values < 0), _text("-"), _text(""))
        whole = pa.array(magnitude // units.ONE).cast(pa.large_string())
        # A one in front keeps the zeros behind the point.
        fraction = pc.utf8_slice_codeunits(pa.array(magnitude % units.ONE + units.ONE).cast(pa.large_string()), 1)
        texts = pc.binary_join_element_wise(pc.binary_join_element_wise(sign, whole, _text("")), fraction, _text("."))
        texts = pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), ".")
    return texts if valid is None else pc.if_else(pa.array(valid), texts, _text(None))


def _numeric_text(number: int) -> str:
    whole, fraction = divmod(abs(number), units.ONE)
    text = f"{whole}.{fraction:09d}".rstrip("0").rstrip(".")
    return f"-{text}" if number < 0 else text


def _write_bytea(array: Any) -> Any:
    """``\\x`` and hexadecimal digits."""
    offsets, data = ArrowColumn(SqlType.BYTEA, array).string_buffers()
    digits = _HEX[data[int(offsets[0]) : int(offsets[-1])]]
    buffers = [None, pa.py_buffer((offsets - offsets[0]) * 2), pa.py_buffer(digits)]
    texts = pa.Array.from_buffers(pa.large_string(), len(array), buffers, 0)
    texts = pc.binary_join_element_wise(_text(_HEX_PREFIX), texts, _text(""))
    return texts if not array.null_count else pc.if_else(array.is_valid(), texts, _text(None))


_WRITERS: dict[SqlType, Callable[[Any], Any]] = {
    SqlType.REAL: _write_float,
    SqlType.DOUBLE: _write_float,
    SqlType.TIMESTAMP: _write_timestamp,
    SqlType.NUMERIC: _write_numeric,
    SqlType.BYTEA: _write_bytea,
}
