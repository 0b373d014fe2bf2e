"""Registries on copies of the topic of another one, compared with it: copies as MirrorMaker makes them."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import httpx

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.chaos.kit.copied_topics import Copier, Record, compacted, new_topic, records_of, write
from tests.chaos.kit.id_ledger import Facts, differences, export_of, facts_of
from tests.chaos.kit.real_failovers import magicbyte
from tests.chaos.kit.simulated_failovers import Site
from tests.operations.fsck.planted import key, value

_CHANGES = 400
#: The subjects that are changed by planted records: a new one, one that loses its version, and one that gets a config.
_NEW, _GONE, _CONFIGURED = "planted", "kept-0", "kept-1"
_NO_LEADER = 50004


class Copies:
    """Registry A, whose topic is copied again and again."""

    def __init__(self, servers: str, left: ServerProcess, folder: Path, chance: random.Random) -> None:
        self._servers, self._left, self._folder, self._chance = servers, left, folder, chance
        self._count = 0
        self.problems: list[str] = []

    def run(self) -> None:
        """Make the copies, and print what became of each."""
        site = Site("A", self._left.url, self._chance)
        for number in range(5):
            site.register(f"kept-{number}", {"schema": json.dumps({"type": "fixed", "name": "K", "size": number + 1})})
        for number in range(1, _CHANGES):
            site.change(number)
        self._plant(site)
        self._left.kill()
        self._left.start()
        # The first accepted write comes after what the leader has corrected.
        for number in range(5):
            site.register(f"last-{number}", {"schema": json.dumps({"type": "fixed", "name": "L", "size": number + 1})})
        facts = site.facts()
        everything = self._records("read_uncommitted")
        self._expect_equal("settled by A", facts, everything)
        for _ in range(2):
            self._expect_equal("settled by A, compacted", facts, compacted(everything, self._chance))
        self._lose_tombstone(facts, everything)
        self._cut_transaction(facts)
        self._grow(everything)
        self._leave_unsettled(site)

    def _records(self, isolation: str) -> list[Record]:
        return records_of(self._servers, "_a", isolation)

    def _plant(self, site: Site) -> None:
        """Let a transaction with changes of three kinds abort, as when a leader is killed before its commit."""
        highest = max(line["maxId"] for line in export_of(site.url) if line["kind"] == "context")
        now = time.time_ns() // 1_000_000
        config = b'{"keytype":"CONFIG","subject":"%b","magic":0}' % _CONFIGURED.encode()
        planted = [
            Record(key(_NEW, 1), value(_NEW, 1, highest + 1, "long"), now),
            Record(key(_GONE, 1), None, now),
            Record(config, b'{"subject":"%b","compatibilityLevel":"FULL"}' % _CONFIGURED.encode(), now),
        ]
        write(self._servers, "_a", planted, committed=False)

    def _copy(self, records: Sequence[Record]) -> str:
        self._count += 1
        topic = f"_copy{self._count}"
        new_topic(self._servers, topic)
        write(self._servers, topic, records)
        return topic

    @contextmanager
    def _registry(self, topic: str) -> Iterator[ServerProcess]:
        own = {"kafkastore.topic": topic, "schema.registry.group.id": topic}
        with running_registry("kafka:", bootstrap_servers=self._servers, properties=own) as registry:
            yield registry

    def _expect(self, what: str, problems: Sequence[str], holds: str) -> None:
        print(f"  {what}: {'; '.join(problems)[:1500] or holds}", flush=True)
        self.problems += [f"{what}: {problem}" for problem in problems]

    def _fsck(self, topic: str, *arguments: str) -> list[str]:
        """The codes that are found, without the notes about a cluster of one broker."""
        outcome = magicbyte("fsck", f"kafka:{self._servers}/{topic}", *arguments, "--output", "json")
        findings = json.loads(outcome.stdout)["findings"]
        return sorted({finding["code"] for finding in findings if finding["severity"] != "note"})

    def _taken_over(self, url: str) -> list[str]:
        """The problem that prevents a registry from taking writes; empty if there is none."""
        answer = httpx.post(f"{url}/subjects/taken-over/versions", json={"schema": '"string"'}, timeout=60)
        return [] if answer.is_success else [f"no writes: {answer.text}"]

    def _expect_equal(self, what: str, facts: Facts, records: Sequence[Record]) -> None:
        topic = self._copy(records)
        found = self._fsck(topic)
        with self._registry(topic) as copy:
            problems = [*found, *differences(facts, facts_of(export_of(copy.url)))]
            told = magicbyte("diff", self._left.url, copy.url)
            if told.returncode:
                problems.append(f"diff: exit {told.returncode}: {told.stdout}")
            problems += self._taken_over(copy.url)
        self._expect(what, problems, f"{len(records)} records, no difference, fsck finds nothing")

    def _lose_tombstone(self, facts: Facts, records: Sequence[Record]) -> None:
        """Copy a value whose tombstone was gone before the copier came to it: the version is back in the copy."""
        dead, alive = set[bytes](), set[bytes]()
        for record in records:
            if record.key is not None and b'"SCHEMA"' in record.key:
                (alive if record.value is not None else dead).add(record.key)
        last = {record.key: record for record in records}
        lost = self._chance.choice(sorted(raw for raw in dead & alive if last[raw].value is None))
        named = json.loads(lost)
        topic = self._copy([one for one in records if one.key != lost or one.value is not None])
        found = self._fsck(topic)
        with self._registry(topic) as copy:
            names = [one.partition(": ")[0] for one in differences(facts, facts_of(export_of(copy.url)))]
            told = magicbyte("diff", self._left.url, copy.url)
        problems = [] if names == [f"version {named['subject']} {named['version']}"] else [f"differ: {names}"]
        if told.returncode != 100 or named["subject"] not in told.stdout:
            problems.append(f"diff: exit {told.returncode}: {told.stdout}")
        self._expect("a lost tombstone", [*found, *problems], f"diff names version {named['version']} of its subject")

    def _cut_transaction(self, facts: Facts) -> None:
        """Copy in transactions, as with exactly-once support, and kill the copier in the last one."""
        records = self._records("read_committed")
        first = next(index for index, one in enumerate(records) if one.key == key("last-1", 1))
        whole, cut = records[:first], records[first:]
        missing = {f"version last-{number} 1" for number in range(1, 5)}
        for way in ("repaired offline", "repaired by its leader"):
            topic = self._copy(())
            write(self._servers, topic, whole, committed=True)
            write(self._servers, topic, cut, committed=False)
            found = self._fsck(topic)
            problems = [] if found == ["ABORTED_TAIL"] else [f"fsck finds {found}"]
            if way == "repaired offline":
                backup = str(self._folder / f"{topic}.ndjson")
                options = ("--repair", "ABORTED_TAIL", "--offline", "--node-group", topic, "--backup", backup)
                problems += self._fsck(topic, *options)
            with self._registry(topic) as copy:
                names = {one.partition(": ")[0] for one in differences(facts, facts_of(export_of(copy.url)))}
                problems += self._taken_over(copy.url)
            problems += self._fsck(topic)
            if names != missing:
                problems.append(f"differ: {sorted(names ^ missing)}")
            self._expect(
                f"the last transaction aborted, {way}", problems, "ABORTED_TAIL and nothing else, then nothing"
            )

    def _grow(self, records: Sequence[Record]) -> None:
        """Start a registry while the copy grows, without pause and slowly."""
        half, rest = records[: len(records) // 2], records[len(records) // 2 :]
        topic = self._copy(half)
        # The same again and again: the last copy of each record is the one that counts.
        copier = Copier(self._servers, topic, cycle(rest), 0.0)
        try:
            with self._registry(topic) as copy:
                refused = httpx.post(f"{copy.url}/subjects/own/versions", json={"schema": '"int"'}, timeout=60)
                ready = httpx.get(f"{copy.url}/health/ready", timeout=60)
                copier.stop()
                self._until(lambda: httpx.get(f"{copy.url}/health/ready").is_success)
                problems = self._taken_over(copy.url)
        finally:
            copier.stop()
        if refused.is_success or refused.json()["error_code"] != _NO_LEADER:
            problems.append(f"a write was answered with {refused.text}")
        if ready.status_code != 503 or "other programs write the log" not in ready.json()["problem"]:
            problems.append(f"not refused: {ready.text}")
        self._expect(
            "growing without pause", problems, f"no leader, until the copier stopped after {copier.copied} records"
        )
        topic = self._copy(half)
        copier = Copier(self._servers, topic, rest, 1.0)
        try:
            with self._registry(topic) as copy:
                self._until(lambda: _foreign_records(copy.url) > 0)
                log = "\n".join(copy.last_lines(200))
        finally:
            copier.stop()
        problems = [] if "foreign_writer" in log else ["no warning in the log"]
        self._expect("growing slowly", problems, "it leads, warns and counts the records")

    def _leave_unsettled(self, site: Site) -> None:
        """Copy an aborted transaction that no leader of A has corrected: it counts in a copy that ignores aborts."""
        self._plant(site)
        self._left.kill()
        uncommitted, committed = (
            self._copy(self._records("read_uncommitted")),
            self._copy(self._records("read_committed")),
        )
        self._left.start()
        facts = site.facts()
        found = self._fsck(uncommitted) + self._fsck(committed)
        expected = {f"version {_NEW} 1", f"version {_GONE} 1", f"config {_CONFIGURED}"}
        with self._registry(uncommitted) as copy:
            names = {one.partition(": ")[0] for one in differences(facts, facts_of(export_of(copy.url)))}
            told = magicbyte("diff", self._left.url, copy.url)
        problems = found + sorted(names ^ expected)
        problems += [f"diff names no {name}" for name in (_NEW, _GONE, _CONFIGURED) if name not in told.stdout]
        self._expect("not settled by A", problems, f"diff names the {len(expected)} changes that A never accepted")
        with self._registry(committed) as copy:
            left = {name: fact for name, fact in site.facts().items() if name != "context ."}
            right = {name: fact for name, fact in facts_of(export_of(copy.url)).items() if name != "context ."}
        # A marks the id of the planted schema as given.
        self._expect("not settled by A, read_committed", differences(left, right), "no difference")

    def _until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError("the registry on the copy never got so far")
            time.sleep(0.1)


def _foreign_records(url: str) -> float:
    lines = httpx.get(f"{url}/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("magicbyte_registry_foreign_records "))


def copy_topics(servers: str, folder: Path, chance: random.Random) -> list[str]:
    """Run all copies of a new registry's topic; returns what does not hold."""
    own = {"kafkastore.topic": "_a", "schema.registry.group.id": "_a"}
    with running_registry("kafka:", bootstrap_servers=servers, properties=own) as left:
        copies = Copies(servers, left, folder, chance)
        copies.run()
    return copies.problems
