"""A protocol script's run as a recording in memory: everything that passes between the script, the storage and the
replica."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast, get_args

import pykka

from pillion.actors.controller.messages import Connect, FromReplica
from pillion.actors.multiplexer.replica import Replica
from pillion.actors.replay.events import Event, Heard, Sent, Stored
from pillion.actors.scripts.language import read_steps
from pillion.actors.scripts.parse import parse_script
from pillion.actors.scripts.runner import run_step
from pillion.actors.scripts.session import Session
from pillion.actors.storage.messages import AppendRows, CreateShard
from pillion.actors.transport.line import Line
from pillion.messages.commands import Command

from .build import REPLICA, Tape

_COMMANDS = get_args(Command)


class _Tapped(pykka.ActorRef[Any]):
    """A reference that notes what it is told."""

    def __init__(self, ref: pykka.ActorRef[Any], note: Callable[[Any], object]) -> None:
        self._ref = ref
        self._note = note
        self.actor_class = ref.actor_class
        self.actor_urn = ref.actor_urn

    def tell(self, message: Any) -> None:
        if isinstance(message, Connect):
            message = Connect(message.replica, _Tapped(message.controller, self._note))
        self._note(message)
        self._ref.tell(message)


class TapedSession(Session):
    """A session that remembers."""

    def _start(self, workers: int, line: Line | None, interactive: bool) -> tuple[Replica | None, pykka.ActorRef[Any]]:
        self.events: list[Event] = []
        self._noting = threading.Lock()
        replica, endpoint = super()._start(workers, line, interactive)
        self.storage = _Tapped(self.storage, self._note)
        return replica, _Tapped(endpoint, self._note)

    def _note(self, message: Any) -> None:
        with self._noting:
            at = len(self.events) + 1
            if isinstance(message, _COMMANDS):
                self.events.append(Sent(at, at / 1000, REPLICA, cast(Command, message)))
            elif isinstance(message, FromReplica):
                self.events.append(Heard(at, at / 1000, REPLICA, message.nonce, message.responses))
            elif isinstance(message, CreateShard | AppendRows):
                self.events.append(Stored(at, at / 1000, message))


def taped(path: Path, workers: int, *, interactive: bool) -> Tape:
    """What a script makes of a fresh replica."""
    steps = read_steps(parse_script(path.read_text(encoding="utf-8")))
    with TapedSession(workers, 20.0, interactive=interactive) as session:
        for step in steps:
            run_step(session, step)
        return Tape(list(session.events))
