"""The bounds of a search of a topic: records, bytes, time, places, memory; and its end when its client goes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.platform.server_process import ServerProcess
from tests.ui.kit.scanned import Searched, search, searched

FEW = 3_000
_READS = re.compile(r'(?m)^magicbyte_http_requests_total\{[^}]*route="[^"]*\}/records"[^}]*\} (\S+)$')


@pytest.fixture(scope="module")
def narrow(kafka: str) -> Iterator[Searched]:
    """A page on which one search looks at 1,000 records or 100,000 bytes, and only one search runs for a client."""
    limits = {
        "magicbyte.ui.scan.max.records": "1000",
        "magicbyte.ui.scan.max.bytes": "100000",
        "magicbyte.ui.scans": "1",
    }
    with searched(kafka, limits) as running:
        yield running


@pytest.fixture(scope="module")
def many(kafka: str) -> Iterator[tuple[Searched, str]]:
    """A page, and a topic of 200,000 records in four partitions."""
    with searched(kafka) as running:
        yield running, filled(running, 200_000)


def filled(page: Searched, count: int) -> str:
    topic = page.topic(4)
    values = (f'{{"n": {n}, "name": "flight {n}"}}' for n in range(count))
    records = ({"value": value, "partition": n % 4, "timestamp": n + 1} for n, value in enumerate(values))
    page.produce(topic, records, **{"linger.ms": 20, "queue.buffering.max.messages": 2_000_000})
    return topic


def requests_of(proxy: ServerProcess) -> int:
    """The number of GETs of records that the REST proxy has answered."""
    text = httpx.get(f"{proxy.url}/metrics", trust_env=False).text
    return sum(int(float(count)) for count in _READS.findall(text))


def resident(server: ServerProcess) -> int:
    """The most memory that the server's process has held, in bytes."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10  # type: ignore[index]


@pytest.mark.parametrize(
    ("size", "reason", "scanned"), [(10, "records", 1000), (2_000, "bytes", None)], ids=["records", "bytes"]
)
def test_a_search_ends_at_its_limit_and_goes_on(narrow: Searched, size: int, reason: str, scanned: int | None) -> None:
    topic = narrow.topic()
    narrow.produce(topic, [{"value": "x" * size + ("needle" if n == 0 else "")} for n in range(1_500)])
    found = narrow.search(topic, filter="needle")
    assert (found.end["reason"], found.records) == (reason, [])
    assert scanned is None or found.end["scanned"] == scanned
    for _ in range(40):
        if found.end["reason"] != reason:
            break
        found = narrow.search(topic, filter="needle", cursor=found.end["cursor"])
    assert (found.end["reason"], found.places) == ("end", ["0:0"])


@pytest.mark.slow
def test_a_search_ends_in_time(kafka: str) -> None:
    with searched(kafka, {"magicbyte.ui.scan.timeout.ms": "1"}) as page:
        topic = page.topic()
        page.produce(topic, [{"value": "x"} for _ in range(FEW)])
        found = page.search(topic, filter="absent")
        assert found.end["reason"] == "time"
        assert 0 < found.end["scanned"] < FEW


@pytest.mark.slow
def test_a_search_of_many_tells_its_progress(many: tuple[Searched, str]) -> None:
    page, topic = many
    found = page.search(topic, filter='value.name = "flight 7"')
    assert found.begin["total"] == 200_000
    assert (found.end["reason"], found.end["scanned"], found.end["matched"]) == ("end", 200_000, 1)
    assert found.records[0]["decoded"]["value"]["reason"] == "magic"
    scanned = [line["scanned"] for line in found.progress]
    assert len(scanned) > 20
    assert scanned == sorted(scanned)


@pytest.mark.slow
def test_a_search_of_a_million_keeps_the_memory_bounded(many: tuple[Searched, str]) -> None:
    page, _ = many
    topic = filled(page, 1_000_000)
    page.search(topic, filter="absent", until=50_000)
    before = resident(page.registry)
    found = page.search(topic, filter="value.n = 999999 value.name ~ flight", order="oldest")
    assert (found.end["reason"], found.end["scanned"], found.end["matched"]) == ("end", 1_000_000, 1)
    assert resident(page.registry) - before < 64 << 20


@pytest.mark.slow
def test_the_memory_is_bounded(many: tuple[Searched, str]) -> None:
    page, topic = many
    page.search(topic, filter="absent", until=20_000)
    before = resident(page.registry)
    assert page.search(topic, filter="absent").end["scanned"] == 200_000
    assert resident(page.registry) - before < 48 << 20


def begun(http: httpx.Client, topic: str, **wanted: Any) -> Any:
    """Begin a search, and wait for its first progress."""
    request = http.build_request("POST", "/ui/messages", json={"topic": topic, "filter": "absent", **wanted})
    answer = http.send(request, stream=True)
    lines = answer.iter_lines()
    for line in lines:
        if "progress" in json.loads(line):
            return answer
    raise AssertionError("the search has ended")


@pytest.mark.slow
def test_a_search_stops_when_its_client_goes(kafka: str) -> None:
    """A client's next search begins when its former one has ended; until then, that one has asked the proxy."""
    with searched(kafka, {"magicbyte.ui.scans": "1"}) as page:
        topic = filled(page, 100_000)
        before = requests_of(page.proxy)
        assert page.search(topic, filter="absent").end["reason"] == "end"
        whole = requests_of(page.proxy) - before
        before = requests_of(page.proxy)
        with page.client() as http:
            begun(http, topic).close()
            assert search(http, topic, limit=1).end["reason"] == "limit"
        stopped = requests_of(page.proxy) - before
        assert 0 < stopped < whole / 2, (stopped, whole)


def test_only_as_many_searches_run_as_may(narrow: Searched) -> None:
    topic = narrow.topic()
    narrow.produce(topic, [{"value": "x" * 200} for _ in range(900)])

    def status(_: int) -> int:
        with narrow.client() as http:
            return http.post("/ui/messages", json={"topic": topic}).status_code

    with ThreadPoolExecutor(12) as threads:
        statuses = list(threads.map(status, range(12)))
    # One runs, eight wait, and the others are refused unless one has ended by then.
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) >= 9


def test_an_error_of_the_proxy_during_a_search_is_a_line(many: tuple[Searched, str]) -> None:
    page, topic = many
    with page.client() as http:
        request = http.build_request("POST", "/ui/messages", json={"topic": topic, "filter": "absent"})
        answer = http.send(request, stream=True)
        lines = answer.iter_lines()
        next(lines)
        page.proxy.kill()
        *_, last = [json.loads(line) for line in lines]
    page.proxy.start()
    assert last["error"] == {"status": 502, "error_code": 502, "message": "The REST proxy cannot be reached"}
    assert last["cursor"].startswith("0:")
