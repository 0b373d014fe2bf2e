"""`magicbyte broker`: a single Kafka broker on this machine, in the foreground."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from magicbyte.cli.servers.stopping import StopRequested, stop_on_signals
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import DATA_FOLDER, data_folder, say
from magicbyte.platform.broker import BrokerFailed, LocalBroker


def main(arguments: Sequence[str]) -> int:
    """Run until Ctrl-C or SIGTERM and return the exit code."""
    parser = CommandParser(
        prog="magicbyte broker", description=__doc__, examples=("magicbyte broker --port 9093 --data-dir ./kafka",)
    )
    parser.add_argument(
        "--port", type=int, default=9092, metavar="PORT", help="port for clients (default 9092; 0 picks a free one)"
    )
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help=f"folder for data and log (default {DATA_FOLDER})")
    options = parser.parse_args(arguments)
    broker = LocalBroker(options.data_dir or data_folder(), options.port)
    try:
        with stop_on_signals() as check:
            broker.start()
            say(f"broker at {broker.bootstrap_servers}, its data and log in {broker.data_dir}; Ctrl-C stops it")
            while broker.is_running:
                check()
                time.sleep(0.2)
            raise BrokerFailed(f"the broker ended by itself; its log is {broker.log}")
    except StopRequested:
        return 0
    finally:
        broker.stop()
