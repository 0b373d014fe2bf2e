from __future__ import annotations

import ssl
from typing import Any

import pytest

from serdes.client.auth import Basic, Bearer, ClientCredentials, Target
from serdes.client.clients import CacheLimits, Retry, Tls
from serdes.client.config import client_options
from serdes.client.confluent import SchemaRegistryClient
from serdes.error import ConfigError

OAUTH = {
    "bearer.auth.credentials.source": "OAUTHBEARER",
    "bearer.auth.issuer.endpoint.url": "http://id/token",
    "bearer.auth.client.id": "me",
    "bearer.auth.client.secret": "s",
    "bearer.auth.scope": "sr",
    "bearer.auth.logical.cluster": "lsrc-1",
    "bearer.auth.identity.pool.id": ["a", "b"],
}


@pytest.mark.parametrize(
    ("conf", "name", "expected"),
    [
        ({}, "retry", Retry(3, 1.0, 20.0)),
        ({"max.retries": 1, "retries.wait.ms": 10, "retries.max.wait.ms": "20"}, "retry", Retry(1, 0.01, 0.02)),
        ({}, "cache", CacheLimits(1000, None)),
        ({"cache.capacity": 5, "cache.latest.ttl.sec": 1}, "cache", CacheLimits(5, 1.0)),
        ({}, "auth", None),
        ({"basic.auth.user.info": "u:p:q"}, "auth", Basic("u", "p:q")),
        (
            {"basic.auth.credentials.source": "SASL_INHERIT", "sasl.username": "u", "sasl.password": "p"},
            "auth",
            Basic("u", "p"),
        ),
        (
            {"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "t"},
            "auth",
            Bearer("t"),
        ),
        (OAUTH, "auth", ClientCredentials("http://id/token", "me", "s", "sr", Target("lsrc-1", "a,b"))),
        ({"ssl.ca.location": "ca.pem", "ssl.certificate.location": "c"}, "tls", Tls("ca.pem", "c")),
        ({"ssl.ca.location": False}, "tls", Tls(verify=False)),
        ({"timeout": 3}, "timeout", 3.0),
        ({"proxy": "http://p:1"}, "proxy", "http://p:1"),
    ],
)
def test_settings(conf: dict[str, Any], name: str, expected: object):
    assert client_options({"url": "http://a", **conf})[name] == expected


@pytest.mark.parametrize(
    ("conf", "name"),
    [
        ({}, "url"),
        ({"url": "http://a", "nope": 1}, "nope"),
        ({"url": "http://a", "basic.auth.user.info": "u"}, "basic.auth.user.info"),
        ({"url": "http://a", "basic.auth.credentials.source": "X"}, "basic.auth.credentials.source"),
        ({"url": "http://a", "bearer.auth.credentials.source": "STATIC_TOKEN"}, "bearer.auth.token"),
        ({"url": "http://a", **OAUTH, "basic.auth.user.info": "u:p"}, "bearer.auth.credentials.source"),
        ({"url": "http://a", "max.retries": "x"}, "max.retries"),
        ({"url": "http://a", "cache.capacity": 0}, "cache.capacity"),
        ({"url": "nowhere"}, "url"),
    ],
)
def test_settings_that_are_refused(conf: dict[str, Any], name: str):
    with pytest.raises(ConfigError) as raised:
        SchemaRegistryClient(conf)
    assert raised.value.name == name


@pytest.mark.parametrize(
    ("tls", "name"),
    [
        (Tls(ca="/nowhere.pem"), "ssl.ca.location"),
        (Tls(certificate="/nowhere.pem"), "ssl.certificate.location"),
        (Tls(key="k"), "ssl.certificate.location"),
    ],
)
def test_tls_that_is_refused(tls: Tls, name: str):
    with pytest.raises(ConfigError) as raised:
        tls.context()
    assert raised.value.name == name


def test_tls():
    assert Tls().context().verify_mode is ssl.CERT_REQUIRED
    assert Tls(verify=False).context().verify_mode is ssl.CERT_NONE
