"""A topic that is deleted and made again is another topic, although its name is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.platform.broker import LocalBroker
from spark_avro.pipeline.sources.topic_ids import read_topic_ids
from tests.spark.pipeline.flights import V1, ListSink, messages


def broker_id(servers: str, topic: str) -> str:
    """A topic's id, as the broker tells it."""
    admin = AdminClient({"bootstrap.servers": servers})
    return str(admin.describe_topics(TopicCollection([topic]))[topic].result(30).topic_id)


def test_a_batch_has_the_ids_of_its_topics(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 3))
    spark_avro.pipeline(pipeline_file(topic, "")).run(spark)
    assert [batch.topic_ids for batch in sink.identities] == [{topic: broker_id(topics.servers, topic)}]


@pytest.mark.slow  # it needs the jars of another Kafka
def test_a_broker_without_topic_ids_gives_none(tmp_path: Path) -> None:
    older = {"inter.broker.protocol.version": "2.7"}
    broker = LocalBroker(tmp_path, port=0, version="2.8.2", properties=older)
    broker.start()
    try:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        admin.create_topics([NewTopic("flights", 1)])["flights"].result(30)
        assert read_topic_ids(admin, ["flights", "missing"]) == {}
    finally:
        broker.kill()


def test_a_missing_topic_has_no_id(topics: Any) -> None:
    topic = topics.create()
    admin = AdminClient({"bootstrap.servers": topics.servers})
    assert read_topic_ids(admin, [topic, "missing"]) == {topic: broker_id(topics.servers, topic)}
