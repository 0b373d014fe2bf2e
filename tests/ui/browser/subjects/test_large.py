"""Texts of 3 MB: few nodes, the whole text is searched, copied and addressed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.axe import findings
from tests.ui.kit.watch import Watch
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser

#: The goal is a few thousand nodes.
MOST_NODES = 6000
FIELDS = 26_000
MESSAGES = 2_600


def avro(fields: int, *, last: str = "string") -> str:
    names = [f"a_long_name_of_a_field_number_{number:05}" for number in range(fields)]
    return json.dumps(
        {
            "type": "record",
            "name": "Large",
            "namespace": "acme",
            "fields": [
                {"name": name, "type": "string" if name != names[-1] else last, "doc": f"what {name} says of it"}
                for name in names
            ],
        }
    )


def json_schema(properties: int) -> str:
    described = {
        f"property_{n:05}": {"type": "string", "description": f"what it says {n} " * 4} for n in range(properties)
    }
    return json.dumps({"title": "Large", "type": "object", "properties": described})


def protobuf(messages: int) -> str:
    bodies = [
        f"message Part{n:04} {{\n"
        + "".join(f"  string a_long_name_of_a_field_{n:04}_{m} = {m};\n" for m in range(1, 25))
        + "}\n"
        for n in range(messages)
    ]
    return 'syntax = "proto3";\npackage acme;\n\n' + "".join(bodies)


@pytest.fixture(scope="module")
def large() -> Iterator[ServerProcess]:
    """A registry with texts of about 3 MB, one of each type, and two versions of the Avro schema."""
    with running_registry("memory:") as server:
        lines = [
            {"subject": "avro-value", "version": 1, "id": 1, "schema": avro(FIELDS)},
            {"subject": "avro-value", "version": 2, "id": 2, "schema": avro(FIELDS, last="bytes")},
            {"subject": "json-value", "version": 1, "id": 3, "schemaType": "JSON", "schema": json_schema(24_000)},
            {"subject": "proto-value", "version": 1, "id": 4, "schemaType": "PROTOBUF", "schema": protobuf(MESSAGES)},
        ]
        assert all(2_700_000 < len(line["schema"]) < 3_500_000 for line in lines), [
            len(line["schema"]) for line in lines
        ]
        with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as client:
            body = "\n".join(map(json.dumps, lines))
            client.post(
                "/import?lines=true", content=body, headers={"Content-Type": "application/x-ndjson"}
            ).raise_for_status()
        yield server


def nodes(page: Page) -> int:
    return int(page.evaluate("document.getElementsByTagName('*').length"))


def opened(open_page: OpenPage, server: ServerProcess, path: str, shown: str) -> Page:
    """A page that shows a text. `bench/ui.py` measures the time until then, and the longest task."""
    page = open_page(server.url)
    page.goto("parts")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto(path)
    # A loaded machine takes long for the layout of 3 MB.
    expect(page.get_by_text(shown).first).to_be_visible(timeout=120_000)
    return page


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("subjects/avro-value/versions/1", "a_long_name_of_a_field_number_00001"),
        ("subjects/avro-value/versions/1?text=stored", "a_long_name_of_a_field_number_00001"),
        ("subjects/avro-value/versions/1?view=fields", "a_long_name_of_a_field_number_00001"),
        ("subjects/json-value/versions/1", "property_00001"),
        ("subjects/proto-value/versions/1", "a_long_name_of_a_field_0000_1"),
        ("subjects/proto-value/versions/1?view=fields", "a_long_name_of_a_field_0000_1"),
        ("subjects/avro-value/compare?from=1&to=2", "The texts are too large or too different"),
        ("subjects?peek=json-value", "property_00001"),
        ("subjects/json-value/edit", "Register"),
        ("schemas/ids/4", "a_long_name_of_a_field_0000_1"),
    ],
)
def test_a_text_of_3_mb_has_few_nodes(
    open_page: OpenPage, large: ServerProcess, watch: Watch, path: str, shown: str
) -> None:
    # The registry's own limit of what a comparison may cost.
    watch.expect(422, "/compare")
    watch.expect(422, "/compatibility/")
    # Workers have the lowest priority: on a busy machine they may not come to 3 MB in time, and the page asks again.
    watch.expect(503, "/outline")
    page = opened(open_page, large, path, shown)
    assert nodes(page) < MOST_NODES


def test_a_long_text_is_whole_for_its_address_the_wheel_and_the_search(
    open_page: OpenPage, large: ServerProcess, watch: Watch
) -> None:
    watch.expect(503, "/outline")
    page = open_page(large.url)
    page.goto("subjects/avro-value/versions/1#L100000-L100002")
    expect(page.locator("#L100001")).to_be_in_viewport()
    expect(page.locator(".l.on")).to_have_count(3)
    expect(page.get_by_role("region", name="Text of version 1, 130,007 lines")).to_be_visible(timeout=PATIENCE * 1000)
    # All lines have their place: 20 px each.
    assert page.locator(".schema-card .code").evaluate("code => Math.abs(code.scrollHeight - 130007 * 20) < 2000")
    page.evaluate("scrollTo(0, 1e9)")
    expect(page.locator("#L130007")).to_be_in_viewport()
    expect(page.locator("#L100001")).to_have_count(0)
    page.keyboard.press("Control+f")
    find = page.get_by_role("searchbox", name="Find in the text")
    expect(find).to_be_focused()
    page.keyboard.type("number_12345")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    expect(page.locator(".l.found mark").first).to_be_in_viewport()
    expect(page).to_have_url(f"{large.url}/ui/subjects/avro-value/versions/1?find=number_12345#L100000-L100002")
    first = page.locator(".l.found").get_attribute("id")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    assert page.locator(".l.found").get_attribute("id") != first
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".l.found")).to_have_id(first or "")
    assert nodes(page) < MOST_NODES
    page.reload()
    expect(page.locator(".l.found mark").first).to_be_in_viewport()


def test_a_selection_of_a_long_text_is_copied_as_a_whole(
    open_page: OpenPage, large: ServerProcess, watch: Watch
) -> None:
    watch.expect(503, "/outline")
    page = open_page(large.url, permissions=["clipboard-read", "clipboard-write"])
    page.goto("subjects/proto-value/versions/1")
    expect(page.get_by_text('"proto3"')).to_be_visible(timeout=PATIENCE * 1000)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == protobuf(MESSAGES)
    # From the middle of the first line to a line far below, which is in the document only after scrolling.
    page.evaluate("getSelection().collapse(document.querySelector('#L1 .t').lastChild.firstChild ?? null, 0)")
    start = page.evaluate("getSelection().toString()")
    assert start == ""
    page.evaluate(
        "getSelection().setBaseAndExtent(document.querySelector('#L2 .t'), 0, document.querySelector('#L5 .t'), 1)"
    )
    page.evaluate("scrollTo(0, 400000)")
    expect(page.locator("#L20010")).to_be_attached()
    # The selection's lines stay in the document.
    expect(page.locator("#L2")).to_be_attached()
    page.evaluate("getSelection().extend(document.querySelector('#L20010 .t'), 0)")
    page.keyboard.press("Control+c")
    lines = protobuf(MESSAGES).split("\n")
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(lines[1:20009]) + "\n"


def test_a_long_text_is_printed_to_a_limit_that_it_names(
    open_page: OpenPage, large: ServerProcess, watch: Watch
) -> None:
    # The registry has some seconds for the outline of such a text, and a loaded machine needs more.
    watch.expect(503, "/outline")
    page = open_page(large.url)
    page.goto("subjects/proto-value/versions/1")
    expect(page.get_by_text('"proto3"')).to_be_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".schema-card .l")).to_have_count(5000)
    expect(page.get_by_text("5,000 of 67,603 lines are printed")).to_be_attached()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".schema-card .l")).not_to_have_count(5000)


def test_fields_of_a_long_schema_are_filtered(open_page: OpenPage, large: ServerProcess, watch: Watch) -> None:
    watch.expect(503, "/outline")
    page = open_page(large.url)
    page.goto("subjects/proto-value/versions/1?view=fields")
    find = page.get_by_role("searchbox", name="Find fields")
    find.fill("field_0003_24", timeout=PATIENCE * 1000)
    expect(page.locator(".fields-table tbody tr:has(td)")).to_have_count(1)
    expect(page).to_have_url(f"{large.url}/ui/subjects/proto-value/versions/1?view=fields&find=field_0003_24")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
@pytest.mark.parametrize("view", ["", "?view=fields"])
def test_long_texts_are_accessible(
    open_page: OpenPage, large: ServerProcess, watch: Watch, theme: str, width: int, view: str
) -> None:
    watch.expect(503, "/outline")
    page = open_page(large.url, theme=theme, width=width)
    page.goto(f"subjects/proto-value/versions/1{view}")
    expect(page.get_by_role("searchbox").first).to_be_visible(timeout=PATIENCE * 1000)
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
