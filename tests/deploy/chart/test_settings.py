"""Each property that the chart renders is one of our settings, and our servers read it as it was meant."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from magicbyte.kit.environment import properties_from_environment
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.kit.secret import is_secret
from registry.settings import RegistrySettings
from rest_proxy.settings import RestProxySettings
from tests.deploy.chart.rendering import CHART, VALUES, Rendered, refusal, render

pytestmark = pytest.mark.chart

SETTINGS = {"registry": (RegistrySettings, "SCHEMA_REGISTRY_"), "rest-proxy": (RestProxySettings, "KAFKA_REST_")}
#: What the Secrets of the values hold.
SECRETS = {
    "kafkastore.ssl.keystore.password": "changeit",
    "client.ssl.keystore.password": "changeit",
    "kafkastore.sasl.jaas.config": 'org.example.Module required username="u" password="p";',
    "client.sasl.jaas.config": 'org.example.Module required username="u" password="p";',
    "magicbyte.storage": "postgresql://u:p@h/d",
    "magicbyte.inter.instance.secret": "0123456789abcdef0123456789abcdef",
    "schema.registry.basic.auth.user.info": "u:p",
}


def properties(release: Rendered, server: str, folder: Path) -> dict[str, str]:
    """The properties of a server's first pod, from its file and its variables."""
    (found,) = [item for item in release.all("StatefulSet") if item["metadata"]["name"].endswith(f"-{server}")]
    name = found["metadata"]["name"]
    file = folder / f"{server}.properties"
    file.write_text(release.one("ConfigMap", name)["data"][file.name], encoding="utf-8")
    variables = []
    for variable, value in release.environment(name).items():
        text = value
        if value.startswith("/etc/magicbyte/secrets/"):
            secret = folder / Path(value).name
            secret.write_text(SECRETS[secret.name], encoding="utf-8")
            text = str(secret)
        variables.append((variable, text.replace("$(POD_NAME)", f"{name}-0")))
    return read_properties_file(file) | properties_from_environment(SETTINGS[server][1], variables)


@pytest.mark.parametrize("name", [file.stem for file in VALUES])
def test_our_servers_know_all_properties(
    rendered: Mapping[str, Rendered], name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    servers = [server for server in SETTINGS if rendered[name].all("StatefulSet") and has(rendered[name], server)]
    assert servers
    for server in servers:
        with caplog.at_level(logging.WARNING):
            SETTINGS[server][0].from_properties(properties(rendered[name], server, tmp_path))

        assert caplog.messages == []


def has(release: Rendered, server: str) -> bool:
    return any(item["metadata"]["name"].endswith(f"-{server}") for item in release.all("StatefulSet"))


@pytest.mark.parametrize(
    ("name", "server", "expected"),
    [
        (
            "minimal",
            "registry",
            {
                "listeners": "http://0.0.0.0:8081",
                "host.name": "r-magicbyte-registry-0.r-magicbyte-registry-headless.data.svc",
                "magicbyte.node.id": "r-magicbyte-registry-0",
                "magicbyte.storage": "kafka:",
                "kafkastore.bootstrap.servers": "kafka-0.kafka:9092,kafka-1.kafka:9092",
                "kafkastore.init.timeout.ms": "600000",
                "magicbyte.inter.instance.urls": ",".join(
                    f"http://r-magicbyte-registry-{number}.r-magicbyte-registry-headless.data.svc:8081"
                    for number in range(10)
                ),
            },
        ),
        (
            "sqlite",
            "registry",
            {
                "listeners": "http://0.0.0.0:8081",
                "host.name": "r-magicbyte-registry-0.r-magicbyte-registry-headless.data.svc",
                "magicbyte.node.id": "r-magicbyte-registry-0",
                "magicbyte.storage": "sqlite:////var/lib/magicbyte/schemas.db",
                "schema.compatibility.level": "FULL",
                "magicbyte.deployment.attributes": 'team: "data", zone=eu',
            },
        ),
        (
            "postgresql",
            "registry",
            {
                "listeners": "http://0.0.0.0:8081",
                "host.name": "r-magicbyte-registry-0.r-magicbyte-registry-headless.data.svc",
                "magicbyte.node.id": "r-magicbyte-registry-0",
                "magicbyte.storage": "postgresql://u:p@h/d",
                "schema.search.max.limit": "500",
            },
        ),
        (
            "managed-kafka",
            "registry",
            {
                "listeners": "http://0.0.0.0:8081",
                "host.name": "r-magicbyte-registry-0.r-magicbyte-registry-headless.data.svc",
                "magicbyte.node.id": "r-magicbyte-registry-0",
                "magicbyte.storage": "kafka:",
                "magicbyte.ui.rest.url": "http://r-magicbyte-rest-proxy.data.svc:8082",
                "magicbyte.inter.instance.urls": ",".join(
                    f"http://r-magicbyte-registry-{number}.r-magicbyte-registry-headless.data.svc:8081"
                    for number in range(10)
                ),
                "kafkastore.bootstrap.servers": "broker.example.com:9092",
                "kafkastore.init.timeout.ms": "600000",
                "kafkastore.security.protocol": "SASL_SSL",
                "kafkastore.sasl.mechanism": "PLAIN",
                "kafkastore.sasl.jaas.config": SECRETS["kafkastore.sasl.jaas.config"],
                "kafkastore.topic": "_schemas_prod",
                "size.limit.filter.max.request.body.size": "16777216",
            },
        ),
        (
            "strimzi",
            "rest-proxy",
            {
                "listeners": "http://0.0.0.0:8082",
                "bootstrap.servers": "events-kafka-bootstrap.data.svc:9093",
                "client.security.protocol": "SASL_SSL",
                "client.sasl.mechanism": "SCRAM-SHA-512",
                "client.sasl.jaas.config": SECRETS["client.sasl.jaas.config"],
                "client.ssl.truststore.type": "PEM",
                "client.ssl.truststore.location": "/etc/magicbyte/files/client.ssl.truststore.location",
                "schema.registry.url": "http://r-magicbyte-registry.data.svc:8081",
                "peers": "http://r-magicbyte-rest-proxy-0.r-magicbyte-rest-proxy-headless.data.svc:8082,"
                "http://r-magicbyte-rest-proxy-1.r-magicbyte-rest-proxy-headless.data.svc:8082",
                "peers.self": "http://r-magicbyte-rest-proxy-0.r-magicbyte-rest-proxy-headless.data.svc:8082",
            },
        ),
        (
            "rest-proxy",
            "rest-proxy",
            {
                "listeners": "http://0.0.0.0:8082",
                "bootstrap.servers": "kafka:9092",
                "schema.registry.url": "https://schemas.example.com",
                "schema.registry.basic.auth.user.info": "u:p",
            },
        ),
    ],
)
def test_the_properties_are(
    rendered: Mapping[str, Rendered], name: str, server: str, expected: dict[str, str], tmp_path: Path
) -> None:
    assert properties(rendered[name], server, tmp_path) == expected


@pytest.mark.parametrize(
    "text",
    ["C:\\x", " a", "a ", "ends with \\", "two\nlines", "tab\there", "a=b:c#d!e", "äöü ☃", "'\"", "${env:HOME:-x}", ""],
)
def test_a_text_arrives_as_it_was_written(text: str, tmp_path: Path) -> None:
    read = _config({"magicbyte.deployment.attributes": text}, tmp_path)

    assert read["magicbyte.deployment.attributes"] == text


@pytest.mark.parametrize(
    ("value", "text"), [(1073741824, "1073741824"), (True, "true"), (0, "0"), (2.5, "2.5"), (1234567.0, "1234567")]
)
def test_a_number_has_no_exponent(value: Any, text: str, tmp_path: Path) -> None:
    read = _config({"magicbyte.deployment.attributes": value}, tmp_path)

    assert read["magicbyte.deployment.attributes"] == text


def test_values_change_the_defaults_of_the_chart(tmp_path: Path) -> None:
    assert _config({"kafkastore.init.timeout.ms": 1000}, tmp_path)["kafkastore.init.timeout.ms"] == "1000"


def test_the_chart_and_the_servers_recognize_the_same_secrets_by_name() -> None:
    names = {
        *_aliases(RegistrySettings),
        *_aliases(RestProxySettings),
        *(f"kafkastore.{name}" for name in ("ssl.key.pem", "sasl.jaas.config")),
    }
    text = (CHART / "templates" / "_settings.tpl").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"regexMatch `([^`]*credential[^`]*)`", text)

    def looks_secret(name: str) -> bool:
        return re.search(pattern, name) is not None

    assert {name for name in names if looks_secret(name)} == {name for name in names if is_secret(name)}


def test_a_placeholder_is_no_secret() -> None:
    release = render("minimal", ["registry.config.ssl\\.key\\.password=${file:/etc/x:password}"])

    text = release.one("ConfigMap", "r-magicbyte-registry")["data"]["registry.properties"]
    assert "ssl.key.password=${file:/etc/x:password}" in text.splitlines()
    assert "is a secret" in refusal("minimal", ["registry.config.ssl\\.key\\.password=x"])


def test_a_truth_value_is_no_secret(tmp_path: Path) -> None:
    name = "magicbyte.allow.plaintext.credentials"

    assert _config({name: True}, tmp_path)[name] == "true"


def _config(config: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """The settings that a registry reads of values' `config`."""
    values = {"kafka": {"bootstrapServers": "kafka:9092"}, "registry": {"config": config}}
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(values, allow_unicode=True), encoding="utf-8")
    return properties(render(file), "registry", folder)


def _aliases(settings: type[RegistrySettings | RestProxySettings]) -> set[str]:
    return {field.alias or name for name, field in settings.model_fields.items()}
