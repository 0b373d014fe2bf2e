"""Serializers and deserializers of generated Avro classes: on the wire, between versions, and in unions."""

from __future__ import annotations

import dataclasses
import datetime as dt
import io
import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import fastavro
import pytest
from confluent_kafka.schema_registry._sync.mock_schema_registry_client import MockSchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer

from serdes import AvroDeserializer, AvroSerializer, SerializationContext
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from serdes.error import ConfigError, DatumMismatch
from serdes.records import Branch, Duration
from tests.generate.packages import Package, files_of

VALUE = SerializationContext("people", "value")
#: A subject of its own, because the registry would refuse some of the changes.
NEWER = SerializationContext("newer", "value")

EVERYTHING: dict[str, Any] = {
    "type": "record",
    "name": "Everything",
    "namespace": "com.example",
    "fields": [
        {"name": "flag", "type": "boolean"},
        {"name": "small", "type": "int"},
        {"name": "large", "type": "long"},
        {"name": "single", "type": "float"},
        {"name": "double", "type": "double"},
        {"name": "text", "type": "string"},
        {"name": "raw", "type": "bytes"},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "clock_us", "type": {"type": "long", "logicalType": "time-micros"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "at_us", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "local_us", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {
            "name": "price",
            "type": {"type": "fixed", "name": "Price", "size": 8, "logicalType": "decimal", "precision": 9, "scale": 2},
        },
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "suit", "type": {"type": "enum", "name": "Suit", "symbols": ["SPADES", "class"]}},
        {"name": "maybe", "type": ["null", "string"], "default": None},
        {"name": "number", "type": ["int", "long", "string"]},
        {"name": "either", "type": ["null", "Hash", "Suit", {"type": "map", "values": "Everything"}]},
        {"name": "list", "type": {"type": "array", "items": {"type": "map", "values": "double"}}},
        {
            "name": "address",
            "type": {
                "type": "record",
                "name": "Address",
                "namespace": "com.other",
                "fields": [{"name": "class", "type": "string"}],
            },
        },
        {"name": "next", "type": ["null", "Everything"], "default": None},
    ],
}
MOMENT = dt.datetime(2026, 11, 27, 21, 30, 15, 123000)  # noqa: DTZ001  # that of a local timestamp


def everything(module: Any, other: Any, **changes: Any) -> Any:
    values: dict[str, Any] = {
        "flag": True,
        "small": -1,
        "large": 2**40,
        "single": 0.5,
        "double": 1.25,
        "text": "ünï",
        "raw": b"\0\xff",
        "day": MOMENT.date(),
        "clock": MOMENT.time(),
        "clock_us": dt.time(1, 2, 3, 4),
        "at": MOMENT.replace(tzinfo=dt.UTC),
        "at_us": MOMENT.replace(tzinfo=dt.UTC, microsecond=7),
        "local": MOMENT,
        "local_us": MOMENT.replace(microsecond=7),
        "amount": Decimal("-12.50"),
        "price": Decimal("3.99"),
        "key": UUID(int=5),
        "hash": module.Hash(b"ab"),
        "suit": module.Suit.class_,
        "maybe": "there",
        "number": Branch("long", 5),
        "either": module.Suit.SPADES,
        "list": [{"a": 0.5}, {}],
        "address": other.Address(class_="x"),
    }
    return module.Everything(**(values | changes))


@pytest.fixture(params=[False, True], ids=["mutable", "frozen"])
def made(request: pytest.FixtureRequest, package: Package) -> Any:
    load = package(files_of(EVERYTHING, frozen=request.param))
    return load("com_example"), load("com_other")


def test_all_kinds_of_fields_come_back_as_they_were_written(made: Any, client: RegistryClient) -> None:
    module, other = made
    serialize = AvroSerializer(client, module.Everything)
    deserialize = AvroDeserializer(client, module.Everything)
    inner = everything(module, other, number="x", maybe=None, either=module.Hash(b"cd"))
    for instance in (everything(module, other, next=inner), everything(module, other, either={"k": inner})):
        read = deserialize(serialize(instance, VALUE), VALUE)
        assert read == instance
        assert type(read) is module.Everything
        assert read.number == Branch("long", 5)
        assert type(read.suit) is module.Suit
        assert type(read.hash) is module.Hash


def test_fastavro_reads_and_writes_the_same_bytes(made: Any) -> None:
    module, other = made
    instance = everything(module, other, next=everything(module, other, number=Branch("int", 3)))
    stored = compile_codec(module.Everything.__schema__, record=module.Everything).encode(instance)
    parsed = fastavro.parse_schema(json.loads(module.Everything.__schema__))
    datum = fastavro.schemaless_reader(io.BytesIO(stored), parsed)
    assert datum["address"] == {"class": "x"}
    assert datum["at_us"] == instance.at_us
    datum["number"], datum["next"]["number"] = ("long", 5), ("int", 3)
    out = io.BytesIO()
    fastavro.schemaless_writer(out, parsed, datum)
    assert out.getvalue() == stored


def test_confluents_serializer_and_ours_read_each_other(made: Any, client: RegistryClient) -> None:
    module, other = made
    theirs = MockSchemaRegistryClient({"url": "mock://"})
    instance = everything(module, other, either=None, maybe=None)
    ours = AvroSerializer(client, module.Everything)(instance, VALUE)
    their_bytes = TheirSerializer(theirs, module.Everything.__schema__)(
        compile_codec(module.Everything.__schema__).decode(ours, 5), VALUE
    )
    assert their_bytes is not None
    assert TheirDeserializer(theirs)(their_bytes[:5] + ours[5:], VALUE)["text"] == "ünï"
    # Their serializer takes 5 for the first branch that fits.
    read = AvroDeserializer(client, module.Everything)(ours[:5] + their_bytes[5:], VALUE)
    assert read == everything(module, other, either=None, maybe=None, number=Branch("int", 5))


def record(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "Item", "namespace": "com.example", "fields": list(fields), **more}


ID = {"name": "id", "type": "long"}
COLORS = {"type": "enum", "name": "Color", "symbols": ["RED"], "default": "RED"}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
NOON = dt.datetime(2026, 11, 27, 12, tzinfo=dt.UTC)
#: The two schemas, a datum of each, and what the other's class has then.
EVOLUTIONS: dict[str, tuple[Any, Any, dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "a field with a default is added": (
        record(ID),
        record(ID, {"name": "tags", "type": {"type": "array", "items": "string"}, "default": ["new"]}),
        {"id": 1},
        {"id": 1, "tags": ["new"]},
        {"id": 2, "tags": ["x"]},
        {"id": 2},
    ),
    "a nullable field is added": (
        record(ID),
        record(ID, {"name": "note", "type": ["null", "string"], "default": None}),
        {"id": 1},
        {"id": 1, "note": None},
        {"id": 2, "note": "x"},
        {"id": 2},
    ),
    "an int becomes a long, and back for data that fit": (
        record({"name": "n", "type": "int"}),
        record({"name": "n", "type": "double"}),
        {"n": 1},
        {"n": 1.0},
        {},
        {},
    ),
    "a text becomes bytes": (
        record({"name": "t", "type": "string"}),
        record({"name": "t", "type": "bytes"}),
        {"t": "é"},
        {"t": "é".encode()},
        {"t": b"x"},
        {"t": "x"},
    ),
    "a field is renamed with an alias": (
        record({"name": "old", "type": "string", "default": "none"}),
        record({"name": "new", "type": "string", "aliases": ["old"], "default": "none"}),
        {"old": "x"},
        {"new": "x"},
        {"new": "y"},
        {"old": "none"},
    ),
    "a symbol is added": (
        record({"name": "color", "type": COLORS}),
        record({"name": "color", "type": {**COLORS, "symbols": ["RED", "BLUE"]}}),
        {"color": "RED"},
        {"color": "RED"},
        {"color": "BLUE"},
        {"color": "RED"},
    ),
    "a type becomes a union": (
        record({"name": "v", "type": "string"}),
        record({"name": "v", "type": ["int", "long", "string"]}),
        {"v": "x"},
        {"v": "x"},
        {"v": "y"},
        {"v": "y"},
    ),
    "a branch that needs a name is added": (
        record({"name": "v", "type": ["null", "int"]}),
        record({"name": "v", "type": ["null", "int", "long"]}),
        {"v": 5},
        {"v": Branch("int", 5)},
        {"v": Branch("int", 7)},
        {"v": 7},
    ),
    "a timestamp gets another unit": (
        record({"name": "at", "type": MILLIS}),
        record({"name": "at", "type": MICROS}),
        {"at": NOON},
        {"at": NOON},
        {"at": NOON},
        {"at": NOON},
    ),
    "a timestamp loses its zone": (
        record({"name": "at", "type": MILLIS}),
        record({"name": "at", "type": {"type": "long", "logicalType": "local-timestamp-micros"}}),
        {"at": NOON},
        {"at": NOON.replace(tzinfo=None)},
        {"at": NOON.replace(tzinfo=None)},
        {"at": NOON},
    ),
    "a long becomes a timestamp": (
        record({"name": "at", "type": "long"}),
        record({"name": "at", "type": MILLIS}),
        {"at": 86_400_000},
        {"at": dt.datetime(1970, 1, 2, tzinfo=dt.UTC)},
        {"at": dt.datetime(1970, 1, 2, tzinfo=dt.UTC)},
        {"at": 86_400_000},
    ),
    "a decimal gets more decimals": (
        record({"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}}),
        record({"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 4}}),
        {"d": Decimal("1.25")},
        {"d": Decimal("1.25")},
        {"d": Decimal("1.2500")},
        {"d": Decimal("1.25")},
    ),
}


@pytest.mark.parametrize("name", EVOLUTIONS)
def test_each_version_of_a_class_reads_the_data_of_the_other(
    name: str, package: Package, client: RegistryClient
) -> None:
    old, new, of_old, old_as_new, of_new, new_as_old = EVOLUTIONS[name]
    first = package(files_of(old))("com_example").Item
    second = package(files_of(new))("com_example").Item
    written = AvroSerializer(client, first)(first(**of_old), VALUE)
    assert AvroDeserializer(client, second)(written, VALUE) == second(**old_as_new)
    if of_new:
        written = AvroSerializer(client, second)(second(**of_new), NEWER)
        assert AvroDeserializer(client, first)(written, NEWER) == first(**new_as_old)


def test_the_latest_version_does_not_change_what_a_class_reads(package: Package, client: RegistryClient) -> None:
    old = package(files_of(record(ID)))("com_example").Item
    new = package(files_of(record(ID, {"name": "n", "type": "int", "default": 7})))("com_example").Item
    written = AvroSerializer(client, old)(old(id=1), VALUE)
    AvroSerializer(client, new)(new(id=2), VALUE)
    latest = {"use.latest.version": True}
    assert AvroDeserializer(client, old, conf=latest)(written, VALUE) == old(id=1)
    serialize = AvroSerializer(client, old, conf={"auto.register.schemas": False, **latest})
    # The class lacks a field of the latest version, which has a default.
    assert AvroDeserializer(client, new)(serialize(old(id=3), VALUE), VALUE) == new(id=3, n=7)


@pytest.mark.parametrize(
    ("change", "path", "value_type"),
    [
        ({"small": 2**31}, "$.small", "int"),
        ({"text": 5}, "$.text", "int"),
        ({"suit": "NOPE"}, "$.suit", "str"),
        ({"hash": b"abc"}, "$.hash", "bytes"),
        ({"address": {"class": "x"}}, "$.address", "dict"),
        ({"number": Branch("double", 5)}, "$.number", "Branch"),
        ({"number": Branch("int", "x")}, "$.number", "str"),
        ({"next": 5}, "$.next", "int"),
        ({"list": [{"a": "x"}]}, "$.list[0]['a']", "str"),
    ],
)
def test_a_value_that_does_not_fit_is_named_by_its_path(
    made: Any, client: RegistryClient, change: dict[str, Any], path: str, value_type: str
) -> None:
    serialize = AvroSerializer(client, made[0].Everything)
    with pytest.raises(DatumMismatch) as raised:
        serialize(everything(*made, **change), VALUE)
    assert (raised.value.path, raised.value.value_type) == (path, value_type)


def test_a_dict_and_another_class_are_no_instances(made: Any, client: RegistryClient) -> None:
    module, other = made
    serialize = AvroSerializer(client, module.Everything)
    for wrong in ({"flag": True}, other.Address(class_="x"), 5):
        with pytest.raises(DatumMismatch):
            serialize(wrong, VALUE)


def test_a_subclass_is_written_and_read_as_the_class(made: Any, client: RegistryClient) -> None:
    module, other = made

    class Mine(module.Everything):  # type: ignore[misc, name-defined]
        @property
        def twice(self) -> int:
            return int(self.small * 2)

    instance = everything(module, other)
    mine = Mine(**{field.name: getattr(instance, field.name) for field in dataclasses.fields(instance)})
    read = AvroDeserializer(client, Mine)(AvroSerializer(client, Mine)(mine, VALUE), VALUE)
    assert (type(read), read.twice, read.text) == (Mine, -2, "ünï")
    # The serializer of the class takes instances of subclasses, too.
    assert AvroSerializer(client, module.Everything)(mine, VALUE)


def test_defaults_that_can_be_changed_are_not_shared(package: Package) -> None:
    address = {
        "type": "record",
        "name": "Address",
        "fields": [{"name": "lines", "type": {"type": "array", "items": "string"}}],
    }
    new = record(ID, {"name": "address", "type": address, "default": {"lines": []}})
    cls = package(files_of(new))("com_example").Item
    read = compile_codec(json.dumps(record(ID)), json.dumps(new), record=cls).decode
    first, second = read(b"\2"), read(b"\2")
    first.address.lines.append("x")
    assert (second.address.lines, cls(id=1).address.lines, cls(id=1).address is cls(id=1).address) == ([], [], False)


def test_duration_and_uuid_in_fixed_types_have_python_values(package: Package) -> None:
    schema = record(
        {"name": "key", "type": {"type": "fixed", "name": "Key", "size": 16, "logicalType": "uuid"}},
        {"name": "span", "type": {"type": "fixed", "name": "Span", "size": 12, "logicalType": "duration"}},
    )
    cls = package(files_of(schema))("com_example").Item
    codec = compile_codec(json.dumps(schema), record=cls)
    instance = cls(key=UUID(int=1), span=Duration(1, 2, 3))
    stored = codec.encode(instance)
    assert stored == bytes(15) + b"\1" + b"\1\0\0\0\2\0\0\0\3\0\0\0"
    assert codec.decode(stored) == instance


def test_a_class_of_another_type_or_of_no_schema_is_refused(package: Package, client: RegistryClient) -> None:
    of_json = {"title": "Item", "type": "object", "properties": {"id": {"type": "integer"}}}
    cls = package(files_of(of_json, schema_type="JSON"))("main").Item
    with pytest.raises(ConfigError, match="Item is a class of a schema of type JSON"):
        AvroSerializer(client, cls)
    with pytest.raises(ConfigError, match="not in a module of `magicbyte generate`"):
        AvroDeserializer(client, type("Forged", (), {"__schema__": "{}"}))
    avro = package(files_of(record(ID)))("com_example").Item
    with pytest.raises(ConfigError, match="return_record_name"):
        AvroDeserializer(client, avro, return_record_name=True)
