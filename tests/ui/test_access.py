"""Access to the page's routes: files are open, and everything with data decides as the registry itself."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from magicbyte.http.routing.access import OPEN, SIGNED_IN
from magicbyte.http.routing.application import Application, load_contract
from magicbyte.ui import app as page
from registry.app import create_app
from registry.settings import RegistrySettings
from tests.security.matrix.credentials import ADMIN, GROUP_ID, Credentials, Identities
from tests.security.matrix.in_process import ADDRESS, InProcess, running
from tests.security.matrix.product import UNAUTHORIZED

#: Open to everybody: they contain no data, and a browser has to load the page before it can ask for a token.
FILES = ("getPage", "getPageFile", "getPageConfig")


@pytest.fixture(scope="module")
def identities(tmp_path_factory: pytest.TempPathFactory) -> Identities:
    return Identities(tmp_path_factory.mktemp("identities"))


def an_app(properties: dict[str, str]) -> Application:
    settings = RegistrySettings.from_properties(
        {"magicbyte.storage": "memory:", "schema.registry.group.id": GROUP_ID} | properties
    )
    return create_app(settings, extra_routes=page.extra_routes(settings))


@pytest.fixture(scope="module")
def registry(identities: Identities) -> Iterator[tuple[InProcess, dict[str, int]]]:
    """A registry with sign-in, and the ids of a schema inside of what people may read, and of one outside."""
    with running(an_app(identities.properties)) as client:
        ids = {}
        for subject in ("open.there", "other.there"):
            body = json.dumps({"schema": json.dumps({"type": "record", "name": subject[:4], "fields": []})})
            told = client.ask("POST", f"/subjects/{subject}/versions", ADMIN, body=body.encode())
            ids[subject] = json.loads(told.body)["id"]
        yield client, ids


def test_routes_rows_and_contract_are_the_same() -> None:
    app = an_app({})
    rows = {row.operation_id: row for row in app.table.rows if row.path.startswith("/ui")}
    documented = {
        operation["operationId"]: (method.upper(), path)
        for path, item in load_contract("ui.yaml")["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }
    assert {name: (row.method, row.path.replace(":path}", "}")) for name, row in rows.items()} == documented
    assert {name for name, row in rows.items() if row.access is OPEN} == set(FILES)
    assert {row.access for name, row in rows.items() if name not in FILES} == {SIGNED_IN}
    routes = {(method, route.path) for route in app.fastapi.routes for method in route.methods - {"HEAD"}}  # type: ignore[attr-defined]
    assert routes >= {(row.method, row.path) for row in rows.values()}


def ask(client: InProcess, credentials: Credentials, method: str, path: str, body: bytes = b"") -> Any:
    return client.ask(
        method,
        path,
        credentials.headers,
        body=body,
        certificate=credentials.certificate,
        expires=credentials.expires,
    )


def test_files_are_for_everybody(registry: Any, identities: Identities) -> None:
    client, _ = registry
    for credentials in (*identities.refused, *identities.accepted):
        for path in ("/ui/", "/ui/subjects/open.there", "/ui/app.js", "/ui/config.json"):
            assert ask(client, credentials, "GET", path).status == 200, (credentials.name, path)


def test_everything_else_needs_a_sign_in(registry: Any, identities: Identities) -> None:
    client, _ = registry
    names = ("decode", "encode", "example", "together", "messages", "dead-letters", "dead-letter")
    helpers = [("POST", f"/ui/{name}") for name in names]
    passed = [(method, "/ui/rest/topics/t") for method in ("GET", "POST", "PATCH", "DELETE", "HEAD")]
    for credentials in identities.refused:
        for method, path in helpers + passed:
            told = ask(client, credentials, method, path, b"{}" if method == "POST" else b"")
            assert told.status == credentials.status, (credentials.name, method, path)
            if credentials.status == 401 and method != "HEAD":
                assert told.body == UNAUTHORIZED
                assert told.challenges[0].startswith("Basic ")
    for credentials in identities.accepted:
        assert ask(client, credentials, "GET", "/ui/rest/topics").status == 404, credentials.name


def test_messages_are_decoded_for_whom_may_read_their_schema(registry: Any, identities: Identities) -> None:
    client, ids = registry
    messages = [base64.b64encode(b"\0" + schema_id.to_bytes(4)).decode() for schema_id in ids.values()]
    outcomes = set()
    for credentials in identities.accepted:
        told = ask(client, credentials, "POST", "/ui/decode", json.dumps({"data": messages}).encode())
        assert told.status == 200, (credentials.name, told.body)
        assert credentials.held is not None
        for item, subject in zip(json.loads(told.body)["data"], ids, strict=True):
            may = credentials.held.may("READ", "SUBJECT", is_inside=subject.startswith("open."))
            assert ("value" in item) == may, (credentials.name, subject, item)
            assert may or subject not in json.dumps(item), credentials.name
            outcomes.add((subject, may, bool(credentials.certificate)))
    # By password or token, and by certificate.
    assert len(outcomes) == 8


def test_rules_from_hosts_hold_for_messages_behind_a_trusted_proxy(tmp_path: Path) -> None:
    identities = Identities(tmp_path)
    rules = tmp_path / "rules"
    rules.write_text(rules.read_text() + "allow User:nobody READ SUBJECT LITERAL near from 192.0.2.0/24\n")
    properties = {**identities.properties, "magicbyte.trusted.proxies": ADDRESS}
    body = json.dumps({"data": [base64.b64encode(b"\0\0\0\0\1\4hi").decode()]}).encode()
    with running(an_app(properties)) as client:
        told = client.ask("POST", "/subjects/near/versions", ADMIN, body=b'{"schema":"\\"string\\""}')
        assert told.status == 200
        kinds = [credentials for credentials in identities.accepted if credentials.name.startswith("nobody")]
        assert len(kinds) == 3
        for credentials in kinds:
            for address, may in (("192.0.2.7", True), ("198.51.100.7", False), (None, False), ("192.0.2.7", True)):
                headers = credentials.headers + ((("x-forwarded-for", address),) if address else ())
                told = client.ask(
                    "POST",
                    "/ui/decode",
                    headers,
                    body=body,
                    certificate=credentials.certificate,
                    expires=credentials.expires,
                )
                (item,) = json.loads(told.body)["data"]
                assert (item.get("value") == "hi") is may, (credentials.name, address, item)


def test_an_open_registry_decodes_for_everybody(tmp_path: Path) -> None:
    with running(an_app({})) as client:
        told = client.ask("POST", "/subjects/s/versions", body=b'{"schema":"\\"string\\""}')
        assert told.status == 200
        body = json.dumps({"data": [base64.b64encode(b"\0\0\0\0\1\4hi").decode()]}).encode()
        (item,) = json.loads(client.ask("POST", "/ui/decode", body=body).body)["data"]
        assert (item["value"], item["subject"], item["version"]) == ("hi", "s", 1)
