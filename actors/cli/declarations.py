"""What ``pillion explain`` is told: an expression, the columns of the collections it reads, and indexes on them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...dataflow.plans.parse_relation import parse_relation
from ...dataflow.plans.trees import postorder
from ...dataflow.plans.typing import relation_types
from ...messages.dataflows import BuildDesc, IndexImport, RelationDataflow, SourceImport
from ...messages.ids import GlobalId
from ...messages.relations import Get
from ...messages.scalars import ColumnRef
from ...messages.types import Field, Schema, SqlType
from .exits import UnusableInput

_SCHEMA = re.compile(r"\s*(?P<id>\w+)\s*:\s*(?P<columns>.+)", re.DOTALL)
_COLUMN = re.compile(r"(?P<name>\w+)\s+(?P<type>\w+)\s*(?P<nullable>\?)?")
_INDEX = re.compile(r"\s*(?P<id>\w+)\s+on\s+(?P<on>\w+)\s*\((?P<key>[^()]*)\)\s*")


_RESULT = GlobalId("t", 1)
"""What the expression is called in the dataflow that is explained."""


def parse_dataflow(expression: str, schemas: Sequence[str], indexes: Sequence[str]) -> RelationDataflow:
    """The dataflow that computes an expression over declared collections and indexes.

    Raises:
        UnusableInput: a declaration is not of its form, or names what is not there.
        PillionError: the expression does not parse, or has no types; says where.
    """
    sources = [parse_schema(text) for text in schemas]
    imports = [parse_index(text, sources) for text in indexes]
    env = {source.id: source.schema.types for source in sources}
    for node in postorder(parse_relation(expression)):
        if isinstance(node, Get) and node.id not in env:
            raise _not_declared(f"the expression reads {node.id}", node.id)
    relation = parse_relation(expression, env=env)
    types = relation_types(relation, env)
    schema = Schema(tuple(Field(f"column{n}", type.type, type.nullable) for n, type in enumerate(types)))
    return RelationDataflow(
        debug_name="explain",
        source_imports=tuple(sources),
        index_imports=tuple(imports),
        objects_to_build=(BuildDesc(_RESULT, relation, schema),),
        index_exports=(),
        sink_exports=(),
        as_of=0,
    )


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
        raise _not_declared(f"--index {text!r} is on {on}", on)
    key: list[ColumnRef] = []
    for name in filter(None, (part.strip() for part in match["key"].split(","))):
        if name not in source.schema.names:
            raise UnusableInput(f"{on} has no column {name!r}; it has {', '.join(source.schema.names)}")
        key.append(ColumnRef(source.schema.names.index(name)))
    return IndexImport(_parse_id(match["id"]), on, tuple(key), source.schema)


def _not_declared(what: str, id: GlobalId) -> UnusableInput:
    return UnusableInput(f"{what}, whose columns are not known: declare them with --schema '{id}: id bigint, …'")


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
