"""One registry node that runs out of memory or is told to stop under concurrent writes: no answered write is lost.

    python tests/chaos/registry_stopped.py [--rounds 50] [--seed 1] [--storage sqlite] [--storage postgresql] ...

Memory runs out in two ways: while the node takes large schemas, and while it starts and reads them. It must end, or
serve all that it has answered; a node that is told to stop must end with 0. Ends with 1 if a write that was answered is
not there afterwards under its version and id, if an id was given twice, or if a stop was not clean.
"""

from __future__ import annotations

import argparse
import random
import resource
import runpy
import statistics
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from magicbyte.platform.server_process import ServerFailed, ServerProcess
from magicbyte.testing import running_registry

STORAGES: Mapping[str, Callable[[], AbstractContextManager[dict[str, Any]]]] = runpy.run_path(
    str(Path(__file__).with_name("registry_killed.py"))
)["STORAGES"]

WRITERS = 3
#: Lengths of the schemas, in characters.
LENGTHS = (200, 200_000, 1_000_000, 3_000_000)
#: Rounds on one log; more would only make it larger.
ROUNDS_ON_A_LOG = 10
#: How long a fault may take, in seconds, until the node is killed.
PATIENCE = 30.0
PROPERTIES = {
    # Kafka's own limit is 1 MB, and every storage is to take the longest schema.
    "kafkastore.topic.config.max.message.bytes": "8000000",
    # A Kafka client that got no memory for a thread waits for its brokers until then.
    "kafkastore.init.timeout.ms": "15000",
}


@dataclass(frozen=True, slots=True)
class Written:
    """An answered write; its text follows from its number and length."""

    number: int
    length: int
    version: int
    schema_id: int


def schema(number: int, length: int) -> str:
    return f'{{"type":"record","name":"R{number}","doc":"{"x" * length}","fields":[]}}'


@dataclass(slots=True)
class Load:
    """Threads that register schemas, each under a subject of its own, and what they were answered."""

    url: str
    seed: int
    answered: list[Written] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, writer: int) -> None:
        """Write until stopped."""
        chance, number = random.Random(self.seed + writer), self.seed * 1_000_000 + writer
        while not self.stop.is_set():
            number += WRITERS
            length = chance.choice(LENGTHS)
            body = {"schema": schema(number, length)}
            try:
                answer = httpx.post(f"{self.url}/subjects/s{number}/versions", json=body, timeout=PATIENCE)
            except httpx.HTTPError:
                time.sleep(0.05)
                continue
            if answer.status_code == 200:
                self.answered.append(Written(number, length, answer.json()["version"], answer.json()["id"]))
            else:
                time.sleep(0.05)

    def wait_for(self, count: int) -> None:
        """Wait until so many more writes are answered."""
        enough, deadline = len(self.answered) + count, time.monotonic() + 2 * PATIENCE
        while len(self.answered) < enough:
            if time.monotonic() > deadline:
                raise TimeoutError(f"no {count} writes were accepted within {2 * PATIENCE:.0f} s")
            time.sleep(0.005)


def limit_memory(server: ServerProcess, spare: int) -> None:
    """Let the process have so many bytes more than it has."""
    pid = server.pid
    assert pid is not None
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + spare
    resource.prlimit(pid, resource.RLIMIT_AS, (size, size))


def run_out_while_writing(server: ServerProcess, load: Load, chance: random.Random) -> str:
    """Leave the node little memory; it ends, or goes on and is killed."""
    limit_memory(server, chance.randrange(5_000_000, 80_000_000))
    deadline = time.monotonic() + PATIENCE
    before = len(load.answered)
    while server.is_running and time.monotonic() < deadline and len(load.answered) < before + 40:
        time.sleep(0.01)
    ended = not server.is_running
    server.kill()
    return f"ended by itself with {server.wait()}" if ended else "went on"


def run_out_while_starting(server: ServerProcess, load: Load, chance: random.Random) -> str:
    """Start the node with little memory: it does not start, or has everything."""
    server.kill()
    answered = list(load.answered)
    server.launch()
    # The address space of a node without schemas is about 220 MB.
    limit = chance.randrange(150_000_000, 300_000_000)
    assert server.pid is not None
    resource.prlimit(server.pid, resource.RLIMIT_AS, (limit, limit))
    try:
        server.wait_until_ready(PATIENCE)
    except ServerFailed:
        return f"did not start, with {server.wait(PATIENCE)}"
    problems = missing(server.url, answered, starved=True)
    server.kill()
    if problems:
        raise AssertionError(f"started with a part of the log: {problems[:3]}")
    return "started"


def stop_cleanly(server: ServerProcess, _load: Load, _chance: random.Random) -> str:
    """Tell the node to stop."""
    started = time.monotonic()
    code = server.stop(PATIENCE)
    if code != 0:
        raise AssertionError(f"a stop ended with {code}: {server.last_lines()}")
    return f"stopped in {time.monotonic() - started:.1f} s"


FAULTS: tuple[Callable[[ServerProcess, Load, random.Random], str], ...] = (
    run_out_while_writing,
    stop_cleanly,
    run_out_while_starting,
)


def missing(url: str, answered: list[Written], *, starved: bool = False) -> list[str]:
    """The answered writes that do not hold; a starved node may fail, but not answer otherwise."""
    problems = []
    with httpx.Client(base_url=url, timeout=2 * PATIENCE) as client:
        for write in answered:
            try:
                found = client.get(f"/subjects/s{write.number}/versions/{write.version}")
            except httpx.HTTPError:
                if starved:
                    break
                raise
            if starved and found.status_code >= 500:
                continue
            value = found.json()
            if (value.get("id"), value.get("schema")) != (write.schema_id, schema(write.number, write.length)):
                problems.append(f"{write} was answered, and is {str(value)[:200]}")
    return problems


def run(rounds: int, seed: int, name: str, **registry: Any) -> tuple[int, list[str]]:
    """Make faults in turn on one log.

    Args:
        rounds: How many.
        seed: Of the random choices.
        name: The storage's, for the lines that are printed.
        registry: What `running_registry` takes.

    Returns:
        The number of answered writes, and what does not hold.
    """
    chance, problems = random.Random(seed), list[str]()
    waits: list[float] = []
    with running_registry(**registry) as server:
        load = Load(server.url, seed)
        writers = [threading.Thread(target=load.run, args=(writer,)) for writer in range(WRITERS)]
        for writer in writers:
            writer.start()
        try:
            for number in range(rounds):
                load.wait_for(chance.randint(1, 20))
                fault = FAULTS[(number + seed) % len(FAULTS)]
                try:
                    outcome = fault(server, load, chance)
                except AssertionError as error:
                    problems.append(f"{fault.__name__}: {error}")
                    outcome = "PROBLEM"
                server.kill()
                started = time.monotonic()
                server.start(2 * PATIENCE)
                load.wait_for(1)
                waits.append(time.monotonic() - started)
                print(f"{name} round {number + 1}: {fault.__name__}: {outcome}", flush=True)
        finally:
            load.stop.set()
            for writer in writers:
                writer.join()
        ids = [write.schema_id for write in load.answered]
        if len(set(ids)) != len(ids):
            problems.append("an id was answered for two schemas")
        problems += missing(server.url, load.answered)
    print(f"{name}: the next write after a start: {statistics.median(waits):.1f} s (at most {max(waits):.1f})")
    return len(load.answered), problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--storage", action="append", choices=sorted(STORAGES))
    options = parser.parse_args()
    names = options.storage or list(STORAGES)
    answered, problems = 0, list[str]()
    for index, first in enumerate(range(0, options.rounds, ROUNDS_ON_A_LOG)):
        name = names[index % len(names)]
        with STORAGES[name]() as registry:
            some = min(ROUNDS_ON_A_LOG, options.rounds - first)
            count, wrong = run(some, options.seed + index, name, **registry, properties=PROPERTIES)
        answered, problems = answered + count, problems + wrong
    print(f"{options.rounds} rounds, {answered} writes answered; {len(problems)} problems")
    for problem in problems[:20]:
        print(f"  {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
