"""Real sockets: TLS both ways, credentials in the URL, an OAuth token fetched, fail-over from a dead node."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from serdes.client.clients import ClientCredentials, RegistryClient, Retry, Tls
from serdes.client.confluent import SchemaRegistryClient
from serdes.error import NotAuthorized, OAuthTokenError, RegistryUnavailable

NOW = dt.datetime.now(dt.UTC)
ONCE = Retry(0)


class Handler(BaseHTTPRequestHandler):
    """Answers the subjects to whoever shows the right Authorization, and a token to whoever asks."""

    def do_GET(self) -> None:
        given = self.headers.get("Authorization")
        expected = self.server.expected  # type: ignore[attr-defined]
        if expected is None or given == expected:
            self.answer(200, [given])
        else:
            self.answer(401, {"error_code": 401, "message": "Unauthorized"})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, {"access_token": "token-1", "expires_in": 60})

    def answer(self, status: int, body: Any) -> None:
        content = orjson.dumps(body)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(expected: str | None = None, context: ssl.SSLContext | None = None) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.expected = expected  # type: ignore[attr-defined]
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
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


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ca.pem, and server.pem and client.pem signed by it, each with a .key."""
    folder = tmp_path_factory.mktemp("certificates")
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test CA")])
    for name in ("ca", "server", "client"):
        key = ca_key if name == "ca" else ec.generate_private_key(ec.SECP256R1())
        builder = (
            x509.CertificateBuilder()
            .subject_name(ca_name if name == "ca" else x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(ca_name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(NOW - dt.timedelta(hours=1))
            .not_valid_after(NOW + dt.timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=name == "ca", path_length=None), critical=True)
            # Python 3.13 asks for these by default.
            .add_extension(_usage(signs_certificates=name == "ca"), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
            )
        )
        certificate = builder.sign(ca_key, hashes.SHA256())
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        (folder / f"{name}.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    return folder


def test_mutual_tls(certificates: Path):
    ca = str(certificates / "ca.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=ca)
    context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    context.verify_mode = ssl.CERT_REQUIRED
    own = {"certificate": str(certificates / "client.pem"), "key": str(certificates / "client.key")}
    with serving(context=context) as address:
        url = f"https://{address}"
        for tls in (Tls(ca, **own), Tls(verify=False, **own)):
            with RegistryClient(url, tls=tls, retry=ONCE) as client:
                assert client.subjects() == [None]
        for tls, reason in ((Tls(**own), "CERTIFICATE_VERIFY_FAILED"), (Tls(ca), "")):
            with RegistryClient(url, tls=tls, retry=ONCE) as client, pytest.raises(RegistryUnavailable) as raised:
                client.subjects()
            assert reason in raised.value.reason


def test_credentials_in_the_url():
    with serving("Basic dTpw") as address:
        with RegistryClient(f"http://u:p@{address}", retry=ONCE) as client:
            assert client.subjects() == ["Basic dTpw"]
            assert client.urls == (f"http://{address}",)
        with RegistryClient(f"http://u:wrong@{address}", retry=ONCE) as client, pytest.raises(NotAuthorized) as raised:
            client.subjects()
        assert raised.value == NotAuthorized(401, 401, "Unauthorized")


def test_oauth():
    with serving("Bearer token-1") as address:
        conf = {
            "url": f"http://{address}",
            "bearer.auth.credentials.source": "OAUTHBEARER",
            "bearer.auth.issuer.endpoint.url": f"http://{address}/token",
            "bearer.auth.client.id": "me",
            "bearer.auth.client.secret": "s",
        }
        with SchemaRegistryClient(conf) as client:
            assert client.get_subjects() == ["Bearer token-1"]


def test_the_token_endpoint_is_verified_though_the_registry_speaks_plain_http(certificates: Path):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
    with serving("Bearer token-1") as address, serving(context=context) as issuer:
        auth = ClientCredentials(f"https://{issuer}/token", "me", "s")
        tls = Tls(str(certificates / "ca.pem"))
        with RegistryClient(f"http://{address}", auth=auth, tls=tls, retry=ONCE) as client:
            assert client.subjects() == ["Bearer token-1"]
        auth = ClientCredentials(f"https://{issuer}/token", "me", "s")
        with RegistryClient(f"http://{address}", auth=auth, retry=ONCE) as client, pytest.raises(OAuthTokenError) as e:
            client.subjects()
        assert "CERTIFICATE_VERIFY_FAILED" in e.value.reason


def test_fail_over():
    with serving() as dead:
        pass
    with serving() as address, RegistryClient([f"http://{dead}", f"http://{address}"], retry=ONCE) as client:
        assert client.subjects() == [None]
        assert client.subjects() == [None]
