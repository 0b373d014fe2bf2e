"""Outlines and comparisons over HTTP, as the page and curl ask for them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.log.port import Record

FIRST = (
    '{"type":"record","name":"Flight","namespace":"nyc","fields":['
    '{"name":"carrier","type":"string"},{"name":"distance","type":"int"}]}'
)
SECOND = FIRST.replace("]}", ',{"name":"source","type":"string","default":"first"}]}')
THIRD = SECOND.replace('"int"', '"long"').replace(
    '"first"}', '"first"},{"name":"wheels_up","type":["null",{"type":"long","logicalType":"timestamp-millis"}],'
    '"default":null,"doc":"When the aircraft left the ground"}'
)  # fmt: skip
ADDRESS = 'syntax = "proto3";\npackage acme.common;\n\nmessage Address {\n  string street = 1;\n}\n'
ORDER = (
    'syntax = "proto3";\npackage acme;\n\nimport "acme/common/address.proto";\n\n'
    "message Order {\n  int32 id = 1;\n  acme.common.Address to = 2;\n}\n"
)
CUSTOMER = '{"type":"object","properties":{"id":{"type":"string"},"email":{"type":"string"}},"required":["id"]}'
TO_ADDRESS = [{"name": "acme/common/address.proto", "subject": "address", "version": 1}]
ANSWERS = "application/vnd.schemaregistry.v1+json"


@pytest.fixture
def flights(api: Any) -> Any:
    api("PUT", "/config", {"compatibility": "NONE"})
    for text in (FIRST, SECOND, THIRD):
        assert api.register("flights-value", text).status_code == 200
    return api


def compared(api: Any, query: str = "") -> Any:
    answer = api("GET", f"/subjects/flights-value/compare{query}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == ANSWERS
    return answer.json()


def rows(comparison: Any) -> list[tuple[str, str, list[str]]]:
    return [
        (row["kind"], row["name"], [f"{one['rule']} {one['direction']}" for one in row["findings"]])
        for row in comparison["changes"]
    ]


def test_the_outline_of_a_version(flights: Any) -> None:
    answer = flights("GET", "/subjects/flights-value/versions/3/outline").json()
    root = answer.pop("outline")
    assert answer == {
        "subject": "flights-value", "version": 3, "id": 3, "schemaType": "AVRO", "nodes": 5, "cut": False
    }  # fmt: skip
    assert (root["path"], root["kind"], root["type"]) == ("nyc.Flight", "record", "record Flight")
    assert root["children"][-1] == {
        "path": "nyc.Flight.wheels_up",
        "name": "wheels_up",
        "kind": "field",
        "type": "null | timestamp-millis",
        "default": "null",
        "doc": "When the aircraft left the ground",
        "tags": [],
        "number": None,
        "aliases": [],
        "optional": True,
        "attributes": {},
        "at": {"line": 1, "column": THIRD.index('{"name":"wheels_up"') + 1},
        "reference": None,
        "children": [],
    }
    assert flights("GET", "/subjects/flights-value/versions/latest/outline").json()["version"] == 3


def test_the_outline_of_a_text(api: Any) -> None:
    api.register(":.eu:address", ADDRESS, schemaType="PROTOBUF")
    body = {"schema": ORDER, "schemaType": "PROTOBUF", "references": TO_ADDRESS}
    answer = api("POST", "/contexts/.eu/outline", body).json()
    root = answer.pop("outline")
    assert answer == {
        "subject": None, "version": None, "id": None, "schemaType": "PROTOBUF", "nodes": 5, "cut": False
    }  # fmt: skip
    here = {"name": "acme/common/address.proto", "path": None, "subject": "address", "version": 1}
    assert root["children"][0]["reference"] == here
    assert [(node["type"], node["number"], node["reference"]) for node in root["children"][1]["children"]] == [
        ("int32", 1, None),
        ("message acme.common.Address", 2, here | {"name": "acme.common.Address"}),
    ]
    # There is no such subject in the default context.
    assert api("POST", "/outline", body).json() == {
        "error_code": 42201,
        "message": "Invalid schema of type PROTOBUF, details: No schema reference found for subject"
        ' "address" and version 1',
    }


def test_two_versions_are_compared_both_ways(flights: Any) -> None:
    comparison = compared(flights, "?from=1&to=3")
    changes = comparison.pop("changes")
    assert comparison == {
        "from": {"subject": "flights-value", "version": 1, "id": 1, "schemaType": "AVRO"},
        "to": {"subject": "flights-value", "version": 3, "id": 3, "schemaType": "AVRO"},
        "backward": {"compatible": True, "errors": 0, "warnings": 0},
        "forward": {"compatible": False, "errors": 1, "warnings": 0},
        "levels": {"NONE": True, "BACKWARD": True, "FORWARD": False, "FULL": False},
        "policy": "STRICT",
        "unchanged": 1,
        "cut": False,
    }
    assert [(row["kind"], row["path"], row["what"], row["leaves"]) for row in changes] == [
        ("changed", "nyc.Flight.distance", ["type"], 0),
        ("added", "nyc.Flight.source", [], 1),
        ("added", "nyc.Flight.wheels_up", [], 1),
    ]
    assert [row["fieldPath"] for row in changes] == ["distance", "source", "wheels_up"]
    distance, source, _ = changes
    assert (distance["old"]["type"], distance["new"]["type"]) == ("int", "long")
    assert distance["at"]["old"] == {"line": 1, "column": FIRST.index('{"name":"distance"') + 1}
    assert (source["old"], source["at"]["old"], source["new"]["default"]) == (None, None, '"first"')
    (finding,) = distance["findings"]
    # As ?explain=true gives it, with the datum that shows the break.
    assert (finding["rule"], finding["direction"], finding["severity"]) == ("TYPE_MISMATCH", "FORWARD", "error")
    assert finding["breaks"] == "readers with version 1, on data written with the new schema"
    assert json.loads(finding["example"]) == {"carrier": "", "distance": 0, "source": "", "wheels_up": None}
    assert finding["fixes"][0]["edits"]


def test_without_parameters_the_latest_is_compared_with_the_one_before(flights: Any) -> None:
    comparison = compared(flights)
    assert (comparison["from"]["version"], comparison["to"]["version"]) == (2, 3)
    assert [row["name"] for row in comparison["changes"]] == ["distance", "wheels_up"]
    backwards = compared(flights, "?from=3&to=2")
    assert [(row["kind"], row["name"]) for row in backwards["changes"]] == [
        ("changed", "distance"),
        ("removed", "wheels_up"),
    ]
    assert (backwards["backward"]["compatible"], backwards["forward"]["compatible"]) == (False, True)


def test_a_comparison_may_name_a_version_of_another_subject(flights: Any) -> None:
    flights.register("a%2Fb%20%C3%A9%3F%23", FIRST)
    comparison = compared(flights, "?to=2&fromSubject=a%2Fb%20%C3%A9%3F%23")
    assert comparison["from"] == {"subject": "a/b é?#", "version": 1, "id": 1, "schemaType": "AVRO"}
    assert rows(comparison) == [("added", "source", [])]
    again = flights("GET", "/subjects/a%2Fb%20%C3%A9%3F%23/compare?fromSubject=flights-value&from=latest").json()
    assert (again["from"]["version"], again["to"]["version"]) == (3, 1)


def test_two_types_of_schema_share_nothing(flights: Any) -> None:
    flights.register("customers", CUSTOMER, schemaType="JSON")
    comparison = compared(flights, "?fromSubject=customers")
    assert comparison["changes"][0]["kind"] == "changed"
    assert comparison["unchanged"] == 0
    findings = [one["rule"] for row in comparison["changes"] for one in row["findings"]]
    assert findings == ["SCHEMA_TYPE_CHANGED", "SCHEMA_TYPE_CHANGED"]


def test_a_text_is_compared_with_a_version(flights: Any) -> None:
    text = SECOND.replace('"carrier","type":"string"', '"airline","aliases":["carrier"],"type":"string"')
    answer = flights("POST", "/subjects/flights-value/compare?from=2", {"schema": text}).json()
    assert answer["to"] == {"subject": "flights-value", "version": None, "id": None, "schemaType": "AVRO"}
    assert answer["from"]["version"] == 2
    assert rows(answer) == [("renamed", "airline", ["READER_FIELD_MISSING_DEFAULT_VALUE FORWARD"])]
    assert answer["changes"][0]["new"]["aliases"] == ["carrier"]
    newest = flights("POST", "/subjects/flights-value/compare", {"schema": text}).json()
    assert newest["from"]["version"] == 3


def test_each_version_with_the_one_before(flights: Any) -> None:
    steps = compared(flights, "?consecutive=true")
    assert [(step["from"]["version"], step["to"]["version"]) for step in steps] == [(2, 3), (1, 2)]
    assert [[name for _, name, _ in rows(step)] for step in steps] == [["distance", "wheels_up"], ["source"]]
    # Without explain=true, a list has no examples and fixes.
    assert steps[0]["changes"][0]["findings"][0]["example"] is None
    assert compared(flights, "?consecutive=true&explain=true")[0] == compared(flights, "?from=2&to=3")
    assert len(compared(flights, "?consecutive=true&limit=1")) == 1
    assert [step["to"]["version"] for step in compared(flights, "?consecutive=true&to=2")] == [2]
    assert [step["to"]["version"] for step in compared(flights, "?consecutive=true&from=2")] == [3]
    assert compared(flights, "?consecutive=true&to=1") == []


def test_deleted_versions_are_left_out_unless_the_query_says_so(flights: Any) -> None:
    flights("DELETE", "/subjects/flights-value/versions/2")
    assert compared(flights)["from"]["version"] == 1
    assert compared(flights, "?deleted=true")["from"]["version"] == 2
    assert [step["from"]["version"] for step in compared(flights, "?consecutive=true")] == [1]
    assert [step["from"]["version"] for step in compared(flights, "?consecutive=true&deleted=true")] == [2, 1]
    assert flights("GET", "/subjects/flights-value/versions/2/outline").status_code == 404
    assert flights("GET", "/subjects/flights-value/versions/2/outline?deleted=true").status_code == 200


REFUSED = [
    ("GET", "/subjects/none/versions/1/outline", None, 40401, "Subject 'none' not found."),
    ("GET", "/subjects/flights-value/versions/9/outline", None, 40402, "Version 9 not found."),
    ("GET", "/subjects/flights-value/versions/x/outline", None, 42202, "The specified version 'x' is not a valid"),
    ("GET", "/subjects/none/compare", None, 40401, "Subject 'none' not found."),
    ("GET", "/subjects/flights-value/compare?to=9", None, 40402, "Version 9 not found."),
    ("GET", "/subjects/flights-value/compare?from=9", None, 40402, "Version 9 not found."),
    ("GET", "/subjects/flights-value/compare?from=x", None, 42202, "The specified version 'x' is not a valid"),
    ("GET", "/subjects/flights-value/compare?to=1", None, 400, "'flights-value' has no version before 1; name the"),
    ("GET", "/subjects/flights-value/compare?fromSubject=none", None, 40401, "Subject 'none' not found."),
    ("GET", "/subjects/flights-value/compare?fromSubject=__GLOBAL", None, 42208, "The specified subject '__GLOBAL'"),
    ("POST", "/outline", {"schema": "{"}, 42201, "Invalid schema of type AVRO, details: Expecting property name"),
    ("POST", "/outline", {"schema": " "}, 42201, "Empty schema"),
    ("POST", "/outline", {"schema": "{}", "schemaType": "XML"}, 42201, "Invalid schema type XML"),
    ("POST", "/outline", {"schema": 7}, 400, "schema must be a string, not an integer"),
    ("POST", "/subjects/flights-value/compare", {"schema": '"strin"'}, 42201, "Invalid schema of type AVRO, details"),
    ("POST", "/subjects/flights-value/compare?from=9", {"schema": '"string"'}, 40402, "Version 9 not found."),
    ("POST", "/subjects/none/compare", {"schema": '"string"'}, 40401, "Subject 'none' not found."),
]


@pytest.mark.parametrize(("method", "path", "body", "code", "text"), REFUSED)
def test_the_error_names_the_fault(flights: Any, method: str, path: str, body: Any, code: int, text: str) -> None:
    answer = flights(method, path, body)
    assert (answer.json()["error_code"], answer.status_code) == (code, code if code < 1000 else code // 100)
    assert text in answer.json()["message"]


def test_an_unreadable_stored_text_hides_no_other_text(api: Any) -> None:
    for number, text in enumerate((FIRST, '{"type":"recor"}', SECOND, THIRD), 1):
        # Other servers may have stored such a text.
        key = json.dumps({"keytype": "SCHEMA", "subject": "flights-value", "version": number, "magic": 1})
        value = {"subject": "flights-value", "version": number, "id": number, "schema": text, "deleted": False}
        api.log.append([Record(key.encode(), json.dumps(value).encode(), 0)], api.log.end())
    # A node that writes first reads what others have written.
    api.register("other", '"int"')
    steps = compared(api, "?consecutive=true")
    assert [step.get("error", {}).get("error_code") for step in steps] == [None, 42201, 42201]
    for step in steps[1:]:
        assert step["error"]["message"] == ("Invalid schema of type AVRO, details: version 2: Undefined schema: recor")
    answer = api("GET", "/subjects/flights-value/versions/2/outline")
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42201)
