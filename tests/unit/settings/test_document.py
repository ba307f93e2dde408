"""``docs/settings.md`` lists every setting as it is."""

from __future__ import annotations

from pathlib import Path

from pillion.actors.settings import CONFIGS, Config

DOCUMENT = Path(__file__).parents[3] / "docs" / "settings.md"


def row(config: Config[object]) -> str:
    """The line of the table that describes a setting."""
    default = ("off", "on")[config.default] if isinstance(config.default, bool) else str(config.default)
    when = "" if config.live else "when a replica is provisioned: "
    return f"| `{config.name}` | {default} | {config.scope} | {when}{config.description} |"


def test_the_table_has_every_setting_and_no_other() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    shown = [line for line in text.splitlines() if line.startswith("| `")]
    assert shown == [row(config) for config in CONFIGS]
