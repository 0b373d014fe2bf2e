from __future__ import annotations

from typing import Any

import pytest

from compat.schema import Reference
from magicbyte.kit.settings.kinds import ProblemError
from serdes.avro import AvroSerializer
from serdes.client.clients import RegistryClient
from serdes.error import ConfigError, RegistryError, SerializationError
from serdes.message.subject import (
    naming,
    qualified_reference_subject_name_strategy,
    reference_strategy,
    reference_subject_name_strategy,
    topic_record_subject_name_strategy,
)
from serdes.serialization import SerializationContext

VALUE = SerializationContext("t", "value")
KEY = SerializationContext("t", "key")


def subject(client: RegistryClient, conf: dict[str, Any], ctx: Any, record: str | None) -> str:
    rest = dict(conf)
    named = naming(rest)
    assert rest == {}
    return client.drive(named.subject(client.endpoints, ctx, record))


JAVA = "io.confluent.kafka.serializers.subject."
CTX = "context.name.strategy"
NAME = "subject.name.strategy"
TYPE = "subject.name.strategy.type"
FALLBACK = "subject.name.strategy.fallback.type"


@pytest.mark.parametrize(
    ("conf", "ctx", "expected"),
    [
        ({}, VALUE, "t-value"),
        ({}, KEY, "t-key"),
        ({NAME: "TopicNameStrategy"}, KEY, "t-key"),
        ({NAME: JAVA + "RecordNameStrategy"}, VALUE, "a.R"),
        ({NAME: JAVA + "TopicRecordNameStrategy"}, VALUE, "t-a.R"),
        ({NAME: topic_record_subject_name_strategy}, VALUE, "t-a.R"),
        ({NAME: lambda ctx, record: f"{ctx.topic}/{record}"}, VALUE, "t/a.R"),
        ({TYPE: "topic_record"}, VALUE, "t-a.R"),
        ({TYPE: "RECORD"}, None, "a.R"),
        ({TYPE: "ASSOCIATED"}, VALUE, "t-value"),
        ({TYPE: "TOPIC", NAME: "RecordNameStrategy"}, VALUE, "a.R"),
        ({FALLBACK: "RECORD"}, VALUE, "a.R"),
        ({"subject.name.strategy.conf": {FALLBACK: "TOPIC_RECORD"}}, VALUE, "t-a.R"),
        ({"subject.name.strategy.conf": {FALLBACK: "TOPIC"}, FALLBACK: "RECORD"}, VALUE, "a.R"),
        ({"subject.name.strategy.conf": {}}, VALUE, "t-value"),
        ({f"value.{NAME}": "RecordNameStrategy"}, VALUE, "a.R"),
        ({f"value.{NAME}": "RecordNameStrategy"}, KEY, "t-key"),
        ({f"key.{NAME}": "RecordNameStrategy", NAME: "TopicRecordNameStrategy"}, KEY, "a.R"),
        ({CTX: "blue"}, VALUE, ":.blue:t-value"),
        ({CTX: lambda topic: f".{topic}"}, VALUE, ":.t:t-value"),
        ({CTX: "."}, VALUE, "t-value"),
    ],
)
def test_names(client: RegistryClient, conf: dict[str, Any], ctx: Any, expected: str):
    assert subject(client, conf, ctx, "a.R") == expected


@pytest.mark.parametrize(
    ("conf", "ctx"),
    [
        ({TYPE: "RECORD"}, VALUE),
        ({TYPE: "TOPIC_RECORD"}, VALUE),
        ({}, None),
        ({TYPE: "TOPIC"}, None),
        ({FALLBACK: "NONE"}, VALUE),
    ],
)
def test_no_name(client: RegistryClient, conf: dict[str, Any], ctx: Any):
    with pytest.raises(SerializationError):
        subject(client, conf, ctx, None)


_STRATEGIES = (
    "must be a function or one of TopicNameStrategy, TOPIC, RecordNameStrategy, RECORD, TopicRecordNameStrategy,"
    " TOPIC_RECORD, ASSOCIATED, AssociatedNameStrategy, not "
)


@pytest.mark.parametrize(
    ("conf", "problem"),
    [
        ({NAME: "Nope"}, f"{NAME}: {_STRATEGIES}'Nope'"),
        ({NAME: JAVA + "TopicNameStrategi"}, f"{NAME}: {_STRATEGIES}'{JAVA}TopicNameStrategi'; did you mean TopicNam"),
        ({TYPE: "NONE"}, f"{TYPE}: {_STRATEGIES}'NONE'"),
        (
            {FALLBACK: "ASSOCIATED"},
            f"{FALLBACK}: must be one of TOPIC, RECORD, TOPIC_RECORD or NONE; ASSOCIATED is the strategy that falls",
        ),
        ({CTX: 3}, f"{CTX}: must be a context's name or a function of the topic, not 3"),
        (
            {"subject.name.strategy.conf": {"x": 1}},
            f"subject.name.strategy.conf: has the unknown setting x; use one of {FALLBACK}, ",
        ),
    ],
)
def test_strategies_that_are_refused(conf: dict[str, Any], problem: str):
    with pytest.raises(ConfigError) as raised:
        naming(dict(conf))
    assert str(raised.value).startswith(problem)


class Associated:
    """Endpoints that answer about associations only."""

    def __init__(self, answer: list[dict[str, Any]] | RegistryError) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    def associations(self, topic: str, namespace: str, **query: Any) -> Any:
        self.asked.append((topic, namespace, query))
        yield from ()
        if isinstance(self.answer, RegistryError):
            raise self.answer
        return self.answer


def associated(client: RegistryClient, answer: Any, conf: dict[str, Any]) -> str:
    endpoints: Any = Associated(answer)
    found = client.drive(naming(dict(conf)).subject(endpoints, VALUE, None))
    cluster = conf.get("subject.name.strategy.kafka.cluster.id", "-")
    assert endpoints.asked == [("t", cluster, {"resource_type": "topic", "association_types": ["value"]})]
    return found


def test_an_association(client: RegistryClient):
    assert associated(client, [{"subject": "orders"}], {}) == "orders"
    assert associated(client, [{"subject": "o"}], {"subject.name.strategy.kafka.cluster.id": "lkc-1"}) == "o"
    assert associated(client, [], {}) == "t-value"
    assert associated(client, RegistryError(404, 404, "HTTP 404 Not Found"), {}) == "t-value"
    with pytest.raises(SerializationError, match="2 associated subjects"):
        associated(client, [{"subject": "a"}, {"subject": "b"}], {})
    with pytest.raises(RegistryError) as raised:
        associated(client, RegistryError(500, 50001, "m"), {})
    assert raised.value == RegistryError(500, 50001, "m")


def test_references():
    reference = Reference("google/type/date.proto", "", 0)
    assert reference_subject_name_strategy(None, reference) == "google/type/date.proto"
    assert qualified_reference_subject_name_strategy(None, reference) == "google.type.date"
    assert reference_strategy(f"{JAVA}QualifiedReferenceSubjectNameStrategy")(None, reference) == "google.type.date"
    with pytest.raises(ProblemError, match="must be a function or one of DefaultRef"):
        reference_strategy("Nope")


def test_a_serializer_in_a_context(client: RegistryClient):
    serialize = AvroSerializer(client, '"string"', conf={CTX: "blue", TYPE: "TOPIC"})
    assert serialize("a", VALUE) == b"\x00\x00\x00\x00\x01\x02a"
    assert client.version(":.blue:t-value").schema.text == '"string"'
