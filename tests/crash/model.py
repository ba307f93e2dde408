"""What the writers of a crash test do, and what the tables hold after so many of their operations.

Each writer has rows of its own, numbers its operations 1, 2, …, and does them one after the other. An operation is one
transaction over two tables: ``slots`` (with a key) gets a row replaced, ``entries`` (without) gets one more and loses
the one of :data:`WINDOW` operations ago. So what they hold says how many operations there were, and nothing else can
come of that many.
"""

from __future__ import annotations

WINDOW = 10
SLOTS = 4

Row = tuple[object, ...]


def slots(writer: int, done: int) -> set[Row]:
    """The rows ``(writer, slot, operation)``."""
    return {(writer, n % SLOTS, n) for n in range(max(1, done - SLOTS + 1), done + 1)}


def entries(writer: int, done: int) -> list[Row]:
    """The rows ``(writer, operation, text)``."""
    return [(writer, n, text(n)) for n in range(max(1, done - WINDOW + 1), done + 1)]


def text(operation: int) -> str:
    """Of different lengths, so that records cross the pages of a file in different places."""
    return f"{operation:05}" * (operation % 40)


class Mismatch(AssertionError):
    """What is there is not what it has to be."""


def done(writer: int, there: dict[str, list[Row]], acknowledged: int, begun: int) -> int:
    """How many operations of a writer the tables hold.

    Raises:
        Mismatch: fewer than were acknowledged, more than were begun, or part of one.
    """
    mine = sorted(row for row in there["entries"] if row[0] == writer)
    found = max((row[1] for row in mine), default=0)
    assert isinstance(found, int)
    if not acknowledged <= found <= begun:
        raise Mismatch(f"writer {writer}: {acknowledged} acknowledged, {begun} begun, and {found} are there")
    if mine != entries(writer, found):
        raise Mismatch(f"writer {writer}: after {found} operations there is {mine}")
    kept = [row for row in there["slots"] if row[0] == writer]
    if len(kept) != len(set(kept)) or set(kept) != slots(writer, found):
        raise Mismatch(f"writer {writer}: after {found} operations the slots are {kept}")
    return found
