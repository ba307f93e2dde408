"""A replay that goes step by step, under a person's or a script's commands.

It runs on the simulated dispatcher, so everything stands still between two steps. A step is the next message between
actors or, when none is on its way, the next message of the log.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

import pykka

from ...messages.errors import PillionError
from ...messages.frontiers import Frontier, show_frontier
from ..dispatch.base import SystemActor
from ..dispatch.simulated import SimulatedDispatcher
from .breakpoints import Breakpoint, Vocabulary, messages_of, read_breakpoint
from .events import Acknowledged, Event, Heard, Recording, Sent, Stored
from .feeder import Feeder
from .mentions import describe
from .options import ReplayOptions
from .replay import show_stand, until
from .report import Report, in_order
from .stand import Stand
from .states import show_state
from .verdict import Outcome

HELP = """\
next [N]        do N steps (default: 1)
continue        go on to the next breakpoint, or to the end
break WHAT      stop at a kind of message, an id, the uuid of a peek, an actor, or a sequence of the log
breakpoints     the breakpoints; delete WHAT: without this one
state ACTOR     everything that an actor knows
actors          the actors, and how many messages wait for each
mailboxes       the messages that wait
frontiers       how far each collection had come, and has come
answers         how many answers are the same so far, and what has not come yet
quit            end here"""


class UnknownCommand(PillionError):
    """The debugger does not understand."""


class SteppedDispatcher(SimulatedDispatcher):
    """A simulation whose actors can be looked at, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.actors: dict[str, SystemActor] = {}

    def reference(self, actor: SystemActor) -> pykka.ActorRef[Any]:
        reference = super().reference(actor)
        self.actors[self.name(actor)] = actor
        return reference


class Debugger:
    """Reads commands, line by line, and prints what comes of them.

    Args:
        strict: a command that cannot be done ends everything, as it should where a script gives them.
    """

    def __init__(
        self, recording: Recording, options: ReplayOptions, out: TextIO, *, prompt: str = "", strict: bool = True
    ) -> None:
        self._recording = recording
        self._options = options
        self._out = out
        self._prompt = prompt
        self._strict = strict
        self._breakpoints: list[Breakpoint] = []
        self._finished = False
        self._messages = 0
        self._commands: dict[str, Callable[[str], None]] = {
            "help": lambda _: self._say(HELP),
            "next": self._next,
            "continue": self._continue,
            "break": self._break,
            "breakpoints": lambda _: self._say("\n".join(b.text for b in self._breakpoints) or "none"),
            "delete": self._delete,
            "state": self._state,
            "actors": self._actors,
            "mailboxes": self._mailboxes,
            "frontiers": self._frontiers,
            "answers": self._answers,
        }

    def run(self, lines: Iterable[str]) -> Report:
        """Follow commands until ``quit``, or until there are no more.

        Raises:
            PillionError: a command cannot be done, where ``strict``; or the recording cannot be read.
        """
        options, replicas = self._options, self._recording.replicas
        self._dispatcher = SteppedDispatcher()
        with tempfile.TemporaryDirectory(prefix="pillion-replay-") as copies:
            stand = Stand(
                self._dispatcher,
                replicas,
                workers=options.workers,
                interactive=options.interactive,
                trust=options.trust,
            )
            with stand:
                self._feeder = Feeder(stand, replicas, Path(copies), timeout=options.timeout)
                self._events = until(self._recording.events(), options.until)
                self._vocabulary = Vocabulary(set(self._dispatcher.actors))
                self._vocabulary.learn(self._recording.events())
                self._dispatcher.run()
                self._dispatcher.trace.clear()
                self._say(
                    f"{self._recording.name}: {self._vocabulary.last} messages, on {show_stand(options)}; help lists "
                    "the commands"
                )
                self._follow(lines)
                if self._finished:
                    self._feeder.close()
        return Report(
            what=f"replayed {self._recording.name} on {show_stand(options)}"
            + ("" if self._finished else f" up to message {self._feeder.last}"),
            counts=self._feeder.counts,
            differences=in_order(self._feeder.differences),
            messages=self._messages,
            recorded_seconds=0.0,
            ended=self._feeder.ended,
        )

    def _follow(self, lines: Iterable[str]) -> None:
        self._ask()
        for line in lines:
            word, _, argument = line.strip().partition(" ")
            if word == "quit" or (word and "quit".startswith(word)):
                return
            try:
                if word and not word.startswith("#"):
                    self._command(word)(argument.strip())
            except PillionError as error:
                if self._strict:
                    raise
                self._say(str(error))
            self._ask()

    def _command(self, word: str) -> Callable[[str], None]:
        """A command by its name, or by the beginning of it."""
        found = [name for name in self._commands if name.startswith(word)]
        if word in self._commands or found:
            return self._commands[word if word in self._commands else found[0]]
        raise UnknownCommand(f"there is no command {word!r}; there are {', '.join((*self._commands, 'quit'))}")

    def _ask(self) -> None:
        if self._prompt:
            self._out.write(self._prompt)
            self._out.flush()

    def _say(self, text: str) -> None:
        print(text, file=self._out)

    # --- Going on ------------------------------------------------------------------------------------------------

    def _next(self, argument: str) -> None:
        if argument and not (argument.isdecimal() and int(argument) > 0):
            raise UnknownCommand(f"next {argument}: expected a number of steps, from 1 on")
        for _ in range(int(argument or 1)):
            if self._finished:
                self._say("this is the end")
                return
            for line, _ in self._step():
                self._say(line)

    def _continue(self, argument: str) -> None:
        while not self._finished:
            for line, met in self._step():
                if met is not None:
                    self._say(f"breakpoint {met.text}")
                    self._say(line)
                    return
        self._say("this is the end")

    def _step(self) -> list[tuple[str, Breakpoint | None]]:
        """What happened, in lines, each with the breakpoint that it meets, if it does."""
        if not self._dispatcher.quiet:
            self._dispatcher.step()
            return self._delivered()
        event = next(self._events, None)
        if event is None:
            self._feeder.settle()
            self._finished = True
            return self._delivered()
        self._messages += 1
        self._feeder.take(event)
        met = next((b for b in self._breakpoints if b.meets_event(event)), None)
        return [*self._delivered(), (show_event(event), met)]

    def _delivered(self) -> list[tuple[str, Breakpoint | None]]:
        """The messages that were delivered since this was asked last."""
        trace = self._dispatcher.trace
        told = [
            (
                f"        {each.sender} -> {each.receiver}: {describe(each.message)}",
                next((b for b in self._breakpoints if b.meets(each.sender, each.receiver, each.message)), None),
            )
            for each in trace
        ]
        trace.clear()
        return told

    # --- Breakpoints ---------------------------------------------------------------------------------------------

    def _break(self, argument: str) -> None:
        self._breakpoints.append(read_breakpoint(argument, self._vocabulary))

    def _delete(self, argument: str) -> None:
        kept = [b for b in self._breakpoints if b.text != argument]
        if len(kept) == len(self._breakpoints):
            raise UnknownCommand(f"there is no breakpoint {argument!r} to delete")
        self._breakpoints = kept

    # --- Looking -------------------------------------------------------------------------------------------------

    def _state(self, argument: str) -> None:
        actor = self._dispatcher.actors.get(argument)
        if actor is None:
            raise UnknownCommand(f"there is no actor {argument!r}; there are {', '.join(self._dispatcher.actors)}")
        for line in show_state(actor):
            self._say(line)

    def _actors(self, argument: str) -> None:
        depths = self._dispatcher.mailbox_depths()
        for name, actor in self._dispatcher.actors.items():
            state = getattr(actor, "state", None)
            role = "" if state is None else f", {state.placement.name.lower()} {state.worker}"
            self._say(f"{name}{role}: {depths.get(name, 0)} waiting")

    def _mailboxes(self, argument: str) -> None:
        waiting = {name: depth for name, depth in self._dispatcher.mailbox_depths().items() if depth}
        for name, depth in waiting.items():
            self._say(f"{name}: {depth}")
        if not waiting:
            self._say("nothing waits")

    def _frontiers(self, argument: str) -> None:
        for ledger in self._feeder.ledgers.values():
            for export in ledger.exports:
                recorded, replayed = export.uppers()
                self._say(f"{export.id}: recorded {_upper(recorded)}, replayed {_upper(replayed)}")

    def _answers(self, argument: str) -> None:
        counts = self._feeder.counts
        told = [f"{sum(n for (_, o), n in counts.items() if o is outcome)} {outcome}" for outcome in Outcome]
        self._say(", ".join(told))
        missing = self._feeder.missing()
        self._say("nothing is missing" if missing is None else f"not yet: {missing}")


def show_event(event: Event) -> str:
    """A message of the log, as a line."""
    match event:
        case Sent(sequence, _, replica, command):
            return f"{event.sequence:>6}  to {replica}: {describe(command)}"
        case Stored(sequence, _, message):
            return f"{sequence:>6}  to the storage: {describe(message)}"
        case Heard(sequence, _, replica):
            return f"{sequence:>6}  recorded from {replica}: {', '.join(map(describe, messages_of(event)))}"
        case Acknowledged(sequence, _, of):
            return f"{sequence:>6}  recorded from the storage: an answer to message {of}"


def _upper(frontier: Frontier | str) -> str:
    return frontier if isinstance(frontier, str) else show_frontier(frontier)


def lines_of(source: TextIO) -> Iterator[str]:
    """Lines as they come, so that a person sees each answer before the next question."""
    while line := source.readline():
        yield line
