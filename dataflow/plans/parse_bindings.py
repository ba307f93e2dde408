"""Blocks of local bindings from text: ``With`` and ``Return``, in either order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ...messages.ids import GlobalId
from ...messages.relations import Binding, Let, LetRec, RecursiveBinding, Relation
from .annotations import annotated_types
from .errors import ParseError
from .parse_lines import Line
from .tokens import Kind, Tokens
from .trees import free_locals
from .typing import Types

_BLOCK = re.compile(r"(with|return)\b(?!\s*\()", re.IGNORECASE)
_CTE = re.compile(r"cte\b", re.IGNORECASE)


def is_binding_block(line: Line) -> bool:
    """Whether the line begins a ``With`` or a ``Return`` block."""
    return _BLOCK.match(line.text) is not None


def is_cte(line: Line) -> bool:
    """Whether the line begins a binding."""
    return _CTE.match(line.text) is not None


def binding_block(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines at the beginning that are one expression: any number of ``With`` and one ``Return``, first or last."""
    end = 1
    return_first = _is_return(lines[0])
    while end < len(lines) and is_binding_block(lines[end]):
        if _is_return(lines[end]):
            return lines[: end + (not return_first)]
        end += 1
    return lines[:end]


def parse_bindings(block: Sequence[Line], relations: Callable[[Sequence[Line]], list[Relation]]) -> Relation:
    """The expression that a block shows; ``relations`` are those that some lines show.

    Raises:
        ParseError: it shows none.
    """
    withs = [line for line in block if not _is_return(line)]
    returns = [line for line in block if _is_return(line)]
    if not withs or not returns:
        missing = "With" if not withs else "Return"
        raise ParseError(block[0].number, block[0].column, f"expected a {missing} block beside this one")
    _tokens(returns[0], "return").expect_end()
    result = _one(returns[0], relations(returns[0].below))
    # Blocks are written last to first below a Return, first to last above it.
    return_first = returns[0] is block[0]
    for line in withs if return_first else reversed(withs):
        result = _with(line, result, relations, return_first)
    return result


def _with(
    line: Line, body: Relation, relations: Callable[[Sequence[Line]], list[Relation]], return_first: bool
) -> Relation:
    tokens = _tokens(line, "with")
    recursive = tokens.accept("mutually")
    limit: int | None = None
    return_at_limit = False
    if recursive:
        tokens.expect("recursive")
        bracketed = tokens.accept("[")
        while not (tokens.accept("]") if bracketed else tokens.next.kind is Kind.END):
            if tokens.accept("recursion_limit"):
                tokens.expect("=")
                limit = tokens.expect_count()
            elif tokens.accept("return_at_limit"):
                return_at_limit = True
            else:
                raise tokens.error("expected recursion_limit=… or return_at_limit")
            tokens.accept(",")
    tokens.expect_end()
    bindings = [_cte(below, relations) for below in line.below]
    if not bindings:
        raise ParseError(line.number, line.column, "expected 'cte name =' below With")
    if recursive:
        values = tuple([RecursiveBinding(name, types or (), value) for name, types, value in bindings])
        return LetRec(values, body, limit, return_at_limit)
    found = [Binding(name, value) for name, _, value in bindings]
    return Let(_in_order(line, found) if return_first else tuple(found), body)


def _cte(line: Line, relations: Callable[[Sequence[Line]], list[Relation]]) -> tuple[str, Types | None, Relation]:
    if not is_cte(line):
        raise ParseError(line.number, line.column, f"expected 'cte name ='; found {line.text!r}")
    tokens = _tokens(line, "cte")
    name = tokens.next
    tokens.expect_kind(Kind.WORD)
    if _is_global(name.text):
        raise ParseError(line.number, name.column, f"expected a name such as l0; {name.text!r} is an id")
    tokens.expect("=")
    tokens.expect_end()
    return name.text, annotated_types(tokens), _one(line, relations(line.below))


def _one(line: Line, relations: list[Relation]) -> Relation:
    if len(relations) != 1:
        raise ParseError(line.number, line.column, f"expected one relation below this line; found {len(relations)}")
    return relations[0]


def _in_order(line: Line, bindings: list[Binding]) -> tuple[Binding, ...]:
    """The bindings so that each refers to earlier ones only; below a ``Return`` they may be listed last to first."""
    for candidate in (bindings, bindings[::-1]):
        later = {binding.name for binding in candidate}
        for binding in candidate:
            later.discard(binding.name)
            if later & free_locals(binding.value):
                break
        else:
            return tuple(candidate)
    raise ParseError(line.number, line.column, "these ctes refer to one another; use With Mutually Recursive")


def _is_return(line: Line) -> bool:
    return line.text[:1] in "rR"


def _is_global(name: str) -> bool:
    try:
        GlobalId.parse(name)
    except ValueError:
        return False
    return True


def _tokens(line: Line, word: str) -> Tokens:
    tokens = Tokens(line.text, line.number, line.column)
    tokens.expect(word)
    return tokens
