from __future__ import annotations

import asyncio
import gc
import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from magicbyte.http.asgi import ASGIApp
from magicbyte.security.sign_in.password_hash import hash_key
from registry.app import create_app
from registry.cluster.node import SharedLogNode
from registry.log.memory import MemoryLog
from registry.settings import RegistrySettings
from tests.garbage import uncollected

TIMES = 20
V1 = b"application/vnd.schemaregistry.v1+json"


@pytest.fixture
def app() -> Iterator[ASGIApp]:
    node = SharedLogNode(MemoryLog(), "http://127.0.0.1:1")
    node.start()
    yield create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"}), node)
    node.stop()


async def ask(app: ASGIApp, method: str, path: str, body: Any = None, *headers: tuple[bytes, bytes]) -> int:
    content = json.dumps(body).encode()
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"content-type", V1), (b"content-length", b"%d" % len(content)), *headers],
        "state": {},
    }
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Any) -> None:
        if "status" in message:
            statuses.append(message["status"])

    await app(scope, receive, send)
    return statuses[0]


def record(name: str) -> dict[str, str]:
    return {"schema": f'{{"type":"record","name":"R","fields":[{{"name":"{name}","type":"int"}}]}}'}


@pytest.mark.parametrize(
    ("status", "method", "path", "body"),
    [
        (200, "POST", "/subjects/new-{}/versions", record("f")),
        (200, "POST", "/subjects/s/versions", record("f")),
        (409, "POST", "/subjects/s/versions", record("g{}")),
        (422, "POST", "/subjects/new-{}/versions", {"schema": "{nope"}),
        (400, "POST", "/subjects/s/versions", []),
        (200, "POST", "/subjects/s", record("f")),
        (404, "POST", "/subjects/s", record("other")),
        (200, "POST", "/compatibility/subjects/s/versions/latest", record("other")),
        (200, "GET", "/subjects/s/versions", None),
        (200, "GET", "/schemas/ids/1", None),
        (404, "GET", "/schemas/ids/99", None),
        (404, "GET", "/no-route-{}", None),
        (405, "PATCH", "/subjects", None),
        (200, "PUT", "/config/c-{}", {"compatibility": "FULL"}),
        (422, "PUT", "/config", {"compatibility": "SIDEWAYS"}),
        (404, "DELETE", "/subjects/none-{}", None),
    ],
)
def test_a_request_leaves_nothing_to_the_garbage_collector(
    app: ASGIApp, status: int, method: str, path: str, body: Any
) -> None:
    """The garbage collector looks for cycles in pauses that all clients feel."""

    async def drive() -> int:
        assert await ask(app, "POST", "/subjects/s/versions", record("f")) == 200
        for number in range(2 * TIMES):
            if number == TIMES:
                gc.collect()
            sent = None if body is None else json.loads(json.dumps(body).replace("{}", str(number)))
            assert await ask(app, method, path.replace("{}", str(number)), sent) == status
        return gc.collect()

    with uncollected():
        assert asyncio.run(drive()) < TIMES


@pytest.mark.parametrize(("status", "secret"), [(401, b"wrong"), (403, b"right")])
def test_a_refused_request_leaves_no_garbage(tmp_path: Path, status: int, secret: bytes) -> None:
    users, rules = tmp_path / "users", tmp_path / "rules"
    users.write_text(f"alice:{hash_key('right')}\n")
    users.chmod(0o600)
    rules.write_text("allow User:bob ALL SUBJECT LITERAL *\n")
    settings = RegistrySettings.from_properties(
        {
            "magicbyte.storage": "memory:",
            "authentication.method": "BASIC",
            "magicbyte.users.file": str(users),
            "magicbyte.acl.file": str(rules),
            "magicbyte.authentication.failure.ms": "0",
            "magicbyte.authentication.failures.per.minute": "60000000",
        }
    )
    node = SharedLogNode(MemoryLog(), "http://127.0.0.1:1")
    node.start()
    app = create_app(settings, node)
    credentials = (b"authorization", b"Basic " + b64encode(b"alice:" + secret))

    async def drive() -> int:
        for number in range(2 * TIMES):
            if number == TIMES:
                gc.collect()
            assert await ask(app, "GET", "/subjects/s/versions", None, credentials) == status
        return gc.collect()

    with uncollected():
        assert asyncio.run(drive()) < TIMES
    node.stop()
