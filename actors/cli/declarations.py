"""What ``pillion explain`` is told of the collections that an expression reads: their columns, and indexes on them."""

from __future__ import annotations

import re

from ...messages.dataflows import IndexImport, SourceImport
from ...messages.ids import GlobalId
from ...messages.scalars import ColumnRef
from ...messages.types import Field, Schema, SqlType
from .exits import UnusableInput

_SCHEMA = re.compile(r"\s*(?P<id>\w+)\s*:\s*(?P<columns>.+)", re.DOTALL)
_COLUMN = re.compile(r"(?P<name>\w+)\s+(?P<type>\w+)\s*(?P<nullable>\?)?")
_INDEX = re.compile(r"\s*(?P<id>\w+)\s+on\s+(?P<on>\w+)\s*\((?P<key>[^()]*)\)\s*")


def parse_schema(text: str) -> SourceImport:
    """Read ``u1: id bigint, name text?``; a question mark says that a column may be NULL.

    Raises:
        UnusableInput: it is not of this form; says what is wrong.
    """
    match = _SCHEMA.fullmatch(text)
    if match is None:
        raise UnusableInput(f"--schema {text!r} is not of the form 'u1: id bigint, name text?'")
    fields = [_parse_column(column.strip(), text) for column in match["columns"].split(",")]
    names = [field.name for field in fields]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UnusableInput(f"--schema {text!r} has column {twice!r} twice")
    id = _parse_id(match["id"])
    return SourceImport(id, id, Schema(tuple(fields)))


def parse_index(text: str, sources: list[SourceImport]) -> IndexImport:
    """Read ``u2 on u1 (id)``; ``on`` is a collection among ``sources``.

    Raises:
        UnusableInput: it is not of this form, or names what is not there.
    """
    match = _INDEX.fullmatch(text)
    if match is None:
        raise UnusableInput(f"--index {text!r} is not of the form 'u2 on u1 (id)'")
    on = _parse_id(match["on"])
    source = next((source for source in sources if source.id == on), None)
    if source is None:
        raise UnusableInput(f"--index {text!r} is on {on}, whose columns are not known: add --schema '{on}: …'")
    key: list[ColumnRef] = []
    for name in filter(None, (part.strip() for part in match["key"].split(","))):
        if name not in source.schema.names:
            raise UnusableInput(f"{on} has no column {name!r}; it has {', '.join(source.schema.names)}")
        key.append(ColumnRef(source.schema.names.index(name)))
    return IndexImport(_parse_id(match["id"]), on, tuple(key), source.schema)


def _parse_column(text: str, whole: str) -> Field:
    match = _COLUMN.fullmatch(text)
    if match is None:
        raise UnusableInput(f"--schema {whole!r}: {text!r} is not a column's name and type, such as 'id bigint'")
    try:
        type = SqlType(match["type"].lower())
    except ValueError:
        known = ", ".join(SqlType)
        raise UnusableInput(f"--schema {whole!r}: there is no type {match['type']!r}; there are {known}") from None
    return Field(match["name"], type, nullable=match["nullable"] is not None)


def _parse_id(text: str) -> GlobalId:
    try:
        return GlobalId.parse(text)
    except ValueError as error:
        raise UnusableInput(str(error)) from None
