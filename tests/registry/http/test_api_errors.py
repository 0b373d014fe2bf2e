"""Rows of the error table and of the parameter table that the other tests do not come by."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
from starlette.testclient import TestClient

from registry.app import create_app
from registry.cluster.commit.committer import Command
from registry.cluster.commit.outcome import Outcome
from registry.cluster.node import SharedLogNode
from registry.http.answers import V1
from registry.log.memory import MemoryLog
from registry.log.port import LogError, NotLeader, Offset, Record
from registry.settings import RegistrySettings

T = TypeVar("T")

ENUM = '{"type":"enum","name":"E","symbols":["A"]}'


def error(code: int, message: str) -> dict[str, Any]:
    return {"error_code": code, "message": message}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/associations/subjects/s"),
        ("POST", "/associations"),
        ("POST", "/associations:batchGet"),
        ("DELETE", "/associations/resources/x"),
        ("GET", "/exporters"),
        ("GET", "/dek-registry/v1/keks"),
        ("GET", "/subjects//versions"),
        ("GET", "/subjects?limit=x"),
        ("GET", "/schemas/ids/1.5"),
    ],
)
def test_an_unknown_route_gets_a_json_answer(api: Any, method: str, path: str) -> None:
    answered = api(method, path)
    assert (answered.status_code, answered.json()) == (404, error(404, "HTTP 404 Not Found"))


@pytest.mark.parametrize("path", ["/subjects/", "/config/", "/contexts/.c/subjects/"])
def test_a_slash_at_the_end_means_nothing(api: Any, path: str) -> None:
    answered = api.client.get(path, follow_redirects=False)
    assert (answered.status_code, answered.json()) == (200, api("GET", path.rstrip("/")).json())


WRITES = [
    (
        "POST",
        "/subjects/s/versions",
        {"schema": '"int"'},
        "Register schema operation failed while writing to the store",
    ),
    ("DELETE", "/subjects/old", None, "Delete subject operation failed while writing to the store"),
    ("DELETE", "/subjects/old/versions/1", None, "Delete Schema Version operation failed while writing to the store"),
    ("PUT", "/config", {"compatibility": "FULL"}, "Failed to update compatibility level"),
    ("DELETE", "/config/old", None, "Failed to delete compatibility level"),
    ("PUT", "/mode", {"mode": "READONLY"}, "Failed to update mode"),
    ("DELETE", "/mode/old", None, "Failed to delete mode"),
]


@pytest.mark.parametrize(("method", "path", "body", "message"), WRITES)
def test_a_store_that_fails(
    api: Any, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any, message: str
) -> None:
    api.register("old", ENUM)
    api("PUT", "/config/old", {"compatibility": "NONE"})
    api("PUT", "/mode/old", {"mode": "READWRITE"})

    def fail(_records: list[Record], _after: Offset, _epoch: int) -> Offset:
        raise LogError("the disk is full")

    monkeypatch.setattr(api.log, "append", fail)
    answered = api(method, path, body)
    assert (answered.status_code, answered.json()) == (500, error(50001, message))


TIMED_OUT = [
    ("POST", "/subjects/s/versions", {"schema": '"int"'}, "Register operation timed out"),
    ("DELETE", "/subjects/old", None, "Delete subject operation timed out"),
    ("DELETE", "/subjects/old/versions/1", None, "Delete Schema Version operation timed out"),
    ("PUT", "/mode", {"mode": "READONLY"}, "Update mode operation timed out"),
]


@pytest.mark.parametrize(("method", "path", "body", "message"), TIMED_OUT)
def test_a_store_that_is_slow(
    make_api: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any, message: str
) -> None:
    api = make_api(**{"kafkastore.timeout.ms": "300"})
    api.register("old", ENUM)
    append, has_answered = api.log.append, threading.Event()

    def slow(records: list[Record], after: Offset, _epoch: int) -> Offset:
        has_answered.wait(60)
        return append(records, after)

    monkeypatch.setattr(api.log, "append", slow)
    answered = api(method, path, body)
    has_answered.set()
    assert (answered.status_code, answered.json()) == (500, error(50002, message))


class Follower(SharedLogNode):
    """A node that may not write, and whose leader is whoever the test says."""

    leader: str | None = None

    def submit(self, command: Command[T], client: str = "") -> Outcome[T]:  # noqa: ARG002  no client waits here
        refused: Outcome[T] = Outcome()
        refused.set_error(NotLeader(f"{command} is for the leader"))
        return refused

    def leader_url(self) -> str | None:
        return self.leader


@pytest.fixture
def follower(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[TestClient, Follower]]:
    for module in ("registry.service", "registry.http.forward"):
        monkeypatch.setattr(f"{module}._LEADER_SECONDS", 0.02)
    node = Follower(MemoryLog(), "http://127.0.0.1:8081")
    node.start()
    with TestClient(create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"}), node)) as client:
        yield client, node


#: A write, the error if no node leads, and the error if the request could not be forwarded.
LEADERLESS = [
    ("POST", "/subjects/s/versions", {"schema": '"int"'}, "Leader not known.", "register schema"),
    ("DELETE", "/subjects/s", None, "Leader not known.", "delete subject"),
    ("DELETE", "/subjects/s/versions/1", None, "Leader not known.", "delete schema version"),
    ("PUT", "/config/s", {"compatibility": "FULL"}, "Failed to update compatibility level", "update config"),
    ("DELETE", "/config/s", None, "Failed to delete compatibility level", "delete config"),
    ("PUT", "/mode", {"mode": "READONLY"}, "Failed to update mode", "update mode"),
    ("DELETE", "/mode/s", None, "Failed to delete mode", "delete mode"),
]


@pytest.mark.parametrize(("method", "path", "body", "unknown", "operation"), LEADERLESS)
def test_an_unknown_or_unreachable_leader(
    follower: tuple[TestClient, Follower], method: str, path: str, body: Any, unknown: str, operation: str
) -> None:
    client, node = follower
    answered = client.request(method, path, json=body)
    assert (answered.status_code, answered.json()) == (500, error(50004, unknown))
    node.leader = "http://127.0.0.1:1"
    answered = client.request(method, path, json=body)
    message = f"Error while forwarding {operation} request to the leader"
    assert (answered.status_code, answered.json()) == (500, error(50003, message))


def test_validate_fields_refuses_reserved_names(api: Any) -> None:
    text = '{"type":"object","properties":{"$$id":{"type":"string"}}}'
    assert api.register("free", text, schemaType="JSON").status_code == 200
    api("PUT", "/config/s", {"validateFields": True})
    answered = api.register("s", text, schemaType="JSON")
    assert answered.status_code == 422
    assert answered.json()["message"] == (
        "Invalid schema {subject=s,version=0,id=-1,schemaType=JSON}, "
        "details: Field names cannot start with $$ prefix: '$$id'"
    )


def test_validate_fields_keeps_reserved_fields_reserved(api: Any) -> None:
    api("PUT", "/config/s", {"validateFields": True})
    record = '{"type":"record","name":"R","fields":[{"name":"%s","type":"int","default":0}]}'
    reserved = {"metadata": {"properties": {"confluent:reserved": "b,c"}}}
    assert api.register("s", record % "a", **reserved).status_code == 200
    answered = api.register("s", record % "b", metadata={"properties": {"confluent:reserved": "b"}})
    assert answered.json() == error(
        409,
        'Schema being registered is incompatible with an earlier schema for subject "s", details: '
        "[The new schema has reserved field c removed from its metadata which is present in the old "
        "schema's metadata., "
        "The new schema has field that conflicts with the reserved field b., "
        "{validateFields: 'true', compatibility: 'BACKWARD'}]",
    )


@pytest.mark.parametrize(("policy", "status"), [(None, 409), ("STRICT", 409), ("LENIENT", 200)])
def test_a_policy_judges_json_schemas(api: Any, policy: str | None, status: int) -> None:
    api("PUT", "/config/s", {"compatibilityPolicy": policy})
    api.register("s", '{"type":"object","properties":{"a":{"type":"string"}}}', schemaType="JSON")
    wider = '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}'
    assert api.register("s", wider, schemaType="JSON").status_code == status


def test_the_reasons_are_explained_on_demand(api: Any) -> None:
    api.register("s", '{"type":"object","properties":{"a":{"type":"string"}}}', schemaType="JSON")
    narrower = '{"type":"object","properties":{"a":{"type":"integer"}}}'
    assert list(api.register("s", narrower, schemaType="JSON").json()) == ["error_code", "message"]
    explained = api.register("s", narrower, "?explain=true", schemaType="JSON").json()["explanations"]
    assert [(explanation["rule"], explanation["path"]) for explanation in explained] == [
        ("TYPE_CHANGED", "#/properties/a")
    ]
    assert explained[0]["example"] == '{"a":"a"}'
    verdict = api(
        "POST", "/compatibility/subjects/s/versions?explain=true", {"schema": narrower, "schemaType": "JSON"}
    ).json()
    assert verdict["explanations"] == explained


def test_a_schema_that_is_there_is_answered_in_any_mode(api: Any) -> None:
    first = api.register("s", ENUM).json()
    api("PUT", "/mode/s", {"mode": "READONLY"})
    assert api.register("s", ENUM.replace(",", ", ")).json() == first
    assert api.register("s", ENUM, id=1, version=1).json() == first
    assert api.register("s", ENUM, id=7).json()["error_code"] == 42205


def test_the_read_only_override_overrides_subjects(api: Any) -> None:
    api("PUT", "/mode/s", {"mode": "READWRITE"})
    api("PUT", "/mode", {"mode": "READONLY_OVERRIDE"})
    assert api.register("s", ENUM).json() == error(42205, "Subject s in context  is in read-only mode")


def test_modes_that_may_not_change(make_api: Callable[..., Any]) -> None:
    api = make_api(mode_mutability="false")
    assert api("PUT", "/mode", {"mode": "READONLY"}).json() == error(42205, "Mode changes are not allowed")


def test_deleting_modes_of_a_context_recursively_includes_its_subjects(api: Any) -> None:
    api.register(":.c:s", ENUM)
    for subject in (":.c:s", ":.c:without-schemas", ":.d:s", "s"):
        api("PUT", f"/mode/{subject}", {"mode": "READONLY"})
    assert api("DELETE", "/mode/:.c:?recursive=true").json() == {}
    for subject in (":.c:s", ":.c:without-schemas"):
        assert api("GET", f"/mode/{subject}").json()["error_code"] == 40409
    for subject in (":.d:s", "s"):
        assert api("GET", f"/mode/{subject}").json() == {"mode": "READONLY"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["a", "b", "c"]),
        ("?offset=1", ["b", "c"]),
        ("?limit=2", ["a", "b"]),
        ("?offset=2&limit=2", ["c"]),
        ("?limit=0", ["a", "b", "c"]),
        ("?limit=-1", ["a", "b", "c"]),
        ("?offset=-3", ["a", "b", "c"]),
        ("?subjectPrefix=b", ["b"]),
        ("?deletedOnly=true&deleted=true", ["d"]),
        ("?deleted=true", ["a", "b", "c", "d"]),
        ("?deleted=nonsense", ["a", "b", "c"]),
    ],
)
def test_subjects_are_listed_in_pages(api: Any, query: str, expected: list[str]) -> None:
    for subject in "dcba":
        api.register(subject, ENUM)
    api("DELETE", "/subjects/d")
    assert api("GET", f"/subjects{query}").json() == expected


def test_a_limit_beyond_the_most_is_the_default(make_api: Callable[..., Any]) -> None:
    api = make_api(schema_search_default_limit="1", schema_search_max_limit="2")
    for subject in "abc":
        api.register(subject, ENUM)
    lengths = [len(api("GET", f"/schemas?limit={limit}").json()) for limit in (1, 2, 3)]
    assert lengths == [1, 2, 1]


def test_schemas_are_listed_with_aliases_by_rules_and_the_latest_alone(api: Any) -> None:
    rules = {"domainRules": [{"name": "r", "type": "CEL", "kind": "CONDITION", "mode": "WRITE", "expr": "true"}]}
    api.register("a", '"int"')
    api.register("a", '"long"', ruleSet=rules)
    api.register(":.c:b", '"int"')
    api("PUT", "/config/short", {"alias": "a"})

    def listed(query: str) -> list[tuple[str, int]]:
        return [(version["subject"], version["version"]) for version in api("GET", f"/schemas{query}").json()]

    assert listed("") == [("a", 1), ("a", 2)]
    assert listed("?latestOnly=true") == [("a", 2)]
    assert listed("?ruleType=CEL") == [("a", 2)]
    assert listed("?subjectPrefix=:*:") == [(":.c:b", 1), ("a", 1), ("a", 2)]
    assert api("GET", "/schemas?aliases=true").json()[0]["aliases"] == ["short"]


def test_schemas_are_listed_by_the_prefix_of_an_alias(api: Any) -> None:
    api.register("a", '"int"')
    api.register("a", '"long"')
    api.register("other", '"int"')
    api.register(":.c:b", '"int"')
    for alias, subject in (("short", "a"), ("short-too", "a"), (":.c:short", "b"), ("nowhere", "gone")):
        api("PUT", f"/config/{alias}", {"alias": subject})

    def listed(prefix: str, query: str = "&aliases=true") -> list[tuple[str, int, list[str]]]:
        answered = api("GET", f"/schemas?subjectPrefix={prefix}{query}").json()
        return [(version["subject"], version["version"], version.get("aliases", [])) for version in answered]

    aliases = ["short", "short-too"]
    assert listed("short") == [("a", 1, aliases), ("a", 2, aliases)]
    assert listed("short", "&aliases=true&latestOnly=true") == [("a", 2, aliases)]
    assert listed("short", "") == listed("short", "&aliases=false") == []
    assert listed("a") == [("a", 1, aliases), ("a", 2, aliases)]
    assert listed(":.c:sh") == [(":.c:b", 1, [":.c:short"])]
    assert listed("nowhere") == []
    assert [row[0] for row in listed("")] == ["a", "a", "other"]


def test_the_newest_version_with_metadata(api: Any) -> None:
    for number, text in enumerate(('"int"', '"long"', '"float"'), 1):
        api.register("s", text, metadata={"properties": {"app": "x", "n": str(number // 2)}})
    assert api("GET", "/subjects/s/metadata?key=app&value=x").json()["version"] == 3
    assert api("GET", "/subjects/s/metadata?key=app&value=x&key=n&value=0").json()["version"] == 1
    assert api("GET", "/subjects/s/metadata?key=app&value=y").json() == error(40403, "Schema not found")
    assert api("GET", "/subjects/t/metadata?key=app&value=x").json() == error(40401, "Subject 't' not found.")


def test_a_version_and_a_schema_of_an_unqualified_subject_are_looked_for_in_other_contexts(api: Any) -> None:
    api.register(":.c:s", ENUM)
    assert api("GET", "/subjects/s/versions/latest").json()["subject"] == ":.c:s"
    assert api("POST", "/subjects/s", {"schema": ENUM}).json()["subject"] == ":.c:s"
    assert api("GET", "/schemas/ids/1?subject=s").json()["subject"] == ":.c:s"
    assert api("POST", "/subjects/s/versions/1/tags", {}).json()["version"] == 2
    assert api("GET", "/subjects/s/versions").status_code == 404
    assert api("DELETE", "/subjects/s").status_code == 404


def test_forms_of_the_text(api: Any) -> None:
    text = 'syntax = "proto3";\n\nmessage M {\n  string f = 1;\n}\n'
    api.register("p", text, schemaType="PROTOBUF")
    base64 = api("GET", "/schemas/ids/1?format=serialized").json()["schema"]
    assert base64 == "CgdkZWZhdWx0Ig4KAU0SCQoBZhgBIAEoCWIGcHJvdG8z"
    assert api("GET", "/schemas/ids/1/schema?format=SERIALIZED").text == base64
    assert api("GET", "/subjects/p/versions/1?format=nonsense").json()["schema"] == text
    looked_up = api("POST", "/subjects/p?format=serialized", {"schema": text, "schemaType": "PROTOBUF"})
    assert looked_up.json()["schema"] == base64
    registered = api.register("p", text, "?format=serialized", schemaType="PROTOBUF").json()
    assert registered["schema"] == base64


def test_normalising_by_parameter_and_by_config(api: Any) -> None:
    text = '{"type":"record","name":"R","namespace":"n","doc":"","fields":[{"name":"a","type":"int"}]}'
    normal = '{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":"int"}]}'
    assert api.register("s", text, "?normalize=true").json()["schema"] == normal
    assert api("POST", "/subjects/s", {"schema": text}).status_code == 404
    assert api("POST", "/subjects/s?normalize=true", {"schema": text}).json()["version"] == 1
    api("PUT", "/config/s", {"normalize": True})
    assert api("POST", "/subjects/s", {"schema": text}).json()["version"] == 1


def test_verbose_answers_report_an_invalid_schema(api: Any) -> None:
    api.register("s", ENUM)
    path = "/compatibility/subjects/s/versions/latest"
    assert api("POST", path, {"schema": "{"}).json()["error_code"] == 42201
    verdict = api("POST", f"{path}?verbose=true", {"schema": "{"}).json()
    assert verdict["is_compatible"] is False
    assert verdict["messages"][0].startswith("Invalid schema of type AVRO, details: ")


def test_the_api_page_names_no_other_server(api: Any) -> None:
    answered = api("GET", "/docs")
    assert (answered.status_code, answered.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "http" not in answered.text.lower().replace("doctype html", "").replace("html", "")


def test_health_by_other_names(api: Any) -> None:
    assert api("GET", "/health/startup").json() == {"status": "UP"}
    assert api("GET", "/_health").json()["healthy"] is True
    assert api("GET", "/master_available").json() == {"master_available": True}


def test_an_import_cannot_change_the_id_of_a_version(api: Any) -> None:
    api("PUT", "/mode", {"mode": "IMPORT"})
    assert api.register("s", ENUM, id=5, version=1).status_code == 200
    answered = api.register("s", ENUM, id=6, version=1)
    assert answered.status_code == 422
    assert answered.json() == error(42207, "The id 6 does not match the id 5 of the existing schema")


def test_an_import_writes_over_a_live_version(api: Any, caplog: pytest.LogCaptureFixture) -> None:
    api("PUT", "/mode", {"mode": "IMPORT"})
    api.register("s", ENUM, id=5, version=1)
    api.register("s", '"long"', id=6, version=2)
    api.register("other", '"long"', id=6, version=1)
    answered = api.register("s", '"int"', id=7, version=1)
    assert (answered.status_code, answered.json()["id"], answered.json()["version"]) == (200, 7, 1)
    assert api("GET", "/subjects/s/versions/1").json()["schema"] == '"int"'
    assert api("GET", "/subjects/s/versions").json() == [1, 2]
    assert api("GET", "/schemas/ids/5").json() == error(40403, "Schema 5 not found")
    assert api("GET", "/schemas/ids/7/versions").json() == [{"subject": "s", "version": 1}]
    assert "version 1 of s was written over: no schema has id 5 any more" in caplog.text
    # id 6 is still that of another subject
    assert api.register("s", '"bytes"', id=8, version=2).status_code == 200
    assert api("GET", "/schemas/ids/6/schema").text == '"long"'
    assert "id 6" not in caplog.text
    # an id never stands for two schemas, and is never given again
    message = "Overwrite new schema with id 7 in context  is not permitted."
    assert api.register("s", '"double"', id=7, version=1).json() == error(42205, message)
    api("PUT", "/mode", {"mode": "READWRITE"})
    assert api.register("new", '"float"').json()["id"] == 9


def test_a_setting_refuses_imports_over_live_versions(make_api: Callable[..., Any]) -> None:
    api = make_api(magicbyte_import_overwrite="false")
    api("PUT", "/mode", {"mode": "IMPORT"})
    api.register("s", ENUM, id=5, version=1)
    answered = api.register("s", '"int"', id=7, version=1)
    assert answered.status_code == 422
    assert answered.json() == error(
        42205, "Overwriting version 1 of subject s is not permitted (magicbyte.import.overwrite=false)."
    )
    assert api("GET", "/schemas/ids/5/schema").text == ENUM


def test_one_text_of_two_types_is_two_schemas(api: Any) -> None:
    text = '{"type":"string","logicalType":"uuid"}'
    assert api.register("avro", text).json()["id"] == 1
    assert api.register("json", text, schemaType="JSON").json()["id"] == 2
    assert api("GET", "/subjects/json/versions/1").json()["schemaType"] == "JSON"
    assert api.register("more-avro", text).json()["id"] == 1
    assert api.register("more-json", text, schemaType="JSON").json()["id"] == 2
    assert api("POST", "/subjects/avro", {"schema": text, "schemaType": "JSON"}).json()["error_code"] == 40403
    assert "different schema type" in api.register("avro", text, schemaType="JSON").json()["message"]


def test_a_type_that_is_none_is_not_looked_up(api: Any) -> None:
    api.register("s", ENUM)
    answered = api("POST", "/subjects/s", {"schema": ENUM, "schemaType": "NOPE"})
    assert answered.json() == error(42201, "Invalid schema type NOPE")


def test_a_client_that_disconnects_within_its_body_logs_no_error(api: Any, caplog: pytest.LogCaptureFixture) -> None:
    messages = [{"type": "http.request", "body": b'{"schema":', "more_body": True}, {"type": "http.disconnect"}]
    path = "/subjects/s/versions"
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    with caplog.at_level("INFO"):
        asyncio.run(api.client.app(scope, receive, send))
    assert [record.levelname for record in caplog.records if record.exc_info] == []
    assert "the client disconnected before it was answered" in caplog.text


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/health/startup", "/_health", "/master_available"])
@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("text/plain", V1),
        ("text/html, image/*", V1),
        ("application/json", "application/json"),
        ("text/plain, application/json;q=0.1", "application/json"),
    ],
)
def test_a_probe_may_send_any_accept(api: Any, path: str, accept: str, media_type: str) -> None:
    answer = api("GET", path, headers={"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)


@pytest.mark.parametrize(("accept", "status"), [("*/x", 200), ("*", 200), ("*/*;q=0", 406), ("*/x;q=0", 406)])
def test_a_wildcard_type_is_any_type(api: Any, accept: str, status: int) -> None:
    assert api("GET", "/subjects", headers={"Accept": accept}).status_code == status
