"""The leader gives up the lead: another node takes it, no write fails, and nothing is lost."""

from __future__ import annotations

import json
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

import httpx
import pytest

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from registry.cluster.commit.committer import Committer
from registry.cluster.lead.group import GroupDescriber
from registry.cluster.lead.peer_probe import PeerProbe
from registry.decide import Decision
from registry.log.memory import MemoryLog
from registry.state.view import View
from tests.registry.conftest import Api, GuardedApi

#: How often the leader gives up the lead under writes.
_ROUNDS = 2
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Trio:
    """Two nodes that may lead, and one that only follows."""

    nodes: list[ServerProcess]
    group: GroupDescriber

    def leader_and_other(self) -> tuple[ServerProcess, ServerProcess]:
        """The node that leads, and the other one that may; waits until both are in the group and one leads."""
        first, second = self.nodes[:2]
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            description = self.group.describe()
            members = {str(member.client_id) for member in description.members} if description is not None else set()
            if members == {first.url, second.url}:
                for leader, other in ((first, second), (second, first)):
                    if "magicbyte_registry_leader 1.0" in httpx.get(f"{leader.url}/metrics").text.splitlines():
                        return leader, other
            time.sleep(0.05)
        raise TimeoutError("no node leads, or one is not in the group")


@pytest.fixture(scope="module")
def trio(kafka: str) -> Iterator[Trio]:
    group = str(uuid.uuid4())
    shared = {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": group}
    with ExitStack() as stack:
        nodes = []
        for eligible in ("true", "true", "false"):
            properties = {**shared, "leader.eligibility": eligible}
            running = running_registry("kafka:", bootstrap_servers=kafka, properties=properties)
            nodes.append(stack.enter_context(running))
        yield Trio(nodes, GroupDescriber({"bootstrap.servers": kafka}, f"magicbyte-{group}"))


def step_down(node: ServerProcess) -> httpx.Response:
    return httpx.post(f"{node.url}/admin/step-down", timeout=_PATIENCE)


def register(node: ServerProcess, subject: str) -> httpx.Response:
    schema = json.dumps({"type": "fixed", "name": f"F_{subject.replace('-', '_')}", "size": 4})
    return httpx.post(f"{node.url}/subjects/{subject}/versions", json={"schema": schema}, timeout=_PATIENCE)


class Writers:
    """Clients that register and delete through all nodes, each request once, and read what they have written."""

    def __init__(self, nodes: list[ServerProcess]) -> None:
        self.nodes, self.problems = nodes, list[str]()
        self.ids: dict[str, int] = {}
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(index,)) for index in range(3)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, writes: int) -> None:
        wait_for(lambda: len(self.ids) >= writes)

    def _write(self, index: int) -> None:
        number = 0
        while not self._stopping.is_set():
            number += 1
            writer, reader = (self.nodes[(index + number + step) % len(self.nodes)] for step in (0, 1))
            subject = f"w{index}-{number}"
            answers = [register(writer, subject)]
            self.ids[subject] = answers[0].json().get("id", -number)
            answers.append(httpx.get(f"{reader.url}/subjects/{subject}/versions/1", timeout=_PATIENCE))
            if number % 2:
                answers.append(httpx.delete(f"{reader.url}/subjects/{subject}", timeout=_PATIENCE))
            self.problems += [f"{answer.request.url}: {answer.text}" for answer in answers if answer.status_code != 200]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_the_lead_changes_hands_under_writes(trio: Trio) -> None:
    with Writers(trio.nodes) as writers:
        for _ in range(_ROUNDS):
            writers.wait_for(len(writers.ids) + 5)
            leader, other = trio.leader_and_other()
            answer = step_down(leader)
            assert (answer.status_code, answer.json()) == (200, {"leaderUrl": other.url})
            assert any(f"gave up the lead; {other.url} leads after" in line for line in leader.last_lines(50))
        writers.wait_for(len(writers.ids) + 5)
    assert writers.problems == []
    assert len(set(writers.ids.values())) == len(writers.ids)
    for node in trio.nodes:
        subjects = httpx.get(f"{node.url}/subjects?deleted=true", timeout=_PATIENCE).json()
        assert writers.ids.keys() - set(subjects) == set()


def test_requests_at_once_share_the_answer_and_the_next_one_names_the_new_leader(trio: Trio) -> None:
    leader, other = trio.leader_and_other()
    with ThreadPoolExecutor(4) as pool:
        answers = [answer.json() for answer in pool.map(step_down, [leader] * 4)]
    assert answers == [{"leaderUrl": other.url}] * 4
    message = f"This node does not lead: {other.url} does; send the request there"
    for node in (leader, trio.nodes[2]):
        refused = step_down(node)
        assert (refused.status_code, refused.json()) == (409, {"error_code": 40911, "message": message})
    # The former leader stays out of the group for a while, and the third node may not lead.
    refused = step_down(other)
    assert (refused.status_code, refused.json()["error_code"]) == (409, 40913)
    assert register(leader, "after").status_code == 200


@pytest.mark.slow
def test_a_killed_member_prevents_a_step_down(trio: Trio) -> None:
    leader, other = trio.leader_and_other()
    other.kill()
    try:
        refused = step_down(leader)
        assert (refused.status_code, refused.json()["error_code"]) == (409, 40914)
        assert refused.json()["message"].startswith(f"{other.url} may lead too, but does not answer")
        assert register(trio.nodes[2], "still").status_code == 200
    finally:
        other.start()


def test_a_storage_without_a_leader_refuses(api: Api) -> None:
    refused = api("POST", "/admin/step-down")
    message = "The storage memory has no leader: each node on it takes writes itself"
    assert (refused.status_code, refused.json()) == (409, {"error_code": 40912, "message": message})


@pytest.mark.parametrize(
    ("name", "rules", "status", "code"),
    [
        ("reader", "allow User:reader ALTER_CONFIGS REGISTRY LITERAL *\n", 403, 40301),
        ("reader", "allow User:reader WRITE,DELETE,ALTER_CONFIGS SUBJECT LITERAL *\n", 403, 40301),
        ("reader", "allow User:reader ALTER REGISTRY LITERAL *\n", 409, 40912),
        ("admin", "# None.\n", 409, 40912),
    ],
)
def test_a_step_down_needs_the_right_to_alter_the_registry(
    guarded: GuardedApi, name: str, rules: str, status: int, code: int
) -> None:
    guarded.replace_rules(rules)
    answer = guarded(name, "/admin/step-down", {})
    assert (answer.status, json.loads(answer.body)["error_code"]) == (status, code)


def test_a_committer_is_drained_when_all_queued_commands_have_their_outcomes() -> None:
    begun, released = threading.Event(), threading.Event()

    def slow(_view: View, _now: int) -> Decision[None]:
        begun.set()
        released.wait(_PATIENCE)
        return Decision(None)

    committer = Committer(MemoryLog(), View())
    committer.start()
    try:
        outcomes = [committer.submit(slow, client) for client in ("a", "b", "a")]
        assert begun.wait(_PATIENCE)
        assert not committer.drain(0.05)
        released.set()
        assert committer.drain(_PATIENCE)
        assert all(outcome.is_done for outcome in outcomes)
        assert committer.drain(_PATIENCE)
    finally:
        committer.stop()


@pytest.fixture
def silent_url() -> Iterator[str]:
    """The URL of a port that takes connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield f"http://127.0.0.1:{silent.getsockname()[1]}"


def test_a_probe_tells_a_server_that_answers_from_a_port_where_none_does(silent_url: str) -> None:
    def no_context() -> None:
        raise AssertionError("http:// needs no TLS")

    probe = PeerProbe(no_context)  # type: ignore[arg-type]  # it is not called
    with running_registry() as server:
        assert probe(server.url)
    assert not probe(server.url)
    assert not probe("http://127.0.0.1:none")
    assert not probe(silent_url)
