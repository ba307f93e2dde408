"""Functions of dates and timestamps: ``col("at").dt.year()``."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, NoReturn

from .errors import RelationError, suggestion
from .expressions import Expression
from .nodes import Call, Conditional, Constant
from .other_names import OF_DATES, no_attribute

UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
"""What a date or timestamp can be cut to."""


class DateNamespace:
    """What ``expression.dt`` offers; every function of NULL is NULL."""

    __slots__ = ("_expression",)

    def __init__(self, expression: Expression) -> None:
        self._expression = expression

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, "expression.dt", OF_DATES)

    def _call(self, function: str) -> Expression:
        return Expression(Call(function, (self._expression.node,)))

    def year(self) -> Expression:
        return self._call("year")

    def quarter(self) -> Expression:
        """1 to 4."""
        return self._call("quarter")

    def month(self) -> Expression:
        """1 to 12."""
        return self._call("month")

    def week(self) -> Expression:
        """The ISO week, 1 to 53."""
        return self._call("week")

    def day(self) -> Expression:
        """The day of the month, 1 to 31."""
        return self._call("day")

    def weekday(self) -> Expression:
        """The ISO day of the week: Monday is 1, Sunday 7, as in Polars."""
        from_sunday = self._call("dow")
        return Expression(Conditional(((Call("=", (from_sunday.node, Constant(0))), Constant(7)),), from_sunday.node))

    def ordinal_day(self) -> Expression:
        """The day of the year, 1 to 366."""
        return self._call("doy")

    def hour(self) -> Expression:
        return self._call("hour")

    def minute(self) -> Expression:
        return self._call("minute")

    def second(self) -> Expression:
        return self._call("second")

    def epoch(self) -> Expression:
        """Seconds since 1970, a double."""
        return self._call("epoch")

    def date(self) -> Expression:
        """The day of a timestamp."""
        return self._expression.cast("date")

    def truncate(self, unit: str) -> Expression:
        """The start of the second, minute, hour, day, week, month, quarter or year that it lies in."""
        if unit not in UNITS:
            raise RelationError(f"truncate does not know the unit {unit!r}{suggestion(unit, UNITS)}")
        return Expression(Call("date_trunc", (Constant(unit), self._expression.node)))

    def offset_by(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> Expression:
        """A timestamp moved by this much; a date can be moved by whole days with ``+``."""
        moved = datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return Expression(Call("add_seconds", (self._expression.node, Constant(moved.total_seconds()))))
