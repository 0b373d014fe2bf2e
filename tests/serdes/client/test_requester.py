"""The registry played by hand: a flow's requests are looked at, and answered or failed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest

from serdes.client.auth import Basic, Bearer, ClientCredentials, Target
from serdes.client.flow import Answer, Flow, Pause, Send, TransportFailure
from serdes.client.requester import Requester, Retry, path, split_urls
from serdes.error import (
    ConfigError,
    IncompatibleSchema,
    NotAuthorized,
    OAuthTokenError,
    RegistryError,
    RegistryUnavailable,
    SchemaNotFound,
    SubjectNotFound,
)

DOWN = TransportFailure("ConnectError: refused")
V1 = "application/vnd.schemaregistry.v1+json"
URLS = ("http://a:1", "http://b:2")


def answer(status: int, body: Any) -> Answer:
    return Answer(status, orjson.dumps(body))


def play(
    flow: Flow[Any], *events: Answer | TransportFailure, waits: list[Pause] | None = None
) -> tuple[Any, list[Send], list[Pause]]:
    """The flow's result, and what it sent and waited for."""
    sent: list[Send] = []
    waits = [] if waits is None else waits
    rest = list(events)
    try:
        step = next(flow)
        while True:
            if isinstance(step, Pause):
                waits.append(step)
                step = flow.send(None)
                continue
            sent.append(step)
            event = rest.pop(0)
            step = flow.throw(event) if isinstance(event, TransportFailure) else flow.send(event)
    except StopIteration as stop:
        assert not rest
        return stop.value, sent, waits


def requester(urls: tuple[str, ...] = ("http://a:1",), auth: Any = None, limit: int = 2) -> Requester:
    return Requester(urls, auth, Retry(limit, wait=8, max_wait=10), {"X-Team": "blue"})


def test_one_request():
    result, sent, waits = play(
        requester().call(
            "GET", "/subjects", {"deleted": True, "offset": 0, "prefix": None, "x": False, "key": ["a", "b"]}
        ),
        answer(200, ["s"]),
    )
    assert result == ["s"]
    assert waits == []
    assert sent == [
        Send(
            "GET",
            "http://a:1/subjects?deleted=true&offset=0&key=a&key=b",
            {
                "Accept": f"{V1}, application/vnd.schemaregistry+json, application/json",
                "User-Agent": "magicbyte",
                "X-Team": "blue",
            },
        )
    ]


def test_a_body_has_the_media_type():
    _, sent, _ = play(requester().call("PUT", "/mode", None, {"mode": "READONLY"}), answer(200, {"mode": "READONLY"}))
    assert sent[0].headers["Content-Type"] == "application/vnd.schemaregistry.v1+json"
    assert sent[0].body == b'{"mode":"READONLY"}'


def test_a_path_segment_is_encoded_whole():
    assert path("subjects", ":.ctx:a/b c", "versions", 1) == "/subjects/%3A.ctx%3Aa%2Fb%20c/versions/1"


def test_an_answer_without_a_body():
    assert play(requester().call("DELETE", "/contexts/.a"), Answer(204, b""))[0] is None


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (answer(404, {"error_code": 40401, "message": "no s"}), SubjectNotFound(404, 40401, "no s")),
        (answer(404, {"error_code": 40403, "message": "no 1"}), SchemaNotFound(404, 40403, "no 1")),
        (answer(409, {"error_code": 40901, "message": "inc"}), IncompatibleSchema(409, 40901, "inc")),
        (answer(409, {"error_code": 409, "message": "inc"}), IncompatibleSchema(409, 409, "inc")),
        (answer(422, {"error_code": 42299, "message": "new"}), RegistryError(422, 42299, "new")),
        (answer(403, {"error_code": 40301, "message": "no"}), NotAuthorized(403, 40301, "no")),
        (Answer(401, b"who?"), NotAuthorized(401, -1, "who?")),
        (Answer(404, b""), RegistryError(404, -1, "no body")),
        (answer(404, ["x"]), RegistryError(404, -1, '["x"]')),
        (Answer(200, b"<html>"), RegistryError(200, 50005, "the answer to GET /x is not JSON: <html>")),
    ],
)
def test_refusals_are_not_tried_again(given: Answer, error: RegistryError):
    with pytest.raises(RegistryError) as raised:
        play(requester().call("GET", "/x"), given)
    assert raised.value == error
    assert type(raised.value) is type(error)


def test_the_other_url_serves_where_one_fails_and_is_kept():
    client = requester(URLS)
    result, sent, waits = play(client.call("GET", "/x"), DOWN, answer(200, 1))
    assert (result, waits) == (1, [])
    assert [send.url for send in sent] == ["http://a:1/x", "http://b:2/x"]
    _, sent, _ = play(client.call("GET", "/y"), answer(500, {"error_code": 50004, "message": "m"}), answer(200, 2))
    assert [send.url for send in sent] == ["http://b:2/y", "http://a:1/y"]


def test_rounds_are_bounded_and_waits_grow():
    waits: list[Pause] = []
    with pytest.raises(RegistryUnavailable) as raised:
        play(requester(URLS).call("GET", "/x"), *[DOWN] * 6, waits=waits)
    assert raised.value == RegistryUnavailable("GET /x", URLS, 6, "http://b:2: ConnectError: refused")
    assert str(raised.value) == (
        "schema registry unavailable: GET /x failed 6 times at http://a:1, http://b:2; "
        "last failure: http://b:2: ConnectError: refused"
    )
    assert len(waits) == 2
    assert waits[0].seconds <= 8
    assert waits[1].seconds <= 10


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (
            answer(500, {"error_code": 50004, "message": "Leader not known."}),
            RegistryError(500, 50004, "Leader not known."),
        ),
        (
            Answer(503, b"busy"),
            RegistryUnavailable("GET /x", ("http://a:1",), 3, "http://a:1: HTTP 503: busy"),
        ),
    ],
)
def test_the_last_of_several_failures_is_told(given: Answer, error: Exception):
    with pytest.raises(type(error)) as raised:
        play(requester().call("GET", "/x"), DOWN, given, given)
    assert raised.value == error


def test_basic():
    _, sent, _ = play(requester(auth=Basic("Aladdin", "open sesame")).call("GET", "/x"), answer(200, 1))
    assert sent[0].headers["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="


def test_bearer():
    auth = Bearer("t0", Target("lsrc-1", "pool-2"))
    _, sent, _ = play(requester(auth=auth).call("GET", "/x"), answer(200, 1))
    assert {
        "Authorization": "Bearer t0",
        "target-sr-cluster": "lsrc-1",
        "Confluent-Identity-Pool-Id": "pool-2",
    }.items() <= (sent[0].headers.items())


def test_a_token_of_a_function_is_asked_again_after_401():
    tokens = iter(["old", "new"])
    _, sent, _ = play(requester(auth=Bearer(lambda: next(tokens))).call("GET", "/x"), Answer(401, b""), answer(200, 1))
    assert [send.headers["Authorization"] for send in sent] == ["Bearer old", "Bearer new"]


def test_client_credentials():
    now = [0.0]
    auth = ClientCredentials("http://id/token", "me", "secret", "sr", clock=lambda: now[0])
    client = requester(auth=auth)
    token = answer(200, {"access_token": "t1", "expires_in": 100})
    _, sent, _ = play(client.call("GET", "/x"), token, answer(200, 1))
    assert sent[0].url == "http://id/token"
    assert sent[0].body == b"grant_type=client_credentials&scope=sr"
    assert sent[0].headers["Authorization"] == "Basic bWU6c2VjcmV0"
    assert sent[1].headers["Authorization"] == "Bearer t1"

    now[0] = 79.0
    _, sent, _ = play(client.call("GET", "/x"), answer(200, 1))
    assert len(sent) == 1

    now[0] = 80.0
    _, sent, _ = play(client.call("GET", "/x"), answer(200, {"access_token": "t2"}), answer(200, 1))
    assert sent[1].headers["Authorization"] == "Bearer t2"

    _, sent, _ = play(client.call("GET", "/x"), Answer(401, b""), answer(200, {"access_token": "t3"}), answer(200, 1))
    assert sent[2].headers["Authorization"] == "Bearer t3"
    assert "secret" not in repr(auth)
    assert "t3" not in repr(auth)


@pytest.mark.parametrize(
    ("events", "error"),
    [
        ([Answer(400, b"bad client")], OAuthTokenError("http://id/token", 400, "bad client")),
        ([answer(200, {})], OAuthTokenError("http://id/token", 200, "the answer has no access_token")),
        ([DOWN] * 3, OAuthTokenError("http://id/token", None, "ConnectError: refused")),
    ],
)
def test_no_token(events: list[Answer | TransportFailure], error: OAuthTokenError):
    with pytest.raises(OAuthTokenError) as raised:
        play(requester(auth=ClientCredentials("http://id/token", "me", "s")).call("GET", "/x"), *events)
    assert raised.value == error


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        ("http://a:1/", (("http://a:1",), None)),
        (" http://a:1 , https://b/sr/ ", (("http://a:1", "https://b/sr"), None)),
        (["http://u%40x:p%3A@a:1"], (("http://a:1",), Basic("u@x", "p:"))),
        ("mock://scope", (("mock://scope",), None)),
    ],
)
def test_urls(urls: Any, expected: Any):
    assert split_urls(urls) == expected


@pytest.mark.parametrize("urls", ["", "localhost:8081", "ftp://a", "http://", []])
def test_urls_that_are_none(urls: Any):
    with pytest.raises(ConfigError) as raised:
        split_urls(urls)
    assert raised.value.name == "url"


TOKEN = "x-magicbyte-offset"


def tokens(asking: Requester, *answered: str | None) -> list[str | None]:
    """The tokens that are sent with requests whose answers carry these."""
    sent: list[str | None] = []
    for token in answered:
        headers = {} if token is None else {TOKEN: token}
        _, [request], _ = play(asking.call("GET", "/subjects"), Answer(200, b"[]", headers))
        sent.append(request.headers.get(TOKEN))
    return sent


def test_the_newest_token_is_sent_back_with_every_request():
    answered = ["log:5", None, "log:7", "log:6", "log:10", "other:1", "log:2", None]
    sent = [None, "log:5", "log:5", "log:7", "log:7", "log:10", "other:1", "log:2"]
    assert tokens(requester(), *answered) == sent


def test_the_newest_sealed_token_is_the_one_with_the_latest_time():
    answered = ["~aa:5", "~bb:7", "~cc:6", "log:1", "~dd:2", None]
    assert tokens(requester(), *answered) == [None, "~aa:5", "~bb:7", "~bb:7", "log:1", "~dd:2"]


def test_a_token_that_is_none_is_not_kept():
    answered = ["log:-1", "", "log", "log:", ":5", "log:x", "log:5,log:6", "log:5\u00b2", None]
    assert tokens(requester(), *answered) == [None, *["log:-1"] * 8]


def test_a_token_is_kept_from_an_error_and_sent_to_the_other_nodes():
    asking = requester(URLS)
    refused = Answer(409, b'{"error_code":409,"message":"no"}', {TOKEN: "log:5"})
    with pytest.raises(IncompatibleSchema):
        play(asking.call("POST", "/subjects/s/versions", None, {}), refused)
    _, sent, _ = play(asking.call("GET", "/config"), DOWN, answer(200, {}))
    assert [(request.url, request.headers[TOKEN]) for request in sent] == [
        ("http://a:1/config", "log:5"),
        ("http://b:2/config", "log:5"),
    ]


def test_a_token_that_no_node_gets_to_is_told_of_once():
    asking = requester(URLS, limit=0)
    tokens(asking, "log:5")
    behind = answer(503, {"error_code": 503, "message": "This node has not read the log up to offset 5"})
    with pytest.raises(RegistryError, match="has not read the log up to offset 5"):
        play(asking.call("GET", "/config"), behind, behind)
    assert tokens(asking, None) == [None]


def test_the_token_is_not_sent_to_the_token_endpoint():
    asking = requester(auth=ClientCredentials("http://auth/token", "id", "secret"))
    granted = answer(200, {"access_token": "t", "expires_in": 0})
    _, sent, _ = play(asking.call("PUT", "/mode", None, {}), granted, Answer(200, b"{}", {TOKEN: "log:5"}))
    _, again, _ = play(asking.call("GET", "/mode"), granted, answer(200, {}))
    assert [request.headers.get(TOKEN) for request in (*sent, *again)] == [None, None, None, "log:5"]


def test_threads_that_share_a_client_keep_the_newest_token():
    asking = requester()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: tokens(asking, f"log:{number}"), range(2000)))
    assert tokens(asking, None) == ["log:1999"]
