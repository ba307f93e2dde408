"""Messages as bytes and back, on the threads of a connection.

What actors send and hear are the messages of the storage and of the compute protocol; the forms in which these travel
are known here and to nobody else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from ...dataflow.arrangements.updates import Chunk
from ...messages.commands import Command
from ...messages.encoding import decode, encode
from ...messages.ids import GlobalId
from ...messages.responses import PeekError, PeekResponse, Response
from ..storage.messages import (
    Appended,
    CompareAndAppend,
    ShardChanges,
    ShardRead,
    ShardSnapshot,
    SnapshotRefused,
    UpperMismatch,
)
from .columns import ChunkForm, block_of, check_times, chunk_form, chunk_in, updates_in
from .errors import FrameError
from .wire import (
    Answers,
    AppendedForm,
    AppendForm,
    ChangesForm,
    Down,
    MismatchForm,
    RefusedForm,
    ShareForm,
    SnapshotForm,
    Up,
)


def encode_command(command: Command, limit: int) -> bytes:
    """The bytes of a command, of which the replica will understand every one.

    Raises:
        EncodeError, DecodeError: it holds something that no command can carry.
        FrameError: it is larger than ``limit``.
    """
    payload = _checked(encode(command), limit)
    decode(payload, Command)
    return payload


ToWorker = ShardSnapshot | SnapshotRefused | ShardChanges | ShardRead | Appended | UpperMismatch


class ForWorker(msgspec.Struct, frozen=True, eq=False):
    """What the storage tells the worker of this number."""

    worker: int
    message: ToWorker


class Append(msgspec.Struct, frozen=True, eq=False):
    """What the worker of this number wants written."""

    worker: int
    shard: GlobalId
    chunk: Chunk

    @staticmethod
    def of(worker: int, message: CompareAndAppend) -> Append:
        """The append that a message asks for."""
        chunk = Chunk(message.lower, message.upper, message.updates, message.errors)
        return Append(worker, message.shard, chunk)

    def message(self, writer: Any) -> CompareAndAppend:
        """The message that asks for it, in the name of ``writer``."""
        chunk = self.chunk
        return CompareAndAppend(self.shard, chunk.lower, chunk.upper, chunk.oks, writer, chunk.errs)


# --- Down: from the system to the replica ---------------------------------------------------------------------------


def encode_down(limit: int) -> Callable[[Any], bytes]:
    """What makes bytes of what goes down, and leaves bytes as they are. None are longer than ``limit``: where that can
    be told the receiver instead, it is, else ``FrameError`` is raised."""

    def encoded(message: Any) -> bytes:
        if isinstance(message, bytes):
            return message
        form = _down_form(message.worker, message.message) if isinstance(message, ForWorker) else message
        payload = encode(form)
        if len(payload) > limit and isinstance(form, SnapshotForm):
            problem = f"{form.shard}: {_too_long(len(payload), limit)}"
            return encode(RefusedForm(form.worker, form.shard, form.subscription, problem))
        if len(payload) > limit and isinstance(form, ShareForm):
            return encode(ShareForm(form.worker, form.token, None, _too_long(len(payload), limit)))
        return _checked(payload, limit)

    return encoded


def decode_down(payload: bytes) -> Any:
    """The command, the question or the :class:`ForWorker` in these bytes.

    Raises:
        DecodeError: they hold none.
        MalformedBlock: they hold rows that no collection has.
    """
    form = cast(Any, decode(payload, Down))
    match form:
        case SnapshotForm():
            message = ShardSnapshot(form.shard, form.subscription, chunk_in(form.chunk))
        case RefusedForm():
            message = SnapshotRefused(form.shard, form.subscription, form.message)
        case ChangesForm():
            chunks = [chunk_in(chunk) for chunk in form.chunks]
            message = ShardChanges(tuple([(id, chunks[position]) for id, position in form.subscriptions]))
        case ShareForm():
            message = ShardRead(form.token, updates_in(form.updates), form.error)
        case AppendedForm():
            message = Appended(form.shard, form.upper)
        case MismatchForm():
            message = UpperMismatch(form.shard, form.expected, form.upper)
        case _:
            return form
    return ForWorker(form.worker, message)


def _down_form(worker: int, message: ToWorker) -> Any:
    match message:
        case ShardSnapshot(shard, subscription, chunk):
            return SnapshotForm(worker, shard, subscription, chunk_form(chunk))
        case SnapshotRefused(shard, subscription, problem):
            return RefusedForm(worker, shard, subscription, problem)
        case ShardChanges(chunks):
            return _changes_form(worker, chunks)
        case ShardRead(token, updates, error):
            return ShareForm(worker, token, block_of(updates), error)
        case Appended(shard, upper):
            return AppendedForm(worker, shard, upper)
        case UpperMismatch(shard, expected, upper):
            return MismatchForm(worker, shard, expected, upper)


def _changes_form(worker: int, chunks: tuple[tuple[int, Chunk], ...]) -> ChangesForm:
    # Many subscriptions to one shard get one and the same chunk: it travels once.
    positions: dict[int, int] = {}
    forms: list[ChunkForm] = []
    for _, chunk in chunks:
        if id(chunk) not in positions:
            positions[id(chunk)] = len(forms)
            forms.append(chunk_form(chunk))
    return ChangesForm(worker, tuple(forms), tuple([(number, positions[id(chunk)]) for number, chunk in chunks]))


# --- Up: from the replica to the system -----------------------------------------------------------------------------


def encode_up(limit: int) -> Callable[[Any], bytes]:
    """What makes bytes of forms and of :class:`Append`, none longer than ``limit``: where that can be told the receiver
    instead, it is, else ``FrameError`` is raised."""

    def encoded(message: Any) -> bytes:
        form = message
        if isinstance(message, Append):
            form = AppendForm(message.worker, message.shard, chunk_form(message.chunk))
        payload = encode(form)
        if len(payload) > limit and isinstance(form, Answers):
            responses = tuple([_within(response, limit) for response in form.responses])
            payload = encode(Answers(form.nonce, responses))
        return _checked(payload, limit)

    return encoded


def decode_up(payload: bytes) -> Any:
    """The form or the :class:`Append` in these bytes.

    Raises:
        DecodeError: they hold none.
        MalformedBlock: they hold rows that no collection has, or times that are not where they should be.
    """
    form = cast(Any, decode(payload, Up))
    if isinstance(form, AppendForm):
        chunk = chunk_in(form.chunk)
        check_times(chunk)
        return Append(form.worker, form.shard, chunk)
    return form


def _within(response: Response, limit: int) -> Response:
    """A response that fits; the answer to a peek says instead that it does not."""
    if not isinstance(response, PeekResponse):
        return response
    size = len(encode(response))
    return response if size <= limit else PeekResponse(response.uuid, PeekError(_too_long(size, limit)))


def check_size(size: int, limit: int) -> None:
    """
    Raises:
        FrameError: so many bytes are more than a message may have.
    """
    if size > limit:
        raise FrameError(_too_long(size, limit))


def _checked(payload: bytes, limit: int) -> bytes:
    check_size(len(payload), limit)
    return payload


def _too_long(size: int, limit: int) -> str:
    return (
        f"{size} bytes do not fit into a message between processes, which has {limit} at most; read less at a time, "
        "or allow both processes larger messages"
    )
