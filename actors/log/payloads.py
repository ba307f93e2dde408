"""The payload of a row: a message as MessagePack, with its rows as Arrow IPC inside.

Reading one back runs no code: a user function stays the bytes that it is, in a ``UserFunction``, until somebody who was
told to trust the log loads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, get_origin

import msgspec
import pykka

from ...dataflow.arrangements.updates import Updates
from ...dataflow.columns.column import Column
from ...messages import blocks
from ...messages.errors import DecodeError, EncodeError, PillionError
from ...messages.ids import GlobalId
from ...messages.log import ANSWER
from ...messages.rows import RowBlock, UpdateBlock
from ...messages.structs import Message
from ..dispatch.oneshot import OneShot, Stream
from ..requests import CollectionInfo
from .columns import ColumnsForm, UpdatesForm, columns_form, columns_in, updates_form, updates_in
from .kinds import ANSWERS, kinds
from .references import RecordedActor, RecordedReply, RecordedStream, References


class Answer(msgspec.Struct, frozen=True, eq=False):
    """What a request was answered with. ``error``: the class and the text of an error, if it was refused."""

    value: Any = None
    error: tuple[str, str] | None = None


class AnswerForm(Message, frozen=True, omit_defaults=True):
    """``type``: a name among :data:`ANSWERS`; ``opaque``: ``value`` is only a text about it."""

    type: str
    value: msgspec.Raw = msgspec.Raw(b"\xc0")
    error: tuple[str, str] | None = None


class Opaque(Message, frozen=True):
    """Instead of a message that cannot be written: what it was, for people."""

    opaque: str


class NotReadable(PillionError):
    """A payload that does not become a message again: ``str`` says why."""


class Namer:
    """Names what messages refer to, while they are written."""

    def actor(self, ref: pykka.ActorRef[Any]) -> str:
        """The name of an actor."""
        if isinstance(ref, RecordedActor):
            return ref.name
        return ref.actor_class.__name__.lower()

    def request(self, result: OneShot[Any] | Stream[Any]) -> int:
        """The row of the request that carried it first; 0: none is recorded."""
        return result.request if isinstance(result, RecordedReply | RecordedStream) else 0

    def number(self, value: object) -> int:
        """The number of something in shared memory."""
        return 0


class PayloadWriter:
    """Makes payloads."""

    def __init__(self, namer: Namer | None = None) -> None:
        self._namer = namer or Namer()
        self._encode = msgspec.msgpack.Encoder(enc_hook=self._other).encode

    def write(self, message: Any) -> bytes:
        """The payload of a message, or of a text about it where it cannot be written."""
        try:
            if isinstance(message, Answer):
                return self._answer(message)
            if isinstance(message, msgspec.Struct):
                return self._encode(message)
            problem = "it is no struct"
        except RecursionError:
            problem = "it is nested too deeply"
        except (EncodeError, TypeError, ValueError, OverflowError) as error:
            problem = str(error)
        return self._encode(Opaque(f"{type(message).__name__}: {problem}"))

    def _answer(self, answer: Answer) -> bytes:
        if answer.error is not None:
            return self._encode(AnswerForm("error", error=answer.error))
        value = answer.value
        name = _answer_type(value)
        try:
            return self._encode(AnswerForm(name, msgspec.Raw(self._encode(value))))
        except (RecursionError, TypeError, ValueError, OverflowError):
            name = "opaque"
        return self._encode(AnswerForm(name, msgspec.Raw(self._encode(type(value).__name__))))

    def _other(self, value: Any) -> Any:
        if isinstance(value, Updates):
            return updates_form(value)
        if isinstance(value, Column):
            return columns_form((value,))
        if isinstance(value, pykka.ActorRef):
            return self._namer.actor(cast("pykka.ActorRef[Any]", value))
        if isinstance(value, OneShot | Stream):
            return self._namer.request(cast("OneShot[Any]", value))
        if isinstance(value, RowBlock):
            return blocks.row_block_to_ipc(value)
        if isinstance(value, UpdateBlock):
            return blocks.update_block_to_ipc(value)
        if isinstance(value, BaseException):
            return f"{type(value).__name__}: {value}"
        return self._namer.number(value)


def _answer_type(value: Any) -> str:
    if isinstance(value, GlobalId):
        return "GlobalId"
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        if all(isinstance(item, GlobalId) for item in items):
            return "ids"
        if all(isinstance(item, CollectionInfo) for item in items):
            return "collections"
    if value is None or isinstance(value, bool | int | float | str | bytes | dict):
        return "plain"
    name = type(cast(object, value)).__name__
    return name if name in ANSWERS else "opaque"


class PayloadReader:
    """Makes messages of payloads. ``references``: what stands for what they refer to."""

    def __init__(self, references: References | None = None) -> None:
        self._references = references or References()
        self._decoders: dict[Any, Callable[[bytes], Any]] = {}

    def read(self, kind: str, payload: bytes) -> Any:
        """The message in a payload.

        Raises:
            NotReadable: this program has no such kind, or the message was recorded by name only.
            DecodeError: the payload holds no message of this kind.
        """
        if kind == ANSWER:
            return self._answer(payload)
        found = kinds().get(kind)
        if found is None:
            raise NotReadable("this program has no message of this name, so another version wrote it")
        if not issubclass(found, msgspec.Struct):
            raise NotReadable("it was recorded by name only")
        try:
            return self._decode(found, payload, kind)
        except DecodeError:
            _refuse_opaque(payload)
            raise

    def _answer(self, payload: bytes) -> Answer:
        form = self._decode(AnswerForm, payload, ANSWER)
        if form.error is not None:
            return Answer(error=form.error)
        type = ANSWERS.get(form.type)
        if type is None:
            raise NotReadable(f"it was recorded by name only ({form.type})")
        return Answer(self._decode(type, bytes(form.value), ANSWER))

    def _decode(self, type: Any, payload: bytes, kind: str) -> Any:
        decode = self._decoders.get(type)
        if decode is None:
            decode = self._decoders[type] = msgspec.msgpack.Decoder(type, dec_hook=self._other).decode
        try:
            return decode(payload)
        except RecursionError:
            raise DecodeError(f"a {kind}", "$", None, "it is nested too deeply") from None
        except (msgspec.DecodeError, ValueError, OverflowError, TypeError) as error:
            raise DecodeError(f"a {kind}", "$", None, str(error)) from None

    def _other(self, type: Any, value: Any) -> Any:
        wanted: Any = get_origin(type) or type
        if wanted is Updates:
            return updates_in(msgspec.convert(value, UpdatesForm))
        if wanted is Column:
            return columns_in(msgspec.convert(value, ColumnsForm))[0]
        if wanted is RowBlock:
            return blocks.row_block_from_ipc(msgspec.convert(value, bytes))
        if wanted is UpdateBlock:
            return blocks.update_block_from_ipc(msgspec.convert(value, bytes))
        if issubclass(wanted, pykka.ActorRef):
            return self._references.actor(msgspec.convert(value, str))
        number = msgspec.convert(value, int)
        if issubclass(wanted, OneShot):
            return self._references.reply(number)
        if issubclass(wanted, Stream):
            return self._references.stream(number)
        return self._references.object(number, wanted)


def _refuse_opaque(payload: bytes) -> None:
    try:
        opaque = msgspec.msgpack.decode(payload, type=Opaque)
    except (msgspec.DecodeError, RecursionError):
        return
    raise NotReadable(f"it was recorded by name only ({opaque.opaque})")
