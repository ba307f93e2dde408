"""Running scripts: exit codes, what is printed, rewriting."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from pillion.actors.scripts.runner import DIFFERENT, PASSED, UNREADABLE, run_scripts

START = """\
# A script.
create-instance
----
ok

initialization-complete
----
ok

"""
INDEX = """\
write-rows shard=a ts=0
  1 one
----
wrote 1

define-index source=1 index=2 shard=a key=[0] as-of=0 upper=1
----
ok

schedule id=2
----
ok

# The end.
peek id=2 ts=0
----
1 "one"
"""


def run(path: Path, **options: bool | float) -> tuple[int, str]:
    out = io.StringIO()
    code = run_scripts([path], out=out, timeout=5.0, workers=2, **options)  # type: ignore[arg-type]
    return code, out.getvalue()


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "a.spec"
    path.write_text(START + INDEX)
    return path


def test_a_script_that_prints_what_it_expects_passes(script: Path) -> None:
    assert run(script) == (PASSED, "1 script passed (2 workers)\n")


def test_a_difference_is_shown_with_file_line_and_diff(script: Path) -> None:
    script.write_text(START + INDEX.replace('1 "one"\n', '1 "two"\n'))
    code, printed = run(script)
    assert code == DIFFERENT
    line = (START + INDEX).splitlines().index("peek id=2 ts=0") + 1
    assert f"{script}:{line}: peek" in printed
    assert '-1 "two"' in printed
    assert '+1 "one"' in printed


def test_a_rewrite_replaces_what_is_expected_and_nothing_else(script: Path) -> None:
    right = script.read_text()
    script.write_text(right.replace('----\n1 "one"', "----\nsomething\nelse").replace("wrote 1", "wrote 9"))
    assert run(script, rewrite=True) == (PASSED, "1 script rewritten (2 workers)\n")
    assert script.read_text() == right


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("look id=2\n----\n", "10: there is no directive 'look'; there are 'create-instance', "),
        ("peak id=2\n----\n", "10: there is no directive 'peak'; did you mean 'peek'?"),
        ("peek id=2 ts=0\nok\n", "10: peek has no line ----"),
        ("peek id=2\n----\n", "10: peek needs ts="),
    ],
)
def test_a_script_that_cannot_be_read_is_not_run(script: Path, text: str, message: str) -> None:
    script.write_text(START + text)
    code, printed = run(script, rewrite=True)
    assert code == UNREADABLE
    assert f"{script}:{message}" in printed
    assert script.read_text() == START + text


def test_a_file_that_does_not_exist_is_unreadable(tmp_path: Path) -> None:
    code, printed = run(tmp_path / "nothing.spec")
    assert code == UNREADABLE
    assert "cannot be read" in printed


def test_the_worst_result_counts(script: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.spec"
    other.write_text("nonsense\n")
    assert run_scripts([script, other], out=io.StringIO()) == UNREADABLE


def test_a_script_runs_on_two_runtimes(script: Path) -> None:
    script.write_text(START + INDEX + "\nmetrics peers\n----\nvalue = 1\n")
    code, printed = run(script, interactive=True)
    assert (code, printed) == (PASSED, "1 script passed (2 workers of each of two runtimes)\n")


def test_a_failure_of_the_replica_is_what_its_directives_print(script: Path) -> None:
    script.write_text(
        START
        + INDEX
        + """
reconnect
----
ok

create-instance expiration-offset=1s
----
ok

initialization-complete
----

peek id=2 ts=0
----
"""
    )
    code, printed = run(script)
    assert code == DIFFERENT
    assert printed.count("+error: the replica was created with another configuration") == 2
