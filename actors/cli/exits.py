"""Exit codes of the ``pillion`` command, and the errors that become one sentence of it."""

from __future__ import annotations

from ...messages.errors import PillionError

DONE = 0
DIFFERENT = 1
"""It ran, and what came out is not what was expected."""
UNUSABLE = 2
"""Arguments or input that cannot be used."""
FAILED = 3
"""A process that was to run on has failed."""
INTERRUPTED = 130
"""Ctrl-C, by the shell's convention of 128 and the signal's number."""

EXPLANATION = f"""\
exit status: {DONE} done; {DIFFERENT} it ran, and the result is not the expected one; {UNUSABLE} arguments or input
that cannot be used; {FAILED} a runtime of clusterd failed; {INTERRUPTED} interrupted"""


class UnusableInput(PillionError):
    """What the user gave cannot be used: a file that is not there, text that does not parse, data not installed."""
