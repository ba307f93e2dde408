"""Answers in words follow from the rows of the views."""

from __future__ import annotations

import datetime

import pyarrow as pa

from pillion.actors.demo import answers


def test_most_punctual_names_both_ends() -> None:
    view = pa.table({"airline": ["A", "B"], "flights": [1000, 5], "average_delay": [-9.93, 21.9], "late": [1, 2]})
    assert answers.most_punctual({"airline_delays": view}) == (
        "A: its 1,000 flights arrived 9.9 minutes early on average. The least punctual was B, 21.9 minutes late."
    )


def test_rain_is_judged_from_the_averages() -> None:
    def view(wet: float, dry: float) -> dict[str, pa.Table]:
        columns = {"wet": [True, False], "flights": [10, 20], "average_delay": [wet, dry]}
        return {"weather_delays": pa.table(columns)}

    assert answers.rain(view(30.0, 10.0)).startswith("Yes: in wet hours flights left 30 minutes late")
    assert answers.rain(view(10.0, 30.0)).startswith("No: ")


def test_longest_wait_is_told_in_hours_and_minutes() -> None:
    view = pa.table(
        {
            "origin": ["EWR", "JFK"],
            "dep_delay": [100, 1301],
            "carrier": ["UA", "HA"],
            "flight": [1, 51],
            "dest": ["IAH", "HNL"],
            "time_hour": [datetime.datetime(2013, 3, 1), datetime.datetime(2013, 1, 9, 14)],
        }
    )
    assert answers.longest_wait({"worst_departures": view}) == (
        "The passengers of HA 51 from JFK to HNL on 9 January: it left 21 hours and 41 minutes late."
    )


def test_worst_month_goes_by_the_share() -> None:
    view = pa.table({"month": [2, 7], "scheduled": [100, 1000], "cancelled": [5, 6], "diverted": [1, 2]})
    assert answers.worst_month({"missing_flights": view}) == (
        "February: 5 of 100 flights, 5.0%. In the whole year 3 flights left and never reached their destination."
    )


def test_seats_are_added_up_over_time_zones() -> None:
    view = pa.table({"manufacturer": ["BOEING", "AIRBUS", "BOEING"], "seats": [2, 3, 2]})
    assert answers.seats_by_maker({"maker_seats": view}) == "Boeing, with 4 of the 7 seats whose aircraft is known."
