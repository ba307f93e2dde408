"""What a worker has and has done, as numbers."""

from __future__ import annotations

from collections.abc import Sequence

from .state import ComputeState

DATAFLOWS_CREATED = "dataflows_created"
DATAFLOWS_DROPPED = "dataflows_dropped"
DATAFLOWS_KEPT = "dataflows_kept"
COMMANDS_REFUSED = "commands_refused"
PEEKS_ANSWERED = "peeks_answered"

PER_WORKER = ("arrangement_records", "arrangement_batches", "arrangement_bytes")
"""The counters to be summed over workers. All workers of a runtime agree on the others."""


def sum_counters(workers: Sequence[dict[str, int]], interactive: Sequence[dict[str, int]] = ()) -> dict[str, int]:
    """The counters of a replica, given those of its workers, of which there is at least one, and of those of its
    interactive runtime: what each of the two runtimes does is done once."""
    total = dict(workers[0])
    for name in PER_WORKER:
        total[name] = sum(counters[name] for counters in workers)
    if interactive:
        other = sum_counters(interactive)
        total = {name: count + other[name] for name, count in total.items()}
    return total


def read_counters(state: ComputeState) -> dict[str, int]:
    """The counters by name: what happened so far, then what there is now."""
    happened = (DATAFLOWS_CREATED, DATAFLOWS_DROPPED, DATAFLOWS_KEPT, COMMANDS_REFUSED, PEEKS_ANSWERED)
    counters = {name: state.counters[name] for name in happened}
    rendered = [running for running in state.dataflows.values() if not running.is_logging]
    sizes = [state.traces[id].sizes() for running in rendered for id in running.exports if id in state.traces]
    return counters | {
        "dataflows": len(rendered),
        "collections": sum(len(running.exports) for running in rendered),
        "peers": len(state.peers),
        "active_peeks": len(state.peeks),
        "arrangement_records": sum(records for records, _, _ in sizes),
        "arrangement_batches": sum(batches for _, batches, _ in sizes),
        "arrangement_bytes": sum(size for _, _, size in sizes),
    }
