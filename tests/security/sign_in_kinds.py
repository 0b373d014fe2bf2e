"""A server's settings for every kind of sign-in at once, and a client of each kind for each person."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
from joserfc import jwk, jws

from magicbyte.security.sign_in.password_hash import hash_key, hash_password
from magicbyte.security.tls.authority import Authority

KINDS = ("password", "key", "token", "certificate")
ISSUER, AUDIENCE = "https://idp.example.com", "magicbyte"


class SignIns:
    """The credentials of some people: each has a password, an API key, tokens and a certificate.

    Attributes:
        properties: The settings of a server that accepts them, behind TLS.
        trusting: A client's context without a certificate.
    """

    def __init__(self, folder: Path, people: Sequence[str], rules: str) -> None:
        """Write the server's files.

        Args:
            folder: Gets the files.
            people: The users; the user `admin` is a super user.
            rules: The access rules.
        """
        self._folder, self._authority, self._key = folder, Authority(), jwk.ECKey.generate_key("P-256")
        (folder / "ca.pem").write_bytes(self._authority.pem)
        users = folder / "users"
        lines = [
            line
            for name in people
            for line in (
                f"{name}:{hash_password(name + '-password')}\n",
                f"key-of-{name}:{hash_key('mbs_' + name)}:principal=User:{name}\n",
            )
        ]
        users.write_text("".join(lines))
        users.chmod(0o600)
        (folder / "rules").write_text(rules)
        (folder / "keys.json").write_text(json.dumps({"keys": [{**self._key.as_dict(private=False), "kid": "ours"}]}))
        self.trusting = ssl.create_default_context(cafile=folder / "ca.pem")
        self.properties = {
            "ssl.keystore.location": str(self._authority.server("127.0.0.1").write(folder / "server.pem")),
            "ssl.truststore.location": str(folder / "ca.pem"),
            "ssl.client.authentication": "REQUESTED",
            "authentication.method": "BASIC,BEARER,SSL",
            "ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/",
            "magicbyte.users.file": str(users),
            "magicbyte.acl.store": f"file:{folder / 'rules'}",
            "super.users": "User:admin",
            "magicbyte.authentication.failure.ms": "0",
            "oauthbearer.expected.issuer": ISSUER,
            "oauthbearer.expected.audience": AUDIENCE,
            "oauthbearer.jwks.endpoint.url": (folder / "keys.json").as_uri(),
        }

    def headers(self, kind: str, who: str) -> dict[str, str]:
        """The headers with a person's credentials of a kind; a certificate has none."""
        if kind in ("password", "key"):
            auth = (who, f"{who}-password") if kind == "password" else (f"key-of-{who}", f"mbs_{who}")
            return {"authorization": httpx.BasicAuth(*auth)._auth_header}
        if kind == "token":
            now = int(time.time())
            claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": who, "iat": now, "exp": now + 3600}
            header = {"alg": "ES256", "kid": "ours"}
            return {"authorization": "Bearer " + jws.serialize_compact(header, json.dumps(claims).encode(), self._key)}
        return {}

    def client(self, kind: str, who: str, url: str) -> httpx.Client:
        """Return a client of a server that signs in as a person in one way."""
        context = self.trusting
        if kind == "certificate":
            path = self._folder / f"{who}.pem"
            if not path.exists():
                self._authority.client(who).write(path)
            context = ssl.create_default_context(cafile=self._folder / "ca.pem")
            context.load_cert_chain(path)
        return httpx.Client(base_url=url, verify=context, timeout=60, headers=self.headers(kind, who))
