"""SSL contexts for keys and certificates."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from magicbyte.kit.settings import SettingsError
from magicbyte.security.tls.material import Material, read_identity, read_trusted
from magicbyte.security.tls.settings import TlsSettings
from magicbyte.security.tls.stores import Identity, StoreError, load_identity, pem_of

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_VERIFY_MODES = {"NONE": ssl.CERT_NONE, "REQUESTED": ssl.CERT_OPTIONAL, "REQUIRED": ssl.CERT_REQUIRED}


def server_context(material: Material, settings: TlsSettings) -> ssl.SSLContext:
    """Create a context for accepting connections; it cannot resume sessions of other contexts.

    Raises:
        SettingsError: OpenSSL rejects the key or a certificate, such as an RSA key under 2048 bits.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _set_versions(context, settings)
    context.set_alpn_protocols(["http/1.1"])
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.verify_mode = _VERIFY_MODES[settings.demanded_certificates]
    if context.verify_mode != ssl.CERT_NONE:
        # A resumed session would keep its old identity; without resumption, each connection presents its certificate.
        context.options |= ssl.OP_NO_TICKET
        context.num_tickets = 0
        context.load_verify_locations(cadata=pem_of(material.trusted))
        # As in Java, each certificate of the trust store is trusted by itself, even without its issuer.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    _load(context, material.identity)
    if material.crls:
        with tempfile.TemporaryDirectory(prefix="magicbyte-crl-") as folder:
            file = Path(folder, "crl.pem")
            file.write_bytes(material.crls)
            context.load_verify_locations(cafile=file)
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    return context


def outgoing_context(settings: TlsSettings) -> ssl.SSLContext:
    """Create a context for connections to other nodes; without TLS settings, it trusts the system's authorities.

    Raises:
        SettingsError: As `client_context`.
    """
    if settings.has_key or settings.has_trust:
        return client_context(settings)
    return ssl.create_default_context()


def client_context(settings: TlsSettings, *, shows_certificate: bool = True) -> ssl.SSLContext:
    """Create a context for connections to other servers; without a trust store, it trusts the system's authorities.

    Args:
        settings: The settings.
        shows_certificate: Whether this server identifies itself by its certificate. Requests that are passed on for
            clients must not have this server's rights.

    Raises:
        SettingsError: A file cannot be read, or OpenSSL rejects its content.
    """
    trusted = read_trusted(settings)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _set_versions(context, settings)
    if trusted:
        context.load_verify_locations(cadata=pem_of(trusted))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    else:
        context.load_default_certs()
    context.check_hostname = bool(settings.endpoint_identification)
    identity = read_identity(settings) if shows_certificate else None
    if identity is not None:
        _load(context, identity)
    return context


def _set_versions(context: ssl.SSLContext, settings: TlsSettings) -> None:
    context.minimum_version = min(_VERSIONS[name] for name in settings.protocols)
    context.maximum_version = max(_VERSIONS[name] for name in settings.protocols)
    context.set_ciphers(settings.ciphers)


def _load(context: ssl.SSLContext, identity: Identity) -> None:
    try:
        load_identity(context, identity)
    except StoreError as error:
        raise SettingsError(f"the server's certificate cannot be used: {error}") from None
