"""What the command says and returns for right and wrong arguments."""

from __future__ import annotations

import errno
import io
from importlib import metadata
from pathlib import Path

import pytest

from pillion.actors.cli import explain
from pillion.actors.cli.main import main

EXPRESSION = """\
Reduce group_by=[#4] aggregates=[count(*), sum(#2)]
  Join on=(#1 = #3)
    Get u1
    Get u2
"""
ORDERS = "u1: order_id bigint, customer_id bigint, amount double"
CUSTOMERS = "u2: customer_id bigint, region text?"


@pytest.fixture
def expression(tmp_path: Path) -> str:
    path = tmp_path / "totals.txt"
    path.write_text(EXPRESSION, encoding="utf-8")
    return str(path)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"pillion {metadata.version('pillion')}\n"


@pytest.mark.parametrize("command", [[], ["demo"], ["spec"], ["explain"]], ids=str)
def test_help_has_examples_and_exit_codes(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main([*command, "--help"])
    shown = capsys.readouterr().out
    assert "examples:\n" in shown
    assert "exit status: 0 done" in shown


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "arguments are required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["demo", "--workers", "0"], "'0' is not a whole number from 1 to"),
        (["demo", "--workers", "two"], "'two' is not a whole number from 1 to"),
        (["spec", "--timeout", "0", "a.spec"], "'0' is not a number of seconds above 0"),
        (["spec"], "arguments are required: FILE"),
    ],
)
def test_wrong_usage(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main(arguments)
    assert problem in capsys.readouterr().err


def test_explain_prints_both_levels(expression: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", expression, "--schema", ORDERS, "--schema", CUSTOMERS]) == 0
    written, executed = capsys.readouterr().out.split("Executed\n")
    assert written.startswith("Written\n")
    assert "Join on=(#1{customer_id} = #3{customer_id})" in written
    assert "Reduce group_by=[#0{region}]" in executed
    assert "ImportIndex" not in executed


def test_explain_uses_declared_indexes(expression: str, capsys: pytest.CaptureFixture[str]) -> None:
    index = "u3 on u2 (customer_id)"
    assert main(["explain", expression, "--schema", ORDERS, "--schema", CUSTOMERS, "--index", index]) == 0
    assert "ImportIndex u3 key=[#0{customer_id}]" in capsys.readouterr().out


def test_explain_as_written(expression: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", expression, "--schema", ORDERS, "--schema", CUSTOMERS, "--no-optimize"]) == 0
    assert "project=" not in capsys.readouterr().out


def test_explain_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Filter #0 > 1\n  Get u1\n"))
    assert main(["explain", "--schema", "u1: id bigint"]) == 0
    assert "Filter #0{id} > 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "the expression reads u1, whose columns are not known: declare them with --schema 'u1: id bigint, …'"),
        (["--schema", "u1"], "--schema 'u1' is not of the form 'u1: id bigint, name text?'"),
        (["--schema", "u1: id"], "'id' is not a column's name and type, such as 'id bigint'"),
        (["--schema", "u1: id int8"], "there is no type 'int8'; there are boolean, smallint"),
        (["--schema", "u1: id bigint, id text"], "has column 'id' twice"),
        (["--schema", "w1: id bigint"], "'w1' is not an id"),
        (["--schema", ORDERS, "--index", "u3 u1"], "--index 'u3 u1' is not of the form 'u2 on u1 (id)'"),
        (["--schema", ORDERS, "--index", "u3 on u2 (id)"], "--index 'u3 on u2 (id)' is on u2"),
        (["--schema", ORDERS, "--index", "u3 on u1 (id)"], "u1 has no column 'id'; it has order_id, customer_id"),
    ],
)
def test_explain_says_what_is_wrong(
    options: list[str], problem: str, expression: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", expression, *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("pillion: ")
    assert error.count("\n") == 1
    assert problem in error


def test_explain_names_the_place_that_does_not_parse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Filter #0 >\n  Get u1\n"))
    assert main(["explain", "--schema", "u1: id bigint"]) == 2
    assert "line 1" in capsys.readouterr().err


def test_explain_of_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "nowhere.txt"]) == 2
    assert capsys.readouterr().err == "pillion: nowhere.txt cannot be read: No such file or directory\n"


def test_spec_tells_by_its_exit_code_what_happened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "write-rows shard=1000 ts=0\n  1 one\n----\nwrote 1\n"
    for name, text, code in (
        ("right", script, 0),
        ("different", script.replace("wrote 1", "wrote 2"), 1),
        ("unreadable", "nonsense\n----\nok\n", 2),
    ):
        path = tmp_path / f"{name}.spec"
        path.write_text(text, encoding="utf-8")
        assert main(["spec", str(path)]) == code
        assert (f"{name}.spec" in capsys.readouterr().out) == (code != 0)


def test_output_that_cannot_be_written_is_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(explain, "run", full)
    assert main(["explain"]) == 2
    assert capsys.readouterr().err == "pillion: No space left on device\n"


@pytest.mark.parametrize("command", [["demo"], ["spec", "x.spec"]])
def test_as_many_workers_as_a_process_can_have(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main([*command, "--workers", "100000"])
    assert "'100000' is not a whole number from 1 to" in capsys.readouterr().err


def test_a_replica_elsewhere_has_its_own_workers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "--connect", "tcp://127.0.0.1:1", "--workers", "2", "a.spec"]) == 2
    assert "has the workers that it was started with: leave out --workers" in capsys.readouterr().err


def test_no_replica_where_scripts_are_to_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PILLION_SECRET", "the secret of these tests")
    script = tmp_path / "a.spec"
    script.write_text("reconnect\n----\nok\n", encoding="utf-8")
    assert main(["spec", "--connect", f"unix://{tmp_path}/nobody", str(script)]) == 2
    assert capsys.readouterr().err.startswith(f"pillion: no replica answers at unix://{tmp_path}/nobody: No such file")
