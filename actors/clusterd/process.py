"""The process: listens until it is told to stop, or until its runtimes fail."""

from __future__ import annotations

import os
import sys
import threading

from ...messages.errors import PillionError
from ..cli.exits import DONE, FAILED
from ..dispatch.services import make_logger
from ..transport.address import TcpAddress, forget, listen
from ..transport.wire import Ended
from .bell import Bell
from .host import Host
from .options import Options

READY = "pillion clusterd: listening on "
"""What the process prints, with the address, once controllers can connect."""

METRICS = "pillion clusterd: metrics on "
"""What it prints before that, with the address, if it serves metrics."""

STOP_SECONDS = 10.0
"""That the runtimes may take to stop; then the process ends without them."""


def run(options: Options) -> int:
    """Listen and serve. Returns the exit code: ``DONE`` when it was told to stop, ``FAILED`` when a runtime failed.

    To be called on the main thread of a process of its own, which ends afterwards.

    Raises:
        AddressError: the address cannot be listened on.
    """
    log = make_logger("clusterd")
    with Bell() as bell:
        listening, address = listen(options.listen)
        try:
            if not address.is_loopback:
                log.warning("other machines can connect, and what they say is not encrypted", address=str(address))
            host = Host(options, bell.fail)
            if options.metrics is not None:
                serve_metrics(options.metrics, host)
            threading.Thread(target=host.listen, args=(listening,), name="pillion-clusterd", daemon=True).start()
            if options.stop_at_end_of_input:
                threading.Thread(target=_wait_for_end_of_input, args=(bell,), daemon=True).start()
            print(f"{READY}{address}", flush=True)
            failure = bell.wait()
        finally:
            listening.close()
            forget(address)
        if failure is None:
            _stop(host, Ended("the replica's process was stopped", again=True), DONE)
            return DONE
        print(f"pillion: a runtime failed: {type(failure).__name__}: {failure}", file=sys.stderr)
        reason = str(failure) if isinstance(failure, PillionError) else f"{type(failure).__name__}: {failure}"
        _stop(host, Ended(reason, again=True, failed=True), FAILED)
        return FAILED


def serve_metrics(address: TcpAddress, host: Host) -> None:
    """Serve the metrics of the present controller's runtimes for as long as the process lives.

    Raises:
        AddressError: the address cannot be listened on.
    """
    # Here, because importing what serves them takes longer than all the rest.
    from ..metrics.endpoint import MetricsEndpoint

    endpoint = MetricsEndpoint(address, lambda: host.metrics)
    print(f"{METRICS}{endpoint.address}", flush=True)


def _stop(host: Host, last_words: Ended, code: int) -> None:
    """Stop what runs. When that takes too long, because a step does not end, end the process all the same."""
    thread = threading.Thread(target=host.stop, args=(last_words,), name="pillion-clusterd-stop", daemon=True)
    thread.start()
    thread.join(STOP_SECONDS)
    if thread.is_alive():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait_for_end_of_input(bell: Bell) -> None:
    while os.read(0, 1 << 12):
        continue
    bell.stop()


def ready_address(line: str) -> str | None:
    """The address in the line that a process prints when it is ready; None when this is another line."""
    return line.removeprefix(READY).strip() if line.startswith(READY) else None
