"""What a join asks of its rows: classes of equal expressions, and predicates.

Expressions refer to the inputs' columns side by side. The *support* of an expression are the inputs that it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...messages.scalars import Call, Cast, Literal, Scalar
from ...messages.types import ColumnType
from ..scalars.promotion import common_type, promote
from ..scalars.typing import scalar_type
from .constraints import literals_equal_to
from .failing import may_fail
from .trees import columns_of

Support = frozenset[int]


@dataclass
class JoinConditions:
    """The conditions of one join, sorted by what can be done with them.

    ``classes``: members have one type and are distinct. ``local``: predicates on a single input, by input.
    ``across``: predicates on several inputs (or on none).
    """

    arities: Sequence[int]
    types: Sequence[ColumnType]
    classes: list[list[Scalar]] = field(default_factory=list[list[Scalar]])
    local: list[list[Scalar]] = field(init=False)
    across: list[Scalar] = field(default_factory=list[Scalar])

    def __post_init__(self) -> None:
        self.local = [[] for _ in self.arities]
        self._owners = [input for input, arity in enumerate(self.arities) for _ in range(arity)]

    def support(self, scalar: Scalar) -> Support:
        """The inputs that an expression reads."""
        return frozenset([self._owners[column] for column in columns_of(scalar)])

    def add_class(self, members: Iterable[Scalar]) -> None:
        """All members are equal, and none is NULL. Classes that share a member become one."""
        given = list(members)
        common = common_type(scalar_type(member, self.types).type for member in given)
        if common is None:
            return
        cast = [member if scalar_type(member, self.types).type is common else Cast(member, common) for member in given]
        merged = list(dict.fromkeys(cast))
        if len(merged) == 1:
            if scalar_type(merged[0], self.types).nullable:
                self.add_predicate(Call("not", (Call("is_null", (merged[0],)),)))
            return
        separate: list[list[Scalar]] = []
        for other in self.classes:
            if any(member in other for member in merged):
                merged = list(dict.fromkeys([*other, *merged]))
            else:
                separate.append(other)
        self.classes = [*separate, merged]

    def add_predicate(self, predicate: Scalar) -> None:
        """A condition; an equality of two inputs, or of one with a constant, becomes a class, so that it holds for all
        that is equal. One that can fail stays above the joins, lest it see rows that do not match."""
        match predicate:
            case Call("and", arguments):
                for argument in arguments:
                    self.add_predicate(argument)
                return
            case Call("=", (left, right)) if self._is_key(left, right):
                self.add_class((left, right))
                return
            case Call("=", (Literal() as literal, other)) | Call("=", (other, Literal() as literal)):
                constant = self._constant_for(other, literal)
                if constant is not None:
                    self.add_class((other, constant))
                    return
            case _:
                pass
        support = self.support(predicate)
        if len(support) == 1 and not may_fail(predicate, self.types):
            (input,) = support
            self.local[input].append(predicate)
        else:
            self.across.append(predicate)

    def restrict_inputs(self) -> None:
        """Add the predicates on single inputs that the classes imply."""
        for members in self.classes:
            constants = [member for member in members if not columns_of(member)]
            self.across.extend(Call("=", (constants[0], constant)) for constant in constants[1:])
            for input in range(len(self.arities)):
                own = [member for member in members if self.support(member) == frozenset((input,))]
                for member in own[1:]:
                    self.local[input].append(Call("=", (own[0], member)))
                if own:
                    self.local[input].extend(Call("=", (own[0], constant)) for constant in constants)

    def _constant_for(self, scalar: Scalar, literal: Literal) -> Literal | None:
        """The one value of the expression's own type that a constant stands for; None when that is not clear."""
        if len(self.support(scalar)) != 1 or may_fail(scalar, self.types):
            return None
        values = literals_equal_to(literal, scalar_type(scalar, self.types).type)
        return values[0] if values is not None and len(values) == 1 else None

    def _is_key(self, left: Scalar, right: Scalar) -> bool:
        supports = self.support(left), self.support(right)
        if len(supports[0]) != 1 or len(supports[1]) != 1 or supports[0] == supports[1]:
            return False
        types = [scalar_type(side, self.types).type for side in (left, right)]
        return promote(*types) is not None and not any(may_fail(side, self.types) for side in (left, right))
