from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from registry.app import create_app
from registry.log.memory import MemoryLog
from registry.node import SharedLogNode
from registry.settings import RegistrySettings

V1 = "application/vnd.schemaregistry.v1+json"

Client = Callable[..., httpx.Response]


class Api:
    """The registry's HTTP API over a log in memory, with the log at hand."""

    def __init__(self, client: TestClient, log: MemoryLog) -> None:
        self.client = client
        self.log = log

    def __call__(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        if body is not None:
            options["json"] = body
            options["headers"] = {"Content-Type": V1} | options.get("headers", {})
        return self.client.request(method, path, **options)

    def register(self, subject: str, schema: str, query: str = "", **fields: Any) -> httpx.Response:
        return self("POST", f"/subjects/{subject}/versions{query}", {"schema": schema, **fields})


@pytest.fixture
def make_api() -> Iterator[Callable[..., Api]]:
    """Makes registries with properties of their own."""
    open_clients: list[TestClient] = []

    def make(**properties: str) -> Api:
        named = {name.replace("_", "."): value for name, value in properties.items()}
        settings = RegistrySettings.from_properties({"magicbyte.storage": "memory:", **named})
        log = MemoryLog()
        app = create_app(settings, started(log))
        client = TestClient(app)
        client.__enter__()
        open_clients.append(client)
        return Api(client, log)

    yield make
    for client in open_clients:
        client.__exit__(None, None, None)


def started(log: MemoryLog) -> SharedLogNode:
    node = SharedLogNode(log, "http://127.0.0.1:8081")
    node.start()
    return node


@pytest.fixture
def api(make_api: Callable[..., Api]) -> Api:
    return make_api()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
