"""Producing records whose schema has rules: a rule stops a record, the other records are sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import orjson
import pytest

from tests.rest.rules.conftest import (
    ADULT,
    AVRO,
    BAD,
    ENCRYPT,
    FORMS,
    GOOD,
    SHOUT,
    TYPES,
    WHISPER,
    Registry,
    failed,
    framed,
)

ERROR = "Error serializing message. "


def values(read_topic: Callable[..., list[Any]], topic: str, side: str = "value") -> list[bytes]:
    return [getattr(message, side)() for message in read_topic(topic)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("side", ["key", "value"])
@pytest.mark.parametrize("by", ["schema", "schema_id"])
def test_v2_answers_for_each_record(
    rest: Any, registry: Registry, topic: str, read_topic: Callable[..., list[Any]], form: str, side: str, by: str
) -> None:
    subject = f"{topic}-{side}"
    schema_id = registry.register(subject, form, ADULT, SHOUT)
    source = {f"{side}_schema": FORMS[form][1]} if by == "schema" else {f"{side}_schema_id": schema_id}
    sent = rest.produce(topic, [{side: GOOD}, {side: BAD}, {side: GOOD | {"age": 19}}], form, **source)
    reason = ERROR + failed(ADULT, "WRITE", subject)
    assert sent["offsets"] == [
        {"partition": 0, "offset": 0, "error_code": None, "error": None},
        {"partition": None, "offset": None, "error_code": 42207, "error": reason},
        {"partition": 0, "offset": 1, "error_code": None, "error": None},
    ]
    assert sent[f"{side}_schema_id"] == schema_id
    written = [orjson.loads(data[5:]) for data in values(read_topic, topic, side)] if form == "jsonschema" else None
    if written is not None:
        assert written == [GOOD | {"ssn": "x-123!"}, {"ssn": "x-123!", "age": 19}]
    else:
        assert values(read_topic, topic, side) == [
            framed(schema_id, form, GOOD | {"ssn": "x-123!"}),
            framed(schema_id, form, {"ssn": "x-123!", "age": 19}),
        ]


def test_v1_answers_for_each_record(
    rest: Any, registry: Registry, topic: str, read_topic: Callable[..., list[Any]]
) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", ADULT)
    for path in (f"/topics/{topic}", f"/topics/{topic}/partitions/0"):
        answer = rest.post(
            path,
            json={"value_schema": AVRO, "records": [{"value": BAD}, {"value": GOOD}]},
            headers={"content-type": "application/vnd.kafka.avro.v1+json"},
        )
        assert answer.status_code == 200
        assert [outcome["error_code"] for outcome in answer.json()["offsets"]] == [42207, None]
    assert values(read_topic, topic) == [framed(schema_id, "avro", GOOD)] * 2


def test_all_records_of_a_request_stopped(
    rest: Any, registry: Registry, topic: str, read_topic: Callable[..., list[Any]]
) -> None:
    registry.register(f"{topic}-value", "avro", ADULT)
    sent = rest.produce(topic, [{"value": BAD}], "avro", value_schema=AVRO)
    assert [outcome["error_code"] for outcome in sent["offsets"]] == [42207]
    assert values(read_topic, topic) == []


@pytest.mark.parametrize("form", FORMS)
def test_v3_answers_in_its_stream(
    rest: Any, cluster: str, registry: Registry, topic: str, read_topic: Callable[..., list[Any]], form: str
) -> None:
    schema_id = registry.register(f"{topic}-value", form, ADULT, SHOUT)
    records = [{"value": {"schema_id": schema_id, "data": person}} for person in (GOOD, BAD, GOOD)]
    records.append({"value": {"type": TYPES[form], "schema": FORMS[form][1], "data": GOOD}})
    answer = rest.post(
        f"{cluster}/topics/{topic}/records",
        content="".join(map(json.dumps, records)),
        headers={"content-type": "application/json"},
    )
    assert answer.status_code == 200
    reports = [json.loads(line) for line in answer.text.splitlines()]
    assert [report["error_code"] for report in reports] == [200, 422, 200, 200]
    reason = ERROR + failed(ADULT, "WRITE", f"{topic}-value")
    assert reports[1] == {"error_code": 422, "message": f"Error: 42207 : {reason}"}
    assert [report["value"]["schema_version"] for report in reports if "value" in report] == [1, 1, 1]
    assert len(values(read_topic, topic)) == 3
    assert all(b"x-123!" in value for value in values(read_topic, topic))


def test_v3_answers_in_its_batch(rest: Any, cluster: str, registry: Registry, topic: str) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", ADULT)
    entries = [
        {"id": name, "value": {"schema_id": schema_id, "data": person}} for name, person in (("a", BAD), ("b", GOOD))
    ]
    answer = rest.post(f"{cluster}/topics/{topic}/records:batch", json={"entries": entries}).json()
    assert [success["id"] for success in answer["successes"]] == ["b"]
    [failure] = answer["failures"]
    assert (failure["id"], failure["error_code"]) == ("a", 422)
    assert failure["message"] == f"Error: 42207 : {ERROR}{failed(ADULT, 'WRITE', f'{topic}-value')}"


def test_a_schema_refuses_the_whole_request_as_ever(rest: Any, registry: Registry, topic: str) -> None:
    registry.register(f"{topic}-value", "avro", ADULT)
    body = {"value_schema": AVRO, "records": [{"value": BAD}, {"value": {"ssn": 1, "age": 18}}]}
    answer = rest.post_v2(f"/topics/{topic}", body, "avro")
    assert (answer.status_code, answer.json()["error_code"]) == (400, 400)
    assert answer.json()["message"] == "Bad Request: records[1].value.ssn: expected string, got integer"


def test_tombstones_and_other_formats_have_no_rules(
    rest: Any, registry: Registry, topic: str, read_topic: Callable[..., list[Any]]
) -> None:
    registry.register(f"{topic}-value", "avro", ADULT)
    rest.produce(topic, [{"value": None}], "avro", value_schema=AVRO)
    rest.produce(topic, [{"value": BAD}], "json")
    rest.produce(topic, [{"value": "AAA="}], "binary")
    assert [value if value is None else len(value) for value in values(read_topic, topic)] == [None, 28, 2]


def test_a_write_applies_the_rules_of_its_schema_version(
    rest: Any, cluster: str, registry: Registry, topic: str, read_topic: Callable[..., list[Any]]
) -> None:
    first = registry.register(f"{topic}-value", "avro")
    second = registry.register(f"{topic}-value", "avro", ADULT)
    assert first != second

    def code(**source: Any) -> int | None:
        sent = rest.produce(topic, [{"value": BAD}], "avro", **source)
        outcome: int | None = sent["offsets"][0]["error_code"]
        return outcome

    # A text without rules inherits those of the latest version, as with a serializer that registers it.
    assert code(value_schema=AVRO) == 42207
    assert code(value_schema_id=first) is None
    assert code(value_schema_id=second) == 42207
    # v3 may name the version by its guid.
    guids = [registry.client.get(f"/subjects/{topic}-value/versions/{one}").json()["guid"] for one in (1, 2)]
    assert guids[0] != guids[1]
    for guid, expected in zip(guids, (200, 422), strict=True):
        record = {"value": {"schema_guid": guid, "data": BAD}}
        assert rest.post(f"{cluster}/topics/{topic}/records", json=record).json()["error_code"] == expected
    good = rest.produce(topic, [{"value": GOOD}], "avro", value_schema_id=second)
    assert good["value_schema_id"] == second
    assert values(read_topic, topic) == [framed(first, "avro", BAD)] * 2 + [framed(second, "avro", GOOD)]


def test_rules_that_a_new_schema_inherits(rest: Any, registry: Registry, topic: str) -> None:
    registry.register(f"{topic}-value", "avro", ADULT)
    wider = AVRO.replace("]}]", ']}, {"name": "n", "type": "int", "default": 0}]').replace(
        '"type": "int"}]}', '"type": "int"}, {"name": "n", "type": "int", "default": 0}]}'
    )
    sent = rest.produce(topic, [{"value": BAD | {"n": 1}}, {"value": GOOD | {"n": 1}}], "avro", value_schema=wider)
    assert [outcome["error_code"] for outcome in sent["offsets"]] == [42207, None]
    assert registry.client.get(f"/subjects/{topic}-value/versions").json() == [1, 2]


def test_rules_of_the_subjects_config(rest: Any, registry: Registry, topic: str) -> None:
    config = {"defaultRuleSet": {"domainRules": [ADULT]}}
    assert registry.client.put(f"/config/{topic}-value", json=config).status_code == 200
    sent = rest.produce(topic, [{"value": BAD}], "avro", value_schema=AVRO)
    assert sent["offsets"][0]["error_code"] == 42207


@pytest.mark.parametrize(
    "rule_set",
    [
        {"domainRules": [{**ADULT, "disabled": True}]},
        {"domainRules": [ADULT], "enableAt": "NONE"},
        {"domainRules": [ADULT], "enableAt": "CLIENT"},
        {"domainRules": [WHISPER]},
        {"migrationRules": [{"name": "up", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "JSONATA", "expr": "$"}]},
    ],
)
def test_disabled_and_client_only_rules_do_not_run(rest: Any, registry: Registry, topic: str, rule_set: Any) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", **rule_set)
    for source in ({"value_schema": AVRO}, {"value_schema_id": schema_id}):
        sent = rest.produce(topic, [{"value": BAD}], "avro", **source)
        assert (sent["offsets"][0]["error_code"], sent["value_schema_id"]) == (None, schema_id)


@pytest.mark.parametrize("place", ["GATEWAY", "ALL"])
def test_rules_that_are_enabled_here(rest: Any, registry: Registry, topic: str, place: str) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", ADULT, enableAt=place)
    sent = rest.produce(topic, [{"value": BAD}], "avro", value_schema_id=schema_id)
    assert sent["offsets"][0]["error_code"] == 42207


def refusal(answer: httpx.Response) -> tuple[int, int, str]:
    return answer.status_code, answer.json()["error_code"], answer.json()["message"]


@pytest.mark.parametrize("form", FORMS)
def test_encryption_that_only_clients_may_do_refuses_the_request(
    rest: Any, cluster: str, registry: Registry, topic: str, read_topic: Callable[..., list[Any]], form: str
) -> None:
    subject = f"{topic}-value"
    schema_id = registry.register(subject, form, ENCRYPT, enableAt="CLIENT")
    text = f"{ERROR}rules of this schema run at CLIENT only: encryptSsn; write to subject {subject} with a serializer"
    for source in ({"value_schema": FORMS[form][1]}, {"value_schema_id": schema_id}):
        answer = rest.post_v2(f"/topics/{topic}", {**source, "records": [{"value": GOOD}]}, form)
        assert refusal(answer) == (422, 42207, text)
    report = rest.post(
        f"{cluster}/topics/{topic}/records", json={"value": {"schema_id": schema_id, "data": GOOD}}
    ).json()
    assert report == {"error_code": 422, "message": f"Error: 42207 : {text}"}
    assert values(read_topic, topic) == []


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_written_under_a_rule_of_encryption(
    rest: Any, cluster: str, registry: Registry, topic: str, read_topic: Callable[..., list[Any]], form: str
) -> None:
    schema_id = registry.register(f"{topic}-value", form, ENCRYPT)
    for source in ({"value_schema": FORMS[form][1]}, {"value_schema_id": schema_id}):
        [outcome] = rest.produce(topic, [{"value": GOOD}], form, **source)["offsets"]
        assert outcome["error_code"] == 42207
        assert "rule 'encryptSsn' (ENCRYPT, WRITE)" in outcome["error"]
    report = rest.post(
        f"{cluster}/topics/{topic}/records", json={"value": {"schema_id": schema_id, "data": GOOD}}
    ).json()
    assert report["error_code"] == 422
    assert values(read_topic, topic) == []


JSONATA = {
    "name": "loud",
    "kind": "TRANSFORM",
    "mode": "WRITE",
    "type": "JSONATA",
    "expr": '$merge([$, {"ssn": ssn & "!"}])',
}


@pytest.mark.parametrize("form", ["avro", "jsonschema"])
def test_rules_that_run_on_threads(
    rest: Any, cluster: str, registry: Registry, topic: str, read_topic: Callable[..., list[Any]], form: str
) -> None:
    schema_id = registry.register(f"{topic}-value", form, JSONATA, ADULT)
    sent = rest.produce(topic, [{"value": GOOD}, {"value": BAD}], form, value_schema_id=schema_id)
    assert [outcome["error_code"] for outcome in sent["offsets"]] == [None, 42207]
    record = {"value": {"schema_id": schema_id, "data": GOOD}}
    assert rest.post(f"{cluster}/topics/{topic}/records", json=record).json()["error_code"] == 200
    assert [b"x-123!" in value for value in values(read_topic, topic)] == [True, True]


def test_more_records_than_the_event_loop_takes_at_once(
    rest: Any, registry: Registry, topic: str, read_topic: Callable[..., list[Any]]
) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", ADULT)
    records = [{"value": {"ssn": "x", "age": age}} for age in range(500)]
    sent = rest.produce(topic, records, "avro", value_schema_id=schema_id)
    assert [outcome["error_code"] for outcome in sent["offsets"]] == [42207] * 18 + [None] * 482
    assert len(read_topic(topic)) == 482
    counts = rest.get("/metrics").text
    labels = f'rule="adult",subject="{topic}-value"'
    assert f'magicbyte_rest_rules_total{{{labels},verdict="passed"}} 482.0' in counts
    assert f'magicbyte_rest_rules_total{{{labels},verdict="failed"}} 18.0' in counts


def test_an_expression_that_never_ends_stops_its_record(rest: Any, registry: Registry, topic: str) -> None:
    endless = {**JSONATA, "name": "endless", "expr": "($f := function($x) { $f($x) }; $f(1))"}
    loops = "range.all(a, range.all(b, range.all(c, a + b + c >= 0)))"
    slow = {**ADULT, "name": "slow", "expr": f"[[{', '.join(map(str, range(60)))}]].all(range, {loops})"}
    for rule in (endless, slow):
        subject = f"{topic}-{rule['name']}"
        schema_id = registry.register(f"{subject}-value", "avro", rule)
        [outcome] = rest.produce(subject, [{"value": GOOD}], "avro", value_schema_id=schema_id)["offsets"]
        assert outcome["error_code"] == 42207
        assert f"rule '{rule['name']}'" in outcome["error"]
