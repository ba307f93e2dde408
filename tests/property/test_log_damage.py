"""Whatever happens to the bytes of a log, it is read as it was written up to some row, or refused; never otherwise."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pillion.actors.log import writer as writer_module
from pillion.actors.log.errors import LogError
from pillion.actors.log.file import LogFile
from pillion.actors.log.payloads import PayloadWriter
from pillion.actors.log.verify import verify
from pillion.messages.commands import Hello
from pillion.messages.log import Level, Meta, Row

ROWS = [
    Row(
        sequence=number,
        time=number / 4,
        sender="controller-0",
        receiver="multiplexer-0",
        kind="Hello",
        payload=PayloadWriter().write(Hello("n" * 40 * number)),
    )
    for number in range(1, 16)
]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Small pages make a small file, which is cut at each of its bytes.
    patch = pytest.MonkeyPatch()
    patch.setattr(writer_module, "PAGE", 512)
    path = tmp_path_factory.mktemp("log") / "a.plog"
    writer = LogFile.create(path, Meta(program="0", level=Level.COMMANDS, started="2026-01-01T00:00:00+00:00"))
    writer.append(ROWS)
    writer.close()
    patch.undo()
    return path


def read(path: Path) -> tuple[list[bytes], bool]:
    """The payloads of the rows in order, and whether that was all."""
    payloads: list[bytes] = []
    try:
        with LogFile.open(path) as log:
            for record in log.records():
                assert record.sequence == len(payloads) + 1
                payloads.append(record.payload)
    except LogError as error:
        assert str(error).startswith(str(path))
        return payloads, False
    return payloads, True


def check(path: Path) -> bool:
    """Whether it was read as it was written; a part of it is the first part."""
    payloads, whole = read(path)
    assert payloads == [row.payload for row in ROWS][: len(payloads)]
    assert not whole or len(payloads) == len(ROWS)
    try:
        findings = verify(path)
    except LogError:
        findings = [None]
    assert whole or findings, "what cannot be read is found by verifying"
    return whole


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_flipped_bits(log: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(log.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    damaged = tmp_path / "damaged.plog"
    damaged.write_bytes(content)
    check(damaged)


def test_every_byte_of_a_payload_counts(log: Path, tmp_path: Path) -> None:
    content = bytearray(log.read_bytes())
    begin = content.index(ROWS[0].payload)
    for at in range(begin, begin + len(ROWS[0].payload)):
        content[at] ^= 4
        damaged = tmp_path / "damaged.plog"
        damaged.write_bytes(content)
        assert read(damaged) == ([], False)
        content[at] ^= 4


def test_a_log_that_was_cut_off_anywhere(log: Path, tmp_path: Path) -> None:
    size = log.stat().st_size
    cut = tmp_path / "cut.plog"
    shutil.copy(log, cut)
    with cut.open("r+b") as file:
        for length in range(size - 1, -1, -1):
            file.truncate(length)
            # Most lengths are alike for SQLite, which takes pages: a whole check at some of them, and reading at each.
            payloads, whole = read(cut)
            assert payloads == [row.payload for row in ROWS][: len(payloads)]
            assert not whole
            if length % 509 == 0:
                assert not check(cut)
