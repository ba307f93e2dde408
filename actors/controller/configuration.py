"""The settings of a system, and what each replica is sent of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from structlog.stdlib import BoundLogger

from ...messages.commands import Setting, UpdateConfiguration
from ..errors import NotForOneReplica, UnknownReplica
from ..requests import Configure, ReadSettings
from ..settings import BY_NAME, CONFIGS, ENABLE_COMPUTE_INTERACTIVE_RUNTIME, Config, Overrides, Scope
from .replica import ReplicaState
from .state import ControllerState

Update = tuple[str, Setting]


class Configuration:
    """What was stored: the environment's values, and the overrides of each replica.

    A replica is sent the values that hold for it, so it need not know which of them are overrides.
    """

    def __init__(self, state: ControllerState, log: BoundLogger) -> None:
        self._state = state
        self._log = log
        self._environment = state.settings

    def provisioned(self, replica: ReplicaState, stored: Mapping[str, Setting], interactive: bool | None) -> None:
        """A replica was provisioned, with these overrides; ``interactive``: as in :meth:`runs`."""
        replica.overrides = Overrides(stored, self._override_ignored(replica.name))
        replica.provisioned_with = {config.name: self._value(config, replica) for config in CONFIGS if not config.live}
        self.runs(replica, interactive)

    def runs(self, replica: ReplicaState, interactive: bool | None) -> None:
        """A replica runs a second runtime, or it does not; None: nobody said, and what held before holds on."""
        if interactive is not None:
            replica.provisioned_with[ENABLE_COMPUTE_INTERACTIVE_RUNTIME.name] = interactive

    def connected(self, replica: ReplicaState) -> None:
        """A replica was sent the environment's values: send what differs."""
        updates = [(name, self._value(BY_NAME[name], replica)) for name in replica.overrides if name in BY_NAME]
        if updates:
            replica.send(UpdateConfiguration(tuple(updates)))

    def configure(self, request: Configure) -> None:
        """Store values, and send them to the replicas for which they hold.

        Raises:
            UnknownReplica: there is no replica of this name.
            NotForOneReplica: a setting has one value for the whole system.
        """
        names = tuple(dict.fromkeys(name for name, _ in request.updates))
        if request.replica is None:
            updates = list(_stored(request.updates))
            self._environment.update(updates)
            self._state.history.append(UpdateConfiguration(tuple(updates)))
            for replica in self._state.replicas.values():
                replica.send(UpdateConfiguration(tuple(self._for_replica(replica, updates))))
                self._say_what_comes_later(replica, names)
            return
        replica = self._replica(request.replica)
        for name in names:
            if name in BY_NAME and BY_NAME[name].scope is not Scope.REPLICA:
                raise NotForOneReplica(name)
        for name, value in request.updates:
            if value is None:
                replica.overrides.remove(name)
            else:
                replica.overrides.store(name, value)
        updates = [(name, self._value(BY_NAME[name], replica)) for name in names if name in BY_NAME]
        replica.send(UpdateConfiguration(tuple(updates)))
        self._say_what_comes_later(replica, names)

    def read(self, request: ReadSettings) -> dict[str, Setting]:
        """Every setting's value: of the environment, or of one replica.

        Raises:
            UnknownReplica: there is no replica of this name.
        """
        if request.replica is None:
            return {config.name: self._environment.get(config) for config in CONFIGS}
        replica = self._replica(request.replica)
        return {config.name: self._value(config, replica) for config in CONFIGS}

    def _value(self, config: Config[Any], replica: ReplicaState) -> Any:
        return config.get_with_overrides(self._environment, replica.overrides)

    def _for_replica(self, replica: ReplicaState, updates: Iterable[Update]) -> Iterable[Update]:
        for name, value in updates:
            overridden = name in replica.overrides and name in BY_NAME
            yield (name, self._value(BY_NAME[name], replica)) if overridden else (name, value)

    def _replica(self, name: str) -> ReplicaState:
        replica = self._state.replicas.get(name)
        if replica is None:
            raise UnknownReplica(name, tuple(self._state.replicas))
        return replica

    def _say_what_comes_later(self, replica: ReplicaState, names: Iterable[str]) -> None:
        for name in names:
            runs_with = replica.provisioned_with.get(name)
            if runs_with is not None and self._value(BY_NAME[name], replica) != runs_with:
                self._log.warning(
                    "a setting takes effect when the replica is provisioned the next time",
                    replica=replica.name,
                    setting=name,
                    stored=self._value(BY_NAME[name], replica),
                    runs_with=runs_with,
                )

    def _override_ignored(self, replica: str) -> Callable[[str], object]:
        return lambda problem: self._log.warning("ignored an override", replica=replica, problem=problem)


def _stored(updates: Iterable[tuple[str, Setting | None]]) -> Iterator[Update]:
    """None takes back what was stored, so that the default counts."""
    for name, value in updates:
        if value is not None:
            yield name, value
        elif name in BY_NAME:
            yield name, BY_NAME[name].default
