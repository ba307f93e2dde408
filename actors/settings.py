"""Settings: typed, named values that ``UpdateConfiguration`` changes while a replica runs.

A value comes from the last update that parsed, else from the default. An unknown name and a value that does not parse
change nothing; :meth:`Settings.update` says so, and the caller logs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..messages.commands import Setting

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Config(Generic[T]):
    """One setting.

    Attributes:
        parse: turns what an update carries into the value; raises ``ValueError`` when it is none.
        description: what it is for, with its unit.
    """

    name: str
    default: T
    parse: Callable[[Setting], T]
    description: str


def _size(value: Setting) -> int:
    try:
        number = int(value)
    except (ValueError, OverflowError):
        number = -1
    if isinstance(value, bool) or number < 0 or number != float(value):
        raise ValueError("expected a whole number, 0 or more")
    return number


def _count(value: Setting) -> int:
    number = _size(value)
    if number == 0:
        raise ValueError("expected a whole number, 1 or more")
    return number


def _seconds(value: Setting) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if isinstance(value, bool) or not 0 <= number < float("inf"):
        raise ValueError("expected a number of seconds, 0 or more")
    return number


MAX_RESULT_SIZE = Config("max_result_size", 1 << 30, _size, "bytes; a peek with a larger result is an error")
STASH_THRESHOLD = Config("peek_stash_threshold", 1 << 24, _size, "bytes; a larger result travels in parts")
SCAN_SLICE = Config("peek_scan_slice", 1 << 14, _count, "rows that a scan reads before other work gets its turn")
TURN_SECONDS = Config("worker_turn_seconds", 0.001, _seconds, "seconds of maintenance before other messages are heard")
TURN_STEPS = Config("worker_turn_steps", 1024, _count, "operator steps before other messages are heard")
IDLE_SECONDS = Config("worker_idle_seconds", 0.05, _seconds, "seconds without work after which a worker tidies up")
IDLE_SLICE = Config("worker_idle_slice", 1 << 14, _count, "rows that an idle worker merges at a time")
SWITCH_INTERVAL = Config(
    "process_switch_interval", 0.0005, _seconds, "seconds; sys.setswitchinterval of the process; 0 leaves it alone"
)

CONFIGS: tuple[Config[Any], ...] = (
    MAX_RESULT_SIZE,
    STASH_THRESHOLD,
    SCAN_SLICE,
    TURN_SECONDS,
    TURN_STEPS,
    IDLE_SECONDS,
    IDLE_SLICE,
    SWITCH_INTERVAL,
)


class Settings:
    """The present value of every setting."""

    __slots__ = ("_configs", "_values")

    def __init__(self, configs: Iterable[Config[Any]] = CONFIGS) -> None:
        self._configs = {config.name: config for config in configs}
        self._values: dict[str, Any] = {config.name: config.default for config in self._configs.values()}

    def get(self, config: Config[T]) -> T:
        return self._values[config.name]

    def update(self, updates: Iterable[tuple[str, Setting]]) -> list[str]:
        """Apply updates in order; a sentence for each one that was ignored."""
        problems: list[str] = []
        for name, value in updates:
            config = self._configs.get(name)
            if config is None:
                problems.append(f"unknown setting {name}")
                continue
            try:
                self._values[name] = config.parse(value)
            except ValueError as error:
                problems.append(f"setting {name} = {value!r}: {error}; it stays {self._values[name]!r}")
        return problems
