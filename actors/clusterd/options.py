"""What a process was started with."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..transport.address import Address, TcpAddress
from ..transport.connection import Limits
from ..transport.secret import Secret
from .config import TimelyConfig


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that decides what a process does.

    Attributes:
        listen: where controllers connect.
        secret: what they must know.
        maintenance: the layout of the first runtime.
        interactive: of the second, if there is one; as ``prepare_interactive_compute_config`` makes it.
        trust: load Python functions in plans, which runs code of whoever knows the secret.
        stop_at_end_of_input: end when the standard input does: when whoever started the process has ended.
        limits: of a connection.
        metrics: where metrics are served over HTTP, if they are.
    """

    listen: Address
    secret: Secret
    maintenance: TimelyConfig
    interactive: TimelyConfig | None = None
    trust: bool = False
    stop_at_end_of_input: bool = False
    limits: Limits = field(default_factory=Limits)
    metrics: TcpAddress | None = None
