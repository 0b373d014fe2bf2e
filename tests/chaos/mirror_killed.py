"""A mirror under changes of every kind, while its source, its target and itself are killed with -9 in turn.

    python tests/chaos/mirror_killed.py [--seconds 60] [--rate 50] [--storage sqlite] [--storage kafka] [--seed 1]

Ends with 1 if the target is not what the source is 30 s after the last change, or if the mirror ended by itself. The
same read-only subjects, too, have to be in both; the other modes are those of a mirror's target.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from magicbyte.operations.comparison.compare import compare
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.state import State
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, temporary_broker

#: The most seconds from the last change until both are equal.
LIMIT = 30.0
#: The pauses between two kills, and how long a server stays away, in seconds.
BETWEEN, AWAY = (0.5, 2.0), (0.0, 1.5)
CLIENTS = 4
SUBJECTS = [*(f"s{number}" for number in range(40)), *(f":.c{number % 3}:t{number}" for number in range(15))]
LEVELS = ("NONE", "BACKWARD", "FORWARD", "FULL")
Request = tuple[str, str, Any]


class Changes:
    """Random requests of every kind, sent to a registry that may be away."""

    def __init__(self, url: str, chance: random.Random) -> None:
        self._client = httpx.Client(base_url=url, timeout=20)
        self._chance = chance
        self._made = 0
        #: Kind of request -> how many were answered with success; `refused` and `away` are the others.
        self.counts: Counter[str] = Counter()
        self._kinds: Mapping[str, tuple[int, Callable[[str], Request]]] = {
            "registered": (12, self._register),
            "registered with a reference": (5, self._refer),
            "version soft-deleted": (3, lambda name: ("DELETE", f"/subjects/{name}/versions/latest", None)),
            "subject soft-deleted": (2, lambda name: ("DELETE", f"/subjects/{name}", None)),
            "version hard-deleted": (2, self._delete_version),
            "subject hard-deleted": (2, lambda name: ("DELETE", f"/subjects/{name}?permanent=true", None)),
            "config set": (3, lambda name: ("PUT", f"/config/{self._settings(name)}", self._level())),
            "config removed": (2, lambda name: ("DELETE", f"/config/{self._settings(name)}", None)),
            "mode set": (2, lambda name: ("PUT", f"/mode/{name}", {"mode": chance.choice(("READONLY", "READWRITE"))})),
            "mode removed": (3, lambda name: ("DELETE", f"/mode/{name}", None)),
        }

    def send(self) -> None:
        """Send one request."""
        weights = [weight for weight, _ in self._kinds.values()]
        kind = self._chance.choices(list(self._kinds), weights)[0]
        method, path, body = self._kinds[kind][1](self._chance.choice(SUBJECTS))
        try:
            answer = self._client.request(method, path, json=body)
        except httpx.HTTPError:
            kind = "away"
            time.sleep(0.05)
        else:
            if not answer.is_success:
                kind = "refused" if answer.status_code < 500 else "away"
        self.counts[kind] += 1

    @property
    def done(self) -> int:
        """The number of changes that were answered with success."""
        return self.counts.total() - self.counts["refused"] - self.counts["away"]

    def _register(self, name: str) -> Request:
        self._made += 1
        # Some schemas come again, under the same subject or another.
        number = self._chance.randrange(self._made) if self._chance.random() < 0.3 else self._made
        fields = f'{{"name":"f{number}","type":["null","int"],"default":null}}'
        schema = f'{{"type":"record","name":"R","fields":[{fields}]}}'
        return "POST", f"/subjects/{name}/versions", {"schema": schema}

    def _refer(self, name: str) -> Request:
        self._made += 1
        # One of the same context, with the name that all records have.
        context, _, _ = name.rpartition(":")
        prefix = f"{context}:" if context else ""
        other = self._chance.choice([one for one in SUBJECTS if one.rpartition(":")[0] == context and one != name])
        schema = f'{{"type":"record","name":"S","fields":[{{"name":"r{self._made}","type":"R"}}]}}'
        reference = {"name": "R", "subject": f"{prefix}{other.rpartition(':')[2]}", "version": self._version()}
        return "POST", f"/subjects/{name}-refers/versions", {"schema": schema, "references": [reference]}

    def _delete_version(self, name: str) -> Request:
        return "DELETE", f"/subjects/{name}/versions/{self._version()}?permanent=true", None

    def _version(self) -> int:
        return self._chance.randint(1, 5)

    def _settings(self, name: str) -> str:
        """A subject, its context, or the registry."""
        context = name.rpartition(":")[0]
        return self._chance.choice([name, name, f"{context}:" if context else ""])

    def _level(self) -> dict[str, str]:
        return {"compatibility": self._chance.choice(LEVELS)}


class MirrorProcess:
    """The command, started again after each kill."""

    def __init__(self, source: str, target: str, log: Path) -> None:
        ends = ["--from", source, "--to", target]
        self._command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "mirror", *ends]
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stderr=log)

    def kill(self) -> None:
        """Kill it.

        Raises:
            AssertionError: It has ended by itself.
        """
        assert self._process is not None
        self.check()
        self._process.kill()
        self._process.wait()

    def check(self) -> None:
        assert self._process is not None
        assert self._process.poll() is None, f"the mirror ended:\n{self.log.read_text()[-2000:]}"


def state_at(url: str) -> State:
    with open_source(url, Properties()) as source:
        return source.read().state


def differences(source: str, target: str) -> list[str]:
    """The differences between two registries; of the modes, those count that forbid writes to a subject."""
    left, right = state_at(source), state_at(target)
    closed = [{name for name, mode in state.modes.items() if mode == "READONLY"} for state in (left, right)]
    found = [one.sentence for one in compare(left, right, ignored=frozenset({"mode"})).differences]
    return found + [f"mode of {name}: READONLY in one" for name in closed[0] ^ closed[1]]


def kill_in_turn(
    source: ServerProcess, target: ServerProcess, mirror: MirrorProcess, chance: random.Random, stop: threading.Event
) -> Counter[str]:
    """Kill the three in turn until stopped; returns the kills. All run at the end."""
    kills: Counter[str] = Counter()
    while not stop.is_set():
        for name, victim in (("source", source), ("mirror", mirror), ("target", target)):
            if stop.wait(chance.uniform(*BETWEEN)):
                break
            victim.kill()
            kills[name] += 1
            time.sleep(chance.uniform(*AWAY))
            victim.start()
    return kills


def send_all(changes: Sequence[Changes], rate: float, seconds: float) -> None:
    """Send so many changes a second, from a client each; those that were due while the source was away come later."""
    began = time.monotonic()

    def send(one: Changes) -> None:
        while (passed := time.monotonic() - began) < seconds:
            if sum(other.done for other in changes) < rate * passed:
                one.send()
            else:
                time.sleep(0.002)

    with ThreadPoolExecutor(len(changes)) as pool:
        list(pool.map(send, changes))


def run(source: ServerProcess, target: ServerProcess, log: Path, options: argparse.Namespace) -> list[str]:
    """Change and kill; returns what does not hold."""
    chance = random.Random(options.seed)
    mirror = MirrorProcess(source.url, target.url, log)
    mirror.start()
    changes = [Changes(source.url, random.Random(options.seed + 1 + number)) for number in range(CLIENTS)]
    stop, result = threading.Event(), list[Any]()

    def killing() -> None:
        try:
            result.append(kill_in_turn(source, target, mirror, chance, stop))
        except BaseException as error:  # noqa: BLE001  told below
            result.append(error)

    thread = threading.Thread(target=killing)
    thread.start()
    send_all(changes, options.rate, options.seconds)
    last = time.monotonic()
    stop.set()
    thread.join()
    if isinstance(result[0], BaseException):
        return [str(result[0])]
    found = differences(source.url, target.url)
    while found and time.monotonic() - last < LIMIT:
        time.sleep(0.1)
        found = differences(source.url, target.url)
    seconds = time.monotonic() - last
    problems = [f"{len(found)} differences after {seconds:.1f} s: {'; '.join(found[:10])}"] if found else []
    try:
        mirror.kill()
    except AssertionError as error:
        problems.append(str(error))
    text = log.read_text()
    versions = len(state_at(source.url).versions)
    done, counts = sum(one.done for one in changes), sum((one.counts for one in changes), Counter[str]())
    print(
        f"kills {dict(result[0])}, {done} changes in {options.seconds:g} s, {versions} versions at the end; "
        f"equal {seconds:.1f} s after the last change; the mirror went on from its mark {text.count('following ')} "
        f"times, {text.count('full sync of ')} full syncs\n  {dict(counts)}"
    )
    return problems


@contextmanager
def on_sqlite(folder: Path) -> Iterator[tuple[ServerProcess, ServerProcess]]:
    with (
        running_registry(f"sqlite:///{folder}/source.db") as source,
        running_registry(f"sqlite:///{folder}/target.db") as target,
    ):
        yield source, target


@contextmanager
def on_kafka(_folder: Path) -> Iterator[tuple[ServerProcess, ServerProcess]]:
    with temporary_broker() as broker, ExitStack() as stack:
        ends = []
        for name in ("source", "target"):
            own = {"kafkastore.topic": f"_{name}", "schema.registry.group.id": name}
            registry = running_registry("kafka:", bootstrap_servers=broker.bootstrap_servers, properties=own)
            ends.append(stack.enter_context(registry))
        yield ends[0], ends[1]


STORAGES: Mapping[str, Callable[[Path], Any]] = {"sqlite": on_sqlite, "kafka": on_kafka}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--storage", action="append", choices=sorted(STORAGES))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = False
    for name in options.storage or STORAGES:
        folder = Path(tempfile.mkdtemp(prefix="magicbyte-mirror-"))
        try:
            with STORAGES[name](folder) as (source, target):
                print(f"{name}:", flush=True)
                problems = run(source, target, folder / "mirror.log", options)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(*problems, sep="\n", flush=True)
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
