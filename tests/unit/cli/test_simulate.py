"""What ``pillion simulate`` says and returns."""

from __future__ import annotations

import pytest

from pillion.actors.cli.main import main
from pillion.actors.simulation.model import Model


def test_runs_that_hold_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--seeds", "0..2", "--steps", "20"]) == 0
    assert capsys.readouterr().out.startswith("2 runs, ")


def test_a_scenario_in_all_orders(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "simulate",
        "--scenario",
        "drop-and-create",
        "--schedule",
        "exhaustive",
        "--seeds",
        "0",
        "--orders",
        "5",
    ]
    assert main(arguments) == 0
    assert "of 1 seeds, not all orders" in capsys.readouterr().out


def test_a_failure_says_how_to_run_it_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = Model.rows
    monkeypatch.setattr(Model, "rows", lambda self, relation, time: rows(self, relation, max(time - 1, 0)))
    assert main(["simulate", "--seeds", "0..10", "--no-shrink"]) == 1
    assert "again: pillion simulate --seeds " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--seeds", "5..5"], "has no seed"),
        (["--seeds", "x"], "is neither one seed"),
        (["--schedule", "lucky"], "there is no schedule 'lucky'; there are uniform, priority, exhaustive"),
        (["--scenario", "x"], "there is no scenario 'x'; there are workload, "),
        (["--faults", "stall,fire"], "there is no fault 'fire'; there are stall, "),
        (["--schedule", "exhaustive"], "give a --scenario"),
        (["--only", "1"], "give one seed"),
        (["--seeds", "1", "--only", "a"], "is not numbers of actions"),
        (["--seeds", "1", "--departures", "1"], "neither 'none' nor pairs"),
    ],
)
def test_wrong_arguments(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", *arguments]) == 2
    assert problem in capsys.readouterr().err
