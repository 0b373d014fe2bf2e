"""Reads private keys, certificates and CRLs from PEM and PKCS#12 stores."""

from __future__ import annotations

import re
import secrets
import ssl
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_PEM_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_JAVA_MAGIC = {b"\xfe\xed\xfe\xed": "JKS", b"\xce\xce\xce\xce": "JCEKS"}
#: The first bytes of a DER SEQUENCE, such as a PKCS#12 store.
_DER_SEQUENCE = b"\x30"
_TYPES = ("PEM", "PKCS12")


class StoreError(ValueError):
    """A store that cannot be read or used; the text gives the reason and never quotes the content."""


@dataclass(frozen=True, slots=True, repr=False)
class Identity:
    """A private key with its certificates.

    Attributes:
        key: A private key of `cryptography`.
        chain: The key's certificate first, then the issuer of each certificate before.
    """

    key: Any
    chain: tuple[Certificate, ...]

    @property
    def leaf(self) -> Certificate:
        """The certificate of the key."""
        return self.chain[0]


def store_type(data: bytes, stated: str | None, path: str) -> str:
    """Return PEM or PKCS12: the stated type, or otherwise the type of the content.

    Raises:
        StoreError: The store is of another type; for Java's own types, the text has the command that converts it.
    """
    java = _JAVA_MAGIC.get(data[:4]) or (stated.upper() if stated and stated.upper() in _JAVA_MAGIC.values() else None)
    if java is not None:
        raise StoreError(
            f"{path} is a {java} store, which only Java reads; convert it: keytool -importkeystore -srckeystore {path}"
            f" -destkeystore {path}.p12 -deststoretype PKCS12"
        )
    if stated:
        if stated.upper() not in _TYPES:
            raise StoreError(f"a store of type {stated} is not supported; use PEM or PKCS12")
        return stated.upper()
    if b"-----BEGIN" in data:
        return "PEM"
    if data.startswith(_DER_SEQUENCE):
        return "PKCS12"
    raise StoreError(f"{path} is neither a PEM file nor a PKCS#12 store")


def identity_from_pem(key: bytes, certificates: bytes, password: str | None) -> Identity:
    """Return the first private key of one text with the certificates of another text, which may be the same.

    Raises:
        StoreError: There is no key or no certificate, the password is wrong, or key and certificate do not match.
    """
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415  slow to import

    blocks = [block for label, block in pem_blocks(key) if label.endswith("PRIVATE KEY")]
    if not blocks:
        raise StoreError("there is no private key")
    try:
        loaded = load_pem_private_key(blocks[0], password.encode() if password else None)
    except TypeError:
        raise StoreError(
            "the private key is not encrypted, but a password is set" if password else "the private key is encrypted"
        ) from None
    except ValueError:
        reason = "the private key cannot be read" + ("; is its password right?" if password else "")
        raise StoreError(reason) from None
    return _identity(loaded, certificates_from_pem(certificates))


def identity_from_pkcs12(data: bytes, password: str | None) -> Identity:
    """Return the key of a PKCS#12 store with its certificates.

    Raises:
        StoreError: The password is wrong, or the store has no key, or no certificate for the key.
    """
    store = _load_pkcs12(data, password)
    if store.key is None or store.cert is None:
        raise StoreError("the store holds no private key with a certificate")
    others = [additional.certificate for additional in store.additional_certs]
    return _identity(store.key, [store.cert.certificate, *others])


def certificates_from_pem(data: bytes) -> list[Certificate]:
    """Return the certificates of a PEM text.

    Raises:
        StoreError: There is no certificate, or one is malformed.
    """
    from cryptography.x509 import load_pem_x509_certificate  # noqa: PLC0415  slow to import

    blocks = [block for label, block in pem_blocks(data) if label == "CERTIFICATE"]
    if not blocks:
        raise StoreError("there is no certificate")
    try:
        return [load_pem_x509_certificate(block) for block in blocks]
    except ValueError:
        raise StoreError("a certificate is malformed") from None


def certificates_from_pkcs12(data: bytes, password: str | None) -> list[Certificate]:
    """Return all certificates of a PKCS#12 store, whether or not they have a key.

    Raises:
        StoreError: The password is wrong, or there is no certificate.
    """
    store = _load_pkcs12(data, password)
    certificates = [additional.certificate for additional in store.additional_certs]
    certificates += [store.cert.certificate] if store.cert is not None else []
    if not certificates:
        raise StoreError("there is no certificate")
    return certificates


def pem_of(certificates: Iterable[Certificate]) -> str:
    """Join certificates to one PEM text."""
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415  slow to import

    return "".join(certificate.public_bytes(Encoding.PEM).decode() for certificate in certificates)


def load_identity(context: ssl.SSLContext, identity: Identity) -> None:
    """Load a key into OpenSSL, which reads only files: the file is encrypted, so that no readable key is on a disk.

    Raises:
        StoreError: OpenSSL rejects the key or a certificate, such as an RSA key under 2048 bits.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  slow to import

    password = secrets.token_hex(32)
    key = identity.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(password.encode()),
    )
    with tempfile.TemporaryDirectory(prefix="magicbyte-tls-") as folder:
        file = Path(folder, "identity.pem")
        file.write_bytes(key + pem_of(identity.chain).encode())
        try:
            context.load_cert_chain(file, password=password)
        except ssl.SSLError as error:
            raise StoreError(str(error.reason or error)) from None


def check_crls(data: bytes) -> None:
    """Check that a PEM text contains at least one certificate revocation list.

    Raises:
        StoreError: There is none, or one is malformed.
    """
    from cryptography.x509 import load_pem_x509_crl  # noqa: PLC0415  slow to import

    blocks = [block for label, block in pem_blocks(data) if label == "X509 CRL"]
    if not blocks:
        raise StoreError("there is no certificate revocation list in PEM")
    try:
        for block in blocks:
            load_pem_x509_crl(block)
    except ValueError:
        raise StoreError("a certificate revocation list is malformed") from None


def _identity(key: Any, certificates: Sequence[Certificate]) -> Identity:
    """Find the key's certificate and append its issuers.

    Raises:
        StoreError: No certificate has this key, or a certificate is not part of the chain.
    """
    leaf = next((certificate for certificate in certificates if certificate.public_key() == key.public_key()), None)
    if leaf is None:
        raise StoreError("the private key and the certificate do not belong together")
    chain, left = [leaf], [certificate for certificate in certificates if certificate != leaf]
    while left:
        issuer = next((candidate for candidate in left if _was_issued_by(chain[-1], candidate)), None)
        if issuer is None:
            names = "; ".join(certificate.subject.rfc4514_string() for certificate in left)
            raise StoreError(
                f"these certificates are not part of the chain of {leaf.subject.rfc4514_string()}: {names}"
            )
        chain.append(issuer)
        left.remove(issuer)
    return Identity(key, tuple(chain))


def _was_issued_by(certificate: Certificate, issuer: Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except Exception:  # noqa: BLE001  a name, a type of key or a signature that does not fit: each means no
        return False
    return True


def _load_pkcs12(data: bytes, password: str | None) -> Any:
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12  # noqa: PLC0415  slow to import

    try:
        return load_pkcs12(data, password.encode() if password else None)
    except ValueError:
        raise StoreError("the PKCS#12 store cannot be read; is its password right?") from None


def pem_blocks(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The label and text of each PEM block; a block on a single line, as in a properties file, is wrapped."""
    for match in _PEM_BLOCK.finditer(data):
        label, body = match[1], match[2]
        if b":" not in body:
            packed = b"".join(body.split())
            body = b"\n" + b"\n".join(packed[start : start + 64] for start in range(0, len(packed), 64)) + b"\n"
        yield label.decode(), b"-----BEGIN %b-----%b-----END %b-----\n" % (label, body, label)
