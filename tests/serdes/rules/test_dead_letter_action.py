"""The action DLQ: what is sent, and what a message that could not be sent says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import Consumer, TopicPartition

from compat.schema import SchemaText
from serdes import MessageField, SerializationContext
from serdes.avro import AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.client.asgi import AsgiTransport
from serdes.client.clients import AsyncRegistryClient, RegistryClient
from serdes.json_schema import JSONSerializer
from serdes.letters.headers import VALUE_CONVERTER, DeadLetter, original_headers, read_letter
from serdes.protobuf import ProtobufSerializer
from serdes.rules import keys
from serdes.rules.dead_letters.record import scalar_bytes
from serdes.rules.error import RuleConditionError, RuleFailed

SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "a", "type": "int"},
            {"name": "s", "type": "string", "confluent:tags": ["PII"], "default": "secret"},
            {"name": "b", "type": ["null", "bytes"], "default": None, "confluent:tags": ["PII"]},
            {"name": "o", "type": "string", "default": "open"},
            {"name": "t", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
        ],
    }
)
LATEST = {"auto.register.schemas": False, "use.latest.version": True}
FAILURE = "rule 'pos' (CEL, WRITE) of subject t-value version 1 failed: message.a > 0"


def rule(**parts: Any) -> dict[str, Any]:
    own = {"name": "pos", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.a > 0"}
    return {**own, "onFailure": "DLQ", **parts}


def encryption(**parts: Any) -> dict[str, Any]:
    params = {"encrypt.kek.name": "k", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "x"}
    return {"name": "enc", "kind": "TRANSFORM", "mode": "WRITE", "type": "ENCRYPT", "params": params, **parts}


class Letters:
    """A producer of the application's: a function that keeps the records."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    def __call__(self, *record: Any) -> None:
        self.sent.append(record)


@pytest.fixture
def letters() -> Letters:
    return Letters()


@pytest.fixture(autouse=True)
def _own_keys() -> Iterator[None]:
    """Tests of this file do not see the keys of others."""
    token = keys._STATE.set(keys._State())  # no caller needs to forget a thread's keys
    yield
    keys._STATE.reset(token)


def register(
    client: RegistryClient, *rules: dict[str, Any], schema: str = SCHEMA, kind: str = "AVRO", **lists: Any
) -> None:
    client.register("t-value", SchemaText(kind, schema), rule_set={"domainRules": list(rules), **lists})


def fails(serialize: Callable[..., Any], value: Any, headers: Any = None) -> RuleFailed:
    with pytest.raises(RuleFailed) as raised:
        serialize(value, SerializationContext("t", "value", headers))
    return raised.value


def test_the_record_and_its_headers(client: RegistryClient, letters: Letters) -> None:
    register(client, rule())
    serialize = AvroSerializer(client, conf={**LATEST, "dlq.topic": "dead"}, rule_conf={"producer": letters})
    headers = [("own", b"1"), ("none", None), ("text", "\u20ac"), ("__rule.name", b"earlier")]
    value = {"a": -1, "s": "x", "b": b"\x00\xff", "t": datetime(2020, 1, 1, tzinfo=UTC)}
    error = fails(serialize, value, headers)
    assert str(error) == FAILURE
    assert isinstance(error.__cause__, RuleConditionError)
    assert letters.sent == [
        (
            "dead",
            None,
            '{"a":-1,"s":"x","b":"\\u0000\u00ff","t":"2020-01-01T00:00:00.000Z"}'.encode(),
            [
                ("own", b"1"),
                ("none", None),
                ("text", "\u20ac".encode()),
                ("__rule.name", b"earlier"),
                ("__rule.name", b"pos"),
                ("__rule.mode", b"WRITE"),
                ("__rule.subject", b"t-value"),
                ("__rule.topic", b"t"),
                ("__rule.exception", FAILURE.encode()),
            ],
        )
    ]
    assert serialize({**value, "a": 1}, SerializationContext("t", "value"))
    assert len(letters.sent) == 1


def test_reading_sends_the_bytes_as_they_came(client: RegistryClient, letters: Letters) -> None:
    register(client, rule(mode="READ"))
    frame = AvroSerializer(client, conf=LATEST)({"a": -1}, SerializationContext("t", "value"))
    deserialize = AvroDeserializer(client, conf={"dlq.topic": "dead"}, rule_conf={"producer": letters})
    error = fails(deserialize, frame, {"h": "v"})
    [(topic, key, value, headers)] = letters.sent
    assert (topic, key, value) == ("dead", None, frame)
    assert headers[:2] == [("h", b"v"), ("__rule.name", b"pos")]
    assert headers[-1] == ("__rule.exception", str(error).encode())
    # The replayed record passes the rule that the letter names.
    assert deserialize(frame, SerializationContext("t", "value", headers)) == {
        "a": -1, "s": "secret", "b": None, "o": "open", "t": None,
    }  # fmt: skip


def test_a_success_may_be_sent_as_well(client: RegistryClient, letters: Letters) -> None:
    register(client, rule(onSuccess="DLQ"))
    serialize = AvroSerializer(client, conf={**LATEST, "dlq.topic": "dead"}, rule_conf={"producer": letters})
    error = fails(serialize, {"a": 1})
    assert "the rule's action after a success is DLQ" in str(error)
    assert [name for name, _ in letters.sent[0][3]] == ["__rule.name", "__rule.mode", "__rule.subject", "__rule.topic"]


@pytest.mark.parametrize(
    ("lists", "conf", "value"),
    [
        ({}, {}, {"a": -1, "s": "x", "b": "y", "o": "z"}),
        ({"rules": [encryption(tags=["PII"])]}, {}, {"a": -1, "s": "<REDACTED>", "b": "<REDACTED>", "o": "z"}),
        ({"rules": [encryption(tags=["NONE"])]}, {}, {"a": -1, "s": "x", "b": "y", "o": "z"}),
        (
            {"rules": [encryption(type="CEL_FIELD", expr="value")]},
            {"dlq.redact.rule.types": "CEL_FIELD"},
            {"a": -1, "s": "<REDACTED>", "b": "<REDACTED>", "o": "<REDACTED>"},
        ),
        (
            {"encodingRules": [encryption(type="ENCRYPT_PAYLOAD")]},
            {},
            {"a": -1, "s": "<REDACTED>", "b": "<REDACTED>", "o": "<REDACTED>"},
        ),
        (
            {"rules": [encryption(tags=["PII"])]},
            {"dlq.redact.rule.types": "OTHER"},
            {"a": -1, "s": "x", "b": "y", "o": "z"},
        ),
        (
            {"rules": [{**encryption(tags=["PII"]), "type": "CEL_FIELD", "expr": "value"}]},
            {"dlq.redact.rule.types": "ENCRYPT, cel_field"},
            {"a": -1, "s": "<REDACTED>", "b": "<REDACTED>", "o": "z"},
        ),
    ],
)
def test_the_letter_redacts_fields_of_encryption_rules(
    client: RegistryClient, letters: Letters, lists: dict[str, Any], conf: dict[str, Any], value: dict[str, Any]
) -> None:
    others = {name: rules for name, rules in lists.items() if name != "rules"}
    register(client, rule(), *lists.get("rules", ()), **others)
    serialize = AvroSerializer(client, conf={**LATEST, "dlq.topic": "dead", **conf}, rule_conf={"producer": letters})
    datum = {"a": -1, "s": "x", "b": b"y", "o": "z"}
    fails(serialize, datum)
    assert json.loads(letters.sent[0][2]) == value
    assert datum == {"a": -1, "s": "x", "b": b"y", "o": "z"}


def test_a_letter_hides_the_whole_value_if_redaction_fails(client: RegistryClient, letters: Letters) -> None:
    register(client, rule(expr="false"), encryption(tags=["PII"]))
    serialize = AvroSerializer(client, conf={**LATEST, "dlq.topic": "dead"}, rule_conf={"producer": letters})
    fails(serialize, {"a": -1, "s": object(), "b": ("no branch", "hunter2")})
    assert letters.sent[0][2] == b"<REDACTED>"


def test_json_and_protobuf(
    client: RegistryClient, letters: Letters, protobuf_classes: Callable[[dict[str, str]], Callable[[str], Any]]
) -> None:
    schema = (
        '{"title": "R", "type": "object", "properties": {"a": {"type": "integer"}, "s": {"confluent:tags": ["PII"]}}}'
    )
    register(client, rule(), encryption(tags=["PII"]), schema=schema, kind="JSON")
    conf = {**LATEST, "dlq.topic": "dead"}
    fails(JSONSerializer(None, client, conf=conf, rule_conf={"producer": letters}), {"a": -1, "s": "x"})
    assert letters.sent.pop()[2] == b'{"a":-1,"s":"<REDACTED>"}'
    client.delete_subject("t-value")
    text = """
        syntax = "proto3"; package p; import "confluent/meta.proto";
        message R { int32 a = 1; string given_name = 2 [(confluent.field_meta).tags = "PII"]; string o = 3; }
    """
    plain = text.replace('import "confluent/meta.proto";', "").replace('[(confluent.field_meta).tags = "PII"]', "")
    register(client, rule(), encryption(tags=["PII"]), schema=text, kind="PROTOBUF")
    client.clear_latest_caches()
    message = protobuf_classes({"r.proto": plain})("p.R")
    own = {**conf, "latest.compatibility.strict": False}
    fails(
        ProtobufSerializer(message, client, conf=own, rule_conf={"producer": letters}),
        message(a=-1, given_name="x", o="z"),
    )
    assert json.loads(letters.sent.pop()[2]) == {"a": -1, "givenName": "<REDACTED>", "o": "z"}


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (b"\x00\xff", b"\x00\xff"), (bytearray(b"x"), b"x"), ("\u20ac", "\u20ac".encode()), (5, b"\0\0\0\0\0\0\0\5"),
        (-1, b"\xff" * 8), (2**63, None), (1.5, b"\x3f\xf8\0\0\0\0\0\0"), (True, None), ({}, None),
        (UUID(int=5), b"00000000-0000-0000-0000-000000000005"), ("\ud800", b"\\ud800"),
    ],
)  # fmt: skip
def test_values_without_parts_have_bytes_of_their_own(value: Any, data: bytes | None) -> None:
    assert scalar_bytes(value) == data


@pytest.mark.parametrize(
    ("params", "conf", "topic"),
    [
        ({}, {"dlq.topic": "of-settings"}, "of-settings"),
        ({"params": {"dlq.topic": "of-rule"}}, {"dlq.topic": "of-settings"}, "of-rule"),
        ({}, {"rule.executors._DLQ_.param.dlq.topic": "of-type", "dlq.topic": "of-settings"}, "of-type"),
        ({}, {"rule.actions.pos.param.dlq.topic": "of-name", "dlq.topic": "of-settings"}, "of-name"),
    ],
)
def test_the_topic(client: RegistryClient, letters: Letters, params: Any, conf: Any, topic: str) -> None:
    register(client, rule(**params))
    fails(AvroSerializer(client, conf={**LATEST, **conf}, rule_conf={"producer": letters}), {"a": -1})
    assert letters.sent[0][0] == topic


NOBODY = {"bootstrap.servers": "127.0.0.1:1"}


def refuse(*_: Any) -> None:
    raise OSError("the disk is full")


@pytest.mark.parametrize(
    ("conf", "rule_conf", "problem"),
    [
        ({}, {"producer": refuse}, "Could not send to DLQ as no topic is configured; set dlq.topic in"),
        ({"dlq.topic": "dead"}, {}, "dead letters need a broker; set bootstrap.servers or producer in the settings"),
        ({"dlq.topic": "dead"}, {"producer": 5}, "producer must be a confluent_kafka.Producer, or a function"),
        (
            {"dlq.topic": "dead"},
            {"bootstrap.servers": "127.0.0.1:1", "dlq.timeout.ms": "soon"},
            "dlq.timeout.ms must be a whole",
        ),
        (
            {"dlq.topic": "dead"},
            {"bootstrap.servers": "127.0.0.1:1", "acks": "some"},
            "the producer of dead letters cannot start",
        ),
        (
            {"dlq.topic": "dead"},
            {"producer": refuse},
            "message.a > 0; its dead letter could not be sent to topic dead: OSError: the disk is full",
        ),
        (
            {"dlq.topic": "dead", **NOBODY, "dlq.timeout.ms": 100},
            {},
            "message.a > 0; its dead letter could not be sent to topic dead: Local: Message timed out "
            "(dlq.timeout.ms is 100)",
        ),
    ],
)
def test_the_error_mentions_an_unsent_letter(
    client: RegistryClient, conf: dict[str, Any], rule_conf: dict[str, Any], problem: str
) -> None:
    register(client, rule())
    error = fails(AvroSerializer(client, conf={**LATEST, **conf}, rule_conf=rule_conf), {"a": -1})
    assert problem in str(error)
    assert "message.a > 0" in str(error)


@pytest.fixture
def with_key(client: RegistryClient, letters: Letters) -> Callable[..., list[bytes | None]]:
    """Serializes keys and failing values in the order of some steps; returns the keys of the letters."""
    register(client, rule())
    conf = {**LATEST, "dlq.topic": "dead"}
    value = AvroSerializer(client, conf=conf, rule_conf={"producer": letters})
    key = AvroSerializer(client, '"string"')

    def run(*steps: str, contexts: list[SerializationContext] | None = None) -> list[bytes | None]:
        for step in steps:
            kind, _, name = step.partition(":")
            context = SerializationContext("t", kind) if contexts is None else contexts[int(name)]
            context.field = MessageField(kind)
            if kind == "key":
                key(name, context)
            else:
                with pytest.raises(RuleFailed):
                    value({"a": -1}, context)
        return [letter[1] for letter in letters.sent]

    return run


@pytest.mark.parametrize(
    ("steps", "sent"),
    [
        (["value:", "value:"], [None, None]),
        (["key:0", "value:", "key:1", "value:"], [None, b"1"]),
        (["key:0", "value:", "value:", "key:2", "value:"], [None, None, None]),
        # The value comes first, as in confluent-kafka's consumers: the key is that of the record before.
        (["value:", "key:0", "value:", "key:1", "value:"], [None, None, None]),
    ],
)
def test_a_key_that_comes_just_before_its_value(with_key: Any, steps: list[str], sent: list[bytes | None]) -> None:
    keys_sent = with_key(*steps)
    assert keys_sent[1:] == sent[1:]


def test_a_key_with_the_same_context(with_key: Any) -> None:
    contexts = [SerializationContext("t", "key") for _ in range(3)]
    steps = ["value:0", "key:1", "value:1", "value:0", "key:2", "value:2"]
    assert with_key(*steps, contexts=contexts) == [None, b"1", None, b"2"]


def test_an_asynchronous_serializer_waits_elsewhere(transport: AsgiTransport, letters: Letters) -> None:
    async def run() -> str:
        async with AsyncRegistryClient("http://registry", transport=transport) as client:
            await client.register("t-value", SchemaText("AVRO", SCHEMA), rule_set={"domainRules": [rule()]})
            conf = {**LATEST, "dlq.topic": "dead"}
            serialize = AsyncAvroSerializer(client, conf=conf, rule_conf={"producer": letters})
            with pytest.raises(RuleFailed) as raised:
                await serialize({"a": -1}, SerializationContext("t", "value"))
            return str(raised.value)

    assert asyncio.run(run()) == FAILURE
    assert len(letters.sent) == 1


def test_a_real_broker_has_the_letter(client: RegistryClient, kafka: str) -> None:
    register(client, rule())
    conf = {**LATEST, "dlq.topic": "dead-of-rules", "bootstrap.servers": kafka}
    serialize = AvroSerializer(client, conf=conf)
    assert str(fails(serialize, {"a": -1}, [("h", b"1")])) == FAILURE
    fails(AvroSerializer(client, conf=conf), {"a": -2})
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "dead-of-rules"})
    try:
        consumer.assign([TopicPartition("dead-of-rules", 0, 0)])
        records = [consumer.poll(30) for _ in range(2)]
    finally:
        consumer.close()
    assert [record.value() for record in records] == [b'{"a":-1}', b'{"a":-2}']
    headers = records[0].headers()
    assert headers[:3] == [("h", b"1"), ("__rule.name", b"pos"), ("__rule.mode", b"WRITE")]
    assert read_letter(headers) == DeadLetter(
        "t", -1, -1, stage=VALUE_CONVERTER, executing="pos", message=FAILURE, subject="t-value"
    )
    # A replay keeps the headers, so that consumers skip the rule.
    assert original_headers(headers) == headers
