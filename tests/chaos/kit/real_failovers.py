"""A failover of real registries on Kafka: registrations run under a mirror process, A is killed, and B is promoted."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.chaos.kit.id_ledger import Ledger, differences, export_of, facts_of, text_of

CONTEXTS = (".", ".eu", ".us")
#: How many clients register, and how many registrations B has to accept.
_CLIENTS, _AT_B = 3, 60
_SECONDS = 120.0


def magicbyte(*arguments: str, timeout: float = _SECONDS) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)


class Clients:
    """Threads that register without pause at the registry that is named to them, and retry what was refused."""

    def __init__(self, url: str, ledger: Ledger, seed: int) -> None:
        self._ledger, self._seed = ledger, seed
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self.url = url
        #: URL -> the subjects that were accepted, and when the first was.
        self.accepted: dict[str, list[str]] = {}
        self.first: dict[str, float] = {}
        self._threads = [threading.Thread(target=self._register, args=(number,)) for number in range(_CLIENTS)]
        for thread in self._threads:
            thread.start()

    def count(self, url: str) -> int:
        return len(self.accepted.get(url, ()))

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _register(self, thread: int) -> None:
        chance, number = random.Random(f"{self._seed}-{thread}"), 0
        with httpx.Client(timeout=20) as client:
            while not self._stopped.is_set():
                number += 1
                context = chance.choice(CONTEXTS)
                subject = f"{'' if context == '.' else f':{context}:'}c{thread}-{number}"
                text = json.dumps({"type": "fixed", "name": f"F{thread}_{number}", "size": number})
                while not (self._is_accepted(client, subject, text) or self._stopped.is_set()):
                    time.sleep(0.02)

    def _is_accepted(self, client: httpx.Client, subject: str, text: str) -> bool:
        url = self.url
        try:
            answer = client.post(f"{url}/subjects/{subject}/versions", json={"schema": text})
        except httpx.HTTPError:
            return False
        if not answer.is_success:
            return False
        with self._lock:
            self._ledger.note(url, subject, answer.json()["id"], text_of({"schema": text}))
            self.accepted.setdefault(url, []).append(subject)
            self.first.setdefault(url, time.monotonic())
        return True


class Failover:
    """One failover, and the way back."""

    def __init__(self, left: ServerProcess, right: ServerProcess, log: Path, chance: random.Random) -> None:
        self._left, self._right, self._log, self._chance = left, right, log, chance
        self._ledger = Ledger()
        self.problems: list[str] = []

    def run(self) -> None:
        """Fail over and go back; prints a line."""
        command = [sys.executable, "-P", "-m", "magicbyte.cli.main"]
        ends = ["mirror", "--from", self._left.url, "--to", self._right.url]
        with self._log.open("wb") as log:
            mirror = subprocess.Popen([*command, *ends], stderr=log)
        try:
            clients = Clients(self._left.url, self._ledger, self._chance.randrange(1 << 30))
            try:
                told = self._fail_over(clients, mirror)
            finally:
                clients.stop()
            print(f"{told}; {self._check(mirror)}; {self._go_back()}", flush=True)
        finally:
            mirror.kill()
            mirror.wait()
        self.problems += self._ledger.problems

    def _fail_over(self, clients: Clients, mirror: subprocess.Popen[bytes]) -> str:
        left, right = self._left.url, self._right.url
        self._until(lambda: clients.count(left) >= 40, "registrations at A")
        acknowledged = list(clients.accepted[left])
        self._until(lambda: set(acknowledged) <= _subjects(right), "the mirror at B")
        if stalls := self._chance.random() < 0.6:
            # So that something is lost: a mirror that was stalled writes again when it is fenced.
            mirror.send_signal(signal.SIGSTOP)
        time.sleep(self._chance.uniform(0.1, 1.0))
        self._left.kill()
        killed = time.monotonic()
        clients.url = right
        before = facts_of(export_of(right))
        promoted = magicbyte("dr", "promote", "--to", right, "--output", "json")
        seconds = time.monotonic() - killed
        if promoted.returncode:
            self.problems.append(f"dr promote: exit {promoted.returncode}: {promoted.stdout}{promoted.stderr}")
        if stalls:
            mirror.send_signal(signal.SIGCONT)
        self._until(lambda: clients.count(right) >= _AT_B, "registrations at B")
        clients.stop()
        if lost := set(acknowledged) - _subjects(right):
            self.problems.append(f"B lacks {sorted(lost)[:5]}, which the mirror had written")
        after = facts_of(export_of(right))
        kept = {name: fact for name, fact in after.items() if name in before and name.startswith("version ")}
        wanted = {name: fact for name, fact in before.items() if name.startswith("version ")}
        # A mirror that is not stalled may write until it is fenced, so B may have more.
        self.problems += differences(wanted, kept)
        first = clients.first[right] - killed
        return (
            f"  {clients.count(left)} accepted by A, {len(wanted)} of them in B when A was killed; first write "
            f"accepted by B {first:.1f} s after the kill, promoted after {seconds:.1f} s; {clients.count(right)} by B"
        )

    def _check(self, mirror: subprocess.Popen[bytes]) -> str:
        """Start A again: its mirror has to end, and what A gave and B never saw has ids of its own."""
        left, right = self._left.url, self._right.url
        before = facts_of(export_of(right))
        self._left.start()
        text = '{"type":"fixed","name":"Late","size":1}'
        answer = httpx.post(f"{left}/subjects/late/versions", json={"schema": text}, timeout=30)
        if not answer.is_success:
            self.problems.append(f"A takes no writes after its start: {answer.text}")
        code = mirror.wait(_SECONDS)
        if code != 1 or "took over" not in self._log.read_text():
            self.problems.append(f"the mirror ended with {code}: {self._log.read_text()[-500:]}")
        lefts, rights = export_of(left), export_of(right)
        self.problems += differences(before, facts_of(rights))
        self._ledger.note_export(left, lefts)
        self._ledger.note_export(right, rights)
        ours, theirs = facts_of(lefts), facts_of(rights)
        from_mirror = {name: fact for name, fact in theirs.items() if name.startswith("version ") and _is_low(fact)}
        self.problems += differences({name: ours.get(name, "") for name in from_mirror}, from_mirror)
        lost = [name for name in ours if name.startswith("version ") and name not in theirs]
        self._lost = len(lost)
        return f"{len(lost)} lost; the mirror ended"

    def _go_back(self) -> str:
        """Mirror the other way; A first names what B lacks, and then deletes it."""
        ends = ("mirror", "--once", "--from", self._right.url, "--to", self._left.url)
        refused = magicbyte(*ends)
        if self._lost and (refused.returncode != 1 or "--adopt" not in refused.stderr):
            self.problems.append(f"mirror --once without --adopt: exit {refused.returncode}: {refused.stderr}")
        adopted = magicbyte(*ends, "--adopt")
        if adopted.returncode:
            self.problems.append(f"mirror --once --adopt: exit {adopted.returncode}: {adopted.stderr}")
        left, right = export_of(self._left.url), export_of(self._right.url)
        ours, theirs = facts_of(left), facts_of(right)
        # A keeps the marks of what it gave.
        self.problems += differences(*({k: v for k, v in one.items() if k[:8] != "context "} for one in (ours, theirs)))
        promoted = magicbyte("dr", "promote", "--to", self._left.url, "--from", self._right.url)
        if promoted.returncode:
            self.problems.append(f"dr promote back: exit {promoted.returncode}: {promoted.stdout}{promoted.stderr}")
        for context in CONTEXTS:
            subject, text = f":{context}:back", '{"type":"fixed","name":"Back","size":2}'
            answer = httpx.post(f"{self._left.url}/subjects/{subject}/versions", json={"schema": text}, timeout=30)
            if answer.is_success:
                self._ledger.note(self._left.url, subject, answer.json()["id"], text_of({"schema": text}))
            else:
                self.problems.append(f"A refuses {subject} after the way back: {answer.text}")
        above = sum(line["kind"] == "schema" and line["id"] > 10_000 for line in left)
        return f"back in A with {above} ids above the gap"

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _SECONDS
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(f"never: {what}\n{self._log.read_text()[-2000:]}")
            time.sleep(0.05)


def _subjects(url: str) -> set[str]:
    return {line["subject"] for line in export_of(url) if line["kind"] == "schema"}


def _is_low(fact: str) -> bool:
    return int(json.loads(fact)[0]) <= 10_000


def fail_over(servers: str, number: int, folder: Path, chance: random.Random) -> list[str]:
    """Run a failover between two registries with topics of their own; returns what does not hold."""

    def properties(name: str) -> dict[str, str]:
        return {"kafkastore.topic": f"_{name}{number}", "schema.registry.group.id": f"{name}{number}"}

    with (
        running_registry("kafka:", bootstrap_servers=servers, properties=properties("a")) as left,
        running_registry("kafka:", bootstrap_servers=servers, properties=properties("b")) as right,
    ):
        failover = Failover(left, right, folder / f"mirror{number}.log", chance)
        failover.run()
    return failover.problems
