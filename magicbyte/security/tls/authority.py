"""A private certificate authority, for first tries and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from magicbyte.kit.whole_file import write_whole

if TYPE_CHECKING:
    from cryptography.x509 import Certificate, CertificateRevocationList

_LIFETIME = timedelta(days=825)
#: How far certificates are dated back, because clocks of other machines may be behind.
_BACKDATED = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, repr=False)
class Issued:
    """A private key with its certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: Certificate

    @property
    def key_pem(self) -> bytes:
        """The key as PKCS#8, not encrypted."""
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    @property
    def certificate_pem(self) -> bytes:
        """The certificate as PEM."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def write(self, path: Path) -> Path:
        """Write key and certificate into one file that only its owner can read, in one step; returns the path."""
        write_whole(path, self.key_pem + self.certificate_pem, mode=0o600)
        return path


class Authority:
    """A root certificate with its key."""

    def __init__(self, name: str = "Magicbyte test authority") -> None:
        """Create a new root certificate.

        Args:
            name: The common name of the root certificate.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        usage = _key_usage(signs_certificates=True)
        certificate = (
            _builder(subject, subject, key, _LIFETIME)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .sign(key, hashes.SHA256())
        )
        self.root = Issued(key, certificate)

    @property
    def pem(self) -> bytes:
        """The root certificate."""
        return self.root.certificate_pem

    def server(self, *names: str, lifetime: timedelta = _LIFETIME) -> Issued:
        """Issue a server's certificate for host names and addresses."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        return self._issue(subject, names, (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH), lifetime)

    def client(self, name: str, *, lifetime: timedelta = _LIFETIME, organization: str | None = None) -> Issued:
        """Issue a client's certificate with a common name and, if given, an organization."""
        parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
        subject = x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, name)])
        return self._issue(subject, (), (ExtendedKeyUsageOID.CLIENT_AUTH,), lifetime)

    def revocation_list(self, *revoked: Issued, lifetime: timedelta = _LIFETIME) -> CertificateRevocationList:
        """Create the list of revoked certificates; with a negative lifetime, the list is out of date."""
        now = datetime.now(UTC)
        builder = x509.CertificateRevocationListBuilder().issuer_name(self.root.certificate.subject)
        builder = builder.last_update(min(now, now + 2 * lifetime) - _BACKDATED).next_update(now + lifetime)
        for issued in revoked:
            entry = x509.RevokedCertificateBuilder().serial_number(issued.certificate.serial_number)
            builder = builder.add_revoked_certificate(entry.revocation_date(now).build())
        return builder.sign(self.root.key, hashes.SHA256())

    def _issue(
        self, subject: x509.Name, names: Sequence[str], purposes: Sequence[x509.ObjectIdentifier], lifetime: timedelta
    ) -> Issued:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(subject, self.root.certificate.subject, key, lifetime)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.root.key.public_key()), critical=False
            )
        )
        if names:
            alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names])
            builder = builder.add_extension(alternatives, critical=False)
        return Issued(key, builder.sign(self.root.key, hashes.SHA256()))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, lifetime: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now, now + 2 * lifetime) - _BACKDATED)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
