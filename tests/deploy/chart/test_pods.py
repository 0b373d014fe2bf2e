"""Servers that run as the chart's pods: their settings are taken, and their probes answer with TLS and sign-in on."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from magicbyte.platform.broker import free_port
from magicbyte.security.sign_in.password_hash import hash_password
from magicbyte.security.tls.authority import Authority, Issued
from magicbyte.testing import temporary_broker
from tests.deploy.chart.pods import Contents, Pod
from tests.deploy.chart.rendering import Rendered, render
from tests.managed.conftest import make_certificate

pytestmark = pytest.mark.chart

PASSWORD = "a password of the registry"
PROBES = ("startupProbe", "livenessProbe", "readinessProbe")


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that allows only what its ACLs allow.

    Attributes:
        bootstrap_servers: where everything is allowed, without sign-in.
        secured: where clients sign in by SCRAM, over TLS.
        certificate: its certificate.
    """

    bootstrap_servers: str
    secured: str
    certificate: Path


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    certificate, store = make_certificate(tmp_path_factory.mktemp("broker"))
    plain, scram, controller = (f"127.0.0.1:{free_port()}" for _ in range(3))
    properties = {
        "listeners": f"PLAINTEXT://{plain},SCRAM://{scram},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{plain},SCRAM://{scram}",
        "controller.quorum.voters": f"1@{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SCRAM:SASL_SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(store),
        "ssl.keystore.password": "changeit",
        "listener.name.scram.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.scram.scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram"
        ".ScramLoginModule required;",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with temporary_broker(int(plain.rpartition(":")[2]), properties) as running:
        yield Broker(running.bootstrap_servers, scram, certificate)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Pod]]:
    """Starts the first pod of a StatefulSet, and stops it at the end."""
    pods: list[Pod] = []

    def start(release: Rendered, name: str, contents: Contents) -> Pod:
        pods.append(Pod(release, name, contents, tmp_path / name))
        pods[-1].start()
        return pods[-1]

    yield start
    for pod in pods:
        pod.stop()


def listening(section: str, *settings: str) -> tuple[int, list[str]]:
    """A free port, and the settings with which a server of the chart listens there on loopback."""
    port = free_port()
    return port, [f"{section}.service.port={port}", f"{section}.service.listenAddress=127.0.0.1", *settings]


def ask(url: str, body: Any = None, *, context: ssl.SSLContext | None = None, **headers: str) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=60, context=context) as answer:
        return json.loads(answer.read())


def test_a_registry_on_a_volume(run: Callable[..., Pod]) -> None:
    port, settings = listening("registry")
    pod = run(render("sqlite", settings), "r-magicbyte-registry", {})
    url = f"http://127.0.0.1:{port}"

    assert [pod.probe(kind) for kind in PROBES] == [200, 200, 200]
    assert ask(f"{url}/config") == {"compatibilityLevel": "FULL"}
    assert ask(f"{url}/v1/metadata/deployment") == {"attributes": ['team: "data"', "zone=eu"]}
    assert ask(f"{url}/subjects/a/versions", {"schema": '"int"'})["id"] == 1
    assert pod.stop() == 0
    pod.start()
    assert ask(f"{url}/subjects") == ["a"]
    assert "unknown property" not in pod.log()


def test_servers_with_tls_sign_in_and_rules(run: Callable[..., Pod], broker: Broker, tmp_path: Path) -> None:
    registry_port, settings = listening("registry", "registry.config.kafkastore\\.topic=_secured")
    proxy_port, proxy_settings = listening("restProxy", "restProxy.replicas=1")
    kafka = [f"kafka.bootstrapServers={broker.bootstrap_servers}", "kafka.securityProtocol=PLAINTEXT"]
    # The names of Services do not resolve here, so this is a registry elsewhere for the proxy.
    trusted = "restProxy.files.schema\\.registry\\.ssl\\.truststore\\.location"
    registry_there = [
        f"restProxy.schemaRegistryUrl=https://127.0.0.1:{registry_port}",
        f"{trusted}.secret=registry-tls",
        f"{trusted}.key=ca.crt",
    ]
    release = render("secured", [*settings, *proxy_settings, *kafka, *registry_there])
    authority = Authority()
    certificate = _tls_secret(authority.server("127.0.0.1"), authority)
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    context = ssl.create_default_context(cafile=tmp_path / "ca.pem")
    contents = {
        "registry-tls": certificate,
        "rest-proxy-tls": certificate,
        "magicbyte-users": {"users": f"admin:{hash_password('secret of admin')}\n".encode()},
        "magicbyte-nodes": {"secret": b"0123456789abcdef0123456789abcdef\n"},
        "registry-credentials": {"user-info": b"admin:secret of admin"},
        "rest-proxy-rules": {"rules": b"allow User:app READ TOPIC LITERAL orders\n"},
    }

    registry = run(release, "r-magicbyte-registry", contents)
    proxy = run(release, "r-magicbyte-rest-proxy", contents)

    assert [registry.probe(kind) for kind in PROBES] == [200, 200, 200]
    assert [proxy.probe(kind) for kind in PROBES] == [200, 200, 200]
    for port, path in ((registry_port, "subjects"), (proxy_port, "topics")):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(f"https://127.0.0.1:{port}/{path}", context=context)
        assert refused.value.code == 401
        refused.value.close()
    basic = {"Authorization": "Basic YWRtaW46c2VjcmV0IG9mIGFkbWlu"}
    ready = ask(f"https://127.0.0.1:{registry_port}/health/ready", context=context, **basic)
    assert ready["leaderUrl"] == (
        f"https://r-magicbyte-registry-0.r-magicbyte-registry-headless.data.svc:{registry_port}"
    )
    assert ask(f"https://127.0.0.1:{registry_port}/subjects", context=context, **basic) == []
    for pod in (proxy, registry):
        assert pod.stop() == 0, pod.log()
        assert "unknown property" not in pod.log()


def test_the_users_of_strimzi_have_the_rights_that_a_registry_needs(run: Callable[..., Pod], broker: Broker) -> None:
    port, settings = listening("registry", f"kafka.bootstrapServers={broker.secured}")
    release = render("strimzi", settings)
    (topic,) = release.all("KafkaTopic")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    _make_topic(admin, topic["spec"])
    user = "r-magicbyte-registry"
    _make_user(admin, user, release.one("KafkaUser", user)["spec"]["authorization"]["acls"])
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    contents = {
        "events-cluster-ca-cert": {"ca.crt": broker.certificate.read_bytes()},
        user: {"sasl.jaas.config": f'{module} required username="{user}" password="{PASSWORD}";'.encode()},
    }

    pod = run(release, user, contents)

    assert [pod.probe(kind) for kind in PROBES] == [200, 200, 200], pod.log()
    assert ask(f"http://127.0.0.1:{port}/subjects/a/versions", {"schema": '"int"'})["id"] == 1
    assert pod.stop() == 0
    pod.start()
    assert ask(f"http://127.0.0.1:{port}/subjects/a/versions/1")["id"] == 1
    assert ask(f"http://127.0.0.1:{port}/subjects/b/versions", {"schema": '"long"'})["id"] == 2
    assert "unknown property" not in pod.log()


def _tls_secret(issued: Issued, authority: Authority) -> dict[str, bytes]:
    return {"tls.crt": issued.certificate_pem, "tls.key": issued.key_pem, "ca.crt": authority.pem}


def _make_topic(admin: AdminClient, spec: Any) -> None:
    # The broker is alone.
    config = {**spec["config"], "min.insync.replicas": 1}
    made = admin.create_topics([NewTopic(spec["topicName"], spec["partitions"], 1, config=config)])
    made[spec["topicName"]].result(30)


def _make_user(admin: AdminClient, name: str, acls: Any) -> None:
    """Make what Strimzi's user operator makes of a KafkaUser."""
    scram = UserScramCredentialUpsertion(
        name, ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), PASSWORD.encode()
    )
    for done in admin.alter_user_scram_credentials([scram]).values():
        done.result(30)
    kinds = {
        "topic": ResourceType.TOPIC,
        "group": ResourceType.GROUP,
        "transactionalId": ResourceType.TRANSACTIONAL_ID,
        "cluster": ResourceType.BROKER,
    }
    spelled = {"DescribeConfigs": "DESCRIBE_CONFIGS", "IdempotentWrite": "IDEMPOTENT_WRITE"}
    bindings = [
        AclBinding(
            kinds[acl["resource"]["type"]],
            acl["resource"].get("name", "kafka-cluster"),
            ResourcePatternType.LITERAL,
            f"User:{name}",
            "*",
            AclOperation[spelled.get(operation, operation.upper())],
            AclPermissionType.ALLOW,
        )
        for acl in acls
        for operation in acl["operations"]
    ]
    for done in admin.create_acls(bindings).values():
        done.result(30)
