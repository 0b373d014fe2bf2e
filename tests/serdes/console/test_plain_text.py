"""`magicbyte produce --value-format string`: records of plain text, without a registry."""

from __future__ import annotations

from typing import Any

import pytest

NO_REGISTRY = ("--schema-registry-url", "http://127.0.0.1:1", "--property", "max.retries=0")


def test_each_line_is_a_value_in_utf_8(tools: Any, topic: str, stored: Any):
    lines = 'plain\n{"a": 1}\n\nbé \tx\r\nnull\nlast'
    sent = tools.magicbyte("produce", topic, "--value-format", "string", *NO_REGISTRY, lines=lines)
    assert (sent.code, sent.out, sent.err) == (0, "", "")
    assert [(message.key(), message.value()) for message in stored(topic)] == [
        (None, b"plain"),
        (None, b'{"a": 1}'),
        (None, b""),
        (None, "bé \tx".encode()),
        (None, b"null"),
        (None, b"last"),
    ]
    shown = tools.magicbyte(
        "consume", topic, "--until-end", "--value-format", "string", "--output", "values", *NO_REGISTRY
    )
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == '"plain"\n"{\\"a\\": 1}"\n""\n"bé \\tx"\n"null"\n"last"\n'


def test_records_have_text_keys_headers_and_tombstones(tools: Any, topic: str, stored: Any):
    lines = (
        '{"key": "k1", "value": "text", "headers": [{"name": "h", "value": "1"}]}\n'
        '{"key": "k1", "value": null}\n'
        '{"key": {"id": 7}, "value": {"b": 1, "a": [1.50]}}\n'
        '{"value": ""}\n'
    )
    records = ("--value-format", "string", "--input", "records")
    sent = tools.magicbyte("produce", topic, *records, *NO_REGISTRY, lines=lines)
    assert (sent.code, sent.err) == (0, "")
    first, *others = stored(topic)
    assert (first.key(), first.value(), first.headers()) == (b"k1", b"text", [("h", b"1")])
    assert [(message.key(), message.value()) for message in others] == [
        (b"k1", None),
        (b'{"id": 7}', b'{"b": 1, "a": [1.50]}'),
        (None, b""),
    ]
    shown = tools.magicbyte("consume", topic, "--until-end", "--value-format", "string", *NO_REGISTRY)
    copy = f"{topic}-copy"
    assert tools.magicbyte("produce", copy, *records, *NO_REGISTRY, lines=shown.out).code == 0
    assert [message.value() for message in stored(copy)] == [message.value() for message in stored(topic)]


def test_keys_may_have_a_schema_beside_values_of_text(tools: Any, topic: str, stored: Any):
    key = ("--input", "records", "--key-schema", '"string"')
    line = '{"key": "k", "value": "v"}\n'
    assert tools.magicbyte("produce", topic, "--value-format", "string", *key, lines=line).code == 0
    (message,) = stored(topic)
    assert (message.key()[:1], message.key()[5:], message.value()) == (b"\0", b"\x02k", b"v")
    refused = tools.magicbyte("produce", topic, "--value-format", "string", *key, *NO_REGISTRY, lines=line)
    assert refused.code == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("--value-schema", '"string"'),
        ("--value-schema-id", "1"),
        ("--value-schema-version", "1"),
        ("--value-framing", "header"),
        ("--input", "a.avro"),
    ],
)
def test_text_excludes_a_schema(tools: Any, topic: str, arguments: tuple[str, ...]):
    done = tools.magicbyte("produce", topic, "--value-format", "string", *arguments)
    assert (done.code, done.out) == (2, "")
    assert "--value-format string sends text: it excludes" in done.err


def test_a_line_that_is_not_utf_8_is_bad(tools: Any, topic: str):
    where = ("--bootstrap-server", tools.kafka, "--value-format", "string", "--dry-run")
    done = tools.run("magicbyte produce", topic, *where, lines=b"a\n\xff\n")
    assert done.code == 1
    assert "line 2, column 1: it is no UTF-8 text" in done.err
