"""Bearer tokens: each way in which a token may be wrong, and key sets that rotate, vanish or are slow."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
import warnings
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwk, jws

from magicbyte.security.principal import Peer, Principal, Refusal
from magicbyte.security.sign_in.authenticator import Authenticator
from magicbyte.security.sign_in.key_set import KeySetError, parse_key_set
from magicbyte.security.sign_in.settings import SignInSettings
from tests.http.serving import serving

PEER = Peer("10.1.2.3")
ISSUER, AUDIENCE = "https://idp.example.com", "magicbyte"
CHALLENGE = 'Bearer realm="SchemaRegistry", error="invalid_token"'
INVALID = Refusal(401, "Unauthorized", (CHALLENGE,))
RSA = jwk.RSAKey.generate_key(2048)
EC = jwk.ECKey.generate_key("P-256")
ED = jwk.OKPKey.generate_key("Ed25519")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    SMALL = jwk.RSAKey.generate_key(1024)
OTHER = jwk.RSAKey.generate_key(2048)


def public(key: Any, **more: Any) -> dict[str, Any]:
    return {**key.as_dict(private=False), **more}


KEYS = [
    public(RSA, kid="rsa", use="sig", alg="RS256"),
    public(EC, kid="ec"),
    public(ED, kid="ed"),
    public(SMALL, kid="small"),
    public(OTHER, kid="encrypts", use="enc"),
]


@dataclass(frozen=True)
class In:
    """A time so many seconds after the token is made."""

    seconds: float


def claims(**changes: Any) -> dict[str, Any]:
    every = {"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "exp": In(600), "iat": In(0), "groups": ["ops"], **changes}
    now = time.time()
    return {
        name: now + value.seconds if isinstance(value, In) else value
        for name, value in every.items()
        if value is not None
    }


def signed(payload: dict[str, Any] | bytes, key: Any = EC, **header: Any) -> bytes:
    named = {"alg": "ES256", "kid": "ec", **header}
    text = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    protected = {name: value for name, value in named.items() if value is not None}
    registry = jws.JWSRegistry(algorithms=list(jws.JWSRegistry.algorithms), strict_check_header=False)
    return jws.serialize_compact(protected, text, key, registry=registry).encode()


def unsigned(header: dict[str, Any], payload: dict[str, Any]) -> bytes:
    parts = (json.dumps(part).encode() for part in (header, payload))
    return b".".join(urlsafe_b64encode(part).rstrip(b"=") for part in parts) + b"."


def signed_by_hmac(key: bytes) -> bytes:
    signing_input = unsigned({"alg": "HS256", "kid": "ec"}, claims())[:-1]
    return signing_input + b"." + urlsafe_b64encode(hmac.digest(key, signing_input, "sha256")).rstrip(b"=")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Authenticator]]:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": KEYS}))
    with ExitStack() as stack:

        def make(**properties: str) -> Authenticator:
            given = {
                "authentication.method": "BEARER",
                "oauthbearer.expected.issuer": ISSUER,
                "oauthbearer.expected.audience": AUDIENCE,
                "oauthbearer.jwks.endpoint.url": f"file://{keys}",
                "magicbyte.authentication.failure.ms": "0",
                "magicbyte.authentication.failures.per.minute": "100000",
            }
            given |= {name.replace("__", "."): value for name, value in properties.items()}
            authenticator = Authenticator(SignInSettings.from_properties(given), realm="SchemaRegistry")
            stack.callback(authenticator.close)
            return authenticator

        yield make


def ask(authenticator: Authenticator, token: bytes) -> Principal | Refusal:
    return asyncio.run(authenticator.authenticate([(b"authorization", b"Bearer " + token)], PEER))


@pytest.mark.filterwarnings("ignore:EdDSA")
@pytest.mark.parametrize(
    ("key", "header"),
    [
        (RSA, {"alg": "RS256", "kid": "rsa"}),
        (EC, {"alg": "ES256", "kid": "ec"}),
        (EC, {"alg": "ES256", "kid": None}),
        (ED, {"alg": "EdDSA", "kid": "ed"}),
    ],
)
def test_a_token_names_its_principal(make: Callable[..., Authenticator], key: Any, header: dict[str, Any]):
    authenticator = make()
    expires = int(time.time()) + 600
    token = signed(claims(exp=expires), key, **header)
    alice = Principal("User:alice", frozenset(("Group:ops",)), "BEARER", expires)
    assert ask(authenticator, token) == alice
    assert authenticator.recall([(b"authorization", b"Bearer " + token)], PEER) == alice


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": None},
        {"exp": "4102444800"},
        {"exp": True},
        {"exp": In(-31)},
        # The year 33658: milliseconds taken for seconds.
        {"exp": 1_000_000_000_000},
        {"exp": float("inf")},
        {"nbf": In(60)},
        {"iat": In(60)},
        {"iat": "now"},
        {"iss": None},
        {"iss": ISSUER + "/"},
        {"iss": [ISSUER]},
        {"aud": None},
        {"aud": "magic"},
        {"aud": ["magicbyte2", "magi"]},
        {"aud": {"magicbyte": 1}},
        {"sub": None},
        {"sub": ""},
        {"sub": "*"},
        {"sub": "a\n"},
        {"sub": 42},
        {"sub": "x" * 256},
        {"groups": "ops"},
        {"groups": ["ops"] * 201},
        {"groups": [1]},
    ],
)
def test_a_claim_that_is_wrong(make: Callable[..., Authenticator], changes: dict[str, Any]):
    assert ask(make(), signed(claims(**changes))) == INVALID


@pytest.mark.parametrize(
    "make_token",
    [
        lambda: b"",
        lambda: b"x",
        lambda: b"a.b.c",
        lambda: unsigned({"alg": "none"}, claims()),
        lambda: unsigned({"alg": "NoNe", "kid": "ec"}, claims()),
        lambda: unsigned({"alg": "ES256", "kid": "ec"}, claims()),
        # The public key as the secret of an HMAC.
        lambda: signed_by_hmac(EC.as_pem(private=False)),
        lambda: signed(claims(), OTHER, alg="RS256", kid="rsa"),
        lambda: signed(claims(), RSA, alg="RS256", kid="ec"),
        # The key says that it is for RS256.
        lambda: signed(claims(), RSA, alg="PS256", kid="rsa"),
        lambda: signed(claims(), SMALL, alg="RS256", kid="small"),
        lambda: signed(claims(), OTHER, alg="RS256", kid="encrypts"),
        lambda: signed(claims(), EC, kid="unknown"),
        lambda: signed(claims(), jwk.ECKey.generate_key("P-256"), jwk=public(EC)),
        lambda: signed(claims(), jwk.ECKey.generate_key("P-256"), jku="https://evil.example.com/keys"),
        lambda: signed(json.dumps(claims())[:-1].encode() + b',"sub":"bob"}'),
        lambda: signed(b"[]"),
        lambda: signed(b"no json"),
        lambda: signed(claims(padding="x" * 8192)),
        lambda: b"x" * 1_000_000,
    ],
    ids=range(20),
)
def test_a_token_that_is_wrong(make: Callable[..., Authenticator], make_token: Callable[[], bytes]):
    assert ask(make(), make_token()) == INVALID


def test_a_critical_header_is_refused(make: Callable[..., Authenticator]):
    header, payload, _ = signed(claims()).split(b".")
    critical = urlsafe_b64encode(json.dumps({"alg": "ES256", "kid": "ec", "crit": ["x"], "x": 1}).encode()).rstrip(b"=")
    assert header
    assert ask(make(), b".".join((critical, payload, b"AAAA"))) == INVALID


def test_audiences_and_dotted_claims(make: Callable[..., Authenticator]):
    authenticator = make(
        oauthbearer__groups__claim__name="realm_access.roles", oauthbearer__sub__claim__name="preferred_username"
    )
    token = signed(
        claims(aud=["other", AUDIENCE], preferred_username="svc", realm_access={"roles": ["r"]}, groups=None)
    )
    principal = ask(authenticator, token)
    assert isinstance(principal, Principal)
    assert (principal.name, principal.groups) == ("User:svc", frozenset(("Group:r",)))


class KeyServer(ThreadingHTTPServer):
    """Serves a key set that a test may change."""

    daemon_threads = True

    def __init__(self) -> None:
        self.body: bytes = json.dumps({"keys": KEYS[:1]}).encode()
        self.status, self.fetches = 200, 0
        super().__init__(("127.0.0.1", 0), KeyHandler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/keys"


class KeyHandler(BaseHTTPRequestHandler):
    server: KeyServer

    def do_GET(self):
        if self.path == "/keys":
            self.server.fetches += 1
        body = self.server.body
        if self.path.endswith("openid-configuration"):
            issuer = f"http://127.0.0.1:{self.server.server_port}"
            body = json.dumps({"issuer": issuer, "jwks_uri": f"{issuer}/keys"}).encode()
        self.send_response(self.server.status)
        self.send_header("content-length", str(len(body)))
        self.send_header("location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def key_server() -> Iterator[KeyServer]:
    server = KeyServer()
    with serving(server):
        yield server


def test_a_thousand_unknown_keys_are_one_fetch(make: Callable[..., Authenticator], key_server: KeyServer):
    authenticator = make(oauthbearer__jwks__endpoint__url=key_server.url)
    assert key_server.fetches == 1
    assert authenticator.keys is not None
    authenticator.keys._tried = -float("inf")

    async def flood() -> list[Principal | Refusal]:
        tokens = (signed(claims(), EC, kid=str(number)) for number in range(1000))
        asked = ([(b"authorization", b"Bearer " + token)] for token in tokens)
        peers = (Peer(f"10.0.{number % 250}.1") for number in range(1000))
        pairs = zip(asked, peers, strict=True)
        return await asyncio.gather(*(authenticator.authenticate(headers, peer) for headers, peer in pairs))

    assert set(asyncio.run(flood())) == {INVALID}
    assert key_server.fetches == 2


def test_a_rotated_key_is_fetched_and_a_lost_server_changes_nothing(
    make: Callable[..., Authenticator], key_server: KeyServer
):
    authenticator = make(oauthbearer__jwks__endpoint__url=key_server.url)
    assert authenticator.keys is not None
    key_server.body = json.dumps({"keys": KEYS[1:2]}).encode()
    authenticator.keys._tried = -float("inf")
    assert isinstance(ask(authenticator, signed(claims())), Principal)
    for status, body in ((500, b""), (302, b""), (200, b"no json"), (200, b'{"keys":[]}'), (200, b" " * (2 << 20))):
        key_server.status, key_server.body = status, body
        authenticator.keys._tried = -float("inf")
        assert ask(authenticator, signed(claims(), kid="unknown")) == INVALID
        assert isinstance(ask(authenticator, signed(claims(jti=str(status) + str(len(body))))), Principal)
    authenticator.keys._fetched = time.monotonic() - 86_401
    outcome = ask(authenticator, signed(claims(jti="late")))
    assert isinstance(outcome, Refusal)
    assert outcome.status == 503


def test_a_key_replaced_under_its_id_ends_remembered_tokens(
    make: Callable[..., Authenticator], key_server: KeyServer, tmp_path: Path
):
    file = tmp_path / "served.json"
    replacing = json.dumps({"keys": [public(jwk.ECKey.generate_key("P-256"), kid="ec")]}).encode()
    for url in (key_server.url, file.as_uri()):
        key_server.body = json.dumps({"keys": KEYS[1:2]}).encode()
        file.write_bytes(key_server.body)
        authenticator = make(oauthbearer__jwks__endpoint__url=url)
        token = signed(claims())
        headers = [(b"authorization", b"Bearer " + token)]
        assert isinstance(ask(authenticator, token), Principal)
        assert authenticator.keys is not None
        # The same keys again change nothing.
        authenticator.keys.reload()
        assert authenticator.recall(headers, PEER) is not None
        key_server.body = replacing
        file.write_bytes(replacing)
        authenticator.keys.reload()
        assert authenticator.recall(headers, PEER) is None
        assert ask(authenticator, token) == INVALID


@pytest.mark.parametrize("name", ["a\ud800", "\udfff", "a\udc00b"])
def test_half_a_surrogate_pair_is_no_name(make: Callable[..., Authenticator], name: str):
    authenticator = make()
    assert ask(authenticator, signed(claims(sub=name))) == INVALID
    assert ask(authenticator, signed(claims(groups=["ops", name]))) == INVALID
    whole = ask(authenticator, signed(claims(sub="\U0001f600")))
    assert isinstance(whole, Principal)
    assert whole.name == "User:\U0001f600"


def test_the_issuer_names_its_keys(make: Callable[..., Authenticator], key_server: KeyServer):
    issuer = f"http://127.0.0.1:{key_server.server_port}"
    authenticator = make(oauthbearer__jwks__endpoint__url="", oauthbearer__expected__issuer=issuer)
    token = signed(claims(iss=issuer), RSA, alg="RS256", kid="rsa")
    assert isinstance(ask(authenticator, token), Principal)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://idp.example.com/keys", "keys come from https://, file:/// or, on this machine, http://"),
        ("ftp://x/keys", "keys come from https://"),
        ("file:///none/such", "file:///none/such cannot be read: No such file or directory"),
        ("http://127.0.0.1:1/keys", "http://127.0.0.1:1/keys cannot be fetched: ConnectError"),
    ],
)
def test_keys_that_can_not_be_had_refuse_to_start(make: Callable[..., Authenticator], url: str, text: str):
    with pytest.raises(KeySetError) as raised:
        make(oauthbearer__jwks__endpoint__url=url)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"[]", "u is no JWK set"),
        (b"{", "u is no JWK set"),
        (b'{"keys":[]}', "u has no key that can verify a token"),
        (json.dumps({"keys": [public(SMALL)]}).encode(), "u has no key that can verify a token"),
        (json.dumps({"keys": [{"kty": "RSA", "n": "?", "e": 1}]}).encode(), "u has no key that can verify a token"),
        (json.dumps({"keys": KEYS[:1] * 101}).encode(), "u has 101 keys; at most 100 are read"),
    ],
)
def test_a_key_set_that_can_not_be_used(data: bytes, text: str):
    with pytest.raises(KeySetError) as raised:
        parse_key_set(data, "u")
    assert str(raised.value) == text
