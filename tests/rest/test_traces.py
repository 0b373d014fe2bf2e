"""Traces of real servers at a collector: two nodes of a registry, a proxy in front of them, and Kafka behind it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import NamedTuple

import httpx
import pytest
from confluent_kafka import Consumer, TopicPartition

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, running_rest_proxy
from tests.http.collector import Collector, running_collector
from tests.rest.conftest import unique
from tests.waiting import until

#: The servers take a minute to start on a busy machine.
pytestmark = pytest.mark.slow

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
FROM_CLIENT = f"00-{TRACE}-{PARENT}-01"
RECORD = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
WIDER = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":0}]}'


class Servers(NamedTuple):
    """The servers, the collector, and the bodies and headers of the webhooks."""

    leader: ServerProcess
    follower: ServerProcess
    proxy: ServerProcess
    collector: Collector
    posts: list[dict[str, str]]
    posted: threading.Event
    kafka: str


@pytest.fixture(scope="module")
def servers(kafka: str) -> Iterator[Servers]:
    posts: list[dict[str, str]] = []
    posted = threading.Event()

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            posts.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()
            posted.set()

        def log_message(self, *_arguments: object) -> None:
            """Be quiet."""

    with ExitStack() as stack:
        collector = stack.enter_context(running_collector())
        hook = stack.enter_context(HTTPServer(("127.0.0.1", 0), Hook))
        threading.Thread(target=hook.serve_forever, args=(0.05,), daemon=True).start()
        stack.callback(hook.shutdown)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        patch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=key")
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        shared = {
            "kafkastore.topic": unique("_schemas"),
            "schema.registry.group.id": unique("nodes"),
            "magicbyte.webhook.urls": f"http://u:hookpass@127.0.0.1:{hook.server_port}/hook",
            "magicbyte.log.access": "all",
        }
        nodes = [
            stack.enter_context(running_registry("kafka:", bootstrap_servers=kafka, properties=shared))
            for _ in range(2)
        ]
        proxy = stack.enter_context(
            running_rest_proxy(kafka, nodes[1].url, properties={"trace.kafka.headers": "true", "id": "proxy-1"})
        )
        follower = next(node for node in nodes if not _leads(node))
        (leader,) = (node for node in nodes if node is not follower)
        yield Servers(leader, follower, proxy, collector, posts, posted, kafka)


def _leads(node: ServerProcess) -> bool:
    status = httpx.get(f"{node.url}/health/ready", timeout=60).json()
    return bool(status["leader"])


def register(url: str, subject: str, schema: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": schema}, headers=headers, timeout=60)


def test_a_registration_continues_the_trace_of_its_client_through_both_nodes(servers: Servers) -> None:
    collector, subject = servers.collector, unique("traced")
    assert register(servers.leader.url, subject, RECORD).status_code == 200
    answer = register(servers.follower.url, subject, WIDER, traceparent=FROM_CLIENT)
    assert answer.status_code == 200, answer.text
    name = "POST /subjects/{subject}/versions"
    outer = collector.wait(trace_id=TRACE, name=name, node=servers.follower.url)
    assert (outer.parent_id, outer.kind, outer.service) == (PARENT, 2, "magicbyte-registry")
    assert outer.attributes == {
        "http.request.method": "POST",
        "http.route": "/subjects/{subject}/versions",
        "url.path": f"/subjects/{subject}/versions",
        "url.scheme": "http",
        "http.response.status_code": 200,
    }
    forward = collector.wait(trace_id=TRACE, name="forward")
    assert (forward.parent_id, forward.kind, forward.attributes["url.full"]) == (outer.span_id, 3, servers.leader.url)
    inner = collector.wait(trace_id=TRACE, name=name, node=servers.leader.url)
    assert inner.parent_id == forward.span_id
    for work in ("parse", "compatibility"):
        span = collector.wait(trace_id=TRACE, name=work, node=servers.leader.url)
        assert span.parent_id == inner.span_id
        assert span.attributes["magicbyte.schema.type"] == "AVRO"
    # The append is a trace of its own: others may share it.
    append = collector.wait(name="append", links=[(TRACE, inner.span_id)])
    assert (append.parent_id, append.attributes["magicbyte.commands"]) == ("", 1)
    assert append.trace_id != TRACE
    assert collector.headers[0]["x-api-key"] == "key"


def test_a_webhook_gets_the_trace_of_its_post(servers: Servers) -> None:
    register(servers.leader.url, unique("posted"), RECORD)
    assert servers.posted.wait(60)
    span = servers.collector.wait(name="webhook")
    assert servers.posts[0]["traceparent"] == span.traceparent
    assert span.attributes["url.full"].startswith("http://[hidden]@127.0.0.1:")
    assert span.attributes["http.response.status_code"] == 200


def test_a_produce_request_is_one_trace_from_the_client_to_the_record(servers: Servers) -> None:
    collector, topic = servers.collector, unique("traced")
    trace = "1" * 32
    answer = httpx.post(
        f"{servers.proxy.url}/topics/{topic}",
        json={"value_schema": RECORD, "records": [{"value": {"a": 1}}]},
        headers={
            "content-type": "application/vnd.kafka.avro.v2+json",
            "traceparent": f"00-{trace}-{PARENT}-01",
            "tracestate": "vendor=1",
        },
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    request = collector.wait(trace_id=trace, name="POST /topics/{topic}", service="magicbyte-rest-proxy")
    assert (request.parent_id, request.node) == (PARENT, "proxy-1")
    # The node that the proxy asks may forward the request, so the trace may have two such spans.
    collector.wait(name="POST /subjects/{subject}/versions", parent_id=request.span_id, service="magicbyte-registry")
    produce = collector.wait(trace_id=trace, name="produce")
    assert (produce.parent_id, produce.kind) == (request.span_id, 4)
    assert produce.attributes == {
        "messaging.system": "kafka",
        "messaging.destination.name": topic,
        "messaging.batch.message_count": 1,
    }
    sent = [("traceparent", produce.traceparent.encode()), ("tracestate", b"vendor=1")]
    assert headers_of(servers.kafka, topic) == sent


def test_a_record_of_v3_keeps_the_traceparent_of_its_client(servers: Servers) -> None:
    topic = unique("traced")
    url = f"{servers.proxy.url}/v3/clusters/any/topics/{topic}/records"
    mine = {"headers": [{"name": "traceparent", "value": "bWluZQ=="}], "value": {"type": "JSON", "data": 1}}
    assert httpx.post(url, json=mine, timeout=60).json()["error_code"] == 200
    assert headers_of(servers.kafka, topic) == [("traceparent", b"mine")]


def test_a_read_is_a_span(servers: Servers) -> None:
    topic = unique("read")
    body = {"records": [{"value": 1}]}
    media = {"content-type": "application/vnd.kafka.json.v2+json"}
    assert httpx.post(f"{servers.proxy.url}/topics/{topic}", json=body, headers=media, timeout=60).status_code == 200
    path = f"/v3/clusters/any/topics/{topic}/partitions/0/records"
    answer = httpx.get(f"{servers.proxy.url}{path}", params={"offset": "0"}, timeout=60)
    assert answer.status_code in (200, 404)
    if answer.status_code == 404:  # the cluster's id is checked
        cluster = httpx.get(f"{servers.proxy.url}/v3/clusters", timeout=60).json()["data"][0]["cluster_id"]
        path = path.replace("/any/", f"/{cluster}/")
        assert httpx.get(f"{servers.proxy.url}{path}", params={"offset": "0"}, timeout=60).status_code == 200
    consume = servers.collector.wait(name="consume")
    assert (consume.kind, consume.attributes["messaging.destination.name"]) == (5, topic)


def test_failures_are_marked_and_log_lines_have_the_trace(servers: Servers) -> None:
    answer = httpx.get(f"{servers.leader.url}/subjects/none/versions", headers={"traceparent": FROM_CLIENT}, timeout=60)
    assert answer.status_code == 404
    span = servers.collector.wait(name="GET /subjects/{subject}/versions", trace_id=TRACE)
    assert not span.is_failed  # the client's mistake
    request_id = answer.headers["x-request-id"]
    until(lambda: request_id in servers.leader.log.read_text())  # the answer is sent before its line is written
    lines = [json.loads(line) for line in servers.leader.log.read_text().splitlines() if request_id in line]
    assert [(line["event"], line["trace_id"]) for line in lines] == [("request_answered", TRACE)]
    assert "hookpass" not in servers.leader.log.read_text() + servers.follower.log.read_text()


def headers_of(kafka: str, topic: str) -> list[tuple[str, bytes]]:
    """The headers of a topic's first record."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": unique("g"), "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        (message,) = consumer.consume(1, 60)
        headers = message.headers()
        return [(str(name), bytes(value)) for name, value in headers]
    finally:
        consumer.close()
