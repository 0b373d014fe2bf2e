"""Statistics of Kafka clients as metrics."""

from __future__ import annotations

import json
import time
from typing import Any

from confluent_kafka import Producer

from magicbyte.kit.kafka.statistics import Statistics


def values(statistics: Statistics) -> dict[str, float]:
    return {
        f"{sample.name}{sorted(sample.labels.items())}": sample.value
        for family in statistics.collect()
        for sample in family.samples
    }


def report(name: str, **numbers: Any) -> str:
    broker = {"nodeid": 1, "rtt": {"avg": numbers.pop("rtt", 2000), "cnt": 1}}
    bootstrap = {"nodeid": -1, "rtt": {"avg": 9, "cnt": 1}}
    usual = {"txmsgs": 0, "rxmsgs": 0, "msg_cnt": 0, "msg_size": 0}
    return json.dumps({"name": name, **usual, **numbers, "brokers": {"b1": broker, "seed": bootstrap}})


def test_clients_of_a_role_are_summed_and_closed_ones_are_dropped() -> None:
    now = 0.0
    statistics = Statistics(lambda: now)
    assert values(statistics) == {}
    statistics.add("producer", report("p1", txmsgs=5, msg_cnt=2, msg_size=20))
    statistics.add("producer", report("p2", txmsgs=1, msg_cnt=1, msg_size=10, rtt=5000))
    statistics.add("producer", report("p1", txmsgs=7, msg_cnt=0, msg_size=0))
    role = "[('role', 'producer')]"
    sent = "magicbyte_kafka_client_messages_total[('direction', 'sent'), ('role', 'producer')]"
    found = values(statistics)
    assert found[sent] == 8
    assert found[f"magicbyte_kafka_clients{role}"] == 2
    assert found[f"magicbyte_kafka_client_queue_messages{role}"] == 1
    assert found[f"magicbyte_kafka_client_queue_bytes{role}"] == 10
    assert found["magicbyte_kafka_client_rtt_seconds[('broker', '1'), ('role', 'producer')]"] == 0.005
    now = 60.0
    statistics.add("producer", report("p3", txmsgs=1))
    found = values(statistics)
    assert (found[sent], found[f"magicbyte_kafka_clients{role}"]) == (9, 1)


def test_a_real_client_reports(kafka: str) -> None:
    statistics = Statistics()
    properties = {**statistics.of_role("producer"), "statistics.interval.ms": 50}
    producer = Producer({"bootstrap.servers": kafka, **properties})
    producer.produce("statistics", b"x")
    producer.flush()
    name = "magicbyte_kafka_client_messages_total[('direction', 'sent'), ('role', 'producer')]"
    deadline = time.monotonic() + 60
    while values(statistics).get(name) != 1:
        assert time.monotonic() < deadline
        producer.poll(0.05)
