"""Measures how far a mirror lags behind 50 changes a second: `make bench AREA=operations/mirror`."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

import httpx

from magicbyte.testing import running_registry


def main() -> int:
    """Register at a rate in one registry, and see when each subject arrives in its mirror."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=50.0, help="changes a second")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long")
    options = parser.parse_args()
    with running_registry("memory:") as source, running_registry("memory:") as target:
        command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "mirror", "--from", source.url, "--to", target.url]
        with (
            subprocess.Popen(command, stderr=subprocess.DEVNULL) as mirror,
            httpx.Client(base_url=source.url, timeout=60) as writer,
            httpx.Client(base_url=target.url, timeout=60) as reader,
        ):
            try:
                lags = _lags(writer, reader, options.rate, options.seconds)
            finally:
                mirror.terminate()
    ordered = sorted(lags)
    sys.stdout.write(
        f"{len(ordered)} changes at {options.rate:g} a second: lag median {statistics.median(ordered):.2f} s, "
        f"p99 {ordered[int(len(ordered) * 0.99)]:.2f} s, most {ordered[-1]:.2f} s\n"
    )
    return 0


def _lags(writer: httpx.Client, reader: httpx.Client, rate: float, seconds: float) -> list[float]:
    """The seconds between each registration's answer and the first list of subjects of the target that has it."""
    writer.post("/subjects/first/versions", json={"schema": '"int"'}).raise_for_status()
    while "first" not in reader.get("/subjects").json():
        time.sleep(0.05)
    waiting: dict[str, float] = {}
    lags: list[float] = []
    began, number = time.monotonic(), 0
    while waiting or time.monotonic() - began < seconds:
        while number < rate * min(time.monotonic() - began, seconds):
            subject = f"s{number}"
            writer.post(f"/subjects/{subject}/versions", json={"schema": '"long"'}).raise_for_status()
            waiting[subject] = time.monotonic()
            number += 1
        arrived = set(reader.get("/subjects").json())
        now = time.monotonic()
        lags += [now - waiting.pop(name) for name in arrived & waiting.keys()]
    return lags


if __name__ == "__main__":
    sys.exit(main())
