"""Access rules in the registry's log, changed by its API on a real server."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.platform.server_process import ServerFailed
from magicbyte.security.rights.rule_json import rules_to_json
from magicbyte.testing import running_registry
from tests.security.rights.rule_servers import ACLS, FIRST_RULES, Client, properties_in, rules

LISTER = rules_to_json(rules(FIRST_RULES[2]))[0]


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    """A registry on SQLite with the rules of `FIRST_RULES`, which each test leaves as they are."""
    folder = tmp_path_factory.mktemp("rules")
    file = folder / "log.db"
    with ExitStack() as stack:
        server = stack.enter_context(running_registry(f"sqlite:///{file}", properties=properties_in(folder)))
        client = Client(server)
        stack.callback(client.close)
        assert client.change("POST", *FIRST_RULES).status_code == 201
        yield client, file


@pytest.fixture
def ask(sqlite: tuple[Client, Path]) -> Iterator[Client]:
    client, _ = sqlite
    yield client
    assert client.change("PUT", *FIRST_RULES).status_code == 200


def test_rules_are_listed_added_replaced_and_removed(ask: Client):
    assert ask("lister", "GET", ACLS).json() == [
        {
            "principal": "User:keeper",
            "host": "*",
            "resource_type": "REGISTRY",
            "resource": "schema-registry",
            "pattern_type": "LITERAL",
            "operation": operation,
            "permission": "ALLOW",
        }
        for operation in ("ALTER", "DESCRIBE")
    ] + rules_to_json(rules(*FIRST_RULES[1:]))
    assert ask.register("team", "team.a").status_code == 403
    given = {
        "principal": "User:team",
        "resource_type": "subject",
        "resource": ":.:team.",
        "pattern_type": "prefixed",
        "operation": "write",
        "permission": "allow",
        "comment": "members that are no parts are left out",
    }
    canonical = rules_to_json(rules("allow User:team WRITE SUBJECT PREFIXED team."))
    for _ in range(2):
        added = ask("keeper", "POST", ACLS, [given])
        assert (added.status_code, added.json()) == (201, canonical)
    assert ask.register("team", "team.a").status_code == 200
    change = {"added": rules_to_json(rules("deny User:team ALL SUBJECT LITERAL *")), "removed": canonical}
    assert (
        ask(
            "admin",
            "PUT",
            f"{ACLS}?dryRun=true",
            rules_to_json(rules(*FIRST_RULES, "deny User:team ALL SUBJECT LITERAL *")),
        ).json()
        == change
    )
    assert ask.register("team", "team.a").status_code == 200
    assert ask.change("PUT", *FIRST_RULES, "deny User:team ALL SUBJECT LITERAL *").json() == change
    assert ask.register("team", "team.a").status_code == 403
    for removed in (change["added"], []):
        answer = ask.change("DELETE", "deny User:team ALL SUBJECT LITERAL *")
        assert (answer.status_code, answer.json()) == (200, removed)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("principal=User:lister", 1),
        ("resource_type=registry", 3),
        ("resource_type=SUBJECT&operation=all", 1),
        ("pattern_type=PREFIXED", 1),
        ("resource=team.", 1),
        ("host=*", 4),
        ("host=10.0.0.0/8", 0),
        ("permission=DENY", 0),
        ("principal=User:nobody", 0),
    ],
)
def test_a_list_is_filtered_by_parts(ask: Client, query: str, count: int):
    assert len(ask("lister", "GET", f"{ACLS}?{query}").json()) == count


@pytest.mark.parametrize(
    ("method", "path", "body", "code", "message"),
    [
        ("GET", f"{ACLS}?permission=MAYBE", None, 400, "permission MAYBE must be one of ALLOW, DENY"),
        ("GET", f"{ACLS}?resource_type=X", None, 400, "resource_type X must be one of SUBJECT, REGISTRY, TOPIC, "),
        ("POST", ACLS, {}, 400, "the rules must be an array"),
        ("POST", ACLS, [7], 400, "[0] must be an object"),
        ("POST", ACLS, [{}], 400, "[0]: principal is missing"),
        ("POST", ACLS, [{"principal": "User:a", "host": 1}], 400, "[0]: host must be a string"),
        ("PUT", ACLS, "x", 400, "the rules must be an array"),
        ("DELETE", ACLS, [{**LISTER, "operation": "FLY"}], 400, "[0]: operation FLY means nothing on a REGISTRY"),
        ("POST", ACLS, None, 422, "The request body may not be null"),
    ],
)
def test_refused_requests(ask: Client, method: str, path: str, body: Any, code: int, message: str):
    headers = {"content-type": "application/json"} if body is None and method == "POST" else {}
    answer = ask("admin", method, path, body, **headers)
    assert answer.json()["error_code"] == code
    assert answer.json()["message"].startswith(message)
    assert answer.headers["content-type"] == "application/vnd.schemaregistry.v1+json"


def test_clients_without_the_right_cannot_change_rules(ask: Client):
    for who, allowed in (("nobody", set()), ("lister", {"GET"}), ("keeper", {"GET", "POST", "DELETE"})):
        for method in ("GET", "POST", "PUT", "DELETE"):
            answer = ask(who, method, ACLS, None if method == "GET" else [])
            operation = "Describe" if method == "GET" else "Alter"
            if method in allowed:
                assert answer.status_code in (200, 201), answer.text
            elif who != "keeper":
                message = f"User is denied operation {operation} on Registry: schema-registry"
                assert answer.json() == {"error_code": 40301, "message": message}
    given = ask.change("POST", "allow User:keeper ALL SUBJECT LITERAL *", who="keeper")
    assert given.json() == {"error_code": 40301, "message": "User is denied operation Read on Subject: *"}
    # Not even to take everything away.
    assert ask("keeper", "PUT", ACLS, []).json()["error_code"] == 42212
    assert ask.change("POST", "allow User:team READ SUBJECT PREFIXED team.x", who="keeper").status_code == 201


def test_a_list_has_an_etag_that_changes_with_the_rules(ask: Client):
    first = ask("lister", "GET", ACLS)
    again = ask("lister", "GET", ACLS, **{"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert ask.register("admin", "other").status_code == 200
    assert ask("lister", "GET", ACLS, **{"if-none-match": first.headers["etag"]}).status_code == 304
    ask.change("POST", "deny User:nobody READ SUBJECT LITERAL x")
    changed = ask("lister", "GET", ACLS, **{"if-none-match": first.headers["etag"]})
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


def test_a_remembered_answer_ends_with_the_rule_that_allowed_it(ask: Client):
    assert ask.register("admin", "team.remembered").status_code == 200
    path = "/subjects/team.remembered/versions/1"
    schema_id = ask("admin", "GET", path).json()["id"]
    paths = (path, f"/schemas/ids/{schema_id}", f"/schemas/ids/{schema_id}/subjects")
    reading = "allow User:team READ SUBJECT PREFIXED team.rem"
    for _ in range(3):
        assert ask.change("POST", reading).status_code == 201
        for _ in range(2):
            assert [ask("team", "GET", asked).status_code for asked in paths] == [200, 200, 200]
        assert ask.change("DELETE", reading).status_code == 200
        assert [ask("team", "GET", asked).status_code for asked in paths] == [403, 404, 404]


def test_rules_are_in_no_export_and_come_by_no_import(ask: Client):
    exported = ask("admin", "GET", "/export").text
    assert "MAGICBYTE_ACL" not in exported
    assert "User:keeper" not in exported
    line = {
        "kind": "acl",
        "keytype": "MAGICBYTE_ACL",
        **rules_to_json(rules("allow User:nobody ALL SUBJECT LITERAL *"))[0],
    }
    report = ask("admin", "POST", "/import?lines=true", line).json()
    assert [refused["line"] for refused in report["refused"]] == [1]
    assert len(ask("admin", "GET", ACLS).json()) == 4


def test_changes_of_rules_are_no_events(ask: Client):
    ask.change("POST", "deny User:nobody READ SUBJECT LITERAL x")
    with httpx.stream(
        "GET", f"{ask.server.url}/events", headers={"last-event-id": "-1"}, auth=("admin", "mbs_admin"), timeout=30
    ) as events:
        text = ""
        ask.register("admin", "last.event")
        for part in events.iter_text():
            text += part
            if "last.event" in text:
                break
    assert "User:" not in text
    assert "MAGICBYTE_ACL" not in text


@pytest.mark.slow
def test_with_a_rule_that_cannot_be_read_nothing_starts(tmp_path: Path):
    file, properties = tmp_path / "log.db", properties_in(tmp_path)
    with running_registry(f"sqlite:///{file}", properties=properties) as server:
        client = Client(server)
        client.change("POST", "allow User:team READ SUBJECT LITERAL x", "deny User:team READ SUBJECT LITERAL y")
        client.close()
    with closing(sqlite3.connect(file)) as database, database:
        changed = database.execute(
            "UPDATE log SET key = CAST(replace(CAST(key AS TEXT), 'DENY', 'NO') AS BLOB)"
            " WHERE CAST(key AS TEXT) LIKE '%DENY%'"
        )
        assert changed.rowcount == 1
    with pytest.raises(ServerFailed) as raised, running_registry(f"sqlite:///{file}", properties=properties):
        pass
    text = "".join(raised.value.last_lines)
    assert re.search(
        r"an access rule in the log cannot be read \(offset \d+: a MAGICBYTE_ACL key is not an access rule: permission"
        r" NO must be ALLOW or DENY\), and it may be a denial: write a tombstone for its key, or use"
        r" magicbyte.acl.store=file:",
        text,
    )
    assert "Traceback" not in text


def test_without_any_rule_in_the_log_and_without_super_users_nothing_starts(tmp_path: Path):
    with (
        pytest.raises(ServerFailed) as raised,
        running_registry(properties=properties_in(tmp_path, **{"super.users": ""})),
    ):
        pass
    assert "the log has no rule, and super.users is empty: nobody could do anything" in "".join(raised.value.last_lines)


def test_rules_in_a_file_are_changed_there_alone(tmp_path: Path):
    (tmp_path / "rules").write_text("allow User:keeper ALL REGISTRY LITERAL *\n")
    store = {"magicbyte.acl.store": f"file:{tmp_path}/rules"}
    with running_registry(properties=properties_in(tmp_path, **store)) as server:
        client = Client(server)
        for method in ("GET", "POST", "PUT", "DELETE"):
            answer = client("keeper", method, ACLS, None if method == "GET" else [])
            assert answer.json() == {"error_code": 405, "message": "HTTP 405 Method Not Allowed"}
            assert client("nobody", method, ACLS, None if method == "GET" else []).json()["error_code"] == 40301
        client.close()


def test_an_open_server_keeps_no_rules():
    with running_registry() as server:
        assert httpx.get(server.url + ACLS).json() == {"error_code": 405, "message": "HTTP 405 Method Not Allowed"}
        assert httpx.post(server.url + ACLS, json=[]).json()["error_code"] == 405
