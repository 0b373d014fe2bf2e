"""The properties that both servers have, and the headers that they put on answers."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest

from magicbyte.http.connection.hosts import is_loopback
from magicbyte.http.settings import HttpSettings
from magicbyte.kit.settings import SettingsError
from magicbyte.security.principal import client_network
from registry.settings import RegistrySettings
from rest_proxy.settings import RestProxySettings


def test_defaults() -> None:
    limits = HttpSettings.from_properties({}).limits
    assert (limits.head_bytes, limits.head_fields, limits.target_bytes) == (32768, 100, 8192)
    assert (limits.head_seconds, limits.idle_seconds, limits.body_bytes_per_second) == (10.0, 30.0, 1024)
    assert (limits.connections, limits.heads_per_address) == (10_000, 256)
    assert limits.pipelined_bytes == 67_108_864
    rules = HttpSettings.from_properties({}).access_control
    assert rules.methods == ("GET", "POST", "HEAD")
    assert rules.headers == ("x-requested-with", "content-type", "accept", "origin")


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("idle.timeout.ms", "0", "must be a whole number of milliseconds, at least 1, not '0'$"),
        ("idle.timeout.ms", "soon", "must be a whole number of milliseconds, at least 1, not 'soon'$"),
        ("max.request.header.size", "100", "must be a whole number of bytes, at least 1024, not '100'$"),
        ("magicbyte.pipelining.buffer.bytes", "-1", "must be a whole number of bytes, at least 0, not '-1'$"),
        ("server.connection.limit", "-1", "must be a whole number of at least 0, not '-1'$"),
        ("access.control.allow.origin", "page.test", '"page.test" is no origin; write it as https://app.example.com'),
        ("access.control.allow.origin", "http://page.test/", '"http://page.test/" is no origin'),
        ("access.control.allow.origin", "http://*.test", '"http://\\*.test" is a pattern; list each origin by itself'),
        ("response.http.headers.config", "X-A: b", 'Invalid format of header config "X-A: b"'),
        ("response.http.headers.config", "set X-A", 'Invalid format of header config "set X-A". Expected: '),
        ("response.http.headers.config", "put X-A: b", 'Invalid header config action: "put"'),
        ("response.http.headers.config", "set X A: b", "Invalid format of header config"),
        ("response.http.headers.config", "set Content-Length: 5", 'Invalid header name "Content-Length"'),
        ("response.http.headers.config", "setDate Expires: now", '"now" is no number of milliseconds'),
        ("response.http.headers.config", 'set X-A: b, "set X-B: c', "a quotation mark has no end"),
        ("response.http.headers.config", "set X-A: \x01", 'Invalid value of the header "X-A"'),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str, what: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name}: .*{what}"):
        HttpSettings.from_properties({name: value})


def test_the_settings_error_lists_all_wrong_values() -> None:
    properties = {
        "magicbyte.log.level": "warn",
        "kafkastore.timeout.ms": "soon",
        "magicbyte.ui.color": "red",
        "magicbyte.inter.instance.secret": "planted",
        "schema.compatibility.level": "BACKWARDS",
    }
    with pytest.raises(SettingsError) as raised:
        RegistrySettings.from_properties(properties)
    assert str(raised.value).splitlines() == [
        "kafkastore.timeout.ms: must be a whole number of milliseconds, at least 1, not 'soon'",
        "magicbyte.inter.instance.secret: must have at least 32 characters (was [hidden])",
        "magicbyte.log.level: must be debug or info or warning or error or critical, not 'warn'; did you mean warning?",
        "magicbyte.ui.color: not a color; write it as #ae231c (was 'red')",
        "schema.compatibility.level: must be NONE or BACKWARD or BACKWARD_TRANSITIVE or FORWARD or FORWARD_TRANSITIVE"
        " or FULL or FULL_TRANSITIVE, not 'BACKWARDS'; did you mean BACKWARD?",
    ]


_LISTENER = "write http://HOST:PORT or https://HOST:PORT"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("leader.eligibility", "ture", "must be true or false, not 'ture'; did you mean true?"),
        ("magicbyte.authorization", "acls", "must be acl or none, not 'acls'; did you mean acl?"),
        ("magicbyte.worker", "x", "must be a whole number, not 'x'"),
        ("magicbyte.workers", "0", "must be a whole number of at least 1, not '0'"),
        ("magicbyte.ui.events.max.per.client", "0", "must be a whole number from 1 to 512, not '0'"),
        ("magicbyte.authentication.cache.seconds", "-1", "must be a number of seconds, at least 0, not '-1'"),
        (
            "magicbyte.authentication.failure.ms",
            "a",
            "must be a whole number of milliseconds, from 0 to 10000, not 'a'",
        ),
        ("magicbyte.incompatible.error.code", "x", "must be 409 or 40901, not 'x'"),
        ("magicbyte.ui.name", "x" * 41, f"must be a text of at most 40 characters, not '{'x' * 41}'"),
        ("oauthbearer.sub.claim.name", "", "must not be empty"),
        ("super.users", "ann", "ann must be User:NAME or Group:NAME; write a semicolon between two"),
        ("magicbyte.ui.color", "a", "not a color; write it as #ae231c (was 'a')"),
        ("listeners", "htps://:8081", "'htps://:8081' has an unknown scheme; use http:// or https://"),
        ("listeners", "http://a", f"'http://a' has no port; {_LISTENER}"),
        ("listeners", "http://a:1/b", f"'http://a:1/b' has a path, which a listener cannot have; {_LISTENER}"),
        (
            "listeners",
            "a:1,a:b",
            f"'a:b' is no address: Port could not be cast to integer value as 'b'; {_LISTENER}",
        ),
        ("listeners", "a:1,http://a:1", "a:1 is named twice; give each listener its own host or port"),
    ],
)
def test_each_problem_tells_what_is_expected_and_the_value_once(name: str, value: str, problem: str) -> None:
    with pytest.raises(SettingsError) as raised:
        RegistrySettings.from_properties({name: value})
    assert str(raised.value) == f"{name}: {problem}"


def test_the_log_explains_settings_without_effect(caplog: pytest.LogCaptureFixture) -> None:
    HttpSettings.from_properties({"access.control.skip.options": "true", "csrf.prevention.enable": "true"})
    assert sorted(caplog.messages) == [
        "property access.control.skip.options has no effect: preflight requests need no sign-in, as no others do",
        "property csrf.prevention.enable has no effect: writes of foreign pages are always refused, without tokens",
    ]


def test_headers_of_every_answer(start: Any, connect: Any) -> None:
    server = start(
        **{
            "response.http.headers.config": 'add Cache-Control: no-cache, "add X-Many: a, \\"b\\""'
            ", setDate Expires: 60000, set X-Frame-Options: SAMEORIGIN, set X-Frame-Options: DENY"
            ", set Content-Type: text/html, add X-Twice: 1, add X-Twice: 2"
            ", set Content-Security-Policy: default-src https:",
            "nosniff.prevention.enable": "true",
            "magicbyte.request.head.timeout.ms": "2000",
        }
    )
    half = connect(server)
    half.send(b"GET / HTTP/1.1\r\nX: ")
    answers = [
        httpx.get(server.url),
        httpx.get(f"{server.url}/none"),
        httpx.get(server.url, headers={"host": "page.test"}),
        httpx.post(server.url, headers={"origin": "http://page.test"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 421, 403]
    for answer in answers:
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["x-many"] == 'a, "b"'
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers.get_list("x-twice") == ["1", "2"]
        assert answer.headers["content-security-policy"] == "default-src https:"
        assert answer.headers["x-content-type-options"] == "nosniff"
        expires = parsedate_to_datetime(answer.headers["expires"]).timestamp()
        assert 50 < expires - time.time() < 70
        # The answer's own type stays.
        assert "json" in answer.headers["content-type"]
        assert len(answer.headers.get_list("content-type")) == 1
    assert b"\r\nx-frame-options: DENY\r\n" in half.rest()


def test_no_headers_but_an_answers_own_and_those_for_browsers(server: Any) -> None:
    names = set(httpx.get(server.url).headers)
    for_browsers = {"x-content-type-options", "referrer-policy", "content-security-policy"}
    assert names - {"x-request-id"} == {"content-length", "content-type", *for_browsers}


def test_addresses() -> None:
    assert client_network("10.0.0.1") == "10.0.0.1"
    assert client_network("::ffff:10.0.0.1") == "10.0.0.1"
    assert client_network("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::"
    assert client_network("fe80::1%eth0") == "fe80::"
    assert [is_loopback(address) for address in ("127.0.0.1", "::1", "0.0.0.0", "10.0.0.1", "/a/path")] == [
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("dos.filter.enabled", "true", "there is no DoS filter"),
        ("proxy.protocol.enabled", "TRUE", "the PROXY protocol is not understood"),
        ("hsts.header.enable", "yes", "write it as response.http.headers.config=set Strict-Transport-Security"),
        ("resource.extension.class", "a.B", "plug-ins are not run here"),
        ("listener.protocol.map", "a:http", "listeners have no names"),
    ],
)
def test_the_server_refuses_unsupported_features_of_the_reference(name: str, value: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name}: {text}"):
        HttpSettings.from_properties({name: value})
    HttpSettings.from_properties({name: "false"})


def test_the_remedy_for_hsts_is_a_header() -> None:
    value = "set Strict-Transport-Security: max-age=31536000"
    headers = HttpSettings.from_properties({"response.http.headers.config": value}).all_response_headers
    assert headers.missing_from([]) == [(b"strict-transport-security", b"max-age=31536000")]


def test_the_proxys_clients_get_no_property_without_effect() -> None:
    given = {"bootstrap.servers": "b:1", "producer.threads": "5", "consumer.iterator.timeout.ms": "1"}
    settings = RestProxySettings.from_properties(given | {"client.timeout.ms": "5", "client.client.id": "mine"})
    configs = (settings.producer_config("all"), settings.consumer_config(), settings.admin_config())
    assert [config["client.id"] for config in configs] == ["mine"] * 3
    assert not [config for config in configs if config.keys() & {"threads", "iterator.timeout.ms", "timeout.ms"}]


def test_the_settings_error_lists_all_refusals() -> None:
    given = {"proxy.protocol.enabled": "true", "dos.filter.enabled": "true"}
    with pytest.raises(SettingsError) as raised:
        HttpSettings.from_properties(given)
    assert [line.partition(":")[0] for line in str(raised.value).splitlines()] == [*sorted(given)]
