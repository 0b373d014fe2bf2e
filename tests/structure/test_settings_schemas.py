"""The JSON Schemas of settings, compared with what servers, clients and serializers take."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from magicbyte.cli.main import COMMANDS
from magicbyte.cli.settings_schema import SCHEMAS
from magicbyte.http.page_settings import PageSettings
from magicbyte.kit.settings import SettingsError
from magicbyte.kit.settings.server_reference import own_properties
from registry.settings import RegistrySettings
from rest_proxy.settings import RestProxySettings
from serdes.client.config import client_options
from serdes.error import ConfigError
from serdes.message import config as serdes
from tests.structure.test_references import PROPERTIES
from tools.references import REFERENCES

Values = Mapping[str, Any]
SERVERS = {"registry": RegistrySettings, "rest-proxy": RestProxySettings}
#: What a server says to properties: it takes them, takes them with a warning, or refuses them.
TAKES, WARNS, REFUSES = "takes", "warns", "refuses"


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(SCHEMAS[name]())


def as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def said_by_server(name: str, values: Values, caplog: pytest.LogCaptureFixture) -> str:
    needed = {"bootstrap.servers": "localhost:9092"} if name == "rest-proxy" else {}
    caplog.clear()
    try:
        with caplog.at_level(logging.WARNING):
            settings = SERVERS[name].from_properties(needed | {name: as_text(value) for name, value in values.items()})
            if "ssl.endpoint.identification.algorithm" in values:
                settings.check_tls({"http"})
    except SettingsError:
        return REFUSES
    return WARNS if caplog.messages else TAKES


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_a_valid_schema_of_flat_settings(name: str) -> None:
    schema = SCHEMAS[name]()
    Draft202012Validator.check_schema(schema)
    assert "required" not in schema
    assert schema["additionalProperties"] is False
    if name != "check":
        assert [text for row in schema["properties"].values() if "](" in (text := row["description"])] == []


def test_the_command_prints_a_schema() -> None:
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "settings-schema"]
    ran = subprocess.run([*command, "client"], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == SCHEMAS["client"]()
    ran = subprocess.run([*command, "clients"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "settings-schema" in COMMANDS


@pytest.mark.parametrize(
    ("server", "values", "is_valid", "said"),
    [
        ("registry", {}, True, TAKES),
        ("registry", {"schema.compatibility.level": "FULL", "mode.mutability": False, "host.port": 8081}, True, TAKES),
        ("registry", {"schema.compatibility.level": "full_transitive"}, True, TAKES),
        ("registry", {"schema.compatibility.level": "FULLEST"}, False, REFUSES),
        ("registry", {"schema.compatibility.levle": "FULL"}, False, WARNS),
        ("registry", {"avro.compatibility.level": "full"}, True, WARNS),
        ("registry", {"avro.compatibility.level": "fullest"}, False, REFUSES),
        ("registry", {"magicbyte.incompatible.error.code": 40901}, True, TAKES),
        ("registry", {"magicbyte.incompatible.error.code": "500"}, False, REFUSES),
        ("registry", {"mode.mutability": "Yes"}, True, TAKES),
        ("registry", {"mode.mutability": "maybe"}, False, REFUSES),
        ("registry", {"kafkastore.timeout.ms": 0}, False, REFUSES),
        ("registry", {"kafkastore.timeout.ms": "soon"}, False, REFUSES),
        ("registry", {"kafkastore.timeout.ms": "${env:TIMEOUT}"}, True, REFUSES),
        ("registry", {"kafkastore.timeout.ms": [1]}, False, REFUSES),
        ("registry", {"kafkastore.sasl.mechanism": "PLAIN", "kafkastore.topic.config.retention.ms": -1}, True, TAKES),
        ("registry", {"kafkastore-timeout": 1}, False, WARNS),
        ("registry", {"leader.election.sticky": True}, True, WARNS),
        ("registry", {"magicbyte.audit.output": "none"}, True, TAKES),
        ("registry", {"magicbyte.audit.output": "file"}, False, REFUSES),
        ("registry", {"ssl.enabled.protocols": " TLSv1.3 ,"}, True, TAKES),
        ("registry", {"ssl.enabled.protocols": "TLSv1.2,TLSv1.1"}, False, REFUSES),
        ("registry", {"ssl.client.authentication": "required"}, True, TAKES),
        ("registry", {"authentication.method": "basic, ssl"}, True, TAKES),
        ("registry", {"authentication.method": "KERBEROS"}, False, REFUSES),
        ("registry", {"authentication.skip.paths": "/health/live,/metrics"}, True, TAKES),
        ("registry", {"authentication.skip.paths": "/subjects"}, False, REFUSES),
        ("registry", {"magicbyte.oauthbearer.algorithms": "HS256"}, False, REFUSES),
        ("registry", {"magicbyte.acl.store": "file:/rules"}, True, TAKES),
        ("registry", {"magicbyte.acl.store": "table"}, False, REFUSES),
        ("registry", {"confluent.schema.registry.auth.mechanism": "JETTY_AUTH"}, True, TAKES),
        ("registry", {"magicbyte.ui.color": "#ae231c", "magicbyte.ui.name": 2024}, True, TAKES),
        ("registry", {"magicbyte.ui.color": "red"}, False, REFUSES),
        ("registry", {"magicbyte.ui.pipelines": "lake=http://h:9109, https://h/p@1/metrics ,"}, True, TAKES),
        ("registry", {"magicbyte.ui.pipelines": "Lake=http://h:9109"}, False, REFUSES),
        ("registry", {"magicbyte.ui.pipelines": "http://h:9109?a=b"}, False, REFUSES),
        ("registry", {"magicbyte.ui.name": "x" * 41}, False, REFUSES),
        ("rest-proxy", {"producer.acks": 1, "avro.unions": "plain"}, True, TAKES),
        ("rest-proxy", {"producer.acks": -1}, True, TAKES),
        ("rest-proxy", {"producer.acks": 2}, False, REFUSES),
        ("rest-proxy", {"port": 70000}, False, REFUSES),
        ("rest-proxy", {"client.sasl.mechanism": "PLAIN", "schema.registry.max.retries": 2}, True, TAKES),
        ("rest-proxy", {"schema.registry.key.subject.name.strategy": "io.x.RecordNameStrategy"}, True, TAKES),
        ("rest-proxy", {"schema.registry.key.subject.name.strategy": "record"}, False, REFUSES),
        ("rest-proxy", {"kafkastore.topic": "t"}, False, WARNS),
    ],
)
def test_a_schema_agrees_with_the_server(
    server: str, values: Values, is_valid: bool, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert (validator(server).is_valid(values), said_by_server(server, values, caplog)) == (is_valid, said)


#: Texts that one property or another takes; each property is tried with each.
TEXTS = (
    *("", " ", "0", "1", "-1", "+1", " 5 ", "1_000", "5.0", "0.5", "1e3", "-0", "007", "700000000", "inf", "NaN"),
    *("true", "TRUE", "False", "t", "F", "yes", "No", "on", "OFF", "y", "n", "none", "None", "NONE", "own"),
    *("http", "HTTPS", "https", "log", "file:/x", "acl", "text", "stored", "tagged", "plain", "all", "/", ",/metrics,"),
    *("debug", "INFO", "backward", "FULL", "409", "40901", "requested", "PEM", "jks", "basic,BEARER", " ssl , none"),
    *("TLSv1.3,,TLSv1.2", "RS256,EdDSA", "RecordNameStrategy", " a.b.TopicNameStrategy ", "#00ff00", "SSL", "x:y"),
    *("http://localhost:8081", "https://a:1,http://b:2", "User:a;Group:b", "10.0.0.0/8", "DEFAULT", "api.v2.brokers.*"),
    *("set X-A: b", "a=1,b=2", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "api.v3.topics.list=5"),
)


@pytest.mark.parametrize("server", SERVERS)
def test_a_schema_refuses_no_text_that_the_server_takes(server: str, caplog: pytest.LogCaptureFixture) -> None:
    names = validator(server).schema["properties"]
    pairs = [{name: text} for name in names for text in TEXTS if name != "bootstrap.servers"]
    refused = [pair for pair in pairs if not validator(server).is_valid(pair)]
    assert refused
    assert [pair for pair in refused if said_by_server(server, pair, caplog) != REFUSES] == []


@pytest.mark.parametrize("server", SERVERS)
def test_a_schema_has_every_property_and_takes_its_default(server: str) -> None:
    properties = validator(server).schema["properties"]
    owners = {name: owner for name, (owner, _) in PROPERTIES.items()}
    for field in SERVERS[server].model_fields.values():
        if field.alias:
            assert properties[field.alias]["description"].startswith(str(field.description).partition("[")[0])
            assert field.alias in owners
    defaults = {name: row["default"] for name, row in properties.items() if "default" in row}
    assert len(defaults) > 50
    assert list(validator(server).iter_errors(defaults)) == []
    assert list(validator(server).iter_errors({name: as_text(value) for name, value in defaults.items()})) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("host.port", "The port of this node for other nodes. Takes a whole number."),
        (
            "magicbyte.allowed.hosts",
            "Further names of this server, which `Host` may have; `*` for any. See browsers. Takes a list, with commas"
            " between.",
        ),
        ("kafkastore.timeout.ms", "milliseconds, at least 1."),
        ("master.eligibility", "Another name of leader.eligibility."),
        ("debug", "Without effect: see magicbyte.log.level."),
    ],
)
def test_an_editor_shows_what_a_property_is(name: str, text: str) -> None:
    assert validator("registry").schema["properties"][name]["description"].endswith(text)


def test_the_page_has_its_own_properties_and_those_of_the_client() -> None:
    own = [name for name, _ in own_properties(PageSettings)]
    assert validator("ui").is_valid({"magicbyte.ui.name": "production", "schema.registry.url": "http://localhost:8081"})
    assert not validator("ui").is_valid({"idle.timeout.ms": 5})
    assert validator("ui").schema["properties"].keys() == {*own, *validator("client").schema["properties"]}


def read_client(settings: Values) -> object:
    return client_options({"url": "http://localhost:8081", **settings})


READERS: Mapping[str, Callable[[Values], object]] = {
    "client": read_client,
    "avro-serializer": serdes.AvroSerializerConfig.load,
    "avro-deserializer": serdes.DeserializerConfig.load,
    "json-serializer": serdes.JSONSerializerConfig.load,
    "json-deserializer": serdes.JSONDeserializerConfig.load,
    "protobuf-serializer": serdes.ProtobufSerializerConfig.load,
    "protobuf-deserializer": serdes.ProtobufDeserializerConfig.load,
}


@pytest.mark.parametrize(
    ("name", "settings", "is_valid"),
    [
        ("client", {"max.retries": 5, "schema.registry.cache.capacity": " 1_000 ", "retries.wait.ms": "1e3"}, True),
        ("client", {"basic.auth.credentials.source": "URL", "schema.registry.timeout": 2.5}, True),
        ("client", {"basic.auth.credentials.source": "url"}, False),
        ("client", {"max.retries": "many"}, False),
        ("client", {"schema.registry.max.retires": 5}, False),
        (
            "client",
            {"ssl.ca.location": False, "ssl.endpoint.identification.algorithm": "", "ssl.protocol": "TLS"},
            True,
        ),
        ("client", {"bearer.auth.token": "t", "proxy.port": 80}, True),
        (
            "client",
            {"basic.auth.credentials.source": "SASL_INHERIT", "sasl.username": "a", "sasl.password": "b"},
            True,
        ),
        ("avro-serializer", {"auto.register": "FALSE", "use.schema.id": -1, "validate.strict": True}, True),
        ("avro-serializer", {"auto.register.schemas": "no"}, False),
        ("avro-serializer", {"schema.id.serializer": "header"}, True),
        ("avro-serializer", {"schema.id.serializer": "io.confluent.kafka.HeaderSchemaIdSerializer"}, True),
        ("avro-serializer", {"schema.id.serializer": "dual"}, False),
        ("avro-serializer", {"subject.name.strategy": "io.confluent.RecordNameStrategy"}, True),
        (
            "avro-serializer",
            {"subject.name.strategy.type": "topic_record", "value.subject.name.strategy": "Record"},
            True,
        ),
        ("avro-serializer", {"key.subject.name.strategy": "TopicNamesStrategy"}, False),
        ("avro-serializer", {"subject.name.strategy.fallback.type": "none"}, True),
        ("avro-serializer", {"use.latest.with.metadata": {"a": "b"}}, True),
        ("avro-serializer", {"use.latest.with.metadata": "a=b"}, True),
        ("avro-serializer", {"skip.known.types": True}, False),
        (
            "avro-deserializer",
            {"schema.id.deserializer": "PrefixSchemaIdDeserializer", "latest.cache.ttl.sec": "-1"},
            True,
        ),
        ("avro-deserializer", {"schema.id.serializer": "header"}, False),
        ("json-serializer", {"json.fail.invalid.schema": "1", "json.schema.spec.version": "draft_2020_12"}, True),
        ("json-deserializer", {"json.schema.spec.version": "draft_5"}, False),
        ("protobuf-serializer", {"reference.subject.name.strategy": "QualifiedReferenceSubjectNameStrategy"}, True),
        ("protobuf-serializer", {"reference.subject.name.strategy": "Qualified"}, False),
        ("protobuf-deserializer", {"use.deprecated.format": "true"}, True),
    ],
)
def test_a_schema_agrees_with_client_and_serializers(name: str, settings: Values, is_valid: bool) -> None:
    try:
        READERS[name](settings)
    except ConfigError:
        is_taken = False
    else:
        is_taken = True
    assert (validator(name).is_valid(settings), is_taken) == (is_valid, is_valid)


@pytest.mark.parametrize("name", [name for name in READERS if name != "client"])
def test_a_schema_refuses_no_text_that_a_serializer_takes(name: str) -> None:
    texts = (*TEXTS, "prefix", "a.HeaderSchemaIdSerializer", "config", "draft_7", "associated", "a=b", "record")
    pairs = [{setting: text} for setting in validator(name).schema["properties"] for text in texts]
    refused = [pair for pair in pairs if not validator(name).is_valid(pair)]
    assert refused
    for pair in refused:
        with pytest.raises(ConfigError):
            READERS[name](pair)


def test_the_schema_of_magicbyte_toml_has_every_section() -> None:
    assert "check.md" in REFERENCES
    valid = {"compatibility": "full", "policy": "lenient", "subjects": [{"file": "a.avsc"}]}
    assert validator("check").is_valid(valid)
    assert not validator("check").is_valid({"compatibility": "fullest"})
    assert not validator("check").is_valid({"compatability": "full"})
