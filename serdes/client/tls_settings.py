"""The TLS settings of a registry client: confluent-kafka's files, Java's stores, and PEM texts as values."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from magicbyte.kit.settings.kinds import choice
from magicbyte.kit.settings.section import Section, setting
from serdes.client.transport import Tls
from serdes.error import ConfigError
from serdes.setting_kinds import ANY, TEXT

if TYPE_CHECKING:
    from magicbyte.security.tls.stores import Identity

log = logging.getLogger(__name__)

#: Java's settings that have no effect here.
WITHOUT_EFFECT = (
    "ssl.protocol",
    "ssl.provider",
    "ssl.enabled.protocols",
    "ssl.keymanager.algorithm",
    "ssl.trustmanager.algorithm",
    "ssl.secure.random.implementation",
    "ssl.engine.factory.class",
)
_JAVA_STORE = b"\xfe\xed\xfe\xed"
_BY_CONTENT = "by content"
#: The purpose of the optional library `cryptography`.
_EXTRA = "server"


class TlsRows(Section):
    """The certificates of a registry client; `take_tls` takes these settings."""

    ca: Any = setting(
        replace(ANY, label="a path, or false"),
        "The certificates to trust, as a PEM file; with `false`, the registry's certificate is not verified.",
        "ssl.ca.location",
        default=None,
        default_words="the system's",
    )
    truststore: str | None = setting(
        TEXT, "The same: a PEM file, or a PKCS#12 store.", "ssl.truststore.location", default=None
    )
    truststore_type: str | None = setting(
        choice("PEM", "PKCS12", spell=str.upper),
        "The type of that file.",
        "ssl.truststore.type",
        default=None,
        default_words=_BY_CONTENT,
    )
    truststore_password: str | None = setting(
        TEXT, "The password of a PKCS#12 store.", "ssl.truststore.password", default=None, secret=True
    )
    truststore_text: str | None = setting(
        TEXT, "The same certificates as a PEM text in the value.", "ssl.truststore.certificates", default=None
    )
    certificate: str | None = setting(
        TEXT, "The client's certificate as a PEM file.", "ssl.certificate.location", default=None
    )
    key: str | None = setting(TEXT, "The client's key as a PEM file.", "ssl.key.location", default=None)
    key_password: str | None = setting(
        TEXT, "The password of an encrypted key.", "ssl.key.password", default=None, secret=True
    )
    keystore: str | None = setting(
        TEXT, "Certificate and key in one PEM file, or a PKCS#12 store.", "ssl.keystore.location", default=None
    )
    keystore_type: str | None = setting(
        choice("PEM", "PKCS12", spell=str.upper),
        "The type of that file.",
        "ssl.keystore.type",
        default=None,
        default_words=_BY_CONTENT,
    )
    keystore_password: str | None = setting(
        TEXT, "The password of a PKCS#12 store.", "ssl.keystore.password", default=None, secret=True
    )
    key_text: str | None = setting(
        TEXT, "The key as a PEM text in the value.", "ssl.keystore.key", default=None, secret=True
    )
    chain_text: str | None = setting(
        TEXT, "The certificates as a PEM text in the value.", "ssl.keystore.certificate.chain", default=None
    )
    identification: str = setting(
        TEXT,
        "`https`; if it is empty, the client does not check the host name, and warns.",
        "ssl.endpoint.identification.algorithm",
        default="https",
    )


def take_tls(rest: dict[str, Any]) -> Tls:
    """Remove the TLS settings from a client's settings, and return them parsed.

    Args:
        rest: Settings by name; the TLS settings are removed.

    Raises:
        ConfigError: Two settings contradict each other, or a store cannot be read.
        ExtraMissing: The settings have a PKCS#12 store or a key as a value, but the library for it is not installed.
    """
    for name in WITHOUT_EFFECT:
        if rest.pop(name, None) is not None:
            log.warning(
                "the property %s has no effect here", name, extra={"event": "client_property_ignored", "property": name}
            )
    algorithm = str(rest.pop("ssl.endpoint.identification.algorithm", "https")).strip().lower()
    if algorithm not in {"https", "", "none"}:
        raise ConfigError("ssl.endpoint.identification.algorithm", f"must be https or empty, not {algorithm!r}")
    if algorithm != "https":
        log.warning(
            "ssl.endpoint.identification.algorithm is empty: the registry's host name is not checked",
            extra={"event": "registry_name_unchecked"},
        )
    ca, ca_text, verify = _take_trust(rest)
    certificate, key = rest.pop("ssl.certificate.location", None), rest.pop("ssl.key.location", None)
    password = rest.pop("ssl.key.password", None)
    store, identity = _take_identity(rest, password)
    if certificate is not None and (store is not None or identity is not None):
        raise ConfigError("ssl.certificate.location", "cannot be combined with ssl.keystore")
    return Tls(
        ca,
        certificate or store,
        None if key == certificate else key,
        password if identity is None else None,
        verify=verify,
        check_host=algorithm == "https",
        ca_text=ca_text,
        identity=identity,
    )


def _take_trust(rest: dict[str, Any]) -> tuple[str | None, str | None, bool]:
    """The file of trusted certificates, or their text, and whether the server's certificate is verified."""
    ca = rest.pop("ssl.ca.location", None)
    location, stated = rest.pop("ssl.truststore.location", None), rest.pop("ssl.truststore.type", None)
    password, text = rest.pop("ssl.truststore.password", None), rest.pop("ssl.truststore.certificates", None)
    if isinstance(ca, bool):
        return None, None, ca
    if [ca, location, text].count(None) < 2:
        raise ConfigError(
            "ssl.truststore.location",
            "set only one of ssl.truststore.location, ssl.truststore.certificates and ssl.ca.location",
        )
    if text is not None:
        return None, _wrapped("ssl.truststore.certificates", text), True
    if location is None or _store_type("ssl.truststore", location, stated) == "PEM":
        return ca or location, None, True
    return None, _certificates_of_pkcs12(location, password), True


def _take_identity(rest: dict[str, Any], key_password: str | None) -> tuple[str | None, Identity | None]:
    """The PEM file with the client's key and certificate, or both as values from a store or from the settings."""
    location, stated = rest.pop("ssl.keystore.location", None), rest.pop("ssl.keystore.type", None)
    password = rest.pop("ssl.keystore.password", None)
    key, chain = rest.pop("ssl.keystore.key", None), rest.pop("ssl.keystore.certificate.chain", None)
    if (key is None) != (chain is None):
        raise ConfigError("ssl.keystore.key", "ssl.keystore.key and ssl.keystore.certificate.chain need each other")
    if key is not None and location is not None:
        raise ConfigError("ssl.keystore.key", "cannot be combined with ssl.keystore.location")
    if key is not None:
        return None, _identity_of_texts(str(key), str(chain), key_password)
    if location is None:
        return None, None
    if _store_type("ssl.keystore", location, stated) == "PEM":
        return location, None
    return None, _identity_of_pkcs12(location, password or key_password)


def _store_type(prefix: str, location: str, stated: str | None) -> str:
    """PEM or PKCS12: the given type, or otherwise the type of the content.

    Raises:
        ConfigError: The store cannot be read, or is a JKS store.
    """
    data = _read(f"{prefix}.location", location)
    if data.startswith(_JAVA_STORE) or (stated or "").upper() == "JKS":
        raise ConfigError(
            f"{prefix}.location",
            f"{location} is a JKS store, which only Java reads; convert it: keytool -importkeystore -srckeystore"
            f" {location} -destkeystore {location}.p12 -deststoretype PKCS12",
        )
    kind = (stated or ("PEM" if b"-----BEGIN" in data else "PKCS12")).upper()
    if kind not in {"PEM", "PKCS12"}:
        raise ConfigError(f"{prefix}.type", f"must be PEM or PKCS12, not {stated}")
    return kind


def _read(name: str, location: str) -> bytes:
    try:
        return Path(location).read_bytes()
    except OSError as error:
        raise ConfigError(name, f"{location} cannot be read: {error.strerror}") from None


def _wrapped(name: str, text: str) -> str:
    """A PEM text in the form that OpenSSL reads; a text on a single line is split into lines."""
    from magicbyte.security.tls.stores import pem_blocks  # noqa: PLC0415  only if a value has a PEM text

    blocks = [block.decode() for label, block in pem_blocks(str(text).encode()) if label == "CERTIFICATE"]
    if not blocks:
        raise ConfigError(name, "there is no certificate")
    return "".join(blocks)


def _certificates_of_pkcs12(location: str, password: str | None) -> str:
    from magicbyte.kit.extras import require  # noqa: PLC0415  few clients have such a store

    name = "ssl.truststore.location"
    require(_EXTRA, user=f"{name}={location} (PKCS#12)")
    from magicbyte.security.tls.stores import StoreError, certificates_from_pkcs12, pem_of  # noqa: PLC0415  as above

    try:
        return pem_of(certificates_from_pkcs12(_read(name, location), password))
    except StoreError as error:
        raise ConfigError(name, f"{location}: {error}") from None


def _identity_of_pkcs12(location: str, password: str | None) -> Identity:
    from magicbyte.kit.extras import require  # noqa: PLC0415  few clients have such a store

    name = "ssl.keystore.location"
    require(_EXTRA, user=f"{name}={location} (PKCS#12)")
    from magicbyte.security.tls.stores import StoreError, identity_from_pkcs12  # noqa: PLC0415  as above

    try:
        return identity_from_pkcs12(_read(name, location), password)
    except StoreError as error:
        raise ConfigError(name, f"{location}: {error}") from None


def _identity_of_texts(key: str, chain: str, password: str | None) -> Identity:
    from magicbyte.kit.extras import require  # noqa: PLC0415  few clients have a key in a value

    require(_EXTRA, user="ssl.keystore.key")
    from magicbyte.security.tls.stores import StoreError, identity_from_pem  # noqa: PLC0415  as above

    try:
        return identity_from_pem(key.encode(), chain.encode(), password)
    except StoreError as error:
        raise ConfigError("ssl.keystore.key", str(error)) from None
