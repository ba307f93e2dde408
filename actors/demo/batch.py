"""The demo's views once more, computed at once from the whole tables with Arrow: the reference for what was maintained.

Each function returns a table with the same columns as the view of its name in :mod:`.views`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from .flights import FlightData

WORST_PER_AIRPORT = 3


def airline_delays(data: FlightData) -> pa.Table:
    flights = data.tables["flights"]
    arrived = flights.filter(flights["arr_delay"].is_valid())
    arrived = arrived.append_column("late", pc.cast(pc.greater(arrived["arr_delay"], 15), pa.int64()))
    return (
        arrived.join(data.tables["airlines"], "carrier", join_type="inner")
        .group_by(["name"])
        .aggregate([([], "count_all"), ("arr_delay", "mean"), ("late", "sum")])
        .rename_columns(["airline", "flights", "average_delay", "late"])
    )


def weather_delays(data: FlightData) -> pa.Table:
    flights, weather, airports = (data.tables[name] for name in ("flights", "weather", "airports"))
    departed = flights.filter(flights["dep_delay"].is_valid()).select(["origin", "time_hour", "dep_delay"])
    weather = weather.select(["origin", "time_hour"]).append_column("wet", pc.greater(weather["precip"], 0.0))
    return (
        departed.join(weather, ["origin", "time_hour"], join_type="inner")
        .join(airports.select(["faa", "name"]), "origin", "faa", join_type="inner")
        .group_by(["name", "wet"])
        .aggregate([([], "count_all"), ("dep_delay", "mean")])
        .rename_columns(["airport", "wet", "flights", "average_delay"])
    )


def worst_departures(data: FlightData) -> pa.Table:
    flights = data.tables["flights"]
    columns = ["origin", "dep_delay", "carrier", "flight", "dest", "time_hour"]
    departed = flights.filter(flights["dep_delay"].is_valid()).select(columns)
    order = [("dep_delay", "descending"), *((name, "ascending") for name in columns if name != "dep_delay")]
    ordered = departed.sort_by(order)
    return pa.concat_tables(
        ordered.filter(pc.equal(ordered["origin"], origin)).slice(0, WORST_PER_AIRPORT)
        for origin in departed["origin"].unique().to_pylist()
    )


def airline_reach(data: FlightData) -> pa.Table:
    flights = data.tables["flights"]
    return (
        flights.join(data.tables["airlines"], "carrier", join_type="inner")
        .group_by(["name"])
        .aggregate([("dest", "count_distinct"), ("tailnum", "count_distinct", pc.CountOptions(mode="only_valid"))])
        .rename_columns(["airline", "destinations", "aircraft"])
    )


def missing_flights(data: FlightData) -> pa.Table:
    flights = data.tables["flights"]
    cancelled, without_arrival = flights["dep_time"].is_null(), flights["air_time"].is_null()
    flags = pa.table(
        {
            "month": flights["month"],
            "cancelled": cancelled.cast(pa.int64()),
            "diverted": pc.and_not(without_arrival, cancelled).cast(pa.int64()),
            "no_tail_number": flights["tailnum"].is_null().cast(pa.int64()),
        }
    )
    return (
        flags.group_by(["month"])
        .aggregate([([], "count_all"), ("cancelled", "sum"), ("diverted", "sum"), ("no_tail_number", "sum")])
        .rename_columns(["month", "scheduled", "cancelled", "diverted", "no_tail_number"])
    )


def maker_seats(data: FlightData) -> pa.Table:
    flights, planes, airports = (data.tables[name] for name in ("flights", "planes", "airports"))
    flown = flights.filter(flights["air_time"].is_valid()).select(["tailnum", "dest"])
    return (
        flown.join(planes.select(["tailnum", "manufacturer", "seats"]), "tailnum", join_type="inner")
        .join(airports.select(["faa", "tzone"]), "dest", "faa", join_type="inner")
        .group_by(["manufacturer", "tzone"])
        .aggregate([([], "count_all"), ("seats", "sum")])
        .rename_columns(["manufacturer", "time_zone", "flights", "seats"])
    )


REFERENCES: Mapping[str, Callable[[FlightData], pa.Table]] = {
    function.__name__: function
    for function in (airline_delays, weather_delays, worst_departures, airline_reach, missing_flights, maker_seats)
}


def differences(maintained: pa.Table, reference: pa.Table) -> list[str]:
    """What is in one table and not in the other, as sentences; empty when they agree.

    Averages are compared to nine digits: the two sides add in different orders.
    """
    names = reference.column_names
    have, want = (Counter(map(_comparable, table.select(names).to_pylist())) for table in (maintained, reference))
    extra, lacking = have - want, want - have
    return [
        *(f"only in the view: {', '.join(row)}" for row in sorted(extra.elements())),
        *(f"only in the batch result: {', '.join(row)}" for row in sorted(lacking.elements())),
    ]


def _comparable(row: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(
        f"{name}={value:.9g}" if isinstance(value, float) else f"{name}={value!r}" for name, value in row.items()
    )
