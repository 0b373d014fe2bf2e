"""`magicbyte rules`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Message

from magicbyte.cli.main import main
from tests.serdes.console.test_rules import ADULT, AVRO, BAD, GOOD, OLD, SHOUT, register

RULES = {"domainRules": [ADULT, {**SHOUT, "name": "digits", "kind": "CONDITION", "expr": "value.matches('^[0-9]+$')"}]}
CASES = """
schema: person.avsc
subject: people-value
cases:
  - {name: grown, message: {ssn: "12", age: 18}}
  - {name: unchanged, message: {ssn: "12", age: 18}, expect: {result: {ssn: "12", age: 18}}}
  - {name: child, message: {ssn: "12", age: 17}, expect: {fails: adult}}
  - {name: letters, message: {ssn: "a", age: 18}, expect: {fails: digits, at: ssn}}
  - {name: read, mode: READ, message: {ssn: "a", age: 17}, expect: pass}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "person.avsc").write_text(AVRO)
    (tmp_path / "person.rules.json").write_text(json.dumps(RULES))
    (tmp_path / "people.cases.yaml").write_text(CASES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def rules(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Runs a command on files, in this process."""

    def run(*arguments: str) -> Done:
        code = main(["rules", *arguments])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


def test_cases(rules: Callable[..., Done]) -> None:
    done = rules("test", "people.cases.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("5 of 5 cases as expected\n")
    rows = [line.split()[:2] for line in done.out.splitlines()[1:-1]]
    assert rows == [["ok", "grown"], ["ok", "unchanged"], ["ok", "child"], ["ok", "letters"], ["ok", "read"]]


@pytest.mark.parametrize(
    ("case", "difference"),
    [
        ('{name: c, message: {ssn: "1", age: 17}}', "c: rule 'adult' (CEL, WRITE) of subject people-value failed"),
        ('{name: c, message: {ssn: "1", age: 18}, expect: {fails: adult}}', 'c: got {"ssn": "1", "age": 18}'),
        ("{name: c, message: {ssn: a, age: 18}, expect: {fails: digits, at: age}}", "c: rule 'digits'"),
        ('{name: c, message: {ssn: "1", age: 18}, expect: {result: {ssn: "2", age: 18}}}', "c: got"),
        ("{name: c, message: {ssn: 1, age: 18}}", "c: the message does not fit the schema: $.ssn: int"),
    ],
)
def test_a_case_that_differs(rules: Callable[..., Done], case: str, difference: str) -> None:
    Path("one.yaml").write_text(f"schema: person.avsc\nsubject: people-value\ncases:\n  - {case}\n")
    done = rules("test", "one.yaml")
    assert done.code == 1
    assert difference in done.out
    assert done.out.endswith("0 of 1 cases as expected\n")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("cases: [", "expected"),
        ("[]", "bad.yaml: cases: must be a list of at least one case"),
        ("cases: [{expect: pass, schema: person.avsc}]", "bad.yaml:1: case 1.message: is missing: The message as JSON"),
        ("cases: [{message: 1, expct: pass}]", "bad.yaml:1: case 1.expct: no such setting; did you mean expect?"),
        (
            "cases: [{message: 1, schema: person.avsc, mode: RW}]",
            "1.mode: must be WRITE or READ or UPGRADE",
        ),
        (
            "cases: [{message: 1, schema: person.avsc, expect: {at: x}}]",
            "case 1.expect: must be `pass`, {fails",
        ),
        ("cases: [{message: 1}]", "case 1: a case needs a subject of the registry, or the file of a schema"),
        ("cases: [{message: 1, schema: nix.avsc}]", "nix.avsc cannot be read"),
        ("schem: person.avsc\ncases: [{message: 1}]", "bad.yaml:1: schem: no such setting; did you mean schema?"),
        ("cases: [1]", "bad.yaml:1: case 1: must be a mapping with a message"),
        ("cases:\n- message: 1\n  schema: person.avsc\n- 1", "bad.yaml:4: case 2: must be a mapping with a message"),
        ("mode: 5\ncases:\n- message: 1\n  schema: person.avsc", "bad.yaml:1: mode: must be WRITE or READ"),
        ("cases:\n- schema: person.avsc\n  message: 1\n  mode: 5", "bad.yaml:4: case 1.mode: must be WRITE or READ"),
        ("cases:\n- expect: pass\n\n- expect: pass", "bad.yaml:4: case 2.message: is missing"),
        ("a: &a\n  cases: [{mode: 5}]\n<<: *a", "bad.yaml:1: a: no such setting"),
        ("<<: {cases: [{message: 1, mode: 5}]}", "bad.yaml: case 1.mode: must be WRITE or READ"),
        ("cases: [{message: 1, schema: person.avsc}, {message: 1, mode: 5}]", "case 2.mode: must be WRITE or READ"),
        ("cases: [{message: 1, schema: [person.avsc]}]", "case 1.schema: must be a text, not ['person.avsc']"),
        ("cases: [{message: 1, schema: people.cases.yaml}]", "the file of a schema ends in .avsc, .json, .proto"),
        (
            "cases: [{message: 1, schema: person.avsc, mode: UPGRADE}]",
            "case 1.from: is needed with mode UP",
        ),
    ],
)
def test_files_of_cases_that_are_wrong(rules: Callable[..., Done], text: str, error: str) -> None:
    Path("bad.yaml").write_text(text)
    done = rules("test", "bad.yaml")
    assert done.code == 1
    assert error in done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_cases_of_a_subject_and_of_a_migration(tools: Any, topic: str, project: Path) -> None:
    register(tools, topic, "json-schema")
    up = {"name": "up", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "JSONATA"}
    body = {
        "schema": '{"type": "object", "properties": {"id": {"type": "string"}, "age": {"type": "integer"}}}',
        "schemaType": "JSON",
        "ruleSet": {
            "domainRules": [OLD],
            "migrationRules": [{**up, "expr": '$merge([$sift($, function($v, $k) {$k != "ssn"}), {"id": ssn}])'}],
        },
    }
    httpx.put(f"{tools.registry}/config/{topic}-value", json={"compatibility": "NONE"})
    answer = httpx.post(f"{tools.registry}/subjects/{topic}-value/versions", json=body)
    assert answer.status_code == 200, answer.text
    Path("up.yaml").write_text(
        f"subject: {topic}-value\ncases:\n"
        "  - {mode: UPGRADE, from: 1, message: {ssn: x, age: 70}, expect: {result: {id: x, age: 70}}}\n"
        "  - {mode: UPGRADE, from: 1, message: {ssn: x, age: 7}, expect: {fails: old}}\n"
        "  - {mode: READ, message: {id: x, age: 7}, expect: {fails: old}}\n"
    )
    done = tools.run("magicbyte rules", "test", "up.yaml", "--schema-registry-url", tools.registry)
    assert (done.code, done.out.splitlines()[-1]) == (0, "3 of 3 cases as expected"), done.out + done.err


def test_the_time_of_rules(rules: Callable[..., Done]) -> None:
    done = rules("bench", "people.cases.yaml", "--seconds", "0.01")
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    assert rows[0] == ["CASE", "RULE", "TYPE", "MODE", "US", "A", "MESSAGE", "MESSAGES"]
    assert {tuple(row[:4]) for row in rows[1:]} == {
        (case, *rule) for case in ("grown", "unchanged", "child", "letters")
        for rule in (("adult", "CEL", "WRITE"), ("digits", "CEL_FIELD", "WRITE"))
    }  # fmt: skip
    assert all(float(row[4]) > 0 for row in rows[1:])


def test_the_check_of_files(rules: Callable[..., Done]) -> None:
    assert rules("check", "person.rules.json").code == 0
    Path("person.rules.json").write_text(json.dumps({"domainRules": [{**ADULT, "expr": "message.agge >= 18"}]}))
    for named in ("person.rules.json", "person.avsc"):
        done = rules("check", named)
        assert done.code == 100
        assert "Rule 'adult'" in done.out
        assert "agge" in done.out
    missing = rules("check", "nix.rules.json")
    assert (missing.code, missing.err) == (1, "magicbyte: there is no file nix.rules.json\n")


@pytest.mark.slow
def test_explanations(tools: Any, topic: str) -> None:
    default = {
        "name": "theirs",
        "kind": "CONDITION",
        "mode": "WRITEREAD",
        "type": "CEL",
        "expr": "true || message.age > 0",
    }
    config = {"defaultRuleSet": {"domainRules": [default]}}
    assert httpx.put(f"{tools.registry}/config/{topic}-value", json=config).status_code == 200
    register(tools, topic, "avro", ADULT, OLD)
    where = (f"{topic}-value", "--schema-registry-url", tools.registry)
    plan = json.loads(tools.run("magicbyte rules", "explain", *where, "--output", "json").out)
    named = {mode["mode"]: [(rule["name"], rule["origin"]) for rule in mode["rules"]] for mode in plan["modes"]}
    assert named == {
        "WRITE": [("theirs", "default"), ("adult", "own")],
        "READ": [("old", "own"), ("theirs", "default")],
    }
    told = tools.run("magicbyte rules", "explain", *where, "--version", "1")
    assert told.code == 0
    assert told.out.startswith(f"WRITE of version 1 of subject {topic}-value:\n")
    missing = tools.run("magicbyte rules", "explain", f"{topic}-nix", "--schema-registry-url", tools.registry)
    assert missing.code == 1
    assert "not found" in missing.err


@pytest.mark.slow
def test_rules_that_run_elsewhere(tools: Any, topic: str) -> None:
    register(tools, topic, "avro", ADULT, enableAt="CLIENT")
    where = (f"{topic}-value", "--schema-registry-url", tools.registry)
    told = tools.run("magicbyte rules", "explain", *where, "--environment", "GATEWAY")
    assert told.out.splitlines()[0] == "Skipped:"
    assert "enableAt is CLIENT, not GATEWAY" in told.out


@pytest.mark.slow
def test_dry_runs(tools: Any, topic: str, project: Path, stored: Callable[[str], list[Message]]) -> None:
    lines = "".join(f"{line}\n" for line in (GOOD, BAD, '{"ssn": "12", "age": 20}', BAD))
    assert tools.magicbyte("produce", topic, "--value-schema", AVRO, lines=lines).code == 0
    where = ("--bootstrap-server", tools.kafka, "--schema-registry-url", tools.registry)
    run = ("magicbyte rules", "dry-run", f"{topic}-value", "--topic", topic, *where)
    none = tools.run(*run)
    assert none.code == 1
    assert "has no rules for WRITE at CLIENT" in none.err
    done = tools.run(*run, "--rules", "person.rules.json", "--output", "json")
    assert (done.code, json.loads(done.out)) == (
        1,
        {
            "records": 4,
            "passed": 1,
            "rules": ["adult", "digits"],
            "failures": [
                {"rule": "digits", "path": "ssn", "records": 3, "offsets": ["0:0", "0:1", "0:3"]},
                {"rule": "adult", "path": "", "records": 2, "offsets": ["0:1", "0:3"]},
            ],
        },
    )
    told = tools.run(*run, "--rules", "person.rules.json", "--examples", "1", "--last", "2")
    assert told.out.splitlines()[:2] == [
        f"2 records, rules of version 1 of subject {topic}-value: adult, digits",
        "1 pass",
    ]
    since = tools.run(*run, "--rules", "person.rules.json", "--from", "2000-01-01T00:00:00Z", "--output", "json")
    assert json.loads(since.out)["records"] == 4
    assert "s3cret" not in done.out + told.out
    # Nothing is registered, and nothing is written.
    assert httpx.get(f"{tools.registry}/subjects/{topic}-value/versions").json() == [1]
    assert len(stored(topic)) == 4
