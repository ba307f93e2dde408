"""A replica in this process: a multiplexer and the workers behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pykka

from ..dispatch.base import Dispatcher
from ..metrics.system import SystemMetrics
from ..process.memory import Memory
from ..registry.registry import SharingRegistry
from ..worker.placement import Placement
from ..worker.process_globals import ProcessGlobals
from ..worker.worker import Worker
from .multiplexer import Multiplexer

MOST_WORKERS = 256
"""Each is a thread, and every command goes to all of them; more than there are cores is of use to tests only."""


@dataclass(frozen=True, slots=True)
class Replica:
    """The actors of a replica. Commands go to ``endpoint``, which tells what comes of them to the actor that
    connected last."""

    endpoint: pykka.ActorRef[Multiplexer]
    workers: tuple[pykka.ActorRef[Worker], ...]
    """Of the solo runtime, or of the maintenance runtime."""
    interactive: tuple[pykka.ActorRef[Worker], ...] = ()
    """Of the interactive runtime, as many, or none."""
    registry: pykka.ActorRef[SharingRegistry] | None = None
    """Where the two runtimes meet."""

    @staticmethod
    def start(
        dispatcher: Dispatcher,
        storage: pykka.ActorRef[Any],
        workers: int,
        *,
        interactive: bool = False,
        trust: bool = False,
        lane: str | None = None,
        worker_lane: str | None = None,
        metrics: SystemMetrics | None = None,
        memory: Memory | None = None,
    ) -> Replica:
        """Start a replica.

        Args:
            storage: where its dataflows read and write shards.
            workers: how many workers of each runtime share each dataflow's rows.
            interactive: with a second runtime, which answers reads; else there is one, which does everything.
            trust: load the Python functions in plans, which runs code of whoever sent them.
            lane: of the multiplexer, and of the registry where the runtimes meet.
            worker_lane: of the worker, when there is one only; several workers have a thread each, and a dispatcher
                runs one replica only.
            metrics: where its actors show what they measure.
            memory: of the process, of which the controller is told when it is too much; None: it is not looked at.
        """
        if workers < 1:
            raise ValueError(f"a replica has at least 1 worker, not {workers}")
        alone = worker_lane if workers == 1 and not interactive else None
        registry = dispatcher.start(SharingRegistry, lane=lane) if interactive else None

        def runtime(placement: Placement, process_globals: ProcessGlobals) -> tuple[pykka.ActorRef[Worker], ...]:
            # The lane's name is seen in lists of threads and in metrics.
            name = "interactive" if placement is Placement.INTERACTIVE else "worker"
            started = [
                dispatcher.start(
                    Worker,
                    index,
                    storage,
                    placement=placement,
                    process_globals=process_globals,
                    trust=trust,
                    metrics=metrics,
                    memory=memory,
                    registry=registry,
                    lane=alone or f"{name}-{index}",
                )
                for index in range(workers)
            ]
            return tuple(started)

        first = runtime(Placement.MAINTENANCE if interactive else Placement.SOLO, ProcessGlobals.APPLY)
        second = runtime(Placement.INTERACTIVE, ProcessGlobals.INHERIT) if interactive else ()
        return Replica(
            dispatcher.start(Multiplexer, first, metrics, interactive=second, lane=lane), first, second, registry
        )
