"""How a query would be answered now."""

from __future__ import annotations

from ...messages.commands import IndexTarget
from ...messages.ids import GlobalId
from ..requests import Explain, Explained
from .catalog import Catalog
from .expansion import expand
from .fast_path import peek_plan
from .planning import query_dataflow

_OBJECT = GlobalId("t", 1)
_INDEX = GlobalId("t", 2)
"""Stand for the ids that the query would get."""


def explain(catalog: Catalog, request: Explain) -> Explained:
    """What a query of this relation would do, with the indexes there are.

    Raises:
        PillionError: the query would be refused.
    """
    catalog.uses(request.relation)
    relation = expand(request.relation, catalog).relation
    plan = peek_plan(request.relation, catalog)
    if plan is not None:
        index = plan.target.id if isinstance(plan.target, IndexTarget) else None
        shard = plan.target.id if index is None else None
        return Explained(relation, None, index, shard, plan.keys, plan.mfp)
    dataflow = query_dataflow(catalog, request.relation, request.schema, object_id=_OBJECT, index=_INDEX)
    return Explained(relation, dataflow)
