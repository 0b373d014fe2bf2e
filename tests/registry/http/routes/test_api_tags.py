"""Tags in schema texts, new versions made of old ones, and forms of references."""

from __future__ import annotations

from typing import Any

import pytest

AVRO = '{"type":"record","name":"R","namespace":"n","fields":[{"name":"f","type":"string"}]}'
JSON = (
    '{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}}'
    ',"u":{"oneOf":[{"type":"object","properties":{"c":{"type":"string"}}}]}}}'
)
PROTOBUF = (
    'syntax = "proto3";\npackage com.example;\n\nmessage M {\n  string f = 1;\n\n  oneof o {\n    string x = 2;\n  }\n'
    "\n  message N {\n    string z = 1;\n  }\n}\n"
)


def tags(path: str, kind: str, *names: str) -> dict[str, Any]:
    return {"schemaEntity": {"entityPath": path, "entityType": kind}, "tags": list(names)}


TAGGED = [
    ("AVRO", AVRO, tags("n.R.f", "sr_field", "PII"), AVRO.replace('"string"', '"string","confluent:tags":["PII"]')),
    ("AVRO", AVRO, tags(".n.R", "sr_record", "A", "B"), AVRO[:-1] + ',"confluent:tags":["A","B"]}'),
    (
        "JSON",
        JSON,
        tags("object.a.array.object.b", "sr_field", "PII"),
        JSON.replace('"b":{"type":"string"', '"b":{"type":"string","confluent:tags":["PII"]'),
    ),
    (
        "JSON",
        JSON,
        tags("object.u.oneof.0.object", "sr_record", "T"),
        JSON.replace('"c":{"type":"string"}}', '"c":{"type":"string"}},"confluent:tags":["T"]'),
    ),
    (
        "PROTOBUF",
        PROTOBUF,
        tags("M.f", "sr_field", "PII"),
        PROTOBUF.replace("\n\nmessage M", '\n\nimport "confluent/meta.proto";\n\nmessage M').replace(
            "f = 1;", 'f = 1 [(confluent.field_meta) = {\n    tags: [\n      "PII"\n    ]\n  }];'
        ),
    ),
]


@pytest.mark.parametrize(("kind", "text", "tag", "expected"), TAGGED)
def test_the_registry_adds_finds_and_removes_tags_in_the_text(
    api: Any, kind: str, text: str, tag: dict[str, Any], expected: str
) -> None:
    api.register("s", text, schemaType=kind)
    answered = api("POST", "/subjects/s/versions/latest/tags", {"newVersion": 2, "tagsToAdd": [tag]})
    assert answered.status_code == 200
    assert answered.json()["schema"] == expected
    assert answered.json()["version"] == 2
    assert answered.json()["metadata"] == {"properties": {"confluent:version": "2"}}
    plain = {**tag["schemaEntity"], "entityPath": tag["schemaEntity"]["entityPath"].removeprefix(".")}
    found = [{"schemaEntity": plain, "tags": tag["tags"]}]
    assert api("GET", "/subjects/s/versions/2?findTags=*").json()["schemaTags"] == found
    assert api("GET", f"/schemas/ids/2?findTags=nope&findTags={tag['tags'][0]}").json()["schemaTags"] == [
        {"schemaEntity": plain, "tags": tag["tags"][:1]}
    ]
    assert "schemaTags" not in api("GET", "/subjects/s/versions/2?findTags=nope").json()
    removed = api("POST", "/subjects/s/versions/2/tags", {"tagsToRemove": [tag]}).json()
    assert removed["version"] == 3
    assert "confluent:tags" not in removed["schema"]
    assert "field_meta" not in removed["schema"]


def test_protobuf_paths_name_nested_messages_oneof_members_and_optionally_the_package(api: Any) -> None:
    api.register("s", PROTOBUF, schemaType="PROTOBUF")
    added = [tags("com.example.M.N", "sr_record", "A"), tags(".M.N.z", "sr_field", "B"), tags("M.x", "sr_field", "C")]
    assert api("POST", "/subjects/s/versions/1/tags", {"tagsToAdd": added}).status_code == 200
    found = api("GET", "/subjects/s/versions/2?findTags=*").json()["schemaTags"]
    assert found == [tags("M.N", "sr_record", "A"), tags("M.N.z", "sr_field", "B"), tags("M.x", "sr_field", "C")]


def test_registering_adds_removes_and_propagates_tags(api: Any) -> None:
    body = api.register("s", AVRO, schemaTagsToAdd=[tags("n.R.f", "sr_field", "PII")]).json()
    assert body["schema"] == AVRO.replace('"string"', '"string","confluent:tags":["PII"]')
    assert body["metadata"] == {"properties": {"confluent:version": "1"}}
    wider = AVRO.replace('"string"}', '"string"},{"name":"g","type":"int","default":0}')
    body = api.register("s", wider, propagateSchemaTags=True).json()
    assert body["schema"] == wider.replace('"string"}', '"string","confluent:tags":["PII"]}')
    body = api.register("s", body["schema"], schemaTagsToRemove=[tags("n.R.f", "sr_field", "PII")]).json()
    assert (body["version"], body["schema"]) == (3, wider)


def test_a_schema_that_gets_tags_inherits_metadata_although_an_older_version_has_its_text(api: Any) -> None:
    tagged = AVRO.replace('"string"', '"string","confluent:tags":["PII"]')
    wider = tagged.replace("}]}", '},{"name":"g","type":"int","default":0}]}')
    assert api.register("s", tagged).json()["version"] == 1
    assert api.register("s", wider, metadata={"properties": {"owner": "us"}}).json()["version"] == 2
    body = api.register("s", AVRO, propagateSchemaTags=True).json()
    assert (body["version"], body["schema"]) == (3, tagged)
    assert body["metadata"] == {"properties": {"owner": "us"}}


def test_tags_for_no_schema(api: Any) -> None:
    body = {"schemaTagsToAdd": [tags("n.R.f", "sr_field", "PII")]}
    answered = api("POST", "/subjects/s/versions", body)
    assert (answered.status_code, answered.json()) == (422, {"error_code": 42201, "message": "Empty schema"})


def test_a_new_version_with_other_rules_and_metadata(api: Any) -> None:
    rule = {"name": "r1", "type": "CEL", "kind": "CONDITION", "mode": "WRITE", "expr": "true", "disabled": False}
    api.register("s", AVRO)
    merged = api("POST", "/subjects/s/versions/1/tags", {"rulesToMerge": {"domainRules": [rule]}}).json()
    assert merged["ruleSet"] == {"domainRules": [rule]}
    dropped = api(
        "POST", "/subjects/s/versions/2/tags", {"rulesToRemove": ["r1"], "metadata": {"properties": {"a": "b"}}}
    ).json()
    assert "domainRules" not in dropped["ruleSet"]
    assert dropped["metadata"] == {"properties": {"a": "b", "confluent:version": "3"}}


@pytest.mark.parametrize(
    ("path", "body", "status", "code", "message"),
    [
        (
            "s/versions/1",
            {"tagsToAdd": [tags("does.not.exist", "sr_field", "T")]},
            422,
            42201,
            "Invalid schema of type AVRO, details: No matching path 'does.not.exist' of type sr_field",
        ),
        (
            "s/versions/1",
            {"newVersion": 1, "tagsToAdd": [tags("n.R", "sr_record", "T")]},
            422,
            42201,
            "Version is not one more than previous version",
        ),
        (
            "s/versions/1",
            {"ruleSet": {}, "rulesToRemove": ["r"]},
            422,
            42210,
            "ruleSet should be omitted if specifying rulesToMerge or rulesToRemove",
        ),
        ("none/versions/1", {}, 404, 40401, "Subject 'none' not found."),
        ("s/versions/7", {}, 404, 40402, "Version 7 not found."),
        ("s/versions/0", {}, 422, 42202, "The specified version '0' is not a valid version id."),
        ("__GLOBAL/versions/1", {}, 422, 42208, "The specified subject '__GLOBAL' is not a valid."),
        ("s/versions/1", {"tagsToAdd": [7]}, 400, 400, "tagsToAdd[0] must be an object, not an integer"),
        ("s/versions/1", {"tagsToAdd": [tags("", "x")]}, 400, 400, "tagsToAdd[0].schemaEntity needs an entityPath"),
    ],
)
def test_tagging_that_is_refused(api: Any, path: str, body: Any, status: int, code: int, message: str) -> None:
    api.register("s", AVRO)
    answered = api("POST", f"/subjects/{path}/tags", body)
    assert (answered.status_code, answered.json()["error_code"]) == (status, code)
    assert answered.json()["message"].startswith(message)


def test_references_are_qualified_on_demand(api: Any) -> None:
    api.register(":.c:base", '{"type":"enum","name":"E","symbols":["A"]}')
    text = '{"type":"record","name":"Q","fields":[{"name":"e","type":"E"}]}'
    api.register(":.c:s", text, references=[{"name": "E", "subject": "base", "version": 1}])
    for path in ("/subjects/:.c:s/versions/1", "/schemas/ids/2?subject=:.c:"):
        assert api("GET", path).json()["references"][0]["subject"] == "base"
        joint = "&" if "?" in path else "?"
        qualified = api("GET", f"{path}{joint}referenceFormat=qualified").json()["references"]
        assert qualified == [{"name": "E", "subject": ":.c:base", "version": 1}]
