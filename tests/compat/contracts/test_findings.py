"""Findings about rule sets: each check fires once, and is silent about the same rule set without the fault."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import compat.contracts.findings
from compat.contracts.findings import Contract, Finding, check_rules
from compat.contracts.findings.contract import SchemaVersion
from compat.contracts.findings.table import CHECKS
from compat.contracts.model import Metadata, RuleSet
from compat.schema import AVRO, JSON, PROTOBUF, SchemaText


def field(name: str, type_: Any, *tags: str) -> dict[str, Any]:
    return {"name": name, "type": type_, **({"confluent:tags": list(tags)} if tags else {})}


PERSON = {
    "type": "record",
    "name": "Person",
    "namespace": "acme",
    "fields": [
        field("id", "long"),
        field("ok", "boolean"),
        field("name", "string", "PII"),
        field("nick", ["null", "string"], "N"),
        field("kind", {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}, "E"),
        field("mark", {"type": "fixed", "name": "Mark", "size": 2}, "F"),
        field("age", "int", "NUM"),
        field("mixed", ["null", "string", "int"], "U"),
        field("at", {"type": "long", "logicalType": "timestamp-millis"}, "TS"),
        field("price", {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "DEC"),
        field("mood", ["null", {"type": "enum", "name": "Mood", "symbols": ["UP", "DOWN"]}]),
        field("home", {"type": "record", "name": "Home", "fields": [field("street", "string", "S")]}),
    ],
}
OPEN = {"type": "object", "properties": {"id": {"type": "integer"}, "kind": {"enum": ["a", "b"]}}}
PROTO = """
syntax = "proto3";
import "confluent/meta.proto";
message Other { string text = 1; }
message Person {
  int64 id = 1;
  map<string, string> labels = 2 [(confluent.field_meta).tags = "M"];
  uint32 count = 3 [(confluent.field_meta).tags = "C"];
}
"""


def cel(expr: str | None, **more: Any) -> dict[str, Any]:
    return {"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": expr, **more}


def of_field(expr: str, *tags: str, **more: Any) -> dict[str, Any]:
    return cel(expr, type="CEL_FIELD", tags=list(tags), **more)


def encrypt(*tags: str, params: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    kek = {"encrypt.kek.name": "kek"}
    base = {"name": "e", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": list(tags)}
    return {**base, "params": kek if params is None else params, **more}


def jsonata(expr: str, mode: str = "UPGRADE", **more: Any) -> dict[str, Any]:
    return {"name": "j", "kind": "TRANSFORM", "mode": mode, "type": "JSONATA", "expr": expr, **more}


def version(schema: Any, schema_type: str = AVRO) -> SchemaVersion:
    return SchemaVersion(SchemaText(schema_type, schema if schema_type == PROTOBUF else json.dumps(schema)))


def found(
    *rules: dict[str, Any], phase: str = "domainRules", schema: Any = PERSON, schema_type: str = AVRO, **more: Any
) -> list[Finding]:
    rule_set = RuleSet.from_json({phase: list(rules)})
    assert rule_set is not None
    metadata = more.pop("metadata", None)
    previous = more.pop("previous", None)
    contract = Contract(
        version(schema, schema_type),
        rule_set,
        Metadata.from_json(metadata),
        previous and version(previous, schema_type),
        (version(previous, schema_type),) if previous else (),
        **more,
    )
    return list(check_rules(contract))


MIGRATION = {"phase": "migrationRules"}
ENCODING = {"phase": "encodingRules"}
PAYLOAD = encrypt(type="ENCRYPT_PAYLOAD")
KEK = {"encrypt.kek.name": "kek"}
WITH_OPEN = {"schema": OPEN, "schema_type": JSON}
WITH_PROTO = {"schema": PROTO, "schema_type": PROTOBUF}

#: Code, what fires it, what is silent.
REFUSED: list[tuple[str, list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]] = [
    ("cel-syntax", [cel("message.id >=")], [cel("message.id >= 1")], {}),
    ("cel-syntax", [cel("message.ok ; message.id >=")], [cel("message.ok ; message.id >= 1")], {}),
    ("cel-syntax", [cel("message.ok && ; message.id > 1")], [cel("; message.id > 1")], {}),
    ("jsonata-syntax", [jsonata("$merge([$, ")], [jsonata("$merge([$, {'a': 1}])")], MIGRATION),
    ("jsonata-syntax", [jsonata("(" * 5_000)], [jsonata("1")], MIGRATION),
    ("cel-type", [cel("message.idd > 1")], [cel("message.id > 1")], {}),
    ("cel-type", [cel("message.id == 'x'")], [cel("message.id == 1")], {}),
    ("cel-type", [cel("x")], [cel("message.ok")], {}),
    ("cel-type", [cel("message.home.zip == ''")], [cel("message.home.street == ''")], {}),
    ("cel-type", [of_field("value > 1", "PII")], [of_field("value > 'a'", "PII")], {}),
    ("cel-type", [of_field("value != ''", "PII", "NUM")], [of_field("typeName == 'INT' || value != ''", "PII")], {}),
    ("cel-type", [of_field("value != ''", "NUM")], [of_field("typeName == 'STRING' ; value != ''", "PII", "NUM")], {}),
    ("cel-type", [of_field("value > 1", "TS")], [of_field("value > timestamp('2020-01-01T00:00:00Z')", "TS")], {}),
    ("cel-type", [cel("message.nothing == 1")], [cel("message.text == ''")], WITH_PROTO),
    ("cel-type", [of_field("value == 'x'", "C")], [of_field("value == 1", "C")], WITH_PROTO),
    (
        "cel-type",
        [cel("message.age > 1", mode="UPGRADE")],
        [cel("message.years > 1", mode="UPGRADE")],
        {
            **MIGRATION,
            "previous": {"type": "record", "name": "Person", "namespace": "acme", "fields": [field("years", "int")]},
        },
    ),
    ("condition-type", [cel("message.id")], [cel("message.ok")], {}),
    ("condition-type", [cel("message.name")], [cel("message.name", kind="TRANSFORM")], {}),
    ("condition-type", [cel("message.id ; message.ok")], [cel("message.ok ; message.ok")], {}),
    ("condition-type", [of_field("value", "PII")], [of_field("value", "PII", kind="TRANSFORM")], {}),
    ("rule-type", [cel("message.ok", type="MINE")], [cel("message.ok", type="cel")], {}),
    ("rule-action", [cel("message.ok", onFailure="MINE")], [cel("message.ok", onFailure="DLQ")], {}),
    (
        "rule-action",
        [cel("message.ok", mode="WRITEREAD", onFailure="NONE,")],
        [cel("message.ok", onFailure="NONE")],
        {},
    ),
    (
        "rule-action",
        [cel("message.ok", mode="WRITEREAD", onSuccess="NONE,NONE,NONE")],
        [cel("message.ok", mode="WRITEREAD", onSuccess="NONE,NONE")],
        {},
    ),
    ("no-expression", [cel(None)], [cel("message.ok")], {}),
    ("no-expression", [cel("message.ok ; ")], [cel("message.ok")], {}),
    ("no-expression", [cel("1 == 1 || " * 20_000)], [cel("message.ok")], {}),
    ("cel-parameter", [cel("message.ok", params={"cel.regex.engine": "pcre"})], [cel("message.ok")], {}),
    ("encrypt-parameter", [encrypt("PII", params={})], [encrypt("PII")], {}),
    ("encrypt-parameter", [encrypt("PII", params={"encrypt.kek.name": "1k"})], [encrypt("PII")], {}),
    (
        "encrypt-parameter",
        [encrypt("PII", params={**KEK, "encrypt.dek.algorithm": "AES"})],
        [encrypt("PII", params={**KEK, "encrypt.dek.algorithm": "AES256_SIV"})],
        {},
    ),
    (
        "encrypt-parameter",
        [encrypt("PII", params={**KEK, "encrypt.dek.expiry.days": "-1"})],
        [encrypt("PII", params={**KEK, "encrypt.dek.expiry.days": "0"})],
        {},
    ),
    (
        "encrypt-parameter",
        [encrypt("PII", params={**KEK, "encrypt.kms.keyid": "k"})],
        [encrypt("PII", params={**KEK, "encrypt.kms.key.id": "k"})],
        {},
    ),
    ("rule-list", [encrypt("PII", mode="UPGRADE")], [jsonata("1")], MIGRATION),
    ("rule-list", [PAYLOAD], [encrypt("PII")], {}),
    ("rule-list", [encrypt("PII")], [PAYLOAD], ENCODING),
    ("rule-list", [cel("message.ok")], [PAYLOAD], ENCODING),
    ("encrypt-type", [encrypt("F")], [encrypt("PII")], {}),
    ("encrypt-type", [encrypt("NUM")], [encrypt("N")], {}),
    ("encrypt-type", [encrypt("E")], [encrypt("U")], {}),
    ("encrypt-type", [encrypt("M")], [cel("message.id > 1")], WITH_PROTO),
    ("encrypt-failure", [encrypt("PII", onFailure="NONE")], [encrypt("PII", onFailure="ERROR,NONE")], {}),
    ("encrypt-failure", [encrypt("PII", onFailure="NONE,ERROR")], [encrypt("PII", mode="READ", onFailure="NONE")], {}),
    ("rule-set", [cel("message.ok", name="1r")], [cel("message.ok", name="r1")], {}),
]
WARNED: list[tuple[str, list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]] = [
    ("unknown-tag", [of_field("value != ''", "PI")], [of_field("value != ''", "PII")], {}),
    (
        "same-tags",
        [of_field("value", "PII", kind="TRANSFORM"), of_field("value", "PII", kind="TRANSFORM", name="s")],
        [of_field("value", "PII", kind="TRANSFORM"), of_field("value", "S", kind="TRANSFORM", name="s")],
        {},
    ),
    ("pattern-not-anchored", [cel("message.name.matches('a')")], [cel("message.name.matches('^a$')")], {}),
    ("pattern-not-anchored", [cel("matches(message.name, '^a|b$')")], [cel("matches(message.name, '^(a|b)$')")], {}),
    ("pattern-not-anchored", [cel(r"message.name.matches('^a\\$')")], [cel(r"message.name.matches('^a\\\\$')")], {}),
    ("constant-condition", [cel("true")], [cel("message.ok")], {}),
    ("constant-condition", [cel("false ; message.ok")], [cel("message.ok ; message.ok")], {}),
    ("constant-condition", [cel("message.id == message.id")], [cel("message.id == message.age")], {}),
    ("outside-enum", [cel("message.kind == 'C'")], [cel("message.kind == 'B'")], {}),
    ("outside-enum", [cel("message.mood == 'SIDE'")], [cel("message.mood == 'UP'")], {}),
    ("outside-enum", [cel("message.kind in ['A', 'C']")], [cel("message.kind in ['A', 'B']")], {}),
    ("outside-enum", [cel("message.kind == 'c'")], [cel("message.kind == 'b'")], WITH_OPEN),
    ("encrypt-one-way", [encrypt("PII", mode="WRITE")], [encrypt("PII")], {}),
    (
        "encrypt-one-way",
        [encrypt("PII", mode="WRITE"), encrypt("S", mode="READ", name="d")],
        [encrypt("PII", mode="WRITE"), encrypt("PII", mode="READ", name="d")],
        {},
    ),
    (
        "after-encryption",
        [encrypt("PII"), of_field("value != ''", "PII")],
        [of_field("value != ''", "PII"), encrypt("PII")],
        {},
    ),
    (
        "after-encryption",
        [encrypt("PII"), {**of_field("value != ''", "PII", "S"), "mode": "READ"}],
        [encrypt("PII"), of_field("value != ''", "S")],
        {},
    ),
    (
        "jsonata-union",
        [jsonata("{'a': nick}", "DOWNGRADE")],
        [jsonata("{'a': name}", "DOWNGRADE")],
        MIGRATION,
    ),
    (
        "jsonata-union",
        [jsonata("{'a': nick}", "DOWNGRADE")],
        [jsonata("{'a': nick}", "DOWNGRADE", params={"magicbyte.migration.avro.json": "plain"})],
        MIGRATION,
    ),
    ("no-field", [of_field("value != ''")], [cel("true", disabled=True)], {"schema": "string"}),
]


@pytest.mark.parametrize(("code", "faulty", "right", "more"), REFUSED)
def test_a_rule_that_cannot_be_carried_out_is_refused(
    code: str, faulty: list[dict[str, Any]], right: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    refused = [finding for finding in found(*faulty, **more) if finding.severity == "refuse"]
    assert [finding.code for finding in refused] == [code]
    assert [finding for finding in found(*right, **more) if finding.severity == "refuse"] == []


@pytest.mark.parametrize(("code", "faulty", "right", "more"), WARNED)
def test_a_warning_names_a_probably_unintended_rule(
    code: str, faulty: list[dict[str, Any]], right: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    assert [(finding.code, finding.severity) for finding in found(*faulty, **more)] == [(code, "warn")]
    assert found(*right, **more) == []


def test_a_warning_names_a_pattern_without_a_match() -> None:
    (finding,) = found(metadata={"tags": {"acme.Person.mail": ["PII"], "**.name": ["X"]}})
    assert (finding.code, finding.severity, finding.place) == (
        "tag-pattern",
        "warn",
        "metadata.tags['acme.Person.mail']",
    )
    before = {"type": "record", "name": "Person", "namespace": "acme", "fields": [field("mail", "string")]}
    (finding,) = found(metadata={"tags": {"acme.Person.mail": ["PII"]}}, previous=before)
    assert "the version before had acme.Person.mail" in finding.text


def test_a_tag_on_a_record_is_warned_of() -> None:
    (finding,) = found(metadata={"tags": {"**.home": ["PII"]}})
    assert (finding.code, finding.severity, finding.place) == ("tag-on-record", "warn", "acme.Person.home")


@pytest.mark.parametrize(
    ("closed", "previous", "codes"),
    [(False, None, ["field-never-written"]), (True, None, ["cel-type"]), (False, "foo", [])],
)
def test_a_field_that_no_version_declares(closed: bool, previous: str | None, codes: list[str]) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    schema |= {"additionalProperties": False} if closed else {}
    before = previous and {"type": "object", "properties": {previous: {"type": "integer"}}}
    findings = found(cel("message.foo == 1"), schema=schema, schema_type=JSON, previous=before)
    assert [finding.code for finding in findings] == codes


def test_extra_types_are_left_to_their_executors() -> None:
    rule = cel("no CEL at all (", type="mine", onFailure="PAGE")
    assert found(rule, extra_types=frozenset({"MINE", "page"})) == []
    assert found({**rule, "type": "CEL"}, extra_types=frozenset({"cel", "page"})) == []


def test_a_finding_tells_rule_place_and_position() -> None:
    rules = [cel("message.ok", name="one"), cel("message.ok ;\n message.idd > 1", name="two")]
    (finding,) = found(*rules)
    assert finding.to_json() == {
        "code": "cel-type",
        "severity": "refuse",
        "rule": "two",
        "place": "ruleSet.domainRules[1].expr",
        "line": 2,
        "column": 9,
        "text": finding.text,
        "remedy": finding.remedy,
    }
    assert "idd" in finding.text
    assert finding.text.startswith("undefined field 'idd'")
    assert finding.remedy


@pytest.mark.parametrize(
    ("expr", "line", "column"),
    [
        ("message.idd > 1", 1, 8),
        ("message.ok ; message.idd > 1", 1, 21),
        ("message.ok\n;\nmessage.idd > 1", 3, 8),
        ("message.idd ; message.ok", 1, 8),
        ("\n\n message.idd > 1", 3, 9),
    ],
)
def test_positions_count_in_the_whole_text(expr: str, line: int, column: int) -> None:
    assert [(finding.line, finding.column) for finding in found(cel(expr))] == [(line, column)]


def test_refusals_come_first() -> None:
    severities = [finding.severity for finding in found(cel("true", name="a"), cel("message.id", name="b"))]
    assert severities == ["refuse", "warn"]


def test_rule_findings_do_not_report_an_unparsable_schema() -> None:
    rule_set = RuleSet.from_json(
        {"domainRules": [of_field("value != ''"), cel("message.x == 1", name="c"), cel("x", name="d")]}
    )
    assert rule_set is not None
    findings = check_rules(Contract(SchemaVersion(SchemaText(AVRO, "{")), rule_set))
    assert [(finding.rule, finding.code) for finding in findings] == [("d", "cel-type")]


@pytest.mark.parametrize(
    "expr",
    ["[" * 300 + "]" * 300, "\0", "\ud800", "a" * 90_000, "1" + "+1" * 2_000, "message." * 1_000 + "a", ";" * 100, "'"],
)
@pytest.mark.parametrize("type_", ["CEL", "CEL_FIELD", "JSONATA"])
def test_hostile_expressions_are_findings(expr: str, type_: str) -> None:
    assert all(isinstance(finding, Finding) for finding in found(cel(expr, type=type_)))


def test_each_code_is_in_the_table() -> None:
    folder = Path(compat.contracts.findings.__file__).parent
    texts = {
        node.value
        for file in folder.glob("*.py")
        if file.name != "table.py"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert texts >= CHECKS.keys()
    seen = {code for code, *_ in (*REFUSED, *WARNED)} | {"tag-pattern", "tag-on-record", "field-never-written"}
    assert seen | {"not-checked"} == CHECKS.keys()
