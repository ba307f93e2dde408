"""Relational expressions as text. :mod:`.parse_relation` reads what is printed here back into the same expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...messages.relations import (
    Aggregate,
    ArrangeBy,
    Constant,
    Distinct,
    Filter,
    FlatMap,
    Get,
    GetLocal,
    Join,
    Let,
    LetRec,
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
from ...messages.scalars import Call, Literal, Scalar
from ...messages.types import ColumnType
from .print_scalar import (
    ADDITIVE,
    NOT,
    OR,
    Names,
    print_column,
    print_literal,
    print_operand,
    print_scalar,
    print_scalars,
    print_user,
)

INDENT = "  "
InputNames = Callable[[Relation], Names]
"""What the columns that a node's expressions refer to are called."""


def print_relation(
    relation: Relation, names: InputNames | None = None, suffix: Callable[[Relation], str] | None = None
) -> str:
    """The expression as indented text, without a final newline.

    ``names`` gives, for each node, the names of the columns that its expressions refer to; they are shown as
    ``#0{name}`` and read back without the name. ``suffix`` gives what follows a node's first line, a comment.
    """
    printer = _Printer(names or _nameless, suffix or _nothing)
    printer.print(relation, 0)
    return "\n".join(printer.lines)


def print_types(types: Sequence[ColumnType]) -> str:
    """``(bigint, text?)``."""
    return f"({', '.join(str(type) for type in types)})"


def print_aggregate(aggregate: Aggregate, names: Names = ()) -> str:
    """``sum(#1)``, ``count(distinct #0)``, ``string_agg(#1, ",")``."""
    function = aggregate.function if aggregate.user is None else print_user(aggregate.user.name)
    if aggregate.input is None:
        return f"{function}(*)"
    distinct = "distinct " if aggregate.distinct else ""
    parameters = "".join(f", {print_literal(literal)}" for literal in aggregate.parameters)
    return f"{function}({distinct}{print_scalar(aggregate.input, names)}{parameters})"


def print_order(order: Order, names: Names = ()) -> str:
    """``#1 desc nulls_first``."""
    direction = "desc" if order.descending else "asc"
    return f"{print_column(order.column, names)} {direction} {'nulls_first' if order.nulls_first else 'nulls_last'}"


def print_table_function(function: TableFunction, arguments: Sequence[Scalar], names: Names = ()) -> str:
    """``generate_series(#0, 10)``."""
    name = function.name if function.user is None else print_user(function.user.name)
    return f"{name}({print_scalars(arguments, names)})"


def print_predicates(predicates: Sequence[Scalar], names: Names = ()) -> str:
    """Predicates, joined by ``AND``. A single disjunction needs no parentheses; a single conjunction has them, because
    it is one predicate."""
    alone = len(predicates) == 1 and not (isinstance(predicates[0], Call) and predicates[0].function == "and")
    return " AND ".join(print_operand(predicate, OR if alone else NOT, names) for predicate in predicates)


def print_equivalence(members: Sequence[Scalar], names: Names = ()) -> str:
    """``#0 = #2``, or ``eq(#0, #2, #4)`` for another number of members than two."""
    if len(members) == 2:
        return " = ".join(print_operand(member, ADDITIVE, names) for member in members)
    return f"eq({print_scalars(members, names)})"


def header(node: Relation, names: Names = ()) -> str:
    """The node's first line: its operator and arguments, without its inputs, rows and bindings."""
    match node:
        case Constant(types, rows):
            empty = "" if rows else " <empty>"
            return f'Constant{empty} // {{ types: "{print_types(types)}" }}'
        case Get(id):
            return f"Get {id}"
        case GetLocal(name):
            return f"Get {name}"
        case Let():
            return "With"
        case LetRec():
            limits = [] if node.recursion_limit is None else [f"recursion_limit={node.recursion_limit}"]
            limits += ["return_at_limit"] if node.return_at_limit else []
            return f"With Mutually Recursive [{', '.join(limits)}]" if limits else "With Mutually Recursive"
        case Project(_, columns):
            return f"Project {_columns(columns, '()', names)}"
        case Map(_, scalars):
            return f"Map ({print_scalars(scalars, names)})"
        case Filter(_, predicates):
            return f"Filter {print_predicates(predicates, names)}".rstrip()
        case FlatMap(_, function, arguments):
            return f"FlatMap {print_table_function(function, arguments, names)}"
        case Join(_, ()):
            return "CrossJoin"
        case Join(_, equivalences):
            classes = " AND ".join(print_equivalence(members, names) for members in equivalences)
            return f"Join on=({classes})"
        case Reduce():
            return _reduce_header(node, names)
        case TopK():
            return _top_k_header(node, names)
        case Distinct(_, project):
            return "Distinct" if project is None else f"Distinct project=[{print_scalars(project, names)}]"
        case Negate() | Threshold() | Union():
            return type(node).__name__
        case ArrangeBy(_, keys):
            lists = [f"[{print_scalars(key, names)}]" for key in keys]
            return f"ArrangeBy keys=[{', '.join(lists)}]"


def print_constant_rows(
    types: Sequence[ColumnType], rows: Sequence[Sequence[Literal]], diffs: Sequence[int]
) -> list[str]:
    """A constant's rows, one a line: ``- (1, "a")``, ``- ((1, "a") x 2)``."""
    lines: list[str] = []
    for position, row in enumerate(rows):
        values = ", ".join([print_literal(literal, type.type) for literal, type in zip(row, types, strict=False)])
        diff = diffs[position] if diffs else 1
        lines.append(f"- ({values})" if diff == 1 else f"- (({values}) x {diff})")
    return lines


def _nameless(_: Relation) -> Names:
    return ()


def _nothing(_: Relation) -> str:
    return ""


def _columns(columns: Sequence[int], brackets: str, names: Names) -> str:
    return f"{brackets[0]}{', '.join(print_column(column, names) for column in columns)}{brackets[1]}"


def _reduce_header(node: Reduce, names: Names) -> str:
    aggregates = ", ".join(print_aggregate(aggregate, names) for aggregate in node.aggregates)
    text = f"Reduce group_by=[{print_scalars(node.group_by, names)}] aggregates=[{aggregates}]"
    text += " monotonic" if node.monotonic else ""
    return text if node.expected_group_size is None else f"{text} exp_group_size={node.expected_group_size}"


def _top_k_header(node: TopK, names: Names) -> str:
    orders = ", ".join(print_order(order, names) for order in node.order_by)
    text = f"TopK group_by={_columns(node.group_by, '[]', names)} order_by=[{orders}]"
    text += "" if node.limit is None else f" limit={node.limit}"
    text += f" offset={node.offset}" if node.offset else ""
    return f"{text} monotonic" if node.monotonic else text


class _Printer:
    def __init__(self, names: InputNames, suffix: Callable[[Relation], str]) -> None:
        self.lines: list[str] = []
        self._names = names
        self._suffix = suffix

    def print(self, node: Relation, depth: int) -> None:
        self._line(depth, header(node, self._names(node)) + self._suffix(node))
        match node:
            case Constant(types, rows, diffs):
                for row in print_constant_rows(types, rows, diffs):
                    self._line(depth + 1, row)
            case Get() | GetLocal():
                pass
            case Let(bindings, body):
                for binding in bindings:
                    self._line(depth + 1, f"cte {binding.name} =")
                    self.print(binding.value, depth + 2)
                self._line(depth, "Return")
                self.print(body, depth + 1)
            case LetRec(bindings, body):
                for binding in bindings:
                    types = f' // {{ types: "{print_types(binding.types)}" }}' if binding.types else ""
                    self._line(depth + 1, f"cte {binding.name} ={types}")
                    self.print(binding.value, depth + 2)
                self._line(depth, "Return")
                self.print(body, depth + 1)
            case Join(inputs) | Union(inputs):
                for input in inputs:
                    self.print(input, depth + 1)
            case _:
                self.print(node.input, depth + 1)

    def _line(self, depth: int, text: str) -> None:
        self.lines.append(INDENT * depth + text)
