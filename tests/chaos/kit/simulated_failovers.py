"""Failovers between two registries in memory: one loses all, also changes that its mirror has not seen.

The registries of a chain take turns, so that ids which were lost at its first failover must not be given at its last.
"""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

import httpx

from magicbyte.cli.dr.main import main as dr
from magicbyte.operations.mirror.mirroring import Options
from tests.chaos.kit.id_ledger import Facts, Ledger, differences, export_of, facts_of, highest_of, text_of, unexplained
from tests.chaos.kit.memory_registry import MemoryRegistry, memory_registry
from tests.operations.mirror.conftest import mirror, mirror_once, until

CONTEXTS = (".", ".", ".eu", ".us", ".eu.west", ".new1", ".new2", ".new3")
#: Promotions that raise marks by less than this count as close to the loss.
_CLOSE = 20
#: After so many failovers the registries begin anew, so that exports stay small.
CHAIN = 10


class Site:
    """A registry, its client, and what it has given."""

    def __init__(self, name: str, url: str, chance: random.Random, registry: MemoryRegistry | None = None) -> None:
        self._name = name
        self.url = url
        self._registry = registry
        self._chance = chance
        self._life = 1
        self.client = httpx.Client(base_url=url, timeout=60)
        self.ledger = Ledger()

    @property
    def name(self) -> str:
        """Its name, another one after each loss."""
        return f"{self._name}{self._life}"

    def lose(self) -> None:
        """Replace the registry by an empty one."""
        assert self._registry is not None
        self._registry.lose()
        self._life += 1

    def register(self, subject: str, schema: dict[str, Any]) -> bool:
        """Register a schema; tells whether it was accepted."""
        answer = self.client.post(f"/subjects/{subject}/versions", json=schema)
        if answer.is_success:
            self.ledger.note(self.name, subject, answer.json()["id"], text_of(schema))
        return answer.is_success

    def facts(self) -> Facts:
        return facts_of(export_of(self.url))

    def change(self, number: int) -> None:
        """Make a random change, which may be refused."""
        context = self._chance.choice(CONTEXTS)
        prefix = "" if context == "." else f":{context}:"
        subject = f"{prefix}s{self._chance.randrange(6)}"
        kinds: list[tuple[int, Callable[[], object]]] = [
            (12, lambda: self.register(subject, _record("R", number))),
            # The text of an earlier schema, which may have been lost.
            (2, lambda: self.register(subject, _record("R", self._chance.randrange(1, number + 1)))),
            (3, lambda: self.register(f"{prefix}refers", _referring(number, subject.rpartition(":")[2]))),
            (2, lambda: self.client.delete(f"/subjects/{subject}/versions/latest")),
            (2, lambda: self._erase(subject)),
            (2, lambda: self.client.put(f"/config/{subject}", json={"compatibility": self._level()})),
            (1, lambda: self.client.put(f"/config/{prefix}", json={"compatibility": self._level()})),
            (1, lambda: self.client.delete(f"/config/{subject}")),
            (1, lambda: self.client.put(f"/mode/{subject}", json={"mode": "READONLY"})),
            (2, lambda: self.client.delete(f"/mode/{subject}")),
        ]
        self._chance.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()

    def _erase(self, subject: str) -> None:
        self.client.delete(f"/subjects/{subject}")
        self.client.delete(f"/subjects/{subject}?permanent=true")

    def _level(self) -> str:
        return self._chance.choice(("NONE", "BACKWARD", "FULL"))


def _record(name: str, number: int) -> dict[str, Any]:
    field = {"name": f"f{number}", "type": ["null", "int"], "default": None}
    return {"schema": json.dumps({"type": "record", "name": name, "fields": [field]})}


def _referring(number: int, subject: str) -> dict[str, Any]:
    field = {"name": f"r{number}", "type": "R"}
    text = json.dumps({"type": "record", "name": "S", "fields": [field]})
    return {"schema": text, "references": [{"name": "R", "subject": subject, "version": 1}]}


class Simulation:
    """A row of failovers, checked by ledgers.

    Attributes:
        counts: What happened how often.
        problems: What does not hold, each a sentence.
    """

    def __init__(self, left: Site, right: Site, chance: random.Random) -> None:
        self._primary, self._standby = left, right
        self._chance = chance
        self._number = 0
        #: Whether the standby was promoted earlier.
        self._adopts = False
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    def run(self, failovers: int) -> None:
        """Run failovers until something does not hold."""
        for done in range(failovers):
            if done % CHAIN == 0:
                self._begin(anew=done > 0)
            self._fail_over()
            self.problems += [f"failover {done + 1}: {one}" for one in self._ledger.problems]
            if self.problems:
                return

    def _begin(self, *, anew: bool) -> None:
        if anew:
            self._primary.lose()
            self._standby.lose()
        self._ledger = self._primary.ledger = self._standby.ledger = Ledger()
        self._adopts = False

    def _change(self, site: Site, times: int) -> Iterator[Facts]:
        for _ in range(times):
            self._number += 1
            site.change(self._number)
            yield site.facts()

    def _fail_over(self) -> None:
        chance, lost, standby = self._chance, self._primary, self._standby
        for _ in self._change(lost, chance.randint(2, 12)):
            pass
        # Often nothing or little is lost.
        tail = chance.choice((0, 3, 12, chance.randint(2, 40), chance.randint(2, 40)))
        options = Options(adopt=self._adopts)
        mode = chance.choice(("copied once", "copied once", "followed", "followed to the end"))
        self.counts[mode] += 1
        if mode == "copied once":
            mirror_once(lost.url, standby.url, options)
            history = [lost.facts()]
            self._expect(differences(history[0], standby.facts()), "after a full sync")
            for _ in self._change(lost, tail):
                pass
            self._promote(lost, history, 0)
        else:
            with mirror(lost.url, standby.url, options) as running:
                until(lambda: not differences(lost.facts(), standby.facts()), f"equal: {running.told} {running.failed}")
                history = [lost.facts()]
                stops_after = tail + 1 if mode == "followed to the end" else chance.randint(0, tail)
                for index, facts in enumerate(self._change(lost, tail)):
                    history.append(facts)
                    if index == stops_after:
                        running.follower.stop()
                if mode == "followed":
                    running.follower.stop()
                    assert running.thread is not None
                    running.thread.join(60)
                later = 3 if mode == "followed to the end" else 0
                self._promote(lost, history, later)
                if later:
                    self._stay_behind(lost, standby, running.until_failed, later)
        self._ledger.note_export(lost.name, export_of(lost.url))
        lost.lose()
        self._take_writes(standby)
        self._go_on(lost, standby)

    def _promote(self, lost: Site, history: list[Facts], later: int) -> None:
        """Promote the standby by the command; the gap is often no larger than it has to be.

        Args:
            lost: The registry that is lost.
            history: Its states since the mirror was last known to be equal.
            later: How many more schemas it will register.
        """
        standby = self._standby
        seen = highest_of(export_of(standby.url))
        count = self._ledger.most_lost(lost.name, seen, seen.get(".__GLOBAL", 0))
        gap = self._chance.choice((count + later, count + later + self._chance.randrange(_CLOSE), 10_000))
        self.counts["nothing was lost" if not count else "ids were lost"] += 1
        self.counts["gap close to the loss"] += gap < count + later + _CLOSE
        self.counts["ids lost"] += count
        self._command("promote", "--to", standby.url, "--id-gap", str(gap))
        self._expect(unexplained(standby.facts(), history), "after the promotion")

    def _command(self, *arguments: str) -> None:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = dr([*arguments, "--output", "json"])
        self._expect([] if code == 0 else [f"exit {code}: {out.getvalue()}{err.getvalue()}"], " ".join(arguments[:1]))

    def _stay_behind(self, lost: Site, standby: Site, until_failed: Callable[[], str], times: int) -> None:
        """Let a lost registry go on: nobody reads it, and its mirror writes nothing more."""
        before = standby.facts()
        for number in range(times):
            self._number += 1
            lost.register(f"late{number}", _record("L", self._number))
        text = until_failed()
        self._expect([] if "took over" in text else [text], "the end of a mirror after the promotion")
        self._expect(differences(before, standby.facts()), "after the promotion, by a mirror")

    def _take_writes(self, site: Site) -> None:
        """Register in every context, also in those that the standby has never seen."""
        for context in dict.fromkeys(CONTEXTS):
            for _ in range(self._chance.randint(1, 6)):
                self._number += 1
                subject = f"{'' if context == '.' else f':{context}:'}after{self._number}"
                if not site.register(subject, _record("A", self._number)):
                    self.problems.append(f"{site.name} refuses {subject}")
                self.counts["registered at the promoted"] += 1
        for _ in self._change(site, 3):
            pass
        self._ledger.note_export(site.name, export_of(site.url))

    def _go_on(self, empty: Site, promoted: Site) -> None:
        """Go back to the lost site, which is empty, or make it the standby."""
        self._primary, self._standby, self._adopts = promoted, empty, False
        if self._chance.random() < 0.5:
            return
        self.counts["failback"] += 1
        mirror_once(promoted.url, empty.url)
        self._expect(differences(promoted.facts(), empty.facts()), "after the failback")
        self._command("promote", "--to", empty.url, "--from", promoted.url, "--id-gap", str(self._chance.randrange(9)))
        self._take_writes(empty)
        self._primary, self._standby, self._adopts = empty, promoted, True
        if self._chance.random() < 0.5:
            promoted.lose()
            self._adopts = False

    def _expect(self, problems: list[str], when: str) -> None:
        self.problems += [f"{when}: {problem}" for problem in problems]


@contextmanager
def simulation(seed: int) -> Iterator[Simulation]:
    """A simulation with two registries of its own."""
    chance = random.Random(seed)
    with memory_registry() as left, memory_registry() as right:
        yield Simulation(Site("A", left.url, chance, left), Site("B", right.url, chance, right), chance)
