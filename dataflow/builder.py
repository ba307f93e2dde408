"""Rendering: from a description to operators.

Everything that is used twice is one operator: a plan node, a ``Get``, and an arrangement of one collection by one key,
whether it is imported, asked for by a plan or exported. Rendering is deterministic and the same on every worker, so
that channels between workers have equal numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from ..messages.dataflows import CopyTo, RenderDataflow, SinkExport
from ..messages.frontiers import Frontier, Timestamp, minimum
from ..messages.ids import GlobalId
from ..messages.plans import (
    Arrange,
    ConstantNode,
    FlatMapNode,
    GetNode,
    ImportIndex,
    JoinNode,
    MapFilterProject,
    Mfp,
    NegateNode,
    PlanNode,
    ReduceNode,
    ThresholdNode,
    TopKNode,
    UnionNode,
)
from ..messages.scalars import ColumnRef, Scalar
from ..messages.types import ColumnType
from .arrangements.arrangement import Arrangement
from .arrangements.trace import Trace
from .arrangements.updates import Updates
from .columns.column import column_from_values
from .operators.agenda import Agenda
from .operators.arrange import Arrange as ArrangeOperator
from .operators.arrange import ArrangementStream
from .operators.closure import Closure
from .operators.demand import narrow
from .operators.exchange import Exchange, Outbox, by_columns
from .operators.intake import Intake
from .operators.join import Join
from .operators.linear import Negation, Projection, Unary, Union
from .operators.operator import Operator, UnaryLogic
from .operators.reduce.logic import ReduceLogic
from .operators.rowwise import AppendKey, FlatMap, MapFilter
from .operators.sink import Sink, SinkQueue
from .operators.source import ConstantSource, Source
from .operators.threshold import ThresholdLogic
from .operators.topk import TopKLogic

Types = tuple[ColumnType, ...]
Key = tuple[Scalar, ...]


@dataclass(eq=False, slots=True)
class Stream:
    """A rendered node: the operator whose output it is.

    Attributes:
        placement: the columns by whose hash rows are placed on workers; None when they may be anywhere.
        collection: stands for the rows, however they are rendered.
    """

    operator: Operator
    types: Types
    placement: tuple[int, ...] | None = None
    collection: object = field(default_factory=object)


@dataclass(eq=False, slots=True)
class Arranged:
    """A rendered arrangement. ``operator`` maintains it, unless it is imported."""

    arrangement: Arrangement
    key: Key
    types: Types
    operator: ArrangeOperator | None
    collection: object
    stream: Stream | None = None


@dataclass(slots=True)
class Watch:
    """An imported arrangement, the operators that read it, and its upper when they last looked."""

    arrangement: Arrangement
    followers: int
    upper: Frontier = 0


class Builder:
    """Renders one dataflow.

    Attributes:
        sources: by id, the operators that the worker feeds.
        channels: by number, the receiving sides of exchanges.
        watches: imported arrangements, by identity.
        sinks: by id.
        indexes: by id, the arrangement and key of each index export.
        arrangements: what this dataflow maintains itself.
        intakes: how operators read arrangements, imported and own.
    """

    def __init__(
        self,
        description: RenderDataflow,
        traces: Mapping[GlobalId, Trace],
        worker: int,
        peers: int,
        outbox: Outbox,
        trust: bool,
    ) -> None:
        self.agenda = Agenda()
        self.sources: dict[GlobalId, Source] = {}
        self.channels: list[Union] = []
        self.watches: dict[int, Watch] = {}
        self.sinks: dict[GlobalId, SinkQueue] = {}
        self.indexes: dict[GlobalId, Arranged] = {}
        self.arrangements: list[Arrangement] = []
        self.intakes: list[Intake] = []
        self._as_of: Timestamp = description.as_of
        self._until: Frontier = description.until
        self._worker = worker
        self._peers = peers
        self._outbox = outbox
        self._trust = trust
        self._collections: dict[GlobalId, Stream | Arranged] = {}
        self._imports: dict[GlobalId, Arranged] = {}
        self._arranged: dict[tuple[object, Key], Arranged] = {}
        self._render(description, traces)

    def _render(self, description: RenderDataflow, traces: Mapping[GlobalId, Trace]) -> None:
        for source in description.source_imports:
            operator = Source(self.agenda, self._as_of, self._until)
            self.sources[source.id] = operator
            self._collections[source.id] = Stream(operator, source.schema.types)
        for index in description.index_imports:
            known = self._collections.get(index.on)
            collection = object() if known is None else known.collection
            arranged = Arranged(traces[index.id].arrangement, index.key, index.schema.types, None, collection)
            self._imports[index.id] = arranged
            self._collections.setdefault(index.on, arranged)
            self._arranged.setdefault((collection, index.key), arranged)
        for built in description.objects_to_build:
            nodes: list[Stream | Arranged] = []
            for node in built.plan.nodes:
                nodes.append(self._node(node, nodes))
            self._collections[built.id] = nodes[-1]
        for export in description.index_exports:
            self.indexes[export.id] = self._arrange(self._collections[export.on], export.key)
        for sink in description.sink_exports:
            self._sink(sink)

    def _node(self, node: PlanNode, nodes: Sequence[Stream | Arranged]) -> Stream | Arranged:
        match node:
            case ConstantNode():
                return self._constant(node)
            case GetNode():
                return self._collections[node.id]
            case ImportIndex():
                return self._imports[node.index]
            case Arrange():
                return self._arrange(nodes[node.input], node.key)
            case JoinNode():
                return self._join(node, nodes[node.left], nodes[node.right])
            case UnionNode():
                return self._union(node, nodes)
            case Mfp():
                input = nodes[node.input]
                return input if node.mfp.is_identity else self._mfp(node, self._stream(input))
            case FlatMapNode():
                input = self._stream(nodes[node.input])
                logic = FlatMap(node, input.types, trust=self._trust)
                return self._unary(logic, input, node.types, input.placement)
            case NegateNode():
                input = self._stream(nodes[node.input])
                return self._unary(Negation(), input, node.types, input.placement)
            case ReduceNode():
                return self._reduce(node, self._stream(nodes[node.input]))
            case TopKNode():
                input = self._gather(self._stream(nodes[node.input]), node.group_by)
                logic = TopKLogic(node, input.types)
                return self._unary(logic, input, node.types, input.placement)
            case ThresholdNode():
                input = self._gather(self._stream(nodes[node.input]), range(len(node.types)))
                logic = ThresholdLogic(node)
                return self._unary(logic, input, node.types, input.placement)

    def _constant(self, node: ConstantNode) -> Stream:
        rows: Updates | None = None
        if node.rows and self._worker == 0:
            columns = tuple(
                [
                    column_from_values([row[i].value for row in node.rows], column.type)
                    for i, column in enumerate(node.types)
                ]
            )
            rows = Updates.of(columns, self._as_of, size=len(node.rows))
            if node.diffs:
                rows = Updates(columns, rows.times, np.array(node.diffs, np.int64))
        return Stream(ConstantSource(self.agenda, self._as_of, rows), node.types)

    def _mfp(self, node: Mfp, input: Stream) -> Stream:
        mfp = node.mfp
        placement = _through(input.placement, mfp)
        logic: UnaryLogic
        if mfp.scalars or mfp.predicates:
            logic = MapFilter(mfp, input.types, trust=self._trust)
        else:
            logic = Projection(mfp.projection)
        return self._unary(logic, input, node.types, placement)

    def _join(self, node: JoinNode, left: Stream | Arranged, right: Stream | Arranged) -> Stream:
        assert isinstance(left, Arranged), "the left input of a join is an arrangement"
        assert isinstance(right, Arranged), "the right input of a join is an arrangement"
        arity = len(left.types)
        mfp = node.mfp
        columns, narrowed = narrow(mfp)
        if mfp.scalars or mfp.predicates:
            types = left.types + right.types
            program = MapFilter(narrowed, [types[c] for c in columns], trust=self._trust).program
            closure = Closure(arity, columns, program)
        else:
            closure = Closure(arity, mfp.projection, None)
        operator = Join(self.agenda, self._as_of, self._intake(left), self._intake(right), closure)
        self._follow(left, operator)
        self._follow(right, operator)
        return Stream(operator, node.types, _through(_plain(left.key), mfp))

    def _union(self, node: UnionNode, nodes: Sequence[Stream | Arranged]) -> Stream:
        inputs = [self._stream(nodes[i]) for i in node.inputs]
        operator = Union(self.agenda, self._as_of, len(inputs))
        for input, queue in zip(inputs, operator.inputs, strict=True):
            input.operator.outputs.append(queue)
        if not inputs:
            self.agenda.pending |= operator.bit
        placements = {input.placement for input in inputs}
        return Stream(operator, node.types, placements.pop() if len(placements) == 1 else None)

    def _reduce(self, node: ReduceNode, input: Stream) -> Stream:
        placement = None
        if self._peers > 1:
            input, positions = self._with_key(input, node.key)
            input = self._gather(input, positions)
            node = msgspec.structs.replace(node, key=tuple([ColumnRef(p) for p in positions]))
            assert input.placement is not None
            placement = tuple([positions.index(p) for p in input.placement])
        logic = ReduceLogic(node, input.types, trust=self._trust)
        return self._unary(logic, input, node.types, placement)

    def _with_key(self, input: Stream, key: Key) -> tuple[Stream, tuple[int, ...]]:
        """The stream with the key's computed columns behind its own, and where the key's columns are."""
        positions = _plain(key)
        if positions is not None:
            return input, positions
        logic = AppendKey(key, input.types, trust=self._trust)
        return self._unary(logic, input, input.types + logic.types, input.placement), logic.positions

    def _arrange(self, input: Stream | Arranged, key: Key) -> Arranged:
        known = self._arranged.get((input.collection, key))
        if known is not None:
            return known
        stream = self._stream(input)
        arity = len(stream.types)
        stream, positions = self._with_key(stream, key)
        stream = self._exchange(stream, positions)
        types = [column.type for column in stream.types]
        operator = ArrangeOperator(self.agenda, self._as_of, types, arity, positions)
        stream.operator.outputs.append(operator.input)
        arranged = Arranged(operator.arrangement, key, stream.types[:arity], operator, input.collection)
        self._arranged[input.collection, key] = arranged
        self.arrangements.append(operator.arrangement)
        return arranged

    def _gather(self, input: Stream, columns: Sequence[int]) -> Stream:
        """The same rows, with all that are equal in these columns on one worker."""
        if self._peers == 1 or (input.placement is not None and set(input.placement) <= set(columns)):
            return input
        return self._exchange(input, tuple(columns))

    def _exchange(self, input: Stream, positions: tuple[int, ...]) -> Stream:
        """The same rows, each on the worker to which the hash of these columns leads."""
        if self._peers == 1 or input.placement == positions:
            return input
        routing = by_columns(positions, self._peers)
        operator = Exchange(
            self.agenda, self._as_of, routing, len(self.channels), self._worker, self._peers, self._outbox
        )
        input.operator.outputs.append(operator.input)
        self.channels.append(operator.receiver)
        return Stream(operator.receiver, input.types, positions)

    def _unary(self, logic: UnaryLogic, input: Stream, types: Types, placement: tuple[int, ...] | None) -> Stream:
        operator = Unary(self.agenda, self._as_of, logic)
        input.operator.outputs.append(operator.input)
        return Stream(operator, types, placement)

    def _stream(self, node: Stream | Arranged) -> Stream:
        """What is arranged, as a stream."""
        if isinstance(node, Stream):
            return node
        if node.stream is None:
            operator: Operator
            if node.operator is None:
                operator = ArrangementStream(self.agenda, self._as_of, self._intake(node))
                self._follow(node, operator)
            else:
                operator = node.operator
            node.stream = Stream(operator, node.types, _plain(node.key), node.collection)
        return node.stream

    def _intake(self, arranged: Arranged) -> Intake:
        intake = Intake(arranged.arrangement, self._as_of, self._until)
        self.intakes.append(intake)
        return intake

    def _follow(self, arranged: Arranged, reader: Operator) -> None:
        """Have the reader look at the arrangement whenever something was sealed."""
        if arranged.operator is not None:
            arranged.operator.followers |= reader.bit
            return
        watch = self.watches.setdefault(id(arranged.arrangement), Watch(arranged.arrangement, 0))
        watch.followers |= reader.bit

    def _sink(self, sink: SinkExport) -> None:
        up_to = sink.up_to
        stream = self._stream(self._collections[sink.on])
        if isinstance(sink.connection, CopyTo):
            # One worker writes the file, once.
            stream = self._exchange(stream, ())
            up_to = minimum((up_to, self._as_of + 1))
        else:
            # A retraction must meet the insertion that it retracts.
            stream = self._gather(stream, range(len(stream.types)))
        operator = Sink(self.agenda, self._as_of, with_snapshot=sink.with_snapshot, up_to=up_to)
        stream.operator.outputs.append(operator.input)
        self.sinks[sink.id] = operator.queue


def _plain(key: Key) -> tuple[int, ...] | None:
    """The positions of a key's columns; None when one of them is computed."""
    positions: list[int] = []
    for scalar in key:
        if not isinstance(scalar, ColumnRef):
            return None
        positions.append(scalar.index)
    return tuple(positions)


def _through(placement: tuple[int, ...] | None, mfp: MapFilterProject) -> tuple[int, ...] | None:
    """Where the columns of a placement are after a map/filter/project; None when one is gone."""
    if placement is None or any(column not in mfp.projection for column in placement):
        return None
    return tuple([mfp.projection.index(column) for column in placement])
