"""Streams while brokers die, and many streams at once."""

from __future__ import annotations

import resource
import time

import httpx
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing.broker import temporary_broker
from magicbyte.testing.servers import running_rest_proxy
from tests.chaos.rest_stream_killed import kill_broker
from tests.rest.v3.records.duplex import Duplex
from tests.topics import create_topics

STREAMS = 1000


@pytest.mark.slow
def test_every_receipt_is_true_and_nothing_is_there_twice_while_the_broker_dies() -> None:
    assert kill_broker(rounds=2, seed=1)


@pytest.mark.slow
def test_a_thousand_streams_live(kafka: str, topic: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4 * STREAMS:
        pytest.skip("the limit of open files is too low")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4 * STREAMS), hard))
    properties = {"idle.timeout.ms": "2000"}
    with running_rest_proxy(kafka, "", properties=properties) as proxy:
        path = f"/v3/clusters/any/topics/{topic}/records"
        streams = [Duplex(proxy.url, path) for _ in range(STREAMS)]
        try:
            for stream in streams:
                stream.head()
            for round_number in range(3):
                for stream in streams:
                    stream.send({"value": {"type": "JSON", "data": round_number}})
                for stream in streams:
                    assert next(iter(stream.reports()))["error_code"] == 200
                time.sleep(3)  # longer than a connection without a request may be idle
            assert httpx.get(f"{proxy.url}/brokers").status_code == 200, "others are served"
            for stream in streams:
                stream.end()
                assert list(stream.reports()) == []
        finally:
            for stream in streams:
                stream.socket.close()


@pytest.mark.slow
def test_a_stream_outlives_the_broker() -> None:
    """One restart: what is reported is there, and what was sent meanwhile is reported when the broker is back."""
    with temporary_broker() as broker, running_rest_proxy(broker.bootstrap_servers, "") as proxy:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        create_topics(admin, NewTopic("t", 1, 1))
        stream = Duplex(proxy.url, "/v3/clusters/any/topics/t/records")
        reports = stream.reports()
        stream.send({"value": {"type": "JSON", "data": 0}})
        stream.head()
        assert next(reports)["offset"] == 0
        broker.kill()
        for number in range(1, 200):
            stream.send({"value": {"type": "JSON", "data": number}})
        broker.start()
        stream.end()
        assert [report["offset"] for report in reports] == list(range(1, 200))
