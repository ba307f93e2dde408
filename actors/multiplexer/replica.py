"""A replica in this process: a multiplexer and the workers behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pykka

from ..dispatch.base import Dispatcher
from ..metrics.system import SystemMetrics
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

    @staticmethod
    def start(
        dispatcher: Dispatcher,
        storage: pykka.ActorRef[Any],
        workers: int,
        *,
        trust: bool = False,
        lane: str | None = None,
        worker_lane: str | None = None,
        metrics: SystemMetrics | None = None,
    ) -> Replica:
        """Start a replica with one runtime.

        Args:
            storage: where its dataflows read and write shards.
            workers: how many workers share each dataflow's rows.
            trust: load the Python functions in plans, which runs code of whoever sent them.
            lane: of the multiplexer.
            worker_lane: of the worker, when there is one only; several workers have a thread each.
            metrics: where its actors show what they measure.
        """
        if workers < 1:
            raise ValueError(f"a replica has at least 1 worker, not {workers}")
        alone = worker_lane if workers == 1 else None
        started = tuple(
            [
                dispatcher.start(Worker, index, storage, trust=trust, metrics=metrics, lane=alone)
                for index in range(workers)
            ]
        )
        return Replica(dispatcher.start(Multiplexer, started, metrics, lane=lane), started)
