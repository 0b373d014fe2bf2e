"""The rules of schemas in the console tools: a rule that fails makes a line or record bad."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from confluent_kafka import Message

AVRO = json.dumps(
    {
        "type": "record",
        "name": "Person",
        "fields": [{"name": "ssn", "type": "string", "confluent:tags": ["PII"]}, {"name": "age", "type": "int"}],
    }
)
JSON_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"ssn": {"type": "string", "confluent:tags": ["PII"]}, "age": {"type": "integer"}},
    }
)
PROTOBUF = (
    'syntax = "proto3"; import "confluent/meta.proto"; message Person'
    ' { string ssn = 1 [(confluent.field_meta).tags = "PII"]; int32 age = 2; }'
)
FORMS = {"avro": ("AVRO", AVRO), "json-schema": ("JSON", JSON_SCHEMA), "protobuf": ("PROTOBUF", PROTOBUF)}
ADULT = {"name": "adult", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.age >= 18"}
OLD = {**ADULT, "name": "old", "mode": "READ", "expr": "message.age >= 65"}
SHOUT = {
    "name": "shout", "kind": "TRANSFORM", "mode": "WRITE", "type": "CEL_FIELD", "tags": ["PII"], "expr": "value + '!'",
}  # fmt: skip
GOOD, BAD = '{"ssn": "x", "age": 70}', '{"ssn": "s3cret-78", "age": 17}'


def register(tools: Any, topic: str, form: str, *rules: Any, **more: Any) -> None:
    schema_type, schema = FORMS[form]
    body = {"schema": schema, "schemaType": schema_type, "ruleSet": {"domainRules": list(rules), **more}}
    answer = httpx.post(f"{tools.registry}/subjects/{topic}-value/versions", json=body)
    assert answer.status_code == 200, answer.text


def failed(rule: Any, mode: str, topic: str) -> str:
    return f"rule '{rule['name']}' ({rule['type']}, {mode}) of subject {topic}-value version 1 failed: {rule['expr']}"


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_kafkas_tools_carry_rules_out(tools: Any, topic: str, form: str) -> None:
    register(tools, topic, form, ADULT, SHOUT, OLD)
    latest = {"use_latest_version": "true"}
    sent = tools.produce(form, topic, "--on-error", "skip", lines=f"{GOOD}\n{BAD}\n", **latest)
    assert sent.code == 0
    assert f"line 2, column 1: value: {failed(ADULT, 'WRITE', topic)}" in sent.err
    assert "s3cret" not in sent.err
    read = tools.consume(form, topic, "--from-beginning", "--max-messages", "1")
    assert (read.code, json.loads(read.out)) == (0, {"ssn": "x!", "age": 70})


def test_a_rule_ends_the_run_as_a_bad_line_does(tools: Any, topic: str) -> None:
    register(tools, topic, "avro", ADULT)
    sent = tools.magicbyte("produce", topic, lines=f"{GOOD}\n{BAD}\n{GOOD}\n")
    assert sent.code == 1
    assert sent.err.startswith(f"magicbyte produce: line 2, column 1: value: {failed(ADULT, 'WRITE', topic)}")
    assert len(tools.magicbyte("consume", topic, "--until-end").out.splitlines()) == 1


@pytest.mark.slow
def test_records_that_a_rule_stops_are_undecodable(
    tools: Any, topic: str, stored: Callable[[str], list[Message]]
) -> None:
    register(tools, topic, "avro", OLD)
    assert tools.magicbyte("produce", topic, lines=f"{GOOD}\n{BAD}\n{GOOD}\n").code == 0
    read = tools.magicbyte("consume", topic, "--until-end")
    assert (read.code, len(read.out.splitlines())) == (1, 1)
    assert f"{topic}-0@1: value: {failed(OLD, 'READ', topic)}" in read.err
    skipped = tools.magicbyte("consume", topic, "--until-end", "--skip-message-on-error")
    assert (skipped.code, len(skipped.out.splitlines())) == (0, 2)
    assert "s3cret" not in read.err + skipped.err
    lettered = tools.magicbyte("consume", topic, "--until-end", "--dlq-topic", f"{topic}-dead")
    assert lettered.code == 0
    [letter] = stored(f"{topic}-dead")
    assert letter.value() == stored(topic)[1].value()
    headers = dict(letter.headers() or [])
    assert headers["__rule.name"] == b"old"
    assert headers["__rule.exception"] == failed(OLD, "READ", topic).encode()
    assert headers["__connect.errors.exception.message"] == failed(OLD, "READ", topic).encode()
    listed = tools.run("magicbyte dead-letter", "list", f"{topic}-dead", "--bootstrap-server", tools.kafka)
    assert "rule 'old'" in listed.out


@pytest.mark.slow
def test_properties_override_rules(tools: Any, topic: str) -> None:
    register(tools, topic, "avro", ADULT, OLD)
    disabled = ("--property", "rule.executors._CEL_.disabled=true")
    assert tools.magicbyte("produce", topic, *disabled, lines=BAD).code == 0
    assert tools.magicbyte("produce", topic, "--property", "execution.environment=none", lines=BAD).code == 0
    read = tools.magicbyte("consume", topic, "--until-end", *disabled, "--output", "values")
    assert read.out.splitlines() == ['{"ssn":"s3cret-78","age":17}'] * 2
    wrong = tools.magicbyte("produce", topic, "--property", "rule.executors.adult.onFialure=NONE", lines=BAD)
    assert wrong.code == 2
    assert "rule.executors.adult.onFialure: unknown" in wrong.err


@pytest.mark.slow
def test_dead_letters_of_rules_go_through_the_tools_own_producer(
    tools: Any, topic: str, stored: Callable[[str], list[Message]]
) -> None:
    rules = [{**rule, "onFailure": "DLQ", "params": {"dlq.topic": f"{topic}-dead"}} for rule in (ADULT, OLD)]
    register(tools, topic, "avro", *rules)
    assert (
        tools.magicbyte("produce", topic, "--on-error", "skip", lines=f"{BAD}\n" + '{"ssn": "y", "age": 20}').code == 0
    )
    assert tools.magicbyte("consume", topic, "--until-end", "--skip-message-on-error").code == 0
    written, read = stored(f"{topic}-dead")
    assert json.loads(written.value()) == json.loads(BAD)
    assert read.value() == stored(topic)[0].value()
    assert [dict(letter.headers())["__rule.mode"] for letter in (written, read)] == [b"WRITE", b"READ"]
    dry = tools.magicbyte("produce", topic, "--dry-run", "--on-error", "skip", lines=BAD)
    assert "rule 'adult'" in dry.err
    assert len(stored(f"{topic}-dead")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_consume_redacts_fields_by_their_tags(tools: Any, topic: str, form: str) -> None:
    register(tools, topic, form)
    assert tools.magicbyte("produce", topic, lines=BAD).code == 0
    values = ("--until-end", "--output", "values")
    for tags in (["PII"], ["OTHER", "PII"]):
        flags = [word for tag in tags for word in ("--redact", tag)]
        read = tools.magicbyte("consume", topic, *values, *flags)
        assert (read.code, json.loads(read.out)) == (0, {"ssn": "<REDACTED>", "age": 17})
    other = tools.magicbyte("consume", topic, *values, "--redact", "OTHER")
    assert json.loads(other.out) == json.loads(BAD)


@pytest.mark.slow
def test_no_setting_and_no_header_of_a_record_undoes_a_redaction(tools: Any, topic: str) -> None:
    register(tools, topic, "avro")
    record = {"headers": [{"name": "__rule.name", "value": ""}], "key": None, "value": json.loads(BAD)}
    assert tools.magicbyte("produce", topic, "--input", "records", lines=json.dumps(record)).code == 0
    undone = ("--property", "rule.executors._default_.disabled=true", "--property", "execution.environment=none")
    read = tools.magicbyte("consume", topic, "--until-end", "--output", "values", "--redact", "PII", *undone)
    assert json.loads(read.out) == {"ssn": "<REDACTED>", "age": 17}


@pytest.mark.slow
def test_files_of_avro_containers(tools: Any, topic: str, tmp_path: Any) -> None:
    plain, file = f"{topic}-plain", str(tmp_path / "people.avro")
    assert tools.magicbyte("produce", plain, "--value-schema", AVRO, lines=f"{GOOD}\n{BAD}\n").code == 0
    assert tools.magicbyte("consume", plain, "--until-end", "--output-file", file, "--redact", "PII").code == 0
    register(tools, topic, "avro", ADULT, SHOUT)
    sent = tools.magicbyte("produce", topic, "--input", file, "--on-error", "skip", "--value-schema-version", "1")
    assert f"record 2: {failed(ADULT, 'WRITE', topic)}" in sent.err
    read = tools.magicbyte("consume", topic, "--until-end", "--output", "values")
    assert json.loads(read.out) == {"ssn": "<REDACTED>!", "age": 70}


def test_produce_explains_the_rules(tools: Any, topic: str) -> None:
    register(tools, topic, "avro", ADULT, SHOUT, OLD, {**ADULT, "name": "off", "disabled": True})
    told = tools.magicbyte("produce", topic, "--explain")
    assert told.code == 0
    assert told.out.splitlines() == [
        f"WRITE of version 1 of subject {topic}-value:",
        "     RULE   TYPE       KIND       LIST         ORIGIN  ON FAILURE  FIELDS      EXPRESSION",
        "  1  adult  CEL        CONDITION  domainRules  own     ERROR       age         message.age >= 18",
        "  2  shout  CEL_FIELD  TRANSFORM  domainRules  own     ERROR       Person.ssn  value + '!'",
        "    Person.ssn (STRING): PII",
        "Skipped:",
        "  MODE   RULE  TYPE  ORIGIN  REASON",
        "  WRITE  off   CEL   own     it is disabled",
    ]
    assert tools.magicbyte("consume", topic, "--timeout-ms", "1").out == ""
