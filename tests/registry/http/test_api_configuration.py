"""Confluent's properties, as they stand in files and variables; logs and metrics."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from magicbyte.kit.environment import properties_from_environment, read_environment
from magicbyte.kit.logs.formats import JsonFormatter
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.kit.settings import SettingsError
from registry.cluster.kafka_node import open_kafka_node
from registry.http.version_counts import VersionCounts
from registry.log.port import LogEntry, LogError
from registry.settings import RegistrySettings
from registry.state.model import Content, Version
from registry.state.records import Key, encode_key, encode_version
from registry.state.view import RECENT_ENTRIES, View

#: A property of the reference, a value, our attribute and what it holds then.
PROPERTIES = [
    ("listeners", "http://0.0.0.0:9999", "listeners", [("http", "0.0.0.0", 9999)]),
    ("host.name", "registry-1", "host_name", "registry-1"),
    ("host.port", "81", "host_port", 81),
    ("inter.instance.protocol", "https", "inter_instance_protocol", "https"),
    ("schema.registry.group.id", "mine", "group_id", "mine"),
    ("kafkastore.bootstrap.servers", "PLAINTEXT://a:9092, SSL://b:9093", "bootstrap_servers", "a:9092,b:9093"),
    ("kafkastore.topic", "_mine", "topic", "_mine"),
    ("kafkastore.topic.replication.factor", "1", "topic_replication_factor", 1),
    ("kafkastore.topic.skip.validation", "true", "topic_skip_validation", True),
    ("kafkastore.timeout.ms", "500", "write_timeout_ms", 500),
    ("kafkastore.init.timeout.ms", "1000", "init_timeout_ms", 1000),
    ("kafkagroup.session.timeout.ms", "10000", "session_timeout_ms", 10_000),
    ("leader.eligibility", "false", "leader_eligibility", False),
    ("master.eligibility", "false", "leader_eligibility", False),
    ("leader.connect.timeout.ms", "1", "leader_connect_timeout_ms", 1),
    ("leader.read.timeout.ms", "1", "leader_read_timeout_ms", 1),
    ("inter.instance.headers.whitelist", "x-a", "forwarded_headers", "x-a"),
    ("schema.compatibility.level", "full_transitive", "compatibility_level", "FULL_TRANSITIVE"),
    ("avro.compatibility.level", "none", "compatibility_level", "NONE"),
    ("mode.mutability", "false", "mode_mutability", False),
    ("schema.validate.fields", "true", "validate_fields", True),
    ("schema.validate.new.schemas", "false", "validate_new_schemas", False),
    ("schema.providers.reference.versions.strict", "true", "strict_reference_versions", True),
    ("schema.reject.empty.subject", "true", "reject_empty_subject", True),
    ("schema.cache.size", "5", "schema_cache_size", 5),
    ("schema.search.default.limit", "5", "schema_search_default_limit", 5),
    ("schema.search.max.limit", "5", "schema_search_max_limit", 5),
    ("subject.search.default.limit", "5", "subject_search_default_limit", 5),
    ("subject.search.max.limit", "5", "subject_search_max_limit", 5),
    ("subject.version.search.default.limit", "5", "version_search_default_limit", 5),
    ("subject.version.search.max.limit", "5", "version_search_max_limit", 5),
    ("context.search.default.limit", "5", "context_search_default_limit", 5),
    ("context.search.max.limit", "5", "context_search_max_limit", 5),
    ("size.limit.filter.max.request.body.size", "5", "max_body_bytes", 5),
    ("request.timeout.ms", "5", "request_timeout_ms", 5),
]


@pytest.mark.parametrize(("name", "value", "attribute", "expected"), PROPERTIES, ids=[row[0] for row in PROPERTIES])
def test_a_property_is_taken_from_files_and_variables(
    tmp_path: Path, name: str, value: str, attribute: str, expected: Any
) -> None:
    file = tmp_path / "schema-registry.properties"
    file.write_text(f"# the reference's own form\n{name}={value}\n")
    variable = "SCHEMA_REGISTRY_" + name.upper().replace("-", "__").replace(".", "_")
    for properties in (
        read_properties_file(file),
        properties_from_environment("SCHEMA_REGISTRY_", [(variable, value)]),
    ):
        found = getattr(RegistrySettings.from_properties(properties), attribute)
        if attribute == "listeners":
            found = [(listener.scheme, listener.host, listener.port) for listener in found]
        assert found == expected


def test_kafka_clients_get_only_their_properties() -> None:
    given = RegistrySettings.from_properties(
        {
            "kafkastore.security.protocol": "SASL_SSL",
            "kafkastore.sasl.mechanism": "PLAIN",
            "kafkastore.ssl.truststore.location": "/t",
            "kafkastore.topic.config.retention.ms": "1",
            "kafkastore.topic": "_schemas",
        }
    )
    assert given.kafka_client_properties == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "ssl.truststore.location": "/t",
    }
    assert given.topic_configs == {"retention.ms": "1"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("listeners", "nowhere"),
        ("listeners", "htps://0.0.0.0:8081"),
        ("inter.instance.protocol", "ftp"),
        ("magicbyte.log.level", "loud"),
        ("metadata.encoder.secret", "very secret"),
        ("kafkastore.timeout.ms", "soon"),
        ("kafkastore.timeout.ms", "0"),
        ("schema.compatibility.level", "SOME"),
        ("mode.mutability", "perhaps"),
        ("host.port", "high"),
        ("magicbyte.incompatible.error.code", "500"),
        ("magicbyte.webhook.urls", "ftp://x"),
    ],
)
def test_a_wrong_value_stops_with_the_propertys_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name}: ") as raised:
        RegistrySettings.from_properties({name: value})
    assert "secret" not in name or value not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("kafkastore.topik", None),
        ("schema.compatibility.levle", "unknown property schema.compatibility.levle; did you mean"),
        ("colour", "unknown property colour"),
        ("master.eligibility", "property master.eligibility is called leader.eligibility now"),
        ("leader.election.sticky", "property leader.election.sticky has no effect"),
        ("kafkastore.write.max.retries", "property kafkastore.write.max.retries has no effect"),
    ],
)
def test_a_property_that_is_none_is_warned_of(caplog: pytest.LogCaptureFixture, name: str, warning: str | None) -> None:
    with caplog.at_level(logging.WARNING):
        RegistrySettings.from_properties({name: "true"})
    assert [text.startswith(warning) for text in caplog.messages] == [True] if warning else not caplog.messages


def test_variables_that_kubernetes_sets_for_a_service_are_ignored() -> None:
    of_services = {
        "SCHEMA_REGISTRY_PORT": "tcp://10.0.0.1:8081",
        "SCHEMA_REGISTRY_SERVICE_HOST": "10.0.0.1",
        "SCHEMA_REGISTRY_SERVICE_PORT": "8081",
        "SCHEMA_REGISTRY_SERVICE_PORT_HTTP": "8081",
        "SCHEMA_REGISTRY_PORT_8081_TCP": "tcp://10.0.0.1:8081",
        "SCHEMA_REGISTRY_PORT_8081_TCP_ADDR": "10.0.0.1",
        "SCHEMA_REGISTRY_HEADLESS_PORT": "tcp://10.0.0.2:8081",
        "SCHEMA_REGISTRY_HEADLESS_SERVICE_HOST": "10.0.0.2",
        "SCHEMA_REGISTRY_HEADLESS_PORT_8081_TCP_PROTO": "tcp",
    }
    settings = {
        "SCHEMA_REGISTRY_SCHEMA_REGISTRY_GROUP_ID": "mine",
        "SCHEMA_REGISTRY_HOST_PORT": "8081",
        "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS": "SSL://10.0.0.1:9092",
        "OTHER_PORT": "tcp://10.0.0.3:1",
    }
    read = read_environment("SCHEMA_REGISTRY_", [*of_services.items(), *settings.items()])
    assert read.properties == {
        "schema.registry.group.id": "mine",
        "host.port": "8081",
        "kafkastore.bootstrap.servers": "SSL://10.0.0.1:9092",
    }
    assert read.service_links == tuple(sorted(of_services))
    warning = read.warning()
    assert "SCHEMA_REGISTRY_HEADLESS_PORT, " in warning
    assert "enableServiceLinks: false" in warning


def test_the_metadata_has_the_attributes_of_the_deployment(make_api: Callable[..., Any]) -> None:
    api = make_api(magicbyte_deployment_attributes="region:eu, stage:test")
    assert api("GET", "/v1/metadata/deployment").json() == {"attributes": ["region:eu", "stage:test"]}


def test_the_registry_refuses_an_empty_subject_if_a_property_asks_for_refusal(make_api: Callable[..., Any]) -> None:
    assert make_api().register(":.c:", '"int"').status_code == 200
    api = make_api(schema_reject_empty_subject="true")
    for subject in (":.c:", "*"):
        assert api.register(subject, '"int"').json()["error_code"] == 42208


def test_the_global_context_is_in_scope_of_the_global_settings(api: Any) -> None:
    for path in ("/config", "/config?defaultToGlobal=true"):
        assert api("GET", path).json() == {"compatibilityLevel": "BACKWARD"}
    api("PUT", "/config/:.__GLOBAL:", {"compatibility": "FULL"})
    assert api("GET", "/config").json() == {"compatibilityLevel": "BACKWARD"}
    scoped = api("GET", "/config?defaultToGlobal=true&origin=true").json()
    assert scoped == {"compatibilityLevel": "FULL", "origin": "global"}
    api("PUT", "/config", {"compatibility": "NONE"})
    assert api("GET", "/config?defaultToGlobal=true").json() == {"compatibilityLevel": "NONE"}
    api("PUT", "/mode/:.__GLOBAL:", {"mode": "READONLY"})
    for path in ("/mode", "/mode?defaultToGlobal=true"):
        assert api("GET", path).json() == {"mode": "READONLY"}


def test_the_registry_refuses_two_versions_of_a_reference_if_a_property_asks_for_refusal(
    make_api: Callable[..., Any],
) -> None:
    for strict, message in (
        ("false", None),
        (
            "true",
            'Invalid schema of type AVRO, details: Conflicting reference versions for "E": version 2 and version 1',
        ),
    ):
        api = make_api(schema_providers_reference_versions_strict=strict)
        api.register("e", '{"type":"enum","name":"E","symbols":["A"]}')
        api.register("e", '{"type":"enum","name":"E","symbols":["A","B"]}')
        inner = '{"type":"record","name":"I","fields":[{"name":"e","type":"E"}]}'
        api.register("i", inner, references=[{"name": "E", "subject": "e", "version": 1}])
        both = [{"name": "E", "subject": "e", "version": 2}, {"name": "I", "subject": "i", "version": 1}]
        answered = api.register("s", '{"type":"array","items":"I"}', references=both)
        assert (answered.status_code, answered.json().get("message")) == (422 if message else 200, message)


def test_each_request_is_a_line_of_json_with_its_id(api: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "magicbyte.access"):
        api("GET", "/subjects/none/versions", headers={"X-Request-ID": "mine-1"})
    line = json.loads(JsonFormatter("node-1").format(caplog.records[-1]))
    assert line.pop("ms") >= 0
    assert line.pop("ts").endswith("Z")
    assert line == {
        "level": "INFO",
        "logger": "magicbyte.access",
        "event": "request_answered",
        "msg": "GET /subjects/none/versions 404",
        "node": "node-1",
        "request_id": "mine-1",
        "principal": "User:ANONYMOUS",
        "method": "GET",
        "path": "/subjects/none/versions",
        "route": "/subjects/{subject}/versions",
        "status": 404,
    }


def test_a_line_of_json_takes_anything() -> None:
    record = logging.makeLogRecord({"msg": "half \ud800", "big": 2**70, "path": Path("/x")})
    line = json.loads(JsonFormatter().format(record))
    assert (line["msg"], line["big"], line["path"]) == ("half \ud800", 2**70, "/x")


def test_versions_are_counted_as_they_come_and_go(api: Any) -> None:
    def counts() -> dict[str, float]:
        lines = (line.rpartition(" ") for line in api("GET", "/metrics").text.splitlines() if not line.startswith("#"))
        return {
            name.removeprefix("kafka_schema_registry_").removesuffix("_count"): float(value)
            for name, _, value in lines
            if name.endswith(("registered_count", "deleted_count")) or name.startswith("magicbyte_registry_schemas{")
        }

    assert counts() == {"registered": 0, "deleted": 0}
    api.register("s", '"int"')
    api.register("s", '"long"')
    assert counts() == {"registered": 2, "deleted": 0, 'magicbyte_registry_schemas{type="AVRO"}': 2}
    api("DELETE", "/subjects/s/versions/1")
    api.register("j", "{}", schemaType="JSON")
    by_type = {'magicbyte_registry_schemas{type="AVRO"}': 1, 'magicbyte_registry_schemas{type="JSON"}': 1}
    assert counts() == {"registered": 2, "deleted": 1, **by_type}
    api("DELETE", "/subjects/s")
    api("DELETE", "/subjects/s?permanent=true")
    assert counts() == {"registered": 1, "deleted": 0, 'magicbyte_registry_schemas{type="JSON"}': 1}


def test_versions_are_counted_where_more_came_than_is_at_hand() -> None:
    view = View()
    counts = VersionCounts(view)

    def register(first: int, last: int) -> None:
        for offset in range(first, last):
            content = Content("AVRO", f'{{"type":"fixed","name":"F","size":{offset}}}')
            version = Version(f"s{offset}", 1, offset + 1, content, deleted=False, timestamp=1)
            key = encode_key(Key("SCHEMA", version.subject, 1))
            view.apply(LogEntry(offset, key, encode_version(version), 1))

    register(0, 10)
    assert counts.now() == (10, {("AVRO", False): 10})
    register(10, 10 + RECENT_ENTRIES + 5)
    assert counts.now() == (RECENT_ENTRIES + 15, {("AVRO", False): RECENT_ENTRIES + 15})


COUNTED = 'magicbyte_http_requests_total{app="registry"'


def test_metrics_count_requests_by_route_and_schemas_by_type(api: Any) -> None:
    api.register("s", '"int"')
    api.register("s", '"long"')
    api.register("j", "{}", schemaType="JSON")
    api("DELETE", "/subjects/s/versions/1")
    api("GET", "/subjects/none/versions")
    lines = api("GET", "/metrics").text.splitlines()
    for line in (
        f'{COUNTED},method="POST",route="/subjects/{{subject}}/versions",status="200"}} 3.0',
        f'{COUNTED},method="GET",route="/subjects/{{subject}}/versions",status="404"}} 1.0',
        "kafka_schema_registry_api_success_count 4.0",
        "kafka_schema_registry_api_failure_count 1.0",
        "kafka_schema_registry_registered_count 2.0",
        "kafka_schema_registry_deleted_count 1.0",
        "kafka_schema_registry_master_slave_role 1.0",
        "kafka_schema_registry_node_count 1.0",
        'magicbyte_registry_schemas{type="JSON"} 1.0',
    ):
        assert line in lines


def test_metrics_count_answers_from_memory(api: Any) -> None:
    api.register("s", '"int"')
    for _ in range(5):
        assert api("GET", "/subjects/s/versions/1").status_code == 200
        assert api("POST", "/subjects/s", {"schema": '"int"'}).status_code == 200
        assert api("GET", "/contexts/:.:/subjects/s/versions/1").status_code == 200
    lines = api("GET", "/metrics").text.splitlines()
    for line in (
        f'{COUNTED},method="GET",route="/subjects/{{subject}}/versions/{{version}}",status="200"}} 10.0',
        f'{COUNTED},method="POST",route="/subjects/{{subject}}",status="200"}} 5.0',
        "kafka_schema_registry_api_success_count 16.0",
    ):
        assert line in lines


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        ("kafkastore.sasl.mechanism", "OAUTHBEARER", SettingsError, "kafkastore.sasl.mechanism: OAUTHBEARER needs "),
        ("kafkastore.sasl.mechanisn", "PLAIN", LogError, 'kafkastore.*: No such configuration property: "sasl.mechan'),
        ("kafkastore.security.protocol", "TLS", LogError, 'kafkastore.*: Invalid value "TLS" for configuration proper'),
    ],
)
def test_the_registry_refuses_unusable_kafka_properties_at_the_start(
    name: str, value: str, error: type[Exception], text: str
) -> None:
    settings = RegistrySettings.from_properties({"kafkastore.bootstrap.servers": "127.0.0.1:1", name: value})
    with pytest.raises(error) as refused:
        open_kafka_node(settings)
    assert str(refused.value).startswith(text)
