"""A broker that asks for credentials as managed Kafkas do, and the OAuth server that some of them trust."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from magicbyte.platform.broker import free_port
from magicbyte.testing import temporary_broker

KEY, SECRET = "the-key", 'the "secret" = p;x'  # what a connection string may hold
SCOPE, AUDIENCE = "kafka", "the-cluster"


def encoded(data: bytes | dict[str, Any]) -> str:
    """base64url without padding, as the parts of a JWT are."""
    data = json.dumps(data).encode() if isinstance(data, dict) else data
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def claims(subject: str, seconds: float) -> dict[str, Any]:
    now = time.time()
    return {
        "iss": "https://issuer.test",
        "aud": AUDIENCE,
        "sub": subject,
        "scope": SCOPE,
        "iat": int(now),
        "exp": int(now + seconds),
    }


@dataclass
class OAuthServer:
    """Gives tokens for client credentials at /token, and its public key at /jwks.

    Attributes:
        url: where it listens.
        lifetime: seconds of a token's life.
        granted: the clients that got a token, one entry for each.
    """

    url: str = ""
    lifetime: float = 3600
    granted: list[str] = field(default_factory=list)
    _key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def jwks(self) -> dict[str, Any]:
        numbers = self._key.public_key().public_numbers()
        modulus, exponent = encoded(numbers.n.to_bytes(256)), encoded(numbers.e.to_bytes(3))
        return {"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "k", "n": modulus, "e": exponent}]}

    def token(self, authorization: str, form: dict[str, list[str]]) -> dict[str, Any] | None:
        """The answer to a client's request; None if its credentials are wrong."""
        given = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")[::2]
        if given != (KEY, "oauth-secret") or form != {"grant_type": ["client_credentials"], "scope": [SCOPE]}:
            return None
        self.granted.append(given[0])
        signed = f"{encoded({'alg': 'RS256', 'kid': 'k'})}.{encoded(claims(given[0], self.lifetime))}"
        signature = self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        token = f"{signed}.{encoded(signature)}"
        return {"access_token": token, "token_type": "Bearer", "expires_in": int(self.lifetime)}


@pytest.fixture(scope="session")
def oauth() -> Iterator[OAuthServer]:
    server = OAuthServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(200 if self.path == "/jwks" else 404, server.jwks())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            answer = server.token(self.headers.get("Authorization", ""), parse_qs(body))
            self.answer(200 if answer else 401, answer or {"error": "invalid_client"})

        def answer(self, status: int, content: dict[str, Any]) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        server.url = f"http://127.0.0.1:{listening.server_port}"
        yield server
        listening.shutdown()


@dataclass(frozen=True)
class ManagedKafka:
    """A broker with a listener for each way of proving who one is, all behind TLS.

    Attributes:
        listeners: `host:port` by mechanism; `MSK` takes the tokens of its stub.
        certificate: the PEM file of the certificate that it shows.
        plaintext: the listener that asks for nothing.
        key: the user of PLAIN and SCRAM, and the client of OAuth.
        secret: the password of PLAIN and SCRAM.
    """

    listeners: dict[str, str]
    certificate: Path
    plaintext: str
    key: str = KEY
    secret: str = SECRET


@pytest.fixture(scope="session")
def managed_kafka(oauth: OAuthServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagedKafka]:
    folder = tmp_path_factory.mktemp("managed")
    certificate, store = make_certificate(folder)
    ports = {name: free_port() for name in ("PLAINTEXT", "BASIC", "OAUTH", "MSK", "CONTROLLER")}
    addresses = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
    advertised = ",".join(f"{name}://{address}" for name, address in addresses.items() if name != "CONTROLLER")
    modules = "org.apache.kafka.common.security"
    plain_module = f"{modules}.plain.PlainLoginModule"
    scram_module = f"{modules}.scram.ScramLoginModule required;"
    by_oauth = "listener.name.oauth.oauthbearer"
    oauth_module = f"{modules}.oauthbearer.OAuthBearerLoginModule required;"
    quoted = SECRET.replace('"', '\\"')
    properties = {
        "listeners": f"{advertised},CONTROLLER://{addresses['CONTROLLER']}",
        "advertised.listeners": advertised,
        "controller.quorum.voters": f"1@{addresses['CONTROLLER']}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,"
        "BASIC:SASL_SSL,OAUTH:SASL_SSL,MSK:SASL_SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(store),
        "ssl.keystore.password": "changeit",
        "listener.name.basic.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "listener.name.basic.plain.sasl.jaas.config": f'{plain_module} required user_{KEY}="{quoted}";',
        "listener.name.basic.scram-sha-256.sasl.jaas.config": scram_module,
        "listener.name.basic.scram-sha-512.sasl.jaas.config": scram_module,
        "listener.name.oauth.sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{by_oauth}.sasl.jaas.config": oauth_module,
        f"{by_oauth}.sasl.server.callback.handler.class": f"{modules}.oauthbearer.OAuthBearerValidatorCallbackHandler",
        f"{by_oauth}.sasl.oauthbearer.jwks.endpoint.url": f"{oauth.url}/jwks",
        f"{by_oauth}.sasl.oauthbearer.expected.audience": AUDIENCE,
        # A session lasts as long as its token; a client has to come back with a new one.
        f"{by_oauth}.connections.max.reauth.ms": "3600000",
        # Without a handler of its own the broker takes tokens that nobody has signed.
        "listener.name.msk.sasl.enabled.mechanisms": "OAUTHBEARER",
        "listener.name.msk.oauthbearer.sasl.jaas.config": oauth_module,
        "listener.name.msk.oauthbearer.connections.max.reauth.ms": "3600000",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={oauth.url}/jwks")
        running = temporary_broker(ports["PLAINTEXT"], properties)
        broker = running.__enter__()
    try:
        add_scram_users(broker.bootstrap_servers)
        by_mechanism = dict.fromkeys(("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"), addresses["BASIC"])
        by_mechanism |= {"OAUTHBEARER": addresses["OAUTH"], "AWS_MSK_IAM": addresses["MSK"]}
        yield ManagedKafka(by_mechanism, certificate, broker.bootstrap_servers)
    finally:
        running.__exit__(None, None, None)


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 as PEM, and the broker's key store."""
    store, certificate = folder / "broker.p12", folder / "broker.pem"
    keytool = shutil.which("keytool") or str(Path(shutil.which("java") or "").resolve().parent / "keytool")
    common = ["-alias", "broker", "-keystore", str(store), "-storetype", "PKCS12", "-storepass", "changeit"]
    subject = ["-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1", "-keyalg", "EC", "-validity", "2"]
    subprocess.run([keytool, "-genkeypair", *common, *subject], check=True, capture_output=True)
    subprocess.run([keytool, "-exportcert", "-rfc", *common, "-file", certificate], check=True, capture_output=True)
    return certificate, store


def add_scram_users(bootstrap_servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        user = UserScramCredentialUpsertion(KEY, ScramCredentialInfo(mechanism, 4096), SECRET.encode())
        for done in admin.alter_user_scram_credentials([user]).values():
            done.result(30)
