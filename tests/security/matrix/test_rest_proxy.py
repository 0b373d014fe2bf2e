"""The REST proxy: every operation with every kind of credentials in every shape of its path, up to the handler."""

from __future__ import annotations

import asyncio
from itertools import product

import pytest

from magicbyte.http.routing.application import load_contract
from rest_proxy.http.rows import ROWS
from tests.security.matrix.credentials import Identities
from tests.security.matrix.in_process import InProcess
from tests.security.matrix.product import Server, everything, pairwise, run, unheard
from tests.security.matrix.proxy import an_app, ask_for_rights, forget_rights, refusal, resource
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


def test_pairs_of_operation_credentials_and_shape(runner: asyncio.Runner, proxy_identities: Identities) -> None:
    client = InProcess(an_app(proxy_identities, ask_for_rights), runner)
    cases = pairwise(SERVER, proxy_identities.all)
    counts = run(SERVER, client, cases)
    assert counts.total() > 5000
    assert set(counts) == {200, 400, 401, 403, 404, 405}


@pytest.mark.slow
def test_every_operation_with_every_credentials_in_every_shape(
    runner: asyncio.Runner, proxy_identities: Identities
) -> None:
    client = InProcess(an_app(proxy_identities, ask_for_rights), runner)
    cases = everything(SERVER, proxy_identities.all)
    counts = run(SERVER, client, cases)
    assert counts.total() > 60_000


def test_a_handler_that_forgets_to_ask_is_not_heard(runner: asyncio.Runner, proxy_identities: Identities) -> None:
    client = InProcess(an_app(proxy_identities, forget_rights), runner)
    assert unheard(SERVER, client, proxy_identities.accepted) == {
        *("topics", "subscribe", "records", "commit", "committed"),
        *("seek", "seekToBeginning", "seekToEnd", "assign"),
    }


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
