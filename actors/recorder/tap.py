"""References through which what is told is noted: at a controller's side of its storage and its replicas."""

from __future__ import annotations

from typing import Any, get_args

import pykka

from ...messages.commands import Command
from ..controller.messages import Connect, FromReplica
from ..storage.messages import AppendRows, CommitTables, CompactShard, CreateShard, CreateTableShard, DropShard
from .recording import Recording

CONTROLLER, STORAGE, REPLICA = "controller-0", "storage-0", "multiplexer-0"
"""How these actors are named in a log of a system with one replica."""

STORED = (CreateTableShard, CreateShard, DropShard, CompactShard, CommitTables, AppendRows)
"""What the storage is told that decides its contents."""

_NOTED = frozenset((*get_args(Command), *STORED, FromReplica))


class Tap(pykka.ActorRef[Any]):
    """Stands before another reference; notes commands, responses and what is written."""

    def __init__(self, ref: pykka.ActorRef[Any], sender: str, receiver: str, recording: Recording) -> None:
        self._ref = ref
        self._sender = sender
        self._receiver = receiver
        self._recording = recording
        self.actor_class = ref.actor_class
        self.actor_urn = ref.actor_urn
        self.actor_inbox = ref.actor_inbox
        self.actor_stopped = ref.actor_stopped

    def tell(self, message: Any) -> None:
        recording = self._recording
        if isinstance(message, Connect):
            # Whoever answers a controller answers through the tap.
            back = Tap(message.controller, self._receiver, self._sender, recording)
            message = Connect(message.replica, back)
        elif message.__class__ in _NOTED:
            if isinstance(message, CommitTables | AppendRows):
                message.reply.when_set(lambda reply: recording.answered(self._receiver, reply))
            recording.note(self._sender, self._receiver, message)
        self._ref.tell(message)
