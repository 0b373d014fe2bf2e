"""`GET /ui/pipelines.json` with real metrics ports, and with ports that hang, never end, or are none."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.platform.broker import free_port
from magicbyte.testing import running_registry
from tests.ui.kit.pipelines import (
    Answer,
    answering,
    endless,
    hanging,
    healthy,
    odd_port,
    running_pipeline,
    trickling,
)


@contextmanager
def page(ports: Sequence[str]) -> Iterator[httpx.Client]:
    with (
        running_registry("memory:", properties={"magicbyte.ui.pipelines": ",".join(ports)}) as registry,
        httpx.Client(base_url=registry.url, timeout=60, trust_env=False) as client,
    ):
        yield client


def rows(client: httpx.Client, **query: str) -> list[dict[str, Any]]:
    answer = client.get("/ui/pipelines.json", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    found: list[dict[str, Any]] = answer.json()["pipelines"]
    return found


def until(client: httpx.Client, state: str, **query: str) -> dict[str, Any]:
    """The only row, when it has a state: answers count for two seconds."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        (row,) = rows(client, **query)
        if row["state"] == state:
            return row
    raise AssertionError(f"no row became {state}")


@pytest.mark.slow
def test_a_pipeline_that_runs_fails_and_goes(tmp_path: Path) -> None:
    with ExitStack() as stack:
        pipeline = stack.enter_context(running_pipeline(tmp_path))
        client = stack.enter_context(page([pipeline.url]))
        assert client.get("/ui/config.json").json()["pipelinesConfigured"] is True
        (row,) = rows(client)
        assert (row["name"], row["state"], row["health"]["status"]) == ("flights", "healthy", "starting")
        pipeline.batch(1_204, lag=12)
        pipeline.state()
        while (row := until(client, "healthy"))["figures"]["batch"] is None:
            pass
        assert (row["address"], row["reason"], row["sinks"], row["change"]) == (pipeline.url, "", [], None)
        figures = row["figures"]
        assert (figures["batch"], figures["lag"], figures["late"]) == (1_204, 15, 9)
        assert figures["lagByTopic"] == {"flights": 15, "airports": 0}
        assert (figures["rows"]["dead"], figures["deadLetters"]) == (2, "flights-dead")
        assert not figures.keys() & {"partitions", "steps", "schemaIds"}
        details = until(client, "healthy", name="flights")["figures"]
        assert details["partitions"] == [
            {"topic": "airports", "partition": 0, "records": 0},
            {"topic": "flights", "partition": 0, "records": 12},
            {"topic": "flights", "partition": 1, "records": 3},
        ]
        assert details["steps"] == [{"operator": "0-stateStoreSave", "rows": 41_022, "bytes": 6_000, "late": 9}]
        assert details["schemaIds"] == {"7": 100}
        assert rows(client, name="other") == []

        pipeline.fail(ValueError("the disk is full"))
        row = until(client, "unhealthy")
        assert (row["health"]["status"], row["reason"]) == ("failed", "the disk is full")
        pipeline.metrics.close()
        row = until(client, "unreachable")
        # The last figures stay, with their time.
        assert (row["name"], row["reason"], row["figures"]["batch"]) == ("flights", "the port cannot be reached", 1_204)
        assert row["health"] is None
        answered = row["figuresAt"]
        time.sleep(2.1)
        assert until(client, "unreachable")["figuresAt"] == answered


def test_odd_ports_harm_nobody(tmp_path: Path) -> None:
    stop = threading.Event()
    good = {"/health": healthy("odd"), "/metrics": answering(b"")}
    metrics = b'magicbyte_pipeline_batch{pipeline="odd"} 1\n'
    target = f"http://127.0.0.1:{free_port()}"
    table: dict[str, tuple[dict[str, Answer], str]] = {
        "hung": ({"/health": hanging(stop)}, "the port did not answer within 3 s"),
        "hung-late": ({**good, "/metrics": hanging(stop)}, "the port did not answer within 3 s"),
        "trickles": ({**good, "/metrics": trickling(stop)}, "the port did not answer within 3 s"),
        "endless": (
            {**good, "/metrics": endless(metrics * 1_000, 100 << 20)},
            "the metrics cannot be read: /metrics has more than 1048576 bytes",
        ),
        "endless-health": (
            {"/health": endless(b" " * 4_096, 100 << 20)},
            "the metrics cannot be read: /health has more than 65536 bytes",
        ),
        "bomb": (
            {**good, "/metrics": answering(gzip.compress(metrics * 100_000), 200, {"Content-Encoding": "gzip"})},
            "the metrics cannot be read: a text that is not UTF-8",
        ),
        "rubbish": (
            {**good, "/metrics": answering(b"magicbyte_pipeline_{{{")},
            "the metrics cannot be read: a line that is not in Prometheus's format",
        ),
        "no-metrics": (
            {**good, "/metrics": answering(b"", 500)},
            "the metrics cannot be read: /metrics has the status 500",
        ),
        "redirects": (
            {"/health": answering(b"", 302, {"Location": f"{target}/health"})},
            "this is no pipeline's metrics port: /health has the status 302",
        ),
        "other-server": (
            {"/health": answering(b"OK")},
            "this is no pipeline's metrics port: /health is not a pipeline's",
        ),
        "no-server": ({}, "this is no pipeline's metrics port: /health has the status 404"),
        "other-name": (good, "the port answers for odd"),
    }
    with ExitStack() as stack:
        pipeline = stack.enter_context(running_pipeline(tmp_path))
        pipeline.batch(7)
        ports = [f"{name}={stack.enter_context(odd_port(answers))[0]}" for name, (answers, _) in table.items()]
        closed = f"closed=http://127.0.0.1:{free_port()}"
        client = stack.enter_context(page([*ports, closed, pipeline.url]))
        stack.callback(stop.set)
        asked = time.monotonic()
        found = rows(client)
        # All at once: one that hangs costs three seconds, however many there are.
        assert time.monotonic() - asked < 20
        assert client.get("/subjects").status_code == 200
    states = {row["name"]: (row["state"], row["reason"]) for row in found}
    assert states.pop("flights") == ("healthy", "")
    assert states.pop("closed") == ("unreachable", "the port cannot be reached")
    # The port with another pipeline's name has a row for each.
    assert states.pop("odd") == ("healthy", "")
    assert states == {name: ("unreachable", reason) for name, (_, reason) in table.items()}


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    with running_pipeline(tmp_path, "secret") as secret:
        moved = {"/health": answering(b"", 302, {"Location": f"{secret.url}/health"})}
        with odd_port(moved) as (url, asked), page([url]) as client:
            (row,) = rows(client)
    assert (row["name"], row["address"], row["state"]) == (None, url, "unreachable")
    assert asked == ["/health"]


def test_a_port_that_collects_the_metrics_of_others(tmp_path: Path) -> None:
    text = "".join(f'magicbyte_pipeline_batch{{pipeline="{name}"}} 1\n' for name in ("a", "b"))
    with odd_port({"/health": healthy("a"), "/metrics": answering(text.encode())}) as (url, _), page([url]) as client:
        found = {row["name"]: (row["state"], row["reason"]) for row in rows(client)}
    # Nothing says whether the other one runs.
    assert found == {"a": ("healthy", ""), "b": ("unreachable", "/health is that of a")}


def test_clients_that_ask_together_share_the_answers(tmp_path: Path) -> None:
    answers = {"/health": healthy("odd"), "/metrics": answering(b"")}
    with odd_port(answers) as (url, asked), page([url]) as client:
        threads = [threading.Thread(target=rows, args=(client,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(asked) <= 4


def test_nothing_of_the_client_reaches_a_port() -> None:
    heard: list[dict[str, str]] = []

    def health(handler: Any) -> None:
        heard.append({name.lower(): value for name, value in handler.headers.items()})
        answering(json.dumps({"status": "running", "pipeline": "odd"}).encode())(handler)

    with odd_port({"/health": health, "/metrics": answering(b"")}) as (url, _), page([url]) as client:
        client.get("/ui/pipelines.json", headers={"Authorization": "Bearer t", "Cookie": "a=b", "X-Request-Id": "7"})
    (headers,) = heard
    assert headers["user-agent"] == "magicbyte-ui"
    assert not headers.keys() & {"authorization", "cookie", "x-request-id", "x-forwarded-for"}


def test_a_page_without_ports() -> None:
    with running_registry("memory:") as registry, httpx.Client(base_url=registry.url, trust_env=False) as client:
        assert client.get("/ui/config.json").json()["pipelinesConfigured"] is False
        answer = client.get("/ui/pipelines.json").json()
    assert answer["pipelines"] == []
    assert (answer["configured"], answer["leftOut"]) == (0, 0)
    assert answer["markers"] == {"state": "none", "reason": "", "unreadable": 0}


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_origins_are_refused(site: str) -> None:
    with running_registry("memory:") as registry:
        url = f"{registry.url}/ui/pipelines.json"
        answer = httpx.get(url, headers={"Sec-Fetch-Site": site, "Origin": "http://evil.test"}, trust_env=False)
    assert answer.status_code == 403
