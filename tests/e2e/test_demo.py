"""The demo on the real flights of a few days."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pillion.actors import ActorSystem, Relation, udf
from pillion.actors.cli.main import main
from pillion.actors.demo import arms, churn, command, session
from pillion.actors.demo.answers import QUESTIONS
from pillion.actors.demo.comparison import DIRECT, SOLO, TWO_RUNTIMES
from pillion.actors.demo.crew import Crew
from pillion.actors.demo.flights import FlightData, load_flight_data
from pillion.actors.demo.session import AIRCRAFT_INDEX, Session
from pillion.actors.demo.views import VIEWS, Relations, ViewDefinition


@pytest.fixture(scope="module")
def data() -> FlightData:
    """The first days of November and the first day of December."""
    whole = load_flight_data()

    def few_days(table: pa.Table) -> pa.Table:
        november = pc.and_(pc.equal(table["month"], 11), pc.less_equal(table["day"], 3))
        december = pc.and_(pc.equal(table["month"], 12), pc.less_equal(table["day"], 1))
        return table.filter(pc.or_(november, december))

    tables = dict(whole.tables)
    return FlightData({**tables, **{name: few_days(tables[name]) for name in ("flights", "weather")}})


@pytest.fixture
def demo_of(data: FlightData, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The command runs on these days, and leaves no thread behind."""
    monkeypatch.setattr(command, "load_flight_data", lambda: data)
    monkeypatch.setattr(session, "IDLE_LOOKUPS", 20)
    monkeypatch.setattr(session, "HOURS_PER_SECOND", 1000)
    monkeypatch.setattr(arms, "CLIENTS", 4)
    monkeypatch.setattr(arms, "SECONDS", 0.2)
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive(), thread.name


@pytest.mark.parametrize(("workers", "interactive"), [(1, False), (1, True), (2, False), (2, True)])
def test_views_agree_with_the_batch_recomputation(data: FlightData, workers: int, interactive: bool) -> None:
    with ActorSystem(workers=workers, interactive=interactive) as system:
        demo = Session(system, data, lambda what, done, total: None)
        loaded = {table.name: table.rows for table in demo.load()}
        hydrated = {index.name for index in demo.define_views()}
        live = demo.live_month(readers=2)
        views = demo.read_views()
        memory = {index.name: index for index in demo.memory()}
    assert demo.check(views) == {definition.name: [] for definition in VIEWS}
    hours = data.live_hours()
    arrived = sum(hour.flown.num_rows for hour in hours)
    assert loaded["flights"] == data.tables["flights"].num_rows - arrived
    assert hydrated == {AIRCRAFT_INDEX, *(definition.name for definition in VIEWS)} == set(memory)
    assert live.ticks == len(hours) + 1
    assert live.commits.samples == live.fresh.samples == live.ticks
    assert memory[AIRCRAFT_INDEX].records >= data.tables["flights"].num_rows
    assert all(index.bytes > 0 for index in memory.values())
    assert [bool(answer(views)) for answer in QUESTIONS.values()] == [True] * len(QUESTIONS)


def test_a_wrong_view_is_noticed(data: FlightData) -> None:
    with ActorSystem() as system:
        demo = Session(system, data, lambda what, done, total: None)
        demo.load()
        demo.define_views()
        views = demo.read_views()
    differences = demo.check(views)
    assert all(differences.values()), "without December no view is that of the whole data"


@pytest.mark.usefixtures("demo_of")
def test_json_is_one_object_with_everything_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json", "--readers", "1"]) == 0
    output = capsys.readouterr()
    report = json.loads(output.out)
    assert report["is_right"] is True
    assert set(report["answers"]) == set(QUESTIONS)
    assert {index["name"] for index in report["indexes"]} == {index["name"] for index in report["memory"]}
    assert report["interactive"] is False
    assert [arm["name"] for arm in report["comparison"]["arms"]] == ["one runtime", "two runtimes", "direct lookup"]
    for arm in report["comparison"]["arms"]:
        assert arm["reads"]["samples"] == report["comparison"]["rate"] * 0.4, "0.2 seconds, twice"
        assert arm["hydrations"] > 0
    assert output.err == ""


@pytest.mark.usefixtures("demo_of")
def test_report_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--interactive"]) == 0
    shown = capsys.readouterr().out
    for part in ("Loaded", "Hydrated", "December, live", "Memory by index", "All 6 views agree", "One runtime or two"):
        assert part in shown
    assert "1 worker in each of two runtimes" in shown


@pytest.mark.usefixtures("demo_of")
@pytest.mark.parametrize("name", ["lookups.html", "lookups.png"])
def test_the_comparison_as_a_plot(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json", "--plot", str(tmp_path / name)]) == 0
    assert json.loads(capsys.readouterr().out)["comparison"]
    drawn = (tmp_path / name).read_bytes()
    assert drawn.startswith(b"\x89PNG" if name.endswith("png") else b"<!DOCTYPE html>")


def test_a_plot_that_cannot_be_drawn_is_refused_before_anything_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "load_flight_data", lambda: pytest.fail("the demo ran"))
    assert main(["demo", "--plot", "lookups.pdf"]) == 2
    assert capsys.readouterr().err == "pillion: the plot's file ends in .png or .html, and 'lookups.pdf' was given\n"


@pytest.mark.usefixtures("demo_of")
def test_ctrl_c_ends_it_with_130(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Session, *arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "_commit", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "pillion: interrupted\n"


@pytest.mark.usefixtures("demo_of")
def test_a_failing_reader_fails_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "_targets", lambda self: [(self._indexes["airline_delays"], [(1, 2, 3)])])
    assert main(["demo", "--json"]) == 2


@udf("text")
def until_released(value: str) -> str:
    """A user function is pickled, and an event cannot be: it is found where the test put it."""
    from pillion.actors.demo import churn

    assert churn.released.wait(60)  # type: ignore[attr-defined]
    return value


def views(define: Callable[[Relations], Relation]) -> tuple[ViewDefinition, ...]:
    return (ViewDefinition("hindered", "one that does not get anywhere", ("carrier",), define),)


@pytest.mark.usefixtures("demo_of")
def test_lookups_that_wait_for_a_view_are_given_up_in_time_and_count(
    data: FlightData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The view takes until the round is over. Only the runtime that computes it answers nothing meanwhile."""
    hindered = views(lambda tables: tables["airlines"].select(carrier=until_released("carrier")))
    monkeypatch.setattr(churn, "VIEWS", hindered)
    released = threading.Event()
    monkeypatch.setattr(churn, "released", released, raising=False)
    monkeypatch.setattr(arms, "ROUNDS", 1)
    monkeypatch.setattr(arms, "GRACE", 2.0)
    wait_for = Crew.wait_for

    def wait_and_release(self: Crew, threads: list[threading.Thread], seconds: float) -> None:
        released.clear()
        wait_for(self, threads, seconds)
        released.set()

    monkeypatch.setattr(Crew, "wait_for", wait_and_release)
    compared, _ = arms.compare(data, 1, lambda what, done, total: None)
    unanswered = {arm.name: arm.unanswered for arm in compared.arms}
    solo = compared.arms[0]
    assert unanswered == {SOLO: solo.unanswered, TWO_RUNTIMES: 0, DIRECT: 0}
    assert 0 < solo.unanswered <= solo.reads.samples == arms.RATE * arms.SECONDS
    assert solo.reads.maximum >= arms.GRACE
    assert "maximum" in solo.at_least


@pytest.mark.usefixtures("demo_of")
def test_a_view_that_cannot_be_hydrated_fails_the_demo(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(churn, "VIEWS", views(lambda tables: tables["airlines"].select("no_such_column")))
    assert main(["demo", "--json"]) == 2
    output = capsys.readouterr()
    assert "no_such_column" in output.err
    assert output.out == ""


@pytest.mark.usefixtures("demo_of")
def test_ctrl_c_while_lookups_are_compared_ends_it_with_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Crew, threads: list[threading.Thread], seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Crew, "wait_for", interrupted)
    assert main(["demo", "--json"]) == 130
    assert capsys.readouterr() == ("", "pillion: interrupted\n")
