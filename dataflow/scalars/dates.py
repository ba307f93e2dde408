"""Dates (days) and timestamps (microseconds), both since 1970-01-01 and without a time zone.

Results are within the years 1 to 9999, which is what the Python surface can show; others are errors.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ...messages.types import SqlType
from .arithmetic import failure
from .nodes import Node, Result, binary, binary_fallible, unary, unary_fallible
from .vectors import select

SECOND = 1_000_000
DAY = 86_400 * SECOND

_EPOCH = datetime.date(1970, 1, 1).toordinal()
FIRST_DAY = datetime.date.min.toordinal() - _EPOCH
LAST_DAY = datetime.date.max.toordinal() - _EPOCH
FIRST_MICROSECOND = FIRST_DAY * DAY
LAST_MICROSECOND = (LAST_DAY + 1) * DAY - 1
_ALL_DAYS = LAST_DAY - FIRST_DAY


def in_days(values: Any) -> Result:
    """Dates of these days (int64), and the failures of the others."""
    return _within(values, FIRST_DAY, LAST_DAY, "date out of range", np.int32)


def in_microseconds(values: Any) -> Result:
    """Timestamps of these microseconds, and the failures of those out of range."""
    return _within(values, FIRST_MICROSECOND, LAST_MICROSECOND, "timestamp out of range", np.int64)


def _within(values: Any, least: int, greatest: int, message: str, dtype: type[np.integer[Any]]) -> Result:
    outside = (values < least) | (values > greatest)
    failures = failure(outside, message)
    return (select(outside, 0, values) if failures else values).astype(dtype), failures


def _clipped_days(days: Any) -> Any:
    """Numbers of days as int64, so that adding them to a date or multiplying them cannot overflow."""
    return np.clip(days.astype(np.int64), -_ALL_DAYS - 1, _ALL_DAYS + 1)


def add_days(moment: Node, days: Node, *, subtract: bool = False) -> Node:
    """A date or timestamp so many days later or earlier."""
    sign = -1 if subtract else 1

    def later_date(values: Any, count: Any) -> Result:
        return in_days(values.astype(np.int64) + sign * _clipped_days(count))

    def later_timestamp(values: Any, count: Any) -> Result:
        return in_microseconds(values + sign * _clipped_days(count) * DAY)

    return binary_fallible(moment.type, moment, days, later_date if moment.type is SqlType.DATE else later_timestamp)


def days_between(left: Node, right: Node) -> Node:
    """The difference of two dates in days, an integer."""
    return binary(SqlType.INTEGER, left, right, np.subtract)


def fraction_of_days_between(left: Node, right: Node) -> Node:
    """The difference of two timestamps in days, a double."""
    return binary(SqlType.DOUBLE, left, right, lambda later, earlier: (later - earlier) / float(DAY))


def add_seconds(moment: Node, seconds: Node) -> Node:
    """``add_seconds``: a timestamp so many seconds (a double) later."""

    def kernel(values: Any, count: Any) -> Result:
        possible = abs(count) < _ALL_DAYS * 86_400.0
        microseconds = np.rint(select(possible, count, 0.0) * SECOND).astype(np.int64)
        result, failures = in_microseconds(values + microseconds)
        return result, (*failures, *failure(~possible, "timestamp out of range"))

    return binary_fallible(SqlType.TIMESTAMP, moment, seconds, kernel)


def date_to_timestamp(argument: Node) -> Node:
    """Midnight."""

    def kernel(days: Any) -> Result:
        return in_microseconds(np.clip(days, FIRST_DAY - 1, LAST_DAY + 1).astype(np.int64) * DAY)

    return unary_fallible(SqlType.TIMESTAMP, argument, kernel)


def timestamp_to_date(argument: Node) -> Node:
    """Without the time of day."""
    return unary(SqlType.DATE, argument, lambda values: (values // DAY).astype(np.int32))


def epoch(argument: Node) -> Node:
    """``epoch``: seconds since 1970-01-01, a double."""
    if argument.type is SqlType.DATE:
        return unary(SqlType.DOUBLE, argument, lambda days: days * 86_400.0)
    return unary(SqlType.DOUBLE, argument, lambda values: values / float(SECOND))


def _months(days: Any) -> Any:
    """Months since 1970-01."""
    return days.view("M8[D]").astype("M8[M]").astype(np.int64)


def _first_of_month(months: Any) -> Any:
    """The first day of months since 1970-01, in days."""
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def _year(days: Any) -> Any:
    return _months(days) // 12 + 1970


def _day_of_year(days: Any) -> Any:
    return days - _first_of_month(_months(days) // 12 * 12) + 1


def _week(days: Any) -> Any:
    """The ISO week: the one that contains its Thursday."""
    return (_day_of_year(days - (days + 3) % 7 + 3) - 1) // 7 + 1


_OF_DAYS: dict[str, Callable[[Any], Any]] = {
    "year": _year,
    "quarter": lambda days: _months(days) % 12 // 3 + 1,
    "month": lambda days: _months(days) % 12 + 1,
    "week": _week,
    "day": lambda days: days - _first_of_month(_months(days)) + 1,
    "dow": lambda days: (days + 4) % 7,
    "doy": _day_of_year,
}
_OF_MICROSECONDS: dict[str, tuple[int, int]] = {
    "hour": (DAY, 3_600 * SECOND),
    "minute": (3_600 * SECOND, 60 * SECOND),
    "second": (60 * SECOND, SECOND),
}


def date_part(function: str, argument: Node) -> Node:
    """``year`` … ``second``, ``dow`` (0 is Sunday), ``doy``, ``week`` (ISO), as integers."""
    date = argument.type is SqlType.DATE
    of_days = _OF_DAYS.get(function)

    def of_whole_days(values: Any) -> Any:
        return cast(Any, of_days)(values.astype(np.int64) if date else values // DAY).astype(np.int32)

    def of_time(values: Any) -> Any:
        whole, part = _OF_MICROSECONDS[function]
        return values * np.int32(0) if date else (values % whole // part).astype(np.int32)

    return unary(SqlType.INTEGER, argument, of_time if of_days is None else of_whole_days)


def _trunc_months(count: int) -> Callable[[Any], Any]:
    # Decades, centuries and millennia are counted from the year 0, 1 and 1, and months here from 1970-01.
    return lambda days: _first_of_month((_months(days) + 1970 * 12) // count * count - 1970 * 12)


def _trunc_years_from_one(years: int) -> Callable[[Any], Any]:
    def truncate(days: Any) -> Any:
        first = (_year(days) - 1) // years * years + 1
        return _first_of_month((first - 1970) * 12)

    return truncate


_TRUNC_DAYS: dict[str, Callable[[Any], Any]] = {
    "day": lambda days: days,
    "week": lambda days: days - (days + 3) % 7,
    "month": _trunc_months(1),
    "quarter": _trunc_months(3),
    "year": _trunc_months(12),
    "decade": _trunc_months(120),
    "century": _trunc_years_from_one(100),
    "millennium": _trunc_years_from_one(1000),
}
_TRUNC_MICROSECONDS = {
    "microseconds": 1,
    "milliseconds": 1000,
    "second": SECOND,
    "minute": 60 * SECOND,
    "hour": 3_600 * SECOND,
}


def truncate(values: Any, unit: str, type: SqlType) -> Any:
    """Dates or timestamps without what is finer than the unit; None when there is no such unit."""
    unit = unit.strip().lower()
    of_days, step = _TRUNC_DAYS.get(unit), _TRUNC_MICROSECONDS.get(unit)
    if of_days is not None:
        if type is SqlType.DATE:
            return of_days(values.astype(np.int64)).astype(np.int32)
        return of_days(values // DAY) * DAY
    if step is None:
        return None
    return values if type is SqlType.DATE else values // step * step
