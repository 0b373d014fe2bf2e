"""What is too large, too deep, too long or goes round in circles is refused clearly and soon."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from compat.schema import SchemaText
from registry.parsing import Parser

DEEP = 5_000
REFUSED = [
    ("AVRO", '{"type":"array","items":' * DEEP + '"int"' + "}" * DEEP, "Nested deeper than 200 levels"),
    ("AVRO", "[" * 100_000, "Nested deeper than 200 levels"),
    ("JSON", '{"not":' * DEEP + "{}" + "}" * DEEP, "Nested deeper than 200 levels"),
    ("PROTOBUF", "message A {" * DEEP + "}" * DEEP, "nest deeper"),
    (
        "AVRO",
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":1' + "0" * 100_000 + "}]}",
        "A number is longer than 1000 characters",
    ),
    ("AVRO", '{"type":"fixed","name":"F","size":1e400}', "A number is too large"),
    ("JSON", '{"maximum":1e100000}', "A number is too large"),
    ("PROTOBUF", "message A { optional int32 a = 99999999999999999999999; }", "expected the number of the field"),
]


@pytest.mark.parametrize(("kind", "text", "detail"), REFUSED)
def test_a_schema_beyond_the_limits(api: Any, kind: str, text: str, detail: str) -> None:
    started = time.monotonic()
    answered = api.register("s", text, schemaType=kind)
    assert (answered.status_code, answered.json()["error_code"]) == (422, 42201)
    assert detail in answered.json()["message"]
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        '{"$ref":"#"}',
        '{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}}}',
    ],
)
def test_a_schema_that_refers_to_itself_can_be_compared(api: Any, text: str) -> None:
    assert api.register("s", text, schemaType="JSON").status_code == 200
    answered = api("POST", "/compatibility/subjects/s/versions?verbose=true", {"schema": text, "schemaType": "JSON"})
    assert answered.json() == {"is_compatible": True, "messages": []}


def test_schemas_that_import_each_other_end(api: Any) -> None:
    api("PUT", "/mode", {"mode": "IMPORT"})
    api.register("x", 'syntax = "proto3"; message X {}', schemaType="PROTOBUF", id=1, version=1)
    to_x = [{"name": "x.proto", "subject": "x", "version": 1}]
    api.register("y", 'import "x.proto"; message Y {}', schemaType="PROTOBUF", id=2, version=1, references=to_x)
    to_y = [{"name": "y.proto", "subject": "y", "version": 1}]
    answered = api.register(
        "x", 'import "y.proto"; message X {}', schemaType="PROTOBUF", id=3, version=1, references=to_y
    )
    assert (answered.status_code, answered.json()["message"]) == (
        422,
        'Invalid schema of type PROTOBUF, details: the references lead back to subject "x" and version 1',
    )


#: A schema, and one that refers to it by a name.
REFERRING = {
    "AVRO": ('"int"', '"int"'),
    "JSON": ("true", '{"$ref":"n0"}'),
    "PROTOBUF": ('syntax = "proto3";', 'syntax = "proto3"; import "n0"; message A {}'),
}


@pytest.mark.parametrize("kind", REFERRING)
def test_more_than_ten_thousand_references_are_refused(api: Any, kind: str) -> None:
    base, text = REFERRING[kind]
    assert api.register("base", base, schemaType=kind).status_code == 200
    references = [{"name": f"n{index}", "subject": "base", "version": 1} for index in range(10_001)]
    started = time.monotonic()
    answered = api.register("s", text, schemaType=kind, references=references)
    message = f"Invalid schema of type {kind}, details: more than 10000 references"
    assert (answered.status_code, answered.json()["message"]) == (422, message)
    assert time.monotonic() - started < 5


def test_texts_that_are_long_are_forgotten_sooner() -> None:
    parser = Parser(remembered=1000)
    texts = [f'{{"type":"fixed","name":"F","size":{size},"doc":"{"x" * 300_000}"}}' for size in range(1, 4)]
    first, *_ = (parser(SchemaText("AVRO", text), (), strict=True) for text in texts)
    assert parser(SchemaText("AVRO", texts[2]), (), strict=True) is parser(
        SchemaText("AVRO", texts[2]), (), strict=True
    )
    assert parser(SchemaText("AVRO", texts[0]), (), strict=True) is not first


@pytest.mark.parametrize("field", ["version", "id", "newVersion"])
@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 10**30])
def test_a_number_that_is_no_int32(api: Any, field: str, number: int) -> None:
    api.register("s", '"int"')
    path = "/subjects/s/versions" + ("/1/tags" if field == "newVersion" else "")
    answered = api("POST", path, {"schema": '"int"', field: number})
    assert (answered.status_code, answered.json()["error_code"]) == (400, 400)
    assert answered.json()["message"].startswith(field)


def test_ten_megabytes_are_too_large_a_body(api: Any) -> None:
    answered = api.client.post("/subjects/s/versions", content=b'{"schema":"' + b"x" * 10_000_000 + b'"}')
    assert (answered.status_code, answered.json()["error_code"]) == (413, 413)


def test_more_than_the_store_takes_is_refused(api: Any) -> None:
    api.log.max_record_bytes = 500
    answered = api.register("s", '{"type":"enum","name":"E","symbols":["A"],"doc":"' + "x" * 500 + '"}')
    assert answered.status_code == 422
    assert answered.json() == {
        "error_code": 42209,
        "message": "Register operation failed because schema is too large",
    }


def test_a_request_that_takes_too_long_is_answered(make_api: Callable[..., Any]) -> None:
    api = make_api(**{"request.timeout.ms": "1"})
    wide = '{"type":"record","name":"R","fields":[%s]}'
    text = wide % ",".join(f'{{"name":"f{index}","type":["null","string"]}}' for index in range(3000))
    answered = api.register("s", text)
    assert (answered.status_code, answered.json()["error_code"]) == (504, 504)
