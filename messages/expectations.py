"""What stands at a path of a message that cannot be decoded, and what should: for errors that can be acted on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_ERROR = re.compile(r"(?P<problem>.*?)(?: - at `(?P<path>.*)`)?", re.DOTALL)
_SHOWN = 80
"""How many characters of a wrong value an error shows."""


def explain(error: msgspec.ValidationError, raw: Any, expected: Any) -> tuple[str, str, str]:
    """Path, given value and problem of an error in a message ``raw`` (decoded without a type) of type ``expected``."""
    match = _ERROR.fullmatch(str(error))
    assert match is not None, error
    path, problem = match["path"] or "$", match["problem"]
    steps = list(_steps(path))
    given = _show(_follow(raw, steps))
    if problem.startswith(("Invalid value", "Invalid enum value")):
        choices = _choices(inspect.type_info(expected), raw, steps)
        if choices:
            problem = f"Expected one of {', '.join(choices)}"
    return path, given, problem


def _steps(path: str) -> Iterator[str | int]:
    for match in _STEP.finditer(path):
        yield match[1] if match[2] is None else int(match[2])


def _follow(raw: Any, steps: list[str | int]) -> Any:
    """The value at a path, or the last one on the way to it."""
    for step in steps:
        try:
            raw = raw[step]
        except (LookupError, TypeError):
            break
    return raw


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _choices(info: inspect.Type, raw: Any, steps: list[str | int]) -> list[str]:
    """The tags or enum values that are allowed at a path."""
    for position, step in enumerate(steps):
        structs = [member for member in _members(info) if isinstance(member, inspect.StructType)]
        if position == len(steps) - 1 and any(step == struct.tag_field for struct in structs):
            return [str(struct.tag) for struct in structs]
        below = _below(info, structs, raw, step)
        if below is None:
            return []
        info = below
        raw = _follow(raw, [step])
    for member in _members(info):
        if isinstance(member, inspect.EnumType):
            return [str(choice.value) for choice in member.cls]
        if isinstance(member, inspect.LiteralType):
            return [str(value) for value in member.values]
    return []


def _members(info: inspect.Type) -> tuple[inspect.Type, ...]:
    return info.types if isinstance(info, inspect.UnionType) else (info,)


def _below(info: inspect.Type, structs: list[inspect.StructType], raw: Any, step: str | int) -> inspect.Type | None:
    if isinstance(step, str):
        for struct in structs:
            if struct.tag is None or struct.tag == _follow(raw, [str(struct.tag_field)]):
                return next((field.type for field in struct.fields if field.encode_name == step), None)
        return None
    for member in _members(info):
        match member:
            case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
                return item
            case inspect.TupleType(item_types=items) if step < len(items):
                return items[step]
            case inspect.NamedTupleType(fields=fields) | inspect.StructType(fields=fields, array_like=True):
                return fields[step].type if step < len(fields) else None
            case _:
                continue
    return None
