"""What ``pillion clusterd`` refuses to start with: one sentence, and exit code 2."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pillion.actors.cli.main import command_line, main
from pillion.actors.clusterd.config import TimelyConfig
from pillion.actors.transport.address import TcpAddress, UnixAddress, listen
from pillion.actors.transport.secret import SECRET_VARIABLE

LAYOUT = '{"workers":%d,"process":0,"addresses":["127.0.0.1:2103"]}'


def test_options_are_read_by_value() -> None:
    line = """
        clusterd --controller-listen-addr unix:///run/replica --secret-file secret --trust --stop-at-end-of-input
        --compute-timely-config '{"workers":2,"process":1,"addresses":["a:1","b:1"]}'
        --interactive-compute-timely-config '{"workers":1,"process":0,"addresses":["127.0.0.1:2103"]}'
        --max-message-size 65536
    """
    options = command_line().parse_args(shlex.split(line))
    assert options.controller_listen_addr == UnixAddress("/run/replica")
    assert options.compute_timely_config == TimelyConfig(2, 1, ("a:1", "b:1"))
    assert options.interactive_compute_timely_config == TimelyConfig(1, 0, ("127.0.0.1:2103",))
    assert options.secret_file == Path("secret")
    assert options.trust is True
    assert options.max_message_size == 65536
    assert options.stop_at_end_of_input is True


def test_what_is_left_out() -> None:
    options = command_line().parse_args(["clusterd", "--compute-timely-config", LAYOUT % 3])
    assert options.compute_timely_config == TimelyConfig(3, 0, ("127.0.0.1:2103",))
    assert options.interactive_compute_timely_config is None
    assert options.controller_listen_addr == TcpAddress("127.0.0.1", 2101)
    assert options.secret_file is None
    assert options.trust is False


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What stands on the standard error of a command that ends with exit code 2 and prints nothing else."""
    try:
        code: object = main(["clusterd", *arguments])
    except SystemExit as ended:
        code = ended.code
    shown = capsys.readouterr()
    assert code == 2
    assert shown.out == ""
    return shown.err


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "the secret of these tests")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "required: --compute-timely-config"),
        (["--compute-timely-config", "workers=2"], "'workers=2' is no layout of a runtime"),
        (["--compute-timely-config", '{"workers":1,"process":0,"addresses":["h:1"],"x":1}'], "`x`"),
        (["--compute-timely-config", LAYOUT % 1, "--controller-listen-addr", "2101"], "'2101' is no address"),
        (["--compute-timely-config", '{"workers":1,"process":0,"addresses":["a:1","b:1"]}'], "a replica runs in one"),
        (
            ["--compute-timely-config", LAYOUT % 2, "--interactive-compute-timely-config", LAYOUT % 1],
            "the interactive runtime has 1 worker in each of 1 process",
        ),
        (["--compute-timely-config", LAYOUT % 1, "--secret-file", "/nowhere"], "/nowhere cannot be read"),
        (["--compute-timely-config", LAYOUT % 1, "--max-message-size", "1k"], "'1k' is not a number of bytes"),
        (["--compute-timely-config", LAYOUT % 1, "--max-message-size", "65535"], "'65535' is not a number of bytes"),
    ],
)
def test_options(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert re.search(problem, refused(arguments, capsys))


def test_no_secret(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(SECRET_VARIABLE)
    told = refused(["--compute-timely-config", LAYOUT % 1], capsys)
    assert told == "pillion: there is no secret: name a file that holds it, or set PILLION_SECRET\n"


def test_a_secret_that_is_too_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "secret"
    file.write_text("letmein", encoding="utf-8")
    told = refused(["--compute-timely-config", LAYOUT % 1, "--secret-file", str(file)], capsys)
    assert "the secret has 7 bytes, and 16 are the least" in told
    assert "letmein" not in told


def test_an_address_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    listening, address = listen(TcpAddress("127.0.0.1", 0))
    with listening:
        told = refused(["--compute-timely-config", LAYOUT % 1, "--controller-listen-addr", str(address)], capsys)
    assert told == f"pillion: cannot listen on {address}: it is in use; stop what listens there, or choose another\n"
