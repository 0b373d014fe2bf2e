"""Real servers that are used as clients use them, and what they tell in their metrics after that."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from magicbyte.operations.backup.metrics import BackupMetrics
from magicbyte.operations.backup.writing import write_logical
from magicbyte.operations.mirror.metrics import MetricsPort, MirrorMetrics
from magicbyte.operations.sources.port import Origin, Reading
from magicbyte.operations.state import State
from magicbyte.platform.broker.ports import free_port
from magicbyte.testing import running_registry, running_rest_proxy
from spark_avro.pipeline.state.progress import StateProgress
from tests.clients.secured_registry import SecuredRegistry
from tests.rest.conftest import Rest
from tests.ui.kit.pipelines import running_pipeline


@dataclass(frozen=True, slots=True)
class Scrape:
    """The metrics of a program.

    Attributes:
        program: `registry`, `rest proxy`, `pipeline`, `mirror` or `backup`.
        text: The text that a scrape gets.
    """

    program: str
    text: str

    @property
    def families(self) -> list[Metric]:
        """The families that have samples."""
        return [family for family in text_string_to_metric_families(self.text) if family.samples]


def record(name: str, *fields: str) -> str:
    """An Avro schema with int fields."""
    return json.dumps({"type": "record", "name": name, "fields": [{"name": field, "type": "int"} for field in fields]})


@contextmanager
def running_pair(kafka: str, properties: Mapping[str, str] | None = None) -> Iterator[list[str]]:
    """A registry cluster of two nodes, as URLs: the leader, and the other node."""
    name = f"metrics-{os.getpid()}"
    common = {"kafkastore.topic": f"_schemas-{name}", "schema.registry.group.id": name, **(properties or {})}
    with ExitStack() as stack:
        urls = [
            stack.enter_context(running_registry("kafka:", bootstrap_servers=kafka, properties=common)).url
            for _ in range(2)
        ]
        leads = [httpx.get(f"{url}/health/ready").json()["leader"] for url in urls]
        yield [url for _, url in sorted(zip(leads, urls, strict=True), reverse=True)]


def use_registry(leader: str, follower: str) -> None:
    """Register, look up, compare and refuse schemas, through both nodes."""
    with httpx.Client(base_url=leader) as client, httpx.Client(base_url=follower) as other:
        proto = 'syntax = "proto3"; message M { int32 a = 1; }'
        for text, kind in ((record("A", "a"), "AVRO"), ('{"type": "object"}', "JSON"), (proto, "PROTOBUF")):
            for _ in range(2):
                body = {"schema": text, "schemaType": kind}
                assert client.post(f"/subjects/{kind}-value/versions", json=body).status_code == 200
        url = "/subjects/AVRO-value/versions"
        assert client.post(url, json={"schema": record("A", "a", "b")}).status_code == 409
        assert client.post(url, json={"schema": "no schema"}).status_code == 422
        assert client.post(f"/compatibility{url}/latest", json={"schema": record("A", "a")}).status_code == 200
        assert other.post("/subjects/forwarded/versions", json={"schema": '"int"'}).status_code == 200
        for _ in range(2):
            assert client.get("/schemas/ids/1").status_code == 200
        assert client.get("/none").status_code == 404
        # How many nodes there are is asked for at a scrape, for the next one.
        assert {node.get("/metrics").status_code for node in (client, other)} == {200}
        assert client.delete("/subjects/JSON-value").status_code == 200


def use_proxy(rest: Rest, registry_url: str) -> None:
    """Produce and consume in both versions of the API."""
    topic = rest.unique("metrics")
    rest.produce(topic, [{"value": 1}, {"value": 2}])
    rest.produce(topic, [{"value": 1}], "avro", value_schema='"int"')
    rule = {"name": "low", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message < 2"}
    ruled = {"schema": '"int"', "ruleSet": {"domainRules": [rule]}}
    assert httpx.post(f"{registry_url}/subjects/{topic}-ruled-value/versions", json=ruled).is_success
    rest.produce(f"{topic}-ruled", [{"value": 1}], "avro", value_schema='"int"')
    cluster = rest.get("/v3/clusters").json()["data"][0]["cluster_id"]
    path = f"/v3/clusters/{cluster}/topics/{topic}/records"
    for body in ({"value": {"type": "JSON", "data": 3}}, {"value": {"type": "AVRO", "data": 3}}):
        assert rest.post(path, json=body).status_code == 200
    instance = rest.subscribed(topic, format="json")
    rest.read_all(instance, 2)
    assert rest.post(
        f"{path}:batch", json={"entries": [{"id": "1", "value": {"type": "STRING", "data": "x"}}]}
    ).is_success
    assert rest.get(f"/v3/clusters/{cluster}/topics/{topic}/records", params={"value_type": "AVRO"}).is_success
    assert rest.get("/none").status_code == 404


def backup_scrape(folder: Path) -> str:
    """The metrics of backups after a round that failed, and one that did not."""
    metrics = BackupMetrics("registry.ndjson", "127.0.0.1:0")
    try:
        metrics.failed()
        metrics.made(
            write_logical(Reading(State(), Origin("none")), folder / "b.ndjson", progress=lambda _: None, more={})
        )
        return httpx.get(f"http://127.0.0.1:{metrics.port}/metrics").text
    finally:
        metrics.close()


def scrapes_after_use(kafka: str, secured: SecuredRegistry, folder: Path) -> list[Scrape]:
    """Run and use all programs; returns what each tells."""
    scrapes = []
    with running_pair(kafka) as pair:
        use_registry(*pair)
        with running_rest_proxy(kafka, pair[0]) as proxy, Rest(base_url=proxy.url, timeout=60) as rest:
            use_proxy(rest, pair[0])
            scrapes.append(Scrape("rest proxy", httpx.get(f"{proxy.url}/metrics").text))
        scrapes += [Scrape("registry", httpx.get(f"{url}/metrics").text) for url in pair]
    tls = ssl.create_default_context(cafile=secured.files.ca)
    text = httpx.get(f"{secured.url}/metrics", auth=("admin", secured.passwords["admin"]), verify=tls).text
    scrapes.append(Scrape("registry", text))
    with running_pipeline(folder) as pipeline:
        pipeline.batch(1)
        pipeline.state()
        pipeline.metrics.add_state(StateProgress(0, None, (), unmatched={"airports": 1}))
        scrapes.append(Scrape("pipeline", httpx.get(f"{pipeline.url}/metrics").text))
    scrapes.append(Scrape("backup", backup_scrape(folder)))
    port = free_port()
    with MetricsPort(f":{port}", MirrorMetrics()):
        scrapes.append(Scrape("mirror", httpx.get(f"http://127.0.0.1:{port}/metrics").text))
    return scrapes
