"""`api.endpoints.allowlist` and `api.endpoints.blocklist`: which routes a proxy serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.testing import running_rest_proxy
from rest_proxy.access.endpoints import ENDPOINTS, ENDPOINTS_BY_FORMAT, UNNAMED, EndpointLists, parse_endpoints
from rest_proxy.access.v3_access import V3_ACCESS
from rest_proxy.http.rows import ROWS

NO_BROKER = "127.0.0.1:1"
NOT_FOUND = (404, {"error_code": 404, "message": "HTTP 404 Not Found"})
NOT_ALLOWED = (405, {"error_code": 405, "message": "HTTP 405 Method Not Allowed"})


def test_every_row_has_the_name_of_an_endpoint_or_is_known_to_have_none():
    named = {*ENDPOINTS, *ENDPOINTS_BY_FORMAT}
    assert {row.operation_id for row in ROWS} == named | UNNAMED
    assert not named & UNNAMED


@pytest.mark.parametrize(
    ("allowed", "blocked", "endpoint", "is_blocked"),
    [
        ("", "", "api.v2.topics.list", False),
        ("api.v2.topics.*", "", "api.v2.topics.list", False),
        ("api.v2.topics.list", "", "api.v2.topics.list", False),
        ("api.v2.topics.list", "", "api.v2.topics.get", True),
        ("api.v3.topics.*", "", "api.v2.topics.list", True),
        ("", "api.v2.topics.*", "api.v2.topics.list", True),
        ("", "api.v2.topics.list", "api.v2.topics.get", False),
        ("api.v2.topics.*", " api.v2.topics.list ,", "api.v2.topics.list", True),
        ("", "api.v3.partitions.*", "api.v3.partitions.list", True),
        # As in the reference, the offsets of partitions are a group of their own.
        ("", "api.v3.partitions.*", "api.v3.partitions.list.offsets", False),
        ("", "api.v3.partition-offsets.*", "api.v3.partitions.list.offsets", True),
    ],
)
def test_an_endpoint_is_blocked_by_its_name_or_its_group(allowed: str, blocked: str, endpoint: str, is_blocked: bool):
    lists = EndpointLists(parse_endpoints(allowed), parse_endpoints(blocked))
    assert lists.block(endpoint) is is_blocked


def test_the_names_of_v3_are_known():
    assert parse_endpoints(",".join(V3_ACCESS)) == V3_ACCESS.keys()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("api.v3.*", "api.v3.acls.*"),
        ("api.v2.consumer.create", "api.v2.consumers.create"),
        ("api.v2.produce-to-topic.jsonschema", "api.v2.produce-to-topic.json-schema"),
        ("topics", "api.v3.topics.*"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, nearest: str):
    with pytest.raises(ValueError, match="there is no endpoint") as raised:
        parse_endpoints(name)
    assert str(raised.value) == f"there is no endpoint {name}; did you mean {nearest}?"


Start = Callable[..., httpx.Client]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a proxy with properties of its own, and returns a client of it."""
    with ExitStack() as stack:

        def started(**properties: str) -> httpx.Client:
            named = {name.replace("__", "."): value for name, value in properties.items()}
            server = stack.enter_context(running_rest_proxy(NO_BROKER, "", properties=named))
            return stack.enter_context(httpx.Client(base_url=server.url, timeout=30))

        yield started


def told(answer: httpx.Response) -> tuple[int, Any]:
    return answer.status_code, answer.json()


def test_blocked_reads_are_missing_and_blocked_writes_not_allowed(start: Start):
    client = start(api__endpoints__blocklist="api.v2.brokers.*,api.v2.topics.list,api.v2.root.post")
    assert told(client.get("/brokers")) == NOT_FOUND
    assert client.head("/brokers").status_code == 404
    assert told(client.get("/topics/")) == NOT_FOUND
    refused = client.post("/", json={})
    assert (told(refused), refused.headers["allow"]) == (NOT_ALLOWED, "GET")
    assert client.get("/").status_code == 200
    assert told(client.options("/brokers")) == NOT_ALLOWED


def test_an_allowlist_blocks_all_other_endpoints(start: Start):
    client = start(api__endpoints__allowlist="api.v2.root.get,api.health.live")
    assert [client.get(path).status_code for path in ("/", "/health/live", "/metrics", "/openapi.json")] == [200] * 4
    for row in ROWS:
        if row.operation_id in {"root", "live", *UNNAMED}:
            continue
        path = row.path.replace("{partition}", "0")
        assert told(client.request(row.method, path)) == (NOT_FOUND if row.method == "GET" else NOT_ALLOWED)


def test_one_format_is_blocked_by_itself(start: Start):
    client = start(api__endpoints__blocklist="api.v2.produce-to-topic.avro,api.v2.consumers.consume-avro")

    def produce(form: str, path: str = "/topics/t") -> httpx.Response:
        return client.post(path, content="{}", headers={"content-type": f"application/vnd.kafka.{form}.v2+json"})

    assert told(produce("avro")) == NOT_ALLOWED
    # These come to the handler, which finds no records.
    assert (produce("json").status_code, produce("avro", "/topics/t/partitions/0").status_code) == (422, 422)
    for form in ("avro", "json"):
        client.post("/consumers/g", json={"name": form, "format": form}).raise_for_status()
    avro, plain = "application/vnd.kafka.avro.v2+json", "application/json"

    def read(instance: str, accept: str) -> httpx.Response:
        return client.get(f"/consumers/g/instances/{instance}/records?timeout=1", headers={"accept": accept})

    assert told(read("avro", avro)) == NOT_FOUND
    # The instance's own format counts if the request names none.
    assert told(read("avro", plain)) == NOT_FOUND
    assert read("json", plain).status_code == 200
    assert told(read("unknown", plain))[1]["error_code"] == 40403


def test_clients_sign_in_before_they_learn_what_is_blocked(start: Start, tmp_path: Path):
    users, rules = tmp_path / "users", tmp_path / "rules"
    users.write_text(f"nobody:{hash_key('mbs_nobody')}\n")
    users.chmod(0o600)
    rules.write_text("allow User:admin ALL TOPIC LITERAL *\n")
    client = start(
        api__endpoints__blocklist="api.v2.brokers.list",
        authentication__method="BASIC",
        magicbyte__users__file=str(users),
        magicbyte__acl__store=f"file:{rules}",
    )
    assert client.get("/brokers").status_code == 401
    assert told(client.get("/brokers", auth=("nobody", "mbs_nobody"))) == NOT_FOUND
