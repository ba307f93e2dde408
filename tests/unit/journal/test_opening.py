"""Journals are opened as they were left; what is missing is told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pillion.actors.journal.checkpoint import checkpoint_records
from pillion.actors.journal.directory import Directory
from pillion.actors.journal.errors import JournalDamaged, JournalInUse, NotADirectory
from pillion.actors.journal.messages import Dropped, TableContents, TablesWritten
from pillion.actors.journal.opening import OpenedJournal
from pillion.actors.journal.writing import JournalFile, write_checkpoint
from pillion.messages.ids import GlobalId
from tests.unit.journal.conftest import TABLE, Journals, table, written

FRAME = 24 + 4096


def test_what_was_written_is_there_again(journals: Journals) -> None:
    opened = journals.open()
    journals.write(opened, [table()], [written(1, 1, 2), written(2, 3)], [written(3, 2, diff=-1)])
    opened.close()
    again = journals.open()
    assert journals.ids(again) == [1, 3]
    assert (again.state.latest, again.state.catalog.next_id, again.lost) == (3, 2, ())
    journals.write(again, [written(4, 9)], [table(5, "other")], [Dropped((GlobalId("u", 5),))])
    again.close()
    last = journals.open()
    assert journals.ids(last) == [1, 3, 9]
    assert [each.info.name for each in last.state.catalog.defined.values()] == ["t"]
    assert last.state.catalog.next_id == 6, "the id of what was dropped is not given again"


def test_a_start_without_a_write_leaves_no_file_behind(journals: Journals) -> None:
    for _ in range(3):
        opened = journals.open()
        opened.close()
    assert [each.name for each in sorted(opened.directory.path.iterdir())] == ["journal-000001.plog", "lock"]


def test_a_write_after_the_drop_of_its_table_is_passed_over(journals: Journals) -> None:
    opened = journals.open()
    journals.write(opened, [table(), written(1, 1), Dropped((TABLE,)), written(2, 2)])
    opened.close()
    again = journals.open()
    assert (again.state.contents(), again.state.latest) == ({}, 2)


def test_a_kill_loses_nothing_that_was_written(journals: Journals) -> None:
    opened = journals.open()
    journals.write(opened, [table()], *[[written(n, n)] for n in range(1, 30)])
    again = journals.open(journals.left_by_a_kill(opened))
    assert journals.ids(again) == list(range(1, 30))
    assert again.lost == ()


def test_a_tail_cut_at_any_place_leaves_what_came_before(journals: Journals) -> None:
    opened = journals.open()
    journals.write(opened, [table()], *[[written(n, n, size=500 * (n % 8 + 1))] for n in range(1, 13)])
    left = journals.left_by_a_kill(opened)
    log = left / "journal-000001.plog-wal"
    whole = log.read_bytes()
    frames = range(32, len(whole) + 1, FRAME)
    seen: list[int] = []
    for cut in sorted({cut for end in frames for cut in (end, end - 7) if cut > 32 + 3 * FRAME}):
        copy = shutil.copytree(left, left.with_name(f"cut-{cut}"))
        with (copy / log.name).open("r+b") as file:
            file.truncate(cut)
        again = journals.open(copy)
        ids = journals.ids(again)
        assert ids == list(range(1, len(ids) + 1)), "what is left is how it began"
        inside = whole[frames[(cut - 32) // FRAME - 1] :][4:8] == b"\0\0\0\0" or (cut - 32) % FRAME != 0
        assert inside == (again.lost != ()), f"a cut at {cut} is told: {again.lost}"
        seen.append(len(ids))
        again.close()
    assert seen == sorted(seen) and seen[0] < 3 and seen[-1] == 12


def damaged(journals: Journals, name: str, at: int) -> Path:
    """A directory with a checkpoint and two journals, left by a kill, in which a byte of a file was changed."""
    opened = journals.open()
    journals.write(opened, [table()], [written(1, *range(100))], [written(2, 200)])
    checkpoint(opened, 2, {TABLE: TableContents(2, tuple(opened_rows(1, 2)))})
    journals.write(opened, [written(3, 300)], [written(4, 400)])
    opened.close()
    again = journals.open()
    journals.write(again, [written(5, 500)], [written(6, 600)], [written(7, 700)])
    left = journals.left_by_a_kill(again)
    again.close()
    data = bytearray((left / name).read_bytes())
    data[at] ^= 0x01
    (left / name).write_bytes(data)
    return left


def opened_rows(*times: int) -> list[object]:
    rows = {1: written(1, *range(100)), 2: written(2, 200)}
    return [rows[time].changed[TABLE] for time in times]


def checkpoint(opened: OpenedJournal, number: int, tables: dict[GlobalId, TableContents]) -> None:
    """What the journal and the compactor do together."""
    last = opened.file.last
    opened.file.close()
    opened.file = JournalFile(opened.directory, number, last, "normal")
    records = checkpoint_records(2, 2, [table()], tables, last)
    for _ in write_checkpoint(opened.directory, number, records):
        pass
    opened.directory.remove(opened.directory.files().obsolete)


def test_a_checkpoint_takes_the_place_of_what_came_before(journals: Journals) -> None:
    left = damaged(journals, "lock", 0)
    again = journals.open(left)
    assert journals.ids(again) == [*range(100), 200, 300, 400, 500, 600, 700]
    names = {each.name for each in left.iterdir() if "-shm" not in each.name and "-wal" not in each.name}
    assert names == {"checkpoint-000002.plog", "lock", *(f"journal-00000{n}.plog" for n in (2, 3, 4))}


@pytest.mark.parametrize(
    ("name", "at", "kept"),
    [
        ("journal-000003.plog-wal", -9, [*range(100), 200, 300, 400, 500, 600]),
        ("journal-000003.plog-wal", -9 - 4 * FRAME, [*range(100), 200, 300, 400]),
        ("journal-000002.plog", 0, [*range(100), 200]),
        ("journal-000002.plog", 30, [*range(100), 200]),
    ],
)
def test_what_is_damaged_is_refused_and_what_is_intact_opened(
    journals: Journals, name: str, at: int, kept: list[int]
) -> None:
    left = damaged(journals, name, at)
    before = {each.name: each.read_bytes() for each in left.iterdir() if each.suffix != ".plog-shm"}
    for _ in range(2):  # To refuse it changes nothing: it is refused again.
        with pytest.raises(JournalDamaged, match=name[:19]) as refused:
            journals.open(left)
        assert "salvage=True" in str(refused.value)
    again = journals.open(left, salvage=True)
    ids = journals.ids(again)
    assert ids == kept[: len(ids)] and len(ids) >= len(kept) - 2
    assert any(name[:19] in each for each in again.lost)
    assert (left / "damaged-1" / name).read_bytes() == before[name]
    again.close()
    assert journals.open(left).lost == ()


def test_rows_of_a_damaged_checkpoint_are_left_out_and_later_writes_kept(journals: Journals) -> None:
    opened = journals.open()
    other = GlobalId("u", 2)
    journals.write(opened, [table(), table(2, "other")])
    parts = {
        TABLE: TableContents(1, (written(1, 1, 2, size=3000).changed[TABLE],)),
        other: TableContents(1, (written(1, 5, size=3000, to=other).changed[other],)),
    }
    last = opened.file.last
    opened.file.close()
    opened.file = JournalFile(opened.directory, 2, last, "normal")
    records = checkpoint_records(1, 3, [table(), table(2, "other")], parts, last)
    for _ in write_checkpoint(opened.directory, 2, records):
        pass
    journals.write(opened, [TablesWritten(2, {**written(2, 1, size=3000, diff=-1).changed})], [written(3, 7)])
    opened.close()
    path = opened.directory.checkpoint(2)
    data = path.read_bytes()
    at = data.index(b"0" * 100)  # In the rows of the first table.
    path.write_bytes(data[:at] + b"1" + data[at + 1 :])
    with pytest.raises(JournalDamaged, match=r"checkpoint-000002\.plog: row 3"):
        journals.open()
    again = journals.open(salvage=True)
    assert journals.ids(again) == [7], "the deletion of a row that is lost deletes nothing"
    assert len(again.state.contents()[other]) == 1


def test_a_missing_file_is_damage(journals: Journals) -> None:
    left = damaged(journals, "lock", 0)
    (left / "journal-000002.plog").unlink()
    with pytest.raises(JournalDamaged, match=r"journal-000002\.plog is missing"):
        journals.open(left)
    assert journals.ids(journals.open(left, salvage=True)) == [*range(100), 200]


def test_what_a_crash_left_of_a_compaction_is_removed(journals: Journals) -> None:
    opened = journals.open()
    journals.write(opened, [table()], [written(1, 1)])
    left = journals.left_by_a_kill(opened)
    Directory(left).unfinished_checkpoint(2).write_bytes(b"half of it")
    again = journals.open(left)
    assert journals.ids(again) == [1]
    assert not Directory(left).unfinished_checkpoint(2).exists()


@pytest.mark.parametrize("content", [b"", None])
def test_a_file_that_was_just_being_made_is_made_again(journals: Journals, content: bytes | None) -> None:
    opened = journals.open()
    journals.write(opened, [table()], [written(1, 1)])
    opened.close()
    if content is not None:
        opened.directory.journal(2).write_bytes(content)
    again = journals.open()
    assert journals.ids(again) == [1]
    assert again.file.number == 2


# --- Directories -----------------------------------------------------------------------------------------------------


def test_a_directory_is_of_one_system_at_a_time(journals: Journals) -> None:
    opened = journals.open()
    with pytest.raises(JournalInUse, match=f"process {os.getpid()} has it open"):
        journals.open()
    opened.close()
    journals.open()


def test_a_process_that_is_killed_gives_the_directory_up(tmp_path: Path, journals: Journals) -> None:
    program = (
        "import sys; from pathlib import Path; from pillion.actors.journal.lock import DirectoryLock\n"
        "lock = DirectoryLock(Path(sys.argv[1])); print('locked', flush=True); sys.stdin.read()"
    )
    (tmp_path / "journal").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "journal")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(JournalInUse, match=f"process {process.pid} has it open") as refused:
            journals.open()
        assert refused.value.process == process.pid
        process.kill()
        process.wait()
    journals.open()


def test_a_child_that_is_forked_does_not_keep_the_directory(journals: Journals) -> None:
    opened = journals.open()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(read, 1)
        os._exit(0)
    opened.close()
    journals.open()
    os.write(write, b"x")
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)


def test_a_directory_of_something_else_is_refused(tmp_path: Path, journals: Journals) -> None:
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "letters.txt").touch()
    with pytest.raises(NotADirectory, match=r"it holds other files \(letters\.txt"):
        journals.open()
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectory, match="cannot be used as a directory"):
        journals.open(tmp_path / "file")
