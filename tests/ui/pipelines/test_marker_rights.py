"""Markers of the broker that the real code of pipelines has written, for users of many and of few rights."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

from magicbyte.platform.broker import free_port
from magicbyte.testing import running_rest_proxy, temporary_broker
from tests.ui.kit.guarded import access_settings, guarded_registry
from tests.ui.kit.pipelines import post, running_pipeline, seconds_ago, write_batch

#: READ on the topic is enough; `lister` may see offsets, not records, and `stranger` the cluster, not the topic.
RULES = """\
allow User:reader READ TOPIC LITERAL _magicbyte_pipelines
allow User:lister DESCRIBE TOPIC LITERAL _magicbyte_pipelines
allow User:stranger DESCRIBE CLUSTER LITERAL kafka-cluster
"""


class Guarded:
    """A page with access rules, a broker with markers, and a pipeline that runs."""

    def __init__(self, servers: str, url: str) -> None:
        self.servers, self.url = servers, url

    def ask(self, user: str, **query: str) -> dict[str, Any]:
        auth = (user, user)
        answer = httpx.get(f"{self.url}/ui/pipelines.json", params=query, auth=auth, timeout=60, trust_env=False)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def rows(self, user: str, **query: str) -> dict[str, Any]:
        return {row["name"]: row for row in self.ask(user, **query)["pipelines"]}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder, port = tmp_path_factory.mktemp("guarded"), free_port()
    properties = access_settings(folder, "proxy", RULES)
    with ExitStack() as stack:
        # A broker of its own: all pipelines' markers are in one topic.
        servers = stack.enter_context(temporary_broker()).bootstrap_servers
        pipeline = stack.enter_context(running_pipeline(folder, "runs"))
        pipeline.batch(4)
        rest = f"http://127.0.0.1:{port}"
        registry = stack.enter_context(
            guarded_registry(folder, rest, properties={"magicbyte.ui.pipelines": pipeline.url})
        )
        stack.enter_context(running_rest_proxy(servers, registry.url, port=port, properties=properties))
        yield Guarded(servers, registry.url)


def test_before_the_first_marker(guarded: Guarded) -> None:
    answer = guarded.ask("admin")
    assert [row["name"] for row in answer["pipelines"]] == ["runs"]
    assert answer["markers"]["state"] in ("missing", "read")


def test_a_pipeline_that_died_shows_its_last_batch(guarded: Guarded) -> None:
    write_batch(guarded.servers, "died", "died-out", 11)
    write_batch(guarded.servers, "died", "died-out", 12)
    write_batch(guarded.servers, "runs", "runs-out", 4, query="q2")
    post(guarded.servers, "died", 12, ("ALTER TABLE t ADD COLUMN a",))
    rows = guarded.rows("reader")
    assert rows.keys() == {"died", "runs"}
    died = rows["died"]
    assert (died["state"], died["address"], died["figures"], died["health"]) == ("marker", None, None, None)
    (sink,) = died["sinks"]
    assert (sink["sink"], sink["batch"], sink["written"], sink["behind"]) == ("died-out", 12, 3, 0)
    assert 0 <= seconds_ago(sink["time"]) < 60
    assert died["change"]["statements"] == ["ALTER TABLE t ADD COLUMN a"]
    assert died["change"]["schemas"] == {"7": 2}
    assert (rows["runs"]["state"], rows["runs"]["sinks"][0]["batch"]) == ("healthy", 4)
    details = guarded.rows("reader", name="died")["died"]
    assert details["sinks"][0]["inputs"] == [{"topic": "flights", "partition": 0, "next": 39}]


def test_what_is_new_is_read(guarded: Guarded) -> None:
    for number in (13, 14):
        write_batch(guarded.servers, "died", "died-out", number)
        assert guarded.rows("reader")["died"]["sinks"][0]["batch"] == number


@pytest.mark.parametrize(
    "user",
    # `writer` has no right at the proxy at all.
    ["lister", "stranger", "writer"],
)
def test_a_user_who_may_not_read_the_markers(guarded: Guarded, user: str) -> None:
    # The server has read them for somebody else before.
    write_batch(guarded.servers, "died", "died-out", 15)
    assert guarded.ask("reader")["markers"]["state"] == "read"
    answer = guarded.ask(user)
    assert answer["markers"]["state"] == "forbidden"
    assert "Not authorized to access topics: [_magicbyte_pipelines]" in answer["markers"]["reason"]
    (row,) = answer["pipelines"]
    # The figures of metrics ports are for everybody who has signed in.
    assert (row["name"], row["state"], row["figures"]["batch"]) == ("runs", "healthy", 4)
    assert (row["sinks"], row["change"]) == ([], None)
    assert "died" not in str(answer)


def test_nobody_sees_anything_without_a_sign_in(guarded: Guarded) -> None:
    answer = httpx.get(f"{guarded.url}/ui/pipelines.json", trust_env=False)
    assert (answer.status_code, answer.headers["www-authenticate"].split()[0]) == (401, "Basic")
    assert "runs" not in answer.text


def test_a_marker_of_an_open_transaction_does_not_count(guarded: Guarded) -> None:
    before = guarded.rows("reader")["died"]["sinks"][0]["batch"]
    settings = {"bootstrap.servers": guarded.servers, "transactional.id": f"open-{uuid.uuid4()}"}
    producer = Producer(settings)
    producer.init_transactions(30)
    producer.begin_transaction()
    for partition in range(16):
        key, value = b"_marker/q1/0/died-out", b'{"batch":99,"written":1}'
        producer.produce("_magicbyte_pipelines", value, key, partition=partition)
    assert producer.flush(30) == 0
    assert guarded.rows("reader")["died"]["sinks"][0]["batch"] == before
    producer.abort_transaction(30)
    assert guarded.rows("reader")["died"]["sinks"][0]["batch"] == before
    assert guarded.ask("lister")["markers"]["state"] == "forbidden"


def test_records_of_others_are_counted(guarded: Guarded) -> None:
    producer = Producer({"bootstrap.servers": guarded.servers})
    producer.produce("_magicbyte_pipelines", b"rubbish", b"_marker/q1/0/died-out", partition=0)
    assert producer.flush(30) == 0
    answer = guarded.ask("reader")
    assert answer["markers"] == {"state": "read", "reason": "", "unreadable": 1}
    assert "died" in str(answer["pipelines"])
