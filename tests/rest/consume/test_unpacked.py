"""Compressed batches are unpacked up to a size, whatever their codec."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from aiokafka import codec
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from confluent_kafka import Producer
from hypothesis import given
from hypothesis import strategies as st

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.admin.connection.brokers import Brokers
from rest_proxy.consume.stateless import topic_reader
from rest_proxy.consume.stateless.bounds import Bounds
from rest_proxy.consume.stateless.fetched import Page
from rest_proxy.consume.stateless.unpacked import BatchTooLarge, is_packed, unpacked_batches

CODECS = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
HEADER_BYTES = 61


def batch(values: list[bytes], codec_number: int) -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec_number,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 30,
    )
    for offset, value in enumerate(values):
        builder.append(offset, 1_700_000_000_000, b"k", value, [])
    return bytes(builder.build())


def values_of(data: bytes) -> list[bytes]:
    batch_of_records: Any = MemoryRecords(data).next_batch()
    return [record.value for record in batch_of_records]


@pytest.mark.parametrize("number", CODECS.values(), ids=CODECS)
@given(values=st.lists(st.binary(max_size=50) | st.just(bytes(5_000)), min_size=1, max_size=60))
def test_a_batch_keeps_its_records(number: int, values: list[bytes]) -> None:
    plain = batch(values, 0)
    size = len(plain) - HEADER_BYTES
    # Another batch, whole, and a third that is cut off.
    fetched = batch(values, number) * 2 + plain[:-1]
    assert [values_of(data) for data in unpacked_batches(fetched, size)] == [values] * 2
    if is_packed(fetched):
        with pytest.raises(BatchTooLarge) as error:
            list(unpacked_batches(fetched, size - 1))
        assert (error.value.offset, error.value.next_offset) == (0, len(values))


def test_a_batch_without_compression_has_no_limit() -> None:
    plain = batch([b"12345"] * 9, 0)
    assert not is_packed(plain)
    assert list(unpacked_batches(plain, 1)) == [plain]


def test_java_s_blocks_of_snappy_add_up() -> None:
    data = batch([b""], 2)[:HEADER_BYTES]
    blocks = codec.snappy_encode(bytes(100_000), xerial_compatible=True)
    packed = data[:8] + (HEADER_BYTES - 12 + len(blocks)).to_bytes(4, "big") + data[12:22] + b"\2" + data[23:] + blocks
    [whole] = unpacked_batches(packed, 100_000)
    assert whole[HEADER_BYTES:] == bytes(100_000)
    with pytest.raises(BatchTooLarge):
        list(unpacked_batches(packed, 99_999))


@pytest.mark.parametrize("number", CODECS.values(), ids=CODECS)
def test_a_damaged_batch_is_an_error_of_its_own(number: int) -> None:
    good = batch([bytes(10_000)], number)
    damaged = good[:HEADER_BYTES] + b"\xff" * (len(good) - HEADER_BYTES)
    with pytest.raises(ValueError):  # noqa: PT011 - each codec has its own text
        list(unpacked_batches(damaged, 1_000_000))


def test_a_client_with_many_reads_does_not_delay_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, others_turn = threading.Event(), threading.Event()
    unpacked: list[str] = []

    def unpack(topic: str, *_: Any, **__: Any) -> Page:
        if topic == "other":
            others_turn.set()
        assert gate.wait(60)
        unpacked.append(topic)
        return Page((), 0)

    async def read(reader: topic_reader.TopicReader, client: str) -> None:
        await reader._page(client, 0, 0, batch([b"v"], 1), None, Bounds(1, 1, client=client))

    async def reads() -> None:
        reader = topic_reader.TopicReader(Brokers((), {}, 1.0), max_unpacked=1000)
        one = [asyncio.create_task(read(reader, "one")) for _ in range(6)]
        await asyncio.sleep(0)
        other = asyncio.create_task(read(reader, "other"))
        assert await asyncio.to_thread(others_turn.wait, 30)
        assert unpacked == []
        gate.set()
        await asyncio.gather(*one, other)
        await reader.close()

    monkeypatch.setattr(topic_reader, "unpack", unpack)
    asyncio.run(reads())
    assert sorted(unpacked) == ["one"] * 6 + ["other"]


@pytest.fixture(scope="module")
def small(kafka: str) -> Iterator[ServerProcess]:
    """A proxy that unpacks a million bytes at most."""
    with running_rest_proxy(kafka, "", properties={"consumer.request.max.bytes": "1000000"}) as proxy:
        yield proxy


@pytest.mark.parametrize("name", CODECS)
def test_a_read_names_the_batch_that_unpacks_to_too_much(
    small: ServerProcess, kafka: str, topic: str, name: str
) -> None:
    producer = Producer(
        {"bootstrap.servers": kafka, "compression.type": name, "message.max.bytes": 10_000_000, "linger.ms": 0}
    )
    for value in (b"first", bytes(3_000_000), b"last"):
        producer.produce(topic, value)
        assert producer.flush(30) == 0
    cluster = httpx.get(f"{small.url}/v3/clusters").json()["data"][0]["cluster_id"]
    v3 = f"{small.url}/v3/clusters/{cluster}/topics/{topic}/partitions/0/records"
    v1 = f"{small.url}/topics/{topic}/partitions/0/messages"
    for url, query in ((v3, {"offset": 1, "max_records": 1, "max_bytes": 1000}), (v1, {"offset": 1, "count": 1})):
        answer = httpx.get(url, params=query)
        assert (answer.status_code, answer.json()["error_code"]) == (413, 413), answer.text
        assert answer.json()["message"] == (
            "The compressed batch at offset 1 of partition 0 unpacks to more than 1000000 bytes"
            " (consumer.request.max.bytes); the records after it begin at offset 2."
        )
    first, last = (httpx.get(v1, params={"offset": offset, "count": 9}) for offset in (0, 2))
    assert [record["offset"] for record in first.json()] == [0]
    assert [record["offset"] for record in last.json()] == [2]
