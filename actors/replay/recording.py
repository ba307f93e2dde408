"""A message log as a replay sees it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from ...messages.commands import Command, CreateDataflow
from ...messages.dataflows import RenderDataflow
from ...messages.errors import PillionError
from ...messages.ids import GlobalId
from ...messages.log import ANSWER
from ..controller.messages import FromReplica
from ..log.payloads import Answer
from ..log.reader import LogReader
from ..log.record import Record
from ..log.references import RecordedReply
from ..storage.messages import AppendRows, CommitTables, CompactShard, CreateShard, CreateTableShard, DropShard
from .events import Acknowledged, Event, Heard, Sent, Stored

_COMMANDS = {kind.__name__ for kind in get_args(Command)}
_STORED = {kind.__name__ for kind in (CreateTableShard, CreateShard, DropShard, CompactShard, CommitTables, AppendRows)}
_ANSWERED = {CommitTables.__name__, AppendRows.__name__}
_WITH_FUNCTIONS = ("CreateDataflow", "Peek", "CommitTables")


class NotReplayable(PillionError):
    """A log that lacks what a replay needs."""


class NotTrusted(PillionError):
    """A log has Python functions, and nobody said that they may run."""

    def __init__(self, path: Path, functions: tuple[str, ...]) -> None:
        super().__init__(
            f"{path} has the Python function{'s' if len(functions) > 1 else ''} {', '.join(functions)}, and replaying "
            "it would run that code: give --trust if you trust whoever recorded it"
        )
        self.functions = functions


class LogRecording:
    """What a log holds of commands, data and answers, whatever its level.

    Attributes:
        reader: of the log.
    """

    def __init__(self, reader: LogReader) -> None:
        self.reader = reader
        self.name = reader.path.name
        self.last = reader.last
        self._replicas: tuple[str, ...] | None = None

    @property
    def replicas(self) -> tuple[str, ...]:
        """The actors that got commands from a controller, in the order of their first."""
        if self._replicas is None:
            seen: dict[str, None] = {}
            for file in self.reader.files:
                rows = file.query(
                    "SELECT receiver, min(sequence) FROM message WHERE kind = 'Hello' "
                    "AND receiver NOT LIKE '%worker-%' GROUP BY receiver ORDER BY 2"
                )
                seen.update(dict.fromkeys([receiver for receiver, _ in rows]))
            if not seen:
                raise NotReplayable(
                    f"{self.reader.path} has no Hello of a controller to a replica, so there is nothing to replay: was "
                    "it filtered, or recorded before a system was started?"
                )
            self._replicas = tuple(seen)
        return self._replicas

    def functions(self) -> tuple[str, ...]:
        """The names of the Python functions that a replay would run. None is loaded."""
        named: dict[str, None] = {}
        mark = "instr(payload, CAST('pickled' AS BLOB)) > 0"
        for record in self.reader.records(mark, kinds=_WITH_FUNCTIONS):
            named.update(dict.fromkeys(record.functions()))
        return tuple(named)

    def events(self) -> Iterator[Event]:
        """Everything that a replay needs, in order.

        Raises:
            LogError: a row is missing or damaged, or holds what this program does not know.
            NotReplayable: the log has no data of a shard that a dataflow reads.
        """
        replicas = frozenset(self.replicas)
        shards: set[GlobalId] = set()
        asked: dict[int, int] = {}
        for record in self.reader.records():
            kind = record.kind
            if kind in _COMMANDS:
                if record.receiver in replicas:
                    command = record.message()
                    if isinstance(command, CreateDataflow):
                        self._check_sources(record, command.dataflow, shards)
                    yield Sent(record.sequence, record.time, record.receiver, command)
            elif kind in _STORED:
                message = record.message()
                if not isinstance(message, CommitTables):
                    shards.add(message.shard)
                if kind in _ANSWERED:
                    asked[_request(message, record.sequence)] = record.sequence
                yield Stored(record.sequence, record.time, message)
            elif kind == FromReplica.__name__:
                if record.sender in replicas:
                    message = record.message()
                    yield Heard(record.sequence, record.time, record.sender, message.nonce, message.responses)
            elif kind == ANSWER and record.reply_to in asked:
                yield _acknowledged(record, asked.pop(record.reply_to), record.message())

    def _check_sources(self, record: Record, dataflow: RenderDataflow, shards: set[GlobalId]) -> None:
        for source in dataflow.source_imports:
            if source.shard not in shards:
                raise NotReplayable(
                    f"{self.reader.path}: message {record.sequence} reads shard {source.shard}, of which the log has "
                    "no data: it was recorded in a process that has no storage, as clusterd is; record the system that "
                    "holds the tables"
                )


def _request(message: Any, sequence: int) -> int:
    """The row of the request that is answered: this one, or the application's, whose reply it carries."""
    reply = message.reply
    return reply.request or sequence if isinstance(reply, RecordedReply) else sequence


def _acknowledged(record: Record, of: int, answer: Answer) -> Acknowledged:
    refused = None if answer.error is None else answer.error[1]
    return Acknowledged(record.sequence, record.time, of, answer.value, refused)
