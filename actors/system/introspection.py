"""What a system says about itself, as relations: ``system.introspection.frontiers``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..relations.errors import suggestion
from .view import IntrospectionRelation


class Introspection:
    """The introspection relations by name, as attributes; ``dir()`` and iteration list them."""

    __slots__ = ("_load", "_relations")

    def __init__(self, load: Callable[[], Mapping[str, IntrospectionRelation]]) -> None:
        self._load = load
        self._relations: Mapping[str, IntrospectionRelation] | None = None

    def _all(self) -> Mapping[str, IntrospectionRelation]:
        if self._relations is None:
            self._relations = self._load()
        return self._relations

    def __getattr__(self, name: str) -> IntrospectionRelation:
        if name.startswith("_"):
            raise AttributeError(name)
        found = self._all().get(name)
        if found is None:
            raise AttributeError(f"there is no introspection relation {name!r}{suggestion(name, self._all())}")
        return found

    def __getitem__(self, name: str) -> IntrospectionRelation:
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __dir__(self) -> list[str]:
        return [*self._all()]

    def __repr__(self) -> str:
        return f"Introspection({', '.join(self._relations or ('…',))})"
