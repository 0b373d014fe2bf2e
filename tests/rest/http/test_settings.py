"""Settings by kafka-rest's names, what they pass on, and a broker behind TLS and SASL."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from compat.schema import SchemaText
from magicbyte.kit.settings import SettingsError
from magicbyte.platform.broker import free_port
from magicbyte.testing.broker import temporary_broker
from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.consume.consumers.instance_limit import InstanceLimit, instance_limit
from rest_proxy.formats.embedded import FORMATS
from rest_proxy.settings import RestProxySettings
from rest_proxy.start.client_check import check_clients
from serdes.serialization import SerializationContext
from serdes.text import TextOptions, text_form
from tests.waiting import until

BASE = {"bootstrap.servers": "127.0.0.1:1", "schema.registry.url": ""}
JSON = {"content-type": "application/vnd.kafka.json.v2+json"}
V2 = {"content-type": "application/vnd.kafka.v2+json"}


def test_defaults() -> None:
    settings = RestProxySettings.from_properties({"bootstrap.servers": "b:9092"})
    assert settings.listeners == "http://0.0.0.0:8082"
    moved = {"bootstrap.servers": "b:9092", "port": "8099", "listeners": "", "authentication.method": "none"}
    assert RestProxySettings.from_properties(moved).listeners == "http://0.0.0.0:8099"
    assert settings.schema_registry_url == "http://localhost:8081"
    assert settings.consumer_request_timeout_ms == 1000
    assert settings.consumer_request_max_bytes == 67108864
    assert settings.consumer_instance_timeout_ms == 300000
    producer = settings.producer_config("all")
    assert producer["enable.idempotence"] is True
    assert producer["partitioner"] == "murmur2_random"
    assert settings.producer_config("1")["enable.idempotence"] is False
    assert settings.consumer_config()["enable.auto.offset.store"] is False


@pytest.mark.parametrize(
    ("form", "schema", "name"),
    [
        ("avro", '{"type":"record","name":"a.R","fields":[]}', "a.R"),
        ("avro", '"int"', None),
        ("jsonschema", '{"title":"T","type":"object"}', "T"),
        ("jsonschema", "true", None),
        ("protobuf", 'syntax = "proto3"; package p; message M { int32 a = 1; }', "p.M"),
    ],
)
def test_subjects_by_each_strategy(form: str, schema: str, name: str | None) -> None:
    subjects = {"Topic": "t-key", "Record": name, "TopicRecord": name and f"t-{name}"}
    schema_type = FORMATS[form].schema_type
    assert schema_type is not None
    record_name = text_form(schema_type).record_name(SchemaText(schema_type, schema), TextOptions())
    for strategy, subject in subjects.items():
        setting = {"schema.registry.key.subject.name.strategy": f"io.confluent.subject.{strategy}NameStrategy"}
        naming = RestProxySettings.from_properties(BASE | setting).naming().key
        assert naming is not None
        assert naming(SerializationContext("t", "key"), record_name) == subject


@pytest.mark.parametrize(
    ("name", "in_header"),
    [
        ("PrefixSchemaIdSerializer", False),
        (" HeaderSchemaIdSerializer ", True),
        ("io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer", True),
    ],
)
def test_places_of_frames_by_java_class(name: str, in_header: bool) -> None:
    for side in ("key", "value"):
        setting = {f"schema.registry.{side}.schema.id.serializer": name}
        assert RestProxySettings.from_properties(BASE | setting).frame_places() == (
            in_header and side == "key",
            in_header and side == "value",
        )


def test_an_unknown_schema_id_serializer() -> None:
    setting = {"schema.registry.key.schema.id.serializer": "a.DualSchemaIdDeserializer"}
    with pytest.raises(SettingsError) as error:
        RestProxySettings.from_properties(BASE | setting)
    assert str(error.value) == (
        "schema.registry.key.schema.id.serializer: must be PrefixSchemaIdSerializer or HeaderSchemaIdSerializer,"
        " not 'a.DualSchemaIdDeserializer'; did you mean HeaderSchemaIdSerializer?"
    )


def test_subjects_named_after_records(kafka: str, registry_url: str, rest: Any) -> None:
    topic, record = rest.unique("named"), rest.unique("R").replace("-", "_")
    properties = {"schema.registry.value.subject.name.strategy": "RecordNameStrategy"}
    avro = {"content-type": "application/vnd.kafka.avro.v2+json"}
    schema = json.dumps({"type": "record", "name": record, "fields": []})
    with running_rest_proxy(kafka, registry_url, properties=properties) as proxy:
        body = {"value_schema": schema, "records": [{"value": {}}]}
        made = httpx.post(f"{proxy.url}/topics/{topic}", json=body, headers=avro).json()
        body = {"value_schema_id": made["value_schema_id"], "records": [{"value": {}}]}
        assert httpx.post(f"{proxy.url}/topics/{topic}", json=body, headers=avro).status_code == 200
        body = {"value_schema": '"int"', "records": [{"value": 1}]}
        nameless = httpx.post(f"{proxy.url}/topics/{topic}", json=body, headers=avro)
        assert (nameless.status_code, nameless.json()["error_code"]) == (408, 40801)
    assert httpx.get(f"{registry_url}/subjects/{record}/versions").json() == [1]


def test_the_proxy_passes_client_properties_on() -> None:
    settings = RestProxySettings.from_properties(
        BASE
        | {
            "client.security.protocol": "SSL",
            "client.client.id": "all",
            "producer.client.id": "mine",
            "producer.linger.ms": "5",
            "producer.buffer.memory": "1000",
            "consumer.session.timeout.ms": "7000",
            "consumer.request.timeout.ms": "250",
            "admin.client.id": "boss",
            "schema.registry.basic.auth.user.info": "u:p",
        }
    )
    producer, consumer, admin = settings.producer_config("all"), settings.consumer_config(), settings.admin_config()
    assert {config["security.protocol"] for config in (producer, consumer, admin)} == {"SSL"}
    assert (producer["client.id"], consumer["client.id"], admin["client.id"]) == ("mine", "all", "boss")
    assert producer["linger.ms"] == "5"
    assert consumer["session.timeout.ms"] == "7000"
    # The proxy's own settings of these prefixes are not the clients'.
    assert settings.buffer_memory == 1000
    assert settings.consumer_request_timeout_ms == 250
    assert "request.timeout.ms" not in consumer
    assert settings.registry_properties() == {"schema.registry.basic.auth.user.info": "u:p"}


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({}, "bootstrap.servers: give the address of a Kafka broker"),
        ({"bootstrap.servers": " "}, "bootstrap.servers: give the address"),
        (BASE | {"fetch.min.bytes": "-2"}, "fetch.min.bytes: "),
        (BASE | {"consumer.request.timeout.ms": "soon"}, "consumer.request.timeout.ms: "),
        (BASE | {"producer.acks": "2"}, "producer.acks: "),
        (BASE | {"authentication.method": "KERBEROS"}, "KERBEROS is not supported; use NONE"),
        (
            BASE | {"api.endpoints.blocklist": "api.v3.acls.*, api.v3.topic.*"},
            "api.endpoints.blocklist: there is no endpoint api.v3.topic.*; did you mean api.v3.topics.*?",
        ),
        (
            BASE | {"api.endpoints.allowlist": "api.v2.produce-to-topic"},
            "api.endpoints.allowlist: there is no endpoint api.v2.produce-to-topic; did you mean"
            " api.v2.produce-to-topic.*?",
        ),
        (
            BASE | {"schema.registry.key.subject.name.strategy": "a.b.NoStrategy"},
            "schema.registry.key.subject.name.strategy: must be TopicNameStrategy or RecordNameStrategy or "
            "TopicRecordNameStrategy, not 'a.b.NoStrategy'",
        ),
        (BASE | {"peers": "http://a:1,http://b:1"}, "peers.self: say which of the peers this node is"),
        (BASE | {"peers": "http://a:1", "peers.self": "http://c:1"}, "peers.self: http://c:1 is not among peers"),
        (BASE | {"producer.no.such": "1"}, 'No such configuration property: "no.such"'),
        (BASE | {"consumer.session.timeout.ms": "x"}, "session.timeout.ms"),
        (BASE | {"client.ssl.truststore.location": "/none"}, "ssl.truststore.location: /none cannot be read"),
        (BASE | {"schema.registry.url": "http://r", "schema.registry.nope": "1"}, "schema.registry.nope"),
    ],
)
def test_settings_that_are_refused_name_the_property(properties: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError) as raised:
        check_clients(RestProxySettings.from_properties(properties))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("files", "requested", "limit"),
    [
        (1024, 0, (64, "the limit of open files, ulimit -n 1024")),
        (1024, 50, (50, "consumer.instances.max")),
        (1024, 64, (64, "consumer.instances.max")),
        (1024, 65, (64, "the limit of open files, ulimit -n 1024")),
        (100, 0, (1, "the limit of open files, ulimit -n 100")),
        (1_000_000, 0, (960, "the C library's 1,024 thread-specific keys of a process")),
        (1_000_000, 2000, (960, "the C library's 1,024 thread-specific keys of a process")),
        (1_000_000, 960, (960, "consumer.instances.max")),
    ],
)
def test_the_system_bounds_the_instances(
    files: int, requested: int, limit: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (files, files))
    assert instance_limit(requested) == InstanceLimit(*limit)


@pytest.fixture(scope="module")
def short_lived_proxy(kafka: str) -> Iterator[Any]:
    properties = {
        "consumer.instance.timeout.ms": "4000",
        "consumer.instances.max": "2",
        "advertised.listeners": "http://proxy.example:80",
    }
    with running_rest_proxy(kafka, "", properties=properties) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def short_lived(short_lived_proxy: Any) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=short_lived_proxy.url) as client:
        yield client


def test_idle_instances_expire_and_used_ones_do_not(short_lived: Any) -> None:
    for name in ("idle", "used"):
        made = short_lived.post("/consumers/g", json={"name": name}, headers=V2)
        assert made.json()["base_uri"] == f"http://proxy.example:80/consumers/g/instances/{name}"
    full = short_lived.post("/consumers/g", headers=V2)
    assert (full.status_code, full.headers["retry-after"]) == (429, "5")
    assert full.json()["message"] == (
        "No further consumer instance fits on this node: 2 are open (consumer.instances.max)."
    )
    while (made := short_lived.post("/consumers/g", headers=V2)).status_code == 429:
        assert short_lived.get("/consumers/g/instances/used/subscription").status_code == 200
        time.sleep(0.1)
    assert made.status_code == 200
    assert short_lived.get("/consumers/g/instances/used/subscription").status_code == 200
    assert short_lived.get("/consumers/g/instances/idle/subscription").json()["error_code"] == 40403


def test_without_a_registry(short_lived: Any) -> None:
    answer = short_lived.post(
        "/topics/t",
        json={"value_schema": '"int"', "records": [{"value": 1}]},
        headers={"content-type": "application/vnd.kafka.avro.v2+json"},
    )
    assert (answer.status_code, answer.json()) == (
        422,
        {"error_code": 42206, "message": "Payload error. Schema Registry must be configured when using schemas."},
    )


def test_the_log_has_failures_of_the_fast_path(short_lived: httpx.Client, short_lived_proxy: Any) -> None:
    short_lived.post("/topics/refused%0A", content=b"{}", headers=JSON)
    # The answer is sent before the line is written.
    until(lambda: '"/topics/refused%0A"' in short_lived_proxy.log.read_text())
    lines = [json.loads(line) for line in short_lived_proxy.log.read_text().splitlines()]
    (logged,) = [line for line in lines if line.get("path") == "/topics/refused%0A"]
    assert (logged["method"], logged["status"]) == ("POST", 422)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A broker with a listener behind TLS and SASL, and the certificate it shows."""
    folder = tmp_path_factory.mktemp("tls")
    store, certificate = folder / "broker.p12", folder / "broker.pem"
    keytool = shutil.which("keytool") or str(Path(shutil.which("java") or "").resolve().parent / "keytool")
    common = ["-alias", "broker", "-keystore", str(store), "-storetype", "PKCS12", "-storepass", "changeit"]
    subject = ["-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1", "-keyalg", "EC", "-validity", "2"]
    subprocess.run([keytool, "-genkeypair", *common, *subject], check=True, capture_output=True)
    subprocess.run([keytool, "-exportcert", "-rfc", *common, "-file", certificate], check=True, capture_output=True)
    port, plain, controller = free_port(), free_port(), free_port()
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    properties = {
        "listeners": f"PLAINTEXT://127.0.0.1:{plain},SASL_SSL://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{plain},SASL_SSL://127.0.0.1:{port}",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": f'{module} required user_alice="secret";',
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(store),
        "ssl.keystore.password": "changeit",
    }
    with temporary_broker(plain, properties):
        yield f"127.0.0.1:{port}", certificate


def secured(certificate: Path, password: str) -> dict[str, str]:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        "client.security.protocol": "SASL_SSL",
        "client.sasl.mechanism": "PLAIN",
        "client.sasl.jaas.config": f'{module} required username="alice" password="{password}";',
        "client.ssl.truststore.location": str(certificate),
        "client.ssl.truststore.type": "PEM",
    }


def test_a_broker_behind_tls_and_sasl(secure: tuple[str, Path]) -> None:
    bootstrap, certificate = secure
    with (
        running_rest_proxy(bootstrap, "", properties=secured(certificate, "secret")) as proxy,
        httpx.Client(base_url=proxy.url, timeout=30) as client,
    ):
        answer = client.post("/topics/t", json={"records": [{"value": 1}]}, headers=JSON)
        assert answer.json()["offsets"][0] == {"partition": 0, "offset": 0, "error_code": None, "error": None}
        config = {"name": "i", "format": "json", "auto.offset.reset": "earliest"}
        client.post("/consumers/g", json=config, headers=V2)
        client.post("/consumers/g/instances/i/subscription", json={"topics": ["t"]}, headers=V2)
        accept = {"accept": "application/vnd.kafka.json.v2+json"}
        query = {"timeout": 1000}
        records: list[Any] = []
        while not records:
            records = client.get("/consumers/g/instances/i/records", params=query, headers=accept).json()
        assert records[0]["value"] == 1


REFUSED = [
    ("GET", "/topics", None),
    ("GET", "/brokers", None),
    ("GET", "/topics/t", None),
    ("GET", "/topics/t/partitions/0/offsets", None),
    ("POST", "/topics/t", {"records": [{"value": 1}]}),
    ("POST", "/topics/t", {"records": [{"value": 1}]}),
    ("POST", "/topics/t/partitions/0", {"records": [{"value": 1}]}),
    ("GET", "/consumers/g/instances/i/offsets", {"partitions": [{"topic": "t", "partition": 0}]}),
    ("POST", "/consumers/g/instances/i/offsets", {"offsets": [{"topic": "t", "partition": 0, "offset": 1}]}),
    ("POST", "/consumers/g/instances/i/subscription", {"topics": ["t"]}),
    ("GET", "/consumers/g/instances/i/records", None),
    ("POST", "/consumers/g/instances/i/positions/beginning", {"partitions": [{"topic": "t", "partition": 0}]}),
]


@pytest.mark.parametrize(("what", "requests"), [("password", REFUSED), ("certificate", REFUSED[1:8:3])])
@pytest.mark.slow
def test_brokers_that_refuse_the_credentials_of_the_proxy(
    secure: tuple[str, Path], what: str, requests: list[Any]
) -> None:
    bootstrap, certificate = secure
    properties = secured(certificate, "wrong" if what == "password" else "secret")
    if what == "certificate":  # one that nobody we trust has signed
        del properties["client.ssl.truststore.location"], properties["client.ssl.truststore.type"]
    found = []
    with (
        running_rest_proxy(bootstrap, "", properties=properties) as proxy,
        httpx.Client(base_url=proxy.url, timeout=60) as client,
    ):
        client.post("/consumers/g", json={"name": "i", "format": "json"}, headers=V2)
        for method, path, body in requests:
            headers = JSON if path.startswith("/topics") else V2 | {"accept": "*/*"}
            if path.endswith("/records"):
                headers = {"accept": JSON["content-type"]}
            started = time.monotonic()
            answer = client.request(method, path, json=body, headers=headers)
            # A request that is not refused waits for 30 s.
            assert time.monotonic() - started < 25, path
            content = answer.json() if answer.content else {}
            code = content["offsets"][0] if "offsets" in content else content
            found.append((path, answer.status_code, code.get("error_code")))
    expected = {path: (401, 40101) for _, path, _ in requests} | {"/consumers/g/instances/i/subscription": (204, None)}
    assert found == [(path, *expected[path]) for _, path, _ in requests]
