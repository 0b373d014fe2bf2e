"""The REST proxy: every operation with every kind of credentials in every shape of its path, up to the handler."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from urllib.parse import unquote

import pytest
from starlette.responses import Response

from magicbyte.http.routing.application import Application, load_contract
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Handler, Row
from rest_proxy import app as rest_proxy_app
from rest_proxy.http.access import rights_of
from rest_proxy.http.common import json_response
from rest_proxy.http.rows import ROWS
from rest_proxy.settings import RestProxySettings
from tests.security.matrix.credentials import Identities
from tests.security.matrix.in_process import InProcess
from tests.security.matrix.product import Server, ask, pairwise, run
from tests.security.matrix.rules import REST_PROXY, rule_of
from tests.security.matrix.shapes import COMMON, HEAD, IN_REST_PROXY, Shape

PEER = "http://127.0.0.1:1"
TEXTS = {
    "TOPIC": "Not authorized to access topics: [{name}]",
    "GROUP": "Not authorized to access group: {name}",
    "CLUSTER": "Cluster authorization failed.",
}


def resource(row: Row, shape: Shape, resource_type: str) -> tuple[str, str, bool] | None:
    if resource_type != "CLUSTER" and f"{{{resource_type.lower()}}}" not in row.path:
        # The topics are in the body, or those of the instance.
        return None
    return resource_type, shape.asked, shape.is_inside


def refusal(_operation: str, resource_type: str, name: str) -> str:
    return TEXTS[resource_type].format(name=name)


SERVER = Server(
    rows=ROWS,
    rules=REST_PROXY,
    shapes=(*COMMON, *IN_REST_PROXY, HEAD),
    bodies={row.operation_id: b"{}" for row in ROWS if row.method == "POST" and "produce" not in row.operation_id},
    statuses=dict.fromkeys(REST_PROXY, 200),
    # One slash at the end means nothing, and that of the root is one.
    odd=dict.fromkeys(product(("root", "postRoot"), ("upper-case path", "two slashes first", "two slashes last")), 200),
    skipped=frozenset(),
    resource=resource,
    refusal=refusal,
)


@pytest.fixture(scope="module")
def identities(tmp_path_factory: pytest.TempPathFactory) -> Identities:
    return Identities(tmp_path_factory.mktemp("identities"), audience=PEER)


def an_app(identities: Identities, handler: Handler) -> Application:
    """The proxy with one handler for all operations; its lifespan, which asks for brokers, never begins."""
    rows = tuple(replace(row, handler=handler) for row in ROWS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rest_proxy_app, "ROWS", rows)
        properties = {"bootstrap.servers": "127.0.0.1:1", "peers": PEER, "peers.self": PEER, **identities.properties}
        return rest_proxy_app.create_app(RestProxySettings.from_properties(properties))


async def ask_for_rights(request: Request) -> Response:
    rights_of(request)
    names = [unquote(request.match.parameters[name]) for name in ("topic", "group") if name in request.match.parameters]
    return json_response(request, repr(names).encode())


async def forget_rights(request: Request) -> Response:
    return json_response(request, b"all topics")


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def test_operations_rows_and_rules_are_the_same() -> None:
    documented = {
        operation["operationId"]
        for item in load_contract("rest-proxy-v2.yaml")["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    }
    assert {row.operation_id: rule_of(row) for row in ROWS} == REST_PROXY
    assert documented == set(REST_PROXY)


def test_pairs_of_operation_credentials_and_shape(runner: asyncio.Runner, identities: Identities) -> None:
    client = InProcess(an_app(identities, ask_for_rights), runner)
    cases = pairwise(SERVER, [*identities.refused, *identities.accepted])
    counts = run(SERVER, client, cases, lambda: None)
    print(f"REST proxy: {counts.total()} requests, {dict(sorted(counts.items()))}")
    assert counts.total() > 5000
    assert set(counts) == {200, 400, 401, 403, 404, 405}


@pytest.mark.slow
def test_every_operation_with_every_credentials_in_every_shape(runner: asyncio.Runner, identities: Identities) -> None:
    client = InProcess(an_app(identities, ask_for_rights), runner)
    cases = product(SERVER.rows, [*identities.refused, *identities.accepted], SERVER.shapes)
    counts = run(SERVER, client, cases, lambda: None)
    print(f"REST proxy: {counts.total()} requests, {dict(sorted(counts.items()))}")
    assert counts.total() > 60_000


def test_a_handler_that_forgets_to_ask_is_not_heard(runner: asyncio.Runner, identities: Identities) -> None:
    client = InProcess(an_app(identities, forget_rights), runner)
    everything = next(one for one in identities.accepted if one.name == "everything")
    answers = {row.operation_id: ask(SERVER, client, row, everything, COMMON[0]) for row in ROWS}
    unheard = {name for name, told in answers.items() if told.status == 500}
    assert {told.status for told in answers.values()} == {200, 500}
    assert {answers[name].body for name in unheard} == {b'{"error_code":500,"message":"Internal Server Error"}'}
    assert unheard == {
        *("topics", "subscribe", "records", "commit", "committed"),
        *("seek", "seekToBeginning", "seekToEnd", "assign"),
    }


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_paths_of_no_operation(runner: asyncio.Runner, identities: Identities, method: str) -> None:
    client = InProcess(an_app(identities, ask_for_rights), runner)
    for path in ("/v4/clusters", "/topic", "/topics/t/x", "/consumers", "/consumers/g/instances", "/x%2Fy", "/%00"):
        for credentials in identities.refused:
            told = client.ask(
                method, path, credentials.headers, certificate=credentials.certificate, expires=credentials.expires
            )
            assert told.status == credentials.status
        assert client.ask(method, path, identities.accepted[0].headers).status in (404, 405)
