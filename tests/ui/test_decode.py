"""Messages decoded, encoded and made up by `POST /ui/decode`, `/ui/encode` and `/ui/example`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from magicbyte.testing import running_registry

PAYMENT = {
    "type": "record",
    "name": "Payment",
    "namespace": "acme",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 4}},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
    ],
}
ORDERS = """syntax = "proto3"; package acme; import "google/protobuf/timestamp.proto"; import "money.proto";
message Order { int64 id = 1; google.protobuf.Timestamp at = 2; map<string, Money> prices = 3; Order parent = 4;
  oneof way { string mail = 5; int32 door = 6; }
  message Line { bytes raw = 1; enum Kind { NONE = 0; SOME = 1; } Kind kind = 2; } }
message Refund { repeated Order.Line lines = 1; }
"""
MONEY = 'syntax = "proto3"; package acme; message Money { uint64 units = 1; }'
CONTACT = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Contact",
    "type": "object",
    "required": ["code", "size"],
    "properties": {
        "code": {"type": "string", "pattern": "^[A-Z]{3}-\\d+$"},
        "size": {"type": "number", "minimum": 10},
        "mail": {"type": "string", "format": "email"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": True},
    },
}


class Helpers:
    """The page's helpers of one registry."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=60)

    def register(self, subject: str, schema: Any, schema_type: str = "AVRO", **members: Any) -> int:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        body = {"schema": text, "schemaType": schema_type, **members}
        answer = self.http.post(f"/subjects/{subject}/versions", json=body)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["id"])

    def raw(self, name: str, body: bytes | str) -> httpx.Response:
        return self.http.post(f"/ui/{name}", content=body)

    def ask(self, name: str, **body: Any) -> Any:
        answer = self.http.post(f"/ui/{name}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def decode(self, *messages: bytes | None, **body: Any) -> list[Any]:
        data = [None if message is None else base64.b64encode(message).decode() for message in messages]
        items: list[Any] = self.ask("decode", data=data, **body)["data"]
        return items


@pytest.fixture(scope="module")
def helpers() -> Iterator[Helpers]:
    with running_registry() as server:
        helpers = Helpers(server.url)
        helpers.register("payments-value", PAYMENT)
        helpers.register("money.proto", MONEY, "PROTOBUF")
        money = [{"name": "money.proto", "subject": "money.proto", "version": 1}]
        helpers.register("orders-value", ORDERS, "PROTOBUF", references=money)
        helpers.register("contacts-value", CONTACT, "JSON")
        yield helpers


def without_guid(item: dict[str, Any]) -> dict[str, Any]:
    assert len(item["guid"]) == 36
    return {name: value for name, value in item.items() if name != "guid"}


def test_an_avro_message_comes_with_its_schema_and_every_digit(helpers: Helpers) -> None:
    text = (
        '{"id":9223372036854775807,"amount":"-1234567890123456789012345678901234.5678","at":"2013-01-01T05:00:00.001Z"}'
    )
    sent = helpers.raw("encode", '{"topic":"payments","data":[' + text + "]}")
    message = sent.json()["data"][0]["data"]
    assert base64.b64decode(message)[:5] == b"\0\0\0\0\1"
    answer = helpers.raw("decode", json.dumps({"topic": "payments", "data": [message]}))
    assert answer.headers["content-type"] == "application/json"
    assert f'"value":{text}' in answer.text
    assert without_guid(answer.json()["data"][0]) == {
        "schemaId": 1,
        "subject": "payments-value",
        "version": 1,
        "type": "AVRO",
        "name": "acme.Payment",
        "value": json.loads(text),
        "bytes": {"magic": "00", "id": "00000001"},
        "remarks": [],
    }


def test_avro_as_it_is_stored_on_demand(helpers: Helpers) -> None:
    encoded = helpers.ask("encode", topic="payments", data=[{"id": 1, "amount": 12.5, "at": "2013-01-01T05:00:00Z"}])
    message = base64.b64decode(encoded["data"][0]["data"])
    (item,) = helpers.decode(message, logical=False, unions="tagged")
    assert item["value"] == {"id": 1, "amount": "\x01\xe8H", "at": {"long": 1357016400000}}
    again = helpers.ask("encode", topic="payments", data=[item["value"]], logical=False, unions="tagged")
    assert again["data"][0]["data"] == encoded["data"][0]["data"]


def test_json_keeps_the_digits_of_numbers(helpers: Helpers) -> None:
    text = '{"code":"ABC-1","size":12345678901234567890.1234567890}'
    sent = helpers.raw("encode", '{"topic":"contacts","data":[ ' + text.replace(",", " ,  ") + " ]}").json()["data"][0]
    assert base64.b64decode(sent["data"]) == b"\0\0\0\0\4" + text.encode()
    answer = helpers.raw("decode", json.dumps({"data": [sent["data"]]}))
    assert f'"value":{text}' in answer.text


def test_a_protobuf_message_has_indexes_and_a_name(helpers: Helpers) -> None:
    line = helpers.ask("encode", topic="orders", message="acme.Order.Line", data=[{"raw": "AQI=", "kind": "SOME"}])
    assert line["data"][0]["bytes"] == {"magic": "00", "id": "00000003", "index": "040000"}
    refund = helpers.ask("encode", topic="orders", message="acme.Refund", data=[{"lines": [{}]}])["data"][0]["data"]
    first, second = helpers.decode(base64.b64decode(line["data"][0]["data"]), base64.b64decode(refund))
    assert (first["type"], first["name"], first["indexes"]) == ("PROTOBUF", "acme.Order.Line", [0, 0])
    assert first["value"] == {"raw": "AQI=", "kind": "SOME"}
    assert (second["name"], second["indexes"], second["bytes"]["index"]) == ("acme.Refund", [1], "0202")


@pytest.mark.parametrize("topic", ["payments", "orders", "contacts"])
def test_a_frame_in_a_header(helpers: Helpers, topic: str) -> None:
    value = helpers.ask("example", topic=topic)["value"]
    (item,) = helpers.ask("encode", topic=topic, data=[value], framing="header")["data"]
    assert base64.b64decode(item["header"])[:1] == b"\1"
    decoded = helpers.ask("decode", data=[{"data": item["data"], "header": item["header"]}], topic=topic)["data"][0]
    assert decoded["guid"] == item["guid"]
    assert decoded["subject"] == f"{topic}-value"
    prefixed = base64.b64encode(base64.b64decode(item["header"]) + base64.b64decode(item["data"])).decode()
    assert helpers.ask("decode", data=[prefixed], topic=topic)["data"][0]["value"] == decoded["value"]


@pytest.mark.parametrize(
    ("message", "reason", "at", "error"),
    [
        (b"\0\0\0\0\x4dxx", "unknown", 1, "id 77 is unknown"),
        (b"\5hello", "magic", 0, "the first byte is 5, not 0 or 1: the message does not begin with a schema id"),
        (b"\0\0", "truncated", 2, "truncated message: magic byte and schema id needs 5 bytes, the message has 2"),
        (b"", "truncated", 0, "truncated message: the magic byte needs 1 bytes, the message has 0"),
        (b"\0\0\0\0\1", "payload", 5, "$.id: the buffer ends inside it"),
        (b"\0\0\0\0\1\2\0\0\0", "payload", 8, "$: bytes left over after the datum: 1"),
        (b"\0\0\0\0\3\x10", "truncated", 6, "truncated message: 8 message indexes needs 14 bytes, the message has 6"),
        (b"\0\0\0\0\3\1", "indexes", 5, "invalid Protobuf message indexes: -1 is out of range"),
        (b"\0\0\0\0\4{", "payload", None, None),
        (b"\1" + bytes(16), "unknown", 1, "guid 00000000-0000-0000-0000-000000000000 is unknown"),
    ],
)
def test_one_bad_message_hides_no_other(
    helpers: Helpers, message: bytes, reason: str, at: int | None, error: str | None
) -> None:
    good = b"\0\0\0\0\1\2\2\1\0"
    bad, fine, nothing = helpers.decode(message, good, None)
    assert (bad["reason"], bad["at"]) == (reason, at)
    assert error is None or bad["error"] == error
    assert fine["value"] == {"id": 1, "amount": "0.0001", "at": None}
    assert nothing == {"value": None}


def test_bytes_are_read_as_a_schema_that_they_do_not_name(helpers: Helpers) -> None:
    (item,) = helpers.decode(b"\2\2\1\0", schemaId=1)
    assert item["value"] == {"id": 1, "amount": "0.0001", "at": None}
    assert item["bytes"] == {}
    (unknown,) = helpers.decode(b"\2", schemaId=99)
    assert unknown["error"] == "id 99 is unknown"


@pytest.mark.parametrize(
    ("name", "body", "status", "message"),
    [
        ("decode", b"{", 400, "the body is no such request: Input data was truncated"),
        ("decode", b'{"nix":5}', 400, "the body is no such request: Object contains unknown field `nix`"),
        ("decode", b'{"data":5}', 400, "the body is no such request: Expected `array`, got `int` - at `$.data`"),
        ("decode", b'{"unions":"x"}', 400, "unions must be plain or tagged, not 'x'"),
        ("decode", b'{"context":"eu"}', 400, "context must begin with a dot and have no colon, not 'eu'"),
        ("decode", b'{"schemaId":-1}', 400, "schemaId must be between 0 and 2147483647, not -1"),
        ("encode", b'{"data":[1]}', 400, "schemaId, subject, topic or proposal is needed to find the schema"),
        ("encode", b'{"topic":"t","version":"x"}', 400, "version must be a number or latest, not 'x'"),
        ("encode", b'{"topic":"nix","data":[1]}', 404, "Subject 'nix-value' not found."),
        ("example", b'{"schemaId":99}', 404, "Schema 99 not found"),
    ],
)
def test_requests_that_are_refused(helpers: Helpers, name: str, body: bytes, status: int, message: str) -> None:
    answer = helpers.raw(name, body)
    assert (answer.status_code, answer.json()["message"]) == (status, message)


def test_limits(helpers: Helpers) -> None:
    assert helpers.raw("decode", json.dumps({"data": ["AA=="] * 101})).json()["message"] == (
        "data has 101 items; at most 100 are read"
    )
    half = base64.b64encode(bytes(530_000)).decode()
    answer = helpers.raw("decode", json.dumps({"data": [half, half]}))
    assert (answer.status_code, answer.json()["message"]) == (400, "data has 1060000 bytes; at most 1048576 are read")
    whole = base64.b64encode(bytes(1_200_000)).decode()
    answer = helpers.raw("decode", json.dumps({"data": [whole]}))
    assert answer.json()["message"] == "the body has 1600014 bytes; at most 1463637 are read"


@pytest.mark.parametrize(
    ("topic", "text", "at", "path", "error"),
    [
        ("payments", '{"id": "x", "amount": "1", "at": null}', 7, "$.id", "str does not fit long"),
        ("payments", '{"id": 1, "amount": "1.23456", "at": null}', 20, "$.amount", "5 decimals exceed the scale 4"),
        ("payments", '{"id": 9223372036854775808, "amount": "1", "at": null}', 7, "$.id", "out of range"),
        ("payments", '{"id": 1, "amount": "1", "at": "2013-01-01"}', 31, "$.at", "does not fit"),
        ("contacts", '{"code": "x", "size": 10}', 9, "$.code", "does not match"),
        ("orders", '{"id": "x"}', 7, "$.id", "invalid literal"),
    ],
)
def test_a_value_that_does_not_fit_says_where(
    helpers: Helpers, topic: str, text: str, at: int, path: str, error: str
) -> None:
    (item,) = helpers.raw("encode", f'{{"topic":"{topic}","data":[{text}]}}').json()["data"]
    assert (item["at"], item["path"], item["reason"]) == (at, path, "value")
    assert error in item["error"]


def test_a_schema_that_is_not_registered(helpers: Helpers) -> None:
    before = helpers.http.get("/subjects").json()
    schema = json.dumps({"type": "record", "name": "Draft", "fields": [{"name": "id", "type": "long"}]})
    made = helpers.ask("example", proposal={"schema": schema}, subject="payments-value")
    assert (made["value"], made["schemaId"], made["name"]) == ({"id": 1}, None, "Draft")
    good, bad = helpers.ask("encode", proposal={"schema": schema}, data=[{"id": 3}, {"id": "x"}])["data"]
    assert base64.b64decode(good["data"]) == b"\0\0\0\0\0\6"
    assert (bad["path"], bad["reason"]) == ("$.id", "value")
    assert helpers.http.get("/subjects").json() == before


def test_a_proposal_refers_to_versions(helpers: Helpers) -> None:
    text = 'syntax = "proto3"; package acme; import "money.proto"; message Bill { Money total = 1; }'
    reference = {"name": "money.proto", "subject": "money.proto", "version": 1}
    proposal = {"schema": text, "schemaType": "PROTOBUF", "references": [reference]}
    (item,) = helpers.ask("encode", proposal=proposal, data=[{"total": {"units": "7"}}])["data"]
    assert (item["name"], base64.b64decode(item["data"])) == ("acme.Bill", b"\0\0\0\0\0\0\n\2\x08\7")


@pytest.mark.parametrize(
    ("proposal", "status", "message"),
    [
        ({"schema": '{"type": "record"}'}, 422, "record"),
        ({"schema": '"int"', "schemaType": "XML"}, 400, "schemaType"),
        ({"schema": '"int"', "references": [{"name": "a"}]}, 400, "proposal.references"),
    ],
)
def test_a_proposal_that_is_none(helpers: Helpers, proposal: Any, status: int, message: str) -> None:
    answer = helpers.raw("example", json.dumps({"proposal": proposal}))
    assert answer.status_code == status, answer.text
    assert message in answer.json()["message"]


def test_the_first_subject_is_the_topics(helpers: Helpers) -> None:
    helpers.register("a-copy", PAYMENT)
    message = b"\0\0\0\0\1\2\2\1\0"
    assert helpers.decode(message, topic="payments")[0]["subject"] == "payments-value"
    assert helpers.decode(message)[0]["subject"] == "a-copy"


def test_ids_of_a_context(helpers: Helpers) -> None:
    schema_id = helpers.register(":.eu:eu-value", '"long"')
    message = b"\0" + schema_id.to_bytes(4, "big") + b"\2"
    (item,) = helpers.decode(message, topic="eu", context=".eu")
    assert (item["subject"], item["value"]) == (":.eu:eu-value", 1)


def test_a_schema_with_rules_is_not_decoded(helpers: Helpers) -> None:
    params = {"encrypt.kek.name": "k", "encrypt.kms.type": "t", "encrypt.kms.key.id": "i"}
    secret = {"name": "secret", "kind": "TRANSFORM", "type": "ENCRYPT", "mode": "WRITEREAD", "params": params}
    rules = {"domainRules": [secret]}
    schema_id = helpers.register("ruled-value", '{"type":"record","name":"Ruled","fields":[]}', ruleSet=rules)
    (item,) = helpers.decode(b"\0" + schema_id.to_bytes(4, "big"), topic="ruled")
    assert item["reason"] == "rules"
    assert "secret" in item["error"]


EXAMPLES: list[tuple[str, Any]] = [
    ("AVRO", PAYMENT),
    ("AVRO", '"bytes"'),
    ("AVRO", {"type": "map", "values": ["null", "int", {"type": "array", "items": "string"}]}),
    (
        "AVRO",
        {"type": "record", "name": "Tree", "fields": [{"name": "left", "type": ["null", "Tree"]},
         {"name": "all", "type": {"type": "array", "items": "Tree"}}]},
    ),
    (
        "AVRO",
        {"type": "record", "name": "U", "fields": [{"name": "u", "type": [
            {"type": "record", "name": "A", "fields": [{"name": "x", "type": "int"}]},
            {"type": "record", "name": "B", "fields": [{"name": "x", "type": "int"}]}]}]},
    ),
    ("AVRO", {"type": "fixed", "name": "F", "size": 9, "logicalType": "decimal", "precision": 20, "scale": 20}),
    ("PROTOBUF", 'syntax = "proto2"; message A { required int32 a = 1; optional group G = 2 { optional A a = 1; } }'),
    ("JSON", CONTACT),
    ("JSON", {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "array", "prefixItems": [
        {"type": "integer", "minimum": 7}, {"type": "string", "maxLength": 2}], "items": False, "minItems": 2}),
    ("JSON", {"oneOf": [{"type": "object", "required": ["a"], "properties": {"a": {"const": 5}},
                         "additionalProperties": False}, {"type": "string", "format": "date-time"}]}),
    ("JSON", True),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(EXAMPLES)))
def test_an_example_encodes(helpers: Helpers, at: int) -> None:
    schema_type, schema = EXAMPLES[at]
    schema_id = helpers.register(f"example-{at}-value", schema, schema_type)
    for form in ({}, {"logical": False, "unions": "tagged"}):
        example = helpers.ask("example", schemaId=schema_id, **form)
        unions = {**form, "unions": example["unions"]}
        (item,) = helpers.ask("encode", schemaId=schema_id, data=[example["value"]], **unions)["data"]
        assert "error" not in item
        (back,) = helpers.decode(base64.b64decode(item["data"]), **unions)
        assert back["value"] == example["value"] or schema_type == "PROTOBUF"


REMARKED: list[tuple[str, Any, bytes, list[tuple[str, str]]]] = [
    (
        "PROTOBUF",
        'syntax = "proto3"; message A { int32 set = 1; int32 not_set = 2; }',
        b"\0\x08\1\x18\5",
        [("$.3", "unknown-field"), ("$.notSet", "default")],
    ),
    (
        "JSON",
        {"properties": {"a": {"type": "string"}}},
        b'{"a":1,"a":2}',
        [("$.a", "violation"), ("$.a", "double-key")],
    ),
    ("AVRO", {"type": "map", "values": "int"}, b"\4\2k\2\2k\4\0", [("$['k']", "double-key")]),
]


@pytest.mark.parametrize("at", range(len(REMARKED)))
def test_an_answer_says_what_the_value_does_not_show(helpers: Helpers, at: int) -> None:
    schema_type, schema, payload, remarks = REMARKED[at]
    schema_id = helpers.register(f"remarked-{at}-value", schema, schema_type)
    item, again = helpers.decode(*[b"\0" + schema_id.to_bytes(4, "big") + payload] * 2)
    assert item == again
    assert [(remark["path"], remark["kind"]) for remark in item["remarks"]] == remarks
    assert all(remark["text"] for remark in item["remarks"])


def test_an_answer_says_how_many_remarks_it_leaves_out(helpers: Helpers) -> None:
    fields = " ".join(f"int32 f{number} = {number};" for number in range(1, 104))
    schema_id = helpers.register("many-value", f'syntax = "proto3"; message A {{ {fields} }}', "PROTOBUF")
    (item,) = helpers.decode(b"\0" + schema_id.to_bytes(4, "big") + b"\0")
    assert (len(item["remarks"]), item["remarksLeftOut"]) == (100, 3)


NAMES = st.integers(0, 999).map(lambda number: f"n{number}")
LEAVES = st.sampled_from(
    [
        *("null", "boolean", "int", "long", "float", "double", "bytes", "string"),
        {"type": "int", "logicalType": "date"},
        {"type": "int", "logicalType": "time-millis"},
        {"type": "long", "logicalType": "timestamp-micros"},
        {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 5},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        inner.map(lambda values: {"type": "map", "values": values}),
        st.lists(inner, min_size=1, max_size=4).map(lambda fields: {"type": "record", "fields": fields}),
    ),
    max_leaves=8,
)


def _named(schema: Any, count: list[int]) -> Any:
    """The schema with names for its records, and nullable fields."""
    if not isinstance(schema, dict):
        return schema
    if schema["type"] != "record":
        return {name: _named(part, count) for name, part in schema.items()}
    count[0] += 1
    name = f"R{count[0]}"
    fields = []
    for at, inner in enumerate(schema["fields"]):
        kind = _named(inner, count)
        fields.append({"name": f"f{at}", "type": kind if kind == "null" or at % 2 else ["null", kind]})
    return {"type": "record", "name": name, "fields": fields}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(schema=SCHEMAS)
def test_examples_of_random_avro_schemas_encode(helpers: Helpers, schema: Any) -> None:
    root = {"type": "record", "name": "Root", "fields": [{"name": "inner", "type": _named(schema, [0])}]}
    helpers.http.put("/config/random", json={"compatibility": "NONE"})
    schema_id = helpers.register("random", root)
    example = helpers.ask("example", schemaId=schema_id)
    assert "error" not in example
    (item,) = helpers.ask("encode", schemaId=schema_id, unions=example["unions"], data=[example["value"]])["data"]
    (back,) = helpers.decode(base64.b64decode(item["data"]), unions=example["unions"])
    assert back["value"] == example["value"]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.lists(st.binary(max_size=60) | st.binary(max_size=40).map(lambda tail: b"\0\0\0\0\3" + tail), max_size=8)
)
def test_hostile_bytes_have_an_answer(helpers: Helpers, data: list[bytes]) -> None:
    items = helpers.decode(*data)
    assert len(items) == len(data)
    assert all(("error" in item) != ("value" in item) for item in items)


def test_a_recursive_type_without_an_end_has_no_example(helpers: Helpers) -> None:
    schema_id = helpers.register(
        "endless-value", {"type": "record", "name": "E", "fields": [{"name": "e", "type": "E"}]}
    )
    answer = helpers.ask("example", schemaId=schema_id)
    assert answer["error"] == "no example was found: the schema may have none that is finite"


def records_of(name: str, count: int) -> Any:
    """A record with many fields of one record type, whose only field has a given name."""
    inner = {"type": "record", "name": "I", "fields": [{"name": name, "type": "int"}]}
    fields = [{"name": f"f{at}", "type": "I" if at else inner} for at in range(count)]
    return {"type": "record", "name": "R", "fields": fields}


JSON_LIMITS = (
    "the examples that were found exceed the limits: "
    "10000 characters in a text, 1000 elements in an array, 500000 characters"
)


@pytest.mark.parametrize(
    ("schema", "schema_type", "message"),
    [
        (
            {"type": "fixed", "name": "F", "size": 2_000_000_000},
            "AVRO",
            "an example of this schema has more than 1048576 characters",
        ),
        (
            {"type": "fixed", "name": "F", "size": 1_048_577},
            "AVRO",
            "an example of this schema has more than 1048576 characters",
        ),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 2_000_000_000, "scale": 1_999_999_999},
            "AVRO",
            "an example of this schema has more than 1048576 characters",
        ),
        (records_of("n" * 2_000, 600), "AVRO", "an example of this schema has more than 1048576 characters"),
        (records_of("n", 10_000), "AVRO", "an example of this schema has more than 20000 values"),
        ({"type": "string", "minLength": 10_001}, "JSON", JSON_LIMITS),
        ({"type": "array", "minItems": 1_001}, "JSON", JSON_LIMITS),
        (
            {"type": "array", "minItems": 900, "items": {"type": "string", "minLength": 900}},
            "JSON",
            JSON_LIMITS,
        ),
    ],
    ids=["fixed", "fixed-by-one", "decimal", "names", "values", "text", "array", "product"],
)
def test_an_example_has_limits(helpers: Helpers, schema: Any, schema_type: str, message: str) -> None:
    answer = helpers.raw("example", json.dumps({"proposal": {"schema": json.dumps(schema), "schemaType": schema_type}}))
    assert (answer.status_code, answer.json()) == (422, {"error_code": 42201, "message": message})


def test_an_example_keeps_what_fits(helpers: Helpers) -> None:
    fixed = {"type": "fixed", "name": "F", "size": 1_048_577}
    fields = [{"name": "a", "type": ["null", fixed, "string"]}, {"name": "b", "type": {"type": "array", "items": "F"}}]
    schema = json.dumps({"type": "record", "name": "R", "fields": fields})
    assert helpers.ask("example", proposal={"schema": schema})["value"] == {"a": "text", "b": []}
    largest = json.dumps({"type": "fixed", "name": "F", "size": 1_048_576})
    assert helpers.ask("example", proposal={"schema": largest})["value"] == "\0" * 1_048_576
