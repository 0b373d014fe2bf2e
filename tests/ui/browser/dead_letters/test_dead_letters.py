"""The views of dead letters: counted, shown, replayed, with few rights, hostile texts, and on small screens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from serdes.client.clients import RegistryClient
from serdes.message import wire
from tests.serdes.letters.letter_topic import VALUE, LetterTopic
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.hostile import BIDI, IMAGE, SCRIPT
from tests.ui.kit.letters import fill
from tests.ui.kit.scanned import Searched, searched
from tests.ui.kit.watch import Watch
from tests.waiting import until

pytestmark = pytest.mark.browser

HOSTILE = f"{IMAGE}{SCRIPT}{BIDI}"


@pytest.fixture(scope="module")
def running(kafka: str) -> Iterator[Searched]:
    with searched(kafka) as running:
        yield running


@pytest.fixture
def page(open_page: OpenPage, running: Searched) -> Page:
    return open_page(running.registry.url)


@pytest.fixture
def desk(running: Searched) -> LetterTopic:
    return LetterTopic(running.bootstrap_servers, RegistryClient(running.registry.url), running.topic(2) + "-source")


def test_topics_of_letters_are_listed_and_any_can_be_opened(page: Page, desk: LetterTopic) -> None:
    page.goto("topics")
    page.get_by_role("link", name="Dead letters").click()
    page.get_by_role("link", name=desk.letters, exact=True).click()
    expect(page.get_by_role("heading", name="No letters in this topic")).to_be_visible()
    page.goto("dead-letters")
    page.get_by_label("Topic of dead letters").fill(desk.source)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(desk.source)
    page.goto(f"topics/{desk.letters}")
    page.get_by_role("navigation", name="Of this topic").get_by_role("link", name="Dead letters").click()
    expect(page).to_have_url(f"{page.url.split('/ui/')[0]}/ui/dead-letters/{desk.letters}")


def test_letters_are_grouped_and_filtered_in_the_url(page: Page, watch: Watch, desk: LetterTopic) -> None:
    fill(desk)
    page.goto(f"dead-letters/{desk.letters}")
    rows = page.locator(".group-table tbody tr")
    # Reasons differ by their stages and exceptions: streams and spring have none of their own here.
    expect(rows).to_have_count(5)
    away = rows.filter(has_text="the database was away")
    expect(away.locator("td")).to_contain_text(["", "2", "", "0", "0:0", "0:5", "TASK_PUT the database was away"])
    expect(page.locator(".letter-row")).to_have_count(7)
    expect(page.locator(".letter-row").first).to_contain_text("0:6")
    expect(page.locator(".letter-row").nth(1)).to_contain_text("masked")
    away.get_by_role("link").first.click()
    expect(page.locator(".letter-row")).to_have_count(2)
    page.get_by_label("Group letters by").select_option("pipeline")
    expect(rows).to_have_count(3)
    page.get_by_label("Condition").fill("schema_id = 999999 OR masked = 1")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("no such column: masked; the columns are letter_partition")
    page.get_by_label("Condition").fill("schema_id = 999999")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.locator(".letter-row")).to_have_count(1)
    address = page.url
    assert "by=pipeline" in address
    page.goto("topics")
    page.goto(address)
    expect(page.locator(".letter-row")).to_have_count(1)
    page.get_by_label("Condition").fill("stage = 'NONE'")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No letters fit")).to_be_visible()
    page.get_by_role("button", name="All letters").click()
    expect(page.locator(".letter-row")).to_have_count(7)
    watch.expect(400)


def test_a_letter_is_shown_with_the_byte_where_decoding_stops(page: Page, desk: LetterTopic) -> None:
    schema_id = fill(desk)
    page.goto(f"dead-letters/{desk.letters}/0/4")
    why = page.get_by_role("region", name="Why it failed")
    expect(why).to_contain_text("truncated at byte 6")
    expect(why).to_contain_text("VALUE_CONVERTER")
    expect(why).to_contain_text("never")
    value = page.get_by_role("region", name="Value", exact=True)
    expect(value.get_by_role("note")).to_contain_text("$.carrier byte 6")
    expect(value.locator("mark")).to_have_text(VALUE.hex(" ").split()[1])
    expect(value.get_by_role("link", name=f"id {schema_id}")).to_be_visible()
    expect(value.get_by_role("link", name=f"{desk.source}-value v1")).to_be_visible()
    expect(page.get_by_role("region", name="Key", exact=True)).to_contain_text('"k4"')
    expect(page.get_by_role("region", name="Headers of the record")).to_contain_text("own")
    page.goto(f"dead-letters/{desk.letters}/0/0")
    expect(page.get_by_role("region", name="Decoded value")).to_contain_text('"carrier": "UA"')
    page.goto(f"dead-letters/{desk.letters}/0/3")
    expect(page.get_by_role("region", name="Value", exact=True)).to_contain_text("which the registry does not have")
    page.get_by_text("Stack trace").click()
    expect(page.get_by_role("region", name="Stack trace")).to_have_text("at a.b.C(C.java:7)")
    page.goto(f"dead-letters/{desk.letters}/0/5")
    expect(page.get_by_text("The letter is masked")).to_be_visible()
    expect(page.get_by_role("region", name="Value", exact=True)).to_contain_text("left out by the pipeline")
    page.goto(f"dead-letters/{desk.letters}/0/6")
    expect(page.get_by_role("heading", name="No headers of a dead letter")).to_be_visible()


def test_a_letter_that_is_not_there_is_said(page: Page, watch: Watch, desk: LetterTopic) -> None:
    watch.expect(404, "/dead-letter")
    page.goto(f"dead-letters/{desk.letters}/0/7")
    expect(page.get_by_role("alert")).to_contain_text("There is no letter at 0:7")
    page.goto(f"dead-letters/{desk.letters}/x/7")
    expect(page.get_by_text("numbers of a partition and an offset")).to_be_visible()


def test_a_replay_begins_with_a_dry_run(page: Page, desk: LetterTopic) -> None:
    fill(desk)
    page.goto(f"dead-letters/{desk.letters}")
    page.get_by_role("button", name="Replay…").click()
    panel = page.get_by_role("region", name="Replay", exact=True)
    send = panel.get_by_role("button", name="Replay", exact=True)
    expect(send).to_have_attribute("aria-disabled", "true")
    expect(panel).to_contain_text("Do a dry run first.")
    panel.get_by_role("button", name="Dry run", exact=True).click()
    outcome = panel.locator("[data-outcome=dry]")
    expect(outcome).to_contain_text("3 letters would be sent.")
    expect(outcome).to_contain_text(f"3 to {desk.source}")
    expect(outcome).to_contain_text("2 stay: would fail again")
    expect(outcome).to_contain_text("1 stay: masked")
    expect(outcome).to_contain_text("1 stay: no topic to send to")
    expect(outcome.locator(".stays li")).to_have_count(4)
    assert desk.records() == []
    for name in ("Dry run as curl", "Replay as curl"):
        expect(panel.get_by_role("button", name=name)).to_be_visible()
    panel.get_by_role("button", name="Replay 3 letters").click()
    expect(panel.locator("[data-outcome=sent]")).to_contain_text("3 letters sent.")
    # The end of a transaction is answered before its markers are written.
    until(lambda: len(desk.records()) == 3)
    expect(page.locator(".letter-row").filter(has=page.get_by_text("replayed", exact=True))).to_have_count(3)
    panel.get_by_role("button", name="Dry run", exact=True).click()
    expect(panel.locator("[data-outcome=dry]")).to_contain_text("0 letters would be sent.")
    expect(panel).to_contain_text("The dry run sends no letter.")


def test_picked_letters_are_fixed_and_replayed(page: Page, desk: LetterTopic) -> None:
    schema_id = fill(desk)
    page.goto(f"dead-letters/{desk.letters}/0/3")
    page.get_by_role("link", name="Replay…").click()
    panel = page.get_by_role("region", name="Replay", exact=True)
    expect(panel).to_contain_text("1 letter that you picked.")
    page.get_by_role("checkbox", name="Pick 0:5").check()
    expect(panel).to_contain_text("2 letters that you picked.")
    panel.get_by_label("Schema id into the frame").fill("seven")
    panel.get_by_label("To topic").click()
    expect(panel.get_by_role("alert")).to_contain_text("A schema id is a whole number")
    panel.get_by_label("Schema id into the frame").fill(str(schema_id))
    panel.get_by_label("To topic").click()
    panel.get_by_text("A repair by a program of one's own").click()
    expect(panel.get_by_role("region", name="To copy: magicbyte dead-letter replay")).to_contain_text(
        f"magicbyte dead-letter replay {desk.letters} --where 'letter_partition = 0 AND letter_offset IN (3, 5)'"
        " --fix-with fix.py --dry-run"
    )
    panel.get_by_role("button", name="Dry run", exact=True).click()
    expect(panel.locator("[data-outcome=dry]")).to_contain_text("1 letter would be sent.")
    # Another repair is another replay.
    panel.get_by_label("Values must be").select_option("json")
    expect(panel).to_contain_text("Do a dry run first.")
    panel.get_by_label("Values must be").select_option("auto")
    panel.get_by_role("button", name="Dry run", exact=True).click()
    panel.get_by_role("button", name="Replay 1 letter").click()
    expect(panel.locator("[data-outcome=sent]")).to_contain_text("1 letter sent.")
    until(lambda: [record.value() for record in desk.records()] == [wire.prefix(schema_id) + VALUE])
    assert f"schema={schema_id}" in page.url
    page.goto(f"dead-letters/{desk.letters}/0/3")
    expect(page.get_by_role("region", name="Why it failed")).to_contain_text("1 time since, the last to")


def test_more_letters_than_one_request_takes_are_replayed(page: Page, desk: LetterTopic) -> None:
    good = wire.prefix(desk.register()) + VALUE
    for offset in range(1_100):
        desk.producer.produce(
            desk.letters, good, b"k", headers=[("__connect.errors.topic", desk.source.encode()),
            ("__connect.errors.partition", b"0"), ("__connect.errors.offset", b"%d" % offset)],
        )  # fmt: skip
    assert desk.producer.flush(30) == 0
    page.goto(f"dead-letters/{desk.letters}?replay=true")
    panel = page.get_by_role("region", name="Replay", exact=True)
    panel.get_by_label("At most so many letters").fill("5000")
    panel.get_by_label("To topic").click()
    panel.get_by_role("button", name="Dry run", exact=True).click()
    expect(panel.locator("[data-outcome=dry]")).to_contain_text("1,100 letters would be sent.")
    panel.get_by_role("button", name="Replay 1,100 letters").click()
    expect(panel.locator("[data-outcome=sent]")).to_contain_text("1,100 letters sent.")
    until(lambda: len(desk.records()) == 1_100)


def test_texts_of_letters_are_text(page: Page, desk: LetterTopic) -> None:
    desk.bury(
        HOSTILE.encode(), 0, own=[(HOSTILE, HOSTILE.encode())], stage=HOSTILE, message=HOSTILE, exception=HOSTILE,
        connector=HOSTILE, quality=HOSTILE, batch=HOSTILE, subject=HOSTILE, stacktrace=HOSTILE,
    )  # fmt: skip
    for path in ("", "?by=pipeline", "?by=pipeline&replay=true", "/0/0"):
        page.goto(f"dead-letters/{desk.letters}{path}")
        expect(page.locator("main")).to_contain_text("<img")
        assert page.locator("main img, main script").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_the_views_are_accessible_and_fit(
    open_page: OpenPage, running: Searched, desk: LetterTopic, theme: str, width: int
) -> None:
    fill(desk)
    page = open_page(running.registry.url, theme=theme, width=width)
    for path, shown in (
        ("dead-letters", page.get_by_role("link", name=desk.letters, exact=True)),
        (f"dead-letters/{desk.letters}?replay=true", page.locator(".letter-row").first),
        (f"dead-letters/{desk.letters}/0/3", page.get_by_role("region", name="Value", exact=True)),
        (f"dead-letters/{desk.letters}/0/4", page.get_by_role("region", name="Value", exact=True)),
    ):
        page.goto(path)
        expect(shown).to_be_visible()
        if "replay" in path:
            page.get_by_role("button", name="Dry run", exact=True).click()
            expect(page.locator("[data-outcome]")).to_be_visible()
        assert findings(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_a_replay_works_by_keyboard(page: Page, desk: LetterTopic) -> None:
    fill(desk)
    page.goto(f"dead-letters/{desk.letters}?replay=true")
    panel = page.get_by_role("region", name="Replay", exact=True)
    expect(page.locator(".letter-row").first).to_be_visible()
    panel.get_by_role("button", name="Dry run", exact=True).focus()
    page.keyboard.press("Enter")
    expect(panel.locator("[data-outcome=dry]")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(panel.locator("[data-outcome=sent]")).to_contain_text("3 letters sent.")


def test_a_count_can_be_cancelled(page: Page, desk: LetterTopic) -> None:
    for number in range(60_000):
        desk.producer.produce(desk.letters, b"x" * 100, headers=[("__connect.errors.topic", b"a")], timestamp=number)
        desk.producer.poll(0)
    assert desk.producer.flush(60) == 0
    page.goto(f"dead-letters/{desk.letters}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".count-remarks")).to_contain_text("Cancelled after")
