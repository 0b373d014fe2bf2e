"""Attacks in short: an innocent client hardly notices them, and the server is as before when they are over."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from magicbyte.testing.servers import running_registry
from tests.chaos import registry_followers, registry_shared

# A server, data and an attack of its own each: minutes.
pytestmark = pytest.mark.slow

#: The same at full size, by commands of their own.
SCRIPTS = Path(__file__).parents[2] / "chaos"
ATTACKED = runpy.run_path(str(SCRIPTS / "registry_attacked.py"))
MISSES = runpy.run_path(str(SCRIPTS / "registry_misses.py"))


@pytest.mark.parametrize("name", ATTACKED["ATTACKS"])
def test_an_attack_is_hardly_noticed(name: str) -> None:
    with running_registry("memory:") as server:
        outcome, problems = ATTACKED["attack"](server.url, server.pid, name, size=0.2, seconds=4)
    assert without_times(problems) == [], str(outcome)
    assert sum(outcome.answers.values()) > 0


@pytest.mark.parametrize("name", registry_shared.ATTACKS)
def test_one_greedy_client_does_not_get_other_clients_refused(name: str, tmp_path: Path) -> None:
    assert without_times(registry_shared.run(name, users=5, seconds=60, connections=60, folder=tmp_path)) == []


def test_a_thousand_followers_get_each_change_once() -> None:
    assert without_times(registry_followers.run(1000, writes=30, pause=0.1)) == []


def without_times(problems: list[str]) -> list[str]:
    """The problems that are none of the machine's: times mean something only if it has nothing else to do."""
    return [problem for problem in problems if "p99" not in problem]


def test_look_ups_of_missing_schemas_delay_no_other_request_while_the_broker_is_down() -> None:
    slowest, problems = MISSES["misses"](5)
    # A look-up waits for 10 s, and so would what it delays; shorter times are those of the machine.
    assert [problem for problem in problems if not problem.endswith(" s")] == [], slowest
    assert max(slowest["known"], slowest["live"]) < 8, slowest
