"""What a replica is provisioned with: what is read when it is started, and never again."""

from __future__ import annotations

from collections.abc import Iterable

from ...messages.commands import Setting
from ..errors import WrongArgument
from ..settings import ENABLE_COMPUTE_INTERACTIVE_RUNTIME, Settings

Updates = tuple[tuple[str, Setting | None], ...]


def provisioned(interactive: bool | None, updates: Updates) -> tuple[bool, Updates]:
    """Whether the replica of a new system gets an interactive runtime, and the settings that say the same.

    Args:
        interactive: what the application says; None: the settings decide.
        updates: the settings that the application stores from the start.

    Raises:
        WrongArgument: they contradict each other.
    """
    flag = ENABLE_COMPUTE_INTERACTIVE_RUNTIME
    stored = Settings()
    stored.update(_values(updates))
    if interactive is None:
        return stored.get(flag), updates
    if any(name == flag.name for name, _ in updates) and stored.get(flag) != interactive:
        raise WrongArgument(f"interactive={interactive} and the setting {flag.name} contradict each other; give one")
    return interactive, (*updates, (flag.name, interactive))


def _values(updates: Updates) -> Iterable[tuple[str, Setting]]:
    return ((name, value) for name, value in updates if value is not None)
