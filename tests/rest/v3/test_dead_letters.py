"""Replaying dead letters by the REST proxy on a real broker: what is sent, what stays and why, and once each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from magicbyte.dead_letters.kafka_clients import transactional_id
from serdes.client.clients import RegistryClient
from serdes.letters.letter import Replayed, state_key, state_value
from serdes.message import wire
from tests.rest.conftest import unique
from tests.rest.v3.conftest import V3
from tests.serdes.letters.letter_topic import OCTOBER, VALUE, LetterTopic
from tests.topics import create_topics

NO_ID = 999_999


@pytest.fixture
def desk(kafka: str, registry_url: str) -> LetterTopic:
    return LetterTopic(kafka, RegistryClient(registry_url), unique("source"))


def places(*offsets: int) -> list[dict[str, int]]:
    return [{"partition_id": 0, "offset": offset} for offset in offsets]


def replay(v3: V3, desk: LetterTopic, *offsets: int, status: int = 200, **options: Any) -> Any:
    body = {"letters": places(*offsets), **options}
    answered, answer = v3.ask("POST", f"topics/{desk.letters}/dead-letters:replay", body)
    assert answered == status, answer
    return answer


def outcomes(answer: Any) -> list[tuple[int, str, str | None]]:
    return [(letter["offset"], letter["outcome"], letter["reason"]) for letter in answer["letters"]]


def test_letters_of_all_forms_are_sent_or_stay_with_a_reason(v3: V3, desk: LetterTopic) -> None:
    good = wire.prefix(desk.register()) + VALUE
    serialization = "org.apache.kafka.common.errors.SerializationException"
    desk.bury(good, 0, message="the database was away", stage="TASK_PUT", timestamp=OCTOBER - 5)
    desk.bury(good, 1, "streams", stage=None, exception=serialization, message="no schema yet")
    desk.bury(good, 2, "spring", stage=None, exception=serialization, message="no schema yet")
    desk.bury(good[:-1], 3)
    desk.bury(wire.prefix(NO_ID) + VALUE, 4)
    desk.bury(None, 5, stage="TASK_PUT", masked=True)
    desk.put(good, b"k", [], OCTOBER)
    asked = range(8)
    dry = replay(v3, desk, *asked, validate_only=True)
    stay = [
        (3, "stays", "would fail again"), (4, "stays", "would fail again"), (5, "stays", "masked"),
        (6, "stays", "no topic to send to"), (7, "stays", "no such letter"),
    ]  # fmt: skip
    assert outcomes(dry) == [*((offset, "would_be_sent", None) for offset in range(3)), *stay]
    assert (dry["kind"], dry["validate_only"], dry["missing_rights"]) == ("KafkaDeadLetterReplay", True, [])
    assert dry["letters"][3]["detail"].startswith("value: ")
    assert f"{NO_ID} not found" in dry["letters"][4]["detail"]
    assert dry["letters"][6]["detail"].endswith("name one with to_topic")
    assert desk.records() == []
    assert outcomes(replay(v3, desk, *asked)) == [*((offset, "sent", None) for offset in range(3)), *stay]
    first, second, third = desk.records()
    assert (first.partition(), first.key(), first.value(), first.timestamp()[1]) == (0, b"k0", good, OCTOBER - 5)
    assert {tuple(record.headers()) for record in (first, second, third)} == {
        (("own", b"h"), ("__errors.replay", b"1"))
    }
    again = replay(v3, desk, 0, 1, 2)
    assert {reason for _, _, reason in outcomes(again)} == {"replayed before"}
    assert again["letters"][0]["detail"].endswith("; again sends it again")
    assert outcomes(replay(v3, desk, 0, again=True)) == [(0, "sent", None)]
    refused = replay(v3, desk, 0, again=True)
    assert outcomes(refused) == [(0, "stays", "replayed too often")]
    assert refused["letters"][0]["detail"] == "it was replayed 2 times, and max_attempts is 2"


def test_a_letter_fits_after_the_fix(v3: V3, desk: LetterTopic) -> None:
    schema_id = desk.register()
    desk.bury(wire.prefix(NO_ID) + VALUE, 0)
    desk.bury(VALUE, 1)
    desk.bury(None, 2)
    fixed = replay(v3, desk, 0, 1, 2, schema_id=schema_id, validate_only=True)
    assert outcomes(fixed) == [(0, "would_be_sent", None), (1, "would_be_sent", None), (2, "stays", "not fixed")]
    assert outcomes(replay(v3, desk, 0, 2, schema_id=NO_ID)) == [
        (0, "stays", "would fail again"), (2, "stays", "not fixed")
    ]  # fmt: skip
    copy = f"{desk.source}-copy"
    assert outcomes(replay(v3, desk, 0, schema_id=schema_id, to_topic=copy)) == [(0, "stays", "no topic to send to")]
    create_topics(desk.admin, NewTopic(copy, 1))
    assert outcomes(replay(v3, desk, 0, schema_id=schema_id, to_topic=copy)) == [(0, "sent", None)]
    assert [record.value() for record in desk.records(copy)] == [wire.prefix(schema_id) + VALUE]
    assert outcomes(replay(v3, desk, 1, value_format="bytes")) == [(1, "sent", None)]
    assert [record.value() for record in desk.records()] == [VALUE]


def test_a_letter_cannot_forge_notes(v3: V3, desk: LetterTopic) -> None:
    """Its origin is the topic of notes: sent there, it would mark others as replayed."""
    desk.bury(wire.prefix(desk.register()) + VALUE, 0, stage="TASK_PUT")
    assert outcomes(replay(v3, desk, 0)) == [(0, "sent", None)]
    desk.source = f"{desk.letters}.state"
    desk.bury(b"x", 2, stage="TASK_PUT")
    assert outcomes(replay(v3, desk, 1, value_format="bytes")) == [(1, "stays", "no topic to send to")]


def test_letters_that_are_far_apart_are_found(v3: V3, desk: LetterTopic) -> None:
    good = wire.prefix(desk.register()) + VALUE
    desk.bury(good, 0, stage="TASK_PUT")
    for _ in range(12_000):
        desk.producer.produce(desk.letters, b"other")
        desk.producer.poll(0)
    assert desk.producer.flush(30) == 0
    desk.bury(good, 2, stage="TASK_PUT")
    assert outcomes(replay(v3, desk, 12_001, 0, validate_only=True)) == [
        (12_001, "would_be_sent", None), (0, "would_be_sent", None)
    ]  # fmt: skip


def test_letters_beyond_the_bytes_of_a_request_are_left(v3: V3, desk: LetterTopic) -> None:
    """A request takes 32 MiB; what is left can be asked for again."""
    value = b"x" * 950_000
    for offset in range(40):
        desk.bury(value, offset, stage="TASK_PUT")
    first = outcomes(replay(v3, desk, *range(40), validate_only=True))
    left = [offset for offset, outcome, _ in first if outcome == "left"]
    assert left == list(range(36, 40))
    assert [outcome for _, outcome, _ in first[:36]] == ["would_be_sent"] * 36
    assert outcomes(replay(v3, desk, *left, validate_only=True)) == [
        (offset, "would_be_sent", None) for offset in left
    ]  # fmt: skip


def test_other_readers_are_named_before_something_is_sent(v3: V3, desk: LetterTopic) -> None:
    from confluent_kafka import Consumer, TopicPartition  # noqa: PLC0415 - by one test

    desk.bury(wire.prefix(desk.register()) + VALUE, 0, stage="TASK_PUT", connector="lake")
    group = f"billing-{desk.source}"
    consumer = Consumer({"bootstrap.servers": desk.kafka, "group.id": group})
    consumer.commit(offsets=[TopicPartition(desk.source, 0, 1)], asynchronous=False)
    consumer.close()
    assert replay(v3, desk, 0, validate_only=True)["warnings"] == [
        f"{desk.source} is also read by {group}: they see these records a second time"
    ]


def test_two_replays_at_once_send_each_record_once(v3: V3, desk: LetterTopic) -> None:
    good = wire.prefix(desk.register()) + VALUE
    for offset in range(40):
        desk.bury(good, offset, stage="TASK_PUT")
    path = f"{v3.url}/topics/{desk.letters}/dead-letters:replay"
    together = threading.Barrier(3)

    def ask(_: int) -> httpx.Response:
        together.wait()
        return httpx.post(path, json={"letters": places(*range(40))}, timeout=60)

    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(ask, range(3)))
    for answer in answers:
        body = answer.json()
        if answer.status_code == 409:
            assert "another replay or purge of" in body["message"]
            assert "nothing is sent twice" in body["message"]
        else:
            assert answer.status_code == 200, body
            assert {reason for _, _, reason in outcomes(body)} <= {None, "replayed before"}
    # Whoever was fenced has sent nothing; what is left goes with the next request.
    replay(v3, desk, *range(40))
    assert sorted(record.key() for record in desk.records()) == sorted(b"k%d" % offset for offset in range(40))


@pytest.fixture
def broken_off(desk: LetterTopic) -> Callable[[], None]:
    """Leaves a transaction open that has a record and its note, as a proxy that is killed does."""

    def leave() -> None:
        config = {"bootstrap.servers": desk.kafka, "transactional.id": transactional_id(desk.letters)}
        producer = Producer(config)
        producer.init_transactions(20)
        producer.begin_transaction()
        producer.produce(desk.source, b"half", b"k0", partition=0)
        state = state_value(Replayed(1, 0, desk.source))
        producer.produce(f"{desk.letters}.state", state, state_key((desk.source, 0, 0)))
        producer.flush(20)
        desk.producer = producer  # it must not be closed, which would abort the transaction

    return leave


def test_a_replay_that_broke_off_in_the_middle_sent_nothing(
    v3: V3, desk: LetterTopic, broken_off: Callable[[], None]
) -> None:
    good = wire.prefix(desk.register()) + VALUE
    desk.bury(good, 0, stage="TASK_PUT")
    create_topics(desk.admin, NewTopic(f"{desk.letters}.state", 1))
    broken_off()
    assert outcomes(replay(v3, desk, 0)) == [(0, "sent", None)]
    assert [record.value() for record in desk.records()] == [good]
    assert outcomes(replay(v3, desk, 0)) == [(0, "stays", "replayed before")]


def test_the_loop_is_free_while_letters_are_replayed(v3: V3, desk: LetterTopic) -> None:
    """More requests than places: some wait, the proxy refuses others, and another client has a place of its own."""
    good = wire.prefix(desk.register()) + VALUE
    desk.bury(good, 0, stage="TASK_PUT")
    path = f"{v3.url}/topics/{desk.letters}/dead-letters:replay"
    with ThreadPoolExecutor(12) as pool:
        asked = [
            pool.submit(httpx.post, path, json={"letters": places(0), "validate_only": True}, timeout=60)
            for _ in range(12)
        ]
        neighbour = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(transport=neighbour, timeout=60) as other:
            for _ in range(3):
                assert other.post(path, json={"letters": places(0), "validate_only": True}).status_code == 200
        answers = [future.result() for future in asked]
    busy = [answer for answer in answers if answer.status_code != 200]
    assert len(busy) <= 6
    for answer in busy:
        assert (answer.status_code, answer.json()["error_code"]) == (429, 42901)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({}, 400, "letters"),
        ({"letters": []}, 422, "Payload error. letters: there are 0; from 1 to 500 are replayed"),
        ({"letters": places(*range(501))}, 422, "Payload error. letters: there are 501; from 1 to 500 are replayed"),
        ({"letters": places(-1)}, 422, "Payload error. letters[0]: 0:-1 has a negative number"),
        ({"letters": places(0), "to_topic": "a b"}, 422, "Payload error. to_topic: 'a b' is no topic's name"),
        ({"letters": places(0), "max_attempts": 0}, 422, "Payload error. max_attempts: 0 is not from 1 to 100"),
        ({"letters": places(0), "part": "header"}, 400, "part"),
        ({"letters": places(0), "value_format": "xml"}, 400, "value_format"),
        ({"letters": places(0), "schema_id": -1}, 422, "Payload error. schema_id: -1 is negative"),
        ({"letters": places(0), "force": True}, 422, "force"),
    ],
    ids=str,
)
def test_wrong_bodies_are_refused(v3: V3, untouched: str, body: Any, status: int, said: str) -> None:
    answered, error = v3.ask("POST", f"topics/{untouched}/dead-letters:replay", body)
    assert (answered, said in error["message"]) == (status, True), error


def test_a_topic_that_does_not_exist_is_not_found(v3: V3) -> None:
    status, error = v3.ask("POST", "topics/not-made/dead-letters:replay", {"letters": places(0)})
    assert (status, error["error_code"]) == (404, 40403)
