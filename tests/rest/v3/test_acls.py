"""ACLs, on a broker with an authorizer; and what the broker denies the proxy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from magicbyte.testing import temporary_broker
from magicbyte.testing.servers import running_rest_proxy
from tests.rest.conftest import Rest, unique
from tests.rest.v3.conftest import V3
from tests.waiting import until

PARAMETERS = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission")
NO_AUTHORIZER = {"error_code": 40002, "message": "No Authorizer is configured."}


@pytest.fixture(scope="module")
def guarded(registry_url: str) -> Iterator[V3]:
    """A proxy before a broker that allows everything that no entry is about."""
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }
    with (
        temporary_broker(properties=properties) as broker,
        running_rest_proxy(broker.bootstrap_servers, registry_url) as proxy,
        Rest(base_url=proxy.url, timeout=30) as client,
    ):
        yield V3(client)


def an_acl(name: str, **members: str) -> dict[str, str]:
    return {
        "resource_type": "TOPIC",
        "resource_name": name,
        "pattern_type": "LITERAL",
        "principal": "User:a b",
        "host": "*",
        "operation": "READ",
        "permission": "ALLOW",
    } | members


def item(v3: V3, acl: dict[str, str]) -> dict[str, Any]:
    query = "&".join(f"{name}={acl[name].replace(':', '%3A').replace(' ', '+')}" for name in PARAMETERS)
    return {
        "kind": "KafkaAcl",
        "metadata": {"self": f"{v3.url}/acls?{query}"},
        "cluster_id": v3.cluster_id,
        **acl,
    }


def test_the_life_cycle_of_an_acl_entry(guarded: V3) -> None:
    acl = an_acl(unique("topic"))
    made = guarded.answer("POST", "acls", acl)
    expected = item(guarded, acl)
    assert (made.status_code, made.content, made.headers["location"]) == (201, b"", expected["metadata"]["self"])
    path = f"acls?resource_type=topic&resource_name={acl['resource_name']}"
    listed = (
        200,
        {
            "kind": "KafkaAclList",
            "metadata": {
                "self": f"{guarded.url}/acls?resource_type=TOPIC&resource_name={acl['resource_name']}"
                "&pattern_type=ANY&principal=&host=&operation=ANY&permission=ANY",
                "next": None,
            },
            "data": [expected],
        },
    )
    until(lambda: guarded.ask("GET", path) == listed)
    every = "resource_type=topic&pattern_type=any&operation=any&permission=any"
    wanted = f"acls?{every}&resource_name={acl['resource_name']}"
    assert guarded.ask("DELETE", wanted) == (200, {"data": [expected]})
    assert guarded.ask("DELETE", wanted) == (200, {"data": []})


def test_match_finds_the_entries_that_apply_to_a_name(guarded: V3) -> None:
    name = unique("match")
    entries = [
        an_acl("*", principal="User:m"),
        an_acl("match", pattern_type="PREFIXED", principal="User:m"),
        an_acl(name, principal="User:m"),
        an_acl(f"{name}-other", principal="User:m"),
    ]
    assert guarded.ask("POST", "acls:batch", {"data": entries}) == (204, None)
    path = f"acls?resource_type=TOPIC&resource_name={name}&pattern_type=MATCH&principal=User:m"
    expected = [item(guarded, acl) for acl in (entries[0], entries[1], entries[2])]
    until(lambda: guarded.get(path)["data"] == expected)
    every = "resource_type=topic&pattern_type=any&operation=any&permission=any&principal=User:m"
    assert len(guarded.ask("DELETE", f"acls?{every}")[1]["data"]) == 4


def test_operations_that_only_newer_brokers_have_are_shown_by_name(guarded: V3) -> None:
    acl = an_acl("alice", resource_type="USER", operation="DESCRIBE_TOKENS")
    assert guarded.ask("POST", "acls", acl) == (201, None)
    until(lambda: guarded.get("acls?resource_type=USER")["data"] == [item(guarded, acl)])


EMPTY = {"error_code": 42206, "message": "Payload error. Null input provided. Data is required."}
EMPTY_BATCH = {"error_code": 42206, "message": "Payload error. Empty input provided. Data is required."}


def bad(message: str) -> dict[str, Any]:
    return {"error_code": 400, "message": f"Bad Request: {message}"}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("GET", "acls?operation=unknown", None, 400, bad("operation cannot be UNKNOWN")),
        (
            "GET",
            "acls?resource_type=colour",
            None,
            404,
            {"error_code": 404, "message": "The valid values for ResourceType do not include 'colour'"},
        ),
        (
            "DELETE",
            "acls?permission=colour",
            None,
            404,
            {"error_code": 404, "message": "The valid values for Permission do not include 'colour'"},
        ),
        ("DELETE", "acls", None, 400, bad("resource_type cannot be unspecified or UNKNOWN")),
        ("DELETE", "acls?resource_type=TOPIC", None, 400, bad("pattern_type cannot be unspecified or UNKNOWN")),
        (
            "DELETE",
            "acls?resource_type=TOPIC&pattern_type=ANY&operation=UNKNOWN",
            None,
            400,
            bad("operation cannot be unspecified or UNKNOWN"),
        ),
        (
            "DELETE",
            "acls?resource_type=TOPIC&pattern_type=ANY&operation=ANY",
            None,
            400,
            bad("permission cannot be unspecified or UNKNOWN"),
        ),
        ("POST", "acls", "", 422, EMPTY),
        ("POST", "acls:batch", "", 422, EMPTY),
        ("POST", "acls:batch", {}, 422, EMPTY_BATCH),
        ("POST", "acls:batch", {"data": []}, 204, None),
        ("POST", "acls", an_acl("t", resource_type="ANY"), 400, bad("resource_type cannot be ANY")),
        ("POST", "acls", an_acl("t", operation="UNKNOWN"), 400, bad("operation cannot be ANY")),
        ("POST", "acls", an_acl("t", pattern_type="MATCH"), 400, bad("pattern_type cannot be MATCH")),
        (
            "POST",
            "acls:batch",
            {"data": [an_acl("t"), an_acl("t", permission="ANY")]},
            400,
            bad("permission cannot be ANY"),
        ),
        (
            "POST",
            "acls",
            an_acl("t", resource_type="CLUSTER"),
            400,
            {"error_code": 40002, "message": "The only valid name for the CLUSTER resource is kafka-cluster"},
        ),
        (
            "POST",
            "acls",
            an_acl("t", principal="alice"),
            400,
            {
                "error_code": 40002,
                "message": "Could not parse principal from `alice` (no colon is present separating "
                "the principal type from the principal name)",
            },
        ),
    ],
)
def test_refusals(guarded: V3, method: str, path: str, body: Any, status: int, error: Any) -> None:
    before = guarded.get("acls")
    assert guarded.ask(method, path, body) == (status, error)
    assert guarded.get("acls") == before


def test_an_unknown_value_in_a_body(guarded: V3) -> None:
    for value in ("topic", "COLOUR"):
        status, error = guarded.ask("POST", "acls", an_acl("t", resource_type=value))
        assert (status, error["error_code"]) == (400, 400)


def test_a_batch_says_which_entries_were_refused(guarded: V3) -> None:
    good, refused = an_acl(unique("topic")), an_acl("t", resource_type="CLUSTER")
    text = "The only valid name for the CLUSTER resource is kafka-cluster"
    error = {"error_code": 40002, "message": text}
    assert guarded.ask("POST", "acls:batch", {"data": [good, refused]}) == (400, error)
    assert guarded.ask("POST", "acls:batch?report=true", {"data": [good, refused]}) == (
        207,
        {"failures": [{**refused, **error}]},
    )


def test_without_an_authorizer(v3: V3) -> None:
    on_search = {"error_code": 40002, "message": "No Authorizer is configured on the broker"}
    assert v3.ask("GET", "acls") == (400, on_search)
    assert v3.ask("POST", "acls", an_acl("t")) == (400, NO_AUTHORIZER)
    every = "resource_type=topic&pattern_type=any&operation=any&permission=any"
    assert v3.ask("DELETE", f"acls?{every}") == (400, NO_AUTHORIZER)


def test_requests_that_the_broker_denies_the_proxy(guarded: V3) -> None:
    name, group = unique("topic"), unique("group")
    assert guarded.ask("POST", "topics", {"topic_name": name})[0] == 201
    body = {"data": [{"topic_name": name, "to": "latest"}]}
    assert guarded.ask("POST", f"consumer-groups/{group}/offsets:alter", body)[0] == 200
    denied = an_acl(name, principal="User:ANONYMOUS", operation="ALL", permission="DENY")
    of_group = {**denied, "resource_type": "GROUP", "resource_name": group}
    assert guarded.ask("POST", "acls:batch", {"data": [denied, of_group]}) == (204, None)
    topic_denied = {"error_code": 40301, "message": "Topic authorization failed."}
    until(lambda: guarded.ask("GET", f"topics/{name}") == (403, topic_denied))
    assert name not in [topic["topic_name"] for topic in guarded.get("topics")["data"]]
    for method, path, refused in (
        ("GET", f"topics/{name}/partitions", None),
        ("GET", f"topics/{name}/configs", None),
        ("PUT", f"topics/{name}/configs/retention.ms", {"value": "1"}),
        ("PATCH", f"topics/{name}", {"partitions_count": 2}),
    ):
        status, error = guarded.ask(method, path, refused)
        assert (status, error["error_code"]) == (403, 40301), (method, path, error)
    assert guarded.ask("GET", f"consumer-groups/{group}") == (
        404,
        {"error_code": 404, "message": "HTTP 404 Not Found"},
    )
    assert group not in [item["consumer_group_id"] for item in guarded.get("consumer-groups")["data"]]


def test_counts_are_those_of_the_request_if_configurations_are_denied(guarded: V3) -> None:
    name = unique("topic")
    denied = an_acl(name, principal="User:ANONYMOUS", operation="DESCRIBE_CONFIGS", permission="DENY")
    allowed = [an_acl(name, principal="User:ANONYMOUS", operation=operation) for operation in ("CREATE", "DESCRIBE")]
    assert guarded.ask("POST", "acls:batch", {"data": [denied, *allowed]}) == (204, None)
    until(lambda: len(guarded.get(f"acls?resource_name={name}")["data"]) == 3)
    body = {"topic_name": name, "partitions_count": 3, "validate_only": True}
    status, topic = guarded.ask("POST", "topics", body)
    assert (status, topic["partitions_count"], topic["replication_factor"]) == (200, 3, 0)
