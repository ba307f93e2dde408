"""The layout of a replica's runtimes, as options carry it: one JSON object per runtime."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

from ...messages.encoding import Format, decode, encode
from ...messages.errors import DecodeError, PillionError
from ...messages.structs import Message, Natural
from ..multiplexer.replica import MOST_WORKERS

_HOST_AND_PORT = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s:\[\]]+):(\d{1,5})")


class UnusableConfig(PillionError):
    """The configuration of a process that cannot be used; the process does not start."""


class TimelyConfig(Message, frozen=True):
    """The worker layout of one runtime.

    Attributes:
        workers: how many workers each process has.
        process: which of the processes this one is, from 0.
        addresses: ``host:port`` of every process, in order; there are as many processes as addresses.
    """

    workers: Annotated[int, msgspec.Meta(ge=1, le=MOST_WORKERS)]
    process: Natural
    addresses: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Workers per process, and processes."""
        return self.workers, len(self.addresses)

    def to_json(self) -> str:
        """The text that :func:`parse_timely_config` reads."""
        return encode(self, Format.JSON).decode()


def parse_timely_config(text: str) -> TimelyConfig:
    """Read ``{"workers": 2, "process": 0, "addresses": ["127.0.0.1:2103"]}``.

    Raises:
        UnusableConfig: it is no JSON, has a field too few or too many, or a value that the field does not take.
    """
    try:
        config: TimelyConfig = decode(text.encode("utf-8", "surrogateescape"), TimelyConfig, Format.JSON)
    except DecodeError as error:
        given = "" if error.given is None else f": given {error.given}"
        raise UnusableConfig(
            f"{_shortened(text)} is no layout of a runtime: at {error.path}{given}: {error.problem}; expected "
            '{"workers": 2, "process": 0, "addresses": ["127.0.0.1:2103"]}'
        ) from None
    if not config.addresses:
        raise UnusableConfig("addresses is empty; it lists host:port of every process, this one included")
    for address in config.addresses:
        found = _HOST_AND_PORT.fullmatch(address)
        if found is None or int(found[2]) > 65535:
            raise UnusableConfig(f"{_shortened(address)} in addresses is not host:port, such as 127.0.0.1:2103")
    if config.process >= len(config.addresses):
        raise UnusableConfig(
            f"process is {config.process}, but addresses lists {_counted(len(config.addresses), 'process')}, "
            "which are numbered from 0"
        )
    return config


def prepare_interactive_compute_config(maintenance: TimelyConfig, interactive: TimelyConfig) -> TimelyConfig:
    """The layout of the second runtime of the process that ``maintenance`` describes.

    All processes are given one and the same interactive layout, so which of them this one is comes from its
    maintenance layout; else each would join as the process that the option names.

    Raises:
        UnusableConfig: the runtimes differ in their shape. Worker *i* of one reads what worker *i* of the other
            maintains, so they need as many workers per process *and* as many processes; an equal number of workers
            in all is not enough.
    """
    if maintenance.shape != interactive.shape:
        raise UnusableConfig(
            f"the interactive runtime has {_layout(interactive)}, the maintenance runtime has {_layout(maintenance)}; "
            "give both the same workers per process and as many addresses"
        )
    return msgspec.structs.replace(interactive, process=maintenance.process)


def check_one_process(config: TimelyConfig) -> None:
    """
    Raises:
        UnusableConfig: the layout spreads a runtime over several processes.
    """
    if len(config.addresses) > 1:
        raise UnusableConfig(
            f"the layout has {_counted(len(config.addresses), 'process')}, and a replica runs in one: give one "
            "address, and more workers"
        )


def _layout(config: TimelyConfig) -> str:
    return f"{_counted(config.workers, 'worker')} in each of {_counted(len(config.addresses), 'process')}"


def _counted(number: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 100 else f"{text[:97]}...")
