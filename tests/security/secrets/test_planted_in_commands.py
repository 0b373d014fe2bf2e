"""Secrets that are planted in the settings of commands and of Kafka's clients are shown nowhere, whatever fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.testing import running_registry, running_rest_proxy
from serdes.letters.headers import FORMS, DeadLetter
from tests.security.rights.rule_servers import wait_for
from tests.security.secrets.planted import MARK, Watched, files_with_secrets, planted
from tests.topics import create_topics

#: Most tests of this file take seconds each.
pytestmark = pytest.mark.slow

COMMAND = (sys.executable, "-P", "-m", "magicbyte.cli.main")
NOWHERE = "127.0.0.1:1"
JAAS = 'org.apache.kafka.common.security.{module} required username="u" password="{password}";'


def jaas(name: str, module: str = "plain.PlainLoginModule") -> str:
    return JAAS.format(module=module, password=planted(name))


class Place(NamedTuple):
    """A topic with a dead letter, a registry that asks for a password, and what runs commands."""

    kafka: str
    registry: str
    letters: str
    folder: Path
    watched: Watched


@pytest.fixture(scope="module")
def place(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("commands")
    users = folder / "users"
    users.write_text(f"alice:{hash_key(planted('registry'))}\n")
    users.chmod(0o600)
    properties = {"authentication.method": "BASIC", "magicbyte.users.file": str(users), "super.users": "User:alice"}
    letters = "planted-dead"
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, *[NewTopic(name, 1) for name in (letters, "planted")])
    producer = Producer({"bootstrap.servers": kafka})
    letter = DeadLetter("planted", 0, 0, stage="VALUE_CONVERTER", connector="app", exception="E")
    producer.produce(letters, b"\0\0\0\0\x07x", b"k", headers=letter.headers(FORMS["connect"]))
    assert producer.flush(30) == 0
    (folder / "kafka.properties").write_text(
        f"sasl.password={planted('sasl')}\nssl.key.password={planted('key')}\nssl.keystore.password={planted('store')}\n"
    )
    (folder / "refused.properties").write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={jaas('jaas')}\n"
    )
    (folder / "registry.properties").write_text(f"basic.auth.user.info=alice:{planted('registry')}\n")
    (folder / "wrong.properties").write_text(f"basic.auth.user.info=alice:{planted('wrong')}\n")
    with running_registry(properties=properties) as registry:
        yield Place(kafka, registry.url, letters, folder, Watched(folder))


def dead_letter(place: Place, *words: str, config: str = "kafka") -> tuple[int, str]:
    servers = ("--bootstrap-server", place.kafka, "--command-config", str(place.folder / f"{config}.properties"))
    return place.watched.run([*COMMAND, "dead-letter", words[0], place.letters, *servers, *words[1:]])


def with_registry(place: Place, config: str = "registry") -> tuple[str, ...]:
    return ("--schema-registry-url", place.registry, "--config", str(place.folder / f"{config}.properties"))


def test_commands_for_dead_letters(place: Place) -> None:
    assert dead_letter(place, "list")[0] == 0
    for config in ("registry", "wrong"):
        assert dead_letter(place, "show", "--at", "0:0", *with_registry(place, config))[0] in (0, 3, 100)
        assert dead_letter(place, "replay", "--dry-run", *with_registry(place, config))[0] in (0, 3, 100)
    assert dead_letter(place, "replay", "--force", "--value-format", "bytes", *with_registry(place))[0] == 0
    assert dead_letter(place, "purge", "--replayed")[0] == 0


def test_commands_for_dead_letters_that_brokers_refuse(place: Place) -> None:
    code, written = dead_letter(place, "list", config="refused")
    assert code != 0
    assert written


def pipeline(place: Place, file: str, **changes: str) -> Path:
    """A pipeline file with secrets in each section that may have some."""
    path = place.folder / file
    text = f"""
version: 1
name: planted
kafka:
  bootstrap.servers: "{place.kafka}"
  sasl.password: {planted("pipeline-sasl")}
  ssl.key.password: "${{env:PLANTED_KEY}}"
registry:
  url: "{place.registry}"
  properties: {{basic.auth.user.info: "alice:{planted("registry")}"}}
checkpoint: {place.folder}/checkpoint
spark:
  spark.ui.enabled: false
  spark.hadoop.fs.s3a.secret.key: {planted("s3a")}
source:
  topics: [planted]
  value: {{format: json-plain, type: "id long, name string"}}
steps:
  - mask: {{name: "hmac:${{env:PLANTED_HMAC}}"}}
sink:
  sql: {{url: "sqlite:///{place.folder}/rows.db?password={planted("sql")}", table: rows}}
errors: {{tolerance: all, topic: planted-dead}}
"""
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path


ENVIRONMENT = {"PLANTED_KEY": planted("env-key"), "PLANTED_HMAC": planted("env-hmac")}


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, (0, 0)),
        ({"sasl.password": "sasl.passwrod.x"}, (0, 0)),
        ({"sql:": "sqll:"}, (2, 2)),
        ({"checkpoint:": "kafka.password: [x]\ncheckpoint:"}, (2, 2)),
        ({"PLANTED_HMAC": "PLANTED_NONE"}, (0, 2)),
    ],
    ids=["good", "kafka", "sink", "nested", "no variable"],
)
def test_commands_for_pipelines_that_only_read_the_file(
    place: Place, changes: dict[str, str], codes: tuple[int, int]
) -> None:
    file = str(pipeline(place, "flights.yaml", **changes))
    for command, code in zip(("lint", "submit"), codes, strict=True):
        done, written = place.watched.run([*COMMAND, "pipeline", command, file], ENVIRONMENT)
        assert done == code, written


@pytest.mark.parametrize("command", ["explain", "dry-run", "run"])
def test_commands_for_pipelines_that_start_spark(place: Place, command: str) -> None:
    code, written = place.watched.run(
        [*COMMAND, "pipeline", command, str(pipeline(place, "flights.yaml"))], ENVIRONMENT
    )
    # The dead letter that was replayed is none of the pipeline's rows.
    assert code in (0, 100), written
    assert files_with_secrets(place.folder / "checkpoint") == []


OF_V3: tuple[tuple[str, str, Any], ...] = (
    ("POST", "topics/planted/records", {"value": {"type": "STRING", "data": planted("record")}}),
    ("POST", "topics/planted/records", {"value": {"type": "STRING", "data": {"a": planted("misfit")}}}),
    ("POST", "topics/planted/records", {"headers": [{"name": "h", "value": planted("header")}]}),
    ("POST", "topics/planted/records", {"value": {"type": "AVRO", "schema": planted("schema"), "data": 1}}),
    ("POST", "topics/planted/records:batch", {"entries": [{"id": "a", "key": {"type": "JSON", "data": planted("b")}}]}),
    ("PUT", "topics/planted/configs/retention.ms", {"value": planted("config")}),
    ("PUT", "brokers/1/configs/ssl.keystore.password", {"value": planted("broker-config")}),
    ("POST", "broker-configs:alter", {"data": [{"name": "ssl.key.password", "value": planted("cluster-config")}]}),
    ("POST", "consumer-groups/g/offsets:alter", {"data": [{"topic_name": planted("topic")}]}),
    ("POST", "topics", {"topic_name": "t", "configs": [{"name": "retention.ms", "value": planted("new")}]}),
)


def test_secrets_in_requests_of_v3(kafka: str, place: Place) -> None:
    """It goes back to the client that sent it, and to nobody else."""
    properties = {
        "debug": "true",
        "client.ssl.key.password": planted("client-key"),
        "client.sasl.password": planted("client-sasl"),
        "schema.registry.basic.auth.user.info": f"alice:{planted('registry')}",
    }
    with (
        running_rest_proxy(kafka, place.registry, properties=properties) as proxy,
        httpx.Client(base_url=proxy.url, timeout=30) as client,
    ):
        cluster = client.get("/v3/clusters").json()["data"][0]["cluster_id"]
        for method, path, body in OF_V3:
            answer = client.request(method, f"/v3/clusters/{cluster}/{path}", json=body)
            assert answer.status_code < 500, answer.text
            assert planted("client") not in answer.text
        shown = client.get(f"/v3/clusters/{cluster}/brokers/1/configs/ssl.keystore.password").json()
        assert (shown["value"], shown["is_sensitive"]) == (None, True)
        others = [client.get(path).text for path in ("/metrics", f"/v3/clusters/{cluster}/brokers/-/configs")]
        assert MARK not in "".join(others)
        wait_for(lambda: "broker-configs:alter" in proxy.log.read_text())
        assert MARK not in proxy.log.read_text()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_credentials_that_brokers_refuse(kafka: str, mechanism: str, tmp_path: Path) -> None:
    """In the producer, the consumer, the reader and the admin client."""
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    properties = {
        "debug": "true",
        "client.security.protocol": "SASL_PLAINTEXT",
        "client.sasl.mechanism": mechanism,
        "client.sasl.jaas.config": jaas("client-jaas", module),
        "producer.delivery.timeout.ms": "2000",
        "producer.request.timeout.ms": "1000",
    }
    paths = (
        ("GET", "/v3/clusters", None),
        ("GET", "/v3/clusters/c/topics/t/partitions/0/records", None),
        ("POST", "/v3/clusters/c/topics/t/records", {}),
        ("GET", "/brokers", None),
    )
    with ExitStack() as stack:
        proxy = stack.enter_context(running_rest_proxy(kafka, "", properties=properties))
        client = stack.enter_context(httpx.Client(base_url=proxy.url, timeout=60))
        pool = stack.enter_context(ThreadPoolExecutor(len(paths)))
        answers = list(pool.map(lambda request: client.request(request[0], request[1], json=request[2]), paths))
        assert MARK not in "".join(answer.text for answer in answers)
        assert all(b'"error_code"' in answer.content for answer in answers)
        assert MARK not in client.get("/metrics").text + proxy.log.read_text()
