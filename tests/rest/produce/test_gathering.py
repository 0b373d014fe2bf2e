"""The producer that gathers the batches of many clients: when it is used. With the run's broker."""

from __future__ import annotations

import asyncio
import threading

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from rest_proxy.produce.producers import Producers
from rest_proxy.settings import RestProxySettings
from tests.rest.conftest import unique
from tests.topics import create_topics

AT_ONCE, GATHERING = "deliveries-acks-all", "deliveries-acks-all-gathering"


def producers_of_the_run() -> set[str]:
    return {thread.name for thread in threading.enumerate()} & {AT_ONCE, GATHERING}


def make_topic(servers: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    create_topics(admin, NewTopic(topic, 1, 1))


async def send_together(producers: Producers, topic: str, batches: int) -> list[int]:
    """The offsets of the records of so many batches, which are sent in one go."""
    sent = [
        producers.send_batch(topic, [(None, b"%d" % number, -1, 0, None)], "all", "binary") for number in range(batches)
    ]
    await asyncio.gather(*(batch.done for batch in sent))
    offsets = [outcome[1] for batch in sent for outcome in batch.outcomes if outcome]
    return [offset for offset in offsets if offset is not None]


@pytest.mark.parametrize(
    ("batches", "properties", "used"),
    [
        (16, {}, {AT_ONCE}),
        (17, {}, {AT_ONCE, GATHERING}),
        # Settings that say how long to wait hold for all records.
        (40, {"producer.linger.ms": "1"}, {AT_ONCE}),
        (40, {"producer.linger.ms": "0"}, {AT_ONCE}),
    ],
)
def test_batches_are_gathered_if_there_are_many(
    kafka: str, batches: int, properties: dict[str, str], used: set[str]
) -> None:
    topic = unique("gathered")
    make_topic(kafka, topic)
    settings = RestProxySettings.from_properties({"bootstrap.servers": kafka, **properties})

    async def run() -> None:
        producers = Producers(settings.producer_config, buffer_memory=1 << 20, max_record_bytes=1 << 16)
        try:
            assert await send_together(producers, topic, 1) == [0]
            assert producers_of_the_run() == {AT_ONCE}
            assert sorted(await send_together(producers, topic, batches)) == list(range(1, batches + 1))
            assert producers_of_the_run() == used
        finally:
            await producers.close(10)
        assert producers_of_the_run() == set()

    asyncio.run(run())


def test_a_lone_batch_after_many_is_sent_at_once(kafka: str, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = unique("gathered")
    make_topic(kafka, topic)
    config = RestProxySettings.from_properties({"bootstrap.servers": kafka}).producer_config
    made: list[object] = []

    def counted(acks: str) -> dict[str, object]:
        made.append(acks)
        # A gathering producer that takes a record would keep it for a minute.
        return {**config(acks), "linger.ms": 0}

    monkeypatch.setattr("rest_proxy.produce.producers._GATHERING", {"linger.ms": 60_000})

    async def run() -> None:
        producers = Producers(counted, buffer_memory=1 << 20, max_record_bytes=1 << 16)  # type: ignore[arg-type]
        try:
            await send_together(producers, topic, 16)
            late = [producers.send_batch(topic, [(None, b"x", -1, 0, None)], "all", "binary") for _ in range(17)]
            await asyncio.gather(*(batch.done for batch in late[:16]))
            assert not late[16].done.done()
            # The time for which batches are gathered passes, and the next one does not join them.
            await asyncio.sleep(0.02)
            assert await send_together(producers, topic, 1) == [32]
            assert not late[16].done.done()
        finally:
            await producers.close(10)
        assert late[16].outcomes == [(0, 33, None, None)]
        assert made == ["all", "all"]

    asyncio.run(run())
