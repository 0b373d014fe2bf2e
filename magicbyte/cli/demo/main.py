"""`magicbyte demo`: sends 336,776 flights through the whole platform, and compares sums with those of the file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from magicbyte.cli.demo import flights
from magicbyte.cli.demo.steps import Session, aggregate_with_spark
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure
from magicbyte.kit.processes import process
from magicbyte.platform.broker import free_port, port_is_free

_PORTS = {"--kafka-port": 9092, "--registry-port": 8081, "--rest-port": 8082}
#: Flights of this month are produced again, with the second version of the schema.
_REPEATED_MONTH = "12"


def main(arguments: Sequence[str]) -> int:
    """Run the demo; returns 0 if all sums are equal, 1 if they differ or a step failed."""
    parser = CommandParser(prog="magicbyte demo", description=__doc__, examples=("magicbyte demo --keep-running",))
    parser.add_argument("--keep-running", action="store_true", help="leave everything running until Ctrl-C")
    options = parser.parse_args(arguments)
    folder = process.temporary_folder("magicbyte-demo-")
    try:
        with _platform() as demo:
            equal = _run(demo, folder)
            if options.keep_running:
                _say(f"registry {demo.registry}, REST proxy {demo.proxy}, Kafka {demo.bootstrap_servers}; Ctrl-C stops")
                _say(f"the versions compared: {demo.registry}/ui/subjects/{flights.SUBJECT}/compare?from=1&to=3")
                _wait_for_interrupt()
        return 0 if equal else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(demo: Session, folder: Path) -> bool:
    rows = list(flights.read())
    repeated = [row for row in rows if row["month"] == _REPEATED_MONTH]
    first_id = demo.register(flights.schema())
    _say(f"Flight v1 is registered with id {first_id}")
    demo.produce("produce v1", map(flights.avro_json, rows), first_id, len(rows))
    second_id = demo.register(flights.schema(flights.SOURCE_FIELD))
    _say(f"Flight v2, with a field and its default, has id {second_id}")
    demo.produce("produce v2", (flights.avro_json(row, source="again") for row in repeated), second_id, len(repeated))
    without_default = {"name": "gate", "type": "string"}
    _say(f"a field without a default is refused:\n    {demo.refusal(flights.schema(without_default))[:400]} ...")
    expected = flights.totals([*rows, *repeated])
    consumed = demo.consume("consume", expected.flights)
    aggregated, second_version_count = aggregate_with_spark(demo, folder)
    third_id = demo.register(flights.third_schema())
    _say(f"Flight v3, with a longer distance, has id {third_id}; readers of v1 cannot read it, which BACKWARD allows")
    demo.close()
    return _report(demo, expected, consumed, aggregated) and second_version_count == len(repeated)


def _report(demo: Session, expected: flights.Totals, consumed: flights.Totals, aggregated: flights.Totals) -> bool:
    """Print the sums next to each other, and the rates; return whether all sums are equal."""
    print(f"\n{'carrier':8} {'flights':>8} {'file':>8} {'mean delay':>11} {'file':>11}")
    for name in sorted({*expected.carriers, *aggregated.carriers}):
        spark = aggregated.carriers.get(name, flights.Carrier())
        file = expected.carriers.get(name, flights.Carrier())
        mark = "" if spark == file else "  DIFFERS"
        print(f"{name:8} {spark.flights:>8} {file.flights:>8} {spark.mean_delay:>11.4f} {file.mean_delay:>11.4f}{mark}")
    print(f"{'all':8} {aggregated.flights:>8} {expected.flights:>8}")
    print(f"\n{'step':26} {'flights':>8} {'seconds':>8} {'flights/s':>10}")
    for step, count, seconds in demo.rates.rows:
        print(f"{step:26} {count:>8} {seconds:>8.1f} {count / seconds:>10.0f}")
    equal = expected == aggregated == consumed
    print(f"\nSpark's sums, the REST consumer's and the file's are {'equal' if equal else 'NOT equal'}.")
    return equal


@contextmanager
def _platform() -> Iterator[Session]:
    """Run `magicbyte up` on the usual ports, or on free ports in place of occupied ones."""
    ports = {option: port if port_is_free(port) else free_port() for option, port in _PORTS.items()}
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "up", "--ephemeral"]
    command += [text for option, port in ports.items() for text in (option, str(port))]
    platform = subprocess.Popen(  # noqa: S603  our own command
        command, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        assert platform.stdout is not None
        for line in platform.stdout:
            print(line, end="", flush=True)
            if line.startswith("ready"):
                break
        else:
            raise Failure("the platform did not start")
        registry, proxy = (f"http://127.0.0.1:{ports[option]}" for option in ("--registry-port", "--rest-port"))
        yield Session(registry, proxy, f"127.0.0.1:{ports['--kafka-port']}")
    finally:
        platform.terminate()
        platform.wait(30)


def _wait_for_interrupt() -> None:
    try:
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        return


def _say(text: str) -> None:
    print(f"\n{text}", flush=True)
