"""Rules on instances of generated classes: they see the schema's names, and the caller's instance stays as it is."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from serdes import (
    AsyncAvroDeserializer,
    AsyncAvroSerializer,
    AsyncSchemaRegistryClient,
    AvroDeserializer,
    AvroSerializer,
    JSONDeserializer,
    JSONSerializer,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SerializationContext,
)
from serdes.client.clients import RegistryClient
from serdes.records import Branch
from serdes.rules.error import RuleFailed
from tests.generate.packages import Package, files_of

VALUE = SerializationContext("people", "value")
AVRO = {
    "type": "record",
    "name": "Person",
    "namespace": "com.example",
    "fields": [
        {"name": "class", "type": "string", "confluent:tags": ["PII"]},
        {"name": "number", "type": ["int", "long"]},
        {"name": "tags", "type": {"type": "array", "items": "string"}, "confluent:tags": ["PII"]},
        {"name": "suit", "type": {"type": "enum", "name": "Suit", "symbols": ["A", "B"]}},
        {"name": "boss", "type": ["null", "Person"], "default": None},
    ],
}
JSON = {
    "title": "Person",
    "type": "object",
    "properties": {"class": {"type": "string", "confluent:tags": ["PII"]}, "age": {"type": "integer"}},
    "required": ["class"],
}


def rule(name: str, kind: RuleKind, mode: RuleMode, rule_type: str, expr: str, tags: list[str] | None = None) -> Rule:
    return Rule(name, "", kind, mode, rule_type, tags, None, expr, None, None, False)


CONDITION = rule("named", RuleKind.CONDITION, RuleMode.WRITE, "CEL", "size(message['class']) > 1")
UPPER = rule("upper", RuleKind.TRANSFORM, RuleMode.WRITE, "CEL_FIELD", "value + '!'", ["PII"])
MARK = rule("mark", RuleKind.TRANSFORM, RuleMode.READ, "CEL_FIELD", "value + '?'", ["PII"])


def registered(client: RegistryClient, text: str, schema_type: str, *rules: Rule) -> None:
    rule_set = RuleSet(None, list(rules)).to_dict()
    client.register("people-value", Schema(text, schema_type).text, rule_set=rule_set)


@pytest.mark.parametrize("frozen", [False, True])
def test_rules_see_avro_records_by_the_schemas_names(frozen: bool, package: Package, client: RegistryClient) -> None:
    module: Any = package(files_of(AVRO, frozen=frozen))("com_example")
    registered(client, module.Person.__schema__, "AVRO", CONDITION, UPPER, MARK)
    latest = {"auto.register.schemas": False, "use.latest.version": True}
    serialize = AvroSerializer(client, module.Person, conf=latest)
    boss = module.Person(class_="CEO", number=Branch("int", 1), tags=[], suit=module.Suit.A)
    person = module.Person(class_="Ada", number=Branch("long", 5), tags=["x"], suit=module.Suit.B, boss=boss)
    before = copy.deepcopy(person)
    written = serialize(person, VALUE)
    assert person == before
    read = AvroDeserializer(client, module.Person)(written, VALUE)
    assert read == module.Person(
        class_="Ada!?",
        number=Branch("long", 5),
        tags=["x!?"],
        suit=module.Suit.B,
        boss=module.Person(class_="CEO!?", number=Branch("int", 1), tags=[], suit=module.Suit.A),
    )
    with pytest.raises(RuleFailed, match="rule 'named'"):
        serialize(module.Person(class_="A", number=Branch("int", 5), tags=[], suit=module.Suit.B), VALUE)


def test_rules_see_json_records_by_the_schemas_names(package: Package, client: RegistryClient) -> None:
    module: Any = package(files_of(JSON, schema_type="JSON"))("main")
    registered(client, module.Person.__schema__, "JSON", CONDITION, UPPER, MARK)
    latest = {"auto.register.schemas": False, "use.latest.version": True}
    serialize = JSONSerializer(module.Person, client, conf=latest)
    person = module.Person(class_="Ada", age=3)
    written = serialize(person, VALUE)
    assert person == module.Person(class_="Ada", age=3)
    read = JSONDeserializer(module.Person, schema_registry_client=client)(written, VALUE)
    assert read == module.Person(class_="Ada!?", age=3)
    with pytest.raises(RuleFailed, match="rule 'named'"):
        serialize(module.Person(class_="A"), VALUE)


def test_rules_of_the_latest_version_see_its_fields(package: Package, client: RegistryClient) -> None:
    old: Any = package(files_of(AVRO))("com_example")
    newer = {**AVRO, "fields": [*AVRO["fields"], {"name": "note", "type": "string", "default": "none"}]}
    new: Any = package(files_of(newer))("com_example")
    person = old.Person(class_="Ada", number=Branch("long", 5), tags=[], suit=old.Suit.B)
    written = AvroSerializer(client, old.Person)(person, VALUE)
    seen = rule("seen", RuleKind.CONDITION, RuleMode.READ, "CEL", "message.note == 'none'")
    registered(client, new.Person.__schema__, "AVRO", MARK, seen)
    read = AvroDeserializer(client, old.Person, conf={"use.latest.version": True})(written, VALUE)
    assert read == old.Person(class_="Ada?", number=Branch("long", 5), tags=[], suit=old.Suit.B)


def test_a_migrated_message_becomes_an_instance_of_the_class(package: Package, client: RegistryClient) -> None:
    fields = AVRO["fields"]
    renamed = [{**fields[0], "name": "label"}, *fields[1:]]
    old: Any = package(files_of(AVRO))("com_example")
    new: Any = package(files_of({**AVRO, "fields": renamed}))("com_example")
    client.put_config({"compatibility": "NONE"}, "people-value")
    person = old.Person(class_="Ada", number=Branch("long", 5), tags=["x"], suit=old.Suit.B)
    written = AvroSerializer(client, old.Person)(person, VALUE)
    upgrade = rule(
        "up",
        RuleKind.TRANSFORM,
        RuleMode.UPGRADE,
        "JSONATA",
        "$merge([$sift($, function($v, $k) {$k != 'class'}), {'label': $.'class'}])",
    )
    rule_set = RuleSet([upgrade], []).to_dict()
    client.register("people-value", Schema(new.Person.__schema__).text, rule_set=rule_set)
    read = AvroDeserializer(client, new.Person, conf={"use.latest.version": True})(written, VALUE)
    assert (type(read), read.label, read.number, read.suit) == (new.Person, "Ada", Branch("long", 5), new.Suit.B)


def test_asynchronous_serializers_take_classes(package: Package, transport: Any) -> None:
    module: Any = package(files_of(AVRO))("com_example")
    client = AsyncSchemaRegistryClient({"url": "http://registry", "max.retries": 0}, transport=transport)
    person = module.Person(class_="Ada", number=Branch("long", 5), tags=["x"], suit=module.Suit.B)

    async def round_trip() -> Any:
        written = await AsyncAvroSerializer(client, module.Person)(person, VALUE)
        return await AsyncAvroDeserializer(client, module.Person)(written, VALUE)

    assert asyncio.run(round_trip()) == person
