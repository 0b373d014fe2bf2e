"""The page on a follower while the leader of the cluster is killed."""

from __future__ import annotations

import json
import uuid
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, temporary_broker
from tests.ui.conftest import OpenPage
from tests.ui.kit.editing import content, put
from tests.ui.kit.filling import register
from tests.ui.kit.watch import Watch
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser


def record(*fields: str) -> str:
    """The text of a record with these fields."""
    members = [{"name": name, "type": "int"} for name in fields]
    return json.dumps({"type": "record", "name": "User", "fields": members})


def leads(node: ServerProcess) -> bool:
    """True if a node is the leader."""
    state: dict[str, Any] = httpx.get(f"{node.url}/health/ready", timeout=60, trust_env=False).json()
    return bool(state["leader"])


def test_the_leader_is_killed_under_the_page(open_page: OpenPage, watch: Watch) -> None:
    watch.expect(500, "/subjects/kept-value/versions")
    watch.expect(503, "/health/ready")
    # If the test fails, the node stops before its page is closed.
    watch.allow_text("net::ERR_CONNECTION_REFUSED")
    properties = {
        "kafkastore.topic": f"_schemas-{uuid.uuid4()}",
        "schema.registry.group.id": str(uuid.uuid4()),
        "kafkagroup.session.timeout.ms": "20000",
    }
    with temporary_broker() as broker, ExitStack() as stack:
        nodes = [
            stack.enter_context(
                running_registry("kafka:", bootstrap_servers=broker.bootstrap_servers, properties=properties)
            )
            for _ in range(2)
        ]
        with httpx.Client(base_url=nodes[0].url, timeout=30, trust_env=False) as client:
            register(client, "kept-value", record("id"))
        leader, follower = sorted(nodes, key=leads, reverse=True)
        assert (leads(leader), leads(follower)) == (True, False)
        page = open_page(follower.url)
        page.goto("subjects/kept-value/edit")
        expect(page.locator(".live .words")).to_contain_text("follower")
        expect(content(page)).to_be_visible()
        put(page, record())
        button = page.get_by_role("button", name="Register version 2")
        expect(button).not_to_have_attribute("aria-disabled", "true")

        leader.kill()
        button.click()
        strip = page.locator(".strip")
        expect(strip).to_contain_text("The registry has no leader now")
        expect(page.get_by_text("Not registered: ")).to_be_visible()
        expect(button).to_be_in_viewport(ratio=0.9)
        expect(content(page)).to_contain_text('"fields": []')

        expect(strip).to_have_count(0, timeout=PATIENCE * 1000)
        expect(page.locator(".live .words")).to_contain_text("leader", timeout=PATIENCE * 1000)
        expect(content(page)).to_contain_text('"fields": []')
        button.click()
        expect(page.locator(".toast")).to_contain_text("Version 2 is registered")
        page.close()
