"""The admin client's connection settings: librdkafka's names, which all our clients use, translated for aiokafka."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from magicbyte.kit.kafka.client_settings import Config, KafkaSettingsError
from magicbyte.security.tls.stores import (
    Identity,
    StoreError,
    identity_from_pem,
    identity_from_pkcs12,
    load_identity,
)

if TYPE_CHECKING:
    from rest_proxy.admin.connection.nodes import Address

T = TypeVar("T")

_DEFAULT_PORT = 9092
#: librdkafka's name -> aiokafka's keyword, for values that are the same in both.
_SAME = {
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "sasl.kerberos.service.name": "sasl_kerberos_service_name",
}
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER")
#: Exceptions for a bad key file or certificate file.
_UNREADABLE = (OSError, ssl.SSLError, StoreError)


def bootstrap_addresses(config: Config) -> list[Address]:
    """The addresses of `bootstrap.servers`.

    Raises:
        KafkaSettingsError: An address has no host, or its port is not a number.
    """
    addresses: list[Address] = []
    for entry in filter(None, (part.strip() for part in str(config["bootstrap.servers"]).split(","))):
        host, _, port = entry.rpartition("://")[2].rpartition(":")
        if not host and not port.isdigit():
            host, port = port, str(_DEFAULT_PORT)
        if not host or not port.isdigit():
            raise KafkaSettingsError(f"bootstrap.servers: {entry} is not an address, such as localhost:9092")
        addresses.append((host.strip("[]"), int(port)))
    return addresses


def connection_options(config: Config) -> dict[str, Any]:
    """The keyword arguments of aiokafka's connections.

    Args:
        config: librdkafka's names and values, from `magicbyte.kit.kafka.client_settings.client_config`.

    Raises:
        KafkaSettingsError: A key or certificate cannot be read, or a mechanism is not known; the text names it.
    """
    protocol = str(config.get("security.protocol", "PLAINTEXT")).upper()
    options: dict[str, Any] = {"security_protocol": protocol}
    if protocol.endswith("SSL"):
        options["ssl_context"] = _ssl_context(config)
    if protocol.startswith("SASL"):
        options |= _sasl_options(config)
    return options


def _sasl_options(config: Config) -> dict[str, Any]:
    mechanism = str(config.get("sasl.mechanism") or config.get("sasl.mechanisms") or "GSSAPI").upper()
    if mechanism not in _MECHANISMS:
        raise KafkaSettingsError(f"sasl.mechanism: {mechanism} is not one of {', '.join(_MECHANISMS)}")
    options = {keyword: str(config[name]) for name, keyword in _SAME.items() if name in config}
    options["sasl_mechanism"] = mechanism
    if mechanism == "PLAIN" or mechanism.startswith("SCRAM"):
        for name, keyword in _SAME.items():
            if keyword.startswith("sasl_plain") and keyword not in options:
                raise KafkaSettingsError(f"{name}: {mechanism} needs a user name and a password (sasl.jaas.config)")
    if mechanism == "GSSAPI":
        _require_gssapi()
    if mechanism == "OAUTHBEARER":
        from rest_proxy.admin.connection.tokens import token_provider  # noqa: PLC0415  its HTTP client takes long to import

        return {"sasl_mechanism": mechanism, "sasl_oauth_token_provider": token_provider(config)}
    return options


def _require_gssapi() -> None:
    if find_spec("gssapi") is None:
        raise KafkaSettingsError(
            "sasl.mechanism: administration with GSSAPI needs the Python package gssapi; install it beside Magicbyte"
        )


def _ssl_context(config: Config) -> ssl.SSLContext:
    context = ssl.create_default_context()
    text = {name: str(value) for name, value in config.items()}
    if "ssl.ca.location" in text or "ssl.ca.pem" in text:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # As in Java and librdkafka, each certificate of the trust store is trusted by itself.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        if text.get("ssl.ca.location"):
            _read("ssl.ca.location", lambda: context.load_verify_locations(text["ssl.ca.location"]))
        if text.get("ssl.ca.pem"):
            _read("ssl.ca.pem", lambda: context.load_verify_locations(cadata=text["ssl.ca.pem"].replace("\\n", "\n")))
    context.check_hostname = text.get("ssl.endpoint.identification.algorithm", "https") != "none"
    if text.get("enable.ssl.certificate.verification", "true").lower() == "false":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if text.get("ssl.cipher.suites"):
        _read("ssl.cipher.suites", lambda: context.set_ciphers(text["ssl.cipher.suites"]))
    identity = _identity(text)
    if identity is not None:
        _read("ssl.keystore.location", lambda: load_identity(context, identity))
    return context


def _identity(config: Mapping[str, str]) -> Identity | None:
    password = config.get("ssl.key.password") or None
    if config.get("ssl.keystore.location"):
        path = config["ssl.keystore.location"]
        store_password = config.get("ssl.keystore.password") or password
        return _read("ssl.keystore.location", lambda: identity_from_pkcs12(Path(path).read_bytes(), store_password))
    if config.get("ssl.certificate.location") and config.get("ssl.key.location"):
        key, certificate = Path(config["ssl.key.location"]), Path(config["ssl.certificate.location"])
        return _read(
            "ssl.key.location", lambda: identity_from_pem(key.read_bytes(), certificate.read_bytes(), password)
        )
    if config.get("ssl.certificate.pem") and config.get("ssl.key.pem"):
        key_text, certificates = (
            config[name].replace("\\n", "\n").encode() for name in ("ssl.key.pem", "ssl.certificate.pem")
        )
        return _read("ssl.key.pem", lambda: identity_from_pem(key_text, certificates, password))
    return None


def _read(name: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except _UNREADABLE as error:
        raise KafkaSettingsError(f"{name}: {error}") from None
