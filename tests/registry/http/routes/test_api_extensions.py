"""Routes that the reference does not have: search, the change feed, webhooks, export and import."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest

from magicbyte.testing.servers import running_registry
from tests.http.serving import serving

ORDER = (
    '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"},'
    '{"name":"buyer","type":{"type":"record","name":"Buyer","fields":'
    '[{"name":"email","type":"string","confluent:tags":["PII"]}]}}]}'
)
INVOICE = '{"type":"object","title":"Invoice","properties":{"email":{"type":"string"},"total":{"type":"number"}}}'
PARCEL = 'syntax = "proto3";\npackage shop;\n\nmessage Parcel {\n  string buyer_email = 1;\n}\n'


@pytest.fixture
def shop(api: Any) -> Any:
    api.register("orders-value", ORDER, metadata={"properties": {"owner": "sales"}})
    api.register(
        ":.eu:invoices-value",
        INVOICE,
        schemaType="JSON",
        metadata={"properties": {"owner": "finance"}, "tags": {"object.total": ["MONEY"]}},
    )
    api.register("parcels-value", PARCEL, schemaType="PROTOBUF")
    api.register("old", '"int"')
    api("DELETE", "/subjects/old")
    return api


SEARCHES = [
    ("", [":.eu:invoices-value", "orders-value", "parcels-value"]),
    ("?deleted=true", [":.eu:invoices-value", "old", "orders-value", "parcels-value"]),
    ("?name=ORDERS", ["orders-value"]),
    ("?name=shop.order", ["orders-value"]),
    ("?name=invoice", [":.eu:invoices-value"]),
    ("?field=email", [":.eu:invoices-value", "orders-value", "parcels-value"]),
    ("?field=email&type=avro", ["orders-value"]),
    ("?field=namespace", []),
    ("?property=owner", [":.eu:invoices-value", "orders-value"]),
    ("?property=owner=sales", ["orders-value"]),
    ("?tag=PII", ["orders-value"]),
    ("?tag=MONEY", [":.eu:invoices-value"]),
    ("?tag=PII&field=id", []),
    ("?subjectPrefix=o", ["orders-value"]),
    ("?offset=1&limit=1", ["orders-value"]),
]


@pytest.mark.parametrize(("query", "expected"), SEARCHES)
def test_the_search_finds_schemas(shop: Any, query: str, expected: list[str]) -> None:
    answered = shop("GET", f"/search{query}")
    assert answered.status_code == 200
    assert [hit["subject"] for hit in answered.json()] == expected


def test_a_hit_names_the_schema_and_the_fields(shop: Any) -> None:
    assert shop("GET", "/search?field=email&type=AVRO").json() == [
        {
            "subject": "orders-value",
            "version": 1,
            "id": 1,
            "schemaType": "AVRO",
            "deleted": False,
            "name": "shop.Order",
            "fields": ["shop.Buyer.email"],
        }
    ]
    assert shop("GET", "/search?type=XML").json()["error_code"] == 42201
    assert [hit["subject"] for hit in shop("GET", "/contexts/eu/search").json()] == [":.eu:invoices-value"]


def test_an_export_is_imported_as_it_was(shop: Any, make_api: Callable[..., Any]) -> None:
    shop.register("z-base", '{"type":"enum","name":"E","symbols":["A"]}')
    shop.register(
        "a-user",
        '{"type":"record","name":"U","fields":[{"name":"e","type":"E"}]}',
        references=[{"name": "E", "subject": "z-base", "version": 1}],
    )
    shop("PUT", "/config/orders-value", {"compatibility": "FULL"})
    shop("PUT", "/config", {"compatibility": "NONE"})
    shop("PUT", "/mode/orders-value", {"mode": "READONLY"})
    exported = shop("GET", "/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in exported.content.splitlines()]
    assert [line["kind"] for line in lines] == [
        "manifest",
        *["context"] * 2,
        *["schema"] * 6,
        "config",
        "mode",
        "config",
        "end",
    ]
    body = exported.content.splitlines(keepends=True)
    assert lines[-1] == {"kind": "end", "lines": 12, "sha256": hashlib.sha256(b"".join(body[:-1])).hexdigest()}

    other = make_api()
    headers = {"Content-Type": "application/x-ndjson"}
    tried = other.client.post("/import?dryRun=true", content=exported.content, headers=headers)
    assert tried.json() == {
        "imported": {"context": 2, "schema": 6, "config": 2, "mode": 1},
        "known": 0,
        "refused": [],
    }
    assert other("GET", "/subjects?deleted=true").json() == []
    assert other.client.post("/import", content=exported.content, headers=headers).json() == tried.json()
    again = other.client.post("/import", content=exported.content, headers=headers)
    assert again.json() == {"imported": {}, "known": 11, "refused": []}

    def without_times(api: Any, path: str) -> Any:
        return [{**entry, "ts": 0} for entry in api("GET", path).json()]

    everything = "/schemas?subjectPrefix=:*:&deleted=true"
    assert without_times(other, everything) == without_times(shop, everything)
    for path in ("/config", "/config/orders-value", "/mode/orders-value", "/contexts", "/subjects/z-base/versions"):
        assert other("GET", path).json() == shop("GET", path).json()
    assert other("GET", "/subjects/z-base/versions/1/referencedby").json() == [5]
    assert other.register("new", '"bytes"').json()["id"] == 6


IMPORTED = [
    ({"subject": "s", "version": 1, "id": 9, "schema": '{"type": "int"}'}, None),
    ({"kind": "nonsense"}, "unknown kind 'nonsense'"),
    ({"subject": "s", "version": 0, "id": 9, "schema": '"int"'}, "a schema needs a version from 1"),
    ({"subject": "s", "version": 1, "schema": '"int"'}, "a schema needs an id"),
    ({"version": 1, "id": 9, "schema": '"int"'}, "a schema needs a subject"),
    ({"subject": "s", "version": 1, "id": 9}, "a SCHEMA value needs an id and a schema"),
    ({"subject": "s", "version": 1, "id": 9, "schema": "{"}, "Invalid schema of type AVRO, details: "),
    ({"subject": "s", "version": 1, "id": 9, "schema": "", "schemaType": "XML"}, "Invalid schema type XML"),
    (
        {"subject": "s", "version": 2, "id": 1, "schema": '"int"'},
        "Overwrite new schema with id 1 in context  is not permitted.",
    ),
    (
        {"subject": "held", "version": 1, "id": 8, "schema": '"int"'},
        "Overwrite new schema with id 1 in context  is not permitted.",
    ),
    ({"subject": "s", "version": 1, "id": 9, "schema": '"int"', "guid": "x"}, "the schema is not what its guid x"),
    (
        {"subject": "a\u0000b", "version": 1, "id": 9, "schema": '"int"'},
        "The specified subject 'a\u0000b' is not a valid.",
    ),
    ({"subject": ":.__GLOBAL:s", "version": 1, "id": 9, "schema": '"int"'}, "The specified subject ':.__GLOBAL:s'"),
    (
        {"subject": "s", "version": 1, "id": 9, "schema": '"int"', "ruleSet": {"domainRules": [{"name": "r"}]}},
        "Missing rule type",
    ),
    ({"kind": "config", "subject": "__EMPTY", "config": {}}, "The specified subject '__EMPTY' is not a valid."),
    ({"kind": "mode", "mode": "ASLEEP"}, "Invalid mode. "),
    ({"kind": "config", "config": 7}, "a config needs an object `config`"),
]


@pytest.mark.parametrize(("line", "refusal"), IMPORTED)
def test_a_line_that_is_refused_does_not_hold_up_the_others(api: Any, line: Any, refusal: str | None) -> None:
    api.register("held", '"string"')
    good = {"subject": "good", "version": 4, "id": 77, "schema": '"long"'}
    report = api.client.post("/import?lines=true", content=f"{json.dumps(line)}\n\n{json.dumps(good)}\n").json()
    assert report["imported"]["schema"] == (2 if refusal is None else 1)
    assert [fault["line"] for fault in report["refused"]] == ([] if refusal is None else [1])
    if refusal is not None:
        assert report["refused"][0]["message"].startswith(refusal)
    assert api("GET", "/subjects/good/versions/4").json()["id"] == 77


@pytest.mark.parametrize(("body", "message"), [(b"{}\n{", "line 2 is not JSON: "), (b"[]", "line 1 is not an object")])
def test_an_import_that_is_no_lines_of_json(api: Any, body: bytes, message: str) -> None:
    answered = api.client.post("/import?lines=true", content=body)
    assert (answered.status_code, answered.json()["error_code"]) == (400, 400)
    assert answered.json()["message"].startswith(message)


@pytest.fixture(scope="module")
def posted() -> Iterator[tuple[str, list[tuple[dict[str, Any], bytes, str]]]]:
    """A receiver of webhooks that refuses the first post, and what it was sent."""
    seen: list[tuple[dict[str, Any], bytes, str]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((json.loads(body), body, self.headers["X-Magicbyte-Signature"]))
            self.send_response(500 if len(seen) == 1 else 204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with serving(HTTPServer(("127.0.0.1", 0), Receiver)) as url:
        yield f"{url}/hook", seen


@pytest.fixture(scope="module")
def running(posted: Any) -> Iterator[httpx.Client]:
    properties = {"magicbyte.webhook.urls": posted[0], "magicbyte.webhook.secret": "s3cret"}
    with running_registry("memory:", properties=properties) as server, httpx.Client(base_url=server.url) as client:
        yield client


def events(response: httpx.Response) -> Iterator[tuple[str, str, dict[str, Any]]]:
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield fields["id"], fields["event"], json.loads(fields["data"])
            fields = {}


def test_changes_are_followed_and_posted(running: httpx.Client, posted: Any) -> None:
    versions = "/subjects/s/versions"
    with running.stream("GET", "/events") as following:
        assert following.headers["content-type"].startswith("text/event-stream")
        lines = following.iter_lines()
        assert next(lines) == ": following"
        running.post(versions, json={"schema": '"int"'})
        running.put("/config/s", json={"compatibility": "FULL"})
        running.put("/mode/s", json={"mode": "READWRITE"})
        running.delete("/subjects/s")
        running.delete("/subjects/s?permanent=true")
        first = [next(lines) for _ in range(5)]
    assert first[1:3] == ["id: 0", "event: schema.registered"]
    with running.stream("GET", "/events", headers={"Last-Event-ID": "-1"}) as following:
        found = events(following)
        seen = [next(found) for _ in range(7)]
    offsets = [int(offset) for offset, _, _ in seen]
    assert [kind for _, kind, _ in seen] == [
        "schema.registered",
        "config.updated",
        "mode.updated",
        "subject.deleted",
        "schema.removed",
        "config.removed",
        "mode.removed",
    ]
    assert seen[0][2].pop("ts") > 1_700_000_000_000
    assert seen[0][2] == {
        "offset": 0,
        "type": "schema.registered",
        "subject": "s",
        "version": 1,
        "id": 1,
        "schemaType": "AVRO",
    }
    with running.stream("GET", "/events", headers={"Last-Event-ID": str(offsets[4])}) as following:
        assert int(next(events(following))[0]) == offsets[5]

    for _ in range(100):
        if len(posted[1]) >= 8:
            break
        threading.Event().wait(0.1)
    bodies = [body for body, _, _ in posted[1]]
    assert bodies[0] == bodies[1]
    assert [body["offset"] for body in bodies[1:8]] == offsets
    _, raw, signature = posted[1][0]
    assert signature == "sha256=" + hmac.new(b"s3cret", raw, hashlib.sha256).hexdigest()


@pytest.mark.parametrize("event_id", ["x", "--5", "1.5", "9" * 30])
def test_an_invalid_event_id(api: Any, event_id: str) -> None:
    answered = api("GET", "/events", headers={"Last-Event-ID": event_id})
    assert (answered.status_code, answered.json()["error_code"]) == (400, 400)
