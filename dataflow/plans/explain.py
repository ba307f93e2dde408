"""Plans as indented text for people: the expression as written, and what workers execute.

Both have the form of :mod:`.print_relation`: inputs below a node, columns as ``#0{name}`` where a name is known, what
is used several times as a ``cte``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...messages.dataflows import (
    CopyTo,
    IndexImport,
    MaterializedView,
    RelationDataflow,
    RenderDataflow,
    SinkExport,
    Subscribe,
)
from ...messages.frontiers import show_frontier
from ...messages.ids import GlobalId
from ...messages.plans import (
    Arrange,
    ConstantNode,
    FlatMapNode,
    GetNode,
    ImportIndex,
    JoinNode,
    MapFilterProject,
    Mfp,
    NegateNode,
    ReduceNode,
    RenderPlan,
    ThresholdNode,
    TopKNode,
    UnionNode,
    node_inputs,
)
from ...messages.relations import Get, Relation
from ...messages.scalars import ColumnRef, Scalar
from .names import RelationNames, Schemas, extend_names, node_names
from .print_relation import (
    INDENT,
    print_aggregate,
    print_constant_rows,
    print_equivalence,
    print_order,
    print_predicates,
    print_relation,
    print_table_function,
    print_types,
)
from .print_scalar import Names, print_column, print_scalars
from .trees import substitute

Labels = Mapping[GlobalId, str]
"""What people call collections."""


def explain(written: RelationDataflow, lowered: RenderDataflow, labels: Labels | None = None) -> str:
    """A dataflow as written, then as executed."""
    above = _indented(explain_dataflow(written, labels))
    below = _indented(explain_dataflow(lowered, labels))
    return "\n".join(["Written", *above, "Executed", *below])


def explain_dataflow(dataflow: RelationDataflow | RenderDataflow, labels: Labels | None = None) -> str:
    """Imports, objects with their plans, and exports of a dataflow of either level."""
    labels = labels or {}
    schemas = _schemas(dataflow)
    lines: list[str] = []
    for source in dataflow.source_imports:
        shard = "" if source.shard == source.id else f" shard={source.shard}"
        lines.append(f"import source={source.id}{shard}{_label(source.id, labels)}")
    for index in dataflow.index_imports:
        key = print_scalars(index.key, index.schema.names)
        lines.append(f"import index={index.id} on={index.on} key=[{key}]{_label(index.on, labels)}")
    for build in dataflow.objects_to_build:
        lines.append(f"build id={build.id}{_label(build.id, labels)}")
        if isinstance(build.plan, RenderPlan):
            text = explain_plan(build.plan, schemas, labels, dataflow.index_imports)
        else:
            text = explain_relation(build.plan, schemas, labels)
        lines.extend(_indented(text))
    for export in dataflow.index_exports:
        names = schemas[export.on].names if export.on in schemas else ()
        key = print_scalars(export.key, names)
        lines.append(f"export index={export.id} on={export.on} key=[{key}]{_label(export.id, labels)}")
    lines.extend(_sink(export, labels) for export in dataflow.sink_exports)
    return "\n".join(lines)


def explain_relation(relation: Relation, schemas: Schemas, labels: Labels | None = None) -> str:
    """An expression with the names of its columns. It can be read back."""

    def label(node: Relation) -> str:
        return _label(node.id, labels or {}) if isinstance(node, Get) else ""

    return print_relation(relation, RelationNames(relation, schemas).referred, label)


def explain_plan(
    plan: RenderPlan, schemas: Schemas, labels: Labels | None = None, indexes: Sequence[IndexImport] = ()
) -> str:
    """A render plan. Nodes that are used more than once stand before it, as ``cte l0``."""
    return _PlanText(plan, schemas, labels or {}, {index.id: index.on for index in indexes}).text()


class _PlanText:
    def __init__(
        self, plan: RenderPlan, schemas: Schemas, labels: Labels, indexed: Mapping[GlobalId, GlobalId]
    ) -> None:
        self._nodes = plan.nodes
        self._labels = labels
        self._indexed = indexed
        self._names: list[Names] = []
        for node in plan.nodes:
            inputs = [self._names[input] for input in node_inputs(node)]
            self._names.append(node_names(node, inputs, lambda id: self._collection(id, schemas)))
        uses = Counter(input for node in plan.nodes for input in node_inputs(node))
        shared = [position for position in range(len(plan.nodes)) if uses[position] > 1]
        self._ctes = {position: f"l{number}" for number, position in enumerate(shared)}

    def text(self) -> str:
        root = len(self._nodes) - 1
        if not self._ctes:
            return "\n".join(self._lines(root))
        lines = ["With"]
        for position, name in self._ctes.items():
            lines.append(f"{INDENT}cte {name} =")
            lines.extend(INDENT * 2 + line for line in self._lines(position))
        return "\n".join([*lines, "Return", *[INDENT + line for line in self._lines(root)]])

    def _collection(self, id: GlobalId, schemas: Schemas) -> Names:
        id = self._indexed.get(id, id)
        return schemas[id].names if id in schemas else ()

    def _lines(self, position: int) -> list[str]:
        """The node and what lies below it; other shared nodes by name."""
        lines: list[str] = []
        stack = [(position, 0)]
        while stack:
            at, depth = stack.pop()
            if at in self._ctes and at != position:
                lines.append(f"{INDENT * depth}Get {self._ctes[at]}")
                continue
            node = self._nodes[at]
            lines.append(INDENT * depth + self._header(at))
            if isinstance(node, ConstantNode):
                rows = print_constant_rows(node.types, node.rows, node.diffs)
                lines.extend(INDENT * (depth + 1) + row for row in rows)
            stack.extend((input, depth + 1) for input in reversed(node_inputs(node)))
        return lines

    def _header(self, position: int) -> str:
        node = self._nodes[position]
        inputs = [self._names[input] for input in node_inputs(node)]
        match node:
            case ConstantNode(types, rows):
                empty = "" if rows else " <empty>"
                return f'Constant{empty} // {{ types: "{print_types(types)}" }}'
            case GetNode(_, id):
                return f"Get {id}{_label(id, self._labels)}"
            case ImportIndex(_, index, key):
                label = _label(self._indexed.get(index, index), self._labels)
                return f"ImportIndex {index} key=[{print_scalars(key, self._names[position])}]{label}"
            case Mfp(_, _, mfp):
                return f"MapFilterProject{explain_mfp(mfp, inputs[0])}"
            case FlatMapNode(_, _, function, arguments):
                return f"FlatMap {print_table_function(function, arguments, inputs[0])}"
            case Arrange(_, _, key):
                return f"Arrange key=[{print_scalars(key, inputs[0])}]"
            case JoinNode():
                return self._join(node, inputs)
            case ReduceNode():
                return _reduce(node, inputs[0])
            case TopKNode():
                return _top_k(node, inputs[0])
            case NegateNode():
                return "Negate"
            case ThresholdNode():
                return "Threshold"
            case UnionNode():
                return "Union"

    def _join(self, node: JoinNode, inputs: Sequence[Names]) -> str:
        names = (*inputs[0], *inputs[1])
        shift = len(self._nodes[node.left].types)
        right = [substitute(key, lambda column: ColumnRef(column + shift)) for key in self._key(node.right)]
        pairs = [print_equivalence(pair, names) for pair in zip(self._key(node.left), right, strict=False)]
        on = f"Join on=({' AND '.join(pairs)})" if pairs else "CrossJoin"
        return f"{on}{explain_mfp(node.mfp, names)}"

    def _key(self, position: int) -> Sequence[Scalar]:
        node = self._nodes[position]
        return node.key if isinstance(node, (Arrange, ImportIndex)) else ()


def explain_mfp(mfp: MapFilterProject, names: Names = ()) -> str:
    """`` map=(…) filter=(…) project=(…)``, each only if it does something; begins with a blank unless empty."""
    extended = extend_names(names, mfp.scalars)
    parts: list[str] = []
    if mfp.scalars:
        parts.append(f" map=({print_scalars(mfp.scalars, extended)})")
    if mfp.predicates:
        parts.append(f" filter=({print_predicates(mfp.predicates, extended)})")
    if mfp.projection != tuple(range(mfp.arity + len(mfp.scalars))):
        parts.append(f" project=({', '.join(print_column(column, extended) for column in mfp.projection)})")
    return "".join(parts)


def _reduce(node: ReduceNode, names: Names) -> str:
    key = print_scalars(node.key, names)
    if not node.aggregates:
        return f"Distinct project=[{key}]"
    aggregates = [f"{print_aggregate(planned.aggregate, names)} {planned.kind}" for planned in node.aggregates]
    return f"Reduce group_by=[{key}] aggregates=[{', '.join(aggregates)}]"


def _top_k(node: TopKNode, names: Names) -> str:
    group = ", ".join(print_column(column, names) for column in node.group_by)
    order = ", ".join(print_order(order, names) for order in node.order_by)
    limit = "" if node.limit is None else f" limit={node.limit}"
    offset = f" offset={node.offset}" if node.offset else ""
    return f"TopK group_by=[{group}] order_by=[{order}]{limit}{offset}"


def _schemas(dataflow: RelationDataflow | RenderDataflow) -> Schemas:
    schemas = {index.on: index.schema for index in dataflow.index_imports}
    schemas.update({source.id: source.schema for source in dataflow.source_imports})
    schemas.update({build.id: build.schema for build in dataflow.objects_to_build})
    return schemas


def _sink(export: SinkExport, labels: Labels) -> str:
    match export.connection:
        case Subscribe():
            kind = "subscribe"
        case MaterializedView(shard):
            kind = f"materialized-view shard={shard}"
        case CopyTo(path):
            kind = f"copy-to path={path}"
    until = "" if export.up_to is None else f" up-to={show_frontier(export.up_to)}"
    return f"export sink={export.id} on={export.on} kind={kind}{until}{_label(export.id, labels)}"


def _label(id: GlobalId, labels: Labels) -> str:
    return f" // {labels[id]}" if id in labels else ""


def _indented(text: str) -> list[str]:
    return [INDENT + line for line in text.split("\n")] if text else []
