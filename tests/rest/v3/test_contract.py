"""The OpenAPI document of v3: served, equal to the routes, and obeyed whatever is sent."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from magicbyte.http.routing.application import load_contract
from rest_proxy.v3.contract import CONTRACT
from rest_proxy.v3.rows import V3_ROWS

METHODS = frozenset(("get", "post", "put", "patch", "delete"))


def test_the_document_is_served(rest: Any) -> None:
    assert rest.get("/v3/openapi.json").json() == load_contract(CONTRACT)
    assert rest.get("/kafka/v3/openapi.json").json() == load_contract(CONTRACT)


def test_the_document_has_exactly_the_routes_of_the_server() -> None:
    documented = {
        (path, method.upper(), operation["operationId"])
        for path, item in load_contract(CONTRACT)["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }
    assert {(row.path, row.method, row.operation_id) for row in V3_ROWS} == documented


def test_every_answer_matches_the_document(proxy_url: str, cluster: str) -> None:
    schema = schemathesis.openapi.from_dict(load_contract(CONTRACT))
    for result in schema.get_all_operations():

        @given(case=result.ok().as_strategy())
        @settings(
            max_examples=4,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any) -> None:
            if case.path_parameters and len(str(case.path_parameters["cluster"])) % 8:
                # Else nearly all requests would end at the check of the cluster's id.
                case.path_parameters["cluster"] = cluster.rpartition("/")[2]
            if case.operation.path.endswith("/topics") and isinstance(case.body, dict):
                case.body["validate_only"] = True  # The broker makes as many partitions as it is asked for.
            response = case.call(base_url=proxy_url, timeout=40)
            case.validate_response(response, checks=[content_type_conformance, response_schema_conformance])
            assert response.status_code < 500 or response.json()["error_code"] in (50002, 50003), response.content

        check()
