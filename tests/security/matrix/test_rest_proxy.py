"""Versions 1 and 2 of the REST proxy: what the server is expected to answer; test_proxy_apis asks it."""

from __future__ import annotations

import asyncio
from itertools import product

import pytest

from magicbyte.http.routing.application import load_contract
from rest_proxy.http.rows import ROWS
from tests.security.matrix.credentials import Identities
from tests.security.matrix.in_process import InProcess
from tests.security.matrix.product import Server
from tests.security.matrix.proxy import an_app, ask_for_rights, refusal, resource
from tests.security.matrix.rules import REST_PROXY, rule_of
from tests.security.matrix.shapes import COMMON, HEAD, IN_REST_PROXY

SERVER = Server(
    name="REST proxy",
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


def test_operations_rows_and_rules_are_the_same() -> None:
    documented = {
        operation["operationId"]
        for item in load_contract("rest-proxy-v2.yaml")["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    }
    assert {row.operation_id: rule_of(row) for row in ROWS} == REST_PROXY
    assert documented == set(REST_PROXY)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_paths_of_no_operation(runner: asyncio.Runner, proxy_identities: Identities, method: str) -> None:
    client = InProcess(an_app(proxy_identities, ask_for_rights), runner)
    for path in ("/v4/clusters", "/topic", "/topics/t/x", "/consumers", "/consumers/g/instances", "/x%2Fy", "/%00"):
        for credentials in proxy_identities.refused:
            told = client.ask(
                method, path, credentials.headers, certificate=credentials.certificate, expires=credentials.expires
            )
            assert told.status == credentials.status
        assert client.ask(method, path, proxy_identities.accepted[0].headers).status in (404, 405)
