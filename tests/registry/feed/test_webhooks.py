"""Webhooks of several nodes that share a log: one posts, and another continues when it is gone."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from magicbyte.platform.broker import free_port
from registry import metrics
from registry.cluster.node import SharedLogNode
from registry.decide import Sent, Terms, decide_register
from registry.feed.growth import Growth
from registry.feed.webhooks import Webhooks
from registry.log.memory import MemoryLog
from registry.state.model import Content
from tests.http.serving import serving


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[int]]]:
    """A receiver of webhooks, and the offsets that it was sent."""
    seen: list[int] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["offset"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with serving(HTTPServer(("127.0.0.1", 0), Receiver)) as url:
        yield f"{url}/", seen


@pytest.fixture
def node_on() -> Iterator[Callable[[MemoryLog], SharedLogNode]]:
    """Makes nodes that share a log."""
    nodes: list[SharedLogNode] = []

    def make(log: MemoryLog) -> SharedLogNode:
        node = SharedLogNode(log, "http://127.0.0.1:8081", poll_seconds=0.02)
        node.start()
        nodes.append(node)
        return node

    yield make
    for node in nodes:
        node.stop()


def register(node: SharedLogNode, subject: str) -> None:
    request = Sent(subject, Content("AVRO", '"int"'))
    node.submit(lambda view, now: decide_register(view, now, sent=request, terms=Terms())).result(60)


def webhooks_of(node: SharedLogNode, url: str, name: str, *, patience: float = 60.0) -> Webhooks:
    growth = Growth(lambda: node.view.offset, threading.Event())
    return Webhooks(node, [url], None, name=name, leads=lambda: True, growth=growth, patience=patience)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  what it waits for happens in threads
            await asyncio.sleep(0.02)


async def running(*webhooks: Webhooks) -> list[asyncio.Task[None]]:
    """Webhooks that have started and know the end of the log."""
    tasks = [asyncio.create_task(webhook.run()) for webhook in webhooks]
    await asyncio.sleep(0.05)
    return tasks


def marked(node: SharedLogNode) -> list[tuple[str, int]]:
    return [
        (entry.value["node"], entry.value["offset"])
        for entry in list(node.view.recent)
        if entry.key.keytype == "MAGICBYTE_POSTED" and entry.value
    ]


def registered(node: SharedLogNode) -> list[int]:
    return [entry.offset for entry in list(node.view.recent) if entry.key.keytype == "SCHEMA"]


def test_only_one_node_of_a_log_posts(receiver: Any, node_on: Callable[[MemoryLog], SharedLogNode]) -> None:
    url, seen = receiver
    log = MemoryLog()
    first, second = node_on(log), node_on(log)

    async def scenario() -> None:
        tasks = await running(webhooks_of(first, url, "first"), webhooks_of(second, url, "second"))
        for index in range(20):
            register((first, second)[index % 2], f"s{index}")
        await until(lambda: any(offset == registered(first)[-1] for _, offset in marked(first)))
        await asyncio.sleep(0.5)
        for task in tasks:
            task.cancel()

    asyncio.run(scenario())
    assert seen == registered(first)
    assert len(seen) == 20
    assert len({name for name, _ in marked(first)}) == 1


def test_webhooks_without_changes_wait_with_the_followers(
    receiver: Any, node_on: Callable[[MemoryLog], SharedLogNode]
) -> None:
    url, seen = receiver
    node = node_on(MemoryLog())
    webhooks = webhooks_of(node, url, "first")

    async def scenario() -> None:
        (posting,) = await running(webhooks)
        for name in "ab":
            register(node, name)
            await until(lambda: any(offset == registered(node)[-1] for _, offset in marked(node)))
            await until(lambda: len(webhooks._growth._waiting) == 1)
        posting.cancel()

    asyncio.run(scenario())
    assert seen == registered(node)


def test_another_node_posts_the_changes_that_a_dead_node_did_not_post(
    receiver: Any, node_on: Callable[[MemoryLog], SharedLogNode]
) -> None:
    url, seen = receiver
    log = MemoryLog()
    first, second = node_on(log), node_on(log)

    async def scenario() -> None:
        (posting,) = await running(webhooks_of(first, url, "first"))
        register(first, "a")
        await until(lambda: len(marked(second)) == 2)
        posting.cancel()
        register(first, "b")
        (other,) = await running(webhooks_of(second, url, "second", patience=0.3))
        register(second, "c")
        await until(lambda: ("second", registered(second)[-1]) in marked(second))
        other.cancel()

    asyncio.run(scenario())
    assert seen == registered(second)
    assert len(seen) == 3


def test_a_node_that_is_started_again_goes_on_at_once(
    receiver: Any, node_on: Callable[[MemoryLog], SharedLogNode]
) -> None:
    url, seen = receiver
    log = MemoryLog()
    node = node_on(log)

    async def scenario() -> None:
        (posting,) = await running(webhooks_of(node, url, "mine"))
        register(node, "a")
        await until(lambda: len(marked(node)) == 2)
        posting.cancel()
        register(node, "b")
        again = node_on(log)
        (posting,) = await running(webhooks_of(again, url, "mine"))
        await until(lambda: ("mine", registered(again)[-1]) in marked(again))
        posting.cancel()

    asyncio.run(scenario())
    assert seen == registered(node)
    assert len(seen) == 2


def test_webhooks_do_not_post_earlier_changes(receiver: Any, node_on: Callable[[MemoryLog], SharedLogNode]) -> None:
    url, seen = receiver
    node = node_on(MemoryLog())
    register(node, "old")

    async def scenario() -> None:
        (posting,) = await running(webhooks_of(node, url, "mine"))
        register(node, "new")
        await until(lambda: bool(seen))
        posting.cancel()

    asyncio.run(scenario())
    assert seen == registered(node)[1:]


COUNTS = ("posted", "failed", "given_up")


def counted() -> dict[str, float]:
    values = {name: metrics.TABLE.registry.get_sample_value(f"magicbyte_webhook_{name}_total") for name in COUNTS}
    return {name: value or 0.0 for name, value in values.items()}


@pytest.mark.parametrize(
    ("is_there", "grown"),
    [
        (True, {"posted": 1, "failed": 0, "given_up": 0}),
        (False, {"posted": 0, "failed": 3, "given_up": 1}),
    ],
)
def test_posts_are_counted(
    receiver: Any,
    node_on: Callable[[MemoryLog], SharedLogNode],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_there: bool,
    grown: dict[str, float],
) -> None:
    monkeypatch.setattr("registry.feed.webhooks._PAUSES", (0.01, 0.01))
    url = receiver[0] if is_there else f"http://127.0.0.1:{free_port()}/"
    node, before = node_on(MemoryLog()), counted()

    async def scenario() -> None:
        tasks = await running(webhooks_of(node, url, "only"))
        register(node, "s")
        await until(lambda: any(offset == registered(node)[-1] for _, offset in marked(node)))
        tasks[0].cancel()

    asyncio.run(scenario())
    assert {name: value - before[name] for name, value in counted().items()} == grown
