"""Views: relations with a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages.ids import GlobalId
from ...messages.relations import Get
from ...messages.types import Schema
from ..relations.relation import Relation

if TYPE_CHECKING:
    from .system import ActorSystem


class View(Relation):
    """A named relation of one system. Nothing is computed for it until it is indexed or read."""

    __slots__ = ("id", "name")

    def __init__(
        self,
        system: ActorSystem,
        id: GlobalId,
        name: str,
        schema: Schema,
        unique: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(Get(id), schema, system, unique=unique)
        self.id = id
        self.name = name

    def __repr__(self) -> str:
        fields = ", ".join(f"{f.name}: {f.column_type}" for f in self.schema.fields)
        return f"{type(self).__name__}({self.name!r}, {fields})"


class MaterializedView(View):
    """A view whose rows the system keeps in its storage."""

    __slots__ = ()


class IntrospectionRelation(View):
    """What the system says about itself, as a relation; read it like any other."""

    __slots__ = ()
