"""Failovers to a mirrored standby, simulated and real, and registries on copies of another one's topic.

    python tests/chaos/dr_promoted.py [--failovers 100] [--real 3] [--no-copies] [--seed 1]

simulated  one of two registries in memory is lost with changes that its mirror has not seen; the other is promoted by
           `magicbyte dr promote`, often with the smallest gap that suffices, and registers in all contexts. Some go
           back to the first one, which is empty.
real       clients register on Kafka under a mirror process; A is killed with -9, B is promoted, the clients go on
           there, A comes back, and the mirror goes the other way.
copies     the topic of a registry is copied as MirrorMaker does: aborted records as committed ones, other offsets, some
           tombstones gone; a transaction of the copier is aborted; a registry starts while the copy grows.

A checker of its own (`tests/chaos/kit/id_ledger.py`) compares what clients were told and what exports have: no id of a
context may be given to two texts, also not by a lost registry. Ends with 1 if anything does not hold.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from magicbyte.testing import temporary_broker
from tests.chaos.kit.copied_registries import copy_topics
from tests.chaos.kit.real_failovers import fail_over
from tests.chaos.kit.simulated_failovers import simulation


def simulated(failovers: int, seed: int) -> list[str]:
    with simulation(seed) as row:
        row.run(failovers)
    print(f"  {', '.join(f'{name} {count}' for name, count in sorted(row.counts.items()))}")
    return row.problems


def on_kafka(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Callable[[], list[str]]]]:
    """The stages that need a broker."""
    if not options.real and options.no_copies:
        return
    with temporary_broker() as broker:
        servers = broker.bootstrap_servers
        for number in range(1, options.real + 1):
            chance = random.Random(options.seed + number)
            yield f"real failover {number}", lambda n=number, c=chance: fail_over(servers, n, folder, c)  # type: ignore[misc]
        if not options.no_copies:
            yield "copies of a topic", lambda: copy_topics(servers, folder, random.Random(options.seed))


def stages(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Callable[[], list[str]]]]:
    if options.failovers:
        yield f"{options.failovers} simulated failovers", lambda: simulated(options.failovers, options.seed)
    yield from on_kafka(options, folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failovers", type=int, default=100)
    parser.add_argument("--real", type=int, default=3)
    parser.add_argument("--no-copies", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="magicbyte-promoted-"))
    failed = False
    try:
        for name, run in stages(options, folder):
            print(f"{name}:", flush=True)
            began = time.monotonic()
            problems = run()
            print(f"  {'; '.join(problems) or 'all holds'} ({time.monotonic() - began:.0f} s)", flush=True)
            failed = failed or bool(problems)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
