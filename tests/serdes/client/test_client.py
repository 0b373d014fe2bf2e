from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from typing import Any

import orjson
import pytest

from compat.schema import Reference, SchemaText
from serdes.client.asgi import AsgiTransport
from serdes.client.cache import Cache
from serdes.client.clients import (
    AsyncRegistryClient,
    CacheLimits,
    RegisteredSchema,
    RegistryClient,
    Retry,
    SubjectVersion,
)
from serdes.client.endpoints.cached import context_of
from serdes.error import (
    ConfigError,
    IncompatibleSchema,
    RegistryError,
    RegistryUnavailable,
    SchemaNotFound,
    SchemaRefused,
    SubjectNotFound,
    VersionNotFound,
)

INT = SchemaText("AVRO", '"int"')
STRING = SchemaText("AVRO", '"string"')


def test_endpoints(client: RegistryClient):
    held = client.register("s", INT)
    assert (held.subject, held.version, held.id, held.schema) == ("s", 1, 1, INT)
    assert client.lookup("s", INT) == held
    assert client.version("s") == client.version("s", 1) == client.version("s", -1) == held
    info = client.schema_by_id(1)
    assert (info.id, info.guid, info.schema) == (1, held.guid, INT)
    assert info.guid is not None
    assert client.schema_by_guid(info.guid).schema == INT
    assert client.versions("s") == [1]
    assert client.subjects() == client.subjects_of(1) == ["s"]
    assert client.versions_of(1) == [SubjectVersion("s", 1)]
    assert client.referenced_by("s") == []
    assert set(client.schema_types()) == {"AVRO", "JSON", "PROTOBUF"}
    assert client.contexts() == ["."]
    assert "version" in client.server_version()


def test_compatibility_config_and_mode(client: RegistryClient):
    client.register("s", INT)
    for version in (None, "latest", 1):
        verdict = client.check_compatibility("s", STRING, version)
        assert not verdict
        assert "TYPE_MISMATCH" in verdict.messages[0]
        assert client.check_compatibility("s", INT, version)
    with pytest.raises(IncompatibleSchema):
        client.register("s", STRING)
    assert client.put_config({"compatibility": "NONE"}, "s")["compatibility"] == "NONE"
    assert client.config("s")["compatibilityLevel"] == "NONE"
    assert client.check_compatibility("s", STRING)
    assert client.delete_config("s")["compatibilityLevel"] == "NONE"
    assert client.config("s", default_to_global=True)["compatibilityLevel"] == "BACKWARD"
    assert client.put_mode("READONLY", "s") == client.mode("s") == "READONLY"
    with pytest.raises(RegistryError) as raised:
        client.register("s", SchemaText("AVRO", '"long"'))
    assert raised.value.code == 42205
    assert client.delete_mode("s") == "READONLY"
    assert client.mode() == "READWRITE"


def test_metadata(client: RegistryClient):
    client.put_config({"compatibility": "NONE"})
    for number, schema in enumerate((INT, STRING), 1):
        client.register("s", schema, metadata={"properties": {"major": str(number)}})
    held = client.latest_with_metadata("s", {"major": "1"})
    assert (held.version, held.metadata) == (1, {"properties": {"major": "1"}})
    with pytest.raises(SchemaNotFound):
        client.latest_with_metadata("s", {"major": "3"})


def test_names_that_need_escaping(client: RegistryClient):
    for subject in ("a/b", "ä ?&%", ":.ctx:s", "s#1"):
        client.register(subject, INT)
        assert client.version(subject).subject == subject
    assert sorted(client.subjects(":*:")) == sorted(["a/b", "ä ?&%", ":.ctx:s", "s#1"])
    assert client.subjects(":.ctx:") == [":.ctx:s"]
    assert client.schema_by_id(1, ":.ctx:s").schema == INT


def test_errors(client: RegistryClient):
    client.register("s", INT)
    with pytest.raises(SubjectNotFound) as raised:
        client.versions("nobody")
    assert raised.value == SubjectNotFound(404, 40401, "Subject 'nobody' not found.")
    for error, ask in (
        (VersionNotFound, lambda: client.version("s", 2)),
        (SchemaNotFound, lambda: client.schema_by_id(9)),
        (SchemaNotFound, lambda: client.lookup("s", STRING)),
        (SchemaRefused, lambda: client.register("s", SchemaText("AVRO", "{"))),
    ):
        with pytest.raises(error):
            ask()


def test_what_lasts_is_asked_once(client: RegistryClient, app: Any):
    for _ in range(2):
        client.register("s", INT)
        client.register("s", INT, normalize=True)
        client.lookup("s", INT)
        client.schema_by_id(1)
        client.version("s", 1)
    assert len(app.requests) == 5
    client.delete_version("s", 1)
    assert client.register("s", INT).version == 2
    client.schema_by_id(1)
    assert app.requests[5:] == ["DELETE /subjects/s/versions/1", "POST /subjects/s/versions"]
    client.clear_caches()
    client.schema_by_id(1)
    assert len(app.requests) == 8


def test_deleted_versions_are_not_mixed_up_with_live_ones(client: RegistryClient):
    client.register("s", INT)
    client.register("s", SchemaText("AVRO", '"long"'))
    client.delete_version("s", 1)
    assert client.version("s", 1, deleted=True).schema == INT
    with pytest.raises(VersionNotFound):
        client.version("s", 1)
    assert client.versions("s", deleted=True) == [1, 2]
    assert client.delete_version("s", 1, permanent=True) == 1
    assert client.delete_subject("s") == [2]
    assert client.subjects() == []
    assert client.subjects(deleted_only=True) == ["s"]


@pytest.mark.parametrize(("ttl", "asked"), [(None, 1), (60.0, 1), (0.0, 2)])
def test_the_latest_version_is_believed_for_a_while(transport: Any, app: Any, ttl: float | None, asked: int):
    client = RegistryClient("http://registry", transport=transport, cache=CacheLimits(latest_ttl=ttl))
    client.register("s", INT)
    for _ in range(2):
        assert client.version("s").version == 1
    assert len(app.requests) == 1 + asked
    client.clear_latest_caches()
    client.version("s")
    assert len(app.requests) == 2 + asked


def test_an_own_registration_is_the_latest_at_once(client: RegistryClient):
    client.register("s", INT)
    assert client.version("s").version == 1
    client.register("s", SchemaText("AVRO", '"long"'))
    assert client.version("s").version == 2


def test_an_old_registry_answers_an_id_and_nothing_else():
    answers = {
        "/subjects/s/versions": {"id": 7},
        "/subjects/s": {"subject": "s", "version": 3, "id": 7, "schema": '"int"'},
    }

    async def old(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": orjson.dumps(answers[scope["path"]])})

    with RegistryClient("http://registry", transport=AsgiTransport(old)) as client:
        assert client.register("s", INT) == RegisteredSchema("s", 3, 7, None, INT)


def register_chain(client: RegistryClient, context: str = "") -> SchemaText:
    """a refers to b and c, b refers to c."""
    city = '{"type":"record","name":"%s","fields":[%s]}'
    client.register(context + "c", SchemaText("AVRO", city % ("C", "")))
    to_c = Reference("C", "c", 1)
    client.register(context + "b", SchemaText("AVRO", city % ("B", '{"name":"c","type":"C"}'), (to_c,)))
    text = city % ("A", '{"name":"b","type":"B"},{"name":"c","type":"C"}')
    return client.register(context + "a", SchemaText("AVRO", text, (Reference("B", "b", -1), to_c))).schema


def test_dependencies_are_collected_depth_first(client: RegistryClient, app: Any):
    schema = register_chain(client)
    assert schema.references == (Reference("B", "b", 1), Reference("C", "c", 1))
    asked = len(app.requests)
    for _ in range(2):
        assert [dependency.name for dependency in client.dependencies(schema)] == ["C", "B"]
    assert len(app.requests) == asked + 2


def test_dependencies_are_looked_for_in_the_context_of_the_subject(client: RegistryClient):
    schema = register_chain(client, ":.blue:")
    assert [dependency.name for dependency in client.dependencies(schema, ":.blue:a")] == ["C", "B"]


def test_dependencies_may_be_deleted_meanwhile(client: RegistryClient):
    client.register("c", SchemaText("AVRO", '{"type":"record","name":"C","fields":[]}'))
    client.delete_subject("c")
    assert len(client.dependencies(SchemaText("AVRO", '"C"', (Reference("C", "c", 1),)))) == 1


def test_the_asynchronous_client_drives_the_same_flows(transport: Any):
    async def session() -> None:
        async with AsyncRegistryClient("http://registry", transport=transport) as client:
            held = await client.register("s", INT)
            assert await asyncio.gather(client.version("s"), client.lookup("s", INT)) == [held, held]
            assert await client.dependencies(held.schema) == ()
            with pytest.raises(SubjectNotFound):
                await client.versions("nobody")
            assert await client.delete_subject("s") == [1]

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
    code = (
        "import serdes.client.clients, sys; print(sorted({'httpx', 'asyncio', 'ssl', 'fastavro'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
