"""Every protocol script, recorded while it runs, gives the same answers on another replica, and as another script."""

from __future__ import annotations

from pathlib import Path

import pytest

from pillion.actors.dispatch.threaded import ThreadedDispatcher
from pillion.actors.log.file import LogFile
from pillion.actors.log.script import script_of
from pillion.actors.replay.options import ReplayOptions
from pillion.actors.replay.recording import LogRecording
from pillion.actors.replay.replay import replay
from pillion.actors.replay.report import show
from pillion.actors.scripts.parse import parse_script
from pillion.actors.scripts.runner import differences, run_script
from tests.unit.replay.logs import write_log
from tests.unit.replay.taped import taped

SCRIPTS = sorted((Path(__file__).parents[1] / "spec").glob("*.spec"))
FAILS = {"reconnect_recreated"}
"""Ends with a command that a replica answers by failing, of which a log has no answer."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_recorded_and_replayed(script: Path, tmp_path: Path) -> None:
    # Neither the mode nor the number of workers that it was recorded with.
    is_two = SCRIPTS.index(script) % 2 == 0
    recorded, replayed = ((1, False), (2, True)) if is_two else ((2, True), (3, False))
    log = write_log(taped(script, recorded[0], interactive=recorded[1]), tmp_path / "script.plog")
    with LogFile.open(log) as reader:
        recording = LogRecording(reader)
        options = ReplayOptions(workers=replayed[0], interactive=replayed[1], timeout=20.0)
        report = replay(recording, ThreadedDispatcher(), options)
        assert report.is_same, show(report)
        assert (report.ended is None) == (script.stem not in FAILS), report.ended
        if script.stem not in FAILS:
            exported = parse_script(script_of(recording.events(), script.name))
            found = differences(exported, run_script(exported, replayed[0], 20.0, interactive=replayed[1]))
            assert not found, "\n".join(difference.show(script) for difference in found)
