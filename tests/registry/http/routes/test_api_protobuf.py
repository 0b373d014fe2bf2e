"""Protobuf schemas that the reference accepts though protoc would not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.log.port import Record

P3 = 'syntax = "proto3";\n'
B = P3 + "package b;\nmessage B {\n  int32 x = 1;\n}\n"
REFERENCE = {"name": "b.proto", "subject": "b", "version": 1}

ACCEPTED = {
    "an option that nothing declares": (
        'syntax = "proto3";\n\noption (some_ref) = "x";\n\nmessage M {\n  string s = 1;\n}\n',
        [],
    ),
    "options of an import without a reference": (
        'syntax = "proto3";\n\nimport "buf/validate/validate.proto";\n\nmessage M {\n'
        "  string s = 1 [(buf.validate.field).string.min_len = 1];\n}\n",
        [],
    ),
    "a type of a reference that is not imported": (
        'syntax = "proto3";\n\nmessage M {\n  b.B b = 1;\n}\n',
        [REFERENCE],
    ),
    "an option of the reference in a package like its own": (
        'syntax = "proto3";\npackage io.confluent.x;\n\nimport "confluent/meta.proto";\n\nmessage M {\n'
        '  string s = 1 [(confluent.field_meta).doc = "d"];\n}\n',
        [],
    ),
}


@pytest.mark.parametrize(("text", "references"), ACCEPTED.values(), ids=ACCEPTED.keys())
@pytest.mark.parametrize("query", ["", "?normalize=true"])
def test_the_registry_registers_compares_and_looks_up_lenient_protobuf(
    api: Any, text: str, references: list[Any], query: str
) -> None:
    api.register("b", B, schemaType="PROTOBUF")
    answered = api.register("s", text, query, schemaType="PROTOBUF", references=references)
    assert answered.status_code == 200, answered.text
    if not query:
        assert answered.json()["schema"] == text
    again = {"schema": answered.json()["schema"], "schemaType": "PROTOBUF", "references": references}
    assert api("POST", "/subjects/s", again).json()["version"] == 1
    wider = again | {"schema": text + "message Second {\n}\n"}
    verdict = api("POST", "/compatibility/subjects/s/versions/latest?verbose=true", wider)
    assert verdict.json() == {"is_compatible": True, "messages": []}
    assert api("GET", "/subjects/s/versions/1?format=serialized").json()["schema"].startswith("CgdkZWZhdWx0")


def test_a_schema_may_refer_to_lenient_protobuf(api: Any) -> None:
    api.register("b", B, schemaType="PROTOBUF")
    api.register("a", P3 + "package a; message A { b.B b = 1; }", schemaType="PROTOBUF", references=[REFERENCE])
    text = P3 + 'import "a.proto"; message M { a.A a = 1; }'
    references = [{"name": "a.proto", "subject": "a", "version": 1}]
    assert api.register("s", text, schemaType="PROTOBUF", references=references).status_code == 200


def test_a_type_that_no_reference_declares_is_refused(api: Any) -> None:
    answered = api.register("s", P3 + "message M {\n  b.B b = 1;\n}", schemaType="PROTOBUF")
    assert (answered.status_code, answered.json()) == (
        422,
        {
            "error_code": 42201,
            "message": 'Invalid schema of type PROTOBUF, details: line 3, column 3: "b.B" is not defined',
        },
    )


def test_validate_fields_demands_the_imports(api: Any) -> None:
    api("PUT", "/config/s", {"validateFields": True})
    answered = api.register("s", P3 + 'import "x.proto";\nmessage M {\n}', schemaType="PROTOBUF")
    assert (answered.status_code, answered.json()) == (
        422,
        {
            "error_code": 42201,
            "message": "Invalid schema {subject=s,version=0,id=-1,schemaType=PROTOBUF}, details: "
            'line 2, column 1: the import "x.proto" was not found: no reference has this name',
        },
    )
    assert api.register("s", P3 + 'option (x) = "x";', schemaType="PROTOBUF").status_code == 200


SIGN = P3 + "enum Sign { PLUS = 0; MINUS = -1; }"
SORTED = P3 + "\nenum Sign {\n  MINUS = -1;\n  PLUS = 0;\n}\n"


def test_a_normalized_text_is_valid(api: Any) -> None:
    api.register("s", SIGN, "?normalize=true", schemaType="PROTOBUF")
    stored = api("GET", "/schemas/ids/1").json()["schema"]
    assert stored == P3 + "\nenum Sign {\n  PLUS = 0;\n  MINUS = -1;\n}\n"
    assert api.register("other", stored, schemaType="PROTOBUF").json()["id"] == 1


def test_look_up_finds_a_text_that_the_reference_normalized(api: Any) -> None:
    key = {"keytype": "SCHEMA", "subject": "s", "version": 1, "magic": 1}
    value = {"subject": "s", "version": 1, "id": 7, "schemaType": "PROTOBUF", "schema": SORTED, "deleted": False}
    api.log.append([Record(json.dumps(key).encode(), json.dumps(value).encode(), 0)], api.log.end())
    # A node that writes first reads what others have written.
    api.register("other", '"int"')
    assert api.register("s", SIGN, "?normalize=true", schemaType="PROTOBUF").json()["id"] == 7
    assert api.register("s", SORTED, schemaType="PROTOBUF").json()["id"] == 7
    for text, query in ((SIGN, "?normalize=true"), (SORTED, "?normalize=true"), (SORTED, "")):
        assert api("POST", f"/subjects/s{query}", {"schema": text, "schemaType": "PROTOBUF"}).json()["id"] == 7
    assert api.register("s", SIGN.replace("PLUS", "ZERO"), schemaType="PROTOBUF").json()["id"] == 9
