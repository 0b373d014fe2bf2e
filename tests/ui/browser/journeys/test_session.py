"""A person's session from the search to a topic, in two tabs, with a picture of each step under the test's folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from PIL import Image
from playwright.sync_api import Page, expect

from magicbyte.platform.broker import LocalBroker, free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker
from tests.topics import create_topics
from tests.ui.conftest import OpenPage
from tests.ui.kit.editing import expect_cell, laid_out, matrix, places, put
from tests.ui.kit.filling import fill, fill_many, flight
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

WIDTH, HEIGHT = 1280, 800
#: A message of payments-value: id 5009, then a decimal of four bytes.
PAYMENT_MESSAGE = "00 00 00 13 91 08 49 96 02 d2"


@dataclass(frozen=True, slots=True)
class Album:
    """Takes the pictures and checks each."""

    folder: Path
    names: list[str] = field(default_factory=list)

    def take(self, page: Page, name: str) -> None:
        """Write a picture of what the tab shows now."""
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        path = self.folder / f"{len(self.names) + 1:02}_{name}.png"
        page.screenshot(path=path, animations="disabled", caret="hide")
        with Image.open(path) as image:
            assert (image.format, image.size) == ("PNG", (WIDTH, HEIGHT)), name
            # An empty page has one colour.
            assert image.convert("RGB").getcolors(maxcolors=50) is None, name
        self.names.append(name)


@dataclass(frozen=True, slots=True)
class Servers:
    """A broker with the topic `payments`, and a registry of 20,007 subjects whose page reads it by a REST proxy."""

    broker: LocalBroker
    registry: ServerProcess

    def subjects(self) -> list[str]:
        answer: list[str] = httpx.get(f"{self.registry.url}/subjects", trust_env=False).json()
        return answer


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    port = free_port()
    with (
        temporary_broker() as broker,
        running_registry("memory:", properties={"magicbyte.ui.rest.url": f"http://127.0.0.1:{port}"}) as registry,
        running_rest_proxy(broker.bootstrap_servers, registry.url, port=port),
    ):
        fill_many(registry.url)
        fill(registry.url)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        create_topics(admin, NewTopic("payments", 1, 1))
        yield Servers(broker, registry)


def proposal() -> str:
    """Version 4 of flights-value: dest is renamed, and gate is new without a default."""
    text = laid_out(flight(3)).replace('"name": "dest"', '"name": "destination"')
    last = '"doc": "When the aircraft left the ground"\n    }'
    assert text.count(last) == 1
    return text.replace(last, f'{last},\n    {{\n      "name": "gate",\n      "type": "string"\n    }}')


def test_a_session(servers: Servers, open_page: OpenPage, watch: Watch, tmp_path: Path) -> None:
    page = open_page(servers.registry.url, width=WIDTH, height=HEIGHT)
    second = open_page(servers.registry.url, context=page.context)
    album = Album(tmp_path)

    find_a_subject(page, album)
    compare_two_versions(page, album)
    second.goto("subjects/flights-value/versions/3")
    expect(second.get_by_text("106 lines")).to_be_visible()
    expect(second.locator(".live .words")).to_have_text(re.compile("offset"))
    second.evaluate("window.notReloaded = true")
    propose_and_mend(page, album)
    register(page, servers, album)
    see_it_arrive(second, album)
    undo_a_delete(page, servers, album)
    decode_a_message(page, album)
    follow_a_topic(page, servers, album)

    assert watch.count("GET /events") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "01_all_subjects.png",
        "02_search.png",
        "03_version.png",
        "04_compare.png",
        "05_proposal.png",
        "06_witness.png",
        "07_mended.png",
        "08_registered.png",
        "09_second_tab.png",
        "10_second_tab_compares.png",
        "11_deleted.png",
        "12_undone.png",
        "13_decoded.png",
        "14_followed.png",
    ]


def go_to(page: Page, name: str) -> None:
    """Click one of the bar's links, which does not load the page again."""
    page.get_by_role("navigation", name="Main").get_by_role("link", name=name).click()


def find_a_subject(page: Page, album: Album) -> None:
    page.goto("subjects")
    expect(page.locator(".count")).to_have_text("20,007")
    album.take(page, "all_subjects")
    page.keyboard.press("/")
    page.keyboard.type("flights val")
    expect(page.locator(".count")).to_have_text("1 of 20,007")
    expect(page.locator("table.subjects tbody a")).to_have_text(["flights-value"])
    album.take(page, "search")
    page.locator("table.subjects tbody a").click()
    expect(page).to_have_url(re.compile(r"/ui/subjects/flights-value/versions/3$"))
    expect(page.get_by_text("106 lines")).to_be_visible()
    album.take(page, "version")


def compare_two_versions(page: Page, album: Album) -> None:
    page.get_by_role("link", name="compare 2 to 3").click()
    verdicts = page.locator(".verdict")
    expect(verdicts.nth(0)).to_contain_text("Version 3 reads what version 2 wrote")
    expect(verdicts.nth(1)).to_contain_text("Version 2 cannot read what version 3 writes")
    note = page.locator(".texts").get_by_role("note")
    expect(note).to_have_count(1)
    expect(note).to_contain_text("Breaks readers with version 2, on data written with version 3")
    expect(note).to_contain_text("TYPE_MISMATCH, from new to old /fields/6/type")
    expect(note).to_contain_text('"distance":0')
    expect(note).to_contain_text("The reader refuses it.")
    album.take(page, "compare")


def propose_and_mend(page: Page, album: Album) -> None:
    page.go_back()
    page.get_by_role("link", name="Propose version 4").click()
    expect(page.get_by_text("says the same as version 3")).to_be_visible()
    put(page, proposal())
    expect_cell(page, 3, 0, "✕ 2 places, asked for by the level")
    expect(page.get_by_text("refused under BACKWARD")).to_be_visible()
    assert matrix(page) == [
        ["Version 3 latest", "✕ 2 places, asked for by the level", "✕ 1 place"],
        ["Version 2", "✕ 2 places", "✕ 2 places"],
        ["Version 1", "✕ 2 places", "✕ 2 places"],
    ]
    assert places(page)[:2] == [
        "90:5 | destination is new and has no default | new readers of versions 1, 2, 3; old readers miss dest",
        "123:5 | gate is new and has no default | new readers of versions 1, 2, 3",
    ]
    expect(page.locator("#register")).to_have_attribute("aria-disabled", "true")
    album.take(page, "proposal")

    page.get_by_role("button", name="gate is new").click()
    note = page.get_by_role("note")
    note.get_by_text("An example").click()
    expect(note.locator("pre")).to_contain_text('"carrier":""')
    album.take(page, "witness")
    note.get_by_role("button", name='Add default ""').click()
    expect_cell(page, 3, 0, "✕ 1 place, asked for by the level")
    page.get_by_role("button", name="destination is new").click()
    note.get_by_role("button", name='Add alias "dest"').click()
    expect_cell(page, 3, 0, "✓ reads all, asked for by the level")
    expect(page.get_by_text("allowed under BACKWARD")).to_be_visible()
    album.take(page, "mended")


def register(page: Page, servers: Servers, album: Album) -> None:
    page.get_by_role("button", name="Register version 4").click()
    expect(page).to_have_url(re.compile(r"/ui/subjects/flights-value/versions/4$"))
    expect(page.get_by_text("Version 4", exact=True)).to_be_visible()
    expect(page.locator(".l", has_text='"name": "gate"')).to_be_visible()
    album.take(page, "registered")
    stored = httpx.get(f"{servers.registry.url}/subjects/flights-value/versions/4/schema", trust_env=False).json()
    fields = {item["name"]: item for item in stored["fields"]}
    assert fields["destination"] == {"name": "destination", "type": "string", "aliases": ["dest"]}
    assert fields["gate"] == {"name": "gate", "type": "string", "default": ""}


def see_it_arrive(second: Page, album: Album) -> None:
    line = second.get_by_role("status").filter(has_text="has come")
    expect(line).to_have_text("Version 4 has come. Compare with it or open it.")
    expect(second.get_by_text("106 lines")).to_be_visible()
    album.take(second, "second_tab")
    line.get_by_role("link", name="Compare with it").click()
    expect(second).to_have_url(re.compile(r"/ui/subjects/flights-value/compare\?from=3&to=4$"))
    expect(second.locator(".verdict").nth(0)).to_contain_text("Version 4 reads what version 3 wrote")
    assert second.evaluate("window.notReloaded") is True
    album.take(second, "second_tab_compares")


def undo_a_delete(page: Page, servers: Servers, album: Album) -> None:
    go_to(page, "Subjects")
    page.get_by_role("searchbox", name="Search subjects").fill("customers")
    row = page.locator("tbody a", has_text="customers-value")
    expect(page.locator(".count")).to_have_text("1 of 20,007")
    page.locator("table.subjects tbody tr").filter(has_text="customers-value").locator("td").nth(3).click()
    expect(page.locator("tbody tr.on")).to_be_visible()
    page.keyboard.press("x")
    page.get_by_role("region", name="Selected subjects").get_by_role("button", name="Delete").click()
    toast = page.locator(".toast").filter(has_text="customers-value deleted")
    expect(toast).to_be_visible()
    expect(row).to_have_count(0)
    assert "customers-value" not in servers.subjects()
    album.take(page, "deleted")
    toast.get_by_role("button", name="Undo").click()
    expect(row).to_be_visible()
    assert "customers-value" in servers.subjects()
    album.take(page, "undone")


def decode_a_message(page: Page, album: Album) -> None:
    go_to(page, "Decode")
    page.get_by_label("Bytes as hexadecimal, base64 or escapes").fill(PAYMENT_MESSAGE)
    card = page.locator("[data-decoded]")
    expect(card).to_contain_text("payments-value v1")
    expect(card.get_by_role("region", name="Value")).to_contain_text('"amount": "12345678.90"')
    expect(page.locator(".cell.id")).to_contain_text("5009")
    album.take(page, "decoded")


def follow_a_topic(page: Page, servers: Servers, album: Album) -> None:
    go_to(page, "Topics")
    page.get_by_role("link", name="payments", exact=True).click()
    page.get_by_role("navigation", name="Of this topic").get_by_role("link", name="Messages").click()
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.locator("[data-following=waiting]")).to_be_visible()
    producer = Producer({"bootstrap.servers": servers.broker.bootstrap_servers})
    producer.produce("payments", bytes.fromhex(PAYMENT_MESSAGE), key="first")
    assert producer.flush(30) == 0
    record = page.locator(".record")
    expect(record).to_have_count(1)
    expect(record).to_contain_text('"first"')
    expect(record).to_contain_text(json.dumps({"amount": "12345678.90"}))
    expect(record).to_contain_text("(v1)")
    expect(page.locator(".topic-size")).to_have_text("1 record in 1 partition")
    album.take(page, "followed")
