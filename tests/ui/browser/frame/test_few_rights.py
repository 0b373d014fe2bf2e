"""What the page shows to users of few rights, who sign in at a registry with access rules.

`reader` may read flights-value, and knows nothing else. `lister` may also list secret-value. `writer` may also write
flights-value. None of them may read settings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.sign_in.password_hash import hash_password
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.editing import content, put
from tests.ui.kit.filling import CUSTOMER, flight, register
from tests.ui.kit.watch import Watch

pytestmark = pytest.mark.browser

USERS = ("admin", "reader", "lister", "writer", "settler")
RULES = """\
allow User:reader READ SUBJECT LITERAL flights-value
allow User:lister DESCRIBE SUBJECT LITERAL *
allow User:lister READ SUBJECT LITERAL flights-value
allow User:writer READ,WRITE SUBJECT LITERAL flights-value
allow User:settler READ,WRITE,DESCRIBE_CONFIGS SUBJECT LITERAL frozen-value
"""
#: No schema, level or mode of another state than the true one may be on a page.
CLAIMS = re.compile(r"BACKWARD(?!_)|READWRITE|has no version|no schema yet|\ballowed\b")

As = Callable[[str, str], Page]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("guarded")
    users, rules = folder / "users", folder / "rules"
    users.write_text("".join(f"{name}:{hash_password(name)}\n" for name in USERS))
    users.chmod(0o600)
    rules.write_text(RULES)
    properties = {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.acl.store": f"file:{rules}",
        "super.users": "User:admin",
    }
    with running_registry("memory:", properties=properties) as server:
        with httpx.Client(base_url=server.url, auth=("admin", "admin"), trust_env=False) as client:
            for version in (1, 2, 3):
                register(client, "flights-value", flight(version))
            register(client, "frozen-value", flight(1))
            register(client, "secret-value", json.dumps(CUSTOMER), "JSON")
            register(client, "secret-value", json.dumps({**CUSTOMER, "title": "Client"}), "JSON")
            client.put("/config/flights-value", json={"compatibility": "NONE"}).raise_for_status()
            client.put("/mode/frozen-value", json={"mode": "READONLY"}).raise_for_status()
        yield server


@pytest.fixture
def signed_in(guarded: ServerProcess, open_page: OpenPage, watch: Watch) -> As:
    """Opens a path as a user."""
    for status in (401, 403, 404):
        watch.expect(status)

    def open_as(user: str, path: str) -> Page:
        page = open_page(guarded.url, http_credentials={"username": user, "password": user})
        page.goto(path)
        return page

    return open_as


def test_the_list_marks_what_may_not_be_read(signed_in: As) -> None:
    page = signed_in("lister", "subjects")
    row = page.locator("table.subjects tbody tr", has_text="secret-value")
    expect(row.locator(".c-type")).to_have_text("you may not read it")
    expect(row.locator(".c-level")).to_have_text("you may not read it")
    expect(page.get_by_role("button", name=re.compile("^Avro"))).to_contain_text("1")
    row.locator(".c-changed").click()
    peek = page.get_by_role("complementary", name="The subject in brief")
    expect(peek.get_by_text("level: you may not read it")).to_be_visible()
    expect(peek.get_by_text("Last change")).to_be_visible()
    expect(peek.locator(".peek-part [data-gap=forbidden]")).to_have_text("you may not read it")


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        ("lister", "The subject has 2 versions, and the access rules do not let you read them."),
        ("reader", "User is denied operation Describe on Subject: secret-value"),
    ],
)
def test_evolution_of_a_forbidden_subject_is_not_empty(signed_in: As, user: str, reason: str) -> None:
    page = signed_in(user, "subjects/secret-value")
    gap = page.locator(".evolution [data-gap=forbidden]")
    expect(gap.get_by_role("heading", name="You may not read it")).to_be_visible()
    expect(gap).to_contain_text(reason)
    expect(page.locator("main")).not_to_contain_text("No version")


def test_evolution_of_an_absent_subject_is_empty(signed_in: As) -> None:
    page = signed_in("admin", "subjects/none-value")
    expect(page.get_by_role("heading", name="No version")).to_be_visible()
    expect(page.locator("[data-gap]")).to_have_count(0)


@pytest.mark.parametrize(
    "path",
    [
        "subjects/secret-value/versions/1",
        "subjects/secret-value/versions/1?view=fields",
        "subjects/secret-value/compare?from=1&to=2",
        "subjects/secret-value/versions/1/references",
        "subjects/secret-value/edit",
    ],
)
def test_a_forbidden_schema_is_not_absent(signed_in: As, path: str) -> None:
    page = signed_in("lister", path)
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(CLAIMS)


@pytest.mark.parametrize("path", ["schemas/ids/5", "decode#hex=0000000005"])
def test_an_id_that_may_not_be_read_looks_unknown_and_the_page_says_so(signed_in: As, path: str) -> None:
    page = signed_in("reader", path)
    expect(page.get_by_text("The registry says the same of a schema that you may not read.")).to_be_visible()


def test_the_head_of_a_subject_says_that_its_level_is_hidden(signed_in: As) -> None:
    page = signed_in("reader", "subjects/flights-value")
    expect(page.locator(".head-name [data-gap=forbidden]")).to_have_text("level: you may not read it")
    page = signed_in("settler", "subjects/frozen-value")
    expect(page.locator(".head-name .badge", has_text="BACKWARD")).to_be_visible()
    expect(page.locator(".head-name [data-gap]")).to_have_count(0)


def test_compare_does_not_judge_by_a_hidden_level(signed_in: As) -> None:
    page = signed_in("reader", "subjects/flights-value/compare?from=1&to=3")
    levels = page.locator(".other-levels")
    expect(levels.locator("[data-gap=forbidden]")).to_have_text("you may not read it")
    expect(levels.get_by_text("now", exact=True)).to_have_count(0)


def test_the_editor_says_what_it_does_not_know_beside_register(signed_in: As) -> None:
    page = signed_in("writer", "subjects/flights-value/edit")
    content(page).wait_for()
    put(page, flight(1).replace('"Flight"', '"Flight", "doc": "of a day"'))
    expect(page.locator(".head-name [data-gap=forbidden]")).to_have_text("level: you may not read it")
    expect(page.locator(".edit-foot")).to_contain_text(
        "You may not read the level and the mode: the registry decides when you register."
    )
    expect(page.locator(".head-name .badge.ok, .head-name .badge.bad")).to_have_count(0)
    expect(page.get_by_role("button", name="Register version 4")).to_be_enabled()


def test_a_new_schema_of_a_forbidden_name_is_not_a_first_version(signed_in: As) -> None:
    page = signed_in("reader", "new?topic=secret")
    expect(page.locator(".edit-foot")).to_contain_text(
        "Not checked: User is denied operation Read on Subject: secret-value The registry decides when you register."
    )
    expect(page.locator(".head-name [data-gap=forbidden]")).to_have_text("verdict: you may not read it")
    expect(page.locator(".who")).not_to_contain_text("The first version")
    expect(page.get_by_role("button", name="Register", exact=True)).to_be_visible()


def test_a_subject_that_refuses_versions_is_not_allowed(signed_in: As) -> None:
    page = signed_in("settler", "subjects/frozen-value/edit")
    expect(page.locator(".head-name .badge.bad")).to_have_text("refused by the mode READONLY")
    expect(page.locator(".head-name .badge.ok")).to_have_count(0)
    expect(page.locator("main")).not_to_contain_text("allowed under")


def test_settings_show_what_may_be_read_beside_what_may_not(signed_in: As) -> None:
    page = signed_in("reader", "subjects/flights-value/settings")
    expect(page.get_by_role("region", name="Versions and deletion").get_by_role("listitem")).to_have_count(3)
    for name in ("Compatibility level", "Mode", "Other settings"):
        card = page.get_by_role("region", name=name)
        expect(card).to_contain_text("User is denied operation DescribeConfigs on Subject: flights-value")
        expect(card.get_by_role("combobox")).to_have_count(0)
    expect(page.locator("main")).not_to_contain_text(CLAIMS)
    page = signed_in("settler", "subjects/frozen-value/settings")
    expect(page.get_by_role("region", name="Mode", exact=True)).to_contain_text("READONLY")
    expect(page.get_by_role("region", name="Compatibility level")).to_contain_text("BACKWARD")
    page = signed_in("reader", "subjects/secret-value/settings")
    expect(page.get_by_role("region", name="Versions and deletion").locator("[data-gap=forbidden]")).to_be_visible()


def test_the_registry_says_that_its_settings_are_hidden(signed_in: As) -> None:
    page = signed_in("lister", "config")
    expect(page.locator("main [data-gap=forbidden]")).to_have_count(3)
    expect(page.locator("main")).not_to_contain_text(CLAIMS)
    page.goto("registry")
    node = page.locator("section.card", has_text="This node")
    expect(node.locator("[data-gap=forbidden]")).to_have_text("you may not read it")
    counts = page.locator("dl.counts")
    expect(counts).to_be_visible()
    names, numbers = (counts.locator(tag).all_text_contents() for tag in ("dt", "dd"))
    told = dict(zip(names, numbers, strict=True))
    assert told["Avro"] == "1"
    assert told["With schemas that you may not read"] == "2"
    assert told["With a level that you may not read"] == "3"
