"""`POST /ui/dead-letters` and `/ui/dead-letter` on a real broker: counted, listed and shown as the command does."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from compat.schema import AVRO, SchemaText
from serdes.client.clients import RegistryClient
from serdes.message import wire
from tests.serdes.letters.letter_topic import OCTOBER, VALUE, LetterTopic
from tests.ui.kit.scanned import Searched, searched

NO_ID = 999_999
#: What a condition may use only within limits.
LIMITS = {"magicbyte.ui.messages.cpu.ms": "1500"}


@pytest.fixture(scope="module")
def running(kafka: str) -> Iterator[Searched]:
    with searched(kafka) as running:
        yield running


@pytest.fixture
def desk(running: Searched) -> LetterTopic:
    return LetterTopic(running.bootstrap_servers, RegistryClient(running.registry.url), running.topic(2) + "-source")


def count(running: Searched, topic: str, **wanted: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The end of a count, and the letters that are listed."""
    with running.client() as http:
        answer = http.post("/ui/dead-letters", json={"topic": topic, **wanted})
    assert answer.status_code == 200, answer.text
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert "end" in lines[-1], lines[-1]
    return {**lines[0]["begin"], **lines[-1]["end"]}, [line["letter"] for line in lines if "letter" in line]


def show(running: Searched, topic: str, offset: int, status: int = 200, **wanted: Any) -> Any:
    with running.client() as http:
        answer = http.post("/ui/dead-letter", json={"topic": topic, "partition": 0, "offset": offset, **wanted})
    assert answer.status_code == status, answer.text
    return answer.json()


def replay(running: Searched, topic: str, *offsets: int) -> None:
    with httpx.Client(base_url=running.proxy.url, timeout=60, trust_env=False) as http:
        cluster = http.get("/v3/clusters").json()["data"][0]["cluster_id"]
        body = {"letters": [{"partition_id": 0, "offset": offset} for offset in offsets]}
        answer = http.post(f"/v3/clusters/{cluster}/topics/{topic}/dead-letters:replay", json=body)
    assert {letter["outcome"] for letter in answer.json()["letters"]} == {"sent"}, answer.text


def test_letters_are_counted_as_by_the_command(running: Searched, desk: LetterTopic) -> None:
    for offset in range(3):
        desk.bury(b"x", offset, message=f"magic byte at offset {offset}")
    desk.bury(b"x", 2, message="magic byte at offset 2")
    desk.bury(b"x", 3, "streams", stage="TASK_PUT", message="null", connector="other", schema_id=9)
    desk.bury(b"x", 4, "spring", message="null", connector="shop")
    desk.put(b"no headers", b"k", [], OCTOBER + 9)
    end, letters = count(running, desk.letters)
    largest = end["groups"][0]
    assert (end["reason"], end["total"], end["scanned"], end["matched"], letters) == ("end", 7, 7, 7, [])
    assert (largest["reason"], largest["stage"]) == ("magic byte at offset #", "VALUE_CONVERTER")
    assert (largest["letters"], largest["repeated"], largest["replayed"]) == (3, 1, 0)
    assert largest["first"] == {"partition": 0, "offset": 0, "timestamp": OCTOBER}
    assert largest["last"] == {"partition": 0, "offset": 3, "timestamp": OCTOBER + 2}
    assert sorted((group["reason"], group["stage"]) for group in end["groups"][1:]) == [
        ("no headers of a dead letter", None), ("null", "TASK_PUT"), ("null", "VALUE_CONVERTER"),
    ]  # fmt: skip

    def by(name: str) -> dict[str, int]:
        return {group["name"]: group["letters"] for group in count(running, desk.letters, by=name)[0]["groups"]}

    assert by("pipeline") == {"app": 3, "other": 1, "shop": 1, "-": 1}
    assert by("schema-id") == {"9": 1, "-": 5}
    assert by("topic") == {desk.source: 5, "-": 1}


def test_letters_are_chosen_by_group_condition_and_time(running: Searched, desk: LetterTopic) -> None:
    for offset in range(6):
        desk.bury(b"x", offset, stage="TASK_PUT" if offset % 2 else "VALUE_CONVERTER", message=f"no. {offset}")
    end, letters = count(running, desk.letters, where="stage = 'TASK_PUT' AND \"offset\" > 1", letters=10)
    assert [(letter["offset"], letter["origin"]["offset"]) for letter in letters] == [(5, 5), (3, 3)]
    assert letters[0] | {"group": "", "fingerprint": ""} == {
        "partition": 0, "offset": 5, "timestamp": OCTOBER + 5, "group": "", "fingerprint": "", "stage": "TASK_PUT",
        "reason": "no. #", "origin": {"topic": desk.source, "partition": 1, "offset": 5}, "pipeline": "app",
        "schema": None, "masked": False, "replays": 0, "replayed": False,
    }  # fmt: skip
    (group,) = end["groups"]
    assert group["name"] == letters[0]["group"] == letters[0]["fingerprint"]
    of_group, _ = count(running, desk.letters, group=group["name"])
    assert of_group["matched"] == 3
    assert count(running, desk.letters, by="pipeline", group="app")[0]["matched"] == 6
    in_time, _ = count(running, desk.letters, since=OCTOBER + 2, until=OCTOBER + 4)
    assert in_time["matched"] == 2
    listed = count(running, desk.letters, letters=2)[1]
    assert [letter["offset"] for letter in listed] == [5, 4]


def test_times_of_letters_need_not_increase(running: Searched, desk: LetterTopic) -> None:
    """Connect gives a letter the time of its record."""
    for offset, time in enumerate((30, 10, 20, 40, 15)):
        desk.put(b"x", b"k%d" % offset, [], OCTOBER + time)
    _, letters = count(running, desk.letters, since=OCTOBER + 15, until=OCTOBER + 25, letters=9)
    assert [letter["offset"] for letter in letters] == [4, 2]


def test_replayed_letters_are_marked(running: Searched, desk: LetterTopic) -> None:
    good = wire.prefix(desk.register()) + VALUE
    for offset in range(4):
        desk.bury(good, offset, stage="TASK_PUT")
    replay(running, desk.letters, 0, 2)
    end, letters = count(running, desk.letters, letters=10)
    assert [(letter["offset"], letter["replayed"]) for letter in letters] == [
        (3, False), (2, True), (1, False), (0, True)
    ]  # fmt: skip
    assert (end["groups"][0]["replayed"], end["notesProblem"]) == (2, None)
    assert [letter["offset"] for letter in count(running, desk.letters, letters=9, replayed=False)[1]] == [3, 1]
    assert count(running, desk.letters, replayed=True)[0]["matched"] == 2
    shown = show(running, desk.letters, 2)
    assert (shown["replayed"]["count"], shown["replayed"]["topic"]) == (1, desk.source)
    assert show(running, desk.letters, 3)["replayed"] is None


def test_letters_of_aborted_transactions_are_none(running: Searched, desk: LetterTopic) -> None:
    from confluent_kafka import Producer  # noqa: PLC0415 - by one test

    config = {"bootstrap.servers": desk.kafka, "transactional.id": desk.letters}
    producer = Producer(config)
    producer.init_transactions(20)
    for commits in (False, True):
        producer.begin_transaction()
        producer.produce(desk.letters, b"in a transaction")
        producer.flush(20)
        (producer.commit_transaction if commits else producer.abort_transaction)(20)
    assert count(running, desk.letters)[0]["matched"] == 1


def test_a_letter_is_shown_with_the_byte_where_decoding_stopped(running: Searched, desk: LetterTopic) -> None:
    schema_id = desk.register()
    cut = wire.prefix(schema_id) + VALUE[:-1]
    desk.bury(cut, 0, message="truncated", schema_id=schema_id, timestamp=OCTOBER)
    desk.bury(wire.prefix(NO_ID) + b"x", 1)
    desk.bury(None, 2, stage="TASK_PUT", masked=True)
    desk.bury(wire.prefix(schema_id) + VALUE, 3)
    letter = show(running, desk.letters, 0)["letter"]
    assert letter["failure"]["message"] == "truncated"
    assert letter["headers"] == [{"name": "own", "value": "h"}]
    value = letter["value"]
    assert base64.b64decode(value["base64"]) == cut
    assert (value["path"], value["byte"], value["decoded"], value["bytes"]) == ("$.carrier", 6, None, len(cut))
    assert (value["subject"], value["version"], value["schemaId"]) == (f"{desk.source}-value", 1, str(schema_id))
    assert json.loads(value["schema"])["name"] == "Flight"
    assert letter["key"]["decoded"] == "k0"
    unknown = show(running, desk.letters, 1)["letter"]["value"]
    assert (unknown["schemaId"], unknown["schema"], unknown["byte"]) == (str(NO_ID), None, 1)
    masked = show(running, desk.letters, 2)["letter"]
    assert (masked["failure"]["masked"], masked["value"]) == (True, None)
    assert show(running, desk.letters, 3)["letter"]["value"]["decoded"] == {"id": 7, "carrier": "UA"}
    gone = show(running, desk.letters, 4, status=404)
    assert gone["message"] == "There is no letter at 0:4; the partition has offsets from 0 to before 4"


def test_numbers_keep_their_digits_and_long_values_are_cut(running: Searched, desk: LetterTopic) -> None:
    text = json.dumps({"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}]})
    number = desk.registry.register(f"{desk.source}-value", SchemaText(AVRO, text)).id
    desk.bury(wire.prefix(number) + b"\xfe" + b"\xff" * 8 + b"\x01", 0)
    with running.client() as http:
        answer = http.post("/ui/dead-letter", json={"topic": desk.letters, "partition": 0, "offset": 0})
    assert '"decoded":{"n":9223372036854775807}' in answer.text
    desk.bury(b"a" * 100_000, 1, stage="TASK_PUT")
    value = show(running, desk.letters, 1)["letter"]["value"]
    assert (value["decoded"], value["size"], value["bytes"]) == (None, 100_002, 100_000)
    assert len(base64.b64decode(value["base64"])) == 512
    whole = show(running, desk.letters, 1, whole=True)["letter"]["value"]
    assert (whole["decoded"], whole["bytes"]) == ("a" * 100_000, 100_000)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({}, "topic is needed"),
        ({"topic": "t", "by": "color"}, "by must be one of reason, topic, schema-id, pipeline, not 'color'"),
        ({"topic": "t", "letters": 2001}, "letters must be between 0 and 2000, not 2001"),
        ({"topic": "t", "where": "x" * 2001}, "where has 2001 characters; at most 2000 are read"),
        ({"topic": "t", "where": "a\0"}, "where has a null character"),
        ({"topic": "t", "since": -1}, "since must be between 0 and 9223372036854775807, not -1"),
        ({"topic": "t", "more": 1}, "the body is no such request"),
    ],
    ids=str,
)
def test_wrong_requests_are_refused(running: Searched, wanted: dict[str, Any], said: str) -> None:
    with running.client() as http:
        answer = http.post("/ui/dead-letters", json=wanted)
    assert (answer.status_code, answer.json()["message"].startswith(said)) == (400, True), answer.text


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("stagee = 1", "where stagee = 1: no such column: stagee; the columns are letter_partition, "),
        ("1; DROP TABLE x", "where 1; DROP TABLE x: "),
        ("load_extension('x')", "where load_extension('x'): not authorized"),
        ("(SELECT 1 FROM pragma_database_list)", "where (SELECT 1 FROM pragma_database_list): not authorized"),
    ],
)
def test_a_condition_is_one_and_reads_only_letters(running: Searched, desk: LetterTopic, where: str, said: str) -> None:
    desk.bury(b"x", 0)
    with running.client() as http:
        answer = http.post("/ui/dead-letters", json={"topic": desk.letters, "where": where})
    error = json.loads(answer.text.splitlines()[-1])["error"]
    assert error["status"] == 400
    assert error["message"].startswith(said), error


@pytest.mark.slow
def test_a_costly_condition_ends_with_its_worker(kafka: str) -> None:
    with searched(kafka, LIMITS) as limited:
        desk = LetterTopic(kafka, RegistryClient(limited.registry.url), limited.topic() + "-source")
        desk.bury(b"x", 0)
        endless = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n) > 0"
        with limited.client() as http:
            answer = http.post("/ui/dead-letters", json={"topic": desk.letters, "where": endless})
            error = json.loads(answer.text.splitlines()[-1])["error"]
            assert (error["status"], error["error_code"]) == (422, 42201)
            assert error["message"].startswith("the condition cannot be evaluated: this takes more than 1500 ms")
            assert http.get("/subjects").status_code == 200
        assert count(limited, desk.letters)[0]["matched"] == 1


def test_a_topic_that_is_not_there_is_not_found(running: Searched) -> None:
    with running.client() as http:
        answer = http.post("/ui/dead-letters", json={"topic": "no-such-letters"})
    assert answer.status_code == 404


@pytest.mark.slow
def test_without_version_3_letters_cannot_be_read(kafka: str) -> None:
    with searched(kafka, rest={"api.v3.enable": "false"}) as old:
        desk = LetterTopic(kafka, RegistryClient(old.registry.url), old.topic() + "-source")
        desk.bury(b"x", 0)
        for path, body in (("dead-letters", {}), ("dead-letter", {"partition": 0, "offset": 0})):
            with old.client() as http:
                answer = http.post(f"/ui/{path}", json={"topic": desk.letters, **body})
            assert answer.status_code == 404
            assert "need" in answer.json()["message"], answer.text
            assert "version 3" in answer.json()["message"]
