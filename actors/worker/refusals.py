"""How a replica tells that it refused a command. The command has changed nothing."""

from __future__ import annotations

from ...messages.errors import ProtocolError
from ...messages.responses import Status

REFUSED = "refused"
"""The kind of the status."""


def refusal(command: str, message: str) -> Status:
    """The status that tells of a refused command: its name, and a sentence with the id and the rule it broke."""
    return Status(REFUSED, {"command": command, "message": message})


def refusal_of(command: str, error: ProtocolError) -> Status:
    """The status that tells of this error, with the id as text."""
    details = {"command": command, "message": str(error), "rule": error.rule}
    if error.id is not None:
        details["id"] = str(error.id)
    return Status(REFUSED, details)
