"""What a message log holds: one row per message, and its checksum.

The rows of a log are numbered 1, 2, … in the order in which messages were sent, as far as one process can tell; none is
missing, and a message comes after the one whose handling sent it.
"""

from __future__ import annotations

import enum
import zlib

import msgspec

from .structs import Message, Natural

VERSION = 1
"""Of the log's schema. A program reads logs of its own version and of older ones."""


class Level(enum.StrEnum):
    """How much is recorded."""

    COMMANDS = "commands"
    """What goes from a controller to its replicas, what comes back, what is written into the tables, and what is
    defined: enough to have every answer come out again."""
    ALL = "all"
    """Every message of every actor, and when it was handled."""


ANSWER = "Answer"
"""The kind of a row that holds the answer to a request: a value or an error."""

APPLICATION = "application"
"""The sender of what no actor sent."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row: a message on its way.

    Attributes:
        sequence: 1, 2, ….
        time: when it was sent: seconds of the system's clock since the log began; virtual in a simulation.
        sender, receiver: names of actors such as ``controller-0``, or ``application``.
        runtime, worker: of the worker that gets it or, if none does, sends it: ``solo``, ``maintenance`` or
            ``interactive``, and the worker's index; else None.
        nonce: the connection that it belongs to, where it belongs to one.
        kind: the class of the message.
        ids: a JSON array of the ids of collections and the uuids of peeks that it is about.
        cause: the row of the message whose handling sent it; None: the application did, or that one is not recorded.
        reply_to: of an answer, the row of the request.
        detail: a JSON object: what people ask for most, where the payload cannot be read with SQL.
        payload: the message, see ``actors/log/payloads.py``.
        handled, handled_order: when the receiver began to handle it, and as the how many-eth message of all; None: it
            did not, or the level does not tell.
        checksum: see :func:`checksum_of`.
    """

    sequence: int
    time: float
    sender: str
    receiver: str
    runtime: str | None = None
    worker: int | None = None
    nonce: str | None = None
    kind: str
    ids: str = "[]"
    cause: int | None = None
    reply_to: int | None = None
    detail: str = "{}"
    payload: bytes
    handled: float | None = None
    handled_order: int | None = None
    checksum: int = 0


COLUMNS = tuple(field.name for field in msgspec.structs.fields(Row))
"""The columns in the order in which everything here takes them."""

_encode = msgspec.msgpack.Encoder().encode


def checksum_of_message(columns: tuple[object, ...]) -> int:
    """The part of a checksum that does not change when the message is handled. ``columns``: the first thirteen of
    :data:`COLUMNS`, up to the payload."""
    return zlib.crc32(_encode(columns))


def with_handling(checksum: int, handled: float | None, handled_order: int | None) -> int:
    """The checksum of a row, from that of its message."""
    return zlib.crc32(_encode((handled, handled_order)), checksum)


def checksum_of(row: Row) -> int:
    """The CRC-32 of every other column, as it has to be."""
    values = msgspec.structs.astuple(row)
    return with_handling(checksum_of_message(values[:13]), row.handled, row.handled_order)


class Meta(Message, frozen=True, kw_only=True):
    """What a log says about itself.

    Attributes:
        program: the version of Pillion that wrote it.
        level: how much was recorded.
        started: wall clock, ISO 8601 with its offset from UTC.
        clock: ``system``, or ``virtual`` for a simulation.
        workers, interactive, settings: of the system. ``settings`` are those that were given at its start.
        first: the sequence of this file's first row: 1, or more after a rotation.
        previous, next: names of the files before and after this one, beside it.
        ended: as ``started``; None while it is being written, or when its process died.
        last: the last row, once ``ended``.
        outcome: how it ended: ``complete``, or a sentence that says what went wrong.
        gapless: whether every row is there; a log that was filtered says no.
        more: whatever else its writer has to say, by name.
    """

    program: str
    level: Level
    started: str
    clock: str = "system"
    workers: Natural = 1
    interactive: bool = False
    settings: dict[str, bool | int | float | str] = {}
    first: Natural = 1
    previous: str | None = None
    next: str | None = None
    ended: str | None = None
    last: Natural | None = None
    outcome: str | None = None
    gapless: bool = True
    more: dict[str, str] = {}
