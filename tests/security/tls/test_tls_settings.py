"""Keys, certificates and TLS settings that do not fit are named before anything is served."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from magicbyte.http.settings import HttpSettings
from magicbyte.kit.settings import SettingsError
from magicbyte.security.tls.authority import Authority, Issued
from magicbyte.security.tls.context import client_context, server_context
from magicbyte.security.tls.material import read_material

PASSWORD = "correct horse"
Make = Callable[[Authority, Issued, Path], dict[str, str]]


@pytest.fixture
def issued(authority: Authority) -> Issued:
    return authority.server("localhost")


def encrypted(issued: Issued) -> bytes:
    return issued.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(PASSWORD.encode()),
    )


def written(path: Path, *parts: bytes) -> str:
    path.write_bytes(b"".join(parts))
    return str(path)


def in_one_line(pem: bytes) -> str:
    return " ".join(pem.decode().split("\n"))


def pem_file(authority: Authority, issued: Issued, folder: Path) -> dict[str, str]:
    return {"ssl.keystore.location": written(folder / "k", issued.key_pem, issued.certificate_pem, authority.pem)}


def encrypted_pem_file(_: Authority, issued: Issued, folder: Path) -> dict[str, str]:
    file = written(folder / "k", issued.certificate_pem, encrypted(issued))
    return {"ssl.keystore.location": file, "ssl.keystore.type": "PEM", "ssl.key.password": PASSWORD}


def pkcs12_file(authority: Authority, issued: Issued, folder: Path) -> dict[str, str]:
    protection = serialization.BestAvailableEncryption(PASSWORD.encode())
    store = pkcs12.serialize_key_and_certificates(
        b"server", issued.key, issued.certificate, [authority.root.certificate], protection
    )
    return {"ssl.keystore.location": written(folder / "k", store), "ssl.keystore.password": PASSWORD}


def inline(_: Authority, issued: Issued, _folder: Path) -> dict[str, str]:
    return {
        "ssl.keystore.key": in_one_line(encrypted(issued)),
        "ssl.keystore.certificate.chain": in_one_line(issued.certificate_pem),
        "ssl.key.password": PASSWORD,
    }


def separate(_: Authority, issued: Issued, folder: Path) -> dict[str, str]:
    return {
        "ssl.certificate.location": written(folder / "c", issued.certificate_pem),
        "ssl.key.location": written(folder / "k", issued.key_pem),
    }


@pytest.mark.parametrize("properties", [pem_file, encrypted_pem_file, pkcs12_file, inline, separate])
def test_a_key_is_read_in_each_form(properties: Make, authority: Authority, issued: Issued, tmp_path: Path):
    settings = HttpSettings.from_properties(properties(authority, issued, tmp_path))
    settings.check_tls({"https"})
    material = read_material(settings)
    assert material.identity.leaf == issued.certificate
    assert server_context(material, settings).minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.skipif(shutil.which("keytool") is None, reason="there is no keytool")
def test_a_pkcs12_trust_store_of_javas_is_read(authority: Authority, issued: Issued, tmp_path: Path):
    certificate = written(tmp_path / "ca.pem", authority.pem)
    store = tmp_path / "trust.p12"
    command = ["keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", certificate, "-keystore", str(store)]
    subprocess.run([*command, "-storetype", "PKCS12", "-storepass", PASSWORD], check=True, capture_output=True)
    settings = HttpSettings.from_properties(
        {
            **separate(authority, issued, tmp_path),
            "ssl.truststore.location": str(store),
            "ssl.truststore.password": PASSWORD,
            "ssl.client.auth": "true",
        }
    )
    settings.check_tls({"https"})
    assert read_material(settings).trusted == (authority.root.certificate,)
    assert client_context(settings).verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("properties", "schemes", "text"),
    [
        ({}, {"https"}, "listeners: https:// needs a key and certificate; set ssl.keystore.location"),
        (
            {"ssl.client.authentication": "REQUIRED"},
            {"http"},
            "ssl.client.authentication: no listener is https://, so no client could be asked",
        ),
        (
            {"ssl.client.auth": "true", "ssl.keystore.location": "k"},
            {"https"},
            "ssl.client.authentication: set ssl.truststore.location, which says whom to trust",
        ),
        (
            {"ssl.keystore.location": "k", "ssl.certificate.location": "c", "ssl.key.location": "k"},
            {"https"},
            "ssl.certificate.location: ssl.keystore.location names a key too; keep one of them",
        ),
        (
            {"ssl.certificate.location": "c"},
            {"https"},
            "ssl.key.location: set it together with ssl.certificate.location",
        ),
        (
            {"ssl.keystore.location": "k", "magicbyte.ssl.crl.location": "r"},
            {"https"},
            "magicbyte.ssl.crl.location: set ssl.client.authentication; nothing else uses the list",
        ),
    ],
)
def test_settings_that_do_not_fit_refuse_to_start(properties: dict[str, str], schemes: set[str], text: str):
    with pytest.raises(SettingsError) as raised:
        HttpSettings.from_properties(properties).check_tls(schemes)
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("ssl.enabled.protocols", "TLSv1.2,TLSv1.1", "must be TLSv1.2 or TLSv1.3, not 'TLSv1.1'; did you mean TLSv1."),
        ("ssl.enabled.protocols", " ", "must be TLSv1.2 or TLSv1.3, not ''"),
        ("ssl.cipher.suites", "TLS_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256 is not allowed"),
        ("ssl.cipher.suites", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA is not"),
        ("ssl.cipher.suites", "TLS_RSA_WITH_NULL_SHA256", "TLS_RSA_WITH_NULL_SHA256 is not allowed"),
        ("ssl.client.authentication", "MAYBE", "must be NONE or REQUESTED or REQUIRED, not 'MAYBE'"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str, text: str):
    with pytest.raises(SettingsError, match=f"^{name}: .*") as raised:
        HttpSettings.from_properties({name: value})
    assert text in str(raised.value)


def test_a_jks_store_is_refused_with_the_line_that_converts_it(tmp_path: Path):
    store = written(tmp_path / "store.jks", b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    with pytest.raises(SettingsError) as raised:
        read_material(HttpSettings.from_properties({"ssl.keystore.location": store}))
    assert str(raised.value) == (
        f"ssl.keystore.location: {store} is a JKS store, which only Java reads; convert it: keytool -importkeystore"
        f" -srckeystore {store} -destkeystore {store}.p12 -deststoretype PKCS12"
    )


def wrong_password(_: Authority, issued: Issued, folder: Path) -> dict[str, str]:
    file = written(folder / "k", issued.certificate_pem, encrypted(issued))
    return {"ssl.keystore.location": file, "ssl.key.password": "planted-secret"}


def other_key(authority: Authority, issued: Issued, folder: Path) -> dict[str, str]:
    key = authority.server("localhost").key_pem
    return {"ssl.keystore.location": written(folder / "k", key, issued.certificate_pem)}


def stray_certificate(_: Authority, issued: Issued, folder: Path) -> dict[str, str]:
    stray = Authority("stray").pem
    return {"ssl.keystore.location": written(folder / "k", issued.key_pem, issued.certificate_pem, stray)}


def half_written(_: Authority, issued: Issued, folder: Path) -> dict[str, str]:
    whole = issued.key_pem + issued.certificate_pem
    return {"ssl.keystore.location": written(folder / "k", whole[: len(whole) // 2])}


def empty(_: Authority, _issued: Issued, folder: Path) -> dict[str, str]:
    return {"ssl.keystore.location": written(folder / "k")}


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        (wrong_password, "ssl.keystore.location: the private key cannot be read; is its password right?"),
        (other_key, "ssl.keystore.location: the private key and the certificate do not belong together"),
        (
            stray_certificate,
            "ssl.keystore.location: these certificates are not part of the chain of CN=localhost: CN=stray",
        ),
        (half_written, "ssl.keystore.location: there is no certificate"),
        (empty, "ssl.keystore.location: {path} is neither a PEM file nor a PKCS#12 store"),
    ],
)
def test_a_store_that_can_not_be_used_is_named(
    properties: Make, text: str, authority: Authority, issued: Issued, tmp_path: Path
):
    settings = HttpSettings.from_properties(properties(authority, issued, tmp_path))
    with pytest.raises(SettingsError) as raised:
        read_material(settings)
    assert str(raised.value) == text.format(path=tmp_path / "k")
    assert "planted-secret" not in str(raised.value) + repr(settings)
