"""Settings of the registry client: Java's names, stores and PEM texts, placeholders, and secrets that nothing shows."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12Certificate, serialize_java_truststore
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates as pkcs12

from magicbyte.security.tls.authority import Authority, Issued
from serdes.client.clients import Basic, Bearer, ClientCredentials, RegistryClient
from serdes.client.config import client_options
from serdes.error import ConfigError

URL = {"url": "https://registry.example.com"}
SECRET = "planted-9c1f"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def issued(authority: Authority) -> Issued:
    return authority.client("alice")


@pytest.fixture
def ca(authority: Authority, tmp_path: Path) -> str:
    path = tmp_path / "ca.pem"
    path.write_bytes(authority.pem)
    return str(path)


def test_long_names_are_javas_and_override_short_ones():
    conf = {
        "url": "http://b",
        "schema.registry.url": "http://a",
        "schema.registry.basic.auth.credentials.source": "USER_INFO",
        "schema.registry.basic.auth.user.info": f"u:{SECRET}",
        "basic.auth.user.info": "other:x",
        "schema.registry.proxy.host": "proxy",
        "schema.registry.proxy.port": "3128",
    }
    options = client_options(conf)
    assert (options["urls"], options["auth"], options["proxy"]) == ("http://a", Basic("u", SECRET), "http://proxy:3128")


def test_a_token_alone_is_a_static_one():
    assert client_options({**URL, "bearer.auth.token": SECRET})["auth"] == Bearer(SECRET)


def test_what_kafka_signs_in_with_is_inherited():
    conf = {
        **URL,
        "bearer.auth.credentials.source": "SASL_OAUTHBEARER_INHERIT",
        "sasl.oauthbearer.token.endpoint.url": "https://idp.example.com/token",
        "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": SECRET,
    }
    auth = client_options(conf)["auth"]
    assert isinstance(auth, ClientCredentials)
    assert (auth.token_url, auth.client_id, auth.client_secret) == ("https://idp.example.com/token", "me", SECRET)


def test_placeholders_are_resolved_by_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "secrets.properties"
    file.write_text(f"app={SECRET}\n")
    monkeypatch.setenv("REGISTRY_USER", "app")
    conf = {**URL, "basic.auth.user.info": f"${{env:REGISTRY_USER}}:${{file:{file}:app}}"}
    assert client_options(conf)["auth"] == Basic("app", SECRET)
    file.write_text("other=x\n")
    with pytest.raises(ConfigError) as raised:
        client_options(conf)
    assert str(raised.value) == (
        f"basic.auth.user.info: ${{file:{file}:app}} cannot be resolved: it has no such key, or is no UTF-8 text"
    )


def test_pem_stores_are_files_as_they_are(ca: str, issued: Issued, tmp_path: Path):
    key = str(issued.write(tmp_path / "alice.pem"))
    tls = client_options({**URL, "ssl.truststore.location": ca, "ssl.keystore.location": key})["tls"]
    assert (tls.ca, tls.certificate, tls.key) == (ca, key, None)
    assert tls.context().get_ca_certs()


@pytest.mark.parametrize("stated", [{}, {"ssl.truststore.type": "PKCS12", "ssl.keystore.type": "pkcs12"}])
def test_pkcs12_stores(authority: Authority, issued: Issued, tmp_path: Path, stated: dict[str, str]):
    trust, keys = tmp_path / "trust.p12", tmp_path / "keys.p12"
    encrypted = BestAvailableEncryption(SECRET.encode())
    root = authority.root.certificate
    trust.write_bytes(serialize_java_truststore([PKCS12Certificate(root, b"ca")], encrypted))
    keys.write_bytes(pkcs12(b"alice", issued.key, issued.certificate, [root], encrypted))
    conf = {
        **URL,
        "ssl.truststore.location": str(trust),
        "ssl.truststore.password": SECRET,
        "ssl.keystore.location": str(keys),
        "ssl.keystore.password": SECRET,
        **stated,
    }
    tls = client_options(conf)["tls"]
    assert len(tls.context().get_ca_certs()) == 1
    assert tls.identity.leaf == issued.certificate
    for wrong in ("ssl.truststore", "ssl.keystore"):
        with pytest.raises(ConfigError) as raised:
            client_options({**conf, f"{wrong}.password": "wrong-planted"})
        assert raised.value.name == f"{wrong}.location"
        assert str(raised.value).endswith("the PKCS#12 store cannot be read; is its password right?")


def test_pem_texts_in_values(authority: Authority, issued: Issued):
    conf = {
        **URL,
        "ssl.truststore.certificates": authority.pem.decode().replace("\n", " "),
        "ssl.keystore.key": issued.key_pem.decode(),
        "ssl.keystore.certificate.chain": issued.certificate_pem.decode(),
    }
    tls = client_options(conf)["tls"]
    assert len(tls.context().get_ca_certs()) == 1
    assert tls.identity.leaf == issued.certificate


@pytest.mark.parametrize(
    ("conf", "name", "problem"),
    [
        (
            {"basic.auth.user.inf": "x"},
            "basic.auth.user.inf",
            "is not a setting of the registry client; did you mean b",
        ),
        ({"max.retries": "x"}, "max.retries", "must be an integer, not 'x'"),
        ({"basic.auth.credentials.source": "SASL_INHERIT"}, "sasl.username", "is needed with basic.auth.credentials"),
        ({"bearer.auth.client.id": "x"}, "bearer.auth.credentials.source", "is needed with bearer.auth.client.id"),
        ({"basic.auth.user.info": "x"}, "basic.auth.user.info", "must be user:password"),
        (
            {"basic.auth.credentials.source": "USER_INFO"},
            "basic.auth.user.info",
            "is needed with basic.auth.credentials.source=USER_INFO; write user:password",
        ),
        (
            {"basic.auth.credentials.source": "USER_INF"},
            "basic.auth.credentials.source",
            "must be USER_INFO or URL or SASL_INHERIT, not 'USER_INF'; did you mean USER_INFO?",
        ),
        (
            {"bearer.auth.token": "x", "basic.auth.user.info": "a:b"},
            "bearer.auth.credentials.source",
            "bearer.auth.* cannot be combined with basic.auth.user.info; keep one way to sign in",
        ),
        (
            {"bearer.auth.credentials.source": "OAUTHBEARE"},
            "bearer.auth.credentials.source",
            "must be STATIC_TOKEN or OAUTHBEARER or SASL_OAUTHBEARER_INHERIT or CUSTOM, not 'OAUTHBEARE'; did you mean",
        ),
        (
            {"bearer.auth.credentials.source": "OAUTHBEARER"},
            "bearer.auth.issuer.endpoint.url",
            "is needed with bearer.auth.credentials.source=OAUTHBEARER",
        ),
        (
            {"bearer.auth.credentials.source": "SASL_OAUTHBEARER_INHERIT"},
            "sasl.oauthbearer.token.endpoint.url",
            "is needed with bearer.auth.credentials.source=SASL_OAUTHBEARER_INHERIT",
        ),
        (
            {"bearer.auth.token": "x", "bearer.auth.scope": "y"},
            "bearer.auth.scope",
            "has no effect with bearer.auth.credentials.source=STATIC_TOKEN; remove it",
        ),
        ({"sasl.username": "x"}, "sasl.username", "is not a setting of the registry client"),
        (
            {"ssl.keystore.key": "x"},
            "ssl.keystore.key",
            "needs ssl.keystore.certificate.chain, the certificate of the key; set both",
        ),
        (
            {"ssl.keystore.certificate.chain": "x"},
            "ssl.keystore.certificate.chain",
            "needs ssl.keystore.key, the key of the certificate; set both",
        ),
        (
            {"ssl.keystore.key": "x", "ssl.keystore.certificate.chain": "y", "ssl.keystore.location": "z"},
            "ssl.keystore.key",
            "cannot be combined with ssl.keystore.location; keep one of them",
        ),
        (
            {"ssl.certificate.location": "x", "ssl.keystore.location": "z"},
            "ssl.certificate.location",
            "cannot be combined with ssl.keystore.location; keep one of them",
        ),
        (
            {"ssl.truststore.type": "PKCS"},
            "ssl.truststore.type",
            "must be PEM or PKCS12, not 'PKCS'; did you mean PKCS12?",
        ),
        ({"ssl.truststore.location": "/nowhere"}, "ssl.truststore.location", "/nowhere cannot be read: No such file"),
        (
            {"ssl.truststore.certificates": "x"},
            "ssl.truststore.certificates",
            "the text has no certificate; write it as PEM",
        ),
        ({"ssl.keystore.key": SECRET, "ssl.keystore.certificate.chain": "x"}, "ssl.keystore.key", "there is no priv"),
        (
            {"ssl.endpoint.identification.algorithm": "x"},
            "ssl.endpoint.identification.algorithm",
            "must be https or empty, not 'x'",
        ),
        (
            {"ssl.ca.location": "a", "ssl.truststore.location": "b"},
            "ssl.truststore.location",
            "cannot be combined with ssl.ca.location; keep one of ssl.truststore.location, ssl.trust",
        ),
    ],
)
def test_settings_that_are_refused(conf: dict[str, Any], name: str, problem: str):
    with pytest.raises(ConfigError) as raised:
        client_options({**URL, **conf})
    assert raised.value.name == name
    assert raised.value.problem.startswith(problem)


def test_java_stores_are_refused_with_the_line_that_converts_them(tmp_path: Path):
    store = tmp_path / "trust.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    with pytest.raises(ConfigError) as raised:
        client_options({**URL, "ssl.truststore.location": str(store)})
    assert str(raised.value) == (
        f"ssl.truststore.location: {store} is a JKS store, which only Java reads; convert it: keytool -importkeystore"
        f" -srckeystore {store} -destkeystore {store}.p12 -deststoretype PKCS12"
    )


def test_the_host_name_is_checked_unless_it_is_switched_off(ca: str, caplog: pytest.LogCaptureFixture):
    conf = {**URL, "ssl.ca.location": ca}
    assert client_options(conf)["tls"].context().check_hostname
    with caplog.at_level(logging.WARNING):
        tls = client_options({**conf, "ssl.endpoint.identification.algorithm": "", "ssl.protocol": "TLS"})["tls"]
    assert (tls.context().check_hostname, tls.context().verify_mode) == (False, ssl.CERT_REQUIRED)
    assert caplog.messages == [
        "the property ssl.protocol has no effect here",
        "ssl.endpoint.identification.algorithm is empty: the registry's host name is not checked",
    ]


@pytest.mark.parametrize(
    "conf",
    [
        {"basic.auth.user.info": f"app:{SECRET}"},
        {"basic.auth.user.info": SECRET},
        {"bearer.auth.token": SECRET, "basic.auth.user.info": "a:b"},
        {"bearer.auth.token": SECRET, "bearer.auth.credentials.source": "OTHER"},
        {"url": f"https://app:{SECRET}@registry.example.com"},
        {"url": f"htps://app:{SECRET}@registry.example.com"},
        {"ssl.key.password": SECRET},
        {"ssl.keystore.key": SECRET, "ssl.keystore.certificate.chain": "x"},
        {"bearer.auth.client.secret": SECRET},
    ],
)
def test_nothing_shows_a_secret(conf: dict[str, str], caplog: pytest.LogCaptureFixture):
    seen = []
    try:
        options = client_options({**URL, **conf})
        client = RegistryClient(**options)
        seen += [repr({name: value for name, value in options.items() if name != "urls"}), repr(client), *client.urls]
    except ConfigError as error:
        seen += [str(error), repr(error)]
    assert SECRET not in " ".join([*seen, *caplog.messages])
