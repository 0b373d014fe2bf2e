from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from typing import Any

import orjson
import pytest

from compat.schema import Dependency, Reference, SchemaText
from serdes.asgi import AsgiTransport
from serdes.cache import Cache
from serdes.client import AsyncRegistryClient, CacheLimits, RegistryClient, Retry
from serdes.endpoints import context_of
from serdes.error import ConfigError, RegistryUnavailable, SubjectNotFound


class Recorded:
    """An ASGI app that gives fixed answers to `METHOD path` and notes what it was asked."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        await receive()
        asked = f"{scope['method']} {scope['raw_path'].decode()}"
        if scope["query_string"]:
            asked += f"?{scope['query_string'].decode()}"
        self.asked.append(asked)
        status, body = 200, self.answers.get(asked)
        if body is None:
            status, body = 404, {"error_code": 40401, "message": "Subject 's' not found."}
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": orjson.dumps(body)})


def version(subject: str, number: int, text: str, *references: tuple[str, str, int]) -> dict[str, Any]:
    named = [{"name": name, "subject": held, "version": held_version} for name, held, held_version in references]
    return {"subject": subject, "version": number, "id": 7, "guid": "g", "schema": text, "references": named}


APP = {
    "GET /subjects/a/versions/latest": version("a", 2, "A", ("b", "b", 1), ("c", "c", 1)),
    "GET /subjects/b/versions/1?deleted=true": version("b", 1, "B", ("c", "c", 1)),
    "GET /subjects/c/versions/1?deleted=true": version("c", 1, "C"),
    "GET /schemas/ids/7": {"schema": '"string"', "guid": "g"},
    "POST /subjects/old/versions": {"id": 7},
    "POST /subjects/old": version("old", 3, "OLD"),
    "POST /subjects/new/versions": {"id": 7, "version": 1, "guid": "g"},
    "POST /subjects/new/versions?normalize=true": {"id": 8, "version": 2, "guid": "h", "schema": "N"},
    "GET /subjects?subjectPrefix=%3A%2A%3A&deleted=true": ["s"],
    "POST /compatibility/subjects/s/versions?verbose=true": {"is_compatible": False, "messages": ["m"]},
    "POST /compatibility/subjects/s/versions/latest?verbose=true": {"is_compatible": True, "messages": []},
    "PUT /config/s": {"compatibility": "FULL"},
    "GET /mode": {"mode": "READWRITE"},
    "DELETE /subjects/new": [1],
    "GET /associations/resources/-/t?resourceType=topic&associationType=value": [{"subject": "s"}],
    "GET /subjects/s/metadata?key=major&value=1": version("s", 4, "S"),
}


def client_of(app: Recorded, limits: CacheLimits | None = None) -> RegistryClient:
    return RegistryClient("http://registry", transport=AsgiTransport(app), cache=limits)


def test_endpoints():
    app = Recorded(APP)
    text = SchemaText("AVRO", '"int"')
    with client_of(app) as client:
        assert client.subjects(":*:", deleted=True) == ["s"]
        verdict = client.check_compatibility("s", text)
        assert (bool(verdict), verdict.messages) == (False, ("m",))
        assert client.check_compatibility("s", text, "latest")
        assert client.put_config({"compatibility": "FULL"}, "s") == {"compatibility": "FULL"}
        assert client.mode() == "READWRITE"
        assert client.associations("t", resource_type="topic", association_types=["value"]) == [{"subject": "s"}]
        assert client.latest_with_metadata("s", {"major": "1"}).version == 4
        with pytest.raises(SubjectNotFound) as raised:
            client.versions("s")
        assert raised.value == SubjectNotFound(404, 40401, "Subject 's' not found.")


def test_what_lasts_is_asked_once():
    app = Recorded(APP)
    text = SchemaText("AVRO", '"int"')
    with client_of(app) as client:
        for _ in range(2):
            assert client.schema_by_id(7).schema == SchemaText("AVRO", '"string"')
            assert client.register("new", text).schema == text
            assert client.register("new", text, normalize=True).schema == SchemaText("AVRO", "N")
        assert app.asked == [
            "GET /schemas/ids/7",
            "POST /subjects/new/versions",
            "POST /subjects/new/versions?normalize=true",
        ]
        client.delete_subject("new")
        client.register("new", text)
        client.schema_by_id(7)
        assert app.asked[3:] == ["DELETE /subjects/new", "POST /subjects/new/versions"]


@pytest.mark.parametrize(("ttl", "asked"), [(None, 1), (60.0, 1), (0.0, 2)])
def test_the_latest_version_is_believed_for_a_while(ttl: float | None, asked: int):
    app = Recorded(APP)
    with client_of(app, CacheLimits(latest_ttl=ttl)) as client:
        assert client.version("a").version == 2
        assert client.version("a", -1).version == 2
        assert len(app.asked) == asked
        client.clear_latest_caches()
        client.version("a")
        assert len(app.asked) == asked + 1


def test_an_old_registry_answers_an_id_and_nothing_else():
    with client_of(Recorded(APP)) as client:
        registered = client.register("old", SchemaText("AVRO", "x"))
        assert (registered.version, registered.id, registered.schema.text) == (3, 7, "OLD")


CLOSURE = (Dependency("c", "C"), Dependency("b", "B"))


def test_dependencies_are_collected_depth_first():
    app = Recorded(APP)
    with client_of(app) as client:
        schema = client.version("a").schema
        assert schema.references == (Reference("b", "b", 1), Reference("c", "c", 1))
        assert client.dependencies(schema) == CLOSURE
        assert client.dependencies(schema) == CLOSURE
        assert len(app.asked) == 3
        with pytest.raises(SubjectNotFound):
            client.dependencies(schema, ":.ctx:a")
        assert app.asked[-1] == "GET /subjects/%3A.ctx%3Ab/versions/1?deleted=true"


def test_the_asynchronous_client_drives_the_same_flows():
    app = Recorded(APP)

    async def session() -> None:
        async with AsyncRegistryClient("http://registry", transport=AsgiTransport(app)) as client:
            schema = (await client.version("a")).schema
            assert await client.dependencies(schema) == CLOSURE
            both = await asyncio.gather(client.subjects(":*:", deleted=True), client.mode())
            assert both == [["s"], "READWRITE"]
            with pytest.raises(SubjectNotFound):
                await client.versions("s")

    asyncio.run(session())


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def test_a_registry_that_is_down():
    url = f"http://127.0.0.1:{closed_port()}"
    with RegistryClient([url, url], retry=Retry(1, wait=0)) as client, pytest.raises(RegistryUnavailable) as raised:
        client.subjects()
    assert (raised.value.attempts, raised.value.urls) == (4, (url, url))
    assert "ConnectError" in raised.value.reason

    async def session() -> None:
        async with AsyncRegistryClient(url, retry=Retry(1, wait=0)) as client:
            await client.subjects()

    with pytest.raises(RegistryUnavailable):
        asyncio.run(session())


def test_an_app_that_raises_is_a_connection_that_broke():
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise LookupError("oops")

    with (
        RegistryClient("http://registry", transport=AsgiTransport(app), retry=Retry(0)) as client,
        pytest.raises(RegistryUnavailable, match=r"the app raised LookupError\('oops'\)"),
    ):
        client.subjects()


def test_cache_bounds():
    now = [0.0]
    cache: Cache[str, int] = Cache(2, 10, lambda: now[0])
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c"), len(cache)) == (1, None, 3, 2)
    now[0] = 10
    assert (cache.get("a"), len(cache)) == (None, 1)
    with pytest.raises(ConfigError):
        Cache(0)


@pytest.mark.parametrize(
    ("subject", "context"), [(None, ""), ("a", ""), (":.c:a", ":.c:"), (":.c:", ":.c:"), (":.:a", ":.:")]
)
def test_context_of(subject: str | None, context: str):
    assert context_of(subject) == context


def test_the_client_imports_nothing_heavy():
    code = "import serdes.client, sys; print(sorted({'httpx', 'asyncio', 'ssl', 'fastavro'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
