from __future__ import annotations

import uuid

from confluent_kafka import Consumer, Producer


def test_a_record_goes_through_a_transaction_and_a_group(kafka: str) -> None:
    topic = f"t-{uuid.uuid4()}"
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce(topic, b"value", b"key")
    producer.commit_transaction(10)
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    record = consumer.poll(10)
    consumer.close()
    assert record is not None
    assert (record.key(), record.value(), record.offset()) == (b"key", b"value", 0)
