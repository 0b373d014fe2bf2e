"""Streams of records: both directions stay open, each holds up the other, and none lives for ever."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing.servers import running_rest_proxy
from tests.processes import resident_bytes
from tests.rest.v3.records.duplex import duplex
from tests.waiting import until

RECORD = {"value": {"type": "JSON", "data": 1}}
TOO_OLD = {
    "error_code": 408,
    "message": "Streaming connection open for longer than allowed: Connection will be closed.",
}


def path(topic: str) -> str:
    return f"/v3/clusters/any/topics/{topic}/records"


@pytest.fixture(scope="module")
def strict(kafka: str) -> Iterator[ServerProcess]:
    """A proxy with low limits."""
    properties = {
        "idle.timeout.ms": "1000",
        "streaming.connection.max.duration.ms": "2000",
        "streaming.connection.max.duration.grace.period.ms": "500",
        "api.v3.produce.request.size.limit.max.bytes": "50000",
    }
    with running_rest_proxy(kafka, "", properties=properties) as proxy:
        yield proxy


def open_streams(url: str) -> int:
    lines = httpx.get(f"{url}/metrics").text.splitlines()
    return next(int(float(line.split()[1])) for line in lines if line.startswith("magicbyte_rest_record_streams "))


def test_reports_come_while_records_are_sent(proxy_url: str, topic: str) -> None:
    with duplex(proxy_url, path(topic)) as stream:
        assert stream.head().startswith(b"HTTP/1.1 200 OK\r\n")
        reports = stream.reports()
        stream.send(RECORD)
        assert next(reports)["offset"] == 0
        stream.send(json.dumps([]).encode() + b"\n {} {}")
        assert [next(reports).get("offset") for _ in range(3)] == [None, 1, 2]
        text = json.dumps(RECORD).encode()
        stream.send(text[:20])
        stream.send(text[20:] + text + text[:5])
        assert [next(reports)["offset"] for _ in range(2)] == [3, 4]
        stream.send(text[5:])
        assert next(reports)["offset"] == 5
        stream.end()
        assert list(reports) == []
        stream.socket.sendall(b"GET /brokers HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert stream.head().startswith(b"HTTP/1.1 200 OK\r\n"), "the connection goes on"


def test_reports_are_in_the_order_of_the_records(proxy_url: str, wide_topic: str) -> None:
    count = 3000
    with duplex(proxy_url, path(wide_topic)) as stream:
        stream.head()
        bodies = [
            {"partition_id": number % 7, "headers": []} if number % 5 else {"partition_id": -1}
            for number in range(count)
        ]
        stream.send("\n".join(map(json.dumps, bodies)).encode())
        stream.end()
        reports = list(stream.reports())
    assert [report.get("partition_id") for report in reports] == [
        number % 7 if number % 5 else None for number in range(count)
    ]
    for partition in range(7):
        offsets = [report["offset"] for report in reports if report.get("partition_id") == partition]
        assert offsets == list(range(len(offsets)))


def test_invalid_json_ends_a_stream(proxy_url: str, topic: str) -> None:
    with duplex(proxy_url, path(topic)) as stream:
        stream.head()
        stream.send(b"{}{]")
        reports = list(stream.reports())
        assert [report["error_code"] for report in reports] == [200, 400]
        stream.send(b"{}")
        assert stream.is_closed()


def test_a_record_over_the_limit_ends_the_stream(strict: ServerProcess, topic: str) -> None:
    def record(size: int) -> bytes:
        return b'{"value":{"type":"STRING","data":"%b"}}' % (b"x" * (size - 37))

    assert len(record(50000)) == 50000
    with duplex(strict.url, path(topic)) as stream:
        stream.head()
        stream.send(record(50000) + record(50001) + b"{}")
        first, second = stream.reports()
    assert first["value"] == {"type": "STRING", "size": 49963}
    assert second == {
        "error_code": 400,
        "message": "Bad Request: Error processing message: Produce request size is larger than allowed threshold",
    }


def test_an_old_stream_refuses_records_and_ends(strict: ServerProcess, topic: str) -> None:
    began = time.monotonic()
    with duplex(strict.url, path(topic)) as stream:
        stream.head()
        reports = stream.reports()
        stream.send(RECORD)
        report = next(reports)
        while report["error_code"] == 200:
            time.sleep(0.02)
            stream.send(RECORD)
            report = next(reports)
        assert report == TOO_OLD
        assert list(reports) in ([], [TOO_OLD])
        assert time.monotonic() - began >= 2
        assert stream.is_closed()


def test_an_old_stream_ends_even_if_nothing_comes(strict: ServerProcess, topic: str) -> None:
    began = time.monotonic()
    with duplex(strict.url, path(topic)) as stream:
        stream.head()
        assert list(stream.reports()) == []
        assert time.monotonic() - began >= 2, "between records a stream may be idle for longer than idle.timeout.ms"
        assert stream.is_closed()


def test_a_record_must_be_whole_in_time(strict: ServerProcess, topic: str) -> None:
    with duplex(strict.url, path(topic)) as stream:
        stream.head()
        stream.send(b'{}{"value":')
        first, second = stream.reports()
        assert first["error_code"] == 200
        assert second == {"error_code": 408, "message": "The request was not complete in time: a record is not whole"}
        assert stream.is_closed()


def test_a_client_that_reads_nothing_is_held_up_and_cut_off(strict: ServerProcess, topic: str) -> None:
    before = highest = resident_bytes(strict.pid)
    chunk = b"%x\r\n%b\r\n" % (60_000, b"{}\n" * 20_000)
    with duplex(strict.url, path(topic), receive_buffer=4096) as stream:
        stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        stream.socket.settimeout(0.2)
        is_open = True
        while is_open:
            try:
                stream.socket.send(chunk)
            except TimeoutError:
                highest = max(highest, resident_bytes(strict.pid))  # the proxy reads no more
            except (ConnectionResetError, BrokenPipeError):
                is_open = False
    assert highest - before < 60_000_000
    until(lambda: open_streams(strict.url) == 0)


def test_a_client_that_leaves_takes_its_stream_with_it(proxy_url: str, topic: str, read_topic: Any) -> None:
    before = open_streams(proxy_url)
    with duplex(proxy_url, path(topic)) as stream:
        stream.head()
        until(lambda: open_streams(proxy_url) == before + 1)
        stream.send(b'{}{}{"value"')
    until(lambda: open_streams(proxy_url) == before)
    until(lambda: len(read_topic(topic)) == 2)


def test_a_stop_reports_sent_records_and_ends_the_streams(kafka: str, topic: str) -> None:
    # A stop that waited for the client would take a minute.
    properties = {"shutdown.graceful.ms": "60000"}
    with running_rest_proxy(kafka, "", properties=properties) as proxy, duplex(proxy.url, path(topic)) as stream:
        stream.head()
        reports = stream.reports()
        stream.send(RECORD)
        assert next(reports)["offset"] == 0
        assert proxy.stop(50) == 0
        assert list(reports) == []


def test_records_over_the_rate_are_dropped_and_the_stream_goes_on(kafka: str, topic: str) -> None:
    over = {
        "error_code": 429,
        "message": "Request rate limit exceeded: The rate limit of requests per second has been exceeded.",
    }
    properties = {
        "api.v3.produce.rate.limit.enabled": "true",
        "api.v3.produce.rate.limit.max.requests.per.sec": "3",
    }
    with running_rest_proxy(kafka, "", properties=properties) as proxy, duplex(proxy.url, path(topic)) as stream:
        stream.head()
        reports = stream.reports()
        stream.send(b"{}" * 6)
        first = [next(reports) for _ in range(6)]
        assert [report["error_code"] for report in first[:3]] == [200] * 3
        assert first[-1] == over
        report = over
        while report == over:
            stream.send(b"{}")
            report = next(reports)
        assert report["error_code"] == 200
        entries = [{"id": str(number)} for number in range(5)]
        body = httpx.post(f"{proxy.url}{path(topic)}:batch", json={"entries": entries}).json()
        assert [failure["error_code"] for failure in body["failures"]][-1] == 429
