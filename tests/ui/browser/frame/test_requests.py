"""The requests of a first visit of each view with the built page: each takes a round trip on a slow link."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Request, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.scanned import Searched, searched
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

#: Frames without a request after which a view has asked all that it asks: an answer is drawn, and asks the next.
QUIET_FRAMES = 30
#: The goal: the page itself, its chunks and fonts, and all requests to the API.
MOST = 12
#: A view, a text that it shows when it has all data, and its requests: files and API.
VIEWS = [
    ("subjects", "flights-value", 12),
    ("subjects/flights-value", "wheels_up", 12),
    ("subjects/flights-value/versions/3", "106 lines", 12),
    ("subjects/flights-value/versions/3?view=fields", "wheels_up", 12),
    ("subjects/flights-value/compare?from=1&to=3", "wheels_up", 12),
    ("subjects/flights-value/versions/3/references", "Referred to by", 12),
    ("subjects/flights-value/edit", "Register", 12),
    ("subjects/flights-value/settings", "Versions and deletion", 12),
    ("new", "Register", 12),
    ("config", "Other settings", 12),
    ("schemas/ids/1", "Where it is used", 12),
    ("registry", "Export", 12),
    ("decode#hex=00000000010a", "All 6 bytes", 12),
]
#: The same for views that need a broker; TOPIC is the topic's name.
OF_TOPICS = [
    ("topics", "TOPIC", 12),
    ("topics/TOPIC", "Partitions", 12),
    ("topics/TOPIC/messages", "hello 2", 12),
    # Not among the main views: it makes an example and checks it.
    ("topics/TOPIC/produce", "Produce", 14),
    ("topics/TOPIC/groups", "groups", 12),
    ("groups", "Groups", 12),
    ("brokers", "No partition is in trouble", 12),
    ("dead-letters", "Dead letters", 12),
    ("dead-letters/TOPIC", "Letters", 12),
    ("pipelines", "No pipelines are known", 12),
]


@pytest.fixture(scope="module")
def broker(kafka: str, wheel: Path) -> Iterator[Searched]:
    """A registry of the wheel with a broker and a REST proxy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(wheel))
        with searched(kafka) as running:
            yield running


@pytest.fixture(scope="module")
def topic(broker: Searched) -> str:
    """A topic with three records and a schema of its own."""
    name = broker.topic(1)
    body = {"schema": json.dumps({"type": "record", "name": "R", "fields": []})}
    httpx.post(f"{broker.registry.url}/subjects/{name}-value/versions", json=body, trust_env=False).raise_for_status()
    broker.produce(name, [{"value": f"hello {number}", "partition": 0} for number in range(3)])
    return name


@pytest.mark.parametrize(("path", "shown", "requests"), VIEWS)
def test_requests_of_a_first_visit(
    open_page: OpenPage, built: ServerProcess, watch: Watch, path: str, shown: str, requests: int
) -> None:
    assert requests <= MOST
    asked = requests_of(open_page(built.url, together=True), watch, path, shown)
    assert len(asked) <= requests, "\n".join(asked)


@pytest.mark.parametrize(("path", "shown", "requests"), OF_TOPICS)
def test_requests_of_a_first_visit_to_topics(
    open_page: OpenPage, broker: Searched, topic: str, watch: Watch, path: str, shown: str, requests: int
) -> None:
    assert requests <= MOST or "produce" in path
    asked = requests_of(
        open_page(broker.registry.url, together=True),
        watch,
        path.replace("TOPIC", topic),
        shown.replace("TOPIC", topic),
    )
    assert len(asked) <= requests, "\n".join(asked)


def requests_of(page: Page, watch: Watch, path: str, shown: str) -> list[str]:
    """The requests of a first visit, until the view has its data and all but the change feed are answered."""
    running: set[Request] = set()
    page.on("request", lambda request: running.add(request))  # noqa: PLW0108  it must take attributes
    page.on("requestfinished", lambda request: running.discard(request))  # noqa: PLW0108
    page.on("requestfailed", lambda request: running.discard(request))  # noqa: PLW0108
    page.goto(path)
    expect(page.get_by_text(shown).first).to_be_visible()
    quiet = 0
    while quiet < QUIET_FRAMES:
        page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))")
        is_following = watch.count("GET /events") > 0
        quiet = quiet + 1 if is_following and all("/events" in request.url for request in running) else 0
    return watch.requests
