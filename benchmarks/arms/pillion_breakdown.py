"""Where the time of a tick of one order goes: the processor time of each actor's handler, and the rest.

The rest is what runs outside of handlers: the application's own part, and passing messages on. Measuring costs some
microseconds for each message, so the whole is a little more than an unmeasured tick takes.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from pillion.actors import ActorSystem
from pillion.actors.dispatch.base import SystemActor

from .. import inputs
from ..child import Measured
from .pillion import maintain

Handler = Callable[[Any], Any]
WARM_UP = 200


def breakdown(workers: int, rows: int, ticks: int) -> Measured:
    """Samples by what was done, in seconds for each tick."""
    spent: defaultdict[str, float] = defaultdict(float)
    create = SystemActor.__init__

    def create_measured(actor: SystemActor, **bound: Any) -> None:
        create(actor, **bound)
        actor.table = {
            message: _measured(handler, f"{type(actor).__name__}: {message.__name__}", spent)
            for message, handler in actor.table.items()
        }

    samples: defaultdict[str, list[float]] = defaultdict(list)
    SystemActor.__init__ = create_measured
    try:
        with ActorSystem(workers=workers) as system:
            maintained = maintain(system, inputs.orders(rows).table(), inputs.customers_table())
            for number in range(WARM_UP + ticks):
                changed = inputs.tick(number, 1, rows).rows()
                region = inputs.region_of(changed[0])
                spent.clear()
                start = time.perf_counter()
                maintained.orders.insert(changed)
                maintained.result.lookup(region).one()
                whole = time.perf_counter() - start
                if number >= WARM_UP:
                    _add(samples, dict(spent), whole)
    finally:
        SystemActor.__init__ = create
    usual = {what: times for what, times in samples.items() if len(times) > ticks / 2}
    return Measured(dict(sorted(usual.items(), key=lambda item: -statistics.median(item[1]))))


def _measured(handler: Handler, what: str, spent: defaultdict[str, float]) -> Handler:
    def measured(message: Any) -> Any:
        start = time.thread_time()
        try:
            return handler(message)
        finally:
            spent[what] += time.thread_time() - start

    return measured


def _add(samples: defaultdict[str, list[float]], spent: dict[str, float], whole: float) -> None:
    for what, seconds in spent.items():
        samples[what].append(seconds)
    samples["the rest"].append(whole - sum(spent.values()))
    samples["the whole tick"].append(whole)
