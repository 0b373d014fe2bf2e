"""Changes that the rules allow and that break readers: warnings of `magicbyte check`, and errors with --strict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from compat.schema import AVRO, JSON, PROTOBUF

CASES = Path(__file__).parents[1] / "compat" / "cases" / "cautions"
FILES = {
    AVRO: ("avro.json", "bytes-to-string", "s.avsc", "BYTES_TO_STRING"),
    JSON: ("json_schema.json", "property-names", "s.schema.json", "PROPERTY_NAMES_NOT_COMPARED"),
    PROTOBUF: ("protobuf.json", "packed-numbers-made-single", "s.proto", "REPEATED_NUMBER_TO_SINGLE"),
}


def case_of(schema_type: str) -> tuple[dict[str, str], str, str]:
    file, name, path, rule = FILES[schema_type]
    return json.loads((CASES / file).read_text("utf-8"))[name], path, rule


@pytest.mark.parametrize("schema_type", FILES)
def test_a_caution_is_a_warning_and_with_strict_an_error(project: Any, schema_type: str):
    case, path, rule = case_of(schema_type)
    project.write(path, case["old"])
    project.commit()
    project.write(path, case["new"])
    code, findings = project.check()
    assert (code, [(finding["rule"], finding["severity"]) for finding in findings]) == (0, [(rule, "warning")])
    assert findings[0]["example"]
    code, findings = project.check("--strict")
    assert (code, [(finding["rule"], finding["severity"]) for finding in findings]) == (100, [(rule, "error")])
    project.write("magicbyte.toml", "strict = true\n")
    assert project.check()[0] == 100
    project.write(
        "magicbyte.toml", f'[[allow]]\nrule = "{rule}"\nsubject = "s"\nreason = "known"\nuntil = 2999-12-31\n'
    )
    assert project.check("--strict") == (0, [])


def test_a_fix_removes_the_caution(project: Any):
    case, path, _ = case_of(PROTOBUF)
    project.write(path, case["old"])
    project.commit()
    project.write(path, case["new"])
    assert project.run("check", "--fix", "--strict")[0] == 0
    assert (project.folder / path).read_text() == case["old"]


def test_the_lint_rule_tells_of_reserved_numbers_alone(project: Any):
    case = json.loads((CASES / "protobuf.json").read_text("utf-8"))["number-not-reserved"]
    project.write("s.proto", case["old"])
    project.commit()
    project.write("s.proto", case["new"])
    assert [finding["rule"] for finding in project.check()[1]] == ["NUMBER_NOT_RESERVED"]
    project.write("magicbyte.toml", '[lint]\nrules = ["reserved"]\n')
    assert [finding["rule"] for finding in project.check()[1]] == ["LINT_RESERVED"]


def test_check_reports_a_wrong_setting(project: Any):
    project.write("magicbyte.toml", 'strict = "yes"\n')
    code, findings = project.check()
    assert code == 1
    assert "magicbyte.toml:1:10: strict: must be true or false, not 'yes'" in findings[0]["failure"]


@pytest.mark.parametrize("schema_type", FILES)
def test_the_registry_explains_the_caution_and_keeps_its_verdict(registry_url: str, schema_type: str):
    case, _, rule = case_of(schema_type)
    subject = f"caution-{schema_type}"
    versions = f"{registry_url}/subjects/{subject}/versions"
    assert httpx.post(versions, json={"schema": case["old"], "schemaType": schema_type}).status_code == 200
    answer = httpx.post(
        f"{registry_url}/compatibility/subjects/{subject}/versions/latest?explain=true",
        json={"schema": case["new"], "schemaType": schema_type},
    ).json()
    assert answer["is_compatible"] is True
    assert [(finding["rule"], finding["severity"]) for finding in answer["explanations"]] == [(rule, "warning")]
    assert answer["explanations"][0]["effect"]
