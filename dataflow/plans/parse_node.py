"""One node of a relational expression from its line and the relations below it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import TypeVar

from ...messages.ids import GlobalId
from ...messages.relations import (
    Aggregate,
    ArrangeBy,
    Distinct,
    Filter,
    FlatMap,
    Get,
    GetLocal,
    Join,
    Map,
    Negate,
    Order,
    Project,
    Reduce,
    Relation,
    TableFunction,
    Threshold,
    TopK,
    Union,
)
from ...messages.scalars import Literal, Scalar
from .errors import ParseError
from .parse_scalar import ScalarParser
from .tokens import Kind, Tokens

T = TypeVar("T")

Inputs = Sequence[Relation]


def parse_node(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    """The node that a line shows, over the relations that the lines below it show.

    Raises:
        ParseError: the line shows none, or the node has another number of inputs.
    """
    word = tokens.next
    parse = _NODES.get(word.text.lower()) if word.kind is Kind.WORD else None
    if parse is None:
        similar = difflib.get_close_matches(word.text.lower(), _NODES, n=1)
        hint = f" (did you mean {_SPELLED[similar[0]]}?)" if similar else f": {', '.join(_SPELLED.values())}"
        raise tokens.error(f"expected an operator{hint}")
    tokens.take()
    position = word.column
    least, most = _INPUTS.get(word.text.lower(), (1, 1))
    node = parse(tokens, inputs, scalars) if least <= len(inputs) <= most else None
    if node is None:
        expected = str(least) if least == most else f"at least {least}"
        problem = f"{_SPELLED[word.text.lower()]} takes {expected} input below it; found {len(inputs)}"
        raise ParseError(tokens.line, position, problem)
    tokens.expect_end()
    return node


def _get(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    token = tokens.next
    if token.kind not in (Kind.WORD, Kind.NUMBER):
        raise tokens.error("expected an id such as u1000, or the name of a cte")
    tokens.take()
    try:
        return Get(GlobalId.parse(token.text))
    except ValueError as error:
        if token.kind is Kind.NUMBER:
            raise ParseError(tokens.line, token.column, str(error)) from error
        return GetLocal(token.text)


def _project(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    return Project(inputs[0], _columns(tokens, "(", ")"))


def _map(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    return Map(inputs[0], scalars.list("(", ")"))


def _filter(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    return Filter(inputs[0], () if tokens.next.kind is Kind.END else scalars.conjuncts())


def _flat_map(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    if tokens.next.kind is Kind.USER:
        user = scalars.user_function()
        function = TableFunction(user.name, user)
    else:
        function = TableFunction(tokens.expect_kind(Kind.WORD).text)
    return FlatMap(inputs[0], function, scalars.list("(", ")"))


def _cross_join(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    _skip_type(tokens)
    return Join(tuple(inputs))


def _join(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    tokens.expect("on")
    tokens.expect("=")
    tokens.expect("(")
    classes: list[tuple[Scalar, ...]] = []
    while not tokens.accept(")"):
        if classes:
            tokens.expect("and")
        classes.append(_equivalence(tokens, scalars))
    _skip_type(tokens)
    return Join(tuple(inputs), tuple(classes))


def _equivalence(tokens: Tokens, scalars: ScalarParser) -> tuple[Scalar, ...]:
    if tokens.sees("eq") and tokens.sees("(", 1):
        tokens.take()
        return scalars.list("(", ")")
    members = [scalars.summand()]
    tokens.expect("=")
    members.append(scalars.summand())
    while tokens.accept("="):
        members.append(scalars.summand())
    return tuple(members)


def _skip_type(tokens: Tokens) -> None:
    """``type=differential``: how the original executes a join, which is decided here by lowering."""
    if tokens.accept("type"):
        tokens.expect("=")
        tokens.expect_kind(Kind.WORD)


def _reduce(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    group_by: tuple[Scalar, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    hints = _Hints()
    while tokens.next.kind is not Kind.END:
        if tokens.accept("group_by"):
            tokens.expect("=")
            group_by = scalars.list("[", "]")
        elif tokens.accept("aggregates"):
            tokens.expect("=")
            aggregates = tuple(_list(tokens, "[", "]", lambda: _aggregate(tokens, scalars)))
        elif not hints.accept(tokens):
            raise tokens.error("expected group_by=[…], aggregates=[…], monotonic or exp_group_size=…")
    return Reduce(inputs[0], group_by, aggregates, hints.monotonic, hints.group_size)


def _aggregate(tokens: Tokens, scalars: ScalarParser) -> Aggregate:
    user = scalars.user_function() if tokens.next.kind is Kind.USER else None
    name = user.name if user is not None else tokens.expect_kind(Kind.WORD).text
    tokens.expect("(")
    if tokens.accept("*"):
        tokens.expect(")")
        return Aggregate(name, user=user)
    distinct = tokens.accept("distinct")
    input = scalars.scalar()
    parameters: list[Literal] = []
    while tokens.accept(","):
        parameters.append(scalars.literal())
    tokens.expect(")")
    return Aggregate(name, input, distinct, tuple(parameters), user)


def _distinct(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    project: tuple[Scalar, ...] | None = None
    hints = _Hints()
    while tokens.next.kind is not Kind.END:
        if tokens.accept("project") or tokens.accept("group_by"):
            tokens.expect("=")
            project = scalars.list("[", "]")
        elif not hints.accept(tokens):
            raise tokens.error("expected project=[…]")
    return Distinct(inputs[0], project)


def _top_k(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    group_by: tuple[int, ...] = ()
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    offset = 0
    hints = _Hints()
    while tokens.next.kind is not Kind.END:
        if tokens.accept("group_by"):
            tokens.expect("=")
            group_by = _columns(tokens, "[", "]")
        elif tokens.accept("order_by"):
            tokens.expect("=")
            order_by = tuple(_list(tokens, "[", "]", lambda: _order(tokens)))
        elif tokens.accept("limit"):
            tokens.expect("=")
            limit = tokens.expect_count()
        elif tokens.accept("offset"):
            tokens.expect("=")
            offset = tokens.expect_count()
        elif not hints.accept(tokens):
            raise tokens.error("expected group_by=[…], order_by=[…], limit=…, offset=… or monotonic")
    return TopK(inputs[0], group_by, order_by, limit, offset, hints.monotonic)


def _order(tokens: Tokens) -> Order:
    column = int(tokens.expect_kind(Kind.COLUMN).text)
    descending = tokens.accept("desc")
    if not descending:
        tokens.accept("asc")
    nulls_first = tokens.accept("nulls_first") or (descending and not tokens.accept("nulls_last"))
    if not nulls_first:
        tokens.accept("nulls_last")
    return Order(column, descending, nulls_first)


def _negate(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    return Negate(inputs[0])


def _threshold(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    return Threshold(inputs[0])


def _union(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    return Union(tuple(inputs))


def _arrange_by(tokens: Tokens, inputs: Inputs, scalars: ScalarParser) -> Relation:
    tokens.expect("keys")
    tokens.expect("=")
    return ArrangeBy(inputs[0], tuple(_list(tokens, "[", "]", lambda: scalars.list("[", "]"))))


class _Hints:
    """``monotonic`` and ``exp_group_size=n``, which may stand anywhere among a node's arguments."""

    def __init__(self) -> None:
        self.monotonic = False
        self.group_size: int | None = None

    def accept(self, tokens: Tokens) -> bool:
        if tokens.accept("monotonic"):
            self.monotonic = True
        elif tokens.accept("exp_group_size"):
            tokens.expect("=")
            self.group_size = tokens.expect_count()
        else:
            return False
        return True


def _list(tokens: Tokens, opening: str, closing: str, item: Callable[[], T]) -> list[T]:
    tokens.expect(opening)
    items: list[T] = []
    while not tokens.accept(closing):
        if items and not tokens.accept(","):
            raise tokens.error(f"expected ',' or {closing!r}")
        items.append(item())
    return items


def _columns(tokens: Tokens, opening: str, closing: str) -> tuple[int, ...]:
    return tuple(_list(tokens, opening, closing, lambda: int(tokens.expect_kind(Kind.COLUMN).text)))


_NODES: dict[str, Callable[[Tokens, Inputs, ScalarParser], Relation]] = {
    "get": _get,
    "project": _project,
    "map": _map,
    "filter": _filter,
    "flatmap": _flat_map,
    "crossjoin": _cross_join,
    "join": _join,
    "reduce": _reduce,
    "distinct": _distinct,
    "topk": _top_k,
    "negate": _negate,
    "threshold": _threshold,
    "union": _union,
    "arrangeby": _arrange_by,
}
_SPELLED = {
    "constant": "Constant",
    "get": "Get",
    "project": "Project",
    "map": "Map",
    "filter": "Filter",
    "flatmap": "FlatMap",
    "crossjoin": "CrossJoin",
    "join": "Join",
    "reduce": "Reduce",
    "distinct": "Distinct",
    "topk": "TopK",
    "negate": "Negate",
    "threshold": "Threshold",
    "union": "Union",
    "arrangeby": "ArrangeBy",
}
_MANY = 1_000_000
_INPUTS = {"get": (0, 0), "crossjoin": (1, _MANY), "join": (1, _MANY), "union": (1, _MANY)}
