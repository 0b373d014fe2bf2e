"""A node whose log may have lost deletions replaces its whole state, and answers nothing before."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from registry.app import create_app
from registry.cluster.node import SharedLogNode
from registry.feed.changes import TooOld, changes_since
from registry.http import offset_tokens
from registry.http.version_counts import VersionCounts
from registry.log.memory import MemoryLog
from registry.log.port import BEGINNING, HistoryLost, LogEntry, LogReplaced, Offset
from registry.settings import RegistrySettings


class ForgetfulLog(MemoryLog):
    """A log that has lost the tombstones which its reader has not read."""

    def __init__(self) -> None:
        super().__init__()
        self.is_lost = False

    def forget(self, subject: str) -> None:
        """Do as compaction does with the records of a subject that was deleted, and let the log grow."""
        self._entries = [entry for entry in self._entries if f'"{subject}"'.encode() not in (entry.key or b"")]
        self.is_lost = True

    def read(self, after: Offset) -> Iterator[LogEntry]:
        if after == BEGINNING:
            self.is_lost = False
        if self.is_lost:
            raise HistoryLost("deletions may be missing")
        return iter([entry for entry in self._entries if entry.offset > after])

    def end(self) -> Offset:
        return self._entries[-1].offset if self._entries else BEGINNING

    def grow(self) -> None:
        key = b'{"keytype":"NOOP","magic":0}'
        self._entries.append(LogEntry(self._entries[-1].offset + 2, key, b"{}", 0))


class Node(SharedLogNode):
    """A node that may be told that its view is not current."""

    suspended = False

    @property
    def is_current(self) -> bool:
        return not self.suspended


@pytest.fixture
def log() -> ForgetfulLog:
    return ForgetfulLog()


@pytest.fixture
def node(log: ForgetfulLog) -> Iterator[Node]:
    node = Node(log, "http://node", poll_seconds=3600)
    node.start()
    yield node
    node.stop()


@pytest.fixture
def client(node: Node) -> Iterator[TestClient]:
    with TestClient(create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"}), node)) as client:
        yield client


def register(client: TestClient, subject: str, name: str) -> int:
    text = json.dumps({"type": "record", "name": name, "fields": []})
    answer = client.post(f"/subjects/{subject}/versions", json={"schema": text})
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def test_records_missing_from_the_log_leave_every_answer_and_cache(
    node: Node, log: ForgetfulLog, client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    register(client, "stays", "Stays")
    gone = register(client, "gone", "Gone")
    counts, before = VersionCounts(node.view), node.view.offset
    assert counts.now()[0] == 2
    for _ in range(2):
        assert client.get(f"/schemas/ids/{gone}").status_code == 200
    log.forget("gone")
    log.grow()
    with caplog.at_level(logging.WARNING, "magicbyte.registry"):
        node.sync()
    assert "deletions may be missing; reading the log anew" in caplog.text
    assert node.view.offset == before + 1
    assert client.get(f"/schemas/ids/{gone}").json()["error_code"] == 40403
    assert client.get("/subjects").json() == ["stays"]
    assert counts.now() == (1, {("AVRO", False): 1})
    with pytest.raises(TooOld):
        changes_since(node.view, before)
    assert changes_since(node.view, before, compacted=True) == []
    assert changes_since(node.view, before + 1) == []


def test_a_log_that_ends_before_the_read_offset_is_another_log(
    node: Node, log: ForgetfulLog, client: TestClient
) -> None:
    register(client, "stays", "Stays")
    register(client, "gone", "Gone")
    log.forget("gone")
    with pytest.raises(LogReplaced, match="the log ends at 0, before 1"):
        node.sync()


def test_a_suspended_node_answers_only_health_requests(
    node: Node, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_tokens, "WAIT_SECONDS", 0.1)
    schema_id = register(client, "s", "S")
    remembered = [f"/schemas/ids/{schema_id}", "/subjects/s/versions/1"]
    for path in remembered:
        assert client.get(path).status_code == 200
    node.suspended = True
    for path in (*remembered, "/subjects", "/config", "/export", "/overview"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1"), path
        assert answer.json()["message"].startswith("This node was suspended, and has not read the log again within")
    assert client.put("/config", json={"compatibility": "FULL"}).status_code == 503
    for path in ("/health/live", "/health/ready", "/metrics", "/v1/metadata/version"):
        assert client.get(path).status_code == 200, path
    node.suspended = False
    assert [client.get(path).status_code for path in remembered] == [200, 200]
