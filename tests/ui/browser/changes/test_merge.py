"""The merge of a draft with the version that came meanwhile, in a browser; the rules are in deno/text/merge.test.js."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from magicbyte.platform.server_process import ServerProcess
from tests.ui.conftest import OpenPage
from tests.ui.kit.editing import content, edit, laid_out, put
from tests.ui.kit.filling import ADDRESS, register
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser


def user(*fields: str, name: str = "User") -> str:
    """A record with fields, such as `id:int`; all have a default."""
    pairs = [field.split(":") for field in fields]
    members = [{"name": field, "type": kind, "default": 0 if kind != "string" else ""} for field, kind in pairs]
    return json.dumps({"type": "record", "name": name, "fields": members})


@pytest.fixture(scope="module")
def client(scratch: ServerProcess) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=scratch.url, trust_env=False) as client:
        client.put("/config", json={"compatibility": "NONE"}).raise_for_status()
        yield client


def meet(page: Page, client: httpx.Client, subject: str, mine: str, theirs: str) -> Locator:
    """Propose a text, let another version come, and open the card with both."""
    edit(page, subject, mine)
    register(client, subject, theirs)
    page.get_by_role("button", name="See both texts").click()
    card = page.locator(".conflict")
    expect(card.get_by_role("heading", level=2)).to_be_focused()
    return card


def text_of(page: Page) -> str:
    """The editor's text."""
    return "\n".join(content(page).locator(".cm-line").all_text_contents())


def stored_text(client: httpx.Client, subject: str, version: int) -> str:
    """The text of a version as the registry has it."""
    return str(client.get(f"/subjects/{subject}/versions/{version}").json()["schema"])


def test_changes_of_both_sides_are_merged_checked_and_registered(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    register(client, "clean-value", user("a:int", "b:int", "c:string"))
    page = open_page(scratch.url)
    mine, theirs = user("a:long", "b:int", "c:string"), user("a:int", "b:int", "c:string", "d:int")
    card = meet(page, client, "clean-value", mine, theirs)
    expect(card.get_by_role("status")).to_have_text(
        "1 change of yours, 1 of theirs. The merged text is put into the editor and checked; nothing is registered."
    )
    expect(card.get_by_role("group", name="Changed: yours")).to_contain_text('"type": "long"')
    expect(card.get_by_role("group", name="Changed: version 2")).to_contain_text('"name": "d"')
    with page.expect_request(lambda sent: "/compatibility/" in sent.url):
        card.get_by_role("button", name="Use the merged text").click()
    expect(content(page)).to_be_focused()
    merged = user("a:long", "b:int", "c:string", "d:int")
    expect(content(page)).to_have_text(laid_out(merged).replace("\n", ""))
    expect(page.get_by_text("1 edit since version 2")).to_be_visible()
    expect(page.locator(".edit-foot")).to_contain_text("against 2 versions")
    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/versions")) as sent:
        page.get_by_role("button", name="Register version 3").click()
    assert sent.value.headers["if-match"] == "2"
    page.wait_for_url("**/ui/subjects/clean-value/versions/3")
    assert json.loads(client.get("/subjects/clean-value/versions/3").json()["schema"]) == json.loads(merged)


def test_a_merge_is_undone(client: httpx.Client, scratch: ServerProcess, open_page: OpenPage) -> None:
    register(client, "undone-value", user("a:int", "b:int"))
    page = open_page(scratch.url)
    # The history joins changes of one half second. All of these are of one moment, so only what is marked as a step is.
    page.clock.set_fixed_time(datetime.now(UTC))
    mine, merged = user("a:long", "b:int"), user("a:long", "b:int", "c:int")
    card = meet(page, client, "undone-value", mine, user("a:int", "b:int", "c:int"))
    card.get_by_role("button", name="Use the merged text").click()
    expect(content(page)).to_contain_text('"c"')
    page.get_by_role("button", name="Undo").click()
    expect(content(page)).to_have_text(laid_out(mine).replace("\n", ""))
    # The base is the old one again, so both texts come before a registration.
    expect(page.locator(".edit-news p")).to_contain_text("Version 2 came meanwhile.")
    page.get_by_role("button", name="See both texts").click()
    card.get_by_role("button", name="Use the merged text").click()
    expect(content(page)).to_be_focused()
    # What is typed next is a step of its own, too. The cursor stays: a step to another place would begin one anyway.
    page.keyboard.type(" ")
    expect(content(page)).to_have_text(re.compile(r"^ \{|\} $"))
    for text in (merged, mine, merged, mine, user("a:int", "b:int")):
        page.keyboard.press("Control+z")
        expect(content(page)).to_have_text(laid_out(text).replace("\n", ""))


@pytest.mark.parametrize("way", ["Use the merged text", "Keep my text, on top of version 2"])
def test_undo_by_keys_takes_back_the_base_with_the_text(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, way: str
) -> None:
    subject = f"keys-{way.partition(' ')[0].lower()}-value"
    register(client, subject, user("a:int", "b:int"))
    page = open_page(scratch.url)
    mine, theirs = user("a:long", "b:int"), user("a:int", "b:int", "c:int")
    after = mine if way.startswith("Keep") else user("a:long", "b:int", "c:int")
    card = meet(page, client, subject, mine, theirs)
    news, foot = page.locator(".edit-news p"), page.locator(".edit-foot")
    button = card.get_by_role("button", name=way)
    button.click()
    expect(content(page)).to_be_focused()
    expect(news).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(content(page)).to_have_text(laid_out(mine).replace("\n", ""))
    expect(news).to_contain_text("Version 2 came meanwhile.")
    expect(page.get_by_text("1 edit since version 1")).to_be_visible()
    # The toast's Undo finds nothing to take back: it must be no step, whose Undo would bring the newer base back.
    page.get_by_role("button", name="Undo").click()
    content(page).focus()
    page.keyboard.press("Control+z")
    expect(content(page)).to_have_text(laid_out(user("a:int", "b:int")).replace("\n", ""))
    expect(news).to_contain_text("Version 2 came meanwhile.")
    page.keyboard.press("Control+y")
    expect(content(page)).to_have_text(laid_out(mine).replace("\n", ""))
    page.get_by_role("button", name="Register version 3").click()
    expect(card.get_by_role("heading", level=2)).to_have_text("Version 2 came meanwhile. Nothing was registered.")
    card.get_by_role("button", name="Back to the editor").click()
    expect(content(page)).to_be_focused()
    page.keyboard.press("Control+y")
    expect(content(page)).to_have_text(laid_out(after).replace("\n", ""))
    expect(news).to_have_count(0)
    expect(foot).to_contain_text("Registering asks for version 2 to be the latest still.")


def test_the_next_key_goes_into_the_text_again(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    register(client, "focused-value", user("a:int", "b:int"))
    page = open_page(scratch.url)
    card = meet(page, client, "focused-value", user("a:long", "b:int"), user("a:int", "b:int", "c:int"))
    # A key press is a task of its own, as this timer is; a frame that is drawn between them may come later.
    focused = card.get_by_role("button", name="Back to the editor").evaluate(
        """button => {
            button.click();
            return new Promise(resolve => setTimeout(() => {
                let element = document.activeElement;
                while (element.shadowRoot) element = element.shadowRoot.activeElement;
                resolve(element.textContent);
            }));
        }"""
    )
    assert '"long"' in focused


def test_undo_of_a_discard_takes_back_the_base_with_the_text(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    register(client, "discarded-value", user("a:int", "b:int"))
    page = open_page(scratch.url)
    edit(page, "discarded-value", user("a:long", "b:int"))
    register(client, "discarded-value", user("a:int", "b:int", "c:int"))
    news = page.locator(".edit-news p")
    expect(news).to_contain_text("Version 2 came meanwhile.")
    page.goto("subjects/discarded-value/edit?from=1")
    page.get_by_role("button", name="Discard").click()
    # The page was opened when version 2 was there.
    expect(news).to_have_count(0)
    content(page).focus()
    page.keyboard.press("Control+z")
    expect(content(page)).to_contain_text('"long"')
    expect(news).to_contain_text("Version 2 came meanwhile.")


def test_a_draft_that_was_put_on_top_of_a_later_version_outlives_the_page(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    register(client, "kept-value", user("a:int", "b:int"))
    page = open_page(scratch.url)
    card = meet(page, client, "kept-value", user("a:long", "b:int"), user("a:int", "b:int", "c:int"))
    card.get_by_role("button", name="Use the merged text").click()
    expect(page.get_by_text("1 edit since version 2")).to_be_visible()
    page.goto("subjects/kept-value/edit?from=1")
    expect(content(page)).to_contain_text('"c"')
    expect(page.get_by_text("1 edit since version 2")).to_be_visible()
    expect(page.locator(".edit-foot")).to_contain_text("Registering asks for version 2 to be the latest still.")


def test_conflicts_are_decided_by_keyboard(client: httpx.Client, scratch: ServerProcess, open_page: OpenPage) -> None:
    register(client, "decided-value", user("a:int", "b:int", "c:int"))
    page = open_page(scratch.url)
    mine, theirs = user("a:long", "b:int", "c:int", "mine:int"), user("a:float", "b:int", "c:int", "theirs:int")
    card = meet(page, client, "decided-value", mine, theirs)
    use = card.get_by_role("button", name="Use the merged text")
    expect(card.get_by_role("status")).to_contain_text("0 changes of yours, 0 of theirs, 2 conflicts to decide.")
    expect(use).to_have_attribute("aria-disabled", "true")
    expect(use).to_have_accessible_description("Decide 2 conflicts first.")
    first, second = (card.get_by_role("group", name=f"Schema: conflict {number}", exact=True) for number in (1, 2))
    for side, text in (("It was", '"int"'), ("Yours", '"long"'), ("Theirs, version 2", '"float"')):
        expect(first.locator("div", has_text=side).filter(has_text=text).first).to_be_visible()
    expect(first.get_by_role("button")).to_have_text(["Yours", "Theirs"])
    expect(second.get_by_role("button")).to_have_text(["Yours", "Theirs", "Both"])
    first.get_by_role("button", name="Theirs").focus()
    page.keyboard.press("Enter")
    expect(first).to_contain_text("Decided")
    expect(use).to_have_accessible_description("Decide 1 conflict first.")
    second.get_by_role("button", name="Both").press("Enter")
    expect(second.get_by_role("button", name="Both")).to_have_attribute("aria-pressed", "true")
    use.press("Enter")
    merged = user("a:float", "b:int", "c:int", "theirs:int", "mine:int")
    expect(content(page)).to_have_text(laid_out(merged).replace("\n", ""))


@pytest.mark.parametrize("side", ["Yours", "Theirs"])
def test_one_side_of_a_conflict_is_taken(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, side: str
) -> None:
    subject = f"side-{side.lower()}-value"
    register(client, subject, user("a:int"))
    page = open_page(scratch.url)
    texts = {"Yours": user("a:int", "mine:int"), "Theirs": user("a:int", "theirs:int")}
    card = meet(page, client, subject, texts["Yours"], texts["Theirs"])
    card.get_by_role("button", name=side, exact=True).click()
    card.get_by_role("button", name="Use the merged text").click()
    expect(content(page)).to_have_text(laid_out(texts[side]).replace("\n", ""))


def test_the_version_that_came_is_taken_whole(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    register(client, "taken-value", user("a:int"))
    page = open_page(scratch.url)
    card = meet(page, client, "taken-value", user("a:long"), user("a:int", "theirs:int"))
    card.get_by_role("button", name="Take version 2").click()
    expect(page.get_by_text("The text says the same as version 2")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(content(page)).to_contain_text('"long"')


def test_digits_and_duplicate_keys_stay(client: httpx.Client, scratch: ServerProcess, open_page: OpenPage) -> None:
    def schema(more: str) -> str:
        return '{"type":"object","maximum":9223372036854775807,"x":1.10,"x":1e400' + more + ',"title":"T"}'

    register(client, "digits-value", schema(""), "JSON")
    page = open_page(scratch.url)
    page.goto("subjects/digits-value/edit")
    mine = (
        '{\n  "minimum": -12345678901234567890,\n  "type": "object",\n'
        '  "maximum": 9223372036854775807,\n  "x": 1.10,\n  "x": 1e400,\n  "title": "T"\n}'
    )
    put(page, mine)
    expect(page.locator("#register")).not_to_have_attribute("aria-disabled", "true")
    register(client, "digits-value", schema("").replace('"T"}', '"T","y":0.10000000000000000001}'), "JSON")
    page.get_by_role("button", name="See both texts").click()
    page.get_by_role("button", name="Use the merged text").click()
    expect(content(page)).to_have_text(mine.replace('"T"', '"T",  "y": 0.10000000000000000001').replace("\n", ""))


def test_protobuf_texts_are_merged_with_their_references(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    base = 'syntax = "proto3";\npackage p;\n\nmessage Order {\n  int64 id = 1; // the id\n  string note = 2;\n}\n'
    register(client, "orders-merged", base, "PROTOBUF")
    register(client, "address.proto", ADDRESS, "PROTOBUF")
    page = open_page(scratch.url)
    page.goto("subjects/orders-merged/edit")
    put(page, stored_text(client, "orders-merged", 1).replace("int64 id", "string id"))
    expect(page.locator("#register")).not_to_have_attribute("aria-disabled", "true")
    theirs = base.replace("package p;\n", 'package p;\nimport "address.proto";\n') + "message Extra {\n}\n"
    reference = {"name": "address.proto", "subject": "address.proto", "version": 1}
    register(client, "orders-merged", theirs, "PROTOBUF", [reference])
    page.get_by_role("button", name="See both texts").click()
    card = page.locator(".conflict")
    expect(card.get_by_role("region", name="References")).to_contain_text('"subject":"address.proto"')
    card.get_by_role("button", name="Use the merged text").click()
    expect(page.get_by_role("button", name="References 1")).to_be_visible()
    expect(content(page)).to_be_focused()
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="References 0")).to_be_visible()
    page.keyboard.press("Control+y")
    expect(page.get_by_role("button", name="References 1")).to_be_visible()
    assert text_of(page) == stored_text(client, "orders-merged", 2).replace("int64 id", "string id")
    page.get_by_role("button", name="Register version 3").click()
    page.wait_for_url("**/ui/subjects/orders-merged/versions/3")
    assert client.get("/subjects/orders-merged/versions/3").json()["references"] == [reference]


def test_schemas_of_different_types_are_shown_side_by_side(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage
) -> None:
    register(client, "types-value", user("a:int"))
    page = open_page(scratch.url)
    page.goto("subjects/types-value/edit")
    put(page, laid_out(user("a:long")))
    expect(page.locator("#register")).not_to_have_attribute("aria-disabled", "true")
    register(client, "types-value", '{"type": "object"}', "JSON")
    page.get_by_role("button", name="See both texts").click()
    card = page.locator(".conflict")
    expect(card).to_contain_text("The schemas are of different types: they cannot be merged.")
    expect(card.get_by_role("button", name="Use the merged text")).to_have_count(0)
    expect(card.get_by_role("region", name="Theirs")).to_contain_text('"object"')


def test_a_broken_text_is_merged_by_its_lines(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(422, "/compatibility/")
    register(client, "broken-value", user("a:int", "b:int"))
    page = open_page(scratch.url)
    page.goto("subjects/broken-value/edit")
    put(page, laid_out(user("a:long", "b:int"))[:-1])
    expect(page.get_by_text("not a schema", exact=True)).to_be_visible()
    register(client, "broken-value", user("a:int", "b:int", name="Person"))
    page.get_by_role("button", name="See both texts").click()
    page.get_by_role("button", name="Use the merged text").click()
    expect(content(page)).to_contain_text('"Person"')
    expect(content(page)).to_contain_text('"long"')
    expect(page.get_by_text("not a schema", exact=True)).to_be_visible()


def test_an_empty_draft_meets_a_version(
    client: httpx.Client, scratch: ServerProcess, open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(422, "/compatibility/")
    register(client, "empty-value", user("a:int"))
    page = open_page(scratch.url)
    page.goto("subjects/empty-value/edit")
    content(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(page.get_by_text("not a schema", exact=True)).to_be_visible()
    register(client, "empty-value", user("a:int", "b:int"))
    page.get_by_role("button", name="See both texts").click()
    page.get_by_role("button", name="Theirs", exact=True).click()
    page.get_by_role("button", name="Use the merged text").click()
    expect(page.get_by_text("The text says the same as version 2")).to_be_visible()
