"""Java's and Confluent's client properties as librdkafka takes them."""

from __future__ import annotations

import base64
import logging
import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from confluent_kafka import Consumer, Producer

from magicbyte.kit.extras import MODULES, ExtraMissing
from magicbyte.kit.kafka.client_settings import (
    CONSUMER_DEFAULTS,
    PRODUCER_DEFAULTS,
    KafkaSettingsError,
    client_config,
    with_prefix,
)
from magicbyte.kit.kafka.sasl import MskToken

PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a\\"b" password="p=;x";'


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"bootstrap.servers": "a:1,b:2 "}, {"bootstrap.servers": "a:1,b:2"}),
        ({"sasl.jaas.config": PLAIN}, {"sasl.username": 'a"b', "sasl.password": "p=;x"}),
        ({"sasl.jaas.config": "X required username=u password='p w';"}, {"sasl.username": "u", "sasl.password": "p w"}),
        (
            {"sasl.jaas.config": 'M required clientId="i" clientSecret="s" scope="z";'},
            {
                "sasl.oauthbearer.client.id": "i",
                "sasl.oauthbearer.client.secret": "s",
                "sasl.oauthbearer.scope": "z",
            },
        ),
        (
            {"sasl.oauthbearer.token.endpoint.url": "https://t"},
            {"sasl.oauthbearer.token.endpoint.url": "https://t", "sasl.oauthbearer.method": "oidc"},
        ),
        (
            {"sasl.jaas.config": 'Krb5LoginModule required useKeyTab=true keyTab="/k" principal="p@R";'},
            {"sasl.kerberos.keytab": "/k", "sasl.kerberos.principal": "p@R"},
        ),
        ({"sasl.mechanisms": "PLAIN"}, {"sasl.mechanism": "PLAIN"}),
        ({"ssl.truststore.location": "/ca.pem", "ssl.truststore.type": "PEM"}, {"ssl.ca.location": "/ca.pem"}),
        ({"ssl.truststore.certificates": "PEM"}, {"ssl.ca.pem": "PEM"}),
        (
            {"ssl.keystore.certificate.chain": "C", "ssl.keystore.key": "K", "ssl.key.password": "p"},
            {"ssl.certificate.pem": "C", "ssl.key.pem": "K", "ssl.key.password": "p"},
        ),
        (
            {"ssl.keystore.location": "/k.p12", "ssl.keystore.type": "PKCS12", "ssl.keystore.password": "p"},
            {"ssl.keystore.location": "/k.p12", "ssl.keystore.password": "p"},
        ),
        (
            {"ssl.keystore.location": "/k.pem", "ssl.keystore.type": "PEM"},
            {"ssl.certificate.location": "/k.pem", "ssl.key.location": "/k.pem"},
        ),
        ({"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        ({"ssl.endpoint.identification.algorithm": "HTTPS"}, {"ssl.endpoint.identification.algorithm": "https"}),
        ({"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": "32768"}),
        ({"max.request.size": "5"}, {"message.max.bytes": "5"}),
        ({"fetch.max.wait.ms": "5"}, {"fetch.wait.max.ms": "5"}),
        ({"auto.offset.reset": "none"}, {"auto.offset.reset": "error"}),
        (
            {
                "partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor,"
                "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
            },
            {"partition.assignment.strategy": "range,cooperative-sticky"},
        ),
    ],
)
def test_each_java_property_becomes_its_librdkafka_property(given: dict[str, str], taken: dict[str, Any]) -> None:
    assert client_config(given) == taken


def test_the_client_config_drops_java_only_properties_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    given = {"max.poll.records": "5", "interceptor.classes": "x", "key.serializer": "y", "metrics.num.samples": "2"}
    with caplog.at_level(logging.WARNING, "magicbyte.kit.kafka.client_settings"):
        assert client_config(given) == {}
    assert [name for name in given if not any(name in line for line in caplog.messages)] == []


def test_a_client_gets_only_the_properties_of_its_role() -> None:
    shared = {"bootstrap.servers": "a:1", "linger.ms": "5", "isolation.level": "read_committed", "client.id": "c"}
    assert client_config(shared, role="producer") == {"bootstrap.servers": "a:1", "linger.ms": "5", "client.id": "c"}
    assert client_config(shared, role="consumer") == {
        "bootstrap.servers": "a:1",
        "isolation.level": "read_committed",
        "client.id": "c",
    }
    assert client_config(shared, role="admin") == {"bootstrap.servers": "a:1", "client.id": "c"}


@pytest.mark.parametrize(
    ("content", "store", "message"),
    [
        (b"\xfe\xed\xfe\xed\0\0\0\2", "truststore", "is a JKS store"),
        (b"0\x82\x01\x00", "truststore", "is a PKCS12 store"),
        (b"\xfe\xed\xfe\xed\0\0\0\2", "keystore", "is a JKS store"),
        (None, "keystore", "cannot be read: No such file"),
    ],
)
def test_stores_that_librdkafka_does_not_read(tmp_path: Path, content: bytes | None, store: str, message: str) -> None:
    file = tmp_path / "store"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(KafkaSettingsError, match=message) as raised:
        client_config({f"ssl.{store}.location": str(file)})
    assert str(raised.value).startswith(f"ssl.{store}.location: {file}")


def test_the_content_of_a_store_decides_its_type(tmp_path: Path) -> None:
    pem = tmp_path / "store"
    pem.write_bytes(b"a comment\n-----BEGIN CERTIFICATE-----\n")
    assert client_config({"ssl.truststore.location": str(pem)}) == {"ssl.ca.location": str(pem)}


def test_a_later_prefix_wins() -> None:
    properties = {"client.a": "1", "client.b": "1", "producer.b": "2", "other.c": "3"}
    assert with_prefix(properties, "client.", "producer.") == {"a": "1", "b": "2"}


def test_the_client_library_accepts_the_defaults() -> None:
    Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0, **PRODUCER_DEFAULTS})
    Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "log_level": 0, **CONSUMER_DEFAULTS}).close()


needs_signer = pytest.mark.skipif(find_spec("aws_msk_iam_sasl_signer") is None, reason="the extra msk is not installed")
ENDPOINT = {"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url": "https://t"}
OAUTH = "org.apache.kafka.common.security.oauthbearer."


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({}, {}),
        ({"sasl.login.callback.handler.class": f"{OAUTH}OAuthBearerLoginCallbackHandler"}, {}),
        ({"sasl.login.callback.handler.class": f"{OAUTH}secured.OAuthBearerLoginCallbackHandler"}, {}),
        (
            {
                "sasl.oauthbearer.client.credentials.client.id": "i",
                "sasl.oauthbearer.client.credentials.client.secret": "s",
                "sasl.oauthbearer.scope": "z",
            },
            {
                "sasl.oauthbearer.client.id": "i",
                "sasl.oauthbearer.client.secret": "s",
                "sasl.oauthbearer.scope": "z",
            },
        ),
        (
            {
                "sasl.jaas.config": f"{OAUTH}OAuthBearerLoginModule required clientId='i' clientSecret='s'"
                " extension_logicalCluster='lkc-1' extension_identityPoolId='pool-2';"
            },
            {
                "sasl.oauthbearer.client.id": "i",
                "sasl.oauthbearer.client.secret": "s",
                "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,identityPoolId=pool-2",
            },
        ),
    ],
)
def test_client_credentials_as_java_has_them(
    given: dict[str, str], taken: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    config = client_config({**ENDPOINT, **given})
    assert config == {**ENDPOINT, "sasl.oauthbearer.method": "oidc", **taken}
    assert caplog.messages == []
    credentials = {"sasl.oauthbearer.client.id": "i", "sasl.oauthbearer.client.secret": "s"}
    Producer({"log_level": 0, "security.protocol": "SASL_SSL", **credentials, **config})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"sasl.mechanism": "OAUTHBEARER"},
            "sasl.mechanism: OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url, where the client gets its tokens",
        ),
        (
            {**ENDPOINT, "sasl.login.callback.handler.class": "com.example.Tokens"},
            "sasl.login.callback.handler.class: com.example.Tokens is a Java class, which cannot be run here; give"
            " sasl.oauthbearer.token.endpoint.url, and clientId and clientSecret in sasl.jaas.config",
        ),
        pytest.param(
            {"sasl.mechanism": "AWS_MSK_IAM", "bootstrap.servers": "kafka.example.com:9098"},
            "sasl.mechanism: AWS_MSK_IAM needs the cluster's region, which bootstrap.servers does not name;"
            " set AWS_REGION",
            marks=needs_signer,
        ),
    ],
)
def test_settings_that_lead_to_no_token(given: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(KafkaSettingsError) as raised:
        client_config(given)
    assert str(raised.value) == message


def test_a_handler_class_of_another_mechanism_is_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    given = {"sasl.mechanism": "PLAIN", "sasl.client.callback.handler.class": "com.example.Passwords"}
    assert client_config(given) == {"sasl.mechanism": "PLAIN"}
    assert caplog.messages == [
        "the Kafka client property sasl.client.callback.handler.class has no counterpart here and is left out"
    ]


IAM = {
    "sasl.mechanism": "AWS_MSK_IAM",
    "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
    "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
}
IAM_OAUTH = {
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.jaas.config": f"{OAUTH}OAuthBearerLoginModule required;",
    "sasl.login.callback.handler.class": "software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler",
    "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler",
}
ROLE = 'software.amazon.msk.auth.iam.IAMLoginModule required awsRoleArn="arn:aws:iam::1:role/r" awsRoleSessionName="s";'
PROFILE = 'software.amazon.msk.auth.iam.IAMLoginModule required awsProfileName="p";'


@needs_signer
@pytest.mark.parametrize(
    ("given", "servers", "token"),
    [
        (
            IAM,
            "b-1.o.a1b2.c2.kafka.eu-west-1.amazonaws.com:9098,b-2.o.a1b2.c2.kafka.eu-west-1.amazonaws.com:9098",
            MskToken("eu-west-1"),
        ),
        (IAM_OAUTH, "boot-x.c1.kafka-serverless.us-east-2.amazonaws.com:9098", MskToken("us-east-2")),
        (IAM, "b-1.o.a1b2.c2.kafka.cn-north-1.amazonaws.com.cn:9098", MskToken("cn-north-1")),
        (IAM, "kafka.example.com:9098", MskToken("ap-south-1")),
        (IAM | {"sasl.jaas.config": PROFILE}, "k:1", MskToken("ap-south-1", profile="p")),
        (
            IAM | {"sasl.jaas.config": ROLE},
            "k:1",
            MskToken("ap-south-1", role="arn:aws:iam::1:role/r", session="s"),
        ),
    ],
)
def test_msk_gets_tokens_for_its_region(
    given: dict[str, str], servers: str, token: MskToken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "ap-south-1")
    config = client_config({"bootstrap.servers": servers, **given}, role="producer")
    assert config == {"bootstrap.servers": servers, "sasl.mechanism": "OAUTHBEARER", "oauth_cb": token}


def test_msk_without_its_signer_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "msk", ("no_such_signer",))
    with pytest.raises(ExtraMissing, match=r"^sasl.mechanism=AWS_MSK_IAM needs the extra `msk` \(no module"):
        client_config(IAM)


@needs_signer
def test_amazons_signer_signs_for_the_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made-up")
    token, end = MskToken("eu-west-1")("")
    address = urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
    query = parse_qs(address.query)
    assert (address.hostname, query["Action"]) == ("kafka.eu-west-1.amazonaws.com", ["kafka-cluster:Connect"])
    assert query["X-Amz-Credential"][0].startswith("AKIAEXAMPLE/")
    assert 0 < end - time.time() <= 900


@needs_signer
def test_the_log_reports_a_token_that_cannot_be_signed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(AttributeError):
        MskToken("eu-west-1")("")
    assert caplog.messages == [
        "no token for AWS MSK: AWS has no credentials here (environment, profile, or the machine's role)"
    ]
