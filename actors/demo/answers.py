"""Questions a person might ask of the views, answered in words from their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

Tables = Mapping[str, pa.Table]
Row = dict[str, Any]
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def most_punctual(views: Tables) -> str:
    airlines = _rows(views["airline_delays"])
    best, worst = _least(airlines, "average_delay"), _greatest(airlines, "average_delay")
    return (
        f"{best['airline']}: its {best['flights']:,} flights arrived {_early_or_late(best['average_delay'])} on "
        f"average. The least punctual was {worst['airline']}, {_early_or_late(worst['average_delay'])}."
    )


def rain(views: Tables) -> str:
    weather = _rows(views["weather_delays"])
    wet, dry = ([row for row in weather if row["wet"] is is_wet] for is_wet in (True, False))
    verdict = "Yes" if _mean(wet) > _mean(dry) else "No"
    return (
        f"{verdict}: in wet hours flights left {_mean(wet):.0f} minutes late on average, in dry hours {_mean(dry):.0f}."
    )


def longest_wait(views: Tables) -> str:
    worst = _greatest(_rows(views["worst_departures"]), "dep_delay")
    hours, minutes = divmod(worst["dep_delay"], 60)
    day = f"{worst['time_hour'].day} {MONTHS[worst['time_hour'].month - 1]}"
    return (
        f"The passengers of {worst['carrier']} {worst['flight']} from {worst['origin']} to {worst['dest']} on {day}: "
        f"it left {hours} hours and {minutes} minutes late."
    )


def widest_reach(views: Tables) -> str:
    widest = _greatest(_rows(views["airline_reach"]), "destinations")
    return (
        f"{widest['airline']}, with {widest['destinations']} destinations; "
        f"it used {widest['aircraft']:,} different aircraft."
    )


def worst_month(views: Tables) -> str:
    months = _rows(views["missing_flights"])
    for row in months:
        row["share"] = row["cancelled"] / row["scheduled"]
    worst = _greatest(months, "share")
    return (
        f"{MONTHS[worst['month'] - 1]}: {worst['cancelled']:,} of {worst['scheduled']:,} flights, "
        f"{worst['share']:.1%}. In the whole year {sum(row['diverted'] for row in months):,} flights left and never "
        f"reached their destination."
    )


def seats_by_maker(views: Tables) -> str:
    seats: dict[str, int] = {}
    for row in _rows(views["maker_seats"]):
        seats[row["manufacturer"]] = seats.get(row["manufacturer"], 0) + row["seats"]
    maker = max(seats, key=lambda name: seats[name])
    return f"{maker.title()}, with {seats[maker]:,} of the {sum(seats.values()):,} seats whose aircraft is known."


QUESTIONS: Mapping[str, Callable[[Tables], str]] = {
    "Which airline was the most punctual?": most_punctual,
    "Does rain delay departures?": rain,
    "Who waited longest?": longest_wait,
    "Which airline reached most destinations?": widest_reach,
    "In which month was most cancelled?": worst_month,
    "Who built the aircraft that most seats flew on?": seats_by_maker,
}


def _rows(table: pa.Table) -> list[Row]:
    return table.to_pylist()


def _least(rows: list[Row], column: str) -> Row:
    return min(rows, key=lambda row: row[column])


def _greatest(rows: list[Row], column: str) -> Row:
    return max(rows, key=lambda row: row[column])


def _mean(rows: list[Row]) -> float:
    return sum(row["flights"] * row["average_delay"] for row in rows) / sum(row["flights"] for row in rows)


def _early_or_late(minutes: float) -> str:
    return f"{abs(minutes):.1f} minutes {'early' if minutes < 0 else 'late'}"
