"""Whose rules run: those of the schema that is used, whatever way it was chosen."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from compat.schema import SchemaText
from registry.app import create_app
from registry.settings import RegistrySettings
from serdes import (
    AsyncAvroDeserializer,
    AsyncAvroSerializer,
    AsyncRegistryClient,
    AvroDeserializer,
    AvroSerializer,
    JSONDeserializer,
    Schema,
    SerializationContext,
)
from serdes.client.asgi import AsgiTransport
from serdes.client.clients import RegistryClient, Retry
from serdes.rules.error import RuleFailed
from tests.serdes.rules.conftest import ADA, PERSON, Register

VALUE = SerializationContext("people", "value", [])
MINOR = {"kind": "CONDITION", "mode": "WRITEREAD", "type": "CEL", "expr": "message.age < 18"}
CHILD = {**ADA, "age": 7}


def write_settings(registered: Any) -> dict[str, dict[str, Any]]:
    """The ways in which a serializer chooses its schema."""
    plain = {"auto.register.schemas": False}
    return {
        "auto register": {},
        "look-up": plain,
        "latest": {**plain, "use.latest.version": True},
        "metadata": {**plain, "use.latest.with.metadata": {"major": "1"}},
        "id": {**plain, "use.schema.id": registered.id},
        "guid": {**plain, "use.schema.guid": registered.guid},
    }


@pytest.mark.parametrize(
    ("way", "is_own"),
    [
        *((way, True) for way in ("auto register", "look-up", "latest", "metadata", "id", "guid")),
        *((way, False) for way in ("latest", "metadata", "id", "guid")),
    ],
)
def test_rules_run_whatever_way_the_schema_was_chosen(
    client: RegistryClient, register: Register, way: str, *, is_own: bool
):
    registered = register(MINOR, metadata={"properties": {"major": "1"}})
    write = AvroSerializer(client, PERSON if is_own else None, conf=write_settings(registered)[way])
    assert write(CHILD, VALUE)
    for _ in range(2):
        with pytest.raises(RuleFailed, match=r"rule 'rule0' \(CEL, WRITE\) of subject people-value.* failed: message"):
            write(ADA, VALUE)
    assert dict(write.rule_counts) == {
        ("people-value", "rule0", "passed"): 1,
        ("people-value", "rule0", "failed"): 2,
    }


def test_rules_of_the_schema_in_code_are_registered_and_run(client: RegistryClient):
    rule = {"name": "minors", **MINOR}
    write = AvroSerializer(client, Schema(PERSON, "AVRO", (), None, {"domainRules": [rule]}))
    with pytest.raises(RuleFailed, match="rule 'minors'"):
        write(ADA, VALUE)
    assert write(CHILD, VALUE)


def test_a_header_with_the_guid_changes_nothing(client: RegistryClient, register: Register):
    register(MINOR)
    conf = {"schema.id.serializer": "header", "use.latest.version": True, "auto.register.schemas": False}
    write = AvroSerializer(client, conf=conf)
    context = SerializationContext("people", "value", [])
    with pytest.raises(RuleFailed):
        write(ADA, context)
    assert context.headers == []
    payload = write(CHILD, context)
    assert payload is not None
    assert AvroDeserializer(client)(payload, context) == CHILD


class OldAnswers:
    """A registry whose answers to registrations and look-ups have neither a guid nor rules."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.requests: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope.get("path", "")
        self.requests.append(f"{scope.get('method')} {path}")
        is_post = scope.get("method") == "POST"
        body = b""

        async def cut(event: Any) -> None:
            nonlocal body
            if event["type"] == "http.response.start":
                headers = [pair for pair in event["headers"] if pair[0] != b"content-length"]
                await send({**event, "headers": headers})
                return
            body += event.get("body", b"")
            if not event.get("more_body"):
                answer = json.loads(body)
                kept = ("id",) if path.endswith("/versions") else ("id", "subject", "version", "schema", "error_code")
                cut_answer = {name: value for name, value in answer.items() if name in kept}
                await send({"type": "http.response.body", "body": json.dumps(cut_answer).encode()})

        await self._app(scope, receive, cut if is_post else send)


@pytest.mark.parametrize("conf", [{}, {"auto.register.schemas": False}])
def test_an_old_registrys_rules_are_read_once(conf: dict[str, Any]):
    settings = {"magicbyte.storage": "memory:", "magicbyte.rules.check": "off"}
    old = OldAnswers(create_app(RegistrySettings.from_properties(settings)))
    transport = AsgiTransport(old)
    with RegistryClient("http://old", transport=transport, retry=Retry(0)) as client:
        rule_set = {"domainRules": [{"name": "rule0", **MINOR}]}
        client.register("people-value", SchemaText("AVRO", PERSON), rule_set=rule_set)
        write = AvroSerializer(client, PERSON, conf=conf)
        for _ in range(2):
            with pytest.raises(RuleFailed, match="rule 'rule0'"):
                write(ADA, VALUE)
        assert write(CHILD, VALUE)
    assert [request for request in old.requests if request.startswith("GET /schemas/ids/")] == ["GET /schemas/ids/1"]
    transport.close()


def test_readers_carry_out_the_writers_rules(client: RegistryClient, register: Register):
    register({**MINOR, "mode": "READ"})
    message = AvroSerializer(client, PERSON)(ADA, VALUE)
    for read in (AvroDeserializer(client), AvroDeserializer(client, PERSON)):
        for _ in range(2):
            with pytest.raises(RuleFailed, match=r"rule 'rule0' \(CEL, READ\) of subject people-value.* failed: mess"):
                read(message, VALUE)
        assert dict(read.rule_counts) == {("people-value", "rule0", "failed"): 2}


NEWER = json.dumps({**json.loads(PERSON), "doc": "newer"})
SHOUT = {"kind": "TRANSFORM", "mode": "READ", "type": "CEL_FIELD", "tags": ["PII"], "expr": "value + '!'"}


def test_the_readers_domain_rules_go_before_the_writers(client: RegistryClient, register: Register):
    register({**MINOR, "mode": "READ"})
    message = AvroSerializer(client, PERSON)(ADA, VALUE)
    register(SHOUT, schema=NEWER)
    shouted = {**ADA, "name": "ada!", "mail": "ada@acme.com!"}
    assert AvroDeserializer(client, conf={"use.latest.version": True})(message, VALUE) == shouted
    own = Schema(NEWER, "AVRO", (), None, {"domainRules": [{"name": "own", **SHOUT}]})
    assert AvroDeserializer(client, own)(message, VALUE) == shouted


def test_the_writers_rules_see_the_writers_form_and_the_reader_gets_its_own(client: RegistryClient, register: Register):
    register({**SHOUT, "tags": ["OLD"]}, schema=record("old", "string", tags=["OLD"]))
    message = AvroSerializer(client, record("old", "string", tags=["OLD"]))({"old": "x"}, VALUE)
    renamed = {"name": "fresh", "type": "string", "aliases": ["old"]}
    reader = json.dumps(
        {"type": "record", "name": "R", "fields": [renamed, {"name": "n", "type": "int", "default": 3}]}
    )
    read = AvroDeserializer(client, reader)
    assert read(message, VALUE) == {"fresh": "x!", "n": 3}
    assert read(message, VALUE) == {"fresh": "x!", "n": 3}


def record(name: str, type_name: str, *, tags: list[str]) -> str:
    """A record of one field."""
    field = {"name": name, "type": type_name, "confluent:tags": tags}
    return json.dumps({"type": "record", "name": "R", "fields": [field]})


def test_a_reader_without_a_client_carries_out_its_own_rules():
    schema = json.dumps({"type": "object", "properties": {"age": {"type": "integer"}}})
    rule = {"name": "own", **MINOR}
    read = JSONDeserializer(Schema(schema, "JSON", (), None, {"domainRules": [rule]}))
    assert read(b"\0\0\0\0\1" + b'{"age": 3}', VALUE) == {"age": 3}
    with pytest.raises(RuleFailed, match="rule 'own'"):
        read(b"\0\0\0\0\1" + b'{"age": 30}', VALUE)


def test_awaited_serializers_carry_out_the_same_rules(transport: AsgiTransport, register: Register):
    register(MINOR, {"kind": "CONDITION", "mode": "READ", "type": "JSONATA", "expr": "age > 5"})
    asyncio.run(_write_and_read(transport))


async def _write_and_read(transport: AsgiTransport) -> None:
    async with AsyncRegistryClient("http://registry", transport=transport, retry=Retry(0)) as client:
        write, read = AsyncAvroSerializer(client, PERSON), AsyncAvroDeserializer(client)
        message = await write(CHILD, VALUE)
        assert await read(message, VALUE) == CHILD
        with pytest.raises(RuleFailed, match="rule 'rule0'"):
            await write(ADA, VALUE)
        with pytest.raises(RuleFailed, match=r"rule 'rule1' \(JSONATA, READ\)"):
            await read(await write({**CHILD, "age": 3}, VALUE), VALUE)
        assert write.rule_counts["people-value", "rule0", "failed"] == 1
        assert read.rule_counts["people-value", "rule1", "failed"] == 1


def test_the_subject_of_an_error_is_that_of_the_strategy(client: RegistryClient, register: Register):
    register(MINOR, subject="acme.Person")
    conf = {"subject.name.strategy": "RECORD"}
    write = AvroSerializer(client, PERSON, conf=conf)
    with pytest.raises(RuleFailed, match=r"of subject acme\.Person version 1 failed"):
        write(ADA, VALUE)
    message = write(CHILD, VALUE)
    assert AvroDeserializer(client, conf=conf)(message, VALUE) == CHILD


def test_a_schema_without_enabled_rules_costs_nothing(client: RegistryClient, register: Register):
    register({**MINOR, "disabled": True}, {**MINOR, "mode": "READ"})
    write = AvroSerializer(client, PERSON)
    write(ADA, VALUE)
    assert list(write._ready) == ["people"]
    assert not write._ready_ruled
    read = AvroDeserializer(client)
    with pytest.raises(RuleFailed):
        read(write(ADA, VALUE), VALUE)
    assert not read._ready


def test_old_caches_are_forgotten_with_the_rules(client: RegistryClient, register: Register):
    register({**MINOR, "expr": "message.age > 0"})
    conf = {"use.latest.version": True, "auto.register.schemas": False, "latest.cache.ttl.sec": 0}
    write = AvroSerializer(client, conf=conf)
    assert write(ADA, VALUE)
    assert client.register(
        "people-value", SchemaText("AVRO", NEWER), rule_set={"domainRules": [{"name": "n", **MINOR}]}
    )
    with pytest.raises(RuleFailed, match="rule 'n'"):
        write(ADA, VALUE)
