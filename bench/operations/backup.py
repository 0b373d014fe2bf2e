"""Backups of a made log of 100,000 schemas of about 1 KB: from SQLite, raw and logical, and from a registry's URL.

    python -P bench/operations/backup.py [--schemas 100000] [--repeats 3] [--url-only | --log-only]

Prints the median seconds of the whole command, the CPU that it used without that of the registry, and the size of the
file. The goal is 10 s on two cores.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from magicbyte.kit.processes.process import temporary_folder
from magicbyte.testing.servers import running_registry
from registry.log.port import BEGINNING, Record
from registry.log.sql import SqlLog

GOAL_SECONDS = 10
_BATCH = 5000


def schema(number: int) -> str:
    """A record of about 1 KB that no other number has."""
    fields = [
        {"name": f"field_{index}", "type": ["null", "string"], "default": None, "doc": f"of schema {number}"}
        for index in range(12)
    ]
    return json.dumps({"type": "record", "name": f"Record{number}", "fields": fields}, separators=(",", ":"))


def records(count: int) -> Iterator[Record]:
    """Subjects with five versions each; one version in twenty is soft deleted."""
    for number in range(count):
        subject, version = f"subject-{number // 5}", number % 5 + 1
        key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
        value = {"subject": subject, "version": version, "id": number + 1, "schema": schema(number)}
        value["deleted"] = number % 20 == 0
        texts = [json.dumps(part, separators=(",", ":")).encode() for part in (key, value)]
        yield Record(texts[0], texts[1], 1_700_000_000_000 + number)


def make_log(url: str, count: int) -> None:
    """Write the log into a new database."""
    log, end, batch = SqlLog(url), BEGINNING, list[Record]()
    for record in records(count):
        batch.append(record)
        if len(batch) == _BATCH:
            end, batch = log.append(batch, end), []
    if batch:
        log.append(batch, end)
    log.close()


def cpu_of_children() -> float:
    """The seconds of CPU that ended children have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(name: str, arguments: list[str], target: Path, repeats: int) -> None:
    """Run the command some times, and print the median."""
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "backup", *arguments, "-o", str(target)]
    seconds, cpu = [], []
    for _ in range(repeats):
        begun, used = time.perf_counter(), cpu_of_children()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - begun)
        cpu.append(cpu_of_children() - used)
    median, size = statistics.median(seconds), target.stat().st_size / 1e6
    spread = f"from {min(seconds):.2f} to {max(seconds):.2f}"
    print(f"{name:<34} {median:6.2f} s  ({spread})  {statistics.median(cpu):6.2f} s of CPU  {size:7.1f} MB", flush=True)


def main() -> None:
    """Make the log, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--url-only", action="store_true")
    only.add_argument("--log-only", action="store_true")
    options = parser.parse_args()
    folder = Path(temporary_folder("magicbyte-bench-backup-"))
    url = f"sqlite:///{folder}/registry.db"
    make_log(url, options.schemas)
    print(f"{options.schemas:,} schemas; the goal is {GOAL_SECONDS} s")
    if not options.url_only:
        for form in ("logical", "raw"):
            for ending in ("ndjson", "ndjson.zst"):
                target = folder / f"{form}.{ending}"
                measure(f"sqlite: {form} .{ending}", [url, "--format", form], target, options.repeats)
    if not options.log_only:
        with running_registry(url) as registry:
            measure("URL: logical .ndjson.zst", [registry.url], folder / "url.ndjson.zst", options.repeats)


if __name__ == "__main__":
    main()
