from __future__ import annotations

import json
import uuid
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.sign_in.password_hash import hash_key
from registry.app import create_app
from registry.cluster.node import SharedLogNode
from registry.log.kafka import KafkaLog
from registry.log.memory import MemoryLog
from registry.log.port import BEGINNING, Log
from registry.log.sql import SqlLog
from registry.log.topic import prepare_topic
from registry.settings import RegistrySettings
from tests.security.matrix.in_process import Answer, InProcess, running

V1 = "application/vnd.schemaregistry.v1+json"

Client = Callable[..., httpx.Response]
Opener = Callable[[], Log]


class Api:
    """The registry's HTTP API over a log in memory, with the log at hand."""

    def __init__(self, client: TestClient, log: MemoryLog) -> None:
        self.client = client
        self.log = log

    def __call__(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        if body is not None:
            options["json"] = body
            options["headers"] = {"Content-Type": V1} | options.get("headers", {})
        answer: httpx.Response = self.client.request(method, path, **options)  # type: ignore[assignment]  # its fork's
        return answer

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


PEOPLE = ("admin", "reader", "lister", "nobody")
RULES = (
    "allow User:reader READ,DESCRIBE_CONFIGS SUBJECT PREFIXED open.\n"
    "allow User:lister DESCRIBE SUBJECT LITERAL *\n"
    "allow User:lister DESCRIBE_CONFIGS SUBJECT LITERAL sealed.a\n"
)


class GuardedApi:
    """The API of a registry with access rules; `admin` may do everything, and `RULES` say what the others may."""

    def __init__(self, client: InProcess, authorizer: Authorizer, rules: Path) -> None:
        self._client, self._authorizer, self._rules = client, authorizer, rules

    def __call__(self, name: str, path: str, body: Any = None, headers: Sequence[tuple[str, str]] = ()) -> Answer:
        """Ask as a person: a POST if there is a body, else a GET."""
        credentials = b64encode(f"{name}:mbs_{name}".encode()).decode()
        named = [("authorization", f"Basic {credentials}"), *headers] if name else headers
        content = b"" if body is None else json.dumps(body).encode()
        return self._client.ask("GET" if body is None else "POST", path, named, body=content)

    def replace_rules(self, rules: str) -> None:
        self._rules.write_text(rules)
        self._authorizer.reload()


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[GuardedApi]:
    users, rules = tmp_path / "users", tmp_path / "rules"
    users.write_text("".join(f"{name}:{hash_key('mbs_' + name)}\n" for name in PEOPLE))
    users.chmod(0o600)
    rules.write_text(RULES)
    properties = {
        "magicbyte.storage": "memory:",
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.acl.store": f"file:{rules}",
        "super.users": "User:admin",
    }
    app = create_app(RegistrySettings.from_properties(properties))
    with running(app) as client:
        yield GuardedApi(client, app.state.guard.authorizer, rules)


@pytest.fixture(params=["memory", "sqlite", "postgresql", "kafka"])
def open_log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same log each time it is called: in turn of each kind that there is."""
    opened: list[Log] = []
    memory = MemoryLog()
    topic = f"schemas-{uuid.uuid4()}"

    def opener() -> Log:
        if request.param == "memory":
            return memory
        if request.param == "sqlite":
            opened.append(SqlLog(f"sqlite:///{tmp_path}/log.db"))
        elif request.param == "postgresql":
            opened.append(SqlLog(request.getfixturevalue("postgresql")))
        else:
            client = {"bootstrap.servers": request.getfixturevalue("kafka")}
            prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=60)
            log = KafkaLog(client, topic, f"writer-{topic}")
            log.open_writer()
            log.settle([], max((entry.offset for entry in log.read(BEGINNING)), default=BEGINNING))
            opened.append(log)
        return opened[-1]

    yield opener
    for log in opened:
        log.close()
