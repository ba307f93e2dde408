"""Recordings as files."""

from __future__ import annotations

from pathlib import Path

from pillion.actors.controller.messages import FromReplica
from pillion.actors.log.file import LogFile
from pillion.actors.log.payloads import Answer, PayloadWriter
from pillion.actors.replay.events import Acknowledged, Event, Heard, Recording, Sent, Stored
from pillion.messages.log import ANSWER, APPLICATION, Level, Meta, Row

STARTED = "2026-01-01T00:00:00+00:00"


def write_log(recording: Recording, path: Path, level: Level = Level.COMMANDS) -> Path:
    """The file of a recording."""
    payloads = PayloadWriter()
    meta = Meta(program="0", level=level, started=STARTED)
    writer = LogFile.create(path, meta)
    writer.append([row_of(event, payloads) for event in recording.events()])
    writer.close("complete")
    return path


def row_of(event: Event, payloads: PayloadWriter) -> Row:
    reply_to = None
    match event:
        case Sent(replica=replica, command=command):
            sender, receiver, message = "controller-0", replica, command
        case Stored(message=message):
            sender, receiver = "controller-0", "storage-0"
        case Heard(replica=replica, nonce=nonce, responses=responses):
            sender, receiver, message = replica, "controller-0", FromReplica(replica, nonce, responses)
        case Acknowledged(of=of, value=value, refused=refused):
            error = None if refused is None else ("PillionError", refused)
            sender, receiver, message, reply_to = "storage-0", APPLICATION, Answer(value, error), of
    return Row(
        sequence=event.sequence,
        time=event.time,
        sender=sender,
        receiver=receiver,
        kind=ANSWER if isinstance(message, Answer) else type(message).__name__,
        reply_to=reply_to,
        payload=payloads.write(message),
    )
