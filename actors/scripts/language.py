"""The directives of the language, and a script's stanzas read as directives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..relations.errors import suggestion
from .connection_directives import CONNECTION_DIRECTIVES
from .dataflow_directives import DATAFLOW_DIRECTIVES
from .directive import Body, BodyKind, Directive
from .errors import ScriptSyntaxError
from .parse import Script, Stanza
from .read_directives import READ_DIRECTIVES
from .shard_directives import SHARD_DIRECTIVES

DIRECTIVES: Mapping[str, Directive] = {
    **CONNECTION_DIRECTIVES,
    **SHARD_DIRECTIVES,
    **DATAFLOW_DIRECTIVES,
    **READ_DIRECTIVES,
}
"""By name, in the order in which they are documented."""


@dataclass(frozen=True, slots=True)
class Step:
    """A stanza that was read: what to run with which arguments."""

    stanza: Stanza
    directive: Directive
    arguments: Mapping[str, Any]
    body: Body


def read_steps(script: Script) -> list[Step]:
    """Every stanza of a script, read.

    Raises:
        ScriptSyntaxError: a directive is unknown, or its arguments or its body are not as it takes them.
    """
    return [_read_step(stanza) for stanza in script.stanzas]


def _read_step(stanza: Stanza) -> Step:
    directive = DIRECTIVES.get(stanza.directive)
    if directive is None:
        known = suggestion(stanza.directive, DIRECTIVES)
        raise ScriptSyntaxError(f"there is no directive {stanza.directive!r}{known}", stanza.line)
    try:
        arguments = directive.signature.read(stanza.directive, list(stanza.words))
    except ValueError as error:
        raise ScriptSyntaxError(str(error), stanza.line) from None
    for offset, line in enumerate(stanza.body):
        if line and directive.body is BodyKind.NONE:
            raise ScriptSyntaxError(f"{stanza.directive} has no body", stanza.body_line + offset)
        if line and directive.body is BodyKind.INDENTED and not line[0].isspace():
            raise ScriptSyntaxError(f"the body of {stanza.directive} must be indented", stanza.body_line + offset)
    return Step(stanza, directive, arguments, Body(stanza.body))
