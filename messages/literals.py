"""Values as the wire carries them.

JSON and MessagePack have booleans, numbers and texts. Numerics, dates, timestamps, byteas (hex) and non-finite floats
travel as text, in exactly one spelling each, so that equal values are equal messages.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, TypeGuard

from .types import NUMERIC_PRECISION, NUMERIC_SCALE, SqlType

Value = bool | int | float | Decimal | str | bytes | datetime.date | datetime.datetime | None
"""A SQL value at the Python surface."""

Raw = bool | int | float | str | None
"""A SQL value on the wire."""

INTEGER_BITS: dict[SqlType, int] = {SqlType.SMALLINT: 16, SqlType.INTEGER: 32, SqlType.BIGINT: 64}

_REAL_MAX = 3.4028234663852886e38
_NUMERIC = re.compile(
    rf"-?(0|[1-9]\d{{0,{NUMERIC_PRECISION - NUMERIC_SCALE - 1}}})(\.\d{{0,{NUMERIC_SCALE - 1}}}[1-9])?"
)
_NON_FINITE = ("nan", "inf", "-inf")
_CONTEXT = Context(prec=2 * NUMERIC_PRECISION, rounding=ROUND_HALF_UP)
_SMALLEST = Decimal(1).scaleb(-NUMERIC_SCALE)


def to_raw(value: Value, type: SqlType) -> Raw:
    """The wire's form of a value; a numeric is rounded to the digits that the type has.

    Raises:
        TypeError: the value is not one of this type.
        ValueError: it is out of the type's range.
    """
    if value is None:
        return None
    match type:
        case SqlType.BOOLEAN if isinstance(value, bool):
            return value
        case SqlType.SMALLINT | SqlType.INTEGER | SqlType.BIGINT if _is_int(value):
            return value
        case SqlType.REAL | SqlType.DOUBLE if isinstance(value, float) or _is_int(value):
            number = float(value)
            return number if math.isfinite(number) else repr(number)
        case SqlType.NUMERIC if isinstance(value, Decimal) or _is_int(value):
            return _numeric_text(Decimal(value))
        case SqlType.TEXT if isinstance(value, str):
            return value
        case SqlType.BYTEA if isinstance(value, bytes):
            return value.hex()
        case SqlType.TIMESTAMP if isinstance(value, datetime.datetime):
            if value.tzinfo is not None:
                raise TypeError(f"{value!r} has a time zone; a timestamp has none: convert it to UTC and remove it")
            return value.isoformat()
        case SqlType.DATE if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
            return value.isoformat()
        case _:
            raise TypeError(f"{value!r} is a {value.__class__.__name__}, which is no value of type {type}")


def from_raw(raw: Any, type: SqlType) -> Value:
    """The value at the Python surface of a checked ``raw``."""
    if raw is None:
        return None
    match type:
        case SqlType.REAL | SqlType.DOUBLE:
            return float(raw)
        case SqlType.NUMERIC:
            return Decimal(raw)
        case SqlType.BYTEA:
            return bytes.fromhex(raw)
        case SqlType.TIMESTAMP:
            return datetime.datetime.fromisoformat(raw)
        case SqlType.DATE:
            return datetime.date.fromisoformat(raw)
        case _:
            return raw


def check_raw(raw: Raw, type: SqlType) -> None:
    """Refuse what :func:`to_raw` could not have made.

    Raises:
        ValueError: says what is wrong.
    """
    if raw is None:
        return
    problem = _problem(raw, type)
    if problem is not None:
        raise ValueError(f"{raw!r} is no {type}: {problem}")


def _problem(raw: bool | int | float | str, type: SqlType) -> str | None:
    match type:
        case SqlType.BOOLEAN:
            return None if isinstance(raw, bool) else "expected true or false"
        case SqlType.SMALLINT | SqlType.INTEGER | SqlType.BIGINT:
            if not _is_int(raw):
                return "expected an integer"
            limit = 1 << (INTEGER_BITS[type] - 1)
            return None if -limit <= raw < limit else f"expected {-limit} to {limit - 1}"
        case SqlType.REAL | SqlType.DOUBLE:
            return _float_problem(raw, type)
        case SqlType.NUMERIC:
            if isinstance(raw, str) and _NUMERIC.fullmatch(raw) and raw != "-0":
                return None
            whole = NUMERIC_PRECISION - NUMERIC_SCALE
            return f"expected decimal digits as text, at most {whole} before and {NUMERIC_SCALE} after the point"
        case SqlType.TEXT:
            return _text_problem(raw)
        case SqlType.BYTEA | SqlType.DATE | SqlType.TIMESTAMP:
            return _spelling_problem(raw, type)


def _float_problem(raw: bool | int | float | str, type: SqlType) -> str | None:
    if isinstance(raw, str):
        return None if raw in _NON_FINITE else "expected a number, or one of nan, inf, -inf as text"
    if isinstance(raw, bool) or not math.isfinite(raw):
        return "expected a finite number, or one of nan, inf, -inf as text"
    if type is SqlType.REAL and abs(raw) > _REAL_MAX:
        return "expected a number in the range of 32-bit floats"
    return None


def _text_problem(raw: bool | int | float | str) -> str | None:
    if not isinstance(raw, str):
        return "expected a text"
    if raw.isascii():
        return None
    try:
        raw.encode()
    except UnicodeEncodeError:
        return "expected valid Unicode, without lone surrogates"
    return None


def _spelling_problem(raw: bool | int | float | str, type: SqlType) -> str | None:
    expected = {
        SqlType.BYTEA: "bytes as hexadecimal digits",
        SqlType.DATE: "a date as YYYY-MM-DD",
        SqlType.TIMESTAMP: "a time as YYYY-MM-DDTHH:MM:SS, perhaps with .ffffff, and without a zone",
    }[type]
    if not isinstance(raw, str):
        return f"expected {expected}, as text"
    try:
        spelled = to_raw(from_raw(raw, type), type)
    except (ValueError, TypeError):
        return f"expected {expected}"
    return None if spelled == raw else f"expected {expected} (here {spelled})"


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _numeric_text(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"{value} is no numeric: the type has neither NaN nor infinity")
    if value.adjusted() >= NUMERIC_PRECISION - NUMERIC_SCALE:
        whole = NUMERIC_PRECISION - NUMERIC_SCALE
        raise ValueError(f"{value} is no numeric: expected at most {whole} digits before the point")
    if value.adjusted() < -NUMERIC_SCALE - 1:
        return "0"
    text = format(value.quantize(_SMALLEST, context=_CONTEXT), "f").rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
