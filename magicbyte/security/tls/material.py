"""The keys and certificates for a server's TLS contexts, read from the files in the settings."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from magicbyte.kit.secret import Secret
from magicbyte.kit.settings import SettingsError
from magicbyte.security.tls.settings import TlsSettings
from magicbyte.security.tls.stores import (
    Identity,
    StoreError,
    certificates_from_pem,
    certificates_from_pkcs12,
    check_crls,
    identity_from_pem,
    identity_from_pkcs12,
    store_type,
)

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

log = logging.getLogger("magicbyte.security")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class Material:
    """Keys and certificates that belong together.

    Attributes:
        identity: The server's key and certificate chain.
        trusted: The trusted certificate authorities of clients.
        crls: Certificate revocation lists as PEM; empty if there are none.
        trust_digest: A digest of `trusted` and `crls`.
    """

    identity: Identity
    trusted: tuple[Certificate, ...]
    crls: bytes
    trust_digest: bytes

    @property
    def expires(self) -> datetime:
        """The expiry of the first certificate of the chain."""
        return min(certificate.not_valid_after_utc for certificate in self.identity.chain)


def watched_paths(settings: TlsSettings) -> list[Path]:
    """The files to watch; a change means that the material must be read again."""
    locations = (
        settings.keystore_location,
        settings.certificate_location,
        settings.key_location,
        settings.truststore_location,
        settings.ca_location,
        settings.crl_location,
        settings.watch_location,
    )
    return [Path(location) for location in locations if location]


def read_material(settings: TlsSettings) -> Material:
    """Read the server's key, its certificates, and the trusted certificates.

    Raises:
        SettingsError: A file cannot be read, or the parts do not belong together; names the property.
    """
    identity = read_identity(settings)
    assert identity is not None
    expires = identity.leaf.not_valid_after_utc
    if expires <= datetime.now(UTC):
        log.error(
            "the server's certificate expired at %s; clients will refuse it",
            expires.isoformat(),
            extra={"event": "certificate_expired", "expires": expires.isoformat()},
        )
    trusted = tuple(read_trusted(settings)) if settings.demanded_certificates != "NONE" else ()
    crls = _read("magicbyte.ssl.crl.location", settings.crl_location) if settings.crl_location else b""
    if crls:
        _named("magicbyte.ssl.crl.location", lambda: check_crls(crls))
    digest = hashlib.sha256(crls)
    for certificate in trusted:
        digest.update(_fingerprint(certificate))
    return Material(identity, trusted, crls, digest.digest())


def read_identity(settings: TlsSettings) -> Identity | None:
    """Read the server's own key and certificate chain, or return None if none is configured.

    Raises:
        SettingsError: As `read_material`.
    """
    key_password, store_password = _reveal(settings.key_password), _reveal(settings.keystore_password)
    if settings.keystore_location:
        name = "ssl.keystore.location"
        data = _read(name, settings.keystore_location)
        location = settings.keystore_location
        kind = _named(name, lambda: store_type(data, settings.keystore_type, location))
        if kind == "PEM":
            return _named(name, lambda: identity_from_pem(data, data, key_password))
        # A PKCS#12 store has a single password for its whole content.
        return _named(name, lambda: identity_from_pkcs12(data, store_password or key_password))
    if settings.keystore_key and settings.keystore_chain:
        key, chain = settings.keystore_key.reveal().encode(), settings.keystore_chain.encode()
        return _named("ssl.keystore.key", lambda: identity_from_pem(key, chain, key_password))
    if settings.certificate_location and settings.key_location:
        certificates = _read("ssl.certificate.location", settings.certificate_location)
        key = _read("ssl.key.location", settings.key_location)
        return _named("ssl.certificate.location", lambda: identity_from_pem(key, certificates, key_password))
    return None


def read_trusted(settings: TlsSettings) -> list[Certificate]:
    """Read the trusted certificates; returns none if none are configured.

    Raises:
        SettingsError: As `read_material`.
    """
    if settings.truststore_location:
        name, location = "ssl.truststore.location", settings.truststore_location
        data = _read(name, location)
        kind = _named(name, lambda: store_type(data, settings.truststore_type, location))
        if kind == "PEM":
            return _named(name, lambda: certificates_from_pem(data))
        return _named(name, lambda: certificates_from_pkcs12(data, _reveal(settings.truststore_password)))
    if settings.truststore_certificates:
        inline = settings.truststore_certificates.encode()
        return _named("ssl.truststore.certificates", lambda: certificates_from_pem(inline))
    if settings.ca_location:
        data = _read("ssl.ca.location", settings.ca_location)
        return _named("ssl.ca.location", lambda: certificates_from_pem(data))
    return []


def _reveal(secret: Secret | None) -> str | None:
    return secret.reveal() if secret is not None else None


def _read(name: str, location: str) -> bytes:
    try:
        return Path(location).read_bytes()
    except OSError as error:
        raise SettingsError(f"{name}: {location} cannot be read: {error.strerror}") from None


def _named(name: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except StoreError as error:
        raise SettingsError(f"{name}: {error}") from None


def _fingerprint(certificate: Certificate) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415  imported with the certificate already

    return certificate.fingerprint(SHA256())
