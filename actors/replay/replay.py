"""Replaying a recording from its beginning to its end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ..dispatch.base import Dispatcher
from .events import Event, Heard, Recording, Sent
from .feeder import Feeder
from .options import ReplayOptions, Until
from .report import Report, in_order
from .stand import Stand


def replay(
    recording: Recording,
    dispatcher: Dispatcher,
    options: ReplayOptions = ReplayOptions(),
    progress: Callable[[int], object] = lambda done: None,
) -> Report:
    """Feed a recording to a fresh storage and fresh replicas, and compare every answer.

    Args:
        dispatcher: a fresh one; it is stopped in the end.
        progress: told the sequence of each message that was taken.

    Raises:
        PillionError: the recording cannot be read or replayed, or the replica cannot be reached.
    """
    replicas = recording.replicas
    with tempfile.TemporaryDirectory(prefix="pillion-replay-") as copies:
        stand = Stand(
            dispatcher,
            replicas,
            workers=options.workers,
            interactive=options.interactive,
            trust=options.trust,
            target=options.target,
        )
        with stand:
            now = dispatcher.services.clock.now
            began, messages, first, last = now(), 0, None, 0.0
            feeder = Feeder(stand, replicas, Path(copies), timeout=options.timeout, speed=options.speed)
            for event in until(recording.events(), options.until):
                feeder.take(event)
                messages += 1
                first, last = event.time if first is None else first, event.time
                progress(event.sequence)
            feeder.settle()
            seconds = now() - began
            feeder.close()
    return Report(
        what=f"replayed {recording.name} on {show_stand(options)}",
        counts=feeder.counts,
        differences=in_order(feeder.differences),
        messages=messages,
        recorded_seconds=last - (first or 0.0),
        ended=feeder.ended,
        seconds=seconds,
        facts={
            "log": recording.name,
            "workers": options.workers if options.target is None else None,
            "interactive": options.interactive if options.target is None else None,
            "replica": None if options.target is None else options.target.name,
        },
    )


def until(events: Iterator[Event], end: Until) -> Iterator[Event]:
    """The events up to there."""
    for event in events:
        if end.ends_before(event):
            return
        yield event


def show_stand(options: ReplayOptions) -> str:
    """Where it is replayed, in a few words."""
    if options.target is not None:
        return f"the replica at {options.target.name}"
    workers = f"{options.workers} worker{'' if options.workers == 1 else 's'}"
    return f"{workers} in each of two runtimes" if options.interactive else workers


def replicas_of(events: Iterator[Event]) -> tuple[str, ...]:
    """The replicas that a recording names, in order."""
    return tuple(dict.fromkeys(event.replica for event in events if isinstance(event, Sent | Heard)))
