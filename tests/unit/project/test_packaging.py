"""What is installed is what lies in the folders."""

from __future__ import annotations

import configparser
import importlib.metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = ("actors", "dataflow", "messages")


@pytest.fixture(scope="module")
def setup_cfg() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def packages_on_disk() -> set[str]:
    """Every folder below the three packages that holds Python files, under its installed name."""
    return {
        "pillion." + ".".join(folder.relative_to(ROOT).parts)
        for package in PACKAGES
        for folder in [ROOT / package, *(ROOT / package).rglob("*")]
        if folder.is_dir() and any(folder.glob("*.py"))
    }


def test_every_package_is_listed(setup_cfg: configparser.ConfigParser) -> None:
    listed = setup_cfg["options"]["packages"].split()
    assert set(listed) == packages_on_disk()
    assert listed == sorted(set(listed))


def test_every_package_has_an_init() -> None:
    folders = [ROOT / Path(*name.split(".")[1:]) for name in packages_on_disk()]
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_types_are_marked_for_type_checkers() -> None:
    assert all((ROOT / package / "py.typed").exists() for package in PACKAGES)


def test_pyproject_holds_the_build_system_alone() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("[")] == ["[build-system]"]


def test_changelog_names_the_version(setup_cfg: configparser.ConfigParser) -> None:
    version = setup_cfg["metadata"]["version"]
    assert importlib.metadata.version("pillion") == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
