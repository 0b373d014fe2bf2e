"""The registry's access rules on a real server: every row with every right, and each way round a rule."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.http.routing.access import Access, Operation, Resource
from magicbyte.platform.server_process import ServerFailed, ServerProcess
from magicbyte.security.rights.rule import OPERATIONS
from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.testing import running_registry
from registry.http.rows import ROWS
from tests.security.rights.rule_servers import properties_in

INT, STRING = '"int"', '"string"'
#: A principal for each single operation on the subjects `open.`, and those with none, all, and all but a denial.
SINGLE = {operation.lower().replace("_", "-"): operation for operation in OPERATIONS["SUBJECT"]}
PEOPLE = ("admin", "nobody", "tenant", "everything", "denied", "reader", "operator", *SINGLE)
RULES = "".join(
    (
        *(f"allow User:{name} {operation} SUBJECT PREFIXED open.\n" for name, operation in SINGLE.items()),
        "allow User:tenant ALL SUBJECT PREFIXED other.\n",
        "allow User:tenant ALL SUBJECT PREFIXED :.t:\n",
        "allow User:everything ALL SUBJECT LITERAL *\n",
        "allow User:everything ALL REGISTRY LITERAL *\n",
        "allow User:operator DESCRIBE REGISTRY LITERAL schema-registry\n",
        "allow User:denied ALL SUBJECT LITERAL *\n",
        "deny User:denied ALL SUBJECT PREFIXED open.\n",
        "allow User:reader READ,DESCRIBE_CONFIGS SUBJECT PREFIXED other.\n",
    )
)


class Client:
    """A client of a server, for each person."""

    def __init__(self, server: ServerProcess, rules: Path) -> None:
        self.server, self.rules = server, rules
        self._client = httpx.Client(base_url=server.url, timeout=30)

    def __call__(self, who: str, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        named = {"content-type": "application/json", **headers} if content is not None else headers
        return self._client.request(method, path, content=content, headers=named, auth=(who, "mbs_" + who))

    def register(self, who: str, subject: str, schema: str, **more: Any) -> httpx.Response:
        return self(who, "POST", f"/subjects/{subject}/versions", {"schema": schema, **more})

    def close(self) -> None:
        self._client.close()


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("rights")
    properties = properties_in(folder, people=PEOPLE, rules=RULES)
    with ExitStack() as stack:
        client = Client(stack.enter_context(running_registry(properties=properties)), folder / "rules")
        stack.callback(client.close)
        for subject, schema in (
            ("open.a", INT),
            ("open.a", '["int","string"]'),
            ("other.a", STRING),
            ("other.b", INT),
            (":.t:open.only-there", '"boolean"'),
            ("other.referred", '{"type":"record","name":"Referred","fields":[]}'),
        ):
            client("admin", "PUT", f"/config/{subject}", {"compatibility": "NONE"})
            assert client.register("admin", subject, schema).status_code == 200
        reference = [{"name": "Referred", "subject": "other.referred", "version": 1}]
        schema = '{"type":"record","name":"Referrer","fields":[{"name":"f","type":"Referred"}]}'
        for subject in ("open.referrer", "sealed.referrer"):
            assert client.register("admin", subject, schema, references=reference).status_code == 200
        client("admin", "PUT", "/config/open.alias", {"alias": "other.a"})
        client("admin", "PUT", "/mode/open.a", {"mode": "READWRITE"})
        yield client


def needed(access: Access) -> list[frozenset[str]]:
    """The needs of a row: one operation of each set."""
    sets = [frozenset(str(operation.name) for operation in access.operation)]
    return sets + (needed(access.also) if access.also is not None else [])


BY_NAME = [
    row
    for row in ROWS
    if row.access.resource is Resource.SUBJECT and not row.access.filters and "{subject}" in row.path
]
ON_REGISTRY = [row for row in ROWS if row.access.resource is Resource.REGISTRY]
SHAPES = {
    "plain": "{path}",
    "slash": "{path}/",
    "slashes": "{path}//",
    "context": "/contexts/:.:{path}",
    "encoded": "{path}",
    "qualified": "{path}",
}
BODIES: dict[str, Any] = {"PUT": {}, "POST": {"schema": "no schema"}}


def path_of(template: str, subject: str) -> str:
    return template.replace("{subject}", subject).replace("{version}", "77")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("row", BY_NAME, ids=lambda row: row.operation_id)
def test_every_row_about_a_subject_asks_for_its_right_before_it_looks(ask: Client, row: Any, shape: str):
    subjects = {"encoded": "open%2E%67one", "qualified": ":.:open.gone"}
    asked = {"encoded": "open.gone", "qualified": "open.gone"}.get(shape, "open.gone")
    path = SHAPES[shape].format(path=path_of(row.path, subjects.get(shape, "open.gone")))
    for who in PEOPLE:
        held = {"admin": {"*"}, "everything": {"*"}}.get(who, set())
        if who in SINGLE:
            operation = SINGLE[who]
            implied = {"READ": {"DESCRIBE"}, "WRITE": {"DESCRIBE"}, "DELETE": {"DESCRIBE"}}.get(operation, set())
            held = {operation, *implied, *({"DESCRIBE_CONFIGS"} if operation == "ALTER_CONFIGS" else ())}
        may = held == {"*"} or all(held & operations for operations in needed(row.access))
        answer = ask(who, row.method, path, BODIES.get(row.method))
        assert (answer.status_code != 403) is may, (who, answer.text)
        if not may:
            assert answer.json()["error_code"] == 40301
            assert answer.json()["message"].startswith("User is denied operation ")
            assert answer.json()["message"].endswith(f" on Subject: {asked}")
            assert answer.headers["content-type"] == "application/vnd.schemaregistry.v1+json"


@pytest.mark.parametrize("row", BY_NAME, ids=lambda row: row.operation_id)
def test_the_same_name_in_another_context_is_another_subject(ask: Client, row: Any):
    path = f"/contexts/.t{path_of(row.path, 'open.gone')}"
    for who in ("denied", "everything", "tenant"):
        assert ask(who, row.method, path, BODIES.get(row.method)).status_code != 403
    for who in SINGLE:
        answer = ask(who, row.method, path, BODIES.get(row.method))
        assert answer.json()["message"].endswith(" on Subject: :.t:open.gone")


def test_health_names_the_leader_only_with_the_right_to_describe_the_registry(ask: Client):
    for who in ("admin", "everything", "operator"):
        ready = ask(who, "GET", "/health/ready")
        assert (ready.json()["status"], ready.json()["leaderUrl"]) == ("UP", ask.server.url)
        assert ask(who, "GET", "/_health").json()["status"]["schema_registry_primary_url"] == ask.server.url
        assert ready.headers["cache-control"] == "no-store"
    # A probe whose credentials are not good is no less a probe.
    for who in ("nobody", "reader", "denied", "unknown"):
        ready, health = ask(who, "GET", "/health/ready"), ask(who, "GET", "/_health")
        assert (ready.status_code, ready.json(), health.json()) == (200, {"status": "UP"}, {"healthy": True})


@pytest.mark.parametrize("row", ON_REGISTRY, ids=lambda row: row.operation_id)
def test_every_row_about_the_registry_asks_for_its_right(ask: Client, row: Any):
    refused = ask("tenant", row.method, row.path, BODIES.get(row.method))
    assert (refused.status_code, refused.json()["error_code"]) == (403, 40301)
    assert refused.json()["message"].endswith(" on Registry: schema-registry")
    if row.method == "GET":
        # The rules are in a file here.
        status = 405 if row.path == "/security/acls" else 200
        assert ask("everything", row.method, row.path).status_code == status


def test_every_row_says_what_it_needs():
    kinds = {Operation.NOTHING, Operation.SIGN_IN}
    rest = [
        row.operation_id
        for row in ROWS
        if row not in BY_NAME
        and row not in ON_REGISTRY
        and row.access.operation not in kinds
        and not row.access.filters
    ]
    # By id: what is seen is filtered. By context: tested below.
    assert sorted(rest) == ["deleteContext", "getByGuid", "getById", "getTextById"]


def test_a_denied_write_leaves_no_trace(ask: Client):
    before = ask("admin", "GET", "/export").text
    for row in BY_NAME:
        if row.method != "GET":
            ask("nobody", row.method, path_of(row.path, "open.a"), {"schema": INT})
    strip = [json.loads(line) for line in before.splitlines()]
    after = [json.loads(line) for line in ask("admin", "GET", "/export").text.splitlines()]
    assert after[1:-1] == strip[1:-1]
    assert after[0]["offset"] == strip[0]["offset"]


@pytest.mark.parametrize(
    ("who", "path", "listed"),
    [
        ("describe", "/subjects", ["open.a", "open.referrer"]),
        ("describe-configs", "/subjects", []),
        ("nobody", "/subjects", []),
        ("tenant", "/subjects", ["other.a", "other.b", "other.referred"]),
        ("tenant", "/subjects?subjectPrefix=:*:", [":.t:open.only-there", "other.a", "other.b", "other.referred"]),
        ("denied", "/subjects", ["other.a", "other.b", "other.referred", "sealed.referrer"]),
        ("read", "/subjects?offset=1&limit=1", ["open.referrer"]),
        ("tenant", "/contexts", [".", ".t"]),
        ("read", "/contexts", ["."]),
        ("nobody", "/contexts", ["."]),
    ],
)
def test_lists_drop_hidden_subjects_before_paging(ask: Client, who: str, path: str, listed: list[str]):
    assert ask(who, "GET", path).json() == listed


@pytest.mark.parametrize(
    ("who", "subjects"),
    [("read", {"open.a", "open.referrer"}), ("describe", set()), ("write", set()), ("nobody", set())],
)
@pytest.mark.parametrize("path", ["/schemas", "/search"])
def test_schemas_are_listed_for_readers(ask: Client, who: str, subjects: set[str], path: str):
    assert {found["subject"] for found in ask(who, "GET", path).json()} == subjects


def id_of(ask: Client, subject: str, version: int = 1) -> int:
    return int(ask("admin", "GET", f"/subjects/{subject}/versions/{version}").json()["id"])


@pytest.mark.parametrize("path", ["/schemas/ids/{id}", "/schemas/ids/{id}/schema", "/schemas/ids/{id}?subject=open.a"])
def test_an_id_is_there_for_who_may_read_one_of_its_subjects(ask: Client, path: str):
    shared, hidden = id_of(ask, "open.a"), id_of(ask, "other.a")
    # `int` is the schema of open.a and of other.b.
    assert ask("read", "GET", path.format(id=shared)).status_code == 200
    assert ask("reader", "GET", path.format(id=shared)).status_code == 200
    for who in ("nobody", "write", "describe", "read"):
        answer = ask(who, "GET", path.format(id=hidden))
        unknown = ask(who, "GET", path.format(id=987654))
        assert answer.status_code == 404
        assert answer.text.replace(f"Schema {hidden} ", "Schema 987654 ") == unknown.text


def test_the_subjects_of_an_id_are_filtered(ask: Client):
    shared = id_of(ask, "open.a")
    assert ask("admin", "GET", f"/schemas/ids/{shared}/subjects").json() == ["open.a", "other.b"]
    assert ask("read", "GET", f"/schemas/ids/{shared}/subjects").json() == ["open.a"]
    assert ask("reader", "GET", f"/schemas/ids/{shared}/versions").json() == [{"subject": "other.b", "version": 1}]
    hidden, unknown = (
        ask("nobody", "GET", f"/schemas/ids/{shared}/subjects"),
        ask("nobody", "GET", "/schemas/ids/987654/subjects"),
    )
    assert (hidden.status_code, hidden.text) == (unknown.status_code, unknown.text)
    assert hidden.status_code == 404


def test_the_highest_id_needs_a_right(ask: Client):
    path = f"/schemas/ids/{id_of(ask, 'open.a')}?fetchMaxId=true"
    assert ask("admin", "GET", path).json()["maxId"] >= 2
    assert "maxId" not in ask("read", "GET", path).json()


def test_a_guid_is_filtered_too(ask: Client):
    guid = ask("admin", "GET", f"/schemas/ids/{id_of(ask, 'other.a')}").json()["guid"]
    assert ask("reader", "GET", f"/schemas/guids/{guid}").status_code == 200
    hidden = ask("read", "GET", f"/schemas/guids/{guid}")
    unknown = ask("read", "GET", "/schemas/guids/00000000-0000-0000-0000-000000000000")
    assert hidden.status_code == unknown.status_code == 404
    assert hidden.text.replace(guid, "X") == unknown.text.replace("00000000-0000-0000-0000-000000000000", "X")


def test_the_target_of_an_alias_decides_and_is_not_named(ask: Client):
    assert ask("reader", "GET", "/subjects/open.alias/versions/1").json()["subject"] == "other.a"
    refused = ask("read", "GET", "/subjects/open.alias/versions/1")
    assert refused.json() == {"error_code": 40301, "message": "User is denied operation Read on Subject: open.alias"}
    named = ask("alter-configs", "PUT", "/config/open.mine", {"alias": "other.a"})
    assert named.json() == {"error_code": 40301, "message": "User is denied operation Describe on Subject: other.a"}


def test_an_alias_lists_nothing_that_is_hidden(ask: Client):
    listed = ask("read", "GET", "/schemas?aliases=true&subjectPrefix=open.").json()
    assert {found["subject"] for found in listed} == {"open.a", "open.referrer"}
    assert "other.a" in {found["subject"] for found in ask("reader", "GET", "/schemas?aliases=true").json()}


def test_tagging_a_version_of_another_context_needs_write_access_there(ask: Client):
    ask.rules.write_text(
        f"{RULES}allow User:reader ALL SUBJECT LITERAL open.only-there\nallow User:reader READ SUBJECT PREFIXED :.t:\n"
    )
    os.kill(ask.server.pid or 0, signal.SIGHUP)
    try:
        wait_for(lambda: ask("reader", "GET", "/subjects/open.only-there/versions/1").status_code == 200)
        answer = ask("reader", "POST", "/subjects/open.only-there/versions/1/tags", {"newVersion": 2})
        message = "User is denied operation Write on Subject: open.only-there"
        assert answer.json() == {"error_code": 40301, "message": message}
    finally:
        ask.rules.write_text(RULES)
        os.kill(ask.server.pid or 0, signal.SIGHUP)
    wait_for(lambda: ask("reader", "GET", "/subjects/open.only-there/versions/1").status_code == 403)


def test_another_context_is_looked_through_for_who_may_read_it(ask: Client):
    assert ask("admin", "GET", "/subjects/open.only-there/versions/1").status_code == 200
    assert ask("read", "GET", "/subjects/open.only-there/versions/1").json()["error_code"] == 40401


def test_a_hidden_reference_looks_like_a_missing_one(ask: Client):
    schema = '{"type":"record","name":"R2","fields":[{"name":"f","type":"Referred"}]}'
    for who, paths in (
        ("write", ("/subjects/open.new/versions", "/subjects/open.new")),
        ("read", ("/compatibility/subjects/open.a/versions", "/compatibility/subjects/open.a/versions/1")),
    ):
        for path in paths:
            told = [
                ask(who, "POST", path, {"schema": schema, "references": [reference]})
                for reference in (
                    {"name": "Referred", "subject": "other.referred", "version": 1},
                    {"name": "Referred", "subject": "other.gone", "version": 1},
                )
            ]
            assert {answer.json()["error_code"] for answer in told} == {42201}, path
            assert 'No schema reference found for subject "other.referred" and version 1' in told[0].json()["message"]


def test_a_resolved_text_needs_the_right_to_all_of_it(ask: Client):
    path = "/subjects/open.referrer/versions/1"
    assert ask("read", "GET", path).status_code == 200
    assert ask("read", "GET", f"{path}?format=resolved").json() == {
        "error_code": 40301,
        "message": "User is denied operation Read on Subject: open.referrer",
    }
    assert ask("everything", "GET", f"{path}?format=resolved").status_code == 200


def test_a_comparison_needs_the_right_to_both_subjects(ask: Client):
    path = "/subjects/open.a/compare?fromSubject=other.a"
    assert ask("everything", "GET", path).status_code == 200
    for method, body in (("GET", None), ("POST", {"schema": INT})):
        refused = ask("read", method, path, body)
        assert refused.json() == {
            "error_code": 40301, "message": "User is denied operation Read on Subject: other.a"
        }  # fmt: skip
    assert ask("read", "GET", "/subjects/open.a/compare").status_code == 200


def test_an_outline_of_a_text_needs_the_right_to_its_references(ask: Client):
    text = '{"type":"record","name":"R","fields":[{"name":"f","type":"Referred"}]}'
    body = {"schema": text, "references": [{"name": "Referred", "subject": "other.referred", "version": 1}]}
    assert ask("reader", "POST", "/outline", body).status_code == 200
    refused = ask("read", "POST", "/outline", body)
    missing = 'No schema reference found for subject "other.referred" and version 1'
    assert (refused.status_code, refused.json()["error_code"]) == (422, 42201)
    assert missing in refused.json()["message"]


def test_the_list_of_referrers_has_only_readable_referrers(ask: Client):
    path = "/subjects/other.referred/versions/1/referencedby"
    readable = id_of(ask, "open.referrer")
    assert ask("admin", "GET", path).json() == [readable]
    assert ask("tenant", "GET", path).json() == []


def test_holders_are_those_that_may_be_read(ask: Client):
    holders = [{"subject": "open.referrer", "version": 1, "id": id_of(ask, "open.referrer"), "deleted": False}]
    path = "/subjects/other.referred/referencedby"
    held = {"version": 1, "total": 1, "referencedBy": holders}
    assert ask("tenant", "GET", path).json() == {"versions": [], "total": 0, "cut": False}
    both = ask("admin", "GET", path).json()["versions"][0]
    assert [holder["subject"] for holder in both["referencedBy"]] == ["open.referrer", "sealed.referrer"]
    ask.rules.write_text(f"{RULES}allow User:tenant READ SUBJECT LITERAL open.referrer\n")
    os.kill(ask.server.pid or 0, signal.SIGHUP)
    try:
        wait_for(lambda: ask("tenant", "GET", path).json() == {"versions": [held], "total": 1, "cut": False})
        # Neither does the refusal of a deletion name the others.
        refused = ask("tenant", "DELETE", "/subjects/other.referred/versions/1").json()
        assert (refused["error_code"], refused["referencedBy"]) == (42206, holders)
    finally:
        ask.rules.write_text(RULES)
        os.kill(ask.server.pid or 0, signal.SIGHUP)
    wait_for(lambda: ask("tenant", "GET", path).json()["versions"] == [])


ALL_OF_SUBJECT = list(OPERATIONS["SUBJECT"])
SETTINGS = ["DESCRIBE_CONFIGS", "ALTER_CONFIGS"]


@pytest.mark.parametrize(
    ("who", "path", "subject", "some", "settings", "registry"),
    [
        ("admin", "", ALL_OF_SUBJECT, ALL_OF_SUBJECT, SETTINGS, list(OPERATIONS["REGISTRY"])),
        ("nobody", "", [], [], [], []),
        ("write", "", ["WRITE", "DESCRIBE"], ["WRITE", "DESCRIBE"], [], []),
        ("alter-configs", "", SETTINGS, SETTINGS, [], []),
        ("operator", "", [], [], [], ["DESCRIBE"]),
        ("tenant", "", [], ALL_OF_SUBJECT, [], []),
        ("denied", "", [], ALL_OF_SUBJECT, [], []),
        # The same name in a context is another subject, and a context has settings of its own.
        ("tenant", "/contexts/.t", ALL_OF_SUBJECT, ALL_OF_SUBJECT, SETTINGS, []),
        ("write", "/contexts/.t", [], ["WRITE", "DESCRIBE"], [], []),
    ],
)
def test_the_registry_lists_the_rights_of_the_sender(
    ask: Client, who: str, path: str, subject: list[str], some: list[str], settings: list[str], registry: list[str]
):
    expected = {"subjects": {"open.gone": subject}, "someSubject": some, "settings": settings, "registry": registry}
    answer = ask(who, "GET", f"{path}/rights?subject=open.gone")
    assert answer.json() == expected
    assert answer.headers["cache-control"] == "no-store"


def test_rights_on_an_alias_are_those_on_its_target_but_for_its_settings(ask: Client):
    told = ask("reader", "GET", "/rights?subject=open.alias&subject=other.a").json()["subjects"]
    readable = ["READ", "DESCRIBE"]
    assert told == {"open.alias": readable, "other.a": [*readable, "DESCRIBE_CONFIGS"]}
    assert ask("alter-configs", "GET", "/rights?subject=open.alias").json()["subjects"] == {"open.alias": SETTINGS}


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("&".join(["subject=a"] * 101), 400, "at most 100 subjects, not 101"),
        ("subject=__GLOBAL", 42208, "The specified subject '__GLOBAL' is not a valid."),
    ],
)
def test_rights_that_are_refused(ask: Client, query: str, code: int, message: str):
    assert ask("admin", "GET", f"/rights?{query}").json() == {"error_code": code, "message": message}


def test_a_conflict_is_explained_to_readers_only(ask: Client):
    ask("admin", "PUT", "/config/open.strict", {"compatibility": "FULL"})
    ask.register("admin", "open.strict", '{"type":"record","name":"Secret","fields":[{"name":"x","type":"int"}]}')
    answer = ask.register("write", "open.strict", STRING, explain=True)
    text = 'Schema being registered is incompatible with an earlier schema for subject "open.strict"'
    assert answer.json() == {"error_code": 409, "message": text}
    assert "Secret" in ask.register("everything", "open.strict", STRING).text


@pytest.mark.parametrize("more", [{"version": 9}, {"id": 900}])
def test_numbers_of_a_clients_own_need_the_right_to_settings(ask: Client, more: dict[str, int]):
    answer = ask.register("write", "open.numbered", INT, **more)
    message = "User is denied operation AlterConfigs on Subject: open.numbered"
    assert answer.json() == {"error_code": 40301, "message": message}


def test_force_needs_the_right_to_settings(ask: Client):
    answer = ask("write", "POST", "/subjects/open.a/versions?force=true", {"schema": INT})
    assert answer.json()["error_code"] == 40301


def test_settings_of_a_context_are_a_right_of_their_own(ask: Client):
    assert ask("tenant", "GET", "/contexts/.t/config?defaultToGlobal=true").status_code == 200
    assert ask("tenant", "GET", "/config/:.t:?defaultToGlobal=true").status_code == 200
    refused = ask("alter-configs", "PUT", "/contexts/.t/config", {"compatibility": "NONE"})
    assert refused.json()["message"] == "User is denied operation AlterConfigs on Subject: :.t:"
    everywhere = ask("alter-configs", "PUT", "/config/:.__GLOBAL:", {"compatibility": "NONE"})
    assert everywhere.json()["message"] == "User is denied operation AlterConfigs on Registry: schema-registry"
    assert ask("tenant", "DELETE", "/contexts/.x").json()["message"] == (
        "User is denied operation Delete on Subject: :.x:"
    )


def test_removing_modes_recursively_needs_a_right(ask: Client):
    ask("admin", "PUT", "/mode/:.t:x", {"mode": "READWRITE"})
    answer = ask("nobody", "DELETE", "/mode/:.t:?recursive=true")
    assert answer.status_code == 403


def test_an_import_takes_the_lines_that_are_allowed(ask: Client):
    lines = [
        {"kind": "schema", "subject": "other.new", "version": 1, "id": 5001, "schemaType": "AVRO", "schema": '"long"'},
        {"kind": "schema", "subject": "open.new", "version": 1, "id": 5002, "schemaType": "AVRO", "schema": '"bytes"'},
        {"kind": "config", "config": {"compatibilityLevel": "NONE"}},
        {"kind": "mode", "subject": "open.new", "mode": "READONLY"},
        {
            "kind": "schema",
            "subject": "other.new",
            "version": 2,
            "id": 5003,
            "schemaType": "AVRO",
            "schema": '{"type":"record","name":"R3","fields":[{"name":"f","type":"Referred"}]}',
            "references": [{"name": "Referred", "subject": "sealed.referrer", "version": 1}],
        },
    ]
    body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    for query in ("?lines=true&dryRun=true", "?lines=true"):
        report = ask("tenant", "POST", f"/import{query}", body).json()
        assert report["refused"] == [{"line": line, "message": "Not authorized"} for line in (2, 3, 4, 5)]
        assert report["imported"] == {"schema": 1}
    ask("admin", "DELETE", "/subjects/other.new")


def test_an_export_says_whether_it_is_whole(ask: Client):
    part = ask("read", "GET", "/export")
    assert part.headers["magicbyte-complete"] == "false"
    values = [json.loads(line) for line in part.text.splitlines()]
    assert {value["subject"].partition(".")[0] for value in values if "subject" in value} == {"open"}
    assert {value["kind"] for value in values} == {"manifest", "schema", "end"}
    assert values[0]["lacksContexts"] is True
    assert ask("admin", "GET", "/export").headers["magicbyte-complete"] == "true"


def test_events_are_filtered_one_by_one(ask: Client):
    with (
        httpx.Client(base_url=ask.server.url, auth=("read", "mbs_read"), timeout=30) as client,
        client.stream("GET", "/events", headers={"last-event-id": "-1"}) as stream,
    ):
        seen = []
        for line in stream.iter_lines():
            if line.startswith("data:"):
                seen.append(json.loads(line.removeprefix("data:")))
                if seen[-1]["subject"] == "open.referrer":
                    break
    assert {change["subject"] for change in seen} == {"open.a", "open.referrer"}
    assert {change["type"] for change in seen} == {"schema.registered"}


def test_a_remembered_answer_does_not_reach_a_client_without_the_right(ask: Client):
    path = f"/schemas/ids/{id_of(ask, 'other.a')}"
    for headers in ({}, {"x-request-id": "1"}):
        for _ in range(2):
            assert ask("admin", "GET", path, **headers).status_code == 200
            assert ask("read", "GET", path, **headers).status_code == 404
    for _ in range(2):
        for who in ("admin", "write"):
            found = ask(who, "POST", "/subjects/open.a", {"schema": INT})
            assert (who, found.status_code) == (who, 200)
        assert ask("nobody", "POST", "/subjects/open.a", {"schema": INT}).status_code == 403


def test_a_change_of_the_rules_is_in_force_with_a_warm_memory(ask: Client):
    path = "/subjects/open.a/versions/1"
    try:
        assert ask("read", "GET", path).status_code == 200
        ask.rules.write_text(RULES + "deny User:* READ SUBJECT LITERAL open.a\n")
        os.kill(ask.server.pid or 0, signal.SIGHUP)
        wait_for(lambda: ask("read", "GET", path).status_code == 403)
        # Half a file: what was in force stays.
        ask.rules.write_text(RULES + "deny User:* READ SUBJ")
        os.kill(ask.server.pid or 0, signal.SIGHUP)
        failed = 'magicbyte_security_reloads_total{outcome="failure",what="rules"}'
        wait_for(lambda: failed in ask("admin", "GET", "/metrics").text)
        assert ask("read", "GET", path).status_code == 403
    finally:
        ask.rules.write_text(RULES)
        os.kill(ask.server.pid or 0, signal.SIGHUP)
    wait_for(lambda: ask("read", "GET", path).status_code == 200)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "in vain"
        time.sleep(0.02)


def test_without_any_rule_and_super_user_nothing_starts(tmp_path: Path):
    users, rules = tmp_path / "users", tmp_path / "rules"
    users.write_text(f"a:{hash_key('s')}\n")
    users.chmod(0o600)
    rules.write_text("# none\n")
    properties = {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.acl.store": f"file:{rules}",
    }
    with pytest.raises(ServerFailed) as raised, running_registry(properties=properties):
        pass
    assert f"{rules} has no rule, and super.users is empty: nobody could do anything" in "".join(
        raised.value.last_lines
    )


def test_no_header_tells_how_much_is_written_to_hidden_subjects(ask: Client) -> None:
    written = ask.register("tenant", "other.tokens", INT)
    assert written.status_code == 200
    token = written.headers["x-magicbyte-offset"]
    assert re.fullmatch(r"~[0-9a-f]{48}:[0-9]{16}", token)
    read = {"x-magicbyte-offset": token}
    assert ask("tenant", "GET", "/subjects/other.tokens/versions", **read).json() == [1]
    for who in ("tenant", "admin"):
        etag = ask(who, "GET", "/overview").headers["etag"]
        assert re.fullmatch(r'W/"[0-9a-f]{32}"', etag)
        assert ask(who, "GET", "/overview", **{"if-none-match": etag}).status_code == 304
    assert ask("tenant", "DELETE", "/subjects/other.tokens").status_code == 200


def events_after(ask: Client, who: str, last_event_id: str, until: str) -> list[dict[str, Any]]:
    """The events from a place on, up to the first with a text; each with its id as `cursor`."""
    with (
        httpx.Client(base_url=ask.server.url, auth=(who, f"mbs_{who}"), timeout=30) as client,
        client.stream("GET", "/events", headers={"last-event-id": last_event_id}) as stream,
    ):
        assert stream.status_code == 200, stream.read()
        events: list[dict[str, Any]] = []
        identity = kind = ""
        end = time.monotonic() + 30
        for line in stream.iter_lines():
            assert time.monotonic() < end, f"in vain: {events}"
            if line.startswith("id:"):
                identity = line.removeprefix("id: ")
            elif line.startswith("event:"):
                kind = line.removeprefix("event: ")
            elif line.startswith("data:"):
                events.append({"type": kind, **json.loads(line.removeprefix("data:")), "cursor": identity})
                if until in line:
                    break
    return events


def test_the_log_offset_needs_the_right_to_describe_the_registry(ask: Client) -> None:
    offset = ask("operator", "GET", "/health/ready").json()["offset"]
    for who in ("admin", "everything"):
        assert ask(who, "GET", "/overview").json()["offset"] == offset
    told = ask("tenant", "GET", "/overview?head=1").text.splitlines()
    cursors = {json.loads(line)["offset"] for line in told}
    assert len(cursors) == 1
    assert re.fullmatch("~[0-9a-f]{48}", cursors.pop())
    for event in events_after(ask, "admin", "-1", "other.a"):
        assert event["cursor"] == str(event["offset"])
    for event in events_after(ask, "tenant", "-1", "other.a"):
        assert re.fullmatch("~[0-9a-f]{48}", event["cursor"])
        assert event["cursor"] == event["offset"]


@pytest.mark.parametrize("count", [1, 3])
def test_writes_to_hidden_subjects_change_no_visible_answer(ask: Client, count: int) -> None:
    path = "/overview?subjectPrefix=other."
    before = ask("tenant", "GET", path)
    for number in range(count):
        ask("admin", "PUT", "/config/sealed.written", {"compatibility": ["NONE", "FULL"][number % 2]})
    after = ask("tenant", "GET", path)
    assert (after.json(), after.headers["etag"]) == (before.json(), before.headers["etag"])
    assert ask("tenant", "GET", path, **{"if-none-match": before.headers["etag"]}).status_code == 304
    assert ask("admin", "GET", path).json()["offset"] > 0
    # A change that one sees moves on, and the feed goes on from the former place.
    assert ask("tenant", "PUT", "/config/other.b", {"compatibility": "BACKWARD"}).status_code == 200
    moved = ask("tenant", "GET", path)
    assert moved.json()["offset"] != before.json()["offset"]
    assert moved.headers["etag"] != before.headers["etag"]
    events = events_after(ask, "tenant", before.json()["offset"], "BACKWARD")
    assert [(event["type"], event["subject"]) for event in events] == [("config.updated", "other.b")]
    assert ask("tenant", "PUT", "/config/other.b", {"compatibility": "NONE"}).status_code == 200
    again = events_after(ask, "tenant", events[-1]["cursor"], '"NONE"')
    assert [(event["type"], event["config"]["compatibilityLevel"]) for event in again] == [("config.updated", "NONE")]
    assert again[-1]["cursor"] != events[-1]["cursor"]


def test_the_end_of_the_log_is_not_found_by_following_from_numbers(ask: Client) -> None:
    offset = ask("operator", "GET", "/health/ready").json()["offset"]
    for guess in ("0", str(offset), str(offset + 1), str(offset + 1000), "~" + "0" * 48):
        events = events_after(ask, "tenant", guess, "reason")
        assert [(event["type"], event["reason"]) for event in events] == [
            ("reset", "the id of the last event is not known here")
        ]
        assert re.fullmatch("~[0-9a-f]{48}", events[0]["cursor"])
    refused = ask("tenant", "GET", "/events", **{"last-event-id": "x"})
    assert (refused.status_code, refused.json()["message"]) == (
        400,
        "Last-Event-ID must be an offset or the id of an event, not 'x'",
    )
