"""Java's and Confluent's client properties as librdkafka takes them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from magicbyte.kafka import CONSUMER_DEFAULTS, PRODUCER_DEFAULTS, KafkaSettingsError, client_config, with_prefix

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
def test_what_a_property_becomes(given: dict[str, str], taken: dict[str, Any]) -> None:
    assert client_config(given) == taken


def test_what_exists_only_in_java_is_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    given = {"max.poll.records": "5", "interceptor.classes": "x", "key.serializer": "y", "metrics.num.samples": "2"}
    with caplog.at_level(logging.WARNING, "magicbyte.kafka"):
        assert client_config(given) == {}
    assert [name for name in given if not any(name in line for line in caplog.messages)] == []


def test_a_client_gets_what_its_kind_has() -> None:
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


def test_the_kind_of_a_store_is_read_from_it(tmp_path: Path) -> None:
    pem = tmp_path / "store"
    pem.write_bytes(b"a comment\n-----BEGIN CERTIFICATE-----\n")
    assert client_config({"ssl.truststore.location": str(pem)}) == {"ssl.ca.location": str(pem)}


def test_a_later_prefix_wins() -> None:
    properties = {"client.a": "1", "client.b": "1", "producer.b": "2", "other.c": "3"}
    assert with_prefix(properties, "client.", "producer.") == {"a": "1", "b": "2"}


def test_the_defaults_are_known_to_the_client_library() -> None:
    Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0, **PRODUCER_DEFAULTS})
    Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "log_level": 0, **CONSUMER_DEFAULTS}).close()
