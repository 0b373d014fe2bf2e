"""Faults of a registry's storage: deletions that a node never saw, copies, damaged files, a lost end.

    python tests/chaos/registry_storage.py [--rounds 10] [--seed 1] [--only NAME]

suspended  a node of two is stopped for longer than the topic keeps tombstones, while the other one deletes; after it
           resumes, its first answer and all later ones must be those of a node that has read the topic from its start
copied     registrations and hard deletions in several contexts, then an export is imported elsewhere; no id that the
           original has ever given may stand for another schema in the copy
damaged    a registry on SQLite is killed, and its write-ahead log is changed, cut or removed; no id may stand for
           another schema afterwards, and an acknowledged schema may be missing only if the registry says so
hanging    the broker loses the end of the topic, and with it the marker of the last transaction; a node that starts
           then must name the transaction that hangs, and the command that ends it

Ends with 1 if anything does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from magicbyte.platform.broker.local import LocalBroker
from magicbyte.platform.server_process import ServerFailed, ServerProcess
from magicbyte.testing import running_registry, temporary_broker
from tests.chaos.kit.compacting_topic import (
    BROKER,
    compacted_cluster,
    delete_for_good,
    register,
    wait_until_forgotten,
)

LEADS_SECONDS = 60.0


def schema(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": []}, separators=(",", ":"))


def suspended(rounds: int, chance: random.Random) -> list[str]:
    """A node sleeps longer than the topic keeps tombstones."""
    problems: list[str] = []
    cluster = compacted_cluster()
    numbers = count()
    with ExitStack() as stack:
        broker = stack.enter_context(temporary_broker(properties=BROKER))
        first, second = (stack.enter_context(_node(broker, cluster)) for _ in range(2))
        for number in range(rounds):
            sleeper, awake = chance.sample([first, second], 2)
            subjects = {f"s{next(numbers)}" for _ in range(10)}
            ids = {subject: register(awake.url, subject, schema(subject)).json()["id"] for subject in subjects}
            gone = chance.choice(sorted(subjects))
            problems += [
                f"round {number + 1}: {node.url} did not know id {ids[gone]}"
                for node in (first, second)
                if httpx.get(f"{node.url}/schemas/ids/{ids[gone]}", timeout=30).status_code != 200
            ]
            assert sleeper.pid is not None
            os.kill(sleeper.pid, signal.SIGSTOP)
            try:
                _wait_until_writable(awake)
                for subject in {gone, *chance.sample(sorted(subjects), 3)}:
                    delete_for_good(awake.url, subject)
                write = partial(_register_next, awake.url, numbers)
                wait_until_forgotten(broker.bootstrap_servers, cluster["kafkastore.topic"], gone, write)
            finally:
                os.kill(sleeper.pid, signal.SIGCONT)
            answer = httpx.get(f"{sleeper.url}/schemas/ids/{ids[gone]}", timeout=30)
            print(f"round {number + 1}: the first answer is {answer.status_code}", flush=True)
            if answer.status_code not in (404, 503):
                problems.append(f"round {number + 1}: id {ids[gone]} of a deleted schema is {answer.text}")
            _wait_until_writable(sleeper)
            with _node(broker, cluster) as replayed:
                states = [_state(node) for node in (first, second, replayed)]
            if states[0] != states[2] or states[1] != states[2]:
                problems.append(f"round {number + 1}: the nodes differ from one that has read the whole topic")
    return problems


def copied(rounds: int, chance: random.Random) -> list[str]:
    """An export is imported into an empty registry, after what gave the highest ids was deleted."""
    problems: list[str] = []
    contexts = ("", ":.a:", ":.b:", ":.c:")
    with running_registry("memory:") as original:
        given: dict[tuple[str, int], str] = {}
        live: list[tuple[str, int, str]] = []
        for number in range(rounds):
            for index in range(10):
                context, name = chance.choice(contexts), f"s{number}-{index}"
                schema_id = register(original.url, f"{context}{name}", schema(f"S{number}_{index}")).json()["id"]
                given[context, schema_id] = name
                live.append((context, schema_id, name))
            # The newest first: a context may lose all that it had.
            for context, _, name in live[-chance.randint(1, len(live)) :]:
                delete_for_good(original.url, f"{context}{name}")
                live = [entry for entry in live if entry[::2] != (context, name)]
            exported = httpx.get(f"{original.url}/export", timeout=60).content
            with running_registry("memory:") as copy:
                answer = httpx.post(f"{copy.url}/import", content=exported, timeout=60)
                if answer.status_code != 200 or answer.json()["refused"]:
                    problems.append(f"round {number + 1}: {answer.text}")
                for context in contexts:
                    schema_id = register(copy.url, f"{context}new", schema(f"New{number}")).json()["id"]
                    if (context, schema_id) in given:
                        problems.append(f"round {number + 1}: id {schema_id} of {context!r} was given again")
        print(f"{len(given)} ids given, {len(given) - len(live)} of them deleted for good", flush=True)
    return problems


def damaged(rounds: int, chance: random.Random) -> list[str]:
    """SQLite's write-ahead log is damaged beneath a registry that was killed."""
    problems: list[str] = []
    folder = Path(tempfile.mkdtemp())
    storage, accepting = f"sqlite:///{folder}/schemas.db", {"magicbyte.storage.accept.damage": "true"}
    given: dict[int, str] = {}
    numbers = count()
    refusals = 0
    try:
        for number in range(rounds):
            said = ""
            try:
                with running_registry(storage) as server:
                    said = " ".join(server.last_lines(1000))
            except ServerFailed as failure:
                refusals += 1
                if not any("is damaged at byte" in line for line in failure.last_lines):
                    problems.append(f"round {number + 1}: {failure.last_lines}")
            with running_registry(storage, properties=accepting) as server:
                said += " ".join(server.last_lines(1000))
                for schema_id, text in list(given.items()):
                    found = httpx.get(f"{server.url}/schemas/ids/{schema_id}", timeout=30)
                    if found.status_code == 404 and ("lost schemas" in said or "is damaged at byte" in said):
                        given[schema_id] = ""
                    elif (found.json().get("schema"), text) != (text, text) and text:
                        problems.append(f"round {number + 1}: id {schema_id} is {found.text}, not {text}")
                for _ in range(chance.randint(5, 40)):
                    text = schema(f"S{next(numbers)}")
                    schema_id = register(server.url, f"s{next(numbers)}", text).json()["id"]
                    if schema_id in given:
                        problems.append(f"round {number + 1}: id {schema_id} was given again")
                    given[schema_id] = text
                server.kill()
            _damage(folder / "schemas.db-wal", chance)
    finally:
        shutil.rmtree(folder)
    print(f"{len(given)} ids given, {list(given.values()).count('')} lost, {refusals} refusals to start", flush=True)
    return problems


def _damage(wal: Path, chance: random.Random) -> None:
    content = bytearray(wal.read_bytes())
    kind = chance.choice(["nothing", "change", "change", "zero", "cut", "remove"])
    if kind == "remove":
        wal.unlink()
        return
    place = chance.randrange(len(content))
    if kind == "change":
        content[place] ^= 1 << chance.randrange(8)
    elif kind == "zero":
        content[place : place + 512] = bytes(len(content[place : place + 512]))
    elif kind == "cut":
        del content[place:]
    wal.write_bytes(content)


def hanging(rounds: int, _chance: random.Random) -> list[str]:
    """The commit marker of the last transaction is cut off the topic while the broker is stopped."""
    problems: list[str] = []
    for number in range(max(1, rounds // 5)):
        cluster = {"kafkastore.topic": f"_schemas-{number}", "schema.registry.group.id": f"group-{number}"}
        topic = cluster["kafkastore.topic"]
        with temporary_broker() as broker:
            with _node(broker, cluster) as node:
                for index in range(3):
                    register(node.url, f"s{index}", schema(f"S{index}"))
            broker.stop()
            (segment,) = broker.data_dir.glob(f"**/{topic}-0/*.log")
            offset = _cut_last_batch(segment)
            for path in (*segment.parent.glob("*.snapshot"), *segment.parent.glob("*index")):
                path.unlink()
            for name in (".kafka_cleanshutdown", "recovery-point-offset-checkpoint"):
                (segment.parents[1] / name).unlink(missing_ok=True)
            broker.start()
            with _node(broker, cluster) as node:
                expected = f"abort --topic {topic} --partition 0 --start-offset {offset}"
                problem, deadline = "", time.monotonic() + LEADS_SECONDS
                while not problem.endswith(expected) and time.monotonic() < deadline:
                    problem = httpx.get(f"{node.url}/health/ready", timeout=30).json()["problem"]
                    time.sleep(0.1)
                print(f"round {number + 1}: {problem}", flush=True)
                if not problem.endswith(expected):
                    problems.append(f"round {number + 1}: {problem!r} does not name the transaction at {offset}")
    return problems


def _cut_last_batch(segment: Path) -> int:
    """Cut a transaction marker, the last batch, off a topic's file; return the first offset of its transaction."""
    content, place, firsts = segment.read_bytes(), 0, list[tuple[int, int]]()
    while place < len(content):
        first, length = struct.unpack_from(">qi", content, place)
        firsts.append((place, first))
        place += 12 + length
    os.truncate(segment, firsts[-1][0])
    return firsts[-2][1]


def _register_next(url: str, numbers: Iterator[int]) -> httpx.Response:
    return register(url, f"s{next(numbers)}", '"int"')


def _wait_until_writable(node: ServerProcess) -> None:
    deadline = time.monotonic() + LEADS_SECONDS
    while True:
        try:
            answer = httpx.put(f"{node.url}/config", json={"compatibility": "NONE"}, timeout=30)
        except httpx.HTTPError as error:
            text = repr(error)
        else:
            if answer.status_code == 200:
                return
            text = answer.text
        if time.monotonic() > deadline:
            raise TimeoutError(f"{node.url} takes no writes: {text}")
        time.sleep(0.2)


def _state(node: ServerProcess) -> list[str]:
    """The lines of an export, without the manifest and the closing line."""
    answer = httpx.get(f"{node.url}/export", timeout=60)
    answer.raise_for_status()
    return answer.text.splitlines()[1:-1]


def _node(broker: LocalBroker, cluster: dict[str, str]) -> Any:
    return running_registry("kafka:", bootstrap_servers=broker.bootstrap_servers, properties=cluster)


FAULTS: dict[str, Callable[[int, random.Random], list[str]]] = {
    "suspended": suspended,
    "copied": copied,
    "damaged": damaged,
    "hanging": hanging,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=[*FAULTS])
    options = parser.parse_args()
    problems: list[str] = []
    for name in [options.only] if options.only else FAULTS:
        problems += [f"{name}: {problem}" for problem in FAULTS[name](options.rounds, random.Random(options.seed))]
    print(f"{len(problems)} problems")
    for problem in problems[:20]:
        print(f"  {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
