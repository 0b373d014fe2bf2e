"""The sender of a request: each credential that is accepted, and each that is refused."""

from __future__ import annotations

import asyncio
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_network
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from magicbyte.kit.settings import SettingsError
from magicbyte.security.principal import Peer, Principal, Refusal
from magicbyte.security.sign_in import passwords
from magicbyte.security.sign_in.authenticator import Authenticator
from magicbyte.security.sign_in.password_hash import hash_key, hash_password
from magicbyte.security.sign_in.plug_in_names import with_confluents_names
from magicbyte.security.sign_in.settings import SignInSettings
from magicbyte.security.tls.authority import Authority

Make = Callable[..., Authenticator]
PEER = Peer("10.1.2.3")
CHALLENGE = 'Basic realm="SchemaRegistry", charset="UTF-8"'
#: So that no failure is refilled during a test.
ONE_A_MINUTE = {"magicbyte__authentication__failures__per__minute": "1"}
UNAUTHORIZED = Refusal(401, "Unauthorized", (CHALLENGE,))


@pytest.fixture(scope="module")
def lines() -> str:
    return "\n".join(
        (
            f"alice:{hash_password('wonderland')}:groups=readers",
            f"jürgen:{hash_password('schlüssel')}",
            f"gone:{hash_password('wonderland')}:disabled",
            f"late:{hash_password('wonderland')}:expires=2020-01-01T00:00:00Z",
            f"mbk_ci:{hash_key('mbs_secret')}:principal=User:ci;from=10.0.0.0/8",
        )
    )


@pytest.fixture
def users(tmp_path: Path, lines: str) -> Path:
    path = tmp_path / "users"
    path.write_text(lines, encoding="utf-8")
    path.chmod(0o600)
    return path


@pytest.fixture
def make(users: Path) -> Iterator[Make]:
    with ExitStack() as stack:

        def make(**properties: str) -> Authenticator:
            given = {
                "authentication.method": "BASIC",
                "magicbyte.users.file": str(users),
                "magicbyte.authentication.failure.ms": "0",
            }
            given |= {name.replace("__", "."): value for name, value in properties.items()}
            authenticator = Authenticator(SignInSettings.from_properties(given), realm="SchemaRegistry")
            stack.callback(authenticator.close)
            return authenticator

        yield make


def basic(text: str) -> tuple[bytes, bytes]:
    return (b"authorization", b"Basic " + b64encode(text.encode()))


def ask(authenticator: Authenticator, *headers: tuple[bytes, bytes], peer: Peer = PEER) -> Principal | Refusal:
    return asyncio.run(authenticator.authenticate(headers, peer))


def test_a_user_signs_in(make: Make):
    authenticator = make()
    alice = Principal("User:alice", frozenset(("Group:readers",)), "BASIC")
    assert ask(authenticator, basic("alice:wonderland")) == alice
    assert ask(authenticator, basic("jürgen:schlüssel")) == Principal("User:jürgen", frozenset(), "BASIC")
    assert authenticator.recall([basic("alice:wonderland")], PEER) == alice
    assert authenticator.counts == {("BASIC", "success"): 2}


@pytest.mark.parametrize(
    "value",
    [
        b"Basic " + b64encode(b"alice:wonder"),
        b"Basic " + b64encode(b"nobody:wonderland"),
        b"Basic " + b64encode(b"gone:wonderland"),
        b"Basic " + b64encode(b"late:wonderland"),
        b"Basic " + b64encode(b"alice"),
        b"Basic " + b64encode(b"alice:wonderland\0"),
        b"Basic " + b64encode(b"alice:\xff"),
        b"Basic " + b64encode(b"alice:" + b"x" * 1024),
        b"Basic " + b64encode(b"alice:wonderland") + b"!",
        b"Basic YWxpY2U6d29uZGVybGFuZA",
        b"Basic",
        b"",
        b"Digest username=alice",
        b"Bearer x",
        # A key's id alone opens nothing.
        b"Basic " + b64encode(b"mbk_ci:"),
    ],
)
def test_all_wrong_credentials_get_the_same_answer(make: Make, value: bytes):
    assert ask(make(), (b"authorization", value)) == UNAUTHORIZED
    assert ask(make()) == UNAUTHORIZED


def test_a_key_signs_in_from_its_networks_only(make: Make):
    authenticator = make()
    ci = Principal("User:ci", frozenset(), "BASIC")
    assert ask(authenticator, basic("mbk_ci:mbs_secret"), peer=Peer("11.0.0.1")) == UNAUTHORIZED
    assert ask(authenticator, basic("mbk_ci:mbs_secret")) == ci
    assert authenticator.recall([basic("mbk_ci:mbs_secret")], PEER) == ci
    assert authenticator.recall([basic("mbk_ci:mbs_secret")], Peer("11.0.0.1")) is None
    assert ask(authenticator, basic("mbk_ci:mbs_secret"), peer=Peer("11.0.0.1")) == UNAUTHORIZED


def test_only_trusted_proxies_say_where_a_client_is(make: Make):
    authenticator = make(magicbyte__trusted__proxies="192.0.2.0/24")
    proxy = Peer("192.0.2.1")
    key = basic("mbk_ci:mbs_secret")
    hops = (b"x-forwarded-for", b"11.0.0.1, 10.0.0.9, 192.0.2.7")
    assert isinstance(ask(authenticator, key, hops, peer=proxy), Principal)
    spoofed = (b"x-forwarded-for", b"10.0.0.9, 11.0.0.1")
    assert ask(authenticator, key, spoofed, peer=proxy) == UNAUTHORIZED
    assert ask(authenticator, key, (b"x-forwarded-for", b"10.0.0.9"), peer=Peer("11.0.0.1")) == UNAUTHORIZED
    assert authenticator.recall([key, spoofed], proxy) is None


def test_two_headers_are_a_bad_request(make: Make):
    headers = (basic("alice:wonderland"), basic("alice:wonderland"))
    assert ask(make(), *headers) == Refusal(400, "There is more than one Authorization header")
    assert make().recall(headers, PEER) is None


def test_a_header_decides_alone(make: Make, authority: Authority):
    alice = authority.client("alice").certificate.public_bytes(Encoding.DER)
    authenticator = make(authentication__method="BASIC,SSL", magicbyte__anonymous__access="true")
    peer = Peer("10.1.2.3", alice, time.time() + 60)
    by_certificate = ask(authenticator, peer=peer)
    assert isinstance(by_certificate, Principal)
    assert (by_certificate.name, by_certificate.method) == ("User:CN=alice", "SSL")
    assert ask(authenticator, basic("alice:wrong"), peer=peer) == UNAUTHORIZED
    assert ask(authenticator) == Principal("User:ANONYMOUS")
    assert ask(authenticator, basic("alice:wrong")) == UNAUTHORIZED
    expired = Peer("10.1.2.3", alice, time.time() - 1)
    assert ask(authenticator, peer=expired) == UNAUTHORIZED


def test_rules_map_certificates(make: Make, authority: Authority):
    certificate = authority.client("alice", organization="Acme").certificate.public_bytes(Encoding.DER)
    authenticator = make(authentication__method="SSL", ssl__principal__mapping__rules="RULE:CN=(.*),O=Acme/$1/U")
    principal = ask(authenticator, peer=Peer("10.1.2.3", certificate))
    assert isinstance(principal, Principal)
    assert principal.name == "User:ALICE"
    other = authority.client("alice").certificate.public_bytes(Encoding.DER)
    assert ask(authenticator, peer=Peer("10.1.2.3", other)) == Refusal(401, "Unauthorized")


def test_a_certificate_is_nobody_if_certificates_are_no_method(make: Make, authority: Authority):
    certificate = authority.client("alice").certificate.public_bytes(Encoding.DER)
    assert ask(make(), peer=Peer("10.1.2.3", certificate)) == UNAUTHORIZED


@pytest.mark.parametrize(
    ("roles", "alice", "other"),
    [("**", True, True), ("*", True, False), ("readers,x", True, False), ("x", False, False), ("", False, False)],
)
def test_the_authenticator_checks_roles(make: Make, roles: str, alice: bool, other: bool):
    authenticator = make(authentication__roles=roles)
    for credentials, may in (("alice:wonderland", alice), ("jürgen:schlüssel", other)):
        outcome = ask(authenticator, basic(credentials))
        assert (outcome == Refusal(403, "!role")) is not may
        assert (authenticator.recall([basic(credentials)], PEER) is not None) is may


def test_twenty_wrong_passwords_are_one_too_many(make: Make):
    authenticator = make()
    alice = basic("alice:wonderland")
    assert isinstance(ask(authenticator, alice), Principal)
    # Wrong keys, since their hash takes no time.
    answers = [ask(authenticator, basic(f"mbk_ci:{number}")) for number in range(22)]
    assert [answer.status for answer in answers if isinstance(answer, Refusal)] == [401] * 20 + [429] * 2
    assert answers[-1] == Refusal(429, "Too many failed authentications", retry_after=2)
    # Somebody who has signed in goes on, behind the same address too; others are not concerned.
    assert isinstance(ask(authenticator, alice), Principal)
    assert isinstance(ask(authenticator, basic("mbk_ci:mbs_secret"), peer=Peer("10.9.9.9")), Principal)


def test_the_same_wrong_password_counts_once(make: Make):
    authenticator = make()
    answers = [ask(authenticator, basic("mbk_ci:wrong")) for _ in range(30)]
    assert answers == [UNAUTHORIZED] * 30


def test_a_failure_is_answered_on_a_timer(make: Make):
    authenticator = make(magicbyte__authentication__failure__ms="150")
    for credentials in ("alice:wrong", "nobody:wrong", "mbk_ci:wrong", "mbk_ci:wrong"):
        began = time.monotonic()
        assert ask(authenticator, basic(credentials)) == UNAUTHORIZED
        assert time.monotonic() - began >= 0.15


def test_unknown_names_are_hashed_too(make: Make):
    authenticator = make()
    with patch.object(type(authenticator.passwords.dummy), "verify", autospec=True, return_value=True) as verify:
        assert ask(authenticator, basic("nobody:wonderland")) == UNAUTHORIZED
        assert ask(authenticator, basic("gone:wonderland")) == UNAUTHORIZED
    assert verify.call_count == 2


def test_equal_credentials_are_hashed_once(make: Make):
    authenticator = make()

    async def at_once() -> list[Principal | Refusal]:
        peers = [Peer(f"10.0.{number // 2}.1") for number in range(50)]
        return await asyncio.gather(*(authenticator.authenticate([basic("alice:wonderland")], peer) for peer in peers))

    with patch.object(type(authenticator.passwords.dummy), "verify", autospec=True, return_value=True) as verify:
        assert len(set(asyncio.run(at_once()))) == 1
    assert verify.call_count == 1


def test_a_password_replaced_during_hashing_no_longer_signs_in(make: Make, users: Path, lines: str):
    authenticator = make()

    def slow(hash_: Any, secret: bytes) -> bool:
        time.sleep(0.2)
        return bool(hash_._text == former and secret == b"wonderland")

    async def sign_in_and_replace() -> tuple[Principal | Refusal, Principal | Refusal]:
        first = asyncio.create_task(authenticator.authenticate([basic("alice:wonderland")], PEER))
        await asyncio.sleep(0)
        authenticator.reload()
        return await asyncio.gather(first, authenticator.authenticate([basic("alice:wonderland")], PEER))

    replaced = hash_password("another")
    former = next(line for line in lines.splitlines() if line.startswith("alice:")).split(":")[1]
    users.write_text(lines.replace(former, replaced))
    with patch.object(type(authenticator.passwords.dummy), "verify", autospec=True, side_effect=slow):
        first, second = asyncio.run(sign_in_and_replace())
    assert isinstance(first, Principal)
    assert second == UNAUTHORIZED
    assert authenticator.recall([basic("alice:wonderland")], PEER) is None


def test_equal_credentials_are_hashed_once_in_every_spelling(make: Make):
    authenticator = make()
    value = b64encode(b"alice:wonderland")
    assert value == b"YWxpY2U6d29uZGVybGFuZA=="
    headers = [
        b"Basic YWxpY2U6d29uZGVybGFuZA==",
        *(bytes(scheme) + b" " * spaces + value for spaces in (1, 2, 9) for scheme in (b"basic", b"bAsIc", b"BASIC")),
        b"Basic " + value + b" " * 40,
        b"Basic YWxpY2U6d29uZGVybGFuZB==",
        b"bASIC\x20\x20YWxpY2U6d29uZGVybGFuZP== ",
    ]
    with patch.object(type(authenticator.passwords.dummy), "verify", autospec=True, return_value=True) as verify:
        outcomes = [ask(authenticator, (b"authorization", header)) for header in headers]
    assert {outcome.name for outcome in outcomes if isinstance(outcome, Principal)} == {"User:alice"}
    assert len(outcomes) == len(headers)
    # One spelling of a user does not take the places of other users.
    assert (verify.call_count, len(authenticator._remembered._verified)) == (1, 1)


def test_one_wrong_password_counts_once_however_it_is_written(make: Make):
    authenticator = make()
    value = b64encode(b"mbk_ci:wrong")
    answers = [ask(authenticator, (b"authorization", b"basic" + b" " * spaces + value)) for spaces in range(1, 31)]
    assert answers == [UNAUTHORIZED] * 30


@pytest.mark.parametrize("names", [("nobody{0}",), ("jürgen",), ("nobody{0}", "alice", "gone", "mbk_ci")])
def test_wrong_passwords_of_one_user_block_no_other_user_of_the_address(make: Make, names: tuple[str, ...]):
    authenticator = make(magicbyte__authentication__cache__seconds="0", **ONE_A_MINUTE)
    first = ask(authenticator, basic("alice:wonderland"))
    assert isinstance(first, Principal)

    async def attack_and_sign_in() -> list[Principal | Refusal]:
        wrong = [names[number % len(names)].format(number) + f":wrong{number}" for number in range(200)]
        attack = [asyncio.create_task(authenticator.authenticate([basic(text)], PEER)) for text in wrong]
        await asyncio.sleep(0)
        # Alice has signed in before, and the bearer of the key never.
        innocent = [
            await asyncio.wait_for(authenticator.authenticate([basic(text)], PEER), 60)
            for text in ("alice:wonderland", "mbk_ci:mbs_secret")
        ]
        refused = [outcome.status for outcome in await asyncio.gather(*attack) if isinstance(outcome, Refusal)]
        assert sorted(set(refused)) == [401, 429]
        assert refused.count(401) == 20
        return innocent

    with patch.object(type(authenticator.passwords.dummy), "verify", autospec=True, side_effect=is_right) as verify:
        assert asyncio.run(attack_and_sign_in()) == [first, Principal("User:ci", frozenset(), "BASIC")]
        # Of 200 guesses, 20 of unknown names and 20 of each user are hashed; then the limit holds.
        assert verify.call_count <= 62
        if names != ("jürgen",):
            other = ask(authenticator, basic("jürgen:schlüssel"))
            assert other == Principal("User:jürgen", frozenset(), "BASIC")


def is_limited(outcome: Principal | Refusal) -> bool:
    return replace(outcome, retry_after=None) == Refusal(429, "Too many failed authentications")


def is_right(_hash: object, secret: bytes) -> bool:
    """Stand in for a slow hash."""
    time.sleep(0.005)
    return secret in (b"wonderland", "schlüssel".encode())


@pytest.mark.parametrize("attacker", ["10.9.9.9", "10.1.2.3"])
def test_waiting_tries_delay_another_user_by_one_hash_each(make: Make, attacker: str):
    authenticator = make()
    hashed: list[bytes] = []
    waits_too = threading.Event()

    def note(_hash: object, secret: bytes) -> bool:
        hashed.append(secret)
        if len(hashed) == 2:
            assert waits_too.wait(30)
        return secret == "schlüssel".encode()

    async def attack_and_sign_in() -> list[bytes]:
        peer = Peer(attacker)
        attack = [
            asyncio.create_task(authenticator.authenticate([basic(f"{name}:{number}")], peer))
            for number in range(10)
            for name in ("alice", f"nobody{number}")
        ]
        while len(hashed) < 2:  # noqa: ASYNC110  a thread notes them
            await asyncio.sleep(0.001)
        signing_in = asyncio.create_task(authenticator.authenticate([basic("jürgen:schlüssel")], PEER))
        await asyncio.sleep(0)
        waits_too.set()
        assert isinstance(await signing_in, Principal)
        between = hashed[2 : hashed.index("schlüssel".encode())]
        await asyncio.gather(*attack)
        return between

    with patch.object(type(authenticator.passwords.dummy), "verify", autospec=True, side_effect=note):
        # The one under way has begun. Behind another address one more has its turn; behind the same one, one of
        # each other user and one of all unknown names.
        assert len(asyncio.run(attack_and_sign_in())) <= (1 if attacker == "10.9.9.9" else 2)


def test_a_user_s_password_is_guessed_twenty_times_from_an_address(make: Make):
    authenticator = make(**ONE_A_MINUTE)

    async def guess() -> list[int]:
        headers = [[basic(f"jürgen:{number}")] for number in range(100)]
        outcomes = await asyncio.gather(*(authenticator.authenticate(header, PEER) for header in headers))
        return [outcome.status for outcome in outcomes if isinstance(outcome, Refusal)]

    with patch.object(type(authenticator.passwords.dummy), "verify", autospec=True, side_effect=is_right) as verify:
        assert sorted(asyncio.run(guess())) == [401] * 20 + [429] * 80
        assert verify.call_count <= 21
        assert is_limited(ask(authenticator, basic("jürgen:schlüssel")))
        assert isinstance(ask(authenticator, basic("jürgen:schlüssel"), peer=Peer("10.9.9.9")), Principal)


def test_beyond_the_limit_known_and_unknown_names_have_the_same_answer(make: Make):
    authenticator = make(**ONE_A_MINUTE)
    for number in range(20):
        assert ask(authenticator, basic(f"nobody:{number}")) == UNAUTHORIZED
    for text in ("alice:wrong", "alice:wrong", "nobody:wrong", "nobody:wrong", "gone:wonderland", "mbk_ci:x", "x"):
        assert is_limited(ask(authenticator, basic(text)))


def test_a_refusal_for_lack_of_a_turn_counts_as_no_failure(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(passwords, "_WAIT_SECONDS", 0.02)
    authenticator = make()
    others_are_refused = threading.Event()

    def slow(_hash: object, _secret: bytes) -> bool:
        others_are_refused.wait(60)
        return False

    async def at_once() -> list[Principal | Refusal]:
        asked = [
            asyncio.create_task(authenticator.authenticate([basic(f"nobody:{number}")], PEER)) for number in range(22)
        ]
        for refused in islice(asyncio.as_completed(asked), 21):
            await refused
        others_are_refused.set()
        return await asyncio.gather(*asked)

    busy = Refusal(503, "Authentication is busy", retry_after=1)
    with patch.object(type(authenticator.passwords.dummy), "verify", autospec=True, side_effect=slow):
        answers = asyncio.run(at_once())
    assert (answers.count(UNAUTHORIZED), answers.count(busy)) == (1, 21)
    assert ask(authenticator, basic("nobody:again")) == UNAUTHORIZED


def test_a_change_of_the_users_file_is_in_force_at_once(make: Make, users: Path, lines: str):
    authenticator = make()
    assert isinstance(ask(authenticator, basic("alice:wonderland")), Principal)
    users.write_text("\n".join(line for line in lines.splitlines() if not line.startswith("alice")))
    authenticator.reload()
    assert authenticator.recall([basic("alice:wonderland")], PEER) is None
    assert ask(authenticator, basic("alice:wonderland")) == UNAUTHORIZED


def test_no_secret_is_kept(make: Make):
    authenticator = make()
    ask(authenticator, basic("alice:wonderland"))
    ask(authenticator, basic("alice:planted"))
    kept = repr((vars(authenticator), vars(authenticator._remembered)))
    assert all(secret not in kept for secret in ("wonderland", "planted", b64encode(b"alice:wonderland").decode()))


@pytest.mark.parametrize(
    ("properties", "listeners", "text"),
    [
        ({"authentication.method": "BASIC"}, {}, "magicbyte.users.file: BASIC needs users; make a file with"),
        ({"authentication.method": "BEARER"}, {}, "oauthbearer.expected.issuer: BEARER needs this setting; without"),
        (
            {"authentication.method": "BEARER", "oauthbearer.expected.issuer": "x"},
            {},
            "oauthbearer.expected.audience: BEARER needs this setting",
        ),
        ({"authentication.method": "SSL"}, {}, "ssl.client.authentication: SSL as a method needs REQUESTED or"),
        (
            {"authentication.method": "BASIC", "magicbyte.users.file": "u"},
            {"http": True},
            "listeners: passwords and tokens would cross the network in the clear; use https://, a loopback address",
        ),
        ({"magicbyte.anonymous.access": "true"}, {}, "magicbyte.anonymous.access: set authentication.method"),
    ],
)
def test_settings_that_do_not_fit_refuse_to_start(properties: dict[str, str], listeners: dict[str, bool], text: str):
    with pytest.raises(SettingsError) as raised:
        SignInSettings.from_properties(properties).check_sign_in(listeners, asks_for_certificates=False)
    assert str(raised.value).startswith(text)


def test_the_clear_is_allowed_on_the_loopback_and_behind_a_proxy():
    properties = {"authentication.method": "BASIC", "magicbyte.users.file": "u"}
    settings = SignInSettings.from_properties(properties)
    settings.check_sign_in({"http": False, "https": True}, asks_for_certificates=False)
    allowed = {**properties, "magicbyte.allow.plaintext.credentials": "true"}
    SignInSettings.from_properties(allowed).check_sign_in({"http": True}, asks_for_certificates=False)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("authentication.method", "KERBEROS", "KERBEROS is not supported; use NONE, or a list of BASIC, BEARER, SSL"),
        ("authentication.method", "BASIC,NONE", "NONE is not supported"),
        ("authentication.skip.paths", "/*", "/* cannot be left without sign-in; use whole paths out of /, /_health"),
        ("authentication.skip.paths", "/subjects", "/subjects cannot be left without sign-in"),
        ("magicbyte.oauthbearer.algorithms", "RS256,HS256", "or ES512 or EdDSA, not 'HS256'"),
        ("magicbyte.oauthbearer.algorithms", "none", "or ES512 or EdDSA, not 'none'"),
        ("magicbyte.trusted.proxies", "proxy", "proxy is neither an IP address nor a network"),
        ("ssl.principal.mapping.rules", "CN=x", "'CN=x' is no rule"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str, text: str):
    with pytest.raises(SettingsError) as raised:
        SignInSettings.from_properties({name: value})
    assert str(raised.value).startswith(name)
    assert text in str(raised.value)


@pytest.mark.parametrize(
    ("given", "translated"),
    [
        (
            {"confluent.schema.registry.auth.mechanism": "JETTY_AUTH"},
            {"authentication.method": "BASIC"},
        ),
        (
            {"confluent.schema.registry.auth.mechanism": "SSL", "authentication.method": "BASIC"},
            {"authentication.method": "BASIC"},
        ),
        (
            {"confluent.rest.auth.ssl.principal.mapping.rules": "DEFAULT"},
            {"ssl.principal.mapping.rules": "DEFAULT"},
        ),
        (
            {"rest.servlet.initializor.classes": "io.x.AuthenticationHandler", "oauthbearer.expected.issuer": "i"},
            {"authentication.method": "BEARER", "oauthbearer.expected.issuer": "i"},
        ),
    ],
)
def test_confluents_names_are_understood(given: dict[str, str], translated: dict[str, str]):
    assert with_confluents_names(given) == translated


_OTHER_PLUG_INS = (
    " is not supported; remove it."
    " To accept OAuth tokens, set authentication.method=BEARER and the settings oauthbearer.*"
)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("rest.servlet.initializor.classes", "com.acme.Plugin", f"the plug-in com.acme.Plugin{_OTHER_PLUG_INS}"),
        (
            "rest.servlet.initializor.classes",
            "io.x.AuthenticationHandler",
            f"the plug-in io.x.AuthenticationHandler{_OTHER_PLUG_INS}",
        ),
        (
            "confluent.schema.registry.auth.mechanism",
            "KERBEROS",
            "KERBEROS is not supported; use SSL or JETTY_AUTH",
        ),
    ],
)
def test_plug_ins_refuse_to_start(name: str, value: str, text: str):
    with pytest.raises(SettingsError) as raised:
        with_confluents_names({name: value})
    assert str(raised.value) == f"{name}: {text}"


def test_networks_of_the_settings():
    settings = SignInSettings.from_properties({"magicbyte.trusted.proxies": "10.0.0.0/8, ::1"})
    assert settings.trusted_proxies == (ip_network("10.0.0.0/8"), ip_network("::1"))
    assert timedelta(seconds=settings.cache_seconds) == timedelta(minutes=5)
