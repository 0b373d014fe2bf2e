"""The rules beside a schema are read, and checked as a registry does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.contracts.cel.engine import EngineMissing

USER = (
    '{"type":"record","name":"User","namespace":"acme","fields":[\n {"name":"id","type":"long"},\n'
    ' {"name":"email","type":"string","confluent:tags":["PII"]}\n]}\n'
)
RULE = {"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.id > 0"}
WRONG = {**RULE, "expr": "message.idd > 0"}
YAML = """
ruleSet:
  domainRules:
    - name: r
      kind: CONDITION
      mode: WRITE
      type: CEL
      expr: {expr}
metadata:
  tags:
    acme.User.mail: [PII]
"""


def rule_set(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"domainRules": list(rules)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("user.rules.json", json.dumps({"ruleSet": rule_set(RULE)}), []),
        ("user.rules.json", json.dumps(rule_set(RULE)), []),
        ("user.rules.json", "{}", []),
        (
            "user.rules.json",
            '{\n "ruleSet": {"domainRules": [\n  {"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL",\n'
            '   "expr": "message.idd > 0"}]}}',
            ["user.rules.json:4:4 RULES_CEL_TYPE"],
        ),
        ("user.rules.json", json.dumps(rule_set(WRONG)), ["user.rules.json:1:85 RULES_CEL_TYPE"]),
        ("user.rules.yaml", YAML.replace("{expr}", "message.idd > 0"), ["user.rules.yaml:8:7 RULES_CEL_TYPE"]),
        ("user.rules.yml", YAML.replace("{expr}", "message.idd > 0"), ["user.rules.yml:8:7 RULES_CEL_TYPE"]),
        ("user.rules.json", json.dumps(rule_set({**RULE, "name": "1"})), ["user.rules.json:1:1 RULES_RULE_SET"]),
        # files that are no rules
        ("user.rules.json", "{\n,", ["user.rules.json:2:1 RULES_RULE_SET"]),
        ("user.rules.json", "[]", ["user.rules.json:1:1 RULES_RULE_SET"]),
        ("user.rules.json", '{"ruleset": {}}', ["user.rules.json:1:2 RULES_RULE_SET"]),
        ("user.rules.json", '{"ruleSet": {"domainRules": 5}}', ["user.rules.json:1:1 RULES_RULE_SET"]),
        ("user.rules.yaml", "a: [\n", ["user.rules.yaml:2:1 RULES_RULE_SET"]),
        ("user.rules.yaml", "[" * 5_000, ["user.rules.yaml:1:1 RULES_RULE_SET"]),
        ("user.rules.yaml", "a: &a [*a]", ["user.rules.yaml:1:1 RULES_RULE_SET"]),
        ("user.rules.yaml", "!!python/object/apply:os.getcwd []", ["user.rules.yaml:1:1 RULES_RULE_SET"]),
    ],
)
def test_findings_are_at_the_places_of_the_rule_file(project: Any, name: str, text: str, expected: list[str]) -> None:
    project.write("user.avsc", USER)
    project.write(name, text)
    code, findings = project.check("--against", "none")
    errors = [finding for finding in findings if finding["severity"] == "error"]
    assert [
        f"{finding['file']}:{finding['line']}:{finding['column']} {finding['rule']}" for finding in errors
    ] == expected
    assert code == (100 if expected else 0)


def test_a_warning_does_not_fail_the_check(project: Any) -> None:
    project.write("s/user.avsc", USER)
    project.write("s/user.rules.yaml", YAML.replace("{expr}", "message.id > 0"))
    code, (finding,) = project.check("--against", "none")
    assert (code, finding["rule"], finding["severity"]) == (0, "RULES_TAG_PATTERN", "warning")
    assert (finding["file"], finding["line"], finding["subject"]) == ("s/user.rules.yaml", 11, "user")


def test_check_reports_a_renamed_field_without_its_tag(project: Any) -> None:
    project.write("user.avsc", USER.replace("email", "mail"))
    project.write("user.rules.yaml", YAML.replace("{expr}", "message.id > 0"))
    project.commit()
    assert project.check("--against", "git:HEAD") == (0, [])
    project.edit("user.avsc", '"mail","type":"string"', '"email","aliases":["mail"],"type":"string"')
    _, findings = project.check("--against", "git:HEAD")
    (message,) = [finding["message"] for finding in findings if finding["rule"] == "RULES_TAG_PATTERN"]
    assert "the version before had acme.User.mail" in message


def test_migration_rules_are_checked_against_the_version_before(project: Any) -> None:
    upgrade = {**RULE, "mode": "UPGRADE", "expr": "message.email != ''"}
    project.write("user.avsc", '{"type":"record","name":"User","namespace":"acme","fields":[]}')
    project.commit()
    project.write(
        "user.avsc", USER.replace('"string",', '"string","default":"",').replace('"long"', '"long","default":0')
    )
    project.write("user.rules.json", json.dumps({"migrationRules": [upgrade]}))
    assert project.places("--against", "git:HEAD")[1] == ["user.rules.json:1:90 RULES_CEL_TYPE"]


def test_the_configuration_names_a_rule_file(project: Any) -> None:
    project.write("user.avsc", USER)
    project.write("rules/of-users.json", json.dumps(rule_set({**WRONG, "type": "MINE"})))
    project.write("pyproject.toml", '[[tool.magicbyte.subjects]]\nfile = "user.avsc"\nrules = "rules/of-users.json"\n')
    assert project.places("--against", "none") == (100, ["rules/of-users.json:1:70 RULES_RULE_TYPE"])
    project.write(
        "pyproject.toml",
        '[tool.magicbyte]\nrules-types = ["MINE"]\n[[tool.magicbyte.subjects]]\nfile = "user.avsc"\n'
        'rules = "rules/of-users.json"\n',
    )
    assert project.places("--against", "none") == (0, [])
    project.write("pyproject.toml", '[[tool.magicbyte.subjects]]\nfile = "user.avsc"\nrules = "rules/none.json"\n')
    code, _, err = project.run("check", "--against", "none")
    assert (code != 0, "there is no file 'rules/none.json'" in err) == (True, True)


def test_a_rule_file_is_no_schema(project: Any) -> None:
    project.write("pyproject.toml", '[tool.magicbyte]\nfiles = "**/*.json"\n')
    project.write("user.json", '{"type": "object"}')
    project.write("user.rules.json", "{}")
    assert project.check("--against", "none") == (0, [])


def test_sarif_has_the_findings(project: Any) -> None:
    project.write("user.avsc", USER)
    project.write("user.rules.json", json.dumps(rule_set(WRONG)))
    run = json.loads(project.run("check", "--against", "none", "--format", "sarif")[1])["runs"][0]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("RULES_CEL_TYPE", "error")
    location = result["locations"][0]["physicalLocation"]
    assert (location["artifactLocation"]["uri"], location["region"]["startLine"]) == ("user.rules.json", 1)
    assert "undefined field 'idd'" in result["message"]["text"]


def test_without_the_engine_expressions_are_not_checked(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> None:
        raise EngineMissing("CEL rules need the package cel-expr-python")

    monkeypatch.setattr("compat.contracts.findings.cel.compile_program", missing)
    project.write("user.avsc", USER)
    project.write("user.rules.json", json.dumps(rule_set(WRONG)))
    code, (finding,) = project.check("--against", "none")
    assert (code, finding["rule"], finding["severity"]) == (0, "RULES_NOT_CHECKED", "warning")
    assert "pip install 'magicbyte[rules]'" in finding["remedy"]
