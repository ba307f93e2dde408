"""The secret that both sides of a connection know.

It comes from a file or from the environment, never from the command line, where every user of a machine sees it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .errors import SecretError

SECRET_VARIABLE = "PILLION_SECRET"
"""The environment variable that holds the secret where no file is named."""

SHORTEST_SECRET = 16
"""Bytes. A shorter one could be guessed from what a listener overhears."""

_LARGEST_FILE = 1 << 16


class Secret:
    """A shared secret. Printing it does not show it."""

    __slots__ = ("value",)

    def __init__(self, value: bytes) -> None:
        """
        Raises:
            SecretError: it is too short.
        """
        if len(value) < SHORTEST_SECRET:
            raise SecretError(
                f"the secret has {len(value)} bytes, and {SHORTEST_SECRET} are the least; "
                "make one with: python -c 'import secrets; print(secrets.token_hex(32))'"
            )
        self.value = value

    def __repr__(self) -> str:
        return "Secret(...)"


def read_secret(file: Path | None, environment: Mapping[str, str] = os.environ) -> Secret:
    """The secret in a file, or else in the environment; white space around it does not count.

    Raises:
        SecretError: it is in neither, the file cannot be read, or the secret is too short.
    """
    if file is not None:
        try:
            with file.open("rb") as opened:
                value = opened.read(_LARGEST_FILE)
        except OSError as error:
            raise SecretError(f"the secret file {file} cannot be read: {error.strerror or error}") from None
        return Secret(value.strip())
    found = environment.get(SECRET_VARIABLE)
    if found is None:
        raise SecretError(f"there is no secret: name a file that holds it, or set {SECRET_VARIABLE}")
    return Secret(os.fsencode(found).strip())
