"""Three registry nodes on a real broker, replaced one by one under load: the last release's by this one's, and back.

    python -P tests/upgrade/registry_rolling.py [--release 78dcf73a] [--writes 60] [--seed 1]

The last release runs in an environment of its own, `.venv-release-COMMIT`, made from its commit and its own
requirements.lock. The followers are replaced first. The leader goes last: it is asked to step down, and a release that
cannot is stopped as it leads. Clients read and write through any node all the while; a client repeats a request through
the next node if one does not answer it or answers with 5xx, as Confluent's clients do with a list of URLs.

Ends with 1 if a read or a write failed on all nodes, if a write took longer than two seconds though the leader stepped
down, if an id was given to two schemas, or if a node does not show each answered write as it was answered: each of the
three after each way, and one that starts then and reads the topic from its beginning.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import subprocess
import sys
import tarfile
import tempfile
import time
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from magicbyte.platform.server_process import ServerFailed, ServerProcess
from magicbyte.testing import running_registry, temporary_broker
from tests.chaos.kit.until_stopped import UntilStopped

ROOT = Path(__file__).parents[2]

#: The commit of the last release.
LAST_RELEASE = "78dcf73a"

WRITERS = 4
READERS = 3

#: The longest wait of a write while nodes are replaced and the leader steps down, in seconds.
LONGEST_WRITE = 2.0
#: How long a leader may take until it can step down, because another node is about to join the group.
_PATIENCE = 30.0


def python_of(release: str) -> Path:
    """The Python of an environment that has a release, made first if there is none."""
    folder = ROOT / f".venv-release-{release}"
    python, mark = folder / "bin" / "python", folder / "installed"
    if mark.exists():
        return python
    print(f"making {folder.name} ...", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    archive = subprocess.run(["git", "archive", release], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    with tempfile.TemporaryDirectory() as source:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(source, filter="data")
        locked = Path(source, "requirements.lock").read_text(encoding="utf-8").splitlines()
        constraints = Path(source, "constraints.txt")
        constraints.write_text("".join(line.rstrip(" \\") + "\n" for line in locked if "==" in line), encoding="utf-8")
        install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        # A release before the extras has no `server`, and pip only warns.
        subprocess.run([*install, "-c", constraints, f"{source}[server]"], check=True)
    mark.touch()
    return python


@dataclass(slots=True)
class Subject:
    """A client's knowledge of a subject that only it writes to.

    Attributes:
        name: the subject.
        versions: the live versions by number: id and text.
        level: its compatibility level, if it has one.
    """

    name: str
    versions: dict[int, tuple[int, str]] = field(default_factory=dict)
    level: str | None = None


class Clients(UntilStopped):
    """Clients that write to the nodes until they are stopped, each to subjects of its own."""

    def __init__(self, nodes: list[ServerProcess], subjects: list[Subject], name: str) -> None:
        """Start the clients.

        Args:
            nodes: the nodes of the cluster.
            subjects: the subjects that are there; the clients add theirs.
            name: the beginning of their names.
        """
        super().__init__()
        self.nodes = nodes
        self.subjects = subjects
        self.answered = 0
        self.repeated = 0
        self.reads = 0
        self.longest_write = self.longest_read = 0.0
        self.problems: list[str] = []
        writers = [partial(self._write, f"{name}-{n}") for n in range(WRITERS)]
        self.begin(*writers, *[partial(self._read, random.Random(f"{name}-{n}")) for n in range(READERS)])

    def wait_for(self, writes: int, seconds: float = 120) -> None:
        """Wait until so many more writes were answered."""
        enough, deadline = self.answered + writes, time.monotonic() + seconds
        while self.answered < enough:
            if time.monotonic() > deadline:
                raise TimeoutError(f"fewer than {writes} writes were answered in {seconds:g} s")
            time.sleep(0.02)

    def _write(self, name: str) -> None:
        chance = random.Random(name)
        steps = (self._register, self._register, self._set_level, self._delete_first, self._delete_first_for_good)
        while not self.stopping.is_set():
            subject = Subject(f"{name}-{uuid.UUID(int=chance.getrandbits(128))}")
            for step in steps[: chance.randint(1, len(steps))]:
                if not step(chance, subject):
                    break
            else:
                self.subjects.append(subject)

    def _read(self, chance: random.Random) -> None:
        while not self.stopping.wait(0.01):
            subjects = list(self.subjects)
            lasting = [
                version
                for subject in subjects[-50:]
                for number, version in list(subject.versions.items())
                if number > 1
            ]
            if not lasting:
                continue
            schema_id, text = chance.choice(lasting)
            begun = time.monotonic()
            answer = self._ask_any(chance, "GET", f"/schemas/ids/{schema_id}")
            self.longest_read = max(self.longest_read, time.monotonic() - begun)
            self.reads += 1
            if answer is not None and answer["schema"] != text:
                self.problems.append(f"id {schema_id} is {answer}, not {text}")

    def _register(self, chance: random.Random, subject: Subject) -> bool:
        number = max(subject.versions, default=0) + 1
        fields = [{"name": f"f{index}", "type": "int", "default": 0} for index in range(number)]
        name = f"R{subject.name}".replace("-", "_")
        text = json.dumps({"type": "record", "name": name, "fields": fields}, separators=(",", ":"))
        body = self._ask(chance, "POST", f"/subjects/{subject.name}/versions", {"schema": text})
        if body is not None:
            subject.versions[number] = (body["id"], text)
        return body is not None

    def _set_level(self, chance: random.Random, subject: Subject) -> bool:
        body = self._ask(chance, "PUT", f"/config/{subject.name}", {"compatibility": "FULL"})
        subject.level = "FULL"
        return body is not None

    def _delete_first(self, chance: random.Random, subject: Subject) -> bool:
        body = self._ask(chance, "DELETE", f"/subjects/{subject.name}/versions/1")
        subject.versions.pop(1, None)
        return body is not None

    def _delete_first_for_good(self, chance: random.Random, subject: Subject) -> bool:
        return self._ask(chance, "DELETE", f"/subjects/{subject.name}/versions/1?permanent=true") is not None

    def _ask(self, chance: random.Random, method: str, path: str, body: Any = None) -> Any:
        """Send a write as `_ask_any` does, and count it."""
        begun = time.monotonic()
        answer = self._ask_any(chance, method, path, body)
        self.longest_write = max(self.longest_write, time.monotonic() - begun)
        self.answered += answer is not None
        return answer

    def _ask_any(self, chance: random.Random, method: str, path: str, body: Any = None) -> Any:
        """Send a request to one node after the other until one answers; returns the answer, None if all failed."""
        said = []
        for node in chance.sample(self.nodes, len(self.nodes)):
            try:
                answer = httpx.request(method, f"{node.url}{path}", json=body, timeout=30)
            except httpx.HTTPError as error:
                said.append(f"{node.url}: {error!r}")
                continue
            # A delete whose answer was lost may have been carried out.
            if answer.status_code == 200 or (said and method == "DELETE" and answer.status_code == 404):
                self.repeated += bool(said) and method != "GET"
                return answer.json()
            said.append(f"{node.url}: {answer.status_code} {answer.text}")
            if answer.status_code < 500:
                break
        self.problems.append(f"{method} {path} failed: {'; '.join(said)}")
        return None


def leads(node: ServerProcess) -> bool:
    """Whether a node leads."""
    return bool(httpx.get(f"{node.url}/health/ready", timeout=30).json().get("leader"))


def hand_over(node: ServerProcess) -> bool:
    """Let a leader step down; returns False if its release cannot."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        answer = httpx.post(f"{node.url}/admin/step-down", timeout=60)
        if answer.status_code in (200, 404, 405):
            return answer.status_code == 200
        if time.monotonic() > deadline:
            raise TimeoutError(f"{node.url} does not step down: {answer.text}")
        time.sleep(0.2)


def replace(cluster: list[ServerProcess], clients: Clients, python: Path, writes: int) -> bool:
    """Replace the nodes one by one, the leader last, with so many writes before each and after the last.

    Returns whether the leader stepped down before it was stopped.
    """
    has_stepped_down = False
    for number, node in enumerate(sorted(cluster, key=leads)):
        clients.wait_for(writes)
        started = time.monotonic()
        if leads(node):
            has_stepped_down = hand_over(node)
            print(f"  the leader {'stepped down' if has_stepped_down else 'is stopped'}", flush=True)
        node.stop()
        node.python = python
        node.start()
        print(
            f"  node {number} replaced in {time.monotonic() - started:.1f} s, {clients.answered} writes, longest"
            f" {clients.longest_write:.2f} s",
            flush=True,
        )
    clients.wait_for(writes)
    return has_stepped_down


def check(nodes: list[ServerProcess], subjects: list[Subject]) -> list[str]:
    """Find answers of nodes that differ from those to the clients of the subjects; nothing is written meanwhile."""
    problems = check_versions(nodes, subjects)
    for node in nodes:
        for subject in subjects:
            answer = httpx.get(f"{node.url}/config/{subject.name}", timeout=30).json()
            if answer.get("compatibilityLevel") != subject.level:
                problems.append(f"{node.url}: the level of {subject.name} is {answer}, not {subject.level}")
    return problems


def check_versions(nodes: list[ServerProcess], subjects: list[Subject]) -> list[str]:
    """As `check`, without the levels."""
    problems = []
    expected = {(subject.name, number): version for subject in subjects for number, version in subject.versions.items()}
    ids = dict(expected.values())
    if len(ids) < len(expected):
        problems.append(f"{len(expected)} schemas have only {len(ids)} ids")
    for node in nodes:
        deadline = time.monotonic() + _PATIENCE
        # A follower may be behind for a moment.
        while (shown := _versions(node)) != expected and time.monotonic() < deadline:
            time.sleep(0.2)
        different = [place for place in expected.keys() | shown.keys() if expected.get(place) != shown.get(place)]
        problems += [f"{node.url}: {place} is {shown.get(place)}, not {expected.get(place)}" for place in different]
    return problems


def _versions(node: ServerProcess) -> dict[tuple[str, int], tuple[int, str]]:
    """The live versions of a node: id and text by subject and number."""
    shown: dict[tuple[str, int], tuple[int, str]] = {}
    rows = 0
    # If the node learns of a version meanwhile, the next page may have rows that this one had.
    while page := httpx.get(f"{node.url}/schemas?offset={rows}&limit=500", timeout=60).json():
        rows += len(page)
        shown |= {(row["subject"], row["version"]): (row["id"], row["schema"]) for row in page}
    return shown


def run(release: str, writes: int, seed: int) -> int:
    """Go both ways; returns the exit code."""
    old, new = python_of(release), Path(sys.executable)
    problems: list[str] = []
    subjects: list[Subject] = []
    with ExitStack() as stack:
        broker = stack.enter_context(temporary_broker())
        at = broker.bootstrap_servers
        cluster = [stack.enter_context(running_registry("kafka:", python=old, bootstrap_servers=at)) for _ in range(3)]
        for way, python in (("up", new), ("down", old)):
            print(f"{way}:", flush=True)
            clients = Clients(cluster, subjects, f"{way}-{seed}")
            try:
                has_stepped_down = replace(cluster, clients, python, writes)
            finally:
                clients.stop()
            with running_registry("kafka:", python=python, bootstrap_servers=at) as fresh:
                found = clients.problems + check([*cluster, fresh], subjects)
            if has_stepped_down and clients.longest_write > LONGEST_WRITE:
                found.append(f"a write took {clients.longest_write:.2f} s, more than {LONGEST_WRITE:g} s")
            print(
                f"  {clients.reads} reads, longest {clients.longest_read:.2f} s; {clients.answered} writes, "
                f"{clients.repeated} of them repeated, longest {clients.longest_write:.2f} s; {len(found)} problems",
                flush=True,
            )
            problems += found
    for problem in problems[:20]:
        print(f"  {problem}")
    return 1 if problems else 0


def main() -> int:
    """Run with the command's options; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default=LAST_RELEASE, help="the commit to upgrade from")
    parser.add_argument("--writes", type=int, default=60, help="writes between two replacements")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        return run(options.release, options.writes, options.seed)
    except ServerFailed as failure:
        print(f"{failure}\n{failure.last_lines}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
