"""The views of dead letters before servers that allow or know less."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.admin import NewTopic
from playwright.sync_api import Page, expect

from magicbyte.dead_letters.kafka_clients import transactional_id
from magicbyte.platform.broker import free_port
from magicbyte.testing import running_registry, running_rest_proxy
from serdes.client.clients import RegistryClient
from tests.serdes.letters.letter_topic import LetterTopic
from tests.topics import create_topics
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.guarded import access_settings
from tests.ui.kit.letters import fill
from tests.ui.kit.scanned import searched
from tests.ui.kit.watch import Watch
from tests.waiting import until

pytestmark = pytest.mark.browser


def test_a_read_only_page_replays_nothing(kafka: str, open_page: OpenPage) -> None:
    with searched(kafka, {"magicbyte.ui.read.only": "true"}) as running:
        desk = LetterTopic(kafka, RegistryClient(running.registry.url), running.topic() + "-source")
        fill(desk)
        page = open_page(running.registry.url)
        page.goto(f"dead-letters/{desk.letters}?replay=true")
        panel = page.get_by_role("region", name="Replay", exact=True)
        expect(panel.get_by_role("button", name="Dry run", exact=True)).to_have_attribute("aria-disabled", "true")
        expect(panel).to_contain_text("This page is read-only")
        expect(page.locator(".letter-row")).to_have_count(7)
        with running.client() as http:
            path = f"/ui/rest/v3/clusters/x/topics/{desk.letters}/dead-letters:replay"
            assert http.post(path, json={"letters": [{"partition_id": 0, "offset": 0}]}).status_code == 403
        # Else the page would look for servers that are gone.
        page.context.close()


def test_a_proxy_without_the_route_is_named_with_the_command(kafka: str, open_page: OpenPage, watch: Watch) -> None:
    for status in (404, 405):
        watch.expect(status, ":replay")
    with searched(kafka, rest={"api.endpoints.blocklist": "api.v3.dead-letters.replay"}) as running:
        desk = LetterTopic(kafka, RegistryClient(running.registry.url), running.topic() + "-source")
        fill(desk)
        page = open_page(running.registry.url)
        page.goto(f"dead-letters/{desk.letters}?replay=true")
        page.get_by_role("button", name="Dry run", exact=True).click()
        expect(page.get_by_text("This REST proxy cannot replay letters.")).to_be_visible()
        command = f"magicbyte dead-letter replay {desk.letters} --dry-run"
        expect(page.get_by_role("alert").get_by_role("region")).to_have_text(command)
        page.context.close()


def test_without_a_proxy_the_views_say_so(open_page: OpenPage) -> None:
    page = open_page()
    for path in ("dead-letters", "dead-letters/t", "dead-letters/t/0/0"):
        page.goto(path)
        expect(page.get_by_role("heading", name="No REST proxy is set")).to_be_visible()


#: By user what the proxy's rules allow besides reading the letters.
RIGHTS = {
    "reader": [],
    "noter": ["READ TOPIC {state}"],
    "sender": ["READ,WRITE TOPIC {state}", "WRITE TRANSACTIONAL_ID {id}", "WRITE TOPIC {source}"],
}


def test_few_rights_are_named_before_one_writes(kafka: str, open_page: OpenPage, watch: Watch, tmp_path: Path) -> None:
    port = free_port()
    for status in (401, 403, 404):
        watch.expect(status)
    with running_registry("memory:", properties={"magicbyte.ui.rest.url": f"http://127.0.0.1:{port}"}) as registry:
        desk = LetterTopic(kafka, RegistryClient(registry.url), f"few-rights-{port}")
        fill(desk)
        create_topics(desk.admin, NewTopic(f"{desk.letters}.state", 1))
        names = {"state": f"{desk.letters}.state", "id": transactional_id(desk.letters), "source": desk.source}
        lines = [f"allow User:{name} DESCRIBE CLUSTER LITERAL kafka-cluster" for name in RIGHTS]
        lines += [f"allow User:{name} READ TOPIC LITERAL {desk.letters}" for name in RIGHTS]
        for user, rights in RIGHTS.items():
            for right in rights:
                operation, kind, name = right.format(**names).split()
                lines.append(f"allow User:{user} {operation} {kind} LITERAL {name}")
        properties = access_settings(tmp_path, "proxy", "\n".join(lines) + "\n", (*RIGHTS, "stranger"))
        with running_rest_proxy(kafka, registry.url, port=port, properties=properties):

            def panel_of(user: str) -> Page:
                for before in opened:
                    before.context.close()
                page = open_page(registry.url, http_credentials={"username": user, "password": user})
                opened[:] = [page]
                page.goto(f"dead-letters/{desk.letters}?replay=true")
                return page

            opened: list[Page] = []

            page = panel_of("stranger")
            expect(page.get_by_role("alert").first).to_contain_text("Not allowed")
            page = panel_of("reader")
            expect(page.locator(".letter-row")).to_have_count(7)
            expect(page.locator(".count-remarks")).to_contain_text("Which letters were replayed is not known: Not auth")
            assert findings(page) == []
            page.get_by_role("button", name="Dry run", exact=True).click()
            expect(page.get_by_role("region", name="Replay", exact=True)).to_contain_text(
                f"Not authorized to access topics: [{desk.letters}.state]"
            )
            page = panel_of("noter")
            page.get_by_role("button", name="Dry run", exact=True).click()
            panel = page.get_by_role("region", name="Replay", exact=True)
            expect(panel.locator(".missing-rights li")).to_have_text(
                [
                    f"✕ WRITE on topic {desk.letters}.state is missing.",
                    f"✕ WRITE on transactional id {names['id']} is missing.",
                ]
            )
            expect(panel).to_contain_text("stay: no right to write")
            expect(panel.get_by_role("button", name="Replay", exact=True)).to_have_attribute("aria-disabled", "true")
            assert findings(page) == []
            page = panel_of("sender")
            page.get_by_role("button", name="Dry run", exact=True).click()
            page.get_by_role("button", name="Replay 3 letters").click()
            expect(page.locator("[data-outcome=sent]")).to_contain_text("3 letters sent.")
            page.context.close()
    until(lambda: len(desk.records()) == 3)
