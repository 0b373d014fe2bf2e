"""A node that was suspended for longer than the topic keeps tombstones reads the topic anew before it answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from magicbyte.platform.broker.local import LocalBroker
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, temporary_broker
from tests.chaos.kit.compacting_topic import (
    BROKER,
    compacted_cluster,
    delete_for_good,
    register,
    wait_until_forgotten,
)
from tests.waiting import PATIENCE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]

PRICE = '{"type":"record","name":"Price","fields":[{"name":"amount","type":"int"}]}'
#: BACKWARD refuses this one after PRICE.
OTHER_PRICE = '{"type":"record","name":"Price","fields":[{"name":"amount","type":"string"}]}'


@pytest.fixture(scope="module")
def broker() -> Iterator[LocalBroker]:
    with temporary_broker(properties=BROKER) as broker:
        yield broker


def by_role(nodes: list[ServerProcess]) -> tuple[ServerProcess, ServerProcess]:
    """The leader and the follower."""
    first, second = nodes
    leads = httpx.get(f"{first.url}/health/ready").json()["leader"]
    return (first, second) if leads else (second, first)


def wait_until_it_leads(node: ServerProcess) -> None:
    deadline = time.monotonic() + PATIENCE
    while not httpx.get(f"{node.url}/health/ready", timeout=30).json()["leader"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("suspended", ["follower", "leader"])
def test_a_node_suspended_longer_than_tombstones_are_kept_drops_deleted_versions(
    broker: LocalBroker, suspended: str
) -> None:
    cluster = compacted_cluster()
    with (
        running_registry("kafka:", bootstrap_servers=broker.bootstrap_servers, properties=cluster) as first,
        running_registry("kafka:", bootstrap_servers=broker.bootstrap_servers, properties=cluster) as second,
    ):
        schema_id = register(first.url, "gone", PRICE).json()["id"]
        assert register(second.url, "stays", '"int"').status_code == 200
        for node in (first, second):
            assert httpx.get(f"{node.url}/schemas/ids/{schema_id}").status_code == 200
        leader, follower = by_role([first, second])
        sleeper, awake = (follower, leader) if suspended == "follower" else (leader, follower)
        assert sleeper.pid is not None
        os.kill(sleeper.pid, signal.SIGSTOP)
        try:
            wait_until_it_leads(awake)
            delete_for_good(awake.url, "gone")
            filler = iter(range(1000))
            wait_until_forgotten(
                broker.bootstrap_servers,
                cluster["kafkastore.topic"],
                "gone",
                lambda: register(awake.url, f"filler-{next(filler)}", '"long"'),
            )
        finally:
            os.kill(sleeper.pid, signal.SIGCONT)
        # The first answer is already one of the log as it is.
        answer = httpx.get(f"{sleeper.url}/schemas/ids/{schema_id}", timeout=30)
        assert (answer.status_code, answer.json()["error_code"]) == (404, 40403)
        assert "gone" not in httpx.get(f"{sleeper.url}/subjects?deleted=true").json()
        assert httpx.get(f"{sleeper.url}/schemas/ids/{schema_id}").status_code == 404
        assert httpx.get(f"{sleeper.url}/subjects/stays/versions").json() == [1]
        awake.stop()
        wait_until_it_leads(sleeper)
        # As the leader, it decides as the other one would have.
        again = register(sleeper.url, "gone", OTHER_PRICE)
        assert (again.status_code, again.json()["version"]) == (200, 1)
        assert again.json()["id"] > schema_id


@pytest.mark.parametrize("fault", ["copied", "damaged", "hanging"])
def test_faults_of_the_storage_lose_nothing_silently(fault: str) -> None:
    """The chaos run in short."""
    command = [sys.executable, "-P", str(ROOT / "tests/chaos/registry_storage.py"), "--rounds", "4", "--only", fault]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    finished = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, env=environment)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.endswith("0 problems\n")
