"""What the rows of a journal hold: how the tables and the catalog came to be what they are.

A record of a write holds the net updates of each table, not what the application asked for: to replay it takes no
evaluation, and none of the application's functions.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...dataflow.arrangements.updates import Updates
from ...messages.encoding import decode, encode
from ...messages.ids import GlobalId
from ...messages.log import Row
from ...messages.structs import Message, Natural
from ..log.columns import UpdatesForm, updates_form, updates_in
from .messages import Defined, Dropped, Entry, TablesWritten


class WrittenForm(Message, frozen=True):
    """:class:`TablesWritten` as it is stored."""

    timestamp: Natural
    changed: tuple[tuple[GlobalId, UpdatesForm], ...]


class RowsForm(Message, frozen=True):
    """:class:`TableRows` as they are stored."""

    table: GlobalId
    rows: UpdatesForm


class Checkpoint(Message, frozen=True):
    """The first record of a checkpoint: what follows is the state after the transaction of ``latest``. ``next_id``: the
    number of the first id that was never given. ``last``: the last record that is in it."""

    latest: Natural
    next_id: Natural
    last: Natural


class TableRows(msgspec.Struct, frozen=True, eq=False):
    """In a checkpoint: some of what a table holds."""

    table: GlobalId
    rows: Updates


Record = Entry | Checkpoint | TableRows
"""What a row may hold; its kind is the name of the class."""

_FORMS: dict[str, Any] = {
    "TablesWritten": WrittenForm,
    "Defined": Defined,
    "Dropped": Dropped,
    "Checkpoint": Checkpoint,
    "TableRows": RowsForm,
}


def row_of(record: Record, sequence: int, time: float) -> Row:
    """The row that holds a record.

    Raises:
        EncodeError: it has something that no message can carry.
    """
    ids: tuple[GlobalId, ...] = ()
    detail: dict[str, Any] = {}
    form: Any = record
    match record:
        case TablesWritten(timestamp, changed):
            ids = tuple(changed)
            detail = {"timestamp": timestamp, "updates": sum([len(updates) for updates in changed.values()])}
            form = WrittenForm(timestamp, tuple([(id, updates_form(updates)) for id, updates in changed.items()]))
        case Defined(info):
            ids = (info.id,)
            detail = {"name": info.name, "kind": info.kind}
        case Dropped(dropped):
            ids = dropped
        case TableRows(table, rows):
            ids = (table,)
            detail = {"updates": len(rows)}
            form = RowsForm(table, updates_form(rows))
        case Checkpoint(latest):
            detail = {"timestamp": latest}
    return Row(
        sequence=sequence,
        time=time,
        sender="controller" if isinstance(record, Defined | Dropped) else "storage",
        receiver="journal",
        kind=type(record).__name__,
        ids=_json([str(id) for id in ids]),
        detail=_json(detail),
        payload=encode(form),
    )


def record_in(row: Row) -> Record:
    """The inverse of :func:`row_of`.

    Raises:
        DecodeError, ValueError: the row holds no such record.
    """
    form = _FORMS.get(row.kind)
    if form is None:
        raise ValueError(f"row {row.sequence} is a {row.kind}, and no journal has such rows")
    record = decode(row.payload, form)
    match record:
        case WrittenForm(timestamp, changed):
            return TablesWritten(timestamp, {id: updates_in(updates) for id, updates in changed})
        case RowsForm(table, rows):
            return TableRows(table, updates_in(rows))
        case _:
            return record


_encode_json = msgspec.json.Encoder().encode


def _json(value: object) -> str:
    return _encode_json(value).decode()
