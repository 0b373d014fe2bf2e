"""Messages of the console producer, and the way from their topic to history, comparison, level and further schemas."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import expect

from magicbyte.platform.broker import LocalBroker, free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker
from tests.topics import create_topics
from tests.ui.conftest import OpenPage

pytestmark = pytest.mark.browser

PRODUCER = Path(sys.executable).with_name("kafka-avro-console-producer")
F1 = {"name": "f1", "type": "string"}
F2 = {"name": "f2", "type": "string", "default": "any"}


def produce(broker: LocalBroker, registry: ServerProcess, line: dict[str, str], *fields: dict[str, Any]) -> None:
    """Type one line into the console producer, with a schema of these fields."""
    schema = json.dumps({"type": "record", "name": "myrecord", "fields": fields})
    command = [str(PRODUCER), "--broker-list", broker.bootstrap_servers, "--topic", "t2"]
    command += ["--property", f"value.schema={schema}", "--property", f"schema.registry.url={registry.url}"]
    subprocess.run(command, input=json.dumps(line) + "\n", text=True, check=True, timeout=120)


def test_two_versions_by_the_console_producer(open_page: OpenPage) -> None:
    port = free_port()
    with (
        temporary_broker() as broker,
        running_registry(properties={"magicbyte.ui.rest.url": f"http://127.0.0.1:{port}"}) as registry,
        running_rest_proxy(broker.bootstrap_servers, registry.url, port=port),
    ):
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        create_topics(admin, *[NewTopic(name, 1, 1) for name in ("t2", "test")])
        produce(broker, registry, {"f1": "value1"}, F1)
        produce(broker, registry, {"f1": "value1", "f2": "value2"}, F1, F2)

        page = open_page(registry.url)
        page.goto("topics")
        page.get_by_role("link", name="t2", exact=True).click()
        expect(page.locator(".topic-size")).to_have_text("2 records in 1 partition")
        page.get_by_role("link", name="compare 1 to 2").click()
        change = page.locator(".change")
        expect(change).to_have_count(1)
        expect(change).to_contain_text("f2")
        expect(change).to_contain_text('string = "any"')
        tabs = page.get_by_role("navigation", name="Of this subject")
        tabs.get_by_role("link", name="Evolution").click()
        expect(page.get_by_role("list", name="Versions, the newest first").get_by_role("listitem")).to_have_count(2)

        tabs.get_by_role("link", name="Settings").click()
        page.get_by_role("combobox", name="Compatibility level").select_option("FULL")
        page.get_by_role("button", name="Set FULL").click()
        expect(page.get_by_role("region", name="Compatibility level")).to_contain_text("FULL its own")
        config = httpx.get(f"{registry.url}/config/t2-value", trust_env=False).json()
        assert config["compatibilityLevel"] == "FULL"

        for part in ("key", "value"):
            page.goto("topics/test")
            page.get_by_role("link", name=f"Set a schema for the {part}s").click()
            register = page.get_by_role("button", name="Register version 1")
            expect(register).not_to_have_attribute("aria-disabled", "true")
            register.click()
            expect(page).to_have_url(re.compile(rf"/ui/subjects/test-{part}/versions/1$"))
        subjects = httpx.get(f"{registry.url}/subjects", trust_env=False).json()
        assert subjects == ["t2-value", "test-key", "test-value"]
        page.close()
