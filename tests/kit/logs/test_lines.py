"""Log lines: their fields, the request that caused them, and the secrets that they do not have."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest

from magicbyte.kit.logs.formats import JsonFormatter, TextFormatter
from magicbyte.kit.logs.redaction import shown_field, without_secrets
from magicbyte.kit.logs.request_facts import CURRENT, RequestFacts

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01".encode()


def record(message: str = "x", *arguments: object, name: str = "magicbyte.test", **fields: Any) -> logging.LogRecord:
    made = logging.LogRecord(name, logging.WARNING, "", 0, message, arguments, None)
    vars(made).update(fields)
    return made


def line(made: logging.LogRecord, node: str = "") -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(JsonFormatter(node).format(made))
    assert fields.pop("ts").endswith("Z")
    return fields


def test_a_line_has_its_fields_in_order() -> None:
    text = JsonFormatter("node-1").format(record("%d of %d", 1, 2, event="counted", offset=7))
    assert list(json.loads(text)) == ["ts", "level", "logger", "event", "msg", "node", "offset"]
    assert line(record("%d of %d", 1, 2, event="counted", offset=7), "node-1") == {
        "level": "WARNING",
        "logger": "magicbyte.test",
        "event": "counted",
        "msg": "1 of 2",
        "node": "node-1",
        "offset": 7,
    }


def test_a_line_of_a_request_has_its_id_trace_and_sender() -> None:
    facts = RequestFacts([(b"x-request-id", b"mine"), (b"traceparent", PARENT)], "User:alice")
    token = CURRENT.set(facts)
    try:
        fields = line(record(event="e"))
        text = TextFormatter().format(record())
    finally:
        CURRENT.reset(token)
    assert (fields["request_id"], fields["principal"], fields["trace_id"]) == ("mine", "User:alice", TRACE)
    assert text.endswith("WARNING magicbyte.test: x [mine]")
    assert not {"request_id", "principal", "trace_id"} & line(record(event="e")).keys()


def test_a_message_is_one_line_without_commands_for_a_terminal() -> None:
    forged = record("GET %s %d", "/a\n12:00:00 INFO forged\r\x1b[31m\x85\u2028", 421)
    assert (
        TextFormatter()
        .format(forged)
        .endswith(" magicbyte.test: GET /a\\n12:00:00 INFO forged\\r\\x1b[31m\\x85\\u2028 421")
    )


@pytest.mark.parametrize("name", [b"bad id\t", b"", b"x" * 129])
def test_an_id_that_could_forge_a_line_is_replaced(name: bytes) -> None:
    facts = RequestFacts([(b"x-request-id", name)], "User:a")
    assert len(facts.request_id) == 32
    assert facts.request_id == facts.request_id


@pytest.mark.parametrize(
    ("logger", "event"),
    [
        ("uvicorn.error", "server_message"),
        ("asyncio", "event_loop_message"),
        ("magicbyte.librdkafka", "kafka_client_message"),
        ("aiokafka.conn", "kafka_client_message"),
        ("opentelemetry.exporter.otlp", "tracing_message"),
        ("somebody.else", "library_message"),
    ],
)
def test_a_line_of_a_library_has_an_event(logger: str, event: str) -> None:
    assert line(record(name=logger))["event"] == event


def test_a_line_shows_the_count_of_its_repeats() -> None:
    fields = line(record("lost %s", "it", event="e", repeats=3))
    assert (fields["msg"], fields["repeats"]) == ("lost it (and 3 more like it since the last such line)", 3)


SECRETS = [
    ("http://u:pw@h/x", "http://[hidden]@h/x"),
    ("to https://token@h:1 and http://a:b@c", "to https://[hidden]@h:1 and http://[hidden]@c"),
    ("http://h/x?access_token=abc&a=b", "http://h/x?access_token=[hidden]&a=b"),
    ("Authorization: Basic dTpw", "Authorization: Basic [hidden]"),
    ("authorization=abc.def", "authorization=[hidden]"),
    ("(b'authorization', b'Bearer abcDEF123')", "(b'authorization', b'Bearer [hidden]')"),
    ("{'Proxy-Authorization': 'Digest x=1'}", "{'Proxy-Authorization': 'Digest [hidden]'}"),
    ("sent Bearer eyJhbGciOi.J9.x_y-z", "sent Bearer [hidden]"),
    ("sent Basic YWxpY2U6cHc=", "sent Basic [hidden]"),
    ("set magicbyte.authorization=acl", "set magicbyte.authorization=acl"),
    ("a basic question of bearer tokens", "a basic question of bearer tokens"),
    ("GET /subjects/a/versions 200", "GET /subjects/a/versions 200"),
    ("http://127.0.0.1:8081 did not answer", "http://127.0.0.1:8081 did not answer"),
]


@pytest.mark.parametrize(("text", "shown"), SECRETS, ids=[str(number) for number in range(len(SECRETS))])
def test_secrets_are_hidden_in_messages_fields_and_tracebacks(text: str, shown: str) -> None:
    assert without_secrets(text) == shown
    try:
        raise OSError(text)  # noqa: TRY301
    except OSError:
        failed = record("%s", text, event="e", error=text)
        failed.exc_info = sys.exc_info()
    fields = line(failed)
    assert (fields["msg"], fields["error"]) == (shown, shown)
    assert f"OSError: {shown}" in fields["exception"]
    written = TextFormatter().format(failed)
    assert f"OSError: {shown}" in written
    assert f"magicbyte.test: {shown}" in written


@pytest.mark.parametrize(
    ("name", "shown"),
    [("password", "[hidden]"), ("ssl.key.password", "[hidden]"), ("jaas", "[hidden]"), ("error", "v"), ("path", "v")],
)
def test_a_field_is_hidden_by_its_name(name: str, shown: str) -> None:
    assert shown_field(name, "v") == shown
    assert line(record(event="e", **{name: "v"}))[name] == shown
