"""Subjects of files, declared breaks, and lint rules."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import jsonschema
import pytest

from magicbyte.check.config.config import Config, Entry
from magicbyte.check.config.patterns import matches
from magicbyte.kit.settings.generated import document_schema

OLD = '{"type": "record", "name": "A", "fields": [{"name": "f", "type": "string"}]}'
NEW = OLD.replace("string", "int")
TOMORROW = dt.datetime.now(tz=dt.UTC).date() + dt.timedelta(days=1)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**/*.avsc", "a.avsc", True),
        ("**/*.avsc", "x/y/a.avsc", True),
        ("*.avsc", "x/a.avsc", False),
        ("schemas/**", "schemas/x/a.proto", True),
        ("schemas/*/a.?vsc", "schemas/x/a.avsc", True),
        ("a+b.avsc", "aab.avsc", False),
    ],
)
def test_patterns(pattern: str, path: str, fits: bool):
    assert matches(pattern, path) == fits


@pytest.mark.parametrize(
    ("subject", "path", "expected"),
    [
        ("{stem}", "x/customer.avsc", "customer"),
        ("{stem}-value", "customer.schema.json", "customer-value"),
        ("{folder}.{stem}", "shop/orders/order.proto", "orders.order"),
        ("{path}", "common/money.proto", "common/money.proto"),
    ],
)
def test_subjects_of_files(subject: str, path: str, expected: str):
    assert Entry(files="**", subject=subject).subject_of(path) == expected


@pytest.mark.parametrize(
    ("settings", "errors"),
    [
        ({"files": "*.avsc", "subjects": [{"files": "a/**", "compatibility": "FULL"}], "lint": {"rules": ["docs"]}}, 0),
        ({"allow": [{"rule": "*", "reason": "x", "until": "2030-12-31"}], "import-roots": ["proto"]}, 0),
        ({"subjects": [{"subject": "a"}]}, 1),
        ({"allow": [{"rule": "*"}], "lint": {"rules": ["taste"]}, "lok": "x"}, 4),
    ],
)
def test_the_json_schema_of_the_settings(settings: dict[str, Any], errors: int):
    schema = document_schema(Config, "Magicbyte checks")
    assert len(list(jsonschema.Draft202012Validator(schema).iter_errors(settings))) == errors


def test_an_entry_that_names_a_hidden_folder_or_another_ending_finds_the_files(project: Any):
    project.write(
        "magicbyte.toml",
        '[[subjects]]\nfiles = "*.schema"\ntype = "AVRO"\n[[subjects]]\nfile = ".hidden/b.avsc"\n'
        '[[subjects]]\nfile = "c.txt"\n',
    )
    for path in ("a.schema", ".hidden/b.avsc"):
        project.write(path, OLD)
    project.write("c.txt", OLD)
    project.commit()
    for path in ("a.schema", ".hidden/b.avsc"):
        project.write(path, NEW)
    code, places = project.places()
    assert code == 100
    assert [place.replace(":1:", " ").split()[0] for place in places] == [".hidden/b.avsc", "a.schema", "c.txt"]
    assert places[2] == "c.txt:1:1 INVALID_SCHEMA"  # nothing tells its type


def test_pyproject_has_the_same_settings_and_the_nearest_file_decides(project: Any, monkeypatch: pytest.MonkeyPatch):
    project.write(
        "pyproject.toml", '[tool.magicbyte]\nfiles = "schemas/*.json"\n[tool.magicbyte.lint]\nrules = ["docs"]'
    )
    project.write("schemas/a.json", '{"type": "string"}')
    project.write("other/b.avsc", "not looked at")
    assert project.places("--against", "none") == (100, ["schemas/a.json:1:1 LINT_DOCS"])
    monkeypatch.chdir(project.folder / "schemas")
    assert project.places("--against", "none") == (100, ["schemas/a.json:1:1 LINT_DOCS"])


@pytest.mark.parametrize(
    ("declaration", "code"),
    [
        (f'rule = "TYPE_MISMATCH"\nuntil = {TOMORROW}\nreason = "all readers are ours"', 0),
        (f'rule = "*"\nsubject = "a"\npath = "/fields/0/*"\nuntil = "{TOMORROW}"\nreason = "x"', 0),
        (f'rule = "TYPE_MISMATCH"\nsubject = "b"\nuntil = {TOMORROW}\nreason = "x"', 100),
        (f'rule = "NAME_MISMATCH"\nuntil = {TOMORROW}\nreason = "x"', 100),
        ('rule = "TYPE_MISMATCH"\nuntil = 2020-01-01\nreason = "x"', 100),
    ],
)
def test_declared_breaks_count_until_their_day(project: Any, declaration: str, code: int):
    project.write("magicbyte.toml", f"[[allow]]\n{declaration}\n")
    project.write("a.avsc", OLD)
    project.commit()
    project.write("a.avsc", NEW)
    found, out, _ = project.run("check", "--format", "json")
    report = json.loads(out)
    assert (found, len(report["findings"]), len(report["declared"])) == (code, int(code > 0), int(code == 0))
    if "2020" in declaration:
        assert "It was declared until 2020-01-01, which is over." in report["findings"][0]["message"]


def test_check_notes_an_expired_declaration_without_a_match(project: Any):
    project.write("magicbyte.toml", '[[allow]]\nrule = "TYPE_MISMATCH"\nuntil = 2020-01-01\nreason = "x"\n')
    assert "is over since 2020-01-01: take it out" in project.run("check", "--against", "none")[1]


AVRO = """{"type": "record", "name": "customer", "fields": [
  {"name": "first_name", "type": "string", "doc": "As in the passport."},
  {"name": "Phone", "type": ["null", "string"], "doc": "."},
  {"name": "kind", "doc": ".", "type": {"type": "enum", "name": "Kind", "symbols": ["a"], "doc": "."}}
]}
"""
JSON = """{"title": "T", "properties": {
  "a": {"description": "x"},
  "B": {"$ref": "#/definitions/d"}
}, "definitions": {"d": {}}}
"""
PROTO = """syntax = "proto3";
package shop;

// A customer.
message Customer {
  string firstName = 1; // As in the passport.
  Kind kind = 2;
}
// Kinds.
enum Kind {
  // Nothing is known.
  GOOD = 0;
}
"""


@pytest.mark.parametrize(
    ("rule", "file", "text", "expected"),
    [
        ("docs", "a.avsc", AVRO, ["1:1"]),
        ("docs", "a.schema.json", JSON, ["1:1"]),
        ("docs", "a.proto", PROTO, ["7:3"]),
        ("names", "a.avsc", AVRO, ["1:1", "1:1", "3:4", "4:32", "4:73"]),
        ("names", "a.schema.json", JSON, ["3:3"]),
        ("names", "a.proto", PROTO, ["6:3"]),
        ("defaults", "a.avsc", AVRO, ["3:3", "4:32"]),
        ("defaults", "a.proto", PROTO, ["12:3"]),
        ("reserved", "a.proto", PROTO, []),
    ],
)
def test_lint_rules(project: Any, rule: str, file: str, text: str, expected: list[str]):
    project.write("magicbyte.toml", f'[lint]\nrules = ["{rule}"]\n')
    project.write(file, text)
    code, findings = project.check("--against", "none")
    assert [f"{finding['line']}:{finding['column']}" for finding in findings] == expected
    assert {finding["rule"] for finding in findings} <= {f"LINT_{rule.upper()}"}
    assert code == (100 if expected else 0)


@pytest.mark.parametrize(
    ("reserved", "expected"),
    [
        ("", ["The number 2 of 'kind' was given up in 'Customer' and is not reserved."]),
        ("reserved 2;", ["The name 'kind' was given up in 'Customer' and is not reserved."]),
        ('reserved 2; reserved "kind";', []),
        ('reserved 1000, 2 to 5; reserved "kind";', []),
    ],
)
def test_check_asks_to_reserve_removed_field_numbers(project: Any, reserved: str, expected: list[str]):
    project.write("magicbyte.toml", '[lint]\nrules = ["reserved"]\nseverity = "warning"\n')
    project.write("a.proto", PROTO)
    project.commit()
    project.edit("a.proto", "Kind kind = 2;", reserved)
    code, findings = project.check()
    assert [(finding["message"], finding["severity"], finding["line"]) for finding in findings] == [
        (message, "warning", 5) for message in expected
    ]
    assert code == 0


def test_lint_of_every_rule_and_the_spelling_of_fields(project: Any):
    project.write("magicbyte.toml", '[lint]\nrules = ["names"]\nfield-case = "camelCase"\n')
    project.write("a.avsc", AVRO.replace('"customer"', '"shop.Customer"').replace('"a"', '"A"'))
    assert project.places("--against", "none") == (100, ["a.avsc:2:4 LINT_NAMES", "a.avsc:3:4 LINT_NAMES"])
    rules = {place.split()[1] for place in project.places("--against", "none", "--lint")[1]}
    assert rules == {"LINT_NAMES", "LINT_DEFAULTS", "LINT_DOCS"}
