"""Where the replica of a system is: in this process, in one of its own, or at an address."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import WrongArgument

if TYPE_CHECKING:
    from ..transport.line import Line

OWN_PROCESS = "process"
"""What stands for a process that the system starts, and starts again when it ends."""


def line_to(
    replica: object, workers: int, *, interactive: bool, secret_file: str | os.PathLike[str] | None
) -> Line | None:
    """The line to the replica that an application asks for; None: it is in this process.

    Raises:
        WrongArgument: there is no such replica, or an argument that does not go together with it.
        SecretError: there is no secret, or one that cannot be used.
    """
    if secret_file is not None and replica in (None, OWN_PROCESS):
        raise WrongArgument("secret_file is for a replica at an address; others need none")
    if replica is None:
        return None
    # Here, because a system in one process does without all of it.
    from ..clusterd.child import ReplicaProcess
    from ..transport.address import parse_address
    from ..transport.errors import AddressError
    from ..transport.line import Line, ListeningReplica
    from ..transport.secret import read_secret

    if replica == OWN_PROCESS:
        return Line(ReplicaProcess(workers, interactive=interactive))
    try:
        address = parse_address(replica if isinstance(replica, str) else "")
    except AddressError:
        raise WrongArgument(
            f"replica is {OWN_PROCESS!r}, tcp://HOST:PORT or unix:///PATH, and {replica!r} was given"
        ) from None
    if workers != 1 or interactive:
        raise WrongArgument(
            f"the replica at {address} has the workers that it was started with; leave out workers and interactive"
        )
    return Line(ListeningReplica(address, read_secret(None if secret_file is None else Path(secret_file))))
