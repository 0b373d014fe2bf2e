"""Faults beneath a leader: the broker paused, another program's records, a new topic, a stall.

    python tests/chaos/registry_leadership.py [--rounds 10] [--seed 1] [--only NAME]

pauses     five clusters of one node on a broker that is paused for 7 to 11 s; all must accept a write within 15 s
foreign    another program writes the ids that the nodes are about to give; every node must know every id alike
stalls     a node is stopped at each step of taking over while another takes over; only the other may lead
recreated  the topic is deleted and made anew; nothing may be answered that is not in the new one

Every answered write must be on every node under its id. Ends with 1 if anything does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import httpx
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.platform.broker import free_port
from magicbyte.platform.broker.local import LocalBroker
from magicbyte.platform.server_process import ServerFailed, ServerProcess
from magicbyte.testing import running_registry, temporary_broker

KIT = Path(__file__).parent / "kit"
STEPS = ("before-fencing", "before-reading", "before-settling", "before-commit", "before-leading")
CLUSTERS = 5
LEADS_AGAIN_SECONDS = 15.0


def own_cluster() -> dict[str, str]:
    """Settings of a cluster that shares its broker with others."""
    return {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": str(uuid.uuid4())}


def schema(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": []}, separators=(",", ":"))


class Writer:
    """Registers schemas through some nodes until it is stopped, and keeps what was answered with 200."""

    def __init__(self, name: str, urls: list[str]) -> None:
        self.answered: dict[str, tuple[int, str]] = {}
        self.last = 0.0
        self._name = name
        self._urls = urls
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            url, text = self._urls[number % len(self._urls)], schema(f"{self._name}{number}")
            subject = f"{self._name}-{number}"
            try:
                answer = httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": text}, timeout=30)
            except httpx.HTTPError:
                continue
            if answer.status_code == 200:
                self.answered[subject] = (answer.json()["id"], text)
                self.last = time.monotonic()

    def wait_for(self, more: int, seconds: float) -> bool:
        """Wait for more answered writes; False if they do not come in time."""
        wanted, deadline = len(self.answered) + more, time.monotonic() + seconds
        while len(self.answered) < wanted:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def problems(self, urls: list[str]) -> list[str]:
        """Answered writes that a node does not have under their id."""
        problems = []
        for url in urls:
            with httpx.Client(base_url=url, timeout=30) as client:
                for subject, (schema_id, text) in self.answered.items():
                    version = client.get(f"/subjects/{subject}/versions/1")
                    content = client.get(f"/schemas/ids/{schema_id}")
                    if version.status_code != 200 or (version.json()["id"], content.json().get("schema")) != (
                        schema_id,
                        text,
                    ):
                        problems.append(f"{url}: {subject} with id {schema_id} is {version.text} {content.text}")
        return problems


def pauses(rounds: int, chance: random.Random) -> list[str]:
    """The broker is stopped and resumed under five clusters of one node."""
    problems: list[str] = []
    with temporary_broker() as broker, ExitStack() as stack:
        nodes = [stack.enter_context(_node(broker, own_cluster())) for _ in range(CLUSTERS)]
        writers = [Writer(f"p{index}", [node.url]) for index, node in enumerate(nodes)]
        with ExitStack() as writing:
            for writer in writers:
                writing.enter_context(writer)
            for number in range(rounds):
                if not all(writer.wait_for(3, 60) for writer in writers):
                    return [*problems, f"pause {number + 1}: a node accepts no writes"]
                seconds = chance.uniform(7, 11)
                assert broker.pid is not None
                os.kill(broker.pid, signal.SIGSTOP)
                time.sleep(seconds)
                os.kill(broker.pid, signal.SIGCONT)
                resumed = time.monotonic()
                late = [index for index, writer in enumerate(writers) if not _writes_again(writer, resumed)]
                waits = [f"{writer.last - resumed:.1f}" for writer in writers]
                print(f"pause {number + 1} of {seconds:.1f} s: writes again by {', '.join(waits)} s", flush=True)
                problems += [f"pause {number + 1}: node {index} did not lead again in time" for index in late]
        for writer, node in zip(writers, nodes, strict=True):
            problems += writer.problems([node.url])
    return problems


def _writes_again(writer: Writer, resumed: float) -> bool:
    while writer.last < resumed:
        if time.monotonic() > resumed + LEADS_AGAIN_SECONDS:
            return False
        time.sleep(0.02)
    return True


def foreign(rounds: int, chance: random.Random) -> list[str]:
    """A program without our transactional id writes the ids that the nodes are about to give."""
    cluster = own_cluster()
    with temporary_broker() as broker, ExitStack() as stack:
        nodes = [stack.enter_context(_node(broker, cluster)) for _ in range(2)]
        urls = [node.url for node in nodes]
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0})
        with Writer("ours", urls) as writer:
            writer.wait_for(3, 60)
            for number in range(rounds * 5):
                newest = max(schema_id for schema_id, _ in list(writer.answered.values()))
                key = {"keytype": "SCHEMA", "subject": f"theirs-{number}", "version": 1, "magic": 1}
                value = {**key, "id": newest + chance.randint(0, 3), "schema": schema(f"Theirs{number}")}
                producer.produce(cluster["kafkastore.topic"], key=json.dumps(key), value=json.dumps(value), partition=0)
                producer.flush()
                writer.wait_for(1, 60)
        counted = _metric(urls, "magicbyte_registry_foreign_records")
        print(f"{len(writer.answered)} writes beside {rounds * 5} foreign records; leaders counted {counted:.0f}")
        problems = writer.problems(urls)
        with _node(broker, cluster) as replayed:
            urls.append(replayed.url)
            for schema_id in range(1, max(schema_id for schema_id, _ in writer.answered.values()) + 5):
                answers = {httpx.get(f"{url}/schemas/ids/{schema_id}", timeout=30).text for url in urls}
                if len(answers) != 1:
                    problems.append(f"id {schema_id} is {answers}")
    if counted == 0:
        problems.append("no leader counted a foreign record")
    return problems


def _metric(urls: list[str], name: str) -> float:
    lines = [line for url in urls for line in httpx.get(f"{url}/metrics", timeout=30).text.splitlines()]
    return sum(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def stalls(rounds: int, _chance: random.Random) -> list[str]:
    """A node is stopped at each step of taking over, all steps at once in clusters of their own."""
    problems: list[str] = []
    with temporary_broker() as broker:
        for number in range(max(1, rounds // 5)):
            threads = [threading.Thread(target=_stall, args=(broker, step, problems)) for step in STEPS]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            print(f"stalls {number + 1}: {', '.join(STEPS)}; {len(problems)} problems so far", flush=True)
    return problems


def _stall(broker: LocalBroker, step: str, problems: list[str]) -> None:
    cluster = own_cluster()
    with _stalling_node(broker, cluster, step) as (pid, stalled), _node(broker, cluster) as other:
        try:
            with Writer("w", [other.url]) as writer:
                if not writer.wait_for(5, 60):
                    problems.append(f"{step}: no other node took over")
                os.kill(pid, signal.SIGCONT)
                if not writer.wait_for(20, 60):
                    problems.append(f"{step}: no writes after the stalled node resumed")
            _wait_until_it_follows(stalled)
            states = [httpx.get(f"{url}/health/ready", timeout=30).json() for url in (stalled, other.url)]
            if [state["leader"] for state in states] != [False, True]:
                problems.append(f"{step}: {states}")
            problems += [f"{step}: {problem}" for problem in writer.problems([stalled, other.url])]
        except (httpx.HTTPError, TimeoutError) as error:
            problems.append(f"{step}: {error!r}")


def _wait_until_it_follows(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            state = httpx.get(f"{url}/health/ready", timeout=30).json()
        except httpx.HTTPError:
            time.sleep(0.1)
            continue
        if state["leaderUrl"] not in (None, url):
            return
        time.sleep(0.1)
    raise TimeoutError(f"{url} does not follow: {state}")


@contextmanager
def _stalling_node(broker: LocalBroker, cluster: dict[str, str], step: str) -> Iterator[tuple[int, str]]:
    """A node that has stopped at a step of its takeover."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "settings.properties"
        settings.write_text("".join(f"{name}={value}\n" for name, value in cluster.items()))
        address = f"127.0.0.1:{free_port()}"
        arguments = ["registry", "--storage", "kafka:", "--bootstrap-servers", broker.bootstrap_servers]
        arguments += ["--listen", address, "--config", str(settings)]
        command = [sys.executable, "-P", str(KIT / "stalling_registry.py"), step, *arguments]
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
                if process.poll() is not None or time.monotonic() > deadline:
                    raise TimeoutError((Path(folder) / "log").read_text()[-2000:])
                time.sleep(0.02)
            yield process.pid, f"http://{address}"
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


def recreated(rounds: int, _chance: random.Random) -> list[str]:
    """The topic is deleted and made anew beneath a leader."""
    problems: list[str] = []
    with temporary_broker() as broker:
        for number in range(max(1, rounds // 5)):
            cluster = own_cluster()
            with _node(broker, cluster) as node:
                problems += [f"recreation {number + 1}: {problem}" for problem in _recreate(broker, cluster, node)]
            print(f"recreation {number + 1}: {len(problems)} problems so far", flush=True)
    return problems


def _recreate(broker: LocalBroker, cluster: dict[str, str], node: ServerProcess) -> list[str]:
    topic = cluster["kafkastore.topic"]
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    with Writer("before", [node.url]) as writer:
        writer.wait_for(5, 60)
        admin.delete_topics([topic])[topic].result()
        new = NewTopic(topic, 1, 1, config={"cleanup.policy": "compact"})
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                admin.create_topics([new])[topic].result()
            except Exception:  # noqa: BLE001  it is still being deleted
                time.sleep(0.1)
            else:
                break
        answered = len(writer.answered)
        code = _exit_code(node, 60)
        problems = [] if code == 1 else [f"the node ended with exit code {code}"]
    # A write that was on its way while the topic was deleted may have been committed to the old one.
    if len(writer.answered) > answered + 1:
        problems.append(f"{len(writer.answered) - answered} writes were answered after the topic was made anew")
    if not _tells_of_new_topic(node.last_lines()):
        problems.append(f"no clear message: {node.last_lines(3)}")
    _start_again(node)
    with Writer("after", [node.url]) as after:
        if not after.wait_for(5, 60):
            problems.append("no writes after a restart")
    return problems + after.problems([node.url])


def _tells_of_new_topic(lines: Sequence[str]) -> bool:
    return any("deleted and made anew" in line or "start the registry again" in line for line in lines)


def _start_again(node: ServerProcess) -> None:
    """Start the node; it ends with the same message if the broker told it of the old topic first."""
    for _ in range(5):
        try:
            node.start()
        except ServerFailed as error:
            if not _tells_of_new_topic(error.last_lines):
                raise RuntimeError("\n".join(error.last_lines)) from error
        else:
            return
    raise RuntimeError("the node ends whenever it is started")


def _exit_code(node: ServerProcess, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while node.is_running and time.monotonic() < deadline:
        time.sleep(0.05)
    return None if node.is_running else node.stop()


def _node(broker: LocalBroker, cluster: dict[str, str]) -> Any:
    return running_registry("kafka:", bootstrap_servers=broker.bootstrap_servers, properties=cluster)


FAULTS: dict[str, Callable[[int, random.Random], list[str]]] = {
    "pauses": pauses,
    "foreign": foreign,
    "stalls": stalls,
    "recreated": recreated,
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
