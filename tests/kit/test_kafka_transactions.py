"""Errors of a producer once another one has its transactional id."""

from __future__ import annotations

import uuid

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.kit.kafka.transactions import is_fenced, start, true_errors
from tests.topics import create_topics
from tests.waiting import until


@pytest.fixture(scope="module")
def topic(kafka: str) -> str:
    name = f"transactions-{uuid.uuid4().hex[:8]}"
    create_topics(AdminClient({"bootstrap.servers": kafka}), NewTopic(name, 1, 1))
    return name


def started(kafka: str, topic: str, transactional_id: str) -> Producer:
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": transactional_id, "linger.ms": 0})
    start(producer, topic, 60)
    return producer


@pytest.fixture
def fenced(kafka: str, topic: str) -> Producer:
    """A producer in a transaction which knows that it has failed: `produce` raises the general error."""
    transactional_id = uuid.uuid4().hex
    producer = started(kafka, topic, transactional_id)
    producer.begin_transaction()
    producer.produce(topic, b"first")
    producer.flush(60)
    started(kafka, topic, transactional_id)

    def has_failed() -> bool:
        try:
            producer.produce(topic, b"late")
        except KafkaException as error:
            codes.append(error.args[0].code())
        return bool(codes)

    codes: list[int] = []
    until(has_failed)
    assert codes == [KafkaError._FATAL]
    return producer


def test_the_error_behind_a_failed_producer_is_raised(fenced: Producer, topic: str) -> None:
    with pytest.raises(KafkaException) as raised, true_errors(fenced):
        fenced.produce(topic, b"later")
    assert is_fenced(raised.value.args[0])


@pytest.mark.parametrize("code", [KafkaError.MSG_SIZE_TOO_LARGE, KafkaError._FATAL])
def test_other_errors_are_raised_as_they_are(kafka: str, topic: str, code: int) -> None:
    error = KafkaException(KafkaError(code))
    producer = started(kafka, topic, uuid.uuid4().hex)
    producer.begin_transaction()
    with pytest.raises(KafkaException) as raised, true_errors(producer):
        raise error
    assert raised.value is error
    assert not is_fenced(raised.value.args[0])


@pytest.mark.parametrize(
    ("code", "fences"),
    [
        (KafkaError._FENCED, True),
        (KafkaError.INVALID_PRODUCER_EPOCH, True),
        (KafkaError.PRODUCER_FENCED, True),
        (KafkaError.FENCED_INSTANCE_ID, False),
        (KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, False),
    ],
)
def test_three_errors_tell_of_another_producer(code: int, fences: bool) -> None:
    assert is_fenced(KafkaError(code)) is fences
