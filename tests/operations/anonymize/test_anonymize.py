"""An anonymous state has no name and no text of the first, and what belonged together still does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.avro import AvroSchema
from compat.formats import parse
from compat.json_schema.model.metaschemas import finds
from compat.protobuf import ProtobufSchema
from compat.schema import PROTOBUF, SchemaText
from magicbyte.operations.anonymize.anonymize import anonymize
from magicbyte.operations.anonymize.json_schema_text import AnonymousJsonSchema
from magicbyte.operations.anonymize.tokens import Tokens
from magicbyte.operations.comparison.compare import compare
from magicbyte.operations.comparison.meaning import StateVersions, parse_version
from magicbyte.operations.state import State

KEY = b"0123456789abcdef"
OTHER_KEY = b"fedcba9876543210"
TOKENS = Tokens(KEY)
of = TOKENS.of

#: Every text that must go has `secret` in it.
_RECORD = "com.secret1.Secret2"
_AVRO = {
    "type": "record",
    "name": _RECORD,
    "doc": "secret3",
    "aliases": ["Secret4"],
    "secret5": {"secret6": "secret7"},
    "fields": [
        {"name": "secret8", "type": {"type": "string", "avro.java.string": "String"}, "default": "secret9"},
        {"name": "secret11", "type": ["null", "com.secret1.Secret2"], "default": None, "aliases": ["secret12"]},
        {"name": "secret13", "type": {"type": "fixed", "name": "Secret14", "size": 9}, "default": "secret150"},
        {
            "name": "secret16",
            "type": {"type": "enum", "name": "Secret17", "symbols": ["SECRET18", "SECRET19"], "default": "SECRET19"},
            "default": "SECRET18",
        },
        {
            "name": "secret20",
            "type": {"type": "map", "values": {"type": "array", "items": "com.secret1.Secret17"}},
            "default": {"secret21": ["SECRET18"]},
        },
        {"name": "secret22", "type": {"type": "bytes", "logicalType": "decimal", "precision": 4}, "default": "s23"},
        {"name": "secret24", "type": {"type": "int", "logicalType": "date"}, "default": 987654},
        {"name": "secret25", "type": {"type": "long", "logicalType": "secret26"}, "default": 987654},
        {"name": "secret27", "type": "double", "default": "NaN", "confluent:tags": ["secret28"]},
        {"name": "secret29", "type": "Secret14", "default": "secret300"},
    ],
}  # fmt: skip
_JSON = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "$id": "https://secret.example/secret1/secret2.json",
    "title": "secret3",
    "description": "secret4",
    "type": "object",
    "properties": {
        "secret5": {"$ref": "#/definitions/secret~16%20x"},
        "secret7": {"$ref": "secret8.json#/properties/secret9"},
        "title": {
            "type": "string",
            "pattern": "^secret10",
            "format": "date-time",
            "default": "secret11",
            "maxLength": 5,
        },
        "secret12": {"enum": ["secret13", 42, {"secret14": "secret15"}], "format": "secret16"},
        "x": {"$ref": "https://secret.example/secret1/secret8.json"},
    },
    "required": ["secret5"],
    "dependencies": {"secret5": ["secret7"], "secret7": {"required": ["secret12"]}},
    "patternProperties": {"^secret[57]$": {"type": "integer"}},
    "definitions": {"secret/6 x": {"const": "secret17", "$comment": "secret18"}},
    "secret19": {"type": {"secret20": "secret21"}},
    "examples": [{"secret22": "secret23"}],
}
_PROTO = """
syntax = "proto2";
package com.secret1;
import "google/protobuf/timestamp.proto";
import "google/protobuf/descriptor.proto";
import "secret2/secret3.proto";
option java_package = "com.secret4";
option (secret5) = "secret6"; // secret7
extend google.protobuf.FileOptions { optional string secret5 = 50000; }
message Secret8 {
  reserved "secret9";
  extensions 100 to 199;
  optional .google.protobuf.Timestamp secret10 = 1 [json_name = "secret11", deprecated = true];
  optional Secret12 secret13 = 2 [default = SECRET14];
  optional string secret15 = 3 [default = "secret16"];
  repeated group Secret17 = 4 { optional com.secret18.Secret19 secret20 = 1; }
  map<string, Secret8> secret21 = 5;
  oneof secret22 { int32 secret23 = 6; }
  enum Secret12 { SECRET14 = 0; }
}
service Secret24 { rpc Secret25 (Secret8) returns (stream .com.secret1.Secret8); }
"""
_IMPORTED = 'syntax = "proto2"; package com.secret18; message Secret19 { optional int32 secret26 = 1; }'
_CONTRACT = {
    "metadata": {
        "tags": {"com.secret1.Secret2.secret8": ["SECRET31"], "**.secret8": ["SECRET31"]},
        "properties": {"secret32": "secret33", "confluent:version": "1", "confluent:reserved": "secret34, secret35"},
        "sensitive": ["secret32"],
    },
    "ruleSet": {
        "domainRules": [
            {
                "name": "secret36",
                "doc": "secret37",
                "kind": "TRANSFORM",
                "mode": "WRITEREAD",
                "type": "CEL_FIELD",
                "tags": ["SECRET31"],
                "params": {"encrypt.kek.name": "secret38", "secret39": "secret40"},
                "expr": "value + 'secret41'",
                "onFailure": "DLQ,SECRET42",
                "disabled": False,
            }
        ]
    },
}


def _schema(subject: str, schema_id: int, schema: Any, schema_type: str = "AVRO", **more: Any) -> dict[str, Any]:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    line = {"kind": "schema", "subject": subject, "version": 1, "id": schema_id, "schemaType": schema_type}
    return {**line, "schema": text, "ts": 77, **more}


def _reference(name: str, subject: str) -> dict[str, Any]:
    return {"references": [{"name": name, "subject": subject, "version": 1}]}


_LINES = [
    {"kind": "context", "context": ".", "listed": True, "maxId": 99},
    {"kind": "context", "context": ".secret50", "listed": True, "maxId": 98},
    _schema("secret51-value", 1, _AVRO, **_CONTRACT),
    _schema("com.secret1.Secret52", 2, f'["{_RECORD}"]', **_reference(_RECORD, "secret51-value")),
    _schema(":.secret50:secret51-key", 3, '"int"', deleted=True),
    _schema("secret53", 4, _JSON, "JSON", **_reference("secret8.json", "secret54")),
    _schema("secret54", 5, {"properties": {"secret9": {"type": "number"}}}, "JSON"),
    _schema("secret2/secret3.proto", 6, _IMPORTED, "PROTOBUF"),
    _schema("secret55", 7, _PROTO, "PROTOBUF", **_reference("secret2/secret3.proto", "secret2/secret3.proto")),
    _schema("secret56", 8, "{secret57"),
    _schema("secret58", 9, '"int"'),
    _schema("secret59", 10, ' "int"'),
    {"kind": "config", "subject": "secret51-value", "config": {"compatibilityGroup": "secret32", "alias": "secret58"}},
    {"kind": "config", "subject": ":.secret50:", "config": {"defaultMetadata": _CONTRACT["metadata"]}},
    {"kind": "config", "config": {"compatibilityLevel": "FULL", "overrideRuleSet": _CONTRACT["ruleSet"]}},
    {"kind": "mode", "subject": "secret53", "mode": "READONLY"},
    {"kind": "mode", "mode": "IMPORT"},
]  # fmt: skip
STATE = State.of_lines(_LINES)
ANONYMIZED = anonymize(STATE, KEY)
ANONYMOUS = ANONYMIZED.state


def test_no_name_and_no_text_is_left() -> None:
    lines = list(ANONYMOUS.lines())
    assert len(lines) == len(_LINES)
    assert "secret" not in json.dumps(lines).lower()
    assert "987654" not in json.dumps(lines)


def test_ids_versions_flags_times_and_levels_stay() -> None:
    kept = [(one.number, one.schema_id, one.deleted, one.timestamp, one.schema_type) for one in STATE.versions.values()]
    assert kept == [
        (one.number, one.schema_id, one.deleted, one.timestamp, one.schema_type) for one in ANONYMOUS.versions.values()
    ]
    assert list(ANONYMOUS.contexts) == [".", f".{of('secret50')}"]
    assert [context.highest_id for context in ANONYMOUS.contexts.values()] == [99, 98]
    assert ANONYMOUS.modes == {None: "IMPORT", of("secret53"): "READONLY"}
    config = ANONYMOUS.configs[None]
    assert config.compatibility_level == "FULL"


def test_names_of_subjects_keep_their_parts() -> None:
    record = f"{of('com')}.{of('secret1')}.{of('Secret52')}"
    assert [subject for subject, _ in ANONYMOUS.versions] == [
        f"{of('secret51')}-value",
        record,
        f":.{of('secret50')}:{of('secret51')}-key",
        of("secret53"),
        of("secret54"),
        f"{of('secret2')}/{of('secret3')}.{of('proto')}",
        of("secret55"),
        of("secret56"),
        of("secret58"),
        of("secret59"),
    ]
    config = ANONYMOUS.configs[f"{of('secret51')}-value"]
    assert (config.alias, config.compatibility_group) == (of("secret58"), of("secret32"))


def test_anonymized_texts_still_parse_and_references_keep_their_targets() -> None:
    known = StateVersions(ANONYMOUS)
    for before, after in zip(STATE.versions.values(), ANONYMOUS.versions.values(), strict=True):
        if before.subject == "secret56":
            assert not after.text.startswith("{")
            continue
        schema = parse_version(known, after)
        assert schema.schema_type == before.schema_type
        if isinstance(schema, ProtobufSchema):
            assert schema.descriptor()
    assert ANONYMIZED.notes[-1] == "1 version with a text that does not parse: it became a token"


def test_avro_keeps_types_logical_types_and_valid_defaults() -> None:
    version = ANONYMOUS.versions[f"{of('secret51')}-value", 1]
    text = json.loads(version.text)
    assert text["name"] == f"{of('com')}.{of('secret1')}.{of('Secret2')}"
    fields = {field["name"]: field for field in text["fields"]}
    assert len(fields[of("secret13")]["default"]) == 9
    assert fields[of("secret16")]["type"]["symbols"] == [of("SECRET18"), of("SECRET19")]
    assert fields[of("secret16")]["type"]["default"] == of("SECRET19")
    assert fields[of("secret16")]["default"] == of("SECRET18")
    assert fields[of("secret20")]["default"] == {of("secret21"): [of("SECRET18")]}
    assert fields[of("secret22")]["type"] == {"type": "bytes", "logicalType": "decimal", "precision": 4}
    assert fields[of("secret24")]["type"]["logicalType"] == "date"
    assert fields[of("secret25")]["type"]["logicalType"] == of("secret26")
    assert fields[of("secret27")]["default"] == "NaN"
    assert fields[of("secret27")]["confluent:tags"] == [of("secret28")]
    assert len(fields[of("secret29")]["default"]) == 9
    schema = parse(version.content.schema, strict=True)
    assert isinstance(schema, AvroSchema)


def test_json_schema_keeps_references_patterns_and_restrictions() -> None:
    schema = json.loads(ANONYMOUS.versions[of("secret53"), 1].text)
    properties = schema["properties"]
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert properties[of("secret5")] == {"$ref": f"#/definitions/{of('secret/6 x')}"}
    assert schema["definitions"][of("secret/6 x")]["const"] == of("secret17")
    reference = f"{of('secret8.json')}#/properties/{of('secret9')}"
    assert properties[of("secret7")] == {"$ref": reference}
    assert schema["required"] == [of("secret5")]
    assert schema["dependencies"] == {of("secret5"): [of("secret7")], of("secret7"): {"required": [of("secret12")]}}
    title = properties[of("title")]
    assert (title["format"], title["maxLength"]) == ("date-time", 5)
    assert properties[of("secret12")]["enum"] == [of("secret13"), 42, {of("secret14"): of("secret15")}]
    (pattern,) = schema["patternProperties"]
    assert [name for name in properties if finds(pattern, name)] == [of("secret5"), of("secret7")]


def test_protobuf_keeps_well_known_types_and_numbers() -> None:
    text = ANONYMOUS.versions[of("secret55"), 1].text
    assert 'import "google/protobuf/timestamp.proto";' in text
    assert f'import "{of("secret2")}/{of("secret3")}.proto";' in text
    assert f".google.protobuf.Timestamp {of('secret10')} = 1" in text
    assert f"repeated group {of('Secret17')} = 4" in text
    assert f"default = {of('SECRET14')}" in text
    assert "deprecated = true" in text
    assert "extensions 100 to 199;" in text
    assert f"(stream .{of('com')}.{of('secret1')}.{of('Secret8')})" in text


@pytest.mark.parametrize(
    "text",
    [
        'syntax = "proto3"; package google.type; message Date { int32 year = 1; }',
        'syntax = "proto3"; import "confluent/meta.proto"; message A { confluent.Meta a = 1; }',
    ],
)
def test_files_of_well_known_packages_and_their_types_are_understood(text: str) -> None:
    state = State.of_lines([_schema("a", 1, text, PROTOBUF)])
    (version,) = anonymize(state, KEY).state.versions.values()
    schema = parse(SchemaText(PROTOBUF, version.text), strict=True)
    assert isinstance(schema, ProtobufSchema)
    assert schema.descriptor()
    assert ("google.type" in version.text) == ("google.type" in text)
    assert ("confluent.Meta" in version.text) == ("confluent.Meta" in text)


def test_metadata_and_rules_keep_the_names_known_to_clients() -> None:
    content = ANONYMOUS.versions[f"{of('secret51')}-value", 1].content
    assert content.metadata is not None
    assert content.metadata.to_json() == {
        "tags": {
            f"**.{of('secret8')}": [of("SECRET31")],
            f"{of('com')}.{of('secret1')}.{of('Secret2')}.{of('secret8')}": [of("SECRET31")],
        },
        "properties": {
            "confluent:reserved": f"{of('secret34')},{of('secret35')}",
            "confluent:version": "1",
            of("secret32"): of("secret33"),
        },
        "sensitive": [of("secret32")],
    }
    assert content.rule_set is not None
    content.rule_set.validate()
    (rule,) = content.rule_set.domain_rules
    assert (rule.kind, rule.mode, rule.type, rule.tags) == ("TRANSFORM", "WRITEREAD", "CEL_FIELD", (of("SECRET31"),))
    assert rule.on_failure == f"DLQ,{of('SECRET42')}"
    assert rule.params == {"encrypt.kek.name": of("secret38"), of("secret39"): of("secret40")}


def test_different_texts_stay_different() -> None:
    texts = [ANONYMOUS.versions[of(name), 1].text for name in ("secret58", "secret59")]
    assert texts == ['"int"', '"int" ']


def test_the_key_decides_the_tokens() -> None:
    assert compare(anonymize(STATE, KEY).state, ANONYMOUS).is_equal
    other = anonymize(STATE, OTHER_KEY).state
    assert {subject for subject, _ in other.versions}.isdisjoint(subject for subject, _ in ANONYMOUS.versions)
    with pytest.raises(ValueError, match="the key has 15 bytes, and needs at least 16"):
        anonymize(STATE, KEY[:15])


def test_the_first_letter_keeps_its_case() -> None:
    assert [token[0] for token in (of("Abc"), of("abc"), of("_abc"), of("Éa"), of("9"))] == ["N", "n", "n", "N", "n"]
    assert of("") == ""
    assert of("abc") != of("Abc")


_NAMES = st.text("abcxyz019_", min_size=1, max_size=5)


@given(st.sets(_NAMES, min_size=1), st.sampled_from(["^a", "[0-9]$", "^x.*z$", "b|c", "(", "^..$"]))
def test_anonymized_patterns_match_the_tokens_of_the_same_names(names: set[str], pattern: str) -> None:
    anonymous = AnonymousJsonSchema(TOKENS, frozenset(names))
    replaced = anonymous.pattern_of_names(pattern)
    assert {name for name in names if finds(replaced, of(name))} == {name for name in names if finds(pattern, name)}


@pytest.mark.parametrize(
    ("uri", "anonymous"),
    [
        ("a.json", of("a.json")),
        ("./a/../b", f"./{of('a')}/../{of('b')}"),
        ("http://h/a?b#c", f"http://{of('h')}/{of('a')}?{of('b')}#{of('c')}"),
        ("urn:a:b", f"urn:{of('a')}:{of('b')}"),
        ("#", "#"),
        ("#/properties/properties/items/0/not", f"#/properties/{of('properties')}/items/0/not"),
        ("#/a/items/b", f"#/{of('a')}/items/{of('b')}"),
        ("https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/schema"),
    ],
)
def test_uris_are_replaced_part_by_part(uri: str, anonymous: str) -> None:
    assert AnonymousJsonSchema(TOKENS, frozenset()).uri(uri) == anonymous
