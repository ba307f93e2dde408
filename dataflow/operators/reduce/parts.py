"""How the aggregates of one reduction are divided among accumulators, ordered values and distinct stages.

Aggregates that read one input in one way share what is kept for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ....messages.plans import PlannedAggregate, ReduceNode
from ....messages.types import SqlType
from .accumulator import Accumulator
from .counts import Count
from .distinct_values import DistinctValues
from .inputs import ReduceInputs
from .kinds import is_accumulable, make_accumulator, make_reader
from .ordered_values import OrderedValues
from .readers import Reader, UserAggregate

Feed = tuple[int | None, int | None]
"""The input column of an aggregate (None: whole rows), and the distinct stage that it passes (None: none)."""


@dataclass(slots=True)
class Parts:
    """What a reduction keeps besides row counts.

    Attributes:
        stages: the distinct stages, and the input column of each.
        feeds: what accumulators and ordered values are fed.
        accumulators: the accumulable aggregates, then for each stage the count of its negative multiplicities.
        sums: of each accumulable aggregate its place in the output and its feed.
        ordered: of each of the others' ordered values the feed, and the readers' places in the output.
        order: for each place in the output its position among ``sums`` followed by the readers of ``ordered``.
    """

    stages: list[tuple[int, DistinctValues]] = field(default_factory=list[tuple[int, DistinctValues]])
    feeds: list[Feed] = field(default_factory=list[Feed])
    accumulators: list[Accumulator] = field(default_factory=list[Accumulator])
    sums: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    ordered: list[tuple[int, OrderedValues, tuple[int, ...]]] = field(
        default_factory=list[tuple[int, OrderedValues, tuple[int, ...]]]
    )

    order: tuple[int, ...] = ()

    def feed(self, column: int | None, type: SqlType | None, *, distinct: bool) -> int:
        """The position of a feed, added when it is new."""
        stage: int | None = None
        if distinct:
            assert column is not None and type is not None
            known = [place for place, _ in self.stages]
            if column not in known:
                self.stages.append((column, DistinctValues(type)))
                known.append(column)
            stage = known.index(column)
        if (column, stage) not in self.feeds:
            self.feeds.append((column, stage))
        return self.feeds.index((column, stage))


def plan_parts(node: ReduceNode, inputs: ReduceInputs, *, trust: bool) -> Parts:
    """Divide the aggregates of a reduction.

    Raises:
        UserFunctionError: a user function cannot be loaded, or ``trust`` is false.
    """
    parts = Parts()
    readers: dict[tuple[int, bool], list[tuple[int, Reader]]] = {}
    types: dict[int, SqlType] = {}
    for place, planned in enumerate(node.aggregates):
        column, type = inputs.arguments[place], inputs.argument_types[place]
        feed = parts.feed(column, type, distinct=_counts_distinct(planned))
        if is_accumulable(planned):
            parts.accumulators.append(make_accumulator(planned.aggregate, type, apart=planned.aggregate.distinct))
            parts.sums.append((place, feed))
        else:
            assert type is not None
            reader = make_reader(planned.aggregate, type, trust=trust)
            readers.setdefault((feed, isinstance(reader, UserAggregate)), []).append((place, reader))
            types[feed] = type
    parts.accumulators += [Count(apart=True) for _ in parts.stages]
    for (feed, nulls), some in readers.items():
        values = OrderedValues(types[feed], [reader for _, reader in some], nulls=nulls)
        parts.ordered.append((feed, values, tuple([place for place, _ in some])))
    places = [place for place, _ in parts.sums] + [place for _, _, some in parts.ordered for place in some]
    parts.order = tuple([places.index(place) for place in range(len(places))])
    return parts


def _counts_distinct(planned: PlannedAggregate) -> bool:
    """Whether an aggregate needs a distinct stage; ``min`` and ``max`` do not."""
    return planned.aggregate.distinct and planned.aggregate.function not in ("min", "max")
