"""Rules that change while a request is served: it is judged by one set of rules, which no request compiles."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import uuid
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import pytest

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.rights import authorizer as authorizer_module
from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.rights.rule_file import format_rule
from magicbyte.security.rights.rule_set import Rules
from magicbyte.testing import running_registry, running_rest_proxy
from registry.cluster.node import SharedLogNode
from registry.decide import decide_replace_rules
from registry.log.memory import MemoryLog
from rest_proxy.settings import RestProxySettings
from rest_proxy.start.registry_rules import follow_rules
from tests.security.rights.rule_servers import Client, properties_in, rules, wait_for
from tests.security.rights.test_rule_log import ADMIN


class HalfSent:
    """A request whose head has been sent, and whose body has not."""

    def __init__(self, server: ServerProcess, who: str, path: str, body: Any, media_type: str) -> None:
        self._body = json.dumps(body).encode()
        parts = urlsplit(server.url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._connection.putrequest("POST", path)
        self._connection.putheader("authorization", "Basic " + b64encode(f"{who}:mbs_{who}".encode()).decode())
        self._connection.putheader("content-type", media_type)
        self._connection.putheader("content-length", str(len(self._body)))
        self._connection.endheaders()

    def finish(self) -> tuple[int, dict[str, Any]]:
        """Send the body; return the status and the body of the answer."""
        self._connection.send(self._body)
        with self._connection.getresponse() as answer:
            status, content = answer.status, json.loads(answer.read())
        self._connection.close()
        return status, content


def decisions(client: Client, operation: str, resource_type: str) -> int:
    """The number of decisions that a server has counted that allowed an operation on a resource of a type."""
    counted = f'magicbyte_authorization_total{{operation="{operation}",outcome="allowed",type="{resource_type}"}} '
    lines = client("admin", "GET", "/metrics").text.splitlines()
    return next((int(float(line.removeprefix(counted))) for line in lines if line.startswith(counted)), 0)


class Servers(NamedTuple):
    registry: Client
    rest_proxy: Client


@pytest.fixture(scope="module")
def servers(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("pinned")
    with ExitStack() as stack:
        registry = stack.enter_context(running_registry(properties=properties_in(folder)))
        of_proxy = properties_in(
            folder,
            **{"magicbyte.acl.store": "log", "schema.registry.basic.auth.user.info": "admin:mbs_admin"},
        )
        proxy = stack.enter_context(running_rest_proxy(kafka, registry.url, properties=of_proxy))
        clients = Servers(Client(registry), Client(proxy))
        for client in clients:
            stack.callback(client.close)
        yield clients


def test_a_registration_is_judged_by_the_rules_that_it_came_under(servers: Servers):
    registry = servers.registry
    assert registry.register("admin", "referred").status_code == 200
    registry.change("PUT", "allow User:team WRITE SUBJECT LITERAL mine")
    body = {
        "schema": '{"type":"record","name":"R","fields":[]}',
        "references": [{"name": "Referred", "subject": "referred", "version": 1}],
    }
    before = decisions(registry, "WRITE", "SUBJECT")
    request = HalfSent(registry.server, "team", "/subjects/mine/versions", body, "application/json")
    wait_for(lambda: decisions(registry, "WRITE", "SUBJECT") == before + 1)
    # Each rule set denies one half of the request: the old one the reference, and the new one the subject.
    registry.change("PUT", "allow User:team READ SUBJECT LITERAL referred")
    assert registry.register("team", "mine").status_code == 403
    status, answer = request.finish()
    assert (status, answer["error_code"]) == (422, 42201), answer
    assert "referred" in answer["message"]


def test_a_produce_request_is_judged_by_the_rules_that_it_came_under(servers: Servers):
    registry, proxy = servers
    topic = "pinned-rules"
    produce, avro = f"/topics/{topic}", "application/vnd.kafka.avro.v2+json"
    body = {"value_schema": '"int"', "records": [{"value": 1}]}
    assert proxy("admin", "POST", produce, body, **{"content-type": avro}).status_code == 200
    registry.change("PUT", f"allow User:team WRITE TOPIC LITERAL {topic}")
    wait_for(lambda: proxy("team", "GET", produce).status_code == 200)
    before = decisions(proxy, "WRITE", "TOPIC")
    request = HalfSent(proxy.server, "team", produce, body, avro)
    wait_for(lambda: decisions(proxy, "WRITE", "TOPIC") == before + 1)
    # Each rule set denies one half of the request: the old one the subject, and the new one the topic.
    registry.change("PUT", f"allow User:team WRITE SUBJECT LITERAL {topic}-value")
    wait_for(lambda: proxy("team", "GET", produce).status_code == 403)
    assert request.finish() == (
        403,
        {"error_code": 40301, "message": f"User is denied operation Write on Subject: {topic}-value"},
    )


def test_the_rules_at_its_end_decide_on_a_read_that_waits_for_records(servers: Servers):
    registry, proxy = servers
    topic = f"lost-right-{uuid.uuid4()}"
    group, v2 = f"/consumers/{topic}", "application/vnd.kafka.binary.v2+json"
    headers, record = {"content-type": v2}, {"records": [{"value": b64encode(b"x").decode()}]}
    assert proxy("admin", "POST", f"/topics/{topic}", record, **headers).status_code == 200
    both = ("allow User:team READ GROUP PREFIXED lost-right", "allow User:team READ TOPIC PREFIXED lost-right")
    registry.change("PUT", *both)
    wait_for(lambda: proxy("team", "GET", f"/topics/{topic}").status_code == 200)
    config = {"name": "i", "format": "binary", "consumer.request.timeout.ms": "60000"}
    assert proxy("team", "POST", group, config).status_code == 200
    instance = f"{group}/instances/i"
    place = {"partitions": [{"topic": topic, "partition": 0}]}
    assert proxy("team", "POST", f"{instance}/assignments", place).status_code == 204
    assert proxy("team", "POST", f"{instance}/positions/end", place).status_code == 204
    before = decisions(proxy, "READ", "GROUP")
    answers: list[httpx.Response] = []
    reader = Client(proxy.server)
    reading = threading.Thread(
        target=lambda: answers.append(reader("team", "GET", f"{instance}/records", accept=v2)), daemon=True
    )
    reading.start()
    wait_for(lambda: decisions(proxy, "READ", "GROUP") == before + 1)
    registry.change("PUT", both[0])
    wait_for(lambda: proxy("team", "GET", f"/topics/{topic}").status_code == 403)
    assert proxy("admin", "POST", f"/topics/{topic}", record, **headers).status_code == 200
    reading.join(60)
    reader.close()
    assert [(answer.status_code, answer.json()["message"]) for answer in answers] == [
        (403, f"Not authorized to access topics: [{topic}]")
    ]


@pytest.fixture
def compiling_threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the threads in which rules are compiled, in order."""
    threads: list[str] = []

    def compile_rules(*arguments: Any, **options: Any) -> Rules:
        threads.append(threading.current_thread().name)
        return Rules(*arguments, **options)

    monkeypatch.setattr(authorizer_module, "Rules", compile_rules)
    return threads


def test_the_thread_that_changes_the_view_compiles_the_rules(compiling_threads: list[str]):
    node = SharedLogNode(MemoryLog(), "http://registry")
    node.start()
    try:
        authorizer = Authorizer(frozenset())
        node.call_after_changes(authorizer.catch_up)
        authorizer.follow(node.view)
        compiling_threads.clear()
        change = rules("allow User:a READ SUBJECT LITERAL x", "allow User:b READ SUBJECT LITERAL x")
        node.submit(lambda view, now: decide_replace_rules(view, now, rules=change, author=ADMIN)).result()
        # They are in force when the writer has its result, and were compiled once for the whole change.
        assert authorizer.rules.all == change
        assert compiling_threads == ["committer"]
    finally:
        node.stop()


def test_the_rest_proxy_compiles_rules_beside_its_event_loop(
    servers: Servers, tmp_path: Path, compiling_threads: list[str]
):
    registry = servers.registry
    settings = RestProxySettings.from_properties(
        {
            **properties_in(tmp_path, **{"magicbyte.acl.store": "log"}),
            "bootstrap.servers": "127.0.0.1:1",
            "schema.registry.url": registry.server.url,
            "schema.registry.basic.auth.user.info": "admin:mbs_admin",
        }
    )
    change = rules("allow User:a READ TOPIC LITERAL x", "allow User:b READ TOPIC LITERAL x")
    registry.change("PUT", *map(format_rule, change))
    authorizer = Authorizer(frozenset())
    compiling_threads.clear()

    async def follow() -> None:
        following = asyncio.create_task(follow_rules(settings, authorizer))
        while authorizer.rules.all != change:
            assert not following.done()
            await asyncio.sleep(0.01)
        following.cancel()

    asyncio.run(asyncio.wait_for(follow(), 60))
    assert len(compiling_threads) == 1
    assert compiling_threads != [threading.current_thread().name]
