"""Relational expressions over multisets: a Counter from row to multiplicity, and the errors.

Floating point: NaN is the same object throughout (``canonical``), so that rows with NaN are equal in a dictionary.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from ....dataflow.plans.typing import relation_types, scalar_type
from ....messages import relations as r
from ....messages.ids import GlobalId
from ....messages.scalars import Scalar
from ....messages.types import ColumnType, SqlType
from .scalars import RANGES, Row, RowError, evaluate, sort_key

NAN = math.nan
Types = tuple[ColumnType, ...]


class Unspecified(Exception):
    """The answer depends on what nobody promises (a negative multiplicity inside a group)."""


@dataclass
class Collection:
    """Rows with multiplicities, and errors with theirs."""

    rows: Counter[Row] = field(default_factory=Counter[Row])
    errors: Counter[str] = field(default_factory=Counter[str])

    def add(self, row: Row, diff: int) -> None:
        self.rows[canonical(row)] += diff

    def tidy(self) -> Collection:
        return Collection(
            Counter({k: v for k, v in self.rows.items() if v}), Counter({k: v for k, v in self.errors.items() if v})
        )


def canonical(row: Row) -> Row:
    """Equal values are one value: NaN is NaN, and -0.0 is 0.0."""
    return tuple((NAN if math.isnan(v) else v + 0.0) if isinstance(v, float) else v for v in row)


@dataclass
class Oracle:
    """Evaluates expressions over these collections."""

    collections: Mapping[GlobalId, Collection]
    types: Mapping[GlobalId, Types]

    def evaluate(self, expression: r.Relation) -> Collection:
        return self._evaluate(expression, {}, {}).tidy()

    def _evaluate(self, node: r.Relation, local: dict[str, Collection], local_types: dict[str, Types]) -> Collection:
        def visit(child: r.Relation) -> Collection:
            return self._evaluate(child, local, local_types)

        def types_of(child: r.Relation) -> Types:
            return tuple(relation_types(child, self.types, local_types))

        match node:
            case r.Constant(_, rows, diffs):
                out = Collection()
                for row, diff in zip(rows, diffs or (1,) * len(rows), strict=True):
                    out.add(tuple(v.value for v in row), diff)
                return out
            case r.Get(id):
                return self.collections[id]
            case r.GetLocal(name):
                return local[name]
            case r.Let(bindings, body):
                local, local_types = dict(local), dict(local_types)
                for binding in bindings:
                    local_types[binding.name] = tuple(relation_types(binding.value, self.types, local_types))
                    local[binding.name] = self._evaluate(binding.value, local, local_types).tidy()
                return self._evaluate(body, local, local_types)
            case r.Project(input, columns):
                return each(visit(input), lambda row: [tuple(row[c] for c in columns)])
            case r.Map(input, scalars):
                return each(visit(input), lambda row: [extend(row, scalars, types_of(input))])
            case r.Filter(input, predicates):
                types = types_of(input)
                return each(visit(input), lambda row: [row] if holds(predicates, row, types) else [])
            case r.FlatMap(input, r.TableFunction("generate_series"), arguments):
                types = types_of(input)
                return each(visit(input), lambda row: [(*row, n) for n in series(arguments, row, types)])
            case r.Join(inputs, equivalences):
                types = tuple(itertools.chain.from_iterable(types_of(i) for i in inputs))
                return join([visit(i) for i in inputs], equivalences, types)
            case r.Reduce(input, group_by, aggregates):
                return reduce(visit(input), group_by, aggregates, types_of(input))
            case r.Distinct(input, project):
                types = types_of(input)
                keys = each(visit(input), lambda row: [row if project is None else values(project, row, types)])
                return Collection(Counter({k: 1 for k, v in positive(keys).items() if v}), keys.errors)
            case r.TopK():
                return top_k(visit(node.input), node)
            case r.Negate(input):
                inner = visit(input)
                return Collection(Counter({k: -v for k, v in inner.rows.items()}), inner.errors)
            case r.Threshold(input):
                inner = visit(input)
                return Collection(Counter({k: v for k, v in inner.rows.items() if v > 0}), inner.errors)
            case r.Union(inputs):
                out = Collection()
                for one in map(visit, inputs):
                    for row, diff in one.rows.items():
                        out.rows[row] += diff
                    out.errors.update(one.errors)
                return out
            case r.ArrangeBy(input, _):
                return visit(input)
            case _:
                raise AssertionError(f"the oracle does not know {type(node).__name__}")


def each(collection: Collection, function: Callable[[Row], Iterable[Row]]) -> Collection:
    out = Collection(errors=Counter(collection.errors))
    for row, diff in collection.rows.items():
        try:
            for result in function(row):
                out.add(result, diff)
        except RowError as error:
            out.errors[str(error)] += diff
    return out.tidy()


def values(scalars: tuple[Scalar, ...], row: Row, types: Types) -> Row:
    return tuple(evaluate(s, row, types) for s in scalars)


def extend(row: Row, scalars: tuple[Scalar, ...], types: Types) -> Row:
    for scalar in scalars:
        row = (*row, evaluate(scalar, row, types))
        types = (*types, scalar_type(scalar, types))
    return row


def holds(predicates: tuple[Scalar, ...], row: Row, types: Types) -> bool:
    """Whether all are true; a predicate that is not true hides the others' errors."""
    error = None
    for predicate in predicates:
        try:
            if evaluate(predicate, row, types) is not True:
                return False
        except RowError as e:
            error = error or e
    if error is not None:
        raise error
    return True


def series(arguments: tuple[Scalar, ...], row: Row, types: Types) -> range:
    bounds = values(arguments, row, types)
    if None in bounds:
        return range(0)
    start, stop, step = (*bounds, 1)[:3]
    if step == 0:
        raise RowError("step size cannot equal zero")
    return range(start, stop + (1 if step > 0 else -1), step)


def join(inputs: list[Collection], equivalences: tuple[tuple[Scalar, ...], ...], types: Types) -> Collection:
    out = Collection()
    for one in inputs:
        out.errors.update(one.errors)
    for combination in itertools.product(*(one.rows.items() for one in inputs)):
        row = tuple(itertools.chain.from_iterable(r for r, _ in combination))
        diff = math.prod(d for _, d in combination)
        try:
            classes = [values(c, row, types) for c in equivalences]
        except RowError as error:
            out.errors[str(error)] += diff
            continue
        if all(None not in c and len({sort_key(v) for v in c}) <= 1 for c in classes):
            out.add(row, diff)
    return out.tidy()


def positive(collection: Collection) -> Counter[Row]:
    if any(diff < 0 for diff in collection.rows.values()):
        raise Unspecified
    return collection.rows


def reduce(
    collection: Collection, group_by: tuple[Scalar, ...], aggregates: tuple[r.Aggregate, ...], types: Types
) -> Collection:
    out = Collection(errors=Counter(collection.errors))
    groups: dict[Row, list[tuple[Row, int]]] = defaultdict(list)
    for row, diff in positive(collection).items():
        try:
            groups[canonical(values(group_by, row, types))].append((row, diff))
        except RowError as error:
            out.errors[str(error)] += diff
    for key, rows in groups.items():
        try:
            out.add((*key, *(aggregate(a, rows, types) for a in aggregates)), 1)
        except RowError as error:
            out.errors[str(error)] += 1
    return out.tidy()


def aggregate(spec: r.Aggregate, rows: list[tuple[Row, int]], types: Types) -> Any:
    if spec.input is None:
        return sum(diff for _, diff in rows)
    found = [(evaluate(spec.input, row, types), diff) for row, diff in rows]
    items = [canonical((v,))[0] for v, diff in found if v is not None for _ in range(diff)]
    if spec.distinct:
        items = list({sort_key(v): v for v in items}.values())
    if spec.function == "count":
        return len(items)
    if not items:
        return None
    items.sort(key=sort_key)
    match spec.function:
        case "min":
            return items[0]
        case "max":
            return items[-1]
        case "any":
            return any(items)
        case "all":
            return all(items)
        case "sum":
            if isinstance(items[0], float):
                return exact_sum(items)
            total = sum(items)
            if scalar_type(spec.input, types).type in RANGES and not -(2**63) <= total < 2**63:
                raise RowError("bigint out of range")
            return total
        case "avg":
            if scalar_type(spec.input, types).type is SqlType.NUMERIC:
                with localcontext(prec=60):
                    return Decimal(sum(items) / len(items)).quantize(Decimal("1e-9"), ROUND_HALF_UP)
            return exact_sum(items) / len(items) if isinstance(items[0], float) else sum(items) / len(items)
        case "string_agg":
            separator = str(spec.parameters[0].value) if spec.parameters else ","
            return separator.join(items)
        case "median":
            return float(statistics.median(items))
        case _:
            raise AssertionError(f"the oracle does not know {spec.function}")


def exact_sum(items: list[float]) -> float:
    special = [v for v in items if not math.isfinite(v)]
    return sum(special) if special else math.fsum(items)


def top_k(collection: Collection, node: r.TopK) -> Collection:
    out = Collection(errors=Counter(collection.errors))
    groups: dict[Row, list[Row]] = defaultdict(list)
    for row, diff in positive(collection).items():
        groups[tuple(row[c] for c in node.group_by)].extend([row] * diff)
    for rows in groups.values():
        # The least significant criterion first: ties by whole row, NULLs last, column by column.
        rows.sort(key=lambda row: tuple((v is None, sort_key(v) if v is not None else None) for v in row))
        for order in reversed(node.order_by):
            present = [row for row in rows if row[order.column] is not None]
            absent = [row for row in rows if row[order.column] is None]
            present.sort(key=lambda row: sort_key(row[order.column]), reverse=False)
            if order.descending:
                present = stable_reversed(present, order.column)
            rows = absent + present if order.nulls_first else present + absent
        end = None if node.limit is None else node.offset + node.limit
        for row in rows[node.offset : end]:
            out.add(row, 1)
    return out.tidy()


def stable_reversed(rows: list[Row], column: int) -> list[Row]:
    """Descending by the column, equal ones in the order they have."""
    runs = [list(run) for _, run in itertools.groupby(rows, key=lambda row: sort_key(row[column]))]
    return list(itertools.chain.from_iterable(reversed(runs)))
