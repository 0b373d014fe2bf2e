"""The OpenAPI document: served, equal to the routes, and obeyed whatever is sent."""

from __future__ import annotations

import re
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from magicbyte.http.routing.application import load_contract
from rest_proxy.app import CONTRACT
from rest_proxy.http.rows import ROWS

OPERATIONS = re.compile("get|post|put|patch|delete")


def test_the_document_is_served(rest: Any) -> None:
    assert rest.get("/openapi.json").json() == load_contract(CONTRACT)


def test_the_document_has_exactly_the_routes_of_the_server() -> None:
    documented = {
        (path, method.upper())
        for path, item in load_contract(CONTRACT)["paths"].items()
        for method in item
        if OPERATIONS.fullmatch(method)
    }
    assert {(row.path, row.method) for row in ROWS} == documented


def test_every_answer_matches_the_document(proxy_url: str, rest: Any) -> None:
    schema = schemathesis.openapi.from_dict(load_contract(CONTRACT))
    before = open_instances(rest)
    for result in schema.get_all_operations():

        @given(case=result.ok().as_strategy())
        @settings(
            max_examples=12,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any) -> None:
            response = case.call(base_url=proxy_url, timeout=40)
            case.validate_response(response, checks=[content_type_conformance, response_schema_conformance])
            # Kafka's own errors have the reference's code, of which the status is 500.
            assert response.status_code < 500 or response.json()["error_code"] in (50002, 50003), response.content
            if response.status_code == 200 and case.operation.path == "/consumers/{group}":
                rest.delete(response.json()["base_uri"])

        check()
    # Instances of earlier tests may expire in between.
    assert open_instances(rest) <= before


def open_instances(rest: Any) -> float:
    name = "magicbyte_rest_consumer_instances "
    lines = rest.get("/metrics").text.splitlines()
    return next(float(line.removeprefix(name)) for line in lines if line.startswith(name))
