"""Directives about the connection, the instance and its settings."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...messages.commands import (
    CreateInstance,
    InitializationComplete,
    InstanceConfig,
    LoggingIndex,
    Setting,
    UpdateConfiguration,
)
from ..introspection.relations import RELATIONS
from .arguments import Signature, read_boolean, read_id, read_list, read_number, read_seconds, split_words, unquote
from .catalog import Index
from .directive import OK, Arguments, Body, BodyKind, Directive, Output
from .errors import DirectiveError
from .session import Session


def _json(text: str) -> str:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"no JSON: {error}") from None
    return text


_SETTING_TYPES: dict[str, Callable[[str], Setting]] = {
    "bool": read_boolean,
    "string": str,
    "u32": read_number,
    "usize": read_number,
    "f64": float,
    "duration": read_seconds,
    "json": _json,
}


def _read_settings(body: Body) -> tuple[tuple[str, Setting], ...]:
    """``name type value`` per line."""
    settings: list[tuple[str, Setting]] = []
    for line in body.content:
        words = split_words(line)
        if len(words) < 3:
            raise DirectiveError(f"setting {line.strip()}: expected name, type and value")
        name, type, text = words[0], words[1], unquote(line.strip().split(None, 2)[2])
        reader = _SETTING_TYPES.get(type)
        if reader is None:
            raise DirectiveError(f"setting {name}: there is no type {type!r}; there are {', '.join(_SETTING_TYPES)}")
        try:
            settings.append((name, reader(text)))
        except ValueError as error:
            raise DirectiveError(f"setting {name}: {text} is no {type}: {error}") from None
    return tuple(settings)


def _create_instance(session: Session, arguments: Arguments, body: Body) -> Output:
    settings = _read_settings(body)
    logging: list[LoggingIndex] = []
    for text in arguments.get("introspection", ()):
        name, colon, id = text.partition(":")
        if not colon or name not in RELATIONS:
            raise DirectiveError(f"{text}: expected one of {', '.join(RELATIONS)}, then a colon and an id")
        logging.append(LoggingIndex(name, read_id(id)))
    config = InstanceConfig(
        logging=tuple(logging),
        expiration_offset=arguments.get("expiration-offset"),
        arrangement_dictionary_compression=arguments.get("arrangement-dictionary-compression", False),
    )
    session.client.send(CreateInstance(config))
    for each in logging:
        relation = RELATIONS[each.relation]
        session.catalog.indexes[each.index] = Index(relation.source, relation.key_expressions, relation.schema)
    if settings:
        session.client.send(UpdateConfiguration(settings))
    return OK


def _update_configuration(session: Session, arguments: Arguments, body: Body) -> Output:
    session.client.send(UpdateConfiguration(_read_settings(body)))
    return OK


def _initialization_complete(session: Session, arguments: Arguments, body: Body) -> Output:
    session.client.is_initialized = True
    session.client.send(InitializationComplete())
    return OK


def _reconnect(session: Session, arguments: Arguments, body: Body) -> Output:
    session.client.connect()
    return OK


def _milliseconds(text: str) -> int:
    return round(1000 * read_seconds(text))


CONNECTION_DIRECTIVES: dict[str, Directive] = {
    "create-instance": Directive(
        _create_instance,
        Signature(
            optional={
                "expiration-offset": _milliseconds,
                "arrangement-dictionary-compression": read_boolean,
                "introspection": read_list,
            }
        ),
        BodyKind.LOOSE,
    ),
    "update-configuration": Directive(_update_configuration, body=BodyKind.LOOSE),
    "initialization-complete": Directive(_initialization_complete),
    "reconnect": Directive(_reconnect),
}
