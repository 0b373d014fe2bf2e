"""A registry behind TLS that takes passwords, API keys, tokens and certificates, with its super user's of each kind."""

from __future__ import annotations

import json
import shutil
import ssl
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from joserfc import jwk, jwt

from magicbyte.kit.placeholders import resolve
from magicbyte.kit.processes.process import temporary_folder
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.platform.broker import free_port
from magicbyte.security.first_try import Secured, secure
from magicbyte.security.sign_in.edit_users import Line, changing
from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.testing import running_registry
from tests.http.serving import serving

ISSUER, AUDIENCE = "https://idp.example.com", "magicbyte"
KEY = ("mbk_planted", "mbs_planted-key-secret")
OAUTH_CLIENT = ("planted-client", "planted-client-secret")


@dataclass(frozen=True)
class SecuredRegistry:
    """A running registry, and what signs in to it.

    Attributes:
        url: Its URL.
        files: What `magicbyte secure` has made.
        passwords: The passwords of `admin` and `app`.
        token: A bearer token of `admin`.
        admin: Settings of clients that sign in as `admin`, by confluent-kafka's names: `basic`, `key`, `token`,
            `certificate`, and `oauth`, whose token the endpoint at `token_url` gives.
        token_url: Where OAuth client credentials are exchanged for a token.
    """

    url: str
    files: Secured
    passwords: Mapping[str, str]
    token: str
    admin: Mapping[str, Mapping[str, str]]
    token_url: str

    @property
    def secrets(self) -> list[str]:
        """All that must be seen nowhere."""
        pairs = [f"admin:{self.passwords['admin']}", f"app:{self.passwords['app']}", ":".join(KEY)]
        return [*self.passwords.values(), KEY[1], OAUTH_CLIENT[1], self.token, *(_basic(pair) for pair in pairs)]


def _basic(pair: str) -> str:
    return b64encode(pair.encode()).decode()


class TokenEndpoint(BaseHTTPRequestHandler):
    """Gives the token for the client's credentials."""

    server: Any

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        authorized = self.headers["authorization"] == f"Basic {_basic(':'.join(OAUTH_CLIENT))}"
        body = {"access_token": self.server.token, "expires_in": 300} if authorized else {"error": "invalid_client"}
        text = json.dumps(body).encode()
        self.send_response(200 if authorized else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def token_endpoint(token: str) -> Iterator[str]:
    """Serve a token endpoint on this machine; gives its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), TokenEndpoint)
    server.token = token  # type: ignore[attr-defined]
    with serving(server) as url:
        yield f"{url}/token"


@dataclass(frozen=True)
class SecuredSettings:
    """The settings of registries, and the credentials of their clients.

    Attributes:
        files: What `magicbyte secure` has made.
        properties: The registries' settings, without a listener.
        tls: What trusts their certificate.
        token, token_url: The clients' token, and the address of the endpoint that gives it.
    """

    files: Secured
    properties: Mapping[str, str]
    tls: ssl.SSLContext
    token: str
    token_url: str

    def at(self, url: str) -> SecuredRegistry:
        """The registry at a URL, or at several with commas between, with the credentials of its clients."""
        return _described(url, self.files, self.token, self.token_url)


@contextmanager
def secured_settings(port: int = 8081) -> Iterator[SecuredSettings]:
    """Make certificates, users, a key and a token, with an endpoint that gives it.

    Args:
        port: The registry's, in the files that are made for clients.
    """
    folder = temporary_folder("magicbyte-secured-")
    try:
        files = secure(folder / "made", registry_port=port, rest_port=free_port())
        with changing(files.ca.with_name("users")) as users:
            users.add(Line(KEY[0], hash_key(KEY[1]), {"principal": "User:admin"}))
        token = _token(folder)
        properties = {
            **resolve(read_properties_file(files.registry)),
            "authentication.method": "BASIC,BEARER,SSL",
            "oauthbearer.jwks.endpoint.url": f"file://{folder}/keys.json",
            "oauthbearer.expected.issuer": ISSUER,
            "oauthbearer.expected.audience": AUDIENCE,
        }
        del properties["listeners"]
        with token_endpoint(token) as token_url:
            tls = ssl.create_default_context(cafile=files.ca)
            yield SecuredSettings(files, properties, tls, token, token_url)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def secured_registry() -> Iterator[SecuredRegistry]:
    """Run one, with an empty memory."""
    port = free_port()
    with (
        secured_settings(port) as settings,
        running_registry("memory:", port=port, properties=settings.properties, tls=settings.tls) as server,
    ):
        yield settings.at(server.url)


def _token(folder: Path) -> str:
    key = jwk.ECKey.generate_key("P-256")
    (folder / "keys.json").write_text(json.dumps({"keys": [{**key.as_dict(private=False), "kid": "test"}]}))
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "admin", "iat": int(time.time()), "exp": int(time.time()) + 3600}
    return jwt.encode({"alg": "ES256", "kid": "test"}, claims, key)


def _described(url: str, files: Secured, token: str, token_url: str) -> SecuredRegistry:
    passwords = read_properties_file(files.ca.with_name("secrets.properties"))
    del passwords["instance"]
    trust = {"url": url, "ssl.ca.location": str(files.ca)}
    admin = {
        "basic": {"basic.auth.user.info": f"admin:{passwords['admin']}"},
        "key": {"basic.auth.user.info": ":".join(KEY)},
        "token": {
            "bearer.auth.credentials.source": "STATIC_TOKEN",
            "bearer.auth.token": token,
            "bearer.auth.logical.cluster": "lsrc-none",
            "bearer.auth.identity.pool.id": "pool-none",
        },
        "oauth": {
            "bearer.auth.credentials.source": "OAUTHBEARER",
            "bearer.auth.issuer.endpoint.url": token_url,
            "bearer.auth.client.id": OAUTH_CLIENT[0],
            "bearer.auth.client.secret": OAUTH_CLIENT[1],
            "bearer.auth.scope": "schemas",
            "bearer.auth.logical.cluster": "lsrc-none",
            "bearer.auth.identity.pool.id": "pool-none",
        },
        "certificate": {"ssl.certificate.location": str(files.client), "ssl.key.location": str(files.client)},
    }
    admin = {method: {**trust, **settings} for method, settings in admin.items()}
    return SecuredRegistry(url, files, passwords, token, admin, token_url)
