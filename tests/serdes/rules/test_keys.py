"""The key of a record is noted for actions on its value, without a cost before one needs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from serdes import AvroDeserializer, AvroSerializer, SerializationContext
from serdes.client.clients import RegistryClient
from serdes.rules import keys
from serdes.rules.confluent import RuleAction, RuleContext, RuleRegistry
from tests.serdes.rules.conftest import ADA, PERSON, Register

KEY, VALUE = (SerializationContext("people", field, []) for field in ("key", "value"))
OTHER = SerializationContext("other", "key", [])
FAILING = {"kind": "CONDITION", "mode": "WRITEREAD", "type": "CEL", "expr": "false", "onFailure": "KEEP"}


class Keep(RuleAction):
    """Keeps the keys."""

    def __init__(self) -> None:
        self.keys: list[Any] = []

    def type(self) -> str:
        return "KEEP"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:  # noqa: ARG002  # as RuleAction
        self.keys.append(ctx.original_key)


@pytest.fixture
def keep(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keep]:
    """An action that is registered, in a process in which nobody wanted keys."""
    monkeypatch.setattr(keys, "_WISH", keys._Wish())
    keep = Keep()
    RuleRegistry.register_rule_action(keep)
    yield keep
    keys.taken(None)


def test_the_key_of_the_same_record_is_known(client: RegistryClient, register: Register, keep: Keep):
    register(FAILING)
    write_key, write = AvroSerializer(client, '"string"'), AvroSerializer(client, PERSON)
    for key in ("a", "b"):
        write_key(key, KEY)
    assert list(write_key._ready["people"]) == ["key"]
    for key in ("c", "d", "e"):
        write_key(key, KEY)
        write(ADA, VALUE)
    # The first record's key took the fast path, because nobody had asked for keys: it is not known.
    assert keep.keys == [None, "d", "e"]
    assert not write_key._ready["people"]
    write(ADA, VALUE)
    write_key("f", OTHER)
    write(ADA, VALUE)
    assert keep.keys[3:] == [None, None]


def test_on_reading_the_key_is_its_bytes(client: RegistryClient, register: Register, keep: Keep):
    register(FAILING)
    off = {"execution.environment": "NONE"}
    key = AvroSerializer(client, '"string"')("a", KEY)
    value = AvroSerializer(client, PERSON, conf=off)(ADA, VALUE)
    read_key, read = AvroDeserializer(client), AvroDeserializer(client)
    for _ in range(3):
        read_key(key, KEY)
        read(value, VALUE)
    assert keep.keys == [None, key, key]


def test_a_topic_of_dead_letters_asks_for_keys_at_once(client: RegistryClient, register: Register, keep: Keep):
    register(FAILING)
    write_key = AvroSerializer(client, '"string"')
    write = AvroSerializer(client, PERSON, rule_conf={"dlq.topic": "letters"})
    write_key("a", KEY)
    write(ADA, VALUE)
    assert keep.keys == ["a"]
