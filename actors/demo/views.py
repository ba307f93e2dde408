"""The demo's views, one function each. :mod:`.batch` computes the same once more, all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..relations import Expression, Relation, avg, col, count, count_distinct, lit, sum, when
from .batch import WORST_PER_AIRPORT

Relations = Mapping[str, Relation]
"""The five tables by name."""


@dataclass(frozen=True)
class ViewDefinition:
    """A view, and the columns that its index finds rows by."""

    name: str
    kind: str
    key: tuple[str, ...]
    define: Callable[[Relations], Relation]


def airline_delays(tables: Relations) -> Relation:
    arrived = tables["flights"].filter(col("arr_delay").is_not_null())
    return (
        arrived.join(tables["airlines"], on="carrier")
        .group_by(airline=col("name"))
        .agg(flights=count(), average_delay=avg("arr_delay"), late=_how_many(col("arr_delay") > 15))
    )


def weather_delays(tables: Relations) -> Relation:
    departed = tables["flights"].filter(col("dep_delay").is_not_null())
    return (
        departed.join(tables["weather"], on=["origin", "time_hour"])
        .join(tables["airports"], left_on="origin", right_on="faa")
        .group_by(airport=col("name"), wet=col("precip") > 0.0)
        .agg(flights=count(), average_delay=avg("dep_delay"))
    )


def worst_departures(tables: Relations) -> Relation:
    return (
        tables["flights"]
        .filter(col("dep_delay").is_not_null())
        .select("origin", "dep_delay", "carrier", "flight", "dest", "time_hour")
        .top(WORST_PER_AIRPORT, by="dep_delay", per="origin", descending=True)
    )


def airline_reach(tables: Relations) -> Relation:
    return (
        tables["flights"]
        .join(tables["airlines"], on="carrier")
        .group_by(airline=col("name"))
        .agg(destinations=count_distinct("dest"), aircraft=count_distinct("tailnum"))
    )


def missing_flights(tables: Relations) -> Relation:
    cancelled = col("dep_time").is_null()
    return (
        tables["flights"]
        .group_by("month")
        .agg(
            scheduled=count(),
            cancelled=_how_many(cancelled),
            diverted=_how_many(col("air_time").is_null() & ~cancelled),
            no_tail_number=_how_many(col("tailnum").is_null()),
        )
    )


def maker_seats(tables: Relations) -> Relation:
    flown = tables["flights"].filter(col("air_time").is_not_null())
    return (
        flown.join(tables["planes"], on="tailnum")
        .join(tables["airports"], left_on="dest", right_on="faa")
        .group_by("manufacturer", time_zone=col("tzone"))
        .agg(flights=count(), seats=sum("seats"))
    )


def _how_many(condition: Expression) -> Expression:
    """How many rows of a group meet the condition."""
    return sum(when(condition).then(lit(1)).otherwise(lit(0)))


VIEWS = (
    ViewDefinition("airline_delays", "join", ("airline",), airline_delays),
    ViewDefinition("weather_delays", "three-way join", ("airport", "wet"), weather_delays),
    ViewDefinition("worst_departures", f"top {WORST_PER_AIRPORT} per airport", ("origin",), worst_departures),
    ViewDefinition("airline_reach", "distinct count", ("airline",), airline_reach),
    ViewDefinition("missing_flights", "missing values", ("month",), missing_flights),
    ViewDefinition("maker_seats", "three-way join", ("manufacturer",), maker_seats),
)
