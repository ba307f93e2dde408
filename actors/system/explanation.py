"""What ``explain`` prints: the relation, and how a query of it would be answered now."""

from __future__ import annotations

from collections.abc import Iterable

from ...dataflow.plans.explain import explain_dataflow, explain_mfp, explain_relation
from ...dataflow.plans.print_scalar import print_literal, print_scalars
from ...messages.ids import GlobalId
from ..requests import CollectionInfo, Explained

_INDENT = "  "


def show_explained(explained: Explained, collections: Iterable[CollectionInfo]) -> str:
    """The explanation as text, with the names of the collections and columns that it mentions."""
    infos = {info.id: info for info in collections}
    labels = {id: info.name for id, info in infos.items()}
    schemas = {id: info.schema for id, info in infos.items()}
    lines = ["Relation", *_indented(explain_relation(explained.relation, schemas, labels))]
    if explained.peek_index is not None:
        lines += [_lookup(explained, infos, explained.peek_index)]
    elif explained.peek_shard is not None:
        lines += [_scan(explained, infos[explained.peek_shard])]
    elif explained.dataflow is not None:
        lines += ["Dataflow", *_indented(explain_dataflow(explained.dataflow, labels))]
    return "\n".join(lines)


def _lookup(explained: Explained, infos: dict[GlobalId, CollectionInfo], id: GlobalId) -> str:
    """``Index orders_by_id (u3), key (#0{id}) = (7)``, and what is done with its rows."""
    index = infos[id]
    names = infos[index.on].schema.names if index.on is not None and index.on in infos else ()
    text = f"Index {index.name} ({id}), key ({print_scalars(index.key, names)})"
    if explained.keys is not None:
        keys = [f"({', '.join(map(print_literal, key))})" for key in explained.keys]
        text += f" = {' or '.join(keys)}"
    if explained.map_filter_project is not None:
        text += explain_mfp(explained.map_filter_project, names)
    return text


def _scan(explained: Explained, stored: CollectionInfo) -> str:
    """``Stored orders (u1)``, and what is done with its rows."""
    text = f"Stored {stored.name} ({stored.id})"
    if explained.map_filter_project is not None:
        text += explain_mfp(explained.map_filter_project, stored.schema.names)
    return text


def _indented(text: str) -> list[str]:
    return [_INDENT + line for line in text.splitlines()]
