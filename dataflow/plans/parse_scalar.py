"""Scalar expressions from text, by precedence climbing. The inverse of :mod:`.print_scalar`."""

from __future__ import annotations

from collections.abc import Mapping

from ...messages.scalars import Call, CallUser, Cast, ColumnRef, If, Literal, LiteralError, Scalar, UserFunction
from ...messages.types import SqlType
from .errors import ParseError
from .literals import literal_from_text, type_named
from .print_scalar import ADDITIVE, AND, BINARY, COMPARISON, MULTIPLICATIVE, NOT, OR, UNARY
from .tokens import Kind, Token, Tokens
from .trees import MAX_DEPTH

Functions = Mapping[str, UserFunction]
"""User functions by name, for the ``@name(…)`` in a text. A text cannot carry the functions themselves."""

_COMPARISONS = frozenset([operator for operator, binds in BINARY.items() if binds == COMPARISON] + ["<>"])
_TIGHTER = {COMPARISON: ADDITIVE, ADDITIVE: MULTIPLICATIVE, MULTIPLICATIVE: UNARY}


def parse_scalar(text: str, line: int = 1, functions: Functions | None = None) -> Scalar:
    """The expression that a text shows.

    Raises:
        ParseError: it shows none; the message says where and what was expected.
    """
    tokens = Tokens(text, line)
    scalar = ScalarParser(tokens, functions or {}).scalar()
    tokens.expect_end()
    return scalar


class ScalarParser:
    """Reads expressions from the tokens of a line."""

    def __init__(self, tokens: Tokens, functions: Functions) -> None:
        self._tokens = tokens
        self._functions = functions
        self._depth = 0

    def scalar(self) -> Scalar:
        """One expression, as long as it goes."""
        return self._parse(OR)

    def summand(self) -> Scalar:
        """One expression up to a comparison or what binds less."""
        return self._parse(ADDITIVE)

    def conjuncts(self) -> tuple[Scalar, ...]:
        """Predicates joined by ``AND``; what stands in parentheses is one predicate."""
        terms = [self._parse(NOT)]
        while self._tokens.accept("and"):
            terms.append(self._parse(NOT))
        if not self._tokens.sees("or"):
            return tuple(terms)
        first = terms[0] if len(terms) == 1 else Call("and", tuple(terms))
        return (self._nary(first, "or", AND),)

    def list(self, opening: str, closing: str) -> tuple[Scalar, ...]:
        """Expressions in brackets, separated by commas."""
        tokens = self._tokens
        tokens.expect(opening)
        if tokens.accept(closing):
            return ()
        scalars = [self._parse(OR)]
        while tokens.accept(","):
            scalars.append(self._parse(OR))
        if not tokens.accept(closing):
            raise tokens.error(f"expected ',' or {closing!r}")
        return tuple(scalars)

    def user_function(self) -> UserFunction:
        """``@name``."""
        token = self._tokens.expect_kind(Kind.USER)
        if token.text not in self._functions:
            known = ", ".join(self._functions) or "none"
            raise self._error(token, f"there is no user function {token.text!r}; known: {known}")
        return self._functions[token.text]

    def literal(self, expected: SqlType | None = None) -> Literal:
        """A constant, of the expected type unless it says its own."""
        tokens = self._tokens
        token = tokens.take()
        type = self._type(token)
        if type is not None:
            expected, token = type, tokens.take()
        sign = "-" if token.kind is Kind.SYMBOL and token.text == "-" and tokens.next.kind is Kind.NUMBER else ""
        value = tokens.take() if sign else token
        if value.kind is Kind.NUMBER:
            natural = SqlType.BIGINT if value.text.isdecimal() else SqlType.DOUBLE
            return self._constant(token, sign + value.text, expected or natural)
        if value.kind is Kind.STRING:
            return self._constant(token, value.text, expected or SqlType.TEXT)
        if value.kind is Kind.WORD and value.text.lower() == "null":
            return Literal(None, expected or SqlType.TEXT)
        if value.kind is Kind.WORD and value.text.lower() in ("true", "false"):
            return self._constant(token, value.text, expected or SqlType.BOOLEAN)
        raise self._error(token, f"expected a constant; found {token.text!r}" if token.text else "expected a constant")

    def _parse(self, level: int) -> Scalar:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._tokens.error(f"expected an expression that nests no deeper than {MAX_DEPTH}")
        scalar = self._prefix(level)
        while (further := self._infix(scalar, level)) is not None:
            scalar = further
        self._depth -= 1
        return scalar

    def _prefix(self, level: int) -> Scalar:
        tokens = self._tokens
        if level <= NOT and tokens.accept("not"):
            return Call("not", (self._parse(NOT),))
        if tokens.sees("-") and tokens.kind_after_next is not Kind.NUMBER:
            tokens.take()
            return Call("neg", (self._parse(UNARY),))
        return self._primary()

    def _infix(self, left: Scalar, level: int) -> Scalar | None:
        """The expression continued by the next operator, if that binds at least as strongly as ``level``."""
        tokens = self._tokens
        token = tokens.next
        if token.kind is Kind.WORD:
            word = token.text.lower()
            if word == "and" and level <= AND:
                return self._nary(left, "and", NOT)
            if word == "or" and level <= OR:
                return self._nary(left, "or", AND)
            if word == "is" and level <= COMPARISON:
                return self._is_null(left)
            return None
        if token.kind is not Kind.SYMBOL:
            return None
        if token.text == "::":
            tokens.take()
            return Cast(left, self._expect_type())
        operator = "!=" if token.text == "<>" else token.text
        binds = BINARY.get(operator)
        if binds is None or level > binds:
            return None
        tokens.take()
        result = Call(operator, (left, self._parse(_TIGHTER[binds])))
        if binds == COMPARISON and tokens.next.kind is Kind.SYMBOL and tokens.next.text in _COMPARISONS:
            raise tokens.error("expected parentheses, because comparisons do not chain")
        return result

    def _nary(self, first: Scalar, function: str, level: int) -> Scalar:
        terms = [first]
        while self._tokens.accept(function):
            terms.append(self._parse(level))
        return Call(function, tuple(terms))

    def _is_null(self, left: Scalar) -> Scalar:
        self._tokens.expect("is")
        negated = self._tokens.accept("not")
        self._tokens.expect("null")
        test = Call("is_null", (left,))
        return Call("not", (test,)) if negated else test

    def _primary(self) -> Scalar:
        tokens = self._tokens
        token = tokens.next
        match token.kind:
            case Kind.COLUMN:
                tokens.take()
                return ColumnRef(int(token.text))
            case Kind.NUMBER | Kind.STRING:
                return self.literal()
            case Kind.USER:
                function = self.user_function()
                return CallUser(function, self.list("(", ")"))
            case Kind.WORD:
                return self._word(token)
            case Kind.SYMBOL if token.text == "(":
                tokens.take()
                inner = self._parse(OR)
                tokens.expect(")")
                return inner
            case Kind.SYMBOL if token.text == "-":
                return self.literal()
            case _:
                raise tokens.error("expected an expression")

    def _word(self, token: Token) -> Scalar:
        tokens = self._tokens
        word = token.text.lower()
        if word in ("null", "true", "false"):
            return self.literal()
        if word == "case":
            return self._case()
        if not tokens.sees("(", 1):
            if type_named(word) is not None:
                return self.literal()
            raise tokens.error("expected an expression")
        tokens.take()
        if word == "cast":
            tokens.expect("(")
            inner = self._parse(OR)
            tokens.expect("as")
            type = self._expect_type()
            tokens.expect(")")
            return Cast(inner, type)
        if word == "error":
            tokens.expect("(")
            message = tokens.expect_kind(Kind.STRING).text
            tokens.expect(")")
            return LiteralError(message)
        type = type_named(word) or _conversion(word)
        arguments = self.list("(", ")")
        if type is None:
            return Call(word, arguments)
        if len(arguments) != 1:
            raise self._error(token, f"expected one argument of {word}; found {len(arguments)}")
        return Cast(arguments[0], type)

    def _case(self) -> Scalar:
        tokens = self._tokens
        tokens.expect("case")
        branches: list[tuple[Scalar, Scalar]] = []
        while tokens.accept("when"):
            condition = self._parse(OR)
            tokens.expect("then")
            branches.append((condition, self._parse(OR)))
        if not branches:
            raise tokens.error("expected 'when'")
        result: Scalar = self._parse(OR) if tokens.accept("else") else Literal(None, SqlType.TEXT)
        if not tokens.accept("end"):
            raise tokens.error("expected 'when', 'else' or 'end'")
        for condition, then in reversed(branches):
            result = If(condition, then, result)
        return result

    def _type(self, token: Token) -> SqlType | None:
        """The type that a word names which was just read."""
        type = type_named(token.text) if token.kind is Kind.WORD else None
        if type is SqlType.DOUBLE:
            self._tokens.accept("precision")
        return type

    def _expect_type(self) -> SqlType:
        token = self._tokens.next
        if token.kind is not Kind.WORD or type_named(token.text) is None:
            raise self._tokens.error(f"expected a type ({', '.join(SqlType)})")
        self._tokens.take()
        return self._type(token) or SqlType.TEXT

    def _constant(self, token: Token, text: str, type: SqlType) -> Literal:
        try:
            return literal_from_text(text, type)
        except ValueError as error:
            raise self._error(token, str(error)) from error

    def _error(self, token: Token, problem: str) -> ParseError:
        return ParseError(self._tokens.line, token.column, problem)


def _conversion(name: str) -> SqlType | None:
    """The target of a conversion such as ``integer_to_bigint``."""
    source, found, target = name.partition("_to_")
    return type_named(target) if found and type_named(source) is not None else None
