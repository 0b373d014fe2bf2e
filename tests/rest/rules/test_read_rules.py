"""Reading records whose schema has rules: a record that a rule stops is one that cannot be decoded."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.rest.rules.conftest import ENCRYPT, FORMS, GOOD, OLD, SHOUT, TYPES, WHISPER, Registry, failed, framed

AGED = {"ssn": "s3cret-78", "age": 70}


def read_until(rest: Any, path: str, form: str) -> httpx.Response:
    """The first answer of an instance that is not an empty list."""
    headers = {"accept": f"application/vnd.kafka.{form}.v2+json"}
    while (answer := rest.get(path, headers=headers)).json() == []:
        pass
    found: httpx.Response = answer
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("side", ["key", "value"])
def test_instances_of_v2(
    rest: Any, registry: Registry, topic: str, send_raw: Callable[..., None], form: str, side: str
) -> None:
    schema_id = registry.register(f"{topic}-{side}", form, OLD, WHISPER, SHOUT)
    for person in (AGED, GOOD):
        send_raw(topic, **{"value": None, side: framed(schema_id, form, person)})
    text = f"{side}: {failed(OLD, 'READ', f'{topic}-{side}')}"
    path = rest.subscribed(topic, format=form, **{"decode.errors": "report"})
    good, bad = rest.read_all(path, 2, form)
    assert good[side] == AGED | {"ssn": "s3cret-78?"}
    assert (bad["key"], bad["value"], bad["error_code"], bad["error"]) == (None, None, 40801, text)
    path = rest.subscribed(topic, format=form)
    [first] = read_until(rest, f"{path}/records", form).json()
    assert first[side] == AGED | {"ssn": "s3cret-78?"}
    answer = read_until(rest, f"{path}/records", form)
    assert (answer.status_code, answer.json()["error_code"]) == (408, 40801)
    assert answer.json()["message"].endswith(text.removeprefix(f"{side}: "))


def test_the_oldest_api(rest: Any, registry: Registry, topic: str, send_raw: Callable[..., None]) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", OLD, WHISPER)
    for person in (AGED, GOOD):
        send_raw(topic, framed(schema_id, "avro", person))
    accept = {"accept": "application/vnd.kafka.avro.v1+json"}
    path = f"/topics/{topic}/partitions/0/messages"
    good, bad = rest.get(path, params={"offset": 0, "count": 2}, headers=accept).json()
    assert good["value"] == AGED | {"ssn": "s3cret-78?"}
    assert (bad["value"], bad["error_code"]) == (None, 40801)
    assert bad["error"] == f"value: {failed(OLD, 'READ', f'{topic}-value')}"
    made = rest.post(
        f"/consumers/{rest.unique('group')}",
        json={"format": "avro", "auto.offset.reset": "smallest"},
        headers={"content-type": "application/vnd.kafka.v1+json"},
    ).json()
    while (answer := rest.get(f"{made['base_uri']}/topics/{topic}", headers=accept)).json() == []:
        pass
    assert [record["value"]["ssn"] for record in answer.json()] == ["s3cret-78?"]


@pytest.mark.parametrize("form", FORMS)
def test_reads_without_an_instance(
    rest: Any, cluster: str, registry: Registry, topic: str, send_raw: Callable[..., None], form: str
) -> None:
    schema_id = registry.register(f"{topic}-value", form, OLD, WHISPER)
    for person in (AGED, GOOD):
        send_raw(topic, framed(schema_id, form, person), b"k")
    good, bad = rest.get(f"{cluster}/topics/{topic}/partitions/0/records").json()["data"]
    assert (good["value"]["type"], good["value"]["data"]) == (TYPES[form], AGED | {"ssn": "s3cret-78?"})
    reason = failed(OLD, "READ", f"{topic}-value")
    assert reason in str(bad["value"])
    assert "data" not in bad["value"]
    failing = rest.get(f"{cluster}/topics/{topic}/partitions/0/records", params={"decode_errors": "fail"})
    assert (failing.status_code, failing.json()["error_code"]) == (408, 40801)
    assert reason in failing.json()["message"]


def test_reads_of_ide_plug_ins(
    rest: Any, cluster: str, registry: Registry, topic: str, send_raw: Callable[..., None]
) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", OLD, WHISPER)
    for person in (AGED, GOOD):
        send_raw(topic, framed(schema_id, "avro", person))
    answer = rest.post(
        f"{cluster}/internal/topics/{topic}/partitions/-/records:consume_guarantee_progress",
        json={"from_beginning": True},
    )
    assert answer.status_code == 200, answer.text
    [partition] = answer.json()["partition_data_list"]
    good, bad = partition["records"]
    assert good["value"] == AGED | {"ssn": "s3cret-78?"}
    assert bad["value_decoding_error"] == failed(OLD, "READ", f"{topic}-value")


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_handed_out_under_a_rule_of_encryption(
    rest: Any, registry: Registry, topic: str, send_raw: Callable[..., None], form: str
) -> None:
    schema_id = registry.register(f"{topic}-value", form, ENCRYPT)
    send_raw(topic, framed(schema_id, form, AGED))
    path = rest.subscribed(topic, format=form, **{"decode.errors": "report"})
    [record] = rest.read_all(path, 1, form)
    assert (record["value"], record["error_code"]) == (None, 40801)
    assert "rule 'encryptSsn' (ENCRYPT, READ)" in record["error"]
    assert "s3cret" not in json.dumps(record)


def test_ciphertext_is_handed_out_where_only_clients_decrypt(
    rest: Any, registry: Registry, topic: str, send_raw: Callable[..., None]
) -> None:
    schema_id = registry.register(f"{topic}-value", "avro", ENCRYPT, enableAt="CLIENT")
    send_raw(topic, framed(schema_id, "avro", AGED))
    path = rest.subscribed(topic, format="avro")
    assert [record["value"] for record in rest.read_all(path, 1, "avro")] == [AGED]


def test_topics_that_share_a_schema_have_subjects_of_their_own(
    rest: Any, registry: Registry, topic: str, untouched: str, send_raw: Callable[..., None]
) -> None:
    other = rest.unique("other")
    schema_id = registry.register(f"{topic}-value", "avro", OLD)
    assert registry.register(f"{other}-value", "avro", OLD) == schema_id
    for name in (topic, other):
        send_raw(name, framed(schema_id, "avro", GOOD))
        path = rest.subscribed(name, format="avro", **{"decode.errors": "report"})
        [record] = rest.read_all(path, 1, "avro")
        assert f"of subject {name}-value" in record["error"]


def test_frames_in_headers(rest: Any, registry: Registry, topic: str, send_raw: Callable[..., None]) -> None:
    schema_id = registry.register(f"{topic}-value", "protobuf", WHISPER)
    guid = registry.client.get(f"/subjects/{topic}-value/versions/1").json()["guid"]
    header = b"\x01" + bytes.fromhex(guid.replace("-", "")) + b"\x00"
    payload = framed(schema_id, "protobuf", AGED)[struct.calcsize(">bI") + 1 :]
    send_raw(topic, payload, headers=[("__value_schema_id", header)])
    path = rest.subscribed(topic, format="protobuf")
    [record] = rest.read_all(path, 1, "protobuf")
    assert record["value"] == AGED | {"ssn": "s3cret-78?"}
