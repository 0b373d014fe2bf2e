"""The proxy's settings of rules, its dead letters and its counts; no value leaves it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compat.schema import SchemaText
from magicbyte.kit.settings import SettingsError
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.rules.counts import MOST_RULES, BoundedRuleCounts
from rest_proxy.rules.weight import Weight
from rest_proxy.settings import RestProxySettings
from serdes.rules.context import Ruled
from serdes.rules.plan import rules_plan
from serdes.rules.settings import RuleSettings
from tests.rest.conftest import Rest
from tests.rest.rules.conftest import ADULT, AVRO, BAD, FORMS, GOOD, OLD, Registry, failed, framed
from tests.rest.v3.conftest import V3

BASE = {"bootstrap.servers": "localhost:9092"}
#: A rule whose expression fails with an error on the secret of `BAD`, and one that only rejects it.
PARSE = {"name": "parse", "kind": "CONDITION", "mode": "WRITEREAD", "type": "CEL", "expr": "int(message.ssn) > 0"}
HIDDEN = {
    "name": "hidden",
    "kind": "CONDITION",
    "mode": "WRITEREAD",
    "type": "CEL_FIELD",
    "tags": ["PII"],
    "expr": "value.startsWith('x')",
}
SECRET = "s3cret-78"


@pytest.fixture(scope="module")
def dead_letters() -> str:
    return Rest.unique("dead-letters")


@pytest.fixture(scope="module")
def server(kafka: str, registry_url: str, dead_letters: str) -> Iterator[ServerProcess]:
    """A proxy whose rules send dead letters, apart from those named `lenient` and `off`."""
    properties = {
        "dlq.topic": dead_letters,
        "rule.executors._default_.onFailure": "DLQ",
        "rule.executors.lenient.onFailure": "NONE",
        "rule.executors.off.disabled": "true",
        "validation.rules.execution": "BEFORE_DOMAIN_RULES",
        "debug": "true",
    }
    with running_rest_proxy(kafka, registry_url, properties=properties) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def lettered(server: ServerProcess) -> Iterator[Rest]:
    with Rest(base_url=server.url, timeout=30) as client:
        yield client


@pytest.mark.slow
def test_overrides(lettered: Rest, registry: Registry, topic: str) -> None:
    rules = [{**ADULT, "name": "lenient"}, {**ADULT, "name": "off"}]
    registry.register(f"{topic}-value", "avro", *rules)
    sent = lettered.produce(topic, [{"value": BAD}], "avro", value_schema=AVRO)
    assert sent["offsets"][0]["error_code"] is None
    counts = {line for line in lettered.get("/metrics").text.splitlines() if f'subject="{topic}-value"' in line}
    assert counts == {f'magicbyte_rest_rules_total{{rule="lenient",subject="{topic}-value",verdict="ignored"}} 1.0'}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_dead_letters_of_produced_records(
    lettered: Rest, registry: Registry, topic: str, dead_letters: str, read_topic: Callable[..., list[Any]], form: str
) -> None:
    schema_id = registry.register(f"{topic}-value", form, ADULT)
    before = len(read_topic(dead_letters)) if form != "avro" else 0
    sent = lettered.produce(topic, [{"value": BAD}, {"value": GOOD}], form, value_schema_id=schema_id)
    assert [outcome["error_code"] for outcome in sent["offsets"]] == [42207, None]
    report = lettered.post(
        f"{V3(lettered).path}/topics/{topic}/records",
        json={
            "headers": [{"name": "mine", "value": "aGk="}],
            "key": {"type": "STRING", "data": "k"},
            "value": {"schema_id": schema_id, "data": BAD},
        },
    ).json()
    assert report["error_code"] == 422
    first, second = read_topic(dead_letters)[before:]
    expected = [
        ("__rule.name", b"adult"),
        ("__rule.mode", b"WRITE"),
        ("__rule.subject", f"{topic}-value".encode()),
        ("__rule.topic", topic.encode()),
        ("__rule.exception", failed(ADULT, "WRITE", f"{topic}-value").encode()),
    ]
    assert (first.key(), json.loads(first.value()), first.headers()) == (None, BAD, expected)
    assert (second.key(), json.loads(second.value())) == (b"k", BAD)
    assert second.headers() == [("mine", b"hi"), *expected]


@pytest.mark.slow
def test_dead_letters_of_records_that_are_read(  # fixtures
    lettered: Rest,
    registry: Registry,
    topic: str,
    dead_letters: str,
    read_topic: Callable[..., list[Any]],
    send_raw: Callable[..., None],
) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", OLD)
    data = framed(schema_id, "avro", GOOD)
    send_raw(topic, data, headers=[("mine", b"hi")])
    path = lettered.subscribed(topic, format="avro", **{"decode.errors": "report"})
    [record] = lettered.read_all(path, 1, "avro")
    assert (record["value"], record["error_code"]) == (None, 40801)
    assert record["error"] == f"value: {failed(OLD, 'READ', f'{topic}-value')}"
    [letter] = [one for one in read_topic(dead_letters) if one.value() == data]
    assert letter.key() is None
    assert dict(letter.headers())["__rule.mode"] == b"READ"
    assert letter.headers()[0] == ("mine", b"hi")


@pytest.mark.slow
def test_a_replay_passes_the_rule_that_it_names(lettered: Rest, registry: Registry, topic: str) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", ADULT)
    report = lettered.post(
        f"{V3(lettered).path}/topics/{topic}/records",
        json={
            "headers": [{"name": "__rule.name", "value": "YWR1bHQ="}],
            "value": {"schema_id": schema_id, "data": BAD},
        },
    ).json()
    assert report["error_code"] == 200


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_no_value_leaves_the_proxy(  # noqa: PLR0917  # fixtures
    server: ServerProcess,
    lettered: Rest,
    registry: Registry,
    topic: str,
    dead_letters: str,
    read_topic: Callable[..., list[Any]],
    send_raw: Callable[..., None],
    form: str,
) -> None:
    for rule in (PARSE, HIDDEN):
        name = f"{topic}-{rule['name']}"
        schema_id = registry.register(f"{name}-value", form, rule)
        body = {"value_schema_id": schema_id, "records": [{"value": BAD}]}
        answers = [lettered.post_v2(f"/topics/{name}", body, form).text]
        record = {"value": {"schema_id": schema_id, "data": BAD}}
        path = f"{V3(lettered).path}/topics/{name}"
        answers.append(lettered.post(f"{path}/records", json=record).text)
        send_raw(name, framed(schema_id, form, BAD))
        instance = lettered.subscribed(name, format=form, **{"decode.errors": "report"})
        answers.append(json.dumps(lettered.read_all(instance, 1, form)))
        answers.append(lettered.get(f"{path}/partitions/0/records").text)
        assert all(f"rule '{rule['name']}'" in answer for answer in answers)
        # v3 shows the bytes of a record that it cannot decode, as the topic has them.
        assert not [answer for answer in answers if SECRET in answer]
        assert SECRET not in lettered.get("/metrics").text
        letters = [
            letter for letter in read_topic(dead_letters) if f"{name}".encode() in dict(letter.headers()).values()
        ]
        assert len(letters) == 4
        assert not any(SECRET.encode() in (value or b"") for letter in letters for _, value in letter.headers())
    assert SECRET.encode() not in server.log.read_bytes()


@pytest.mark.slow
def test_validation_rules_of_the_schema(lettered: Rest, registry: Registry, topic: str) -> None:
    rule = {"name": "short", "expr": "size(this) < 4"}
    schema = {"type": "record", "name": "P", "fields": [{"name": "ssn", "type": "string", "confluent:rules": [rule]}]}
    schema_id = registry.register(f"{topic}-value", "avro", schema=json.dumps(schema))
    records = [{"value": {"ssn": ssn}} for ssn in ("abc", SECRET)]
    good, bad = lettered.produce(topic, records, "avro", value_schema_id=schema_id)["offsets"]
    assert (good["error_code"], bad["error_code"]) == (None, 42207)
    assert "ssn: short: size(this) < 4" in bad["error"]
    assert SECRET not in bad["error"]


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        (
            {"rule.executors.r.onFialure": "NONE"},
            "rule.executors.r.onFialure: unknown; expected rule.executors.<rule name, _TYPE_ or _default_>.onSuccess,"
            " .onFailure, .disabled or .param.<key>",
        ),
        ({"execution.environment": "CLOUD"}, "execution.environment"),
        ({"dlq.timeout.ms": "0"}, "dlq.timeout.ms"),
        ({"validation.rules.execution": "SOMETIMES"}, "validation.rules.execution"),
    ],
)
def test_wrong_settings(properties: dict[str, str], error: str) -> None:
    with pytest.raises(SettingsError) as raised:
        RestProxySettings.from_properties(BASE | properties)
    assert error in str(raised.value)


def test_settings_reach_the_rules() -> None:
    properties = {
        "execution.environment": "CLIENT",
        "magicbyte.rules.show.values": "true",
        "rule.executors.r.param.k": "v",
        "rule.executors._CEL_.onFailure": "NONE",
        "validation.rules.execution": "AFTER_DOMAIN_RULES",
    }
    settings = RestProxySettings.from_properties(BASE | properties)
    rules = settings.rules(settings.properties)
    assert (rules.environment, rules.show_values) == ("CLIENT", True)
    assert rules.parameters("r", "JSONATA")["k"] == "v"
    assert rules.override("x", "CEL").on_failure == "NONE"
    assert rules.options is not None
    assert rules.options.validation == "AFTER_DOMAIN_RULES"


@pytest.mark.parametrize(
    ("rules", "size", "count", "is_light"),
    [
        ([ADULT], 1000, 1, True),
        ([ADULT], 32768, 100, True),
        ([ADULT], 32769, 1, False),
        ([ADULT], 1000, 101, False),
        ([ADULT, {**ADULT, "name": "b"}], 1000, 51, False),
        ([{**ADULT, "expr": "[1, 2].all(x, [3].exists(y, x < y))"}], 1024, 1, True),
        ([{**ADULT, "expr": "[1, 2].all(x, [3].exists(y, x < y))"}], 1025, 1, False),
        ([{**ADULT, "expr": f"[1, 2].all(x, x > 0) && '{'y' * 1024}' != ''"}], 10, 1, False),
        ([{**ADULT, "type": "JSONATA", "expr": "true"}], 10, 1, False),
        ([{**ADULT, "onFailure": "DLQ"}], 10, 1, True),
    ],
)
def test_rules_that_may_run_on_the_event_loop(rules: Any, size: int, count: int, is_light: bool) -> None:
    ruled = Ruled("s", SchemaText("AVRO", AVRO, ()), {"domainRules": rules})
    assert Weight.of(rules_plan(ruled, "WRITE", RuleSettings())).is_light(size, count) is is_light


def test_counts_of_many_rules_have_a_bound() -> None:
    counts = BoundedRuleCounts()
    for number in range(MOST_RULES + 7):
        counts.add((f"s{number}", "r", "passed"))
    counts.add(("s0", "r", "failed"))
    assert len(counts) == MOST_RULES + 2
    assert (counts["", "", "passed"], counts["s0", "r", "failed"]) == (7, 1)
