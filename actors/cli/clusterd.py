"""``pillion clusterd``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...messages.errors import PillionError
from .arguments import add_command

if TYPE_CHECKING:
    from .arguments import Commands

DESCRIPTION = """\
Run a replica as a process of its own: it listens for a system (ActorSystem(replica="tcp://…")), which tells it what to
compute, sends it the changes of its tables, and reads from it. Both must know one secret, from a file or from the
environment variable PILLION_SECRET. docs/clusterd.md tells what happens when something ends."""

EXAMPLES = """\
  pillion clusterd --secret-file secret --controller-listen-addr 127.0.0.1:2101 \\
    --compute-timely-config '{"workers":2,"process":0,"addresses":["127.0.0.1:2102"]}'
  pillion clusterd --secret-file secret --controller-listen-addr unix:///run/pillion/replica \\
    --compute-timely-config '{"workers":1,"process":0,"addresses":["127.0.0.1:2102"]}'"""

DEFAULT_ADDRESS = "tcp://127.0.0.1:2101"
_LEAST_FRAME = 1 << 16

T = TypeVar("T")


def add_to(commands: Commands) -> None:
    """Define the subcommand."""
    parser = add_command(commands, "clusterd", "run a replica as a process of its own", DESCRIPTION, EXAMPLES)
    parser.add_argument(
        "--controller-listen-addr",
        type=_checked(_address),
        default=DEFAULT_ADDRESS,
        metavar="ADDR",
        help=f"tcp://HOST:PORT or unix:///PATH; port 0 takes a free one (default: {DEFAULT_ADDRESS})",
    )
    parser.add_argument(
        "--compute-timely-config",
        type=_checked(_layout),
        required=True,
        metavar="JSON",
        help="workers, process and addresses of the first runtime",
    )
    parser.add_argument(
        "--interactive-compute-timely-config",
        type=_checked(_layout),
        metavar="JSON",
        help="the same of a second runtime, for reads; of the same shape (default: there is none)",
    )
    parser.add_argument(
        "--metrics-listen-addr",
        type=_checked(_tcp_address),
        metavar="ADDR",
        help="serve metrics for Prometheus over HTTP at this tcp://HOST:PORT (default: they are not served)",
    )
    parser.add_argument("--secret-file", type=Path, metavar="FILE", help="holds the secret (default: PILLION_SECRET)")
    parser.add_argument(
        "--trust", action="store_true", help="run the Python functions that are in plans of who knows the secret"
    )
    parser.add_argument(
        "--max-message-size",
        type=_message_size,
        metavar="BYTES",
        help="of one message either way (default: 1 GiB, which is what systems expect)",
    )
    parser.add_argument(
        "--stop-at-end-of-input", action="store_true", help="stop when the standard input ends, as on SIGTERM"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the process until it is told to stop, or fails."""
    from ..clusterd.config import check_one_process, prepare_interactive_compute_config
    from ..clusterd.options import Options
    from ..clusterd.process import run as run_process
    from ..transport.connection import Limits
    from ..transport.secret import read_secret

    maintenance, interactive = options.compute_timely_config, options.interactive_compute_timely_config
    check_one_process(maintenance)
    return run_process(
        Options(
            listen=options.controller_listen_addr,
            secret=read_secret(options.secret_file),
            maintenance=maintenance,
            interactive=None if interactive is None else prepare_interactive_compute_config(maintenance, interactive),
            trust=options.trust,
            stop_at_end_of_input=options.stop_at_end_of_input,
            metrics=options.metrics_listen_addr,
            limits=Limits() if options.max_message_size is None else Limits(frame=options.max_message_size),
        )
    )


def _checked(parse: Callable[[str], T]) -> Callable[[str], T]:
    """What reads an argument, with its errors as argparse wants them."""

    def read(text: str) -> T:
        try:
            return parse(text)
        except PillionError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _address(text: str) -> Any:
    from ..transport.address import parse_address

    return parse_address(text)


def _tcp_address(text: str) -> Any:
    from ..transport.address import TcpAddress
    from ..transport.errors import AddressError

    address = _address(text)
    if not isinstance(address, TcpAddress):
        raise AddressError(f"{text!r} is no address for metrics: expected tcp://HOST:PORT")
    return address


def _layout(text: str) -> Any:
    from ..clusterd.config import parse_timely_config

    return parse_timely_config(text)


def _message_size(text: str) -> int:
    from ..transport.frames import LARGEST_LIMIT

    if not text.isdecimal() or not _LEAST_FRAME <= int(text) <= LARGEST_LIMIT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes from {_LEAST_FRAME} to {LARGEST_LIMIT}")
    return int(text)
