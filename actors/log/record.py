"""A row of a log, read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ...messages.errors import DecodeError
from ...messages.log import Row
from ...messages.scalars import UserFunction
from .errors import LogDamaged, UnknownMessageKind
from .payloads import NotReadable, PayloadReader


class Record(Row, frozen=True, kw_only=True):
    """A row and where it came from. ``path``: its file."""

    path: Path
    reader: PayloadReader

    def message(self, reader: PayloadReader | None = None) -> Any:
        """The message: what was sent, with stand-ins for actors and futures (see ``references.py``); of a row of kind
        ``Answer``, an :class:`~.payloads.Answer`. Made anew at each call. It runs no code of the log.

        Args:
            reader: decides what stands for what the message refers to.

        Raises:
            UnknownMessageKind: this program has no such kind, or the message was recorded by name only.
            LogDamaged: the payload holds something else.
        """
        try:
            return (reader or self.reader).read(self.kind, self.payload)
        except NotReadable as error:
            raise UnknownMessageKind(self.path, self.sequence, self.kind, str(error)) from None
        except DecodeError as error:
            raise LogDamaged(self.path, f"row {self.sequence}: {error}", self.sequence) from None

    @property
    def collections(self) -> tuple[str, ...]:
        """The ids of collections and the uuids of peeks that it is about."""
        return msgspec.json.decode(self.ids, type=tuple[str, ...])

    @property
    def details(self) -> dict[str, Any]:
        """``detail``, decoded."""
        return msgspec.json.decode(self.detail, type=dict[str, Any])

    def functions(self) -> tuple[str, ...]:
        """The names of the Python functions in the message, which whoever renders it would run.

        Raises:
            UnknownMessageKind, LogDamaged: as :meth:`message`.
        """
        if b"pickled" not in self.payload:
            return ()
        return tuple(dict.fromkeys(_functions(self.message())))


def _functions(value: Any) -> list[str]:
    if isinstance(value, UserFunction):
        return [value.name]
    if isinstance(value, msgspec.Struct):
        value = [getattr(value, name) for name in value.__struct_fields__]
    elif isinstance(value, dict):
        value = list(value.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return [name for each in value for name in _functions(each)]  # pyright: ignore[reportUnknownVariableType]
    return []
