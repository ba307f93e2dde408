"""How much memory the process has, and how much it may have."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pillion.actors.process import memory
from pillion.actors.process.memory import Excess, Memory, available_memory, group_limits


class Fixed(Memory):
    """A process of a fixed size."""

    def __init__(self, resident: int | None) -> None:
        self._resident = resident

    @property
    def resident(self) -> int | None:
        return self._resident


def test_what_was_allocated_is_counted() -> None:
    before = Memory().resident
    if sys.platform != "linux":
        assert before is None  # only Linux says what a process has now
        return
    block = bytearray(64 << 20)
    block[:: 1 << 12] = b"x" * len(range(0, len(block), 1 << 12))  # touched, so that it is there
    after = Memory().resident
    assert before is not None and after is not None
    assert after - before > 32 << 20
    assert after < available_memory()


@pytest.mark.parametrize(
    ("limit", "fraction", "excess"),
    [
        (0, 0.0, None),
        (1000, 0.0, None),
        (999, 0.0, Excess(1000, 999)),
        (999, 1.0, Excess(1000, 999)),
        (0, 0.5, None),
        (0, 0.49, Excess(1000, 980)),
    ],
)
def test_a_limit_goes_before_a_fraction_and_zero_is_no_limit(
    limit: int, fraction: float, excess: Excess | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 2000)
    assert Fixed(1000).excess(limit, fraction) == excess


def test_where_nothing_is_known_there_is_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Fixed(None).excess(1, 0.0) is None
    monkeypatch.setattr(memory, "available_memory", lambda: 0)
    assert Fixed(1000).excess(0, 0.9) is None


def groups(tmp_path: Path, own: str, **limits: str) -> list[int]:
    """The limits of a process in these groups; ``limits`` by the file that says them, ``__`` for a slash."""
    root = tmp_path / "cgroup"
    for name, text in limits.items():
        file = root / name.replace("__", "/").replace("_DOT_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "own").write_text(own)
    return sorted(group_limits(root, tmp_path / "own"))


def test_the_limits_of_all_groups_around_a_process_count(tmp_path: Path) -> None:
    limits = {"a__memory_DOT_max": "4000\n", "a__b__memory_DOT_max": "max\n", "a__b__c__memory_DOT_max": "2000\n"}
    assert groups(tmp_path, "0::/a/b/c\n", **limits) == [2000, 4000]


def test_in_a_container_the_group_is_at_the_top(tmp_path: Path) -> None:
    assert groups(tmp_path, "0::/outside/x\n", memory_DOT_max="3000\n") == [3000]


def test_version_1_says_unlimited_by_a_huge_number(tmp_path: Path) -> None:
    own = "5:cpu,cpuacct:/a\n4:memory:/a\n"
    limits = {"memory__a__memory_DOT_limit_in_bytes": "1000", "memory__memory_DOT_limit_in_bytes": str(2**63 - 4096)}
    assert groups(tmp_path, own, **limits) == [1000]


def test_without_groups_there_are_no_limits(tmp_path: Path) -> None:
    assert group_limits(tmp_path, tmp_path / "nowhere") == []
    assert groups(tmp_path, "0::/\n") == []
