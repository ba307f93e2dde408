"""Relational expressions from text. The inverse of :mod:`.print_relation`.

The lines are read from the bottom up, so that deep nesting needs no deep recursion: when a line is read, the relations
below it have been.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...messages.ids import GlobalId
from ...messages.relations import Constant, Relation
from ...messages.scalars import Literal
from ...messages.types import ColumnType
from .annotations import annotated_types
from .errors import ParseError
from .nulls import resolve_nulls
from .parse_bindings import binding_block, is_binding_block, is_cte, parse_bindings
from .parse_lines import Line, bottom_up, line_tree
from .parse_node import parse_node
from .parse_scalar import Functions, ScalarParser
from .tokens import Tokens
from .trees import postorder
from .typing import Types


def parse_relation(
    source: str | Sequence[str],
    *,
    first_line: int = 1,
    functions: Functions | None = None,
    env: Mapping[GlobalId, Types] | None = None,
) -> Relation:
    """The relation that a text, or its lines, shows. They may all be indented alike.

    ``first_line`` is the number of the first line in errors. ``functions`` are the user functions that the text may
    name. With ``env``, the types of the collections, a ``null`` without a type takes the one that its place asks for;
    without, it is a text.

    Raises:
        ParseError: the text shows none; the message says where and what was expected.
        PlanDepthError: it is nested too deep.
        RelationTypeError: with ``env``, a node is ill-formed.
    """
    lines = source.split("\n") if isinstance(source, str) else source
    relation = _RelationParser(functions or {}).parse(line_tree(lines, first_line), first_line)
    postorder(relation)
    return relation if env is None else resolve_nulls(relation, env)


class _RelationParser:
    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._parsed: dict[int, Relation] = {}

    def parse(self, roots: Sequence[Line], first_line: int) -> Relation:
        for line in bottom_up(roots):
            if not is_binding_block(line) and not is_cte(line) and not _is_row(line):
                self._parsed[id(line)] = self._node(line)
        relations = self._relations(roots)
        if not relations:
            raise ParseError(first_line, 1, "expected an operator such as Get; the text ends")
        if len(relations) > 1:
            extra = roots[1]
            raise ParseError(extra.number, extra.column, "expected one relation; several stand side by side")
        return relations[0]

    def _node(self, line: Line) -> Relation:
        tokens = Tokens(line.text, line.number, line.column)
        if tokens.accept("constant"):
            return self._constant(line, tokens)
        return parse_node(tokens, self._relations(line.below), ScalarParser(tokens, self._functions))

    def _relations(self, lines: Sequence[Line]) -> list[Relation]:
        """The relations that lines side by side show: a ``With`` and its ``Return`` are one."""
        relations: list[Relation] = []
        position = 0
        while position < len(lines):
            line = lines[position]
            if not is_binding_block(line):
                if is_cte(line) or _is_row(line):
                    raise ParseError(line.number, line.column, f"expected an operator; found {line.text!r}")
                relations.append(self._parsed[id(line)])
                position += 1
                continue
            block = binding_block(lines[position:])
            position += len(block)
            relations.append(parse_bindings(block, self._relations))
        return relations

    def _constant(self, line: Line, tokens: Tokens) -> Constant:
        if tokens.accept("<"):
            tokens.expect("empty")
            tokens.expect(">")
        tokens.expect_end()
        types = annotated_types(tokens)
        rows: list[tuple[Literal, ...]] = []
        diffs: list[int] = []
        for below in line.below:
            row, diff = self._row(below, types)
            rows.append(row)
            diffs.append(diff)
        if types is None:
            types = _types_of(rows)
        return Constant(types, tuple(rows), () if all(diff == 1 for diff in diffs) else tuple(diffs))

    def _row(self, line: Line, types: Types | None) -> tuple[tuple[Literal, ...], int]:
        tokens = Tokens(line.text, line.number, line.column)
        values = ScalarParser(tokens, self._functions)
        tokens.accept("-")
        counted = tokens.sees("(") and tokens.sees("(", 1)
        if counted:
            tokens.expect("(")
        tokens.expect("(")
        row: list[Literal] = []
        while not tokens.accept(")"):
            if row:
                tokens.expect(",")
            expected = types[len(row)].type if types is not None and len(row) < len(types) else None
            row.append(values.literal(expected))
        diff = 1
        if counted:
            tokens.expect("x")
            sign = -1 if tokens.accept("-") else 1
            diff = sign * tokens.expect_count()
            tokens.expect(")")
        tokens.expect_end()
        if types is not None and len(row) != len(types):
            raise ParseError(line.number, line.column, f"expected {len(types)} values; found {len(row)}")
        return tuple(row), diff


def _types_of(rows: Sequence[Sequence[Literal]]) -> Types:
    """The types of rows without an annotation: those of the first row; a column with a NULL takes NULLs."""
    if not rows:
        return ()
    columns = zip(*rows, strict=False)
    return tuple([_column_type(column) for column in columns])


def _column_type(column: Sequence[Literal]) -> ColumnType:
    known = next((literal for literal in column if literal.raw is not None), column[0])
    return ColumnType(known.type, any(literal.raw is None for literal in column))


def _is_row(line: Line) -> bool:
    return line.text.startswith(("-", "("))
