"""The TLS settings of a registry client: confluent-kafka's files, Java's stores, and PEM texts as values."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from magicbyte.kit.settings.kinds import ProblemError, Scalar, choice, text
from magicbyte.kit.settings.section import Section, setting
from serdes.client.transport import Tls
from serdes.error import ConfigError
from serdes.setting_kinds import ANY

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
_PEM, _PKCS12, _JKS = "PEM", "PKCS12", "JKS"
_HTTPS = "https"
_KEYSTORE = "ssl.keystore.location"
_KEY = "ssl.keystore.key"
_CHAIN = "ssl.keystore.certificate.chain"


def _store_kind() -> Scalar:
    kind = choice(_PEM, _PKCS12, spell=str.upper)
    # The refusal of a JKS store tells how to convert it.
    return replace(kind, convert=lambda value: _JKS if str(value).upper() == _JKS else kind.convert(value))


def _identification(value: Any) -> str:
    algorithm = str(value).strip().lower()
    if algorithm not in {_HTTPS, "", "none"}:
        raise ProblemError(f"must be https or empty, not {value!r}")
    return algorithm


_TEXT = text()
_PATH = replace(_TEXT, shapes=(str, os.PathLike))
_STORE_TYPE = _store_kind()
_IDENTIFICATION = replace(_TEXT, convert=_identification)


class TlsRows(Section):
    """The certificates of a registry client."""

    ca: Any = setting(
        replace(ANY, label="a path, or false", shapes=(object, bool)),
        "The certificates to trust, as a PEM file; with `false`, the registry's certificate is not verified.",
        "ssl.ca.location",
        default=None,
        default_words="the system's",
    )
    truststore: str | None = setting(
        _PATH, "The same: a PEM file, or a PKCS#12 store.", "ssl.truststore.location", default=None
    )
    truststore_type: str | None = setting(
        _STORE_TYPE,
        "The type of that file.",
        "ssl.truststore.type",
        default=None,
        default_words=_BY_CONTENT,
    )
    truststore_password: str | None = setting(
        _TEXT, "The password of a PKCS#12 store.", "ssl.truststore.password", default=None, secret=True
    )
    truststore_text: str | None = setting(
        _TEXT, "The same certificates as a PEM text in the value.", "ssl.truststore.certificates", default=None
    )
    certificate: str | None = setting(
        _PATH, "The client's certificate as a PEM file.", "ssl.certificate.location", default=None
    )
    key: str | None = setting(_PATH, "The client's key as a PEM file.", "ssl.key.location", default=None)
    key_password: str | None = setting(
        _TEXT, "The password of an encrypted key.", "ssl.key.password", default=None, secret=True
    )
    keystore: str | None = setting(
        _PATH, "Certificate and key in one PEM file, or a PKCS#12 store.", "ssl.keystore.location", default=None
    )
    keystore_type: str | None = setting(
        _STORE_TYPE,
        "The type of that file.",
        "ssl.keystore.type",
        default=None,
        default_words=_BY_CONTENT,
    )
    keystore_password: str | None = setting(
        _TEXT, "The password of a PKCS#12 store.", "ssl.keystore.password", default=None, secret=True
    )
    key_text: str | None = setting(
        _TEXT, "The key as a PEM text in the value.", "ssl.keystore.key", default=None, secret=True
    )
    chain_text: str | None = setting(
        _TEXT, "The certificates as a PEM text in the value.", "ssl.keystore.certificate.chain", default=None
    )
    identification: str = setting(
        _IDENTIFICATION,
        "`https`; if it is empty, the client does not check the host name, and warns.",
        "ssl.endpoint.identification.algorithm",
        default="https",
    )

    def problems(self) -> Iterable[tuple[str, str]]:
        """Settings that contradict or need each other."""
        trust = {
            "ssl.truststore.location": self.truststore,
            "ssl.truststore.certificates": self.truststore_text,
            "ssl.ca.location": None if isinstance(self.ca, bool) else self.ca,
        }
        given = [name for name, value in trust.items() if value is not None]
        if not isinstance(self.ca, bool) and len(given) > 1:
            yield given[0], f"cannot be combined with {given[1]}; keep one of {', '.join(trust)}"
        if self.key_text is not None and self.chain_text is None:
            yield _KEY, f"needs {_CHAIN}, the certificate of the key; set both"
        if self.chain_text is not None and self.key_text is None:
            yield _CHAIN, f"needs {_KEY}, the key of the certificate; set both"
        if self.key_text is not None and self.keystore is not None:
            yield _KEY, f"cannot be combined with {_KEYSTORE}; keep one of them"
        for name, value in ((_KEYSTORE, self.keystore), (_KEY, self.key_text)):
            if self.certificate is not None and value is not None:
                yield "ssl.certificate.location", f"cannot be combined with {name}; keep one of them"

    def tls(self) -> Tls:
        """The certificates, read from their files.

        Raises:
            ConfigError: A store cannot be read.
            ExtraMissing: A store is a PKCS#12 store, or a key is a value, and the library for it is not installed.
        """
        checks_host = self.identification == _HTTPS
        if not checks_host:
            log.warning(
                "ssl.endpoint.identification.algorithm is empty: the registry's host name is not checked",
                extra={"event": "registry_name_unchecked"},
            )
        ca, ca_text, verify = self._trust()
        store, identity = self._identity()
        return Tls(
            ca,
            self.certificate or store,
            None if self.key == self.certificate else self.key,
            self.key_password if identity is None else None,
            verify=verify,
            check_host=checks_host,
            ca_text=ca_text,
            identity=identity,
        )

    def _trust(self) -> tuple[str | None, str | None, bool]:
        """The file of trusted certificates, or their text, and whether the server's certificate is verified."""
        if isinstance(self.ca, bool):
            return None, None, self.ca
        if self.truststore_text is not None:
            return None, _wrapped("ssl.truststore.certificates", self.truststore_text), True
        if self.truststore is None or _store_type("ssl.truststore", self.truststore, self.truststore_type) == _PEM:
            return self.ca or self.truststore, None, True
        return None, _certificates_of_pkcs12(self.truststore, self.truststore_password), True

    def _identity(self) -> tuple[str | None, Identity | None]:
        """The PEM file with the client's key and certificate, or both as values from a store or from the settings."""
        if self.key_text is not None:
            return None, _identity_of_texts(self.key_text, str(self.chain_text), self.key_password)
        if self.keystore is None or _store_type("ssl.keystore", self.keystore, self.keystore_type) == _PEM:
            return self.keystore, None
        return None, _identity_of_pkcs12(self.keystore, self.keystore_password or self.key_password)


def drop_without_effect(rest: dict[str, Any]) -> None:
    """Remove Java's settings that have no effect here, and warn of each."""
    for name in WITHOUT_EFFECT:
        if rest.pop(name, None) is not None:
            log.warning(
                "the property %s has no effect here", name, extra={"event": "client_property_ignored", "property": name}
            )


def _store_type(prefix: str, location: str, stated: str | None) -> str:
    """PEM or PKCS12: the given type, or otherwise the type of the content.

    Raises:
        ConfigError: The store cannot be read, or is a JKS store.
    """
    data = _read(f"{prefix}.location", location)
    if data.startswith(_JAVA_STORE) or stated == _JKS:
        raise ConfigError(
            f"{prefix}.location",
            f"{location} is a JKS store, which only Java reads; convert it: keytool -importkeystore -srckeystore"
            f" {location} -destkeystore {location}.p12 -deststoretype PKCS12",
        )
    return stated or (_PEM if b"-----BEGIN" in data else _PKCS12)


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
        raise ConfigError(name, "the text has no certificate; write it as PEM, from -----BEGIN CERTIFICATE----- on")
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

    require(_EXTRA, user=_KEY)
    from magicbyte.security.tls.stores import StoreError, identity_from_pem  # noqa: PLC0415  as above

    try:
        return identity_from_pem(key.encode(), chain.encode(), password)
    except StoreError as error:
        raise ConfigError(_KEY, str(error)) from None
